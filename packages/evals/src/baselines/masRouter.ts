/**
 * A lightweight version of MASRouter (Yue et al., "MasRouter: Learning to Route LLMs for Multi-Agent Systems", ACL 2025).
 *
 * As in the paper, a cascade chooses a shape of collaboration for each question, then the number of workers, then the
 * workers. It maximizes the score minus the weighted cost. The shapes are the paper's: one answer, a chain, reflection,
 * a debate, and a full graph.
 *
 * This is a lightweight version: in the paper, the three stages are a variational latent model and two networks,
 * trained jointly by policy gradient on sampled systems, and roles are chosen from a library. Here, each stage is an
 * estimate from the nearest training questions, shrunk toward the overall mean if there are few of them. The number of
 * workers follows from the shape, and there are no roles.
 */
import { Baselines, type Embedder } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import * as Effect from "effect/Effect"
import type { Record, Sample } from "../evaluation/Recording.ts"
import { mean } from "../statistics/Statistics.ts"
import * as Routed from "./routed.ts"
import { type Point, points, type WorkerSample } from "./samples.ts"
import { argmax, nearest, type Vector } from "./vectors.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Settings for learning from samples and for choosing a workflow. */
export interface Settings {
  /** Number of nearest training questions used for an estimate. */
  readonly neighbours: number
  /** Weight of the overall mean, as a number of samples. */
  readonly prior: number
  /** Gain in score that is worth the average price of a single call. */
  readonly costWeight: number
}

export const defaults: Settings = { neighbours: 15, prior: 3, costWeight: 0.01 }

/** A form of collaboration. It creates a policy from the workers for a question, ordered best first. */
interface Shape {
  readonly name: string
  readonly policy: (workers: ReadonlyArray<string>) => Policy.Policy
}

const plan = "Plan how to answer the question: name the parts and the steps. Do not answer it yet."
const carryOut =
  "Above is a plan for the question. Follow it where it is right, and give the final answer in the form that the question asks for."

const chain = ([first, second = first]: ReadonlyArray<string>): Policy.Policy =>
  Policy.fixed(
    "chain",
    (pool) => {
      const ordinal = (worker: string | undefined) => pool.workers.findIndex(({ id }) => id === worker)
      return {
        steps: [
          { worker: ordinal(second), subtask: plan, access: [] },
          { worker: ordinal(first), subtask: carryOut, access: "all" }
        ]
      }
    },
    { maxSteps: 2 }
  )

const shapes: ReadonlyArray<Shape> = [
  { name: "single", policy: (workers) => Baselines.single(workers[0]!) },
  { name: "chain", policy: chain },
  { name: "reflection", policy: (workers) => Baselines.selfReflection({ rounds: 1, worker: workers[0]! }) },
  {
    name: "debate",
    policy: (workers) => Baselines.bestOf({ n: 2, workers: workers.slice(0, 2), judge: workers[0]! })
  },
  {
    name: "full",
    policy: (workers) =>
      Baselines.mixtureOfAgents({ layers: 2, proposers: workers.slice(0, 3), aggregator: workers[0]! })
  }
]

/** Returns the name under which trials of a shape are recorded. */
const trialOf = (name: string, shape: Shape): string => `${name}/${shape.name}`

/** Number of steps in the longest shape: two layers of three, and the aggregator. */
const longest = 7

// -------------------------------------------------------------------------------------------------------------------
// Estimates
// -------------------------------------------------------------------------------------------------------------------

/** Mean of the values, shrunk towards an overall mean with the weight of `prior` samples. */
const shrunken = (values: ReadonlyArray<number>, overall: number, prior: number): number =>
  (values.reduce((sum, value) => sum + value, 0) + prior * overall) / (values.length + prior)

