/**
 * A lightweight version of RouterDC (Chen et al., "RouterDC: Query-Based Router by Dual Contrastive Learning for
 * Assembling Large Language Models", NeurIPS 2024).
 *
 * As in the paper, questions and workers are points in one space, and the worker with the highest cosine similarity is
 * called. Both are learned by gradient descent on two contrastive losses. The first pulls a question toward each of its
 * 3 best workers and away from its 3 worst ones. Workers with a score above one half are never pushed away; workers
 * without a score are never pulled. The second pulls a question toward another one in its cluster and away from 3
 * questions in other clusters (5 clusters by k-means).
 *
 * This is a lightweight version: the paper fine-tunes mDeBERTaV3-base as its encoder. Here, any embedder is used
 * unchanged, and only a linear map on top of it is learned. Clusters are computed from the embeddings themselves,
 * without t-SNE. The optimizer is Adam instead of AdamW. The final parameters are used, not the best ones on a
 * validation set.
 */

import type { Embedder } from "@divisi/core"
import type * as Policy from "@divisi/core/Policy"
import * as Effect from "effect/Effect"
import * as Routed from "./routed.ts"
import { points, type WorkerSample } from "./samples.ts"
import { addScaled, clusters, cosine, type Draw, dot, draw, type Vector } from "./vectors.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Settings for learning. The defaults are the paper's, where it states them. */
export interface Settings {
  /** Number of dimensions of the learned space. Default: 32. */
  readonly dimensions: number
  readonly steps: number
  readonly batch: number
  readonly learningRate: number
  /** Number of the best and worst workers per question that are included in the loss. */
  readonly top: number
  readonly last: number
  readonly clusters: number
  /** Number of questions from other clusters that each question is pushed away from. */
  readonly others: number
  /** Weight of the loss between questions. */
  readonly sampleWeight: number
  /** Temperature: cosine similarities are divided by it. */
  readonly temperature: number
  readonly seed: number
}

export const defaults: Settings = {
  dimensions: 32,
  steps: 400,
  batch: 32,
  learningRate: 0.01,
  top: 3,
  last: 3,
  clusters: 5,
  others: 3,
  sampleWeight: 1,
  temperature: 0.1,
  seed: 0
}

/** A question with the score of each worker by index. `NaN` if there is no score. */
export interface Example {
  readonly place: Vector
  readonly scores: ReadonlyArray<number>
  readonly cluster: number
}

/** Learned parameters: the rows of the linear map and the points of the workers. */
export interface Parameters {
  readonly map: ReadonlyArray<Float64Array>
  readonly workers: ReadonlyArray<Float64Array>
}

// -------------------------------------------------------------------------------------------------------------------
// Losses
// -------------------------------------------------------------------------------------------------------------------

const project = ({ map }: Parameters, place: Vector): Float64Array => Float64Array.from(map, (row) => dot(row, place))

/** Adds the gradient of `factor × cos(left, right)` to both sides. */
const backCosine = (
  factor: number,
  left: Float64Array,
  right: Float64Array,
  intoLeft: Float64Array,
  intoRight: Float64Array
): void => {
  const lengths = Math.sqrt(dot(left, left) * dot(right, right))
  if (lengths === 0) return
  const likeness = dot(left, right) / lengths
  addScaled(intoLeft, factor / lengths, right)
  addScaled(intoLeft, (-factor * likeness) / dot(left, left), left)
  addScaled(intoRight, factor / lengths, left)
  addScaled(intoRight, (-factor * likeness) / dot(right, right), right)
}

/** A point with its gradient. */
interface Node {
  readonly value: Float64Array
  readonly gradient: Float64Array
}

const node = (value: Float64Array): Node => ({ value, gradient: new Float64Array(value.length) })

/**
 * Returns `-log softmax` of the cosine to `positive`, among the cosines to it and to `negatives`. Adds the gradient for
 * all of them.
 */
const contrast = (
  anchor: Node,
  positive: Node,
  negatives: ReadonlyArray<Node>,
  weight: number,
  temperature: number
): number => {
  const all = [positive, ...negatives]
  const logits = all.map(({ value }) => cosine(anchor.value, value) / temperature)
  const highest = Math.max(...logits)
  const exponents = logits.map((logit) => Math.exp(logit - highest))
  const total = exponents.reduce((sum, value) => sum + value, 0)
  for (const [index, other] of all.entries()) {
    const slope = (exponents[index]! / total - (index === 0 ? 1 : 0)) * (weight / temperature)
    backCosine(slope, anchor.value, other.value, anchor.gradient, other.gradient)
  }
  return -weight * (logits[0]! - highest - Math.log(total))
}

/** Returns the workers that a question is pulled towards, and those that it is pushed away from. */
export const sides = (scores: ReadonlyArray<number>, top: number, last: number) => {
  const order = scores
    .map((score, worker) => ({ score, worker }))
    .filter(({ score }) => !Number.isNaN(score))
    .sort((left, right) => right.score - left.score || left.worker - right.worker)
  const positives = order.slice(0, top).filter(({ score }) => score > 0)
  const negatives = order.slice(-last).filter(({ score }) => score <= 0.5)
  return { positives: positives.map(({ worker }) => worker), negatives: negatives.map(({ worker }) => worker) }
}

