/** Who answers: the pool, the policy and the limits of a run, from its flags, the config and the defaults. */
import type * as Conductor from "@tutti/core/Conductor"
import * as WorkerPool from "@tutti/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Config } from "../config.ts"
import { type Failure, usage } from "../Failure.ts"
import * as PolicyName from "./PolicyName.ts"

/** The flags that choose a team; they win over the config. */
export interface Flags {
  readonly pool: Option.Option<string>
  readonly policy: Option.Option<string>
  readonly maxSteps: Option.Option<number>
  readonly recursion: Option.Option<number>
  readonly seed: Option.Option<number>
  readonly maxCost?: Option.Option<number>
  readonly timeout?: Option.Option<number>
}

/**
 * The workers that `--pool` names: `a,b` are these two in this order, `-a,-b` all but these two.
 */
export const choose = (pool: WorkerPool.WorkerPool, names: string): Result.Result<WorkerPool.WorkerPool, string> => {
  const listed = names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
  const excluded = listed.filter((name) => name.startsWith("-")).map((name) => name.slice(1))
  const isMixed = excluded.length > 0 && excluded.length < listed.length
  if (isMixed) return Result.fail("--pool lists workers either to use or, each with a minus, to leave out; not both.")
  return Result.mapError(
    excluded.length > 0 ? WorkerPool.without(pool, excluded) : WorkerPool.subset(pool, listed),
    (error) => (error.reason._tag === "Empty" ? "--pool leaves no worker." : `--pool: ${error.message}`)
  )
}

const isPool = (pool: NonNullable<Config["pool"]>): pool is WorkerPool.WorkerPool => "workers" in pool

/** The pool of the config, or else that of the gym. */
const basePool = (config: Config): Effect.Effect<WorkerPool.WorkerPool, Failure> => {
  const { pool } = config
  if (pool === undefined) {
    return Effect.map(
      Effect.promise(() => import("../practice/World.ts")),
      (World) => World.pool()
    )
  }
  // A pool that was made elsewhere is made again: somebody may have written it down by hand.
  return Effect.mapError(Effect.fromResult(WorkerPool.make(isPool(pool) ? pool.workers : pool)), (error) =>
    usage(`The pool of the config: ${error.message}`)
  )
}

/** The pool that the flags leave of the config's. */
export const resolvePool = (config: Config, flags: Pick<Flags, "pool">) =>
  Effect.gen(function* () {
    const pool = yield* basePool(config)
    if (Option.isNone(flags.pool)) return pool
    return yield* Effect.mapError(Effect.fromResult(choose(pool, flags.pool.value)), usage)
  })

/** A setting of the flags, or else of the config, as an object to spread: absent when neither has it. */
const setting = <K extends string, A>(name: K, flag: Option.Option<A> | undefined, configured: A | undefined) => {
  const value = flag === undefined ? configured : Option.getOrElse(flag, () => configured)
  return (value === undefined ? {} : { [name]: value }) as { readonly [P in K]?: A }
}

/** Everything about a run but its policy. */
export const settings = (config: Config, flags: Flags): Omit<Conductor.Options, "pool" | "policy"> => {
  const { budget, policy: _policy, pool: _pool, ...rest } = config
  return {
    ...rest,
    ...setting("maxSteps", flags.maxSteps, config.maxSteps),
    ...setting("recursion", flags.recursion, config.recursion),
    ...setting("seed", flags.seed, config.seed),
    budget: {
      ...budget,
      ...setting("costUsd", flags.maxCost, budget?.costUsd),
      ...setting("durationMillis", flags.timeout, budget?.durationMillis)
    }
  }
}

/** The options of a run. */
export const resolve = (config: Config, flags: Flags): Effect.Effect<Conductor.Options, Failure> =>
  Effect.gen(function* () {
    const pool = yield* resolvePool(config, flags)
    const named = Option.getOrElse(flags.policy, () => config.policy ?? "lexical")
    const policy = typeof named === "string" ? yield* PolicyName.resolve(named, pool) : named
    return { ...settings(config, flags), policy, pool }
  })
