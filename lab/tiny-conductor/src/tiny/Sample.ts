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

/** What came of one task. */
export interface Sample {
  readonly task: string
  /** The family, or `composite`. */
  readonly kind: string
  readonly parts: number
  /** 1 for a right answer, 0 for a wrong one and for none. */
  readonly right: number
  readonly isAnswered: boolean
  /** USD for workers. The Conductor itself costs nothing. */
  readonly costUsd: number
  /** Calls of workers, those that failed and were tried again included. */
  readonly calls: number
  /** Tokens of workers, and of the Conductor, prompts included. */
  readonly tokens: number
  readonly ownTokens: number
  /** Steps of all rounds. */
  readonly steps: number
  readonly rounds: number
  /** Whether its first plan has steps that run at once. */
  readonly isParallel: boolean
  /** Whether a round let the answer stand. */
  readonly isPassed: boolean
}

/** What is measured. */
export interface Setup {
  readonly policy: Policy
  /** One pool, or the pool of each task by its place. */
  readonly pool: WorkerPool.WorkerPool | ((task: number) => WorkerPool.WorkerPool)
  readonly tasks: ReadonlyArray<Task>
  /** Rounds after the first; 0 by default. */
  readonly recursion?: number | undefined
}

/** A mean with its standard error. */
export interface Estimate {
  readonly mean: number
  readonly standardError: number
}

/** As many as a model of this size has sequences. */
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

/** The workers in another order for every task, so that who stands where says nothing. */
const shuffled = (pool: WorkerPool.WorkerPool, seed: number) =>
  Result.getOrThrow(WorkerPool.sample(pool, { count: WorkerPool.size(pool), seed }))

/** Runs a policy on every task: the same order of workers for the same place of a task. */
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

/** The ratio of two means over the same things: the standard error is that of the residuals, relative to the second. */
export const ratio = (pairs: ReadonlyArray<readonly [number, number]>): Estimate => {
  const below = Statistics.mean(pairs.map(([, second]) => second))
  const mean = Statistics.mean(pairs.map(([first]) => first)) / below
  const residuals = pairs.map(([first, second]) => first - mean * second)
  return { mean, standardError: Statistics.standardError(residuals) / Math.abs(below) }
}

/** The means of what a policy did. */
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

/** How much more often the first is right, on the same tasks. */
export const difference = (first: ReadonlyArray<Sample>, second: ReadonlyArray<Sample>) => {
  const { mean, p, standardError } = Statistics.difference(scores(first), scores(second))
  return { mean, standardError, p }
}
