/** Creates the policies and baselines to evaluate from their names. */
import { Budget, type Embedder, type Grader, type Resilience, type ResponseCache } from "@divisi/core"
import type { Policy } from "@divisi/core/Policy"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import { Baselines, type Evaluation, Recording } from "@divisi/evals"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Config } from "../config.ts"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import * as OfflineGym from "../team/OfflineGym.ts"
import * as OwnModule from "../team/OwnModule.ts"
import * as PolicyName from "../team/PolicyName.ts"
import * as RunOptions from "../team/RunOptions.ts"
import { listOf } from "./Suites.ts"

/** Options for creating policies. */
export interface Options extends PolicyName.Options {
  readonly pool: WorkerPool
  /** Whether the pool consists of the gym's workers, for which training baselines is free. */
  readonly isGym: boolean
  /** The tasks for training baselines. */
  readonly learn: Evaluation.Suite | undefined
  readonly seed: number
  readonly concurrency: number
  readonly retry?: Resilience.Retry | undefined
  readonly maxOutputTokens?: number | undefined
  readonly maxCostUsd?: number | undefined
  /** The embedder. Defaults to feature hashing of words. */
  readonly embedder?: Embedder.Embedder | undefined
  /** Cached answers for training baselines. */
  readonly store: ResponseCache.Store
  /** Whether baselines are trained from cached answers only, without making calls. */
  readonly isOffline?: boolean | undefined
}

/** The policies and baselines to evaluate, and what it cost to train them, in USD. */
export interface Contenders {
  readonly entries: ReadonlyArray<Evaluation.Entry>
  readonly paidUsd: number
}

type Making = Pick<Options, "pool" | "isGym" | "profiles" | "prices" | "limitUsd">

/**
 * Returns the display name of a policy. It includes a digest of the worker profiles, so that results with different
 * profiles are not mixed.
 */
const titleOf = (name: string, { profiles }: Making): string =>
  name.endsWith(PolicyName.shownSuffix) && profiles !== undefined ? `${name}-${profiles.digest}` : name

/** Creates the policy with the requested name. */
const policyOf = (name: string, making: Making): Effect.Effect<Evaluation.Entry, Failure, Scope.Scope> =>
  Effect.map(
    name === "oracle" && making.isGym
      ? Effect.succeed<Policy>(OfflineGym.oracle)
      : PolicyName.resolve(name, making.pool, making),
    (policy) =>
      OwnModule.isPath(name)
        ? { policy, digest: OwnModule.digestOf(name) }
        : { policy: { ...policy, name: titleOf(name, making) } }
  )

/** Creates the requested policies, or the config's policy if none is requested. */
export const policies = (
  names: string | undefined,
  config: Config,
  making: Making
): Effect.Effect<ReadonlyArray<Evaluation.Entry>, Failure, Scope.Scope> => {
  if (names === undefined && typeof config.policy === "object") return Effect.succeed([{ policy: config.policy }])
  const configured = typeof config.policy === "string" ? config.policy : RunOptions.measuredPolicy
  return Effect.forEach(listOf(names ?? configured), (name) => policyOf(name, making))
}

/** Fails if training answers are missing, since training on the rest would give a different result. */
const recorded =
  (record: Recording.Record<Grader.GraderError>): Recording.Record<Grader.GraderError | Failure> =>
  (policies) =>
    Effect.flatMap(record(policies), (samples) => {
      const lost = samples.filter(({ score }) => score === undefined)
      return lost.length === 0
        ? Effect.succeed(samples)
        : Effect.fail(
            usage(
              `--offline: ${lost.length} answers that the baselines need for training are not recorded. The first missing one is the answer of ${lost[0]!.policy} to ${lost[0]!.task.id}.`
            )
          )
    })

/** Creates the recorder for baseline training, along with its account. */
const recording = (options: Options, suite: Evaluation.Suite) => {
  const { concurrency, isOffline = false, store, maxCostUsd, maxOutputTokens, pool, retry, seed } = options
  const ledger = Budget.make({ costUsd: maxCostUsd })
  const record = Recording.make({
    tasks: suite.tasks,
    grader: suite.grader,
    pool,
    store,
    isOffline,
    seed,
    concurrency,
    ledger,
    retry,
    worker: maxOutputTokens === undefined ? undefined : { maxOutputTokens }
  })
  return { record: isOffline ? recorded(record) : record, ledger }
}

/** Whether a baseline needs the best worker because none was specified. */
const wantsBest = ({ name, worker }: Baselines.Named): boolean =>
  worker === undefined && name !== "single" && Baselines.table.some((entry) => entry.name === name && entry.takesWorker)

/**
 * Creates the named baselines. Learned baselines are trained on separate tasks. If training is free, the same tasks
 * determine the best worker for the other baselines.
 */
export const baselines = (names: string, options: Options): Effect.Effect<Contenders, Failure> =>
  Effect.gen(function* () {
    const { isGym, learn, pool, seed } = options
    const named = yield* Effect.mapError(Effect.fromResult(Baselines.read(names)), (error) => usage(error.message))
    if (named.length === 0) return { entries: [], paidUsd: 0 }
    const isLearning = Baselines.needRecording(named)
    if (isLearning && learn === undefined) {
      return yield* usage(`Some of ${names} need training tasks. Set them with --learn.`)
    }
    const isWanted = isLearning || (isGym && named.some(wantsBest))
    const source = learn !== undefined && isWanted ? recording(options, learn) : undefined
    const made = yield* Effect.mapError(
      Baselines.make<Grader.GraderError | Failure>(named, {
        pool,
        seed,
        embedder: options.embedder,
        record: source?.record
      }),
      (error) =>
        error._tag === "BaselineError" ? usage(error.message) : error._tag === "Failure" ? error : failed(error.message)
    )
    return {
      entries: made.map((baseline) => ({ ...baseline, isBaseline: true })),
      paidUsd: source?.ledger.spent().costUsd ?? 0
    }
  })

/** Combines policies and baselines, policies first. A baseline with the same name as a policy is dropped. */
export const join = (
  policies: ReadonlyArray<Evaluation.Entry>,
  baselines: ReadonlyArray<Evaluation.Entry>
): ReadonlyArray<Evaluation.Entry> => {
  const names = new Set(policies.map(({ policy }) => policy.name))
  return [...policies, ...baselines.filter(({ policy }) => !names.has(policy.name))]
}