/** Creates an estimator for the outcome of each candidate near a point, from values recorded for training questions. */
const estimator = (
  recorded: ReadonlyArray<{ readonly place: Vector; readonly values: ReadonlyMap<string, number> }>,
  settings: Settings
) => {
  const places = recorded.map(({ place }) => place)
  const names = [...new Set(recorded.flatMap(({ values }) => [...values.keys()]))]
  const valuesOf = (name: string, of: typeof recorded) =>
    of.flatMap(({ values }) => (values.has(name) ? [values.get(name)!] : []))
  const overall = new Map(names.map((name) => [name, mean(valuesOf(name, recorded))]))
  return (question: Vector): ReadonlyMap<string, number> => {
    const near = nearest(question, places, settings.neighbours).map((index) => recorded[index]!)
    return new Map(names.map((name) => [name, shrunken(valuesOf(name, near), overall.get(name)!, settings.prior)]))
  }
}

type Estimate = (question: Vector) => ReadonlyMap<string, number>

/** Second stage: estimates how good each worker is near a question. `without` excludes one training question. */
const workerStage = (questions: ReadonlyArray<Point>, settings: Settings) => (without?: string) =>
  estimator(
    questions.flatMap(({ place, scores, task }) => (task.id === without ? [] : [{ place, values: scores }])),
    settings
  )

// -------------------------------------------------------------------------------------------------------------------
// Fitting
// -------------------------------------------------------------------------------------------------------------------

/** Creates a policy that uses a shape with the best workers for each question. */
const shaped = (
  name: string,
  shape: Shape,
  embedder: Embedder.Embedder,
  workersFor: (task: string) => Estimate
): Policy.Policy => ({
  name,
  maxSteps: longest,
  propose: Effect.fnUntraced(function* (context) {
    const place = yield* Routed.placeOf(name, embedder, context.task)
    const workers = Routed.ranked(workersFor(context.task.id)(place), context)
    return workers.length === 0 ? yield* Routed.noneKnown(name) : yield* shape.policy(workers).propose(context)
  })
})

/** Score of a trial minus its cost, measured in average prices of a single call. */
const utility = ({ costUsd, score }: Sample, unit: number, costWeight: number): number | undefined =>
  score === undefined ? undefined : score - (unit === 0 ? 0 : (costWeight * costUsd) / unit)

/**
 * The first stage: how useful each shape is near a question, from trials of each shape on the training questions, with
 * workers chosen without looking at the question itself.
 */
const shapeStage = (questions: ReadonlyArray<Point>, trials: ReadonlyArray<Sample>, unit: number, settings: Settings) =>
  estimator(
    questions.map(({ place, task }) => ({
      place,
      values: new Map(
        trials.flatMap((trial) => {
          const value = trial.task.id === task.id ? utility(trial, unit, settings.costWeight) : undefined
          return value === undefined ? [] : [[trial.policy, value] as const]
        })
      )
    })),
    settings
  )

/** Fits the stages (shape of the workflow, then workers) on samples of single workers and trials of each shape. */
export const fit = Effect.fnUntraced(function* <E>(
  name: string,
  samples: ReadonlyArray<WorkerSample>,
  embedder: Embedder.Embedder,
  record: Record<E>,
  options: Partial<Settings> = {}
) {
  const settings = { ...defaults, ...options }
  const questions = yield* points(samples, embedder)
  const stage = workerStage(questions, settings)
  const trials = yield* record(
    shapes.map((shape) => shaped(trialOf(name, shape), shape, embedder, (task) => stage(task)))
  )
  const unit = mean(samples.map(({ costUsd }) => costUsd))
  const shapeFor = shapeStage(questions, trials, unit, settings)
  const workersFor = stage()
  const policy: Policy.Policy = {
    name,
    maxSteps: longest,
    propose: Effect.fnUntraced(function* (context) {
      const place = yield* Routed.placeOf(name, embedder, context.task)
      const expected = shapeFor(place)
      const shape =
        shapes[argmax(shapes.map((shape) => expected.get(trialOf(name, shape)) ?? Number.NEGATIVE_INFINITY))]!
      const workers = Routed.ranked(workersFor(place), context)
      return workers.length === 0 ? yield* Routed.noneKnown(name) : yield* shape.policy(workers).propose(context)
    })
  }
  return policy
})
