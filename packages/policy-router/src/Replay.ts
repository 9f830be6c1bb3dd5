/**
 * Evaluates a new table on recorded outcomes before it is promoted.
 *
 * For most questions, only the answer of the called worker was recorded. The scores of other workers are predicted by a
 * table that was trained on different questions. Where an answer was recorded, the prediction is corrected by its
 * error, weighted by the logged probability of the choice or, if unknown, by its observed frequency ("doubly robust").
 * A new table is promoted only if the lower bound of that estimate is not worse and it also wins on the most recent
 * fifth of the questions, which it has not seen.
 */
import { Seed, Options as Tables } from "@divisi/core"
import * as Result from "effect/Result"
import type { Example } from "./Outcomes.ts"
import * as Router from "./Router.ts"
import * as Table from "./Table.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The estimated difference between the new and the old table, as score per question. */
export interface Estimate {
  readonly questions: number
  readonly difference: number
  /** The standard error of the mean. `null` if there are fewer than two questions. */
  readonly standardError: number | null
  /** Number of questions that the two tables route to different workers. */
  readonly differing: number
  /**
   * Number of those questions that were asked after the newly chosen worker had joined the pool. Earlier questions
   * cannot have an answer from it.
   */
  readonly knowable: number
  /** Number of rerouted questions with a recorded answer from the newly chosen worker. */
  readonly known: number
}

/** Whether to promote a table, with the reason and the estimates behind it. */
export interface Verdict {
  readonly isPromoted: boolean
  /** A human-readable reason. */
  readonly why: string
  /**
   * The estimate over all questions, cross-validated: each question is judged by a table that was trained without it.
   */
  readonly all: Estimate
  /**
   * The estimate over the most recent fifth of the questions, by a table trained on the earlier ones. Equal to `all` if
   * a worker first appeared within that fifth.
   */
  readonly last: Estimate
}

/** Minimum number of graded questions for a promotion. */
export const leastQuestions = 30
/** Minimum ratio of `known` to `knowable` questions for a promotion. */
const leastKnown = 0.2
/** Distance between the mean and the lower bound, in standard errors. */
const errors = 1.64
/** Maximum loss in score that the lower bound may show. */
const tolerance = 0.005
const folds = 5

// -------------------------------------------------------------------------------------------------------------------
// Estimating
// -------------------------------------------------------------------------------------------------------------------

/** Upper limit on the weight of a correction, for workers that were rarely called on a kind. */
const mostWeight = 20
/** Weight of the overall mean in the prediction for one kind, in questions. */
const priorQuestions = 10

/** Running statistics of a worker's scores. */
interface Seen {
  count: number
  sum: number
}

/**
 * Returns a doubly robust score estimator: the predicted score of a worker on a question, corrected where its answer
 * was recorded.
 */
const modelOf = (table: Table.Table, training: ReadonlyArray<Example>) => {
  const decide = Router.decider(table)
  const cellOf = ({ point }: Example) => decide(point).kind ?? ""
  const cells = new Map<string, { questions: number; readonly workers: Map<string, Seen> }>()
  const all = new Map<string, Seen>()
  const add = (into: Map<string, Seen>, worker: string, score: number) => {
    const seen = into.get(worker) ?? { count: 0, sum: 0 }
    into.set(worker, { count: seen.count + 1, sum: seen.sum + score })
  }
  for (const example of training) {
    const key = cellOf(example)
    const cell = cells.get(key) ?? { questions: 0, workers: new Map() }
    cells.set(key, cell)
    cell.questions += 1
    for (const [worker, score] of example.scores) {
      add(cell.workers, worker, score)
      add(all, worker, score)
    }
  }
  return (example: Example, worker: string): number => {
    const cell = cells.get(cellOf(example))
    const [overall, here] = [all.get(worker), cell?.workers.get(worker)]
    const mean = overall === undefined ? 0 : overall.sum / overall.count
    const predicted = here === undefined ? mean : (here.sum + priorQuestions * mean) / (here.count + priorQuestions)
    const score = example.scores.get(worker)
    if (score === undefined) return predicted
    const share = here === undefined || cell === undefined ? 1 : here.count / cell.questions
    const probability = example.probabilities?.get(worker) || share
    return predicted + Math.min(mostWeight, 1 / probability) * (score - predicted)
  }
}

