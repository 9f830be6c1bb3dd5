/**
 * The learned state of a router: the workers' results by kind of question, the amount of evidence, and the resulting
 * choices.
 *
 * A table is plain JSON that includes its evidence, so it can be inspected, compared and reverted. Equal outcomes give
 * equal tables.
 *
 * A table deviates from the best overall worker only under three conditions. First, another worker was better on the
 * questions assigned to a kind, by more than one standard error. Second, it would still be expected to be better if one
 * question in ten were assigned wrongly, or more if unknown kinds would cause it. Third, it was not worse on questions
 * of other kinds that are assigned to this kind when their own kind is removed. The last two conditions prevent losses
 * on kinds without graded questions.
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

/** The version of tables on disk. */
export const version = 1

/** The tradeoffs between quality and cost, as in `@divisi/core`. */
export const dials = Strongest.dials

/** One of {@link dials}. */
export type Dial = Strongest.Dial

const Figure = Schema.NullOr(Schema.Finite)

const Standing = Schema.Struct({
  worker: Schema.String,
  /** Graded questions that it answered. */
  questions: Schema.Finite,
  /** Its mean score on them; `null` without any. */
  mean: Figure,
  /** By how much it is better than the best worker of all, on the questions that both answered. */
  advantage: Figure,
  standardError: Figure,
  /** The expected advantage: shrunk towards that over all questions, and discounted for uncertainty about the kind. */
  expected: Figure,
  /** Mean USD for one answer; `null` where unknown. */
  costUsd: Figure
})

const Choices = Schema.Struct({ best: Schema.String, "within-2": Schema.String, half: Schema.String })

const Kind = Schema.Struct({
  name: Schema.String,
  /** Graded questions of this name. */
  questions: Schema.Finite,
  /** The centre of its questions, of length 1, in base64. */
  centre: Schema.String,
  /** The minimum likeness to the centre for the choices to apply: from -1 to 1. */
  leastLikeness: Schema.Struct({ best: Schema.Finite, "within-2": Schema.Finite, half: Schema.Finite }),
  /** The chosen workers. */
  choices: Choices,
  workers: Schema.Array(Standing)
})

const Table = Schema.Struct({
  version: Schema.Literal(version),
  embedder: Schema.String,
  /** Graded questions that it was learned from. */
  questions: Schema.Finite,
  /** The best worker of all: who is asked wherever nothing speaks for another. */
  best: Schema.String,
  /** The chosen workers for questions far from all graded ones. */
  choices: Choices,
  /** Over all questions, the best first. */
  workers: Schema.Array(Standing),
  kinds: Schema.Array(Kind),
  /** The shift and scale of the embedder's points, in base64. */
  space: Schema.Struct({ mean: Schema.String, scale: Schema.String })
})

/** The results of a worker on some questions. */
export type Standing = typeof Standing.Type
/** The chosen worker for each {@link Dial}. */
export type Choices = typeof Choices.Type
/** The learned data about a kind of question. */
export type Kind = typeof Kind.Type
/** The learned state of a router. */
export type Table = typeof Table.Type

/** Nothing can be learned, or a file does not contain a table. */
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

/** A kind with its estimates and choices. */
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

/** Whether an id belongs to a worker rather than a team. */
export const isWorker = (id: string): boolean => !id.startsWith(Outcome.teamPrefix)

/** Whether a table knows at least two workers of a pool, so that there is a choice. */
export const knows = ({ workers }: Table, pool: WorkerPool.WorkerPool): boolean => {
  const ids = new Set(WorkerPool.ids(pool))
  return workers.filter(({ worker }) => ids.has(worker)).length >= 2
}

/**
 * Learns a table from graded questions.
 *
 * **Details**
 *
 * Workers need not have answered every question: two workers are compared on the questions that both answered, or, if
 * there are too few, by their means. Teams (`policy:<name>`) are compared like workers and can be chosen for a kind,
 * but not as the overall choice. Questions without a kind are clustered by their wording. All examples must be embedded
 * by the same embedder.
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

/** Reads a table from parsed JSON. */
export const read = (value: unknown): Result.Result<Table, TableError> =>
  Result.mapError(decode(value), ({ message }) => new TableError({ detail: `This is not a router table: ${message}` }))
