/** Measures a policy on gym tasks, and calculates statistics from the results. */

import { type RunEvent, Topology } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { Policy } from "@divisi/core/Policy"
import type { Task } from "@divisi/core/Task"
import type * as Usage from "@divisi/core/Usage"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Statistics from "@divisi/evals/Statistics"
import { GymGrader } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { retry } from "../gym/ComparedPolicies.ts"

/** The result of one task. */
export interface Sample {
  readonly task: string
  /** The family, or `composite`. */
  readonly kind: string
  readonly parts: number
  /** 1 for a right answer, 0 for a wrong or missing one. */
  readonly right: number
  readonly isAnswered: boolean
  /** The cost of workers in USD. The Conductor itself costs nothing. */
  readonly costUsd: number
  /** Calls of workers, including failed ones that were tried again. */
  readonly calls: number
  /** Tokens of the workers and the Conductor, including prompts. */
  readonly tokens: number
  readonly ownTokens: number
  /** The number of steps in all rounds. */
  readonly steps: number
  readonly rounds: number
  /** Whether its first plan has steps that run at the same time. */
  readonly isParallel: boolean
  /** Whether a round accepted the answer unchanged. */
  readonly isPassed: boolean
}

/** The options of a measurement. */
export interface Setup {
  readonly policy: Policy
  /** One pool, or a function that returns the pool of each task by its index. */
  readonly pool: WorkerPool.WorkerPool | ((task: number) => WorkerPool.WorkerPool)
  readonly tasks: ReadonlyArray<Task>
  /** Rounds after the first. Default: 0. */
  readonly recursion?: number | undefined
}

/** A mean with its standard error. */
export interface Estimate {
  readonly mean: number
  readonly standardError: number
}

/** The number of sequences of a model of this size. */
const concurrency = 16

/** Counts what workers and Conductor do. */
const counter = () => {
  const counts = { calls: 0, tokens: 0, ownTokens: 0 }
  const tokensOf = ({ usage }: Usage.Paid) => usage.inputTokens + usage.outputTokens
  const listener = (event: RunEvent.RunEvent) => {
    if (event.type === "completion-finished") counts.ownTokens += tokensOf(event)
    if (event.type === "step-finished" || (event.type === "call-failed" && event.step !== undefined)) {
      counts.calls += 1
      counts.tokens += tokensOf(event)
    }
  }
  return { counts, listener }
}

/** The workers in a different order for every task, so that their position contains no information. */
const shuffled = (pool: WorkerPool.WorkerPool, seed: number) =>
  Result.getOrThrow(WorkerPool.sample(pool, { count: WorkerPool.size(pool), seed }))

/** Runs a policy on every task. The task at the same index always has the same order of workers. */
export const measure = ({ policy, pool, recursion = 0, tasks }: Setup): Effect.Effect<ReadonlyArray<Sample>> => {
  const poolOf = (index: number) => (typeof pool === "function" ? pool(index) : pool)
  const conductor = Conductor.make({ policy, pool: poolOf(0), retry, reassign: "never", recursion, seed: 0 })
  const one = Effect.fnUntraced(function* (task: Task, index: number) {
    const { counts, listener } = counter()
    const { answer, ending, rounds, spend } = yield* conductor.run(task, {
      listener,
      pool: shuffled(poolOf(index), index)
    })
    const grade = yield* Effect.orDie(GymGrader.grader.grade(task, answer ?? ""))
    return {
      task: task.id,
      kind: String(task.metadata?.family),
      parts: Gym.metadata(task)!.parts.length,
      right: answer !== undefined && grade.correct ? 1 : 0,
      isAnswered: ending === "answered",
      costUsd: spend.costUsd,
      ...counts,
      steps: rounds.reduce((sum, { workflow }) => sum + workflow.steps.length, 0),
      rounds: rounds.length,
      isParallel: rounds[0] !== undefined && Topology.width(Topology.make(rounds[0].workflow)) > 1,
      isPassed: rounds.some(({ confirmed }) => confirmed)
    }
  })
  return Effect.forEach(tasks, (task, index) => one(task, index), { concurrency })
}

/** The mean of independent values. */
export const estimate = (values: ReadonlyArray<number>): Estimate => ({
  mean: Statistics.mean(values),
  standardError: Statistics.standardError(values)
})

/**
 * The ratio of two means over the same items. The standard error is that of the residuals, relative to the second mean.
 */
export const ratio = (pairs: ReadonlyArray<readonly [number, number]>): Estimate => {
  const below = Statistics.mean(pairs.map(([, second]) => second))
  const mean = Statistics.mean(pairs.map(([first]) => first)) / below
  const residuals = pairs.map(([first, second]) => first - mean * second)
  return { mean, standardError: Statistics.standardError(residuals) / Math.abs(below) }
}

/** The means of a policy's results. */
export const summary = (samples: ReadonlyArray<Sample>) => {
  const of = (value: (sample: Sample) => number) => estimate(samples.map(value))
  return {
    tasks: samples.length,
    right: of(({ right }) => right),
    usdPerThousand: of(({ costUsd }) => 1000 * costUsd),
    calls: of(({ calls }) => calls),
    tokens: of(({ tokens }) => tokens),
    ownTokens: of(({ ownTokens }) => ownTokens),
    steps: of(({ steps }) => steps),
    parallel: of(({ isParallel }) => (isParallel ? 1 : 0)),
    unanswered: samples.filter(({ isAnswered }) => !isAnswered).length
  }
}

const scores = (samples: ReadonlyArray<Sample>): ReadonlyArray<Statistics.Sample> =>
  samples.map(({ right, task }) => ({ question: task, score: right }))

/** The difference in the share of right answers on the same tasks: the first minus the second. */
export const difference = (first: ReadonlyArray<Sample>, second: ReadonlyArray<Sample>) => {
  const { mean, p, standardError } = Statistics.difference(scores(first), scores(second))
  return { mean, standardError, p }
}
