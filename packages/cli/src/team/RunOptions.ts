/** Determines the options of a run (pool, policy and limits) from flags, config and defaults. */

import { DefaultPolicy, Nearest } from "@divisi/core"
import type * as Conductor from "@divisi/core/Conductor"
import type { Policy } from "@divisi/core/Policy"
import type { MeasuredSettings, RunSettings } from "@divisi/core/RunSettings"
import type { Reasoning, Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as ConfigFile from "../config/ConfigFile.ts"
import type { Config } from "../config.ts"
import { clause, Failure, usage } from "../invocation/Failure.ts"
import { listOf } from "../invocation/flags.ts"
import * as KnownModels from "../vendors/KnownModels.ts"
import { Threads } from "../vendors/LocalModels.ts"
import * as Prices from "../vendors/Prices.ts"
import * as PolicyName from "./PolicyName.ts"
import type * as Tools from "./Tools.ts"

/** Flags that select a team. They take precedence over the config. */
export interface Flags {
  readonly pool: Option.Option<string>
  readonly policy: Option.Option<string>
  readonly price?: Option.Option<Prices.Prices> | undefined
  readonly threads?: Option.Option<number> | undefined
  readonly maxSteps: Option.Option<number>
  readonly recursion: Option.Option<number>
  readonly seed: Option.Option<number>
  readonly maxCost?: Option.Option<number> | undefined
  readonly timeout?: Option.Option<number> | undefined
  readonly maxOutputTokens?: Option.Option<number> | undefined
  readonly silence?: Option.Option<number> | undefined
  readonly temperature?: Option.Option<number> | undefined
  readonly reasoning?: Option.Option<Reasoning> | undefined
  readonly check?: ReadonlyArray<string> | undefined
  readonly reassign?: Option.Option<"never" | "next"> | undefined
  readonly approvePlans?: boolean | undefined
  /** The config's file, for errors. */
  readonly config?: Option.Option<string> | undefined
}

/** Returns the workers selected by `--pool`: `a,b` selects these two in this order, `-a,-b` all except these two. */
export const choose = (pool: WorkerPool.WorkerPool, names: string): Result.Result<WorkerPool.WorkerPool, string> => {
  const listed = listOf(names)
  const excluded = listed.filter((name) => name.startsWith("-")).map((name) => name.slice(1))
  const isMixed = excluded.length > 0 && excluded.length < listed.length
  if (isMixed) return Result.fail("--pool cannot select workers and exclude others (-id) at the same time.")
  return Result.mapError(
    excluded.length > 0 ? WorkerPool.without(pool, excluded) : WorkerPool.subset(pool, listed),
    problemOf
  )
}

/** Describes why a selection of workers is invalid. Suggests the nearest name if a name is unknown. */
const problemOf = ({ message, reason }: WorkerPool.WorkerPoolError): string => {
  if (reason._tag === "Empty") return "--pool selects no workers."
  if (reason._tag !== "UnknownId") return `--pool: ${clause(message)}`
  const meant = KnownModels.fullName(reason.id) ?? Nearest.nearest(reason.id, reason.known)
  return meant === undefined
    ? `--pool: ${clause(message)} Vendor models have the form vendor:model, such as openai:gpt-6.1-sol.`
    : `--pool: unknown worker "${reason.id}".${Nearest.didYouMean(meant)}`
}

const isPool = (pool: NonNullable<Config["pool"]>): pool is WorkerPool.WorkerPool => "workers" in pool

/** Returns the config's pool, or the gym's by default. */
export const basePool = (config: Config): Effect.Effect<WorkerPool.WorkerPool, Failure> => {
  const { pool } = config
  if (pool === undefined) {
    return Effect.map(
      Effect.promise(() => import("./OfflineGym.ts")),
      (OfflineGym) => OfflineGym.pool()
    )
  }
  // Validates a pool again, since it may be hand-written.
  return Effect.mapError(Effect.fromResult(WorkerPool.make(isPool(pool) ? pool.workers : pool)), (error) =>
    usage(`The config's pool is not valid: ${clause(error.message)}`)
  )
}

/** Returns the names that refer to vendor models: those with a colon that are not in the config's pool. */
const references = (config: Config, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { pool = [] } = config
  const own = new Set((isPool(pool) ? pool.workers : pool).map((worker) => worker.id))
  return names.filter((name) => name.includes(":") && !name.startsWith("-") && !own.has(name))
}

/** Whether the config names its workers with this prefix and it is not a vendor, so that the name is a misspelt worker. */
const isOwnPrefix = Effect.fnUntraced(function* (config: Config, name: string): Effect.fn.Return<boolean, Failure> {
  const prefix = name.slice(0, name.indexOf(":") + 1)
  if (!WorkerPool.ids(yield* basePool(config)).some((id) => id.startsWith(prefix))) return false
  const WorkerName = yield* Effect.promise(() => import("../vendors/WorkerName.ts"))
  return !(yield* WorkerName.hasVendor(name))
})

/** Returns workers by name: models from vendors are created, all others are taken from the config or the gym. */
const named = (config: Config, names: ReadonlyArray<string>, models: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const WorkerName = yield* Effect.promise(() => import("../vendors/WorkerName.ts"))
    const made = yield* WorkerName.workers(models)
    const others = names.filter((name) => !models.includes(name))
    const own = others.length === 0 ? [] : (yield* chosen(config, others.join(","))).workers
    const byName = new Map([...models.map((name, index) => [name, made[index]!] as const), ...own.map(byId)])
    const workers = names.flatMap((name) => byName.get(name) ?? [])
    return yield* Effect.mapError(Effect.fromResult(WorkerPool.make(workers.flat())), (error) =>
      usage(`--pool: ${error.message}`)
    )
  })

