/** Provides services for calls to real vendors: an answer cache on disk, and vendor limits. */
import type { Limits } from "@divisi/provider-kit/ProviderGate"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import type { Config } from "../config.ts"
import { type Failure, usage } from "../invocation/Failure.ts"
import { parseAge } from "../invocation/flags.ts"
import type { Database } from "./Database.ts"

/** Selects the services to provide. */
export interface Options {
  /** The answer cache. Default: none. */
  readonly cache?: Config["cache"] | undefined
  readonly limits?: Readonly<Record<string, Limits>> | undefined
  /** The database in which several machines count requests, tokens and concurrent calls together. Default: none. */
  readonly database?: Database | undefined
}

/** Applies the retention period to a cache, unless the config sets a time to live. */
const withRetention = (cache: NonNullable<Config["cache"]>, retention: string): NonNullable<Config["cache"]> => ({
  timeToLive: parseAge(retention),
  ...(typeof cache === "string" ? { file: cache } : cache)
})

/** Returns the services requested by the flags and the config. */
export const of = (config: Config, flags: { readonly cache: Option.Option<string> }): Options => {
  const cache = Option.getOrElse(flags.cache, () => config.cache)
  return {
    cache: cache === undefined || config.retention === undefined ? cache : withRetention(cache, config.retention),
    limits: config.limits
  }
}

/** A provider that fails this often in a row is not called for 30 seconds. */
const breaker = { failures: 8, openMillis: 30_000 }

/** Logs to standard error, since standard output is reserved for the run. */
export const logger = Logger.layer([
  Logger.make(({ cause, message }) => {
    const why = cause.reasons.length === 0 ? [] : [Cause.pretty(cause)]
    process.stderr.write(`divisi: ${[[message].flat().join(" "), ...why].join(" ")}\n`)
  })
])

const cacheLayer = (cache: NonNullable<Config["cache"]>): Effect.Effect<Layer.Layer<never, Failure>> =>
  Effect.map(
    Effect.promise(() => import("@divisi/files").then(({ DiskCache }) => DiskCache)),
    (DiskCache) =>
      DiskCache.layer(typeof cache === "string" ? { file: cache } : cache).pipe(
        Layer.catch((error) => Layer.effectDiscard(Effect.fail(usage(error.message))))
      )
  )

const gateLayer = ({ database, limits = {} }: Options): Effect.Effect<Layer.Layer<never>> =>
  Effect.map(
    Effect.promise(() => import("@divisi/provider-kit/ProviderGate")),
    (ProviderGate) =>
      database === undefined
        ? ProviderGate.layer({ limits, breaker })
        : ProviderGate.layerShared({ limits, breaker }, database.slots).pipe(Layer.provide(database.rateLimits))
  )

/**
 * Provides the services that an effect's calls need. Rate limiting is cheap, so it is always enabled, except for the
 * gym's workers, which have no limits.
 */
export const provide = <A, E>(
  effect: Effect.Effect<A, E>,
  options: Options & { readonly isGym: boolean }
): Effect.Effect<A, E | Failure> =>
  Effect.gen(function* () {
    const layers: Array<Layer.Layer<never, Failure>> = [logger]
    if (options.cache !== undefined) layers.push(yield* cacheLayer(options.cache))
    if (!options.isGym || options.limits !== undefined) layers.push(yield* gateLayer(options))
    return yield* Effect.provide(effect, layers as [Layer.Layer<never, Failure>])
  })
