/** Samples from single workers, by task and worker. */

import { Embedder } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import type { Sample } from "../evaluation/Recording.ts"
import { mean } from "../statistics/Statistics.ts"
import type { Vector } from "./vectors.ts"

/** A sample in which a single worker answered. */
export interface WorkerSample extends Sample {
  readonly worker: string
}

/** An embedded task with the answers of each worker. */
export interface Point {
  readonly task: Task.Task
  readonly place: Vector
  /** Mean scores by worker. */
  readonly scores: ReadonlyMap<string, number>
  /** First answers by worker. */
  readonly answers: ReadonlyMap<string, string>
}

const groupBy = <A>(items: ReadonlyArray<A>, key: (item: A) => string): ReadonlyMap<string, ReadonlyArray<A>> =>
  Map.groupBy(items, key)

const scoresOf = (samples: ReadonlyArray<WorkerSample>): ReadonlyMap<string, number> =>
  new Map(
    [...groupBy(samples, ({ worker }) => worker)].flatMap(([worker, group]) => {
      const scores = group.flatMap(({ score }) => (score === undefined ? [] : [score]))
      return scores.length === 0 ? [] : [[worker, mean(scores)] as const]
    })
  )

const answersOf = (samples: ReadonlyArray<WorkerSample>): ReadonlyMap<string, string> =>
  new Map(
    samples.toReversed().flatMap(({ answer, worker }) => (answer === undefined ? [] : [[worker, answer] as const]))
  )

/** Returns the tasks of the samples in order, with their embeddings. */
export const points = (samples: ReadonlyArray<WorkerSample>, embedder: Embedder.Embedder) => {
  const groups = [...groupBy(samples, ({ task }) => task.id).values()]
  return Effect.map(
    Embedder.ask(
      embedder,
      groups.map((group) => Task.question(group[0]!.task))
    ),
    (places) =>
      groups.map(
        (group, index): Point => ({
          task: group[0]!.task,
          place: places[index]!,
          scores: scoresOf(group),
          answers: answersOf(group)
        })
      )
  )
}

/**
 * Returns the mean score, mean cost and number of scored samples for each worker, best first. If scores are equal, the
 * cheaper worker comes first.
 */
export const standings = (samples: ReadonlyArray<WorkerSample>) =>
  [...groupBy(samples, ({ worker }) => worker)]
    .map(([worker, group]) => {
      const scores = group.flatMap(({ score }) => (score === undefined ? [] : [score]))
      return {
        worker,
        score: scores.length === 0 ? 0 : mean(scores),
        costUsd: mean(group.map(({ costUsd }) => costUsd)),
        samples: scores.length
      }
    })
    .sort((left, right) => right.score - left.score || left.costUsd - right.costUsd)