const byId = (worker: Worker) => [worker.id, [worker]] as const

const chosen = (config: Config, names: string): Effect.Effect<WorkerPool.WorkerPool, Failure> =>
  Effect.flatMap(basePool(config), (pool) => Effect.mapError(Effect.fromResult(choose(pool, names)), usage))

const unpricedPool = (config: Config, flags: Pick<Flags, "pool">): Effect.Effect<WorkerPool.WorkerPool, Failure> => {
  if (Option.isNone(flags.pool)) return basePool(config)
  const names = listOf(flags.pool.value)
  const isExclusion = names.some((name) => name.startsWith("-"))
  const { value } = flags.pool
  return Effect.flatMap(
    Effect.filter(references(config, names), (name) => Effect.map(isOwnPrefix(config, name), (isOwn) => !isOwn)),
    (models) => (models.length === 0 || isExclusion ? chosen(config, value) : named(config, names, models))
  )
}

/** Flags that determine a team. */
type TeamFlags = Pick<Flags, "pool" | "price" | "threads"> & Partial<Pick<Flags, "policy">>

/** Sets the number of threads for local models created by an effect. */
const withThreads = <A, E, R>({ threads }: Pick<Flags, "threads">, effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Threads, Option.getOrUndefined(threads ?? Option.none()))

/**
 * Resolves the pool from the flags: vendor models, or a selection from the config's pool. Fails if a worker's price is
 * unknown and a cost limit is set.
 */
export const resolvePool = Effect.fnUntraced(function* (
  config: Config,
  flags: TeamFlags,
  limitUsd?: number | undefined
): Effect.fn.Return<WorkerPool.WorkerPool, Failure> {
  const { workers } = yield* withThreads(flags, unpricedPool(config, flags))
  const pool = { workers: Arr.map(workers, Prices.priced(Prices.of(config, flags))) }
  const planners = listOf(Option.getOrElse(flags.policy ?? Option.none<string>(), () => ""))
  yield* Effect.mapError(Effect.fromResult(Prices.checkIds(flags.price, [...WorkerPool.ids(pool), ...planners])), usage)
  yield* Prices.checkLimit(pool.workers, limitUsd)
  return pool
})

/** Whether the default pool, i.e. the gym's workers, is used. */
export const isGym = (config: Config, flags: Pick<Flags, "pool">): boolean =>
  config.pool === undefined && (Option.isNone(flags.pool) || references(config, listOf(flags.pool.value)).length === 0)

/**
 * Returns the table learned for a pool, in the form expected by `PolicyName.resolve`. `undefined` if the table does not
 * cover the pool.
 */
const learnedFor = Effect.fnUntraced(function* (
  pool: WorkerPool.WorkerPool,
  options: PolicyName.Options
): Effect.fn.Return<Policy | undefined, Failure, Scope.Scope> {
  const LearnedPolicies = yield* Effect.promise(() => import("./LearnedPolicies.ts"))
  return (yield* LearnedPolicies.hasTableFor(pool)) ? yield* PolicyName.resolve("router", pool, options) : undefined
})

/** Returns the default policy for a pool: core's default, combined with what was learned from the user's outcomes. */
const defaultPolicy = Effect.fnUntraced(function* (
  config: Config,
  flags: Pick<Flags, "pool">,
  pool: WorkerPool.WorkerPool,
  options: PolicyName.Options
): Effect.fn.Return<Policy, Failure, Scope.Scope> {
  const { workers } = pool
  const learned = workers.length === 1 || isGym(config, flags) ? undefined : yield* learnedFor(pool, options)
  const described = workers.some(({ isLanguageModel }) => isLanguageModel)
    ? undefined
    : yield* PolicyName.resolve("lexical", pool, options)
  const policy = DefaultPolicy.of(pool, { learned, described })
  if (policy.reason !== undefined) return policy
  return yield* usage(
    "No policy is set, and no worker of the pool is a language model or has a description. Set --policy, e.g. --policy openai:gpt-6.1-terra or --policy single:<id>, or describe the workers."
  )
})