interface Judged {
  /** The worker that the new table chooses. */
  readonly next: string
  readonly difference: number
  readonly isDiffering: boolean
  /**
   * Whether the newly chosen worker had already answered some question by then, so that its answer could have been
   * recorded.
   */
  readonly isKnowable: boolean
  readonly isKnown: boolean
}

/** Returns the time of each worker's first answer. */
const arrivals = (examples: ReadonlyArray<Example>): ReadonlyMap<string, number> => {
  const first = new Map<string, number>()
  for (const { at, scores } of examples) {
    for (const worker of scores.keys()) first.set(worker, Math.min(at, first.get(worker) ?? at))
  }
  return first
}

/** Judges, on the test questions, a table trained on the training questions against the old table. */
const judge = (
  training: ReadonlyArray<Example>,
  test: ReadonlyArray<Example>,
  old: Table.Table | undefined,
  options: Options,
  arrived: ReadonlyMap<string, number>
): ReadonlyArray<Judged> => {
  const fitted = Result.getOrUndefined(Table.fit(training, options))
  if (fitted === undefined) return []
  const valueOf = modelOf(fitted, training)
  const decide = Router.decider(fitted)
  const choose = options.learner?.(training) ?? (({ point }: Example) => decide(point).worker)
  const known = new Set(fitted.workers.map(({ worker }) => worker))
  const among = old?.workers.flatMap(({ worker }) => (known.has(worker) ? [worker] : [])) ?? []
  const inForce = old === undefined || among.length === 0 ? undefined : Router.decider(old, { among })
  const before = inForce ?? (options.learner === undefined ? undefined : decide)
  return test.map((example) => {
    const next = choose(example)
    const last = before?.(example.point).worker ?? fitted.best
    const isDiffering = next !== last
    return {
      next,
      difference: isDiffering ? valueOf(example, next) - valueOf(example, last) : 0,
      isDiffering,
      isKnowable: isDiffering && example.at >= (arrived.get(next) ?? 0),
      isKnown: isDiffering && example.scores.has(next)
    }
  })
}

