/**
 * Files of outcomes, and their conversion to graded questions, from which routers learn.
 *
 * A line is either a question with the scores of several workers, as in recorded benchmarks, or one `Outcome`, as the
 * command line appends for every rated answer. A file may contain both, and may be gzipped (`.gz`).
 */
import { Callback, Embedder, Outcome } from "@divisi/core"
import { JsonLines } from "@divisi/files"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { pointOf, textOf } from "./vectors.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A question with the scores of the workers that answered it. */
export interface GradedQuestion {
  readonly id: string
  readonly kind?: string | undefined
  readonly text?: string | undefined
  /** The question's position in the embedding space, if it is known without the text. */
  readonly place?: Outcome.Place | undefined
  /** The scores from 0 to 1, by worker id; the mean if a worker answered several times. */
  readonly scores: ReadonlyMap<string, number>
  /** The cost of one answer in USD, by worker id, if known. */
  readonly costUsd: ReadonlyMap<string, number>
  /** The answers by the worker's id, if they were recorded. */
  readonly answers: ReadonlyMap<string, string>
  /** The probability with which each worker was called, by its id; absent if the choice was not random. */
  readonly probabilities?: ReadonlyMap<string, number> | undefined
  /** The time of its first score, in milliseconds since 1970; 0 if unknown. */
  readonly at: number
}

/** A graded question with its embedding. */
export interface Example extends GradedQuestion {
  readonly point: Float32Array
}

/** The file does not contain outcomes, or is invalid. */
export class OutcomesError extends Data.TaggedError("OutcomesError")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Lines
// -------------------------------------------------------------------------------------------------------------------

const Score = Schema.Union([
  Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }, { message: "Expected a score from 0 to 1" })),
  Schema.Boolean
]).annotate({ message: "Expected a score from 0 to 1" })

const Name = Schema.Union([Schema.String, Schema.Finite])

// Costs and answers are not needed to learn from a question: those of another form count as unknown.
const Row = Schema.Struct({
  id: Schema.optionalKey(Schema.NullOr(Name)),
  kind: Schema.optionalKey(Schema.NullOr(Name)),
  question: Schema.NonEmptyString,
  scores: Schema.Record(Schema.String, Schema.NullOr(Score)),
  costUsd: Schema.optionalKey(Schema.Unknown),
  answers: Schema.optionalKey(Schema.Unknown)
})

const OneOutcome = Schema.Struct({
  version: Schema.Literal(Outcome.version),
  at: Schema.Finite,
  question: Schema.NonEmptyString,
  kind: Schema.optionalKey(Schema.String),
  text: Schema.optionalKey(Schema.String),
  place: Schema.optionalKey(Schema.Struct({ embedder: Schema.String, point: Schema.String })),
  worker: Schema.NonEmptyString,
  model: Schema.optionalKey(Schema.String),
  score: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
  source: Schema.Literals(Outcome.sources),
  costUsd: Schema.optionalKey(Schema.Finite),
  probability: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))
})

const decodeRow = Schema.decodeUnknownResult(Row)
const decodeOutcome = Schema.decodeUnknownResult(OneOutcome)

const present = <A>(record: unknown, isGood: (value: unknown) => value is A): ReadonlyMap<string, A> =>
  new Map(Object.entries(record ?? {}).flatMap(([key, value]) => (isGood(value) ? [[key, value] as const] : [])))

const isScore = (value: unknown): value is number | boolean => value !== null
const isCost = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0
const isText = (value: unknown): value is string => typeof value === "string"

const fromRow = (row: typeof Row.Type): GradedQuestion => ({
  id: String(row.id ?? Outcome.nameOf(row.question)),
  kind: row.kind === null || row.kind === undefined ? undefined : String(row.kind),
  text: row.question,
  scores: new Map([...present(row.scores, isScore)].map(([worker, score]) => [worker, Number(score)])),
  costUsd: present(row.costUsd, isCost),
  answers: typeof row.answers === "object" ? present(row.answers, isText) : new Map(),
  at: 0
})

const fromOutcome = (one: Outcome.Outcome): GradedQuestion => ({
  id: one.question,
  kind: one.kind,
  text: one.text,
  place: one.place,
  scores: new Map([[one.worker, one.score]]),
  costUsd: one.costUsd === undefined ? new Map() : new Map([[one.worker, one.costUsd]]),
  answers: new Map(),
  probabilities: one.probability === undefined ? undefined : new Map([[one.worker, one.probability]]),
  at: one.at
})

const isRow = (line: unknown): boolean => typeof line === "object" && line !== null && "scores" in line

/** Parses a line of a file. The failure describes the problem. */
export const parse = (line: unknown): Result.Result<GradedQuestion, string> =>
  isRow(line)
    ? Result.mapBoth(decodeRow(line), { onSuccess: fromRow, onFailure: ({ message }) => message })
    : Result.mapBoth(decodeOutcome(line), { onSuccess: fromOutcome, onFailure: ({ message }) => message })