/** Adds the config's file to an error about its policy. */
const inConfig = ({ exitCode, message }: Failure, given: Flags["config"]): Failure =>
  new Failure({
    exitCode,
    message: `${ConfigFile.shown(Option.getOrUndefined(given ?? Option.none()))}: ${clause(message)}`
  })

/** Returns the policy for a run, from the flag, the config or the default, with the reason for the choice. */
const policyOf = Effect.fnUntraced(function* (
  config: Config,
  flags: Pick<Flags, "config" | "pool" | "policy">,
  pool: WorkerPool.WorkerPool,
  options: PolicyName.Options
): Effect.fn.Return<Policy, Failure, Scope.Scope> {
  const ofFlag = Option.getOrUndefined(flags.policy)
  const named = ofFlag ?? config.policy
  if (named === undefined) return yield* defaultPolicy(config, flags, pool, options)
  const resolved = typeof named === "string" ? PolicyName.resolve(named, pool, options) : Effect.succeed(named)
  const policy = yield* ofFlag === undefined
    ? Effect.mapError(resolved, (error) => inConfig(error, flags.config))
    : resolved
  return { ...policy, reason: ofFlag === undefined ? "Set in the config." : "Set with --policy." }
})

/** The default policy for evaluations, which requires no additional package. */
export const measuredPolicy = "lexical"

/** Returns the settings of a run except its checks. Flags take precedence over the config. */
export const settings = (config: Config, flags: Flags): RunSettings => {
  const {
    cache: _cache,
    checks: _checks,
    limits: _limits,
    mcpServers: _mcpServers,
    policy: _policy,
    pool: _pool,
    prices: _prices,
    recipes: _recipes,
    serve: _serve,
    ...run
  } = config
  const either = <A>(flag: Option.Option<A> | undefined, configured: A | undefined) =>
    flag === undefined ? configured : Option.getOrElse(flag, () => configured)
  return {
    ...run,
    maxSteps: either(flags.maxSteps, run.maxSteps),
    recursion: either(flags.recursion, run.recursion),
    seed: either(flags.seed, run.seed),
    reassign: either(flags.reassign, run.reassign),
    approvePlans: flags.approvePlans === true ? true : run.approvePlans,
    worker: {
      ...run.worker,
      maxOutputTokens: either(flags.maxOutputTokens, run.worker?.maxOutputTokens),
      silenceMillis: either(flags.silence, run.worker?.silenceMillis),
      temperature: either(flags.temperature, run.worker?.temperature),
      reasoning: either(flags.reasoning, run.worker?.reasoning)
    },
    budget: {
      ...run.budget,
      costUsd: either(flags.maxCost, run.budget?.costUsd),
      durationMillis: either(flags.timeout, run.budget?.durationMillis)
    }
  }
}

/**
 * Returns the settings for a measured run. Reassignment is disabled, so that each result belongs to the worker that was
 * called.
 */
export const measuredSettings = (config: Config, flags: Flags): MeasuredSettings => ({
  ...settings(config, flags),
  reassign: "never"
})

/** Returns the tools of a run. Their code is loaded only if a tool or an MCP server may exist. */
const toolsOf = (config: Config, flags: Tools.Flags) => {
  const { mcpServers, tools } = config
  const isNamed = Option.isSome(flags.tool) || Option.isSome(flags.approve) || flags.mcp.length > 0
  if (tools === undefined && mcpServers === undefined && !isNamed) {
    return Effect.succeed({ tools: [], toolAccess: Option.getOrElse(flags.toolAccess, () => config.toolAccess) })
  }
  return Effect.flatMap(
    Effect.promise(() => import("./Tools.ts")),
    (Tools) => Tools.resolve(config, flags)
  )
}

/** Returns the checks of a run. Their code is loaded only if there are any. */
const checksOf = (config: Config, named: ReadonlyArray<string>, pool: WorkerPool.WorkerPool) =>
  config.checks === undefined && named.length === 0
    ? Effect.succeed(undefined)
    : Effect.flatMap(
        Effect.promise(() => import("./Checks.ts")),
        (Checks) => Checks.resolve(config, named, pool)
      )

/** Returns the options for a run. MCP servers are started and stopped with the scope. */
export const resolve = (
  config: Config,
  flags: Flags & Tools.Flags,
  options: PolicyName.Options = {}
): Effect.Effect<Conductor.Options, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const run = { ...settings(config, flags), ...(yield* toolsOf(config, flags)) }
    const prices = Prices.of(config, flags)
    const limitUsd = run.budget?.costUsd
    const pool = yield* resolvePool(config, flags, limitUsd)
    const policy = yield* withThreads(flags, policyOf(config, flags, pool, { ...options, prices, limitUsd }))
    const checks = yield* checksOf(config, flags.check ?? [], pool)
    if (!isGym(config, flags)) return { ...run, checks, policy, pool }
    const { declining } = yield* Effect.promise(() => import("@divisi/gym").then(({ GymQuestion }) => GymQuestion))
    return { ...run, checks, policy: declining(policy), pool }
  })
