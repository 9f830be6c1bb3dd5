/** Loads the offer for `divisi serve`: the team and settings from flags and config. */
import { Baselines, Nearest } from "@divisi/core"
import type { Policy } from "@divisi/core/Policy"
import * as WorkerPool from "@divisi/core/WorkerPool"
import type { Models, Server } from "@divisi/server"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as ConfigFile from "../config/ConfigFile.ts"
import type { Config } from "../config.ts"
import { clause, type Failure, usage } from "../invocation/Failure.ts"
import { listOf } from "../invocation/flags.ts"
import * as Database from "../stores/Database.ts"
import * as Services from "../stores/Services.ts"
import * as OwnModule from "../team/OwnModule.ts"
import * as PolicyName from "../team/PolicyName.ts"
import * as Profiles from "../team/Profiles.ts"
import * as RunOptions from "../team/RunOptions.ts"
import type { ServeInput } from "./flags.ts"

/** An offer, together with the config it is based on. */
export interface Offer {
  readonly options: Server.Replaceable
  readonly config: Config
  readonly isGym: boolean
}

/** Parses `--alias` into a map from alias to model. */
const aliasesOf = (given: ReadonlyArray<string>): Effect.Effect<Readonly<Record<string, string>>, Failure> => {
  const pairs = given.map((text) => /^([^=]+)=(.+)$/.exec(text.trim()))
  return pairs.some((pair) => pair === null)
    ? Effect.fail(usage("--alias: expected <name>=<model>, such as gpt-4o=divisi."))
    : Effect.succeed(Object.fromEntries(pairs.map((pair) => [pair![1], pair![2]])))
}

/** Returns the fast policy, given by worker id or policy name. */
const fastOf = (
  pool: WorkerPool.WorkerPool,
  input: ServeInput,
  configured: string | undefined
): Effect.Effect<Policy | undefined, Failure, Scope.Scope> => {
  const ids = WorkerPool.ids(pool)
  const named = Option.getOrElse(input.fast, () => configured)
  if (named === undefined) return Effect.succeed(undefined)
  if (ids.includes(named)) return Effect.succeed(Baselines.single(named))
  return Effect.mapError(PolicyName.resolve(named, pool), ({ message }) => {
    const meant = Nearest.nearest(named, ids)
    const where = Option.isSome(input.fast) ? "--fast" : "serve.fast in the config"
    return usage(
      meant === undefined
        ? `${where}: ${clause(message)} Or use a worker: ${ids.join(", ")}.`
        : `${where}: unknown worker or policy "${named}".${Nearest.didYouMean(meant)}`
    )
  })
}

/** Returns the policies that a request may select, by name. */
const policiesOf = Effect.fnUntraced(function* (
  pool: WorkerPool.WorkerPool,
  input: ServeInput,
  configured: ReadonlyArray<string>
): Effect.fn.Return<Readonly<Record<string, Policy>>, Failure, Scope.Scope> {
  const names = Option.match(input.policies, { onNone: () => configured, onSome: listOf })
  const where = Option.isSome(input.policies) ? "--policies" : "serve.policies in the config"
  const policies = yield* Effect.forEach(names, (name) =>
    Effect.mapError(PolicyName.resolve(name, pool), ({ message }) => usage(`${where}: ${message}`))
  )
  return Object.fromEntries(
    policies.map((policy, at) => [OwnModule.isPath(names[at]!) ? policy.name : names[at]!, policy])
  )
})

/** Validates the aliases. The error for an invalid alias says whether it comes from a flag or the config. */
const checked = (
  { problemOf }: typeof Models,
  pool: WorkerPool.WorkerPool,
  given: Readonly<Record<string, string>>,
  configured: Readonly<Record<string, string>>
): Effect.Effect<Readonly<Record<string, string>>, Failure> => {
  const ofFlag = problemOf({ pool, aliases: given })
  if (ofFlag !== undefined) return Effect.fail(usage(`--alias: ${ofFlag}`))
  const ofConfig = problemOf({ pool, aliases: configured })
  if (ofConfig !== undefined) return Effect.fail(usage(`serve.aliases in the config: ${ofConfig}`))
  return Effect.succeed({ ...configured, ...given })
}

/**
 * Loads an offer. Processes that it starts, such as tool servers, are stopped when the scope closes. `version` counts
 * reloads.
 */
export const read = Effect.fnUntraced(function* (
  { Models }: Pick<typeof import("@divisi/server"), "Models">,
  input: ServeInput,
  version: number
): Effect.fn.Return<Offer, Failure, Scope.Scope> {
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config), version)
  const profiles = Option.isNone(input.profiles) ? undefined : yield* Profiles.read(input.profiles.value)
  const { policy, pool, ...settings } = yield* RunOptions.resolve(config, input, { profiles })
  const isGym = RunOptions.isGym(config, input)
  const { aliases = {}, fast, housekeeping, policies = [] } = config.serve ?? {}
  return {
    config,
    isGym,
    options: {
      pool,
      policy,
      fast: yield* fastOf(pool, input, fast),
      policies: yield* policiesOf(pool, input, policies),
      aliases: yield* checked(Models, pool, yield* aliasesOf(input.alias), aliases),
      housekeeping,
      // The gym's workers cannot call tools, so tools sent by agents are ignored.
      settings: isGym ? { unsupported: "omit", ...settings } : settings,
      notes: input.notes
    }
  }
})

/**
 * Returns the settings that cannot change while the process runs: the answer cache, vendor limits, and the database.
 */
const lastingOf = (config: Config, input: ServeInput): string => {
  const database = Database.configured(config)
  const { retention, serve } = config
  return JSON.stringify([Services.of(config, input), serve?.content, retention, database && Redacted.value(database)])
}

/** Returns the reason why an offer cannot replace the first one, or `undefined` if it can. */
export const refusal = (first: Offer, next: Offer): string | undefined =>
  first.isGym === next.isGym
    ? undefined
    : "The server cannot switch between the offline gym and your own team while it runs. Restart it."

/** Describes the changes in a new offer that require a restart, or returns `undefined`. */
export const unchanged = (first: Offer, next: Offer, input: ServeInput): string | undefined =>
  lastingOf(first.config, input) === lastingOf(next.config, input)
    ? undefined
    : "Changes to cache, limits, database, content and retention take effect after a restart."
