/**
 * The learned state of a router: the workers' results by kind of question, the amount of evidence, and the choices that
 * follow from it.
 *
 * A table is plain JSON that includes its evidence, so it can be inspected, compared and rolled back. Learning is
 * deterministic: equal outcomes produce equal tables.
 *
 * A table departs from the best overall worker only if three conditions hold. First, another worker was better on the
 * questions assigned to a kind, by more than one standard error. Second, it is still expected to be better if one
 * question in ten was assigned to the wrong kind, or more if unknown kinds would cause it. Third, it was not worse on
 * questions of other kinds that fall into this kind when their own kind is removed. The last two conditions prevent
 * losses on kinds that have no graded questions.
 */
import { Embedder, Outcome, Strongest } from "@divisi/core"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Choice from "./choice.ts"
import { clustered } from "./clusters.ts"
import * as Landings from "./landings.ts"
import type { Example } from "./Outcomes.ts"
import * as Scores from "./scores.ts"
import * as Space from "./space.ts"
import { textOf } from "./vectors.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The version of the table format. */
export const version = 1

/** The supported tradeoffs between quality and cost. The same as in `@divisi/core`. */
export const dials = Strongest.dials

/** A tradeoff between quality and cost. See {@link dials}. */
export type Dial = Strongest.Dial

const Figure = Schema.NullOr(Schema.Finite)

const Standing = Schema.Struct({
  worker: Schema.String,
  /** Number of graded questions that the worker answered. */
  questions: Schema.Finite,
  /** Mean score on those questions. `null` if the worker answered none. */
  mean: Figure,
  /** Mean score advantage over the best overall worker, on the questions that both answered. */
  advantage: Figure,
  standardError: Figure,
  /**
   * Expected advantage: `advantage` shrunk towards the overall advantage and reduced for uncertainty about the kind.
   */
  expected: Figure,
  /** Mean cost per answer in USD. `null` if unknown. */
  costUsd: Figure
})

const Choices = Schema.Struct({ best: Schema.String, "within-2": Schema.String, half: Schema.String })

const Kind = Schema.Struct({
  name: Schema.String,
  /** Number of graded questions of this kind. */
  questions: Schema.Finite,
  /** The center of the questions of this kind: a base64-encoded unit vector. */
  centre: Schema.String,
  /** Minimum similarity between a question and the center for `choices` to apply, from -1 to 1. */
  leastLikeness: Schema.Struct({ best: Schema.Finite, "within-2": Schema.Finite, half: Schema.Finite }),
  /** The worker chosen for each dial. */
  choices: Choices,
  workers: Schema.Array(Standing)
})

const Table = Schema.Struct({
  version: Schema.Literal(version),
  embedder: Schema.String,
  /** Number of graded questions that the table was learned from. */
  questions: Schema.Finite,
  /** The best overall worker. Called unless the evidence clearly favors another worker. */
  best: Schema.String,
  /** The workers chosen for questions that are far from all graded questions. */
  choices: Choices,
  /** Results over all questions, best worker first. */
  workers: Schema.Array(Standing),
  kinds: Schema.Array(Kind),
  /** Offset and scale of the embedding space, encoded in base64. */
  space: Schema.Struct({ mean: Schema.String, scale: Schema.String })
})

/** A worker's results on a set of questions. */
export type Standing = typeof Standing.Type
/** The worker chosen for each {@link Dial}. */
/** Learned data about one kind of question: the questions with the same label. */
export type Kind = typeof Kind.Type
/** The learned state of a router. */
export type Table = typeof Table.Type

/** Raised when there is nothing to learn from, or a value is not a valid table. */
export class TableError extends Data.TaggedError("TableError")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Fitting
// -------------------------------------------------------------------------------------------------------------------

const figure = (value: number): number | null => (Number.isFinite(value) ? value : null)

const standingOf = ({ workers }: Scores.Scores, one: Choice.Estimate): Standing => ({
  worker: workers[one.worker]!,
  questions: one.answered,
  mean: figure(one.mean),
  advantage: figure(one.advantage),
  standardError: figure(one.standardError),
  expected: figure(one.expected),
  costUsd: figure(one.cost)
})

/** A kind with the estimates and choices for its questions. */
interface Weighed extends Choice.Weighed {
  readonly cell: Landings.Cell
  readonly least: number
  readonly best: Choice.Safe
}