const estimate = (judged: ReadonlyArray<Judged>): Estimate => {
  const count = judged.length
  const difference = count === 0 ? 0 : judged.reduce((sum, one) => sum + one.difference, 0) / count
  const squares = judged.reduce((sum, one) => sum + (one.difference - difference) ** 2, 0)
  return {
    questions: count,
    difference,
    standardError: count < 2 ? null : Math.sqrt(squares / (count - 1) / count),
    differing: judged.filter(({ isDiffering }) => isDiffering).length,
    knowable: judged.filter(({ isKnowable }) => isKnowable).length,
    known: judged.filter(({ isKnown }) => isKnown).length
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Judging
// -------------------------------------------------------------------------------------------------------------------

/** Options for {@link compare}. */
export interface Options {
  /** Name of the embedder that produced the examples' embeddings. Default: the name of `Embedder.hashed()`. */
  readonly embedder?: string | undefined
  /**
   * An alternative learning method to judge: trains on questions and returns a function that chooses a worker. It is
   * compared with the active table, or with a table trained on the same questions if there is no active table.
   */
  readonly learner?: ((training: ReadonlyArray<Example>) => (example: Example) => string) | undefined
}

const table = { embedder: Tables.name, learner: Tables.aFunction } satisfies Tables.ShapeOf<Options>

const points = (value: number): string => `${value < 0 ? "" : "+"}${(100 * value).toFixed(1)}`

const same = "it would choose the same workers"

/** Whether the table trained on all questions chooses the same worker as the active table for every question. */
const asksAlike = (examples: ReadonlyArray<Example>, old: Table.Table | undefined, options: Options): boolean => {
  const fitted = Result.getOrUndefined(Table.fit(examples, options))
  if (fitted === undefined || old === undefined || options.learner !== undefined) return false
  const [next, last] = [Router.decider(fitted), Router.decider(old)]
  return examples.every(({ point }) => next(point).worker === last(point).worker)
}

/** Returns the reason not to promote a table, or `undefined` if it may be promoted. */
const objectionTo = (all: Estimate, last: Estimate, count: number, isFirst: boolean): string | undefined => {
  if (count < leastQuestions) return `it needs ${leastQuestions} rated questions, but has only ${count}`
  if (all.differing === 0) return isFirst ? undefined : same
  if (all.known < leastKnown * all.knowable || all.known === 0) {
    return `it would send ${all.knowable} questions to another worker, but the result is known for only ${all.known} of them`
  }
  const lower = all.difference - errors * (all.standardError ?? Number.POSITIVE_INFINITY)
  if (lower < -tolerance) {
    return `it may be worse: ${points(all.difference)} points by replay, and ${points(lower)} by the lower bound`
  }
  const isBetter = last.difference > 0 || (isFirst && last.difference === 0)
  return isBetter
    ? undefined
    : `it is not better on the last fifth of the questions (${points(last.difference)} points)`
}

/**
 * Compares a table trained on these questions with the active table. If there is no active table, the baseline always
 * calls the worker with the best results on the training questions. If `learner` is set, its choices are compared
 * instead of those of the new table; the new table is then the baseline if there is no active one.
 */
export const compare = (
  examples: ReadonlyArray<Example>,
  old: Table.Table | undefined,
  options: Options = {}
): Verdict => {
  Tables.check("Replay.compare", options, table)
  // Questions without distinct dates are shuffled, because files often group questions by kind.
  const inTime = Seed.shuffled(Seed.draw(0), examples).toSorted((left, right) => left.at - right.at)
  const isIn = (index: number, fold: number) => index % folds === fold
  const arrived = arrivals(inTime)
  const byFold = Array.from({ length: folds }, (_, fold) =>
    judge(
      inTime.filter((_, index) => !isIn(index, fold)),
      inTime.filter((_, index) => isIn(index, fold)),
      old,
      options,
      arrived
    )
  )
  const all = estimate(byFold.flat())
  const end = Math.ceil(0.8 * inTime.length)
  const answered = (worker: string, some: ReadonlyArray<Example>) =>
    some.filter(({ scores }) => scores.has(worker)).length
  const newcomers = [...arrived.keys()].filter(
    (worker) => answered(worker, inTime.slice(end)) > answered(worker, inTime.slice(0, end))
  )
  const isNew = ({ next }: Judged) => newcomers.includes(next)
  // If a worker first appeared in the last fifth, the earlier questions contain nothing to learn about it. Use its
  // cross-validated results instead.
  const last = estimate(
    byFold.flat().some(isNew)
      ? byFold.flatMap((judged, fold) => judged.filter((_, index) => index * folds + fold >= end))
      : judge(inTime.slice(0, end), inTime.slice(end), old, options, arrived)
  )
  const objection = objectionTo(all, last, examples.length, old === undefined && options.learner === undefined)
  // The table trained on all questions may make the same choices as the active one even if the tables of the folds do
  // not.
  const isAlike = objection !== undefined && examples.length >= leastQuestions && asksAlike(examples, old, options)
  const gain = `${points(all.difference)} points by replay, ${points(last.difference)} on the last fifth`
  return {
    isPromoted: objection === undefined,
    why: isAlike ? same : (objection ?? (all.differing === 0 ? "it chooses the best worker, as before" : gain)),
    all,
    last
  }
}
