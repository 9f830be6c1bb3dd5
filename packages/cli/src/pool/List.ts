/**
 * `divisi pool list`: lists available pool members, i.e. vendors with API keys, model servers on this machine, and the
 * config's workers.
 */

import type { Pricing } from "@divisi/core/Usage"
import * as Vendor from "@divisi/recipes/Vendor"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ConfigFile from "../config/ConfigFile.ts"
import type { Failure } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as RunOptions from "../team/RunOptions.ts"
import * as Catalog from "../vendors/Catalog.ts"
import * as LocalServers from "../vendors/LocalServers.ts"
import { vendors } from "../vendors/Vendors.ts"
import type { ListInput } from "./flags.ts"
import * as ListText from "./ListText.ts"

/** A vendor, and whether it can be used. Only the name of the key's environment variable is shown. */
export interface ListedVendor {
  readonly name: string
  /** The environment variables that can hold the key, and the one that is set. */
  readonly keys: ReadonlyArray<string>
  readonly keySet: string | undefined
  readonly needsKey: boolean
  /** The environment variable with a custom base URL, if it is set. */
  readonly baseUrlSet: string | undefined
}

/** A worker in the config. */
export interface ListedWorker {
  readonly id: string
  readonly description: string | undefined
  readonly pricing: Pricing | undefined
}

/** All available members. */
export interface Listing {
  readonly config: {
    readonly file: string | undefined
    readonly policy: string | undefined
    readonly workers: ReadonlyArray<ListedWorker>
  }
  readonly vendors: ReadonlyArray<ListedVendor>
  readonly servers: ReadonlyArray<LocalServers.Answering>
  readonly models: ReadonlyArray<Catalog.Listed>
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== ""

/** Inspects the environment, this machine and the config. */
const look = Effect.fnUntraced(function* (input: ListInput): Effect.fn.Return<Listing, Failure> {
  const { config, file } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  const environment = yield* Vendor.environment(vendors)
  const { workers } =
    config.pool === undefined ? { workers: [] } : yield* RunOptions.resolvePool(config, { pool: Option.none() })
  const policy = typeof config.policy === "object" ? config.policy.name : config.policy
  const firstSet = (names: ReadonlyArray<string>) => names.find((name) => isSet(environment[name]))
  return {
    config: { file, policy, workers: workers.map(({ description, id, pricing }) => ({ id, description, pricing })) },
    vendors: vendors.map(({ baseURLs, keys, name, needsKey }) => ({
      name,
      keys,
      keySet: firstSet(keys),
      needsKey,
      baseUrlSet: firstSet(baseURLs)
    })),
    servers: yield* LocalServers.look(environment),
    models: yield* Catalog.models
  }
})

/** Prints the available members. */
export const list = Effect.fnUntraced(function* (input: ListInput): Effect.fn.Return<void, Failure> {
  const listing = yield* look(input)
  stdout.write(`${input.json ? JSON.stringify(listing) : ListText.text(listing)}\n`)
})