const weigh = (evidence: Choice.Evidence, cell: Landings.Cell): Weighed => {
  const least = Choice.leastLikeness(cell)
  const landed = cell.landed.flatMap(({ index, likeness }) => (likeness >= least ? [index] : []))
  const estimates = Choice.estimates(evidence, landed, Choice.doubtAt(cell, least))
  const best = Choice.bestAt(evidence, cell, least, estimates)
  return { cell, least, estimates, best, questions: landed.length }
}

const kindOf = ({ reference, scores }: Choice.Evidence, price: number, weighed: Weighed): Kind => {
  const { best, cell, estimates, least } = weighed
  const name = (worker: number) => scores.workers[worker]!
  const sure = Choice.counting(estimates, ({ answered, worker }, most) => !isWorker(name(worker)) && answered < most)
  const [cheap, half] = [Choice.cheapestWithin(sure, best.worker), Choice.bestFor(sure, price, reference)]
  return {
    name: cell.kind,
    questions: cell.own.length,
    centre: textOf(cell.centre),
    leastLikeness: { best: best.least, "within-2": cheap === best.worker ? best.least : least, half: least },
    choices: { best: name(best.worker), "within-2": name(cheap), half: name(half) },
    workers: estimates.map((one) => standingOf(scores, one))
  }
}

const byMean = (left: Standing, right: Standing) => (right.mean ?? -1) - (left.mean ?? -1)

/** Whether an id refers to a worker, as opposed to a team. */
export const isWorker = (id: string): boolean => !id.startsWith(Outcome.teamPrefix)

/** Whether a table contains at least two workers of a pool, so that it has a choice to make. */
export const covers = ({ workers }: Table, pool: WorkerPool.WorkerPool): boolean => {
  const ids = new Set(WorkerPool.ids(pool))
  return workers.filter(({ worker }) => ids.has(worker)).length >= 2
}

/**
 * Learns a table from graded questions.
 *
 * **Details**
 *
 * Workers do not need to have answered every question. Two workers are compared on the questions that both answered or,
 * if there are too few, by their means. Teams (`policy:<name>`) are compared like workers and can be chosen for a kind,
 * but never as the best overall worker. Questions without a kind are clustered by the similarity of their texts. All
 * examples must be embedded by the same embedder.
 */
export const fit = (
  examples: ReadonlyArray<Example>,
  options: { readonly embedder?: string | undefined } = {}
): Result.Result<Table, TableError> => {
  const workers = [...new Set(examples.flatMap((example) => [...example.scores.keys()]))].sort()
  if (!workers.some(isWorker))
    return Result.fail(new TableError({ detail: "There are no graded answers to learn from." }))
  const scores = Scores.of(examples, workers)
  const reference = Scores.best(scores, isWorker)
  const evidence = Choice.evidence(scores, reference)
  const space = Space.of(examples.map(({ point }) => point))
  const places = examples.map(({ point }) => Space.place(space, point))
  const kinds = clustered(
    places,
    examples.map(({ kind }) => kind)
  )
  const weighed = Landings.cells(places, kinds).map((cell) => weigh(evidence, cell))
  const overall = Choice.estimates(evidence)
  const alone = Choice.counting(overall, ({ worker }) => !isWorker(workers[worker]!))
  const price = Choice.halfPrice([...weighed, { estimates: alone, questions: 1 }], reference)
  const name = (worker: number) => workers[worker]!
  return Result.succeed({
    version,
    embedder: options.embedder ?? Embedder.hashed().name,
    questions: examples.length,
    best: name(reference),
    choices: {
      best: name(reference),
      "within-2": name(Choice.cheapestWithin(alone, reference)),
      half: name(Choice.bestWithinHalf(alone, reference))
    },
    workers: overall.map((one) => standingOf(scores, one)).sort(byMean),
    kinds: weighed.map((one) => kindOf(evidence, price, one)),
    space: { mean: textOf(space.mean), scale: textOf(space.scale) }
  })
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const decode = Schema.decodeUnknownResult(Table)

/**
 * Parses a table from a JSON value.
 *
 * @internal
 */
export const read = (value: unknown): Result.Result<Table, TableError> =>
  Result.mapError(decode(value), ({ message }) => new TableError({ detail: `This is not a router table: ${message}` }))
