/**
 * Judges a table by recorded outcomes before it is used.
 *
 * For most questions, only the answer of the worker that was called is known. The score of another worker is a
 * prediction from a table learned on other questions. If its answer is known, the prediction is corrected by its error
 * ("doubly robust"), weighted by the logged probability of the choice, or else by its frequency. A new table is
 * promoted only if it is not worse by the lower bound of that estimate, and better on the unseen last fifth of the
 * questions in time.
 */
import { Seed, Options as Tables } from "@divisi/core"
import * as Result from "effect/Result"
import type { Example } from "./Outcomes.ts"
import * as Router from "./Router.ts"
import * as Table from "./Table.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The difference between the new and the old table, in score per question. */
export interface Estimate {
  readonly questions: number
  readonly difference: number
  /** `null` for fewer than two questions. */
  readonly standardError: number | null
  /** The number of questions that the two send to different workers. */
  readonly differing: number
  /**
   * The number of these questions that were asked after the newly chosen worker had been added. For earlier ones, its
   * answer cannot be known.
   */
  readonly knowable: number
  /** The number of these with a recorded answer of the worker that the new or the old table chooses. */
  readonly known: number
}

/** Whether a table is promoted, and why. */
export interface Verdict {
  readonly isPromoted: boolean
  /** The reason, as a sentence for display. */
  readonly why: string
  /** The estimate over all questions, each judged by a table that was learned without it. */
  readonly all: Estimate
  /**
   * The estimate over the last fifth of the questions, by a table that was learned from the earlier ones; the same as
   * `all` if a worker appeared only then.
   */
  readonly last: Estimate
}

/** The minimum number of graded questions for a promotion. */
export const leastQuestions = 30
/** The minimum share of questions that would go to another worker and have a recorded answer from it. */
const leastKnown = 0.2
/** The lower bound: so many standard errors below the mean. */
const errors = 1.64
/** The amount by which the lower bound may be negative, in score. */
const tolerance = 0.005
const folds = 5

// -------------------------------------------------------------------------------------------------------------------
// Estimating
// -------------------------------------------------------------------------------------------------------------------

/** A correction counts so often at most, however rarely a worker was asked at a kind. */
const mostWeight = 20
/** How many questions the mean over all kinds weighs as much as, in what is predicted at one. */
const priorQuestions = 10

/** The statistics of a worker over some questions. */
interface Seen {
  count: number
  sum: number
}

/** Predicts answers, and how often each worker's answer was recorded, by kind; learned from other questions. */
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
   * Whether an answer of the newly chosen worker could have been recorded, i.e. whether it had answered any question by
   * then.
   */
  readonly isKnowable: boolean
  readonly isKnown: boolean
}

/** When each worker answered first. */
const arrivals = (examples: ReadonlyArray<Example>): ReadonlyMap<string, number> => {
  const first = new Map<string, number>()
  for (const { at, scores } of examples) {
    for (const worker of scores.keys()) first.set(worker, Math.min(at, first.get(worker) ?? at))
  }
  return first
}

/** Estimates the result on some questions if a table learned on others replaces an old one. */
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

/** Options for judging a table. */
export interface Options {
  /** The name of the embedder of the questions. Default: that of `Embedder.hashed()`. */
  readonly embedder?: string | undefined
  /**
   * Another way to learn the choice of a worker from questions. It is judged instead of a new table, against the active
   * one, or if there is no active table, against the table learned from the same questions.
   */
  readonly learner?: ((training: ReadonlyArray<Example>) => (example: Example) => string) | undefined
}

const table = { embedder: Tables.name, learner: Tables.aFunction } satisfies Tables.ShapeOf<Options>

const points = (value: number): string => `${value < 0 ? "" : "+"}${(100 * value).toFixed(1)}`

const same = "it would choose the same workers"

/** Whether what is learned from all questions asks the workers that the table in force does, question by question. */
const asksAlike = (examples: ReadonlyArray<Example>, old: Table.Table | undefined, options: Options): boolean => {
  const fitted = Result.getOrUndefined(Table.fit(examples, options))
  if (fitted === undefined || old === undefined || options.learner !== undefined) return false
  const [next, last] = [Router.decider(fitted), Router.decider(old)]
  return examples.every(({ point }) => next(point).worker === last(point).worker)
}

/** Returns the objection to a promotion, or `undefined` if there is no objection. */
const objectionTo = (all: Estimate, last: Estimate, count: number, isFirst: boolean): string | undefined => {
  if (count < leastQuestions) return `it needs ${leastQuestions} rated questions, but has only ${count}`
  if (all.differing === 0) return isFirst ? undefined : same
  if (all.known < leastKnown * all.knowable || all.known === 0) {
    return `it would send ${all.knowable} questions to another worker, and for only ${all.known} of them the result is known`
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
 * Compares a table learned from these questions with the active table, or, without one, with always calling the worker
 * that is best on the training questions. With `learner`, another learning method is judged.
 */
export const compare = (
  examples: ReadonlyArray<Example>,
  old: Table.Table | undefined,
  options: Options = {}
): Verdict => {
  Tables.check("Replay.compare", options, table)
  // Questions without dates, or with the same date, are in random order, because those of a kind are often adjacent in
  // a file.
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
  // Of who came only then, little was to be learned before: the last fifth is judged by what the other folds have learned.
  const last = estimate(
    byFold.flat().some(isNew)
      ? byFold.flatMap((judged, fold) => judged.filter((_, index) => index * folds + fold >= end))
      : judge(inTime.slice(0, end), inTime.slice(end), old, options, arrived)
  )
  const objection = objectionTo(all, last, examples.length, old === undefined && options.learner === undefined)
  // Learned from all questions it may ask alike, where each part of them alone would not.
  const isAlike = objection !== undefined && examples.length >= leastQuestions && asksAlike(examples, old, options)
  const gain = `${points(all.difference)} points by replay, ${points(last.difference)} on the last fifth`
  return {
    isPromoted: objection === undefined,
    why: isAlike ? same : (objection ?? (all.differing === 0 ? "it chooses the best worker, as before" : gain)),
    all,
    last
  }
}
