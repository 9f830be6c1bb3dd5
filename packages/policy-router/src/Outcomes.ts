/**
 * Reads files of outcomes and converts them to graded questions, the training data of routers.
 *
 * Each line is either a question with the scores of several workers, as in recorded benchmarks, or a single `Outcome`,
 * as the command line appends for each rated answer. A file may mix both kinds of line and may be gzipped (`.gz`).
 */
import { Callback, Embedder, Outcome, Options as Tables } from "@divisi/core"
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
  /** Label shared by similar questions, such as a benchmark or a subject. The router learns what works for each kind. */
  readonly kind?: string | undefined
  readonly text?: string | undefined
  /** The embedding of the question, if it was recorded with the outcome. */
  readonly place?: Outcome.Place | undefined
  /** Scores from 0 to 1, keyed by worker id. If a worker answered several times, this is its mean score. */
  readonly scores: ReadonlyMap<string, number>
  /** Cost per answer in USD, keyed by worker id. Workers with unknown cost are left out. */
  readonly costUsd: ReadonlyMap<string, number>
  /** Recorded answers, keyed by worker id. */
  readonly answers: ReadonlyMap<string, string>
  /** The probability with which each worker was chosen, keyed by worker id. Undefined if the choice was not random. */
  readonly probabilities?: ReadonlyMap<string, number> | undefined
  /** When the question was first scored, in milliseconds since 1970. 0 if unknown. */
  readonly at: number
}

/** A graded question with its embedding, ready for training. */
export interface Example extends GradedQuestion {
  readonly point: Float32Array
}

/** Raised when a file does not contain outcomes or cannot be parsed. */
export class OutcomesError extends Data.TaggedError("OutcomesError")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Lines
// -------------------------------------------------------------------------------------------------------------------

const expectedScore = "Expected a score from 0 to 1"

const Score = Schema.Union([
  Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }, { message: expectedScore })),
  Schema.Boolean
])

const Name = Schema.Union([Schema.String, Schema.Finite])

// Costs and answers are optional for learning, so values of an unexpected type are treated as unknown.
const Row = Schema.Struct({
  id: Schema.optionalKey(Schema.NullOr(Name)),
  kind: Schema.optionalKey(Schema.NullOr(Name)),
  question: Schema.NonEmptyString,
  scores: Schema.Record(Schema.String, Schema.NullOr(Score).annotate({ message: expectedScore })),
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

const has = (line: unknown, field: string): boolean => typeof line === "object" && line !== null && field in line

const unknown = 'it has neither "scores" nor "worker"; expected {"question":"…","scores":{"worker":1}}'

/** Describes the first problem of a line in one clause, such as `scores.a: Expected a score from 0 to 1`. */
const problemOf = ({ message }: Schema.SchemaError): string => {
  const [problem = "", place = ""] = message.split(/\n +at /)
  const fields = [...place.split("\n", 1)[0]!.matchAll(/\["?(.*?)"?\]/g)].map(([, field]) => field)
  return fields.length === 0 ? problem : `${fields.join(".")}: ${problem}`
}

/** Parses one line of a file. Fails with a description of the problem. */
export const parse = (line: unknown): Result.Result<GradedQuestion, string> => {
  if (has(line, "scores")) {
    return Result.mapBoth(decodeRow(line), { onSuccess: fromRow, onFailure: problemOf })
  }
  if (!has(line, "worker")) return Result.fail(unknown)
  return Result.mapBoth(decodeOutcome(line), { onSuccess: fromOutcome, onFailure: problemOf })
}

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

/** Converts outcomes to graded questions and merges duplicates. */
export const fromOutcomes = (outcomes: ReadonlyArray<Outcome.Outcome>): ReadonlyArray<GradedQuestion> =>
  merged(outcomes.map(fromOutcome))

/** Merges lines about the same question. If a worker answered it several times, its scores are averaged. */
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

/** Options for {@link read}. */
export interface ReadOptions {
  /**
   * Called with a description of each unusable line, which is then skipped. If omitted, an unusable line fails the
   * read.
   */
  readonly onUnusable?: ((problem: string) => void) | undefined
}

const readTable = { onUnusable: Tables.aFunction } satisfies Tables.ShapeOf<ReadOptions>

/** Reads the graded questions of a file, in order and without duplicates. */
export const read = (
  file: string,
  options: ReadOptions = {}
): Effect.Effect<ReadonlyArray<GradedQuestion>, OutcomesError> =>
  Effect.gen(function* () {
    Tables.check("Outcomes.read", options, readTable)
    const { onUnusable } = options
    const lines = yield* Stream.runCollect(
      JsonLines.read(file, {
        isComplete: true,
        seal: "optional",
        onDamaged: onUnusable && (({ message }) => Callback.notifyLogged("onUnusable", () => onUnusable(message)))
      })
    )
    const questions: Array<GradedQuestion> = []
    for (const [index, line] of lines.entries()) {
      const parsed = parse(line)
      if (Result.isSuccess(parsed)) questions.push(parsed.success)
      else {
        const problem = `${file}, outcome ${index + 1}: ${parsed.failure}`
        if (onUnusable === undefined) return yield* Effect.fail(problem)
        Callback.notifyLogged("onUnusable", () => onUnusable(problem))
      }
    }
    if (questions.length === 0) {
      return yield* Effect.fail(
        lines.length === 0
          ? `${file} contains no outcomes.`
          : `${file} contains no usable outcomes. Each line must have the form {"question":"…","scores":{"worker":1}}.`
      )
    }
    return merged(questions)
  }).pipe(Effect.mapError((error) => new OutcomesError({ detail: typeof error === "string" ? error : error.message })))

/**
 * Encodes the embedding of a question in the format that outcomes use.
 *
 * @internal
 */
export const placeOf = (
  question: string,
  embedder: Embedder.Embedder = Embedder.hashed()
): Effect.Effect<Outcome.Place, Embedder.EmbedderError> =>
  Effect.map(Embedder.ask(embedder, [question]), ([point]) => ({ embedder: embedder.name, point: textOf(point!) }))

/**
 * Embeds graded questions for training. A question is dropped if it has neither a text nor an embedding from this
 * embedder.
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
