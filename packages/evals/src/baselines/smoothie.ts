/**
 * Smoothie: routing without labels (Guha et al., "Smoothie: Label Free Language Model Routing", NeurIPS 2024).
 *
 * As in the paper, answers are represented by embeddings, which scatter around an unknown true one. The squared
 * distances between three workers determine the distance of each from it (`(d_ij + d_ik - d_jk) / 2`, averaged over all
 * pairs of other workers). The quality of a worker is the inverse of that distance. "Independent" (the paper's
 * Smoothie-Global) estimates one quality per worker over all questions; "dependent" (Smoothie-Local) estimates one over
 * a question's nearest neighbours.
 *
 * In the paper's main form, every worker answers every test question, and one of these answers is used. Here, qualities
 * are estimated from answers to training questions, without their labels, and only the selected worker is called (the
 * paper's train variant), so the cost is one call. A negative distance estimate, which carries no information, counts
 * as very small.
 */

import { Embedder } from "@divisi/core"
import type * as Policy from "@divisi/core/Policy"
import * as Effect from "effect/Effect"
import { mean } from "../statistics/Statistics.ts"
import * as Routed from "./routed.ts"
import { points, type WorkerSample } from "./samples.ts"
import { nearest, squaredDistance, type Vector } from "./vectors.ts"

/** Embeddings of the answers to one question, by worker. */
export interface Answers {
  readonly place: Vector
  readonly answers: ReadonlyMap<string, Vector>
}

/**
 * Computes the mean squared distance between the answers of each pair of workers, over the questions that both answered.
 */
const distancesOf = (answered: ReadonlyArray<Answers>) => {
  const distances = new Map<string, number>()
  const between = (left: string, right: string): number => {
    const key = left < right ? `${left}\n${right}` : `${right}\n${left}`
    const known = distances.get(key)
    if (known !== undefined) return known
    const values = answered.flatMap(({ answers }) => {
      const [one, other] = [answers.get(left), answers.get(right)]
      return one === undefined || other === undefined ? [] : [squaredDistance(one, other)]
    })
    const value = values.length === 0 ? Number.NaN : mean(values)
    distances.set(key, value)
    return value
  }
  return between
}

const least = 1e-6

const pairs = <A>(items: ReadonlyArray<A>): ReadonlyArray<readonly [A, A]> =>
  items.flatMap((left, index) => items.slice(index + 1).map((right) => [left, right] as const))

/**
 * Estimates the quality of each worker from the distances between its answers and those of the other workers. Qualities
 * sum to 1. The map is empty if fewer than three workers answered the same questions.
 */
export const qualities = (answered: ReadonlyArray<Answers>): ReadonlyMap<string, number> => {
  const workers = [...new Set(answered.flatMap(({ answers }) => [...answers.keys()]))]
  const between = distancesOf(answered)
  const raw = workers.flatMap((worker) => {
    const others = pairs(workers.filter((other) => other !== worker))
    const estimates = others
      .map(([j, k]) => (between(worker, j) + between(worker, k) - between(j, k)) / 2)
      .filter((value) => !Number.isNaN(value))
    return estimates.length === 0 ? [] : [[worker, 1 / Math.max(least, mean(estimates))] as const]
  })
  const total = raw.reduce((sum, [, value]) => sum + value, 0)
  return new Map(raw.map(([worker, value]) => [worker, value / total]))
}

const embedded = Effect.fnUntraced(function* (samples: ReadonlyArray<WorkerSample>, embedder: Embedder.Embedder) {
  const questions = yield* points(samples, embedder)
  const texts = questions.flatMap(({ answers }) => [...answers.values()])
  const places = yield* Embedder.ask(embedder, texts)
  let next = 0
  return questions.map(
    ({ answers, place }): Answers => ({
      place,
      answers: new Map([...answers.keys()].map((worker) => [worker, places[next++]!]))
    })
  )
})

/** Routes by a single estimate of quality per worker, over all questions. The scores of the samples are not used. */
export const independent = (name: string, samples: ReadonlyArray<WorkerSample>, embedder: Embedder.Embedder) =>
  Effect.map(embedded(samples, embedder), (answered): Policy.Policy => {
    const global = qualities(answered)
    return Routed.make(name, embedder, () => global)
  })

/**
 * Routes by estimates of quality from the nearest training questions (default: 20). The scores of the samples are not
 * used.
 */
export const dependent = (
  name: string,
  samples: ReadonlyArray<WorkerSample>,
  embedder: Embedder.Embedder,
  options: { readonly neighbours?: number | undefined } = {}
) =>
  Effect.map(embedded(samples, embedder), (answered): Policy.Policy => {
    const places = answered.map(({ place }) => place)
    return Routed.make(name, embedder, (question) =>
      qualities(nearest(question, places, options.neighbours ?? 20).map((index) => answered[index]!))
    )
  })