// -------------------------------------------------------------------------------------------------------------------
// Questions
// -------------------------------------------------------------------------------------------------------------------

const meanBy = (maps: ReadonlyArray<ReadonlyMap<string, number>>): ReadonlyMap<string, number> => {
  const sums = new Map<string, { sum: number; count: number }>()
  for (const [key, value] of maps.flatMap((map) => [...map])) {
    const known = sums.get(key) ?? { sum: 0, count: 0 }
    sums.set(key, { sum: known.sum + value, count: known.count + 1 })
  }
  return new Map([...sums].map(([key, { count, sum }]) => [key, sum / count]))
}

/** Converts outcomes to graded questions, without duplicates. */
export const fromOutcomes = (outcomes: ReadonlyArray<Outcome.Outcome>): ReadonlyArray<GradedQuestion> =>
  merged(outcomes.map(fromOutcome))

/** Merges several lines about one question. If a worker answered it several times, the mean score counts. */
export const merged = (questions: ReadonlyArray<GradedQuestion>): ReadonlyArray<GradedQuestion> =>
  [...Map.groupBy(questions, ({ id, text }) => (text === undefined ? id : Outcome.nameOf(text))).values()].map(
    (group) =>
      group.length === 1
        ? group[0]!
        : {
            id: group[0]!.id,
            kind: group.find(({ kind }) => kind !== undefined)?.kind,
            text: group[0]!.text,
            place: group.find(({ place }) => place !== undefined)?.place,
            scores: meanBy(group.map(({ scores }) => scores)),
            costUsd: meanBy(group.map(({ costUsd }) => costUsd)),
            answers: new Map(group.flatMap(({ answers }) => [...answers])),
            probabilities: new Map(group.flatMap(({ probabilities = new Map() }) => [...probabilities])),
            at: Math.min(...group.map(({ at }) => at))
          }
  )

/** Options for reading a file. */
export interface ReadOptions {
  /** Called with a sentence for each unusable line, which is then skipped. Without it, such a line is an error. */
  readonly onUnusable?: ((problem: string) => void) | undefined
}

/** Reads the questions of a file in order, without duplicates. */
export const read = (
  file: string,
  { onUnusable }: ReadOptions = {}
): Effect.Effect<ReadonlyArray<GradedQuestion>, OutcomesError> =>
  Effect.gen(function* () {
    const lines = yield* Stream.runCollect(
      JsonLines.read(file, {
        isComplete: true,
        seal: "optional",
        onDamaged: onUnusable && (({ message }) => Callback.notifyLogged("onUnusable", () => onUnusable(message)))
      })
    )
    const questions: Array<GradedQuestion> = []
    let first: string | undefined
    for (const [index, line] of lines.entries()) {
      const parsed = parse(line)
      if (Result.isSuccess(parsed)) questions.push(parsed.success)
      else {
        const problem = `${file}, outcome ${index + 1}: ${parsed.failure}`
        if (onUnusable === undefined) return yield* Effect.fail(problem)
        first ??= problem
        Callback.notifyLogged("onUnusable", () => onUnusable(problem))
      }
    }
    if (questions.length === 0) return yield* Effect.fail(first ?? `${file} holds no outcomes.`)
    return merged(questions)
  }).pipe(Effect.mapError((error) => new OutcomesError({ detail: typeof error === "string" ? error : error.message })))

/** Returns a question's embedding in the format of outcomes. */
export const placeOf = (
  question: string,
  embedder: Embedder.Embedder = Embedder.hashed()
): Effect.Effect<Outcome.Place, Embedder.EmbedderError> =>
  Effect.map(Embedder.ask(embedder, [question]), ([point]) => ({ embedder: embedder.name, point: textOf(point!) }))

/**
 * Returns graded questions with their embeddings. Omits questions with neither a text nor an embedding by this
 * embedder, because nothing can be learned from them.
 */
export const examples = (
  questions: ReadonlyArray<GradedQuestion>,
  embedder: Embedder.Embedder = Embedder.hashed()
): Effect.Effect<ReadonlyArray<Example>, Embedder.EmbedderError> =>
  Effect.gen(function* () {
    const placed = questions.flatMap((question) => {
      const { place } = question
      return place?.embedder === embedder.name ? [{ ...question, point: pointOf(place.point) }] : []
    })
    const unplaced = questions.filter(({ place, text }) => place?.embedder !== embedder.name && text !== undefined)
    const points = yield* Embedder.ask(
      embedder,
      unplaced.map(({ text }) => text!)
    )
    return [...placed, ...unplaced.map((question, index) => ({ ...question, point: points[index]! }))]
  })