/** Draws the questions to compare a question with: one from its own cluster and some from other clusters. */
const company = (examples: ReadonlyArray<Example>, at: number, settings: Settings, random: Draw) => {
  const places = examples.map((_, index) => index)
  const same = places.filter((index) => index !== at && examples[index]!.cluster === examples[at]!.cluster)
  const different = places.filter((index) => examples[index]!.cluster !== examples[at]!.cluster)
  if (same.length === 0 || different.length < settings.others) return undefined
  return {
    positive: same[random.index(same.length)]!,
    negatives: Array.from({ length: settings.others }, () => different[random.index(different.length)]!)
  }
}

/** Computes the loss of a batch and its gradient. */
export const loss = (
  parameters: Parameters,
  examples: ReadonlyArray<Example>,
  settings: Settings,
  random: Draw
): { readonly value: number; readonly gradient: Parameters } => {
  const questions = examples.map(({ place }) => node(project(parameters, place)))
  const workers = parameters.workers.map(node)
  const { last, sampleWeight, temperature, top } = settings
  const share = 1 / examples.length
  let value = 0
  for (const [index, { scores }] of examples.entries()) {
    const { negatives, positives } = sides(scores, top, last)
    const away = negatives.map((worker) => workers[worker]!)
    for (const worker of away.length === 0 ? [] : positives) {
      const others = away.filter((other) => other !== workers[worker])
      value += contrast(questions[index]!, workers[worker]!, others, share, temperature)
    }
    const beside = sampleWeight === 0 ? undefined : company(examples, index, settings, random)
    if (beside === undefined) continue
    const others = beside.negatives.map((other) => questions[other]!)
    value += contrast(questions[index]!, questions[beside.positive]!, others, share * sampleWeight, temperature)
  }
  const map = parameters.map.map((row, dimension) => {
    const gradient = new Float64Array(row.length)
    for (const [index, { place }] of examples.entries()) {
      addScaled(gradient, questions[index]!.gradient[dimension]!, place)
    }
    return gradient
  })
  return { value, gradient: { map, workers: workers.map(({ gradient }) => gradient) } }
}

// -------------------------------------------------------------------------------------------------------------------
// Learning
// -------------------------------------------------------------------------------------------------------------------

const initial = (length: number, workers: number, { dimensions }: Settings, random: Draw): Parameters => {
  const row = (size: number, deviation: number) =>
    Float64Array.from({ length: size }, () => random.normal() * deviation)
  return {
    map: Array.from({ length: dimensions }, () => row(length, 1 / Math.sqrt(dimensions))),
    workers: Array.from({ length: workers }, () => row(dimensions, 1))
  }
}

/** The Adam optimizer. It updates the parameters in place. */
const adam = (rows: ReadonlyArray<Float64Array>, learningRate: number) => {
  const means = rows.map((row) => new Float64Array(row.length))
  const squares = rows.map((row) => new Float64Array(row.length))
  let step = 0
  return (gradients: ReadonlyArray<Float64Array>): void => {
    step += 1
    const [rate, spread] = [learningRate / (1 - 0.9 ** step), 1 - 0.999 ** step]
    for (const [at, row] of rows.entries()) {
      const [mean, square, gradient] = [means[at]!, squares[at]!, gradients[at]!]
      for (const [index, slope] of gradient.entries()) {
        mean[index] = 0.9 * mean[index]! + 0.1 * slope
        square[index] = 0.999 * square[index]! + 0.001 * slope * slope
        row[index]! -= (rate * mean[index]!) / (Math.sqrt(square[index]! / spread) + 1e-8)
      }
    }
  }
}

/** Learns parameters from examples. The same seed produces the same parameters. */
export const learn = (examples: ReadonlyArray<Example>, workers: number, settings: Settings): Parameters => {
  const random = draw(settings.seed)
  const parameters = initial(examples[0]!.place.length, workers, settings, random)
  const rows = [...parameters.map, ...parameters.workers]
  const step = adam(rows, settings.learningRate)
  for (let count = 0; count < settings.steps; count++) {
    const batch = Array.from(
      { length: Math.min(settings.batch, examples.length) },
      () => examples[random.index(examples.length)]!
    )
    const { gradient } = loss(parameters, batch, settings, random)
    step([...gradient.map, ...gradient.workers])
  }
  return parameters
}

/** Fits the router on recorded accuracies of single workers. */
export const fit = (
  name: string,
  samples: ReadonlyArray<WorkerSample>,
  embedder: Embedder.Embedder,
  options: Partial<Settings> = {}
) =>
  Effect.map(points(samples, embedder), (questions): Policy.Policy => {
    const settings = { ...defaults, ...options }
    const workers = [...new Set(samples.map(({ worker }) => worker))]
    const cluster = clusters(
      questions.map(({ place }) => place),
      settings.clusters
    )
    const examples = questions.map(({ place, scores }, index) => ({
      place,
      scores: workers.map((worker) => scores.get(worker) ?? Number.NaN),
      cluster: cluster[index]!
    }))
    const parameters = learn(examples, workers.length, settings)
    return Routed.make(name, embedder, (question) => {
      const place = project(parameters, question)
      return new Map(workers.map((worker, index) => [worker, cosine(place, parameters.workers[index]!)]))
    })
  })
