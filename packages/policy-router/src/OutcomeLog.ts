/**
 * A log of the user's outcomes: which workers answered in each run, and how people, checks and graders rated them.
 *
 * The log is an append-only file with one JSON entry per line. A run is recorded when it finishes and can be rated
 * later, even from another process; {@link outcomes} joins runs with their ratings. An entry is on disk when the effect
 * succeeds. Truncated and modified lines are ignored. The log stores the embedding of each question, not its text.
 */
import fs from "node:fs"
import path from "node:path"
import { Callback, Embedder, Options, Outcome, type Transcript } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import * as Task from "@divisi/core/Task"
import { JsonLines, Lock, Sealed, UserFolders, WholeFile } from "@divisi/files"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { placeOf } from "./Outcomes.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The version of the line format. */
export const version = 1

const optional = Schema.optionalKey

const Answer = Schema.Struct({
  /** The round of the step, if the answer belongs to a step. Omitted for the answer of the whole run. */
  round: optional(Schema.Int),
  step: optional(Schema.Int),
  /** The worker's id, or `policy:<name>` for a team. */
  worker: Schema.NonEmptyString,
  /** The vendor's name for the model that answered. */
  model: optional(Schema.String),
  costUsd: optional(Schema.Finite),
  millis: optional(Schema.Finite),
  /** The probability with which the policy chose this worker. */
  probability: optional(Schema.Finite)
})

const Run = Schema.Struct({
  type: Schema.Literal("run"),
  version: Schema.Literal(version),
  /** When the run finished, in milliseconds since 1970. */
  at: Schema.Finite,
  run: Schema.NonEmptyString,
  policy: Schema.String,
  question: Schema.NonEmptyString,
  kind: optional(Schema.String),
  place: Schema.Struct({ embedder: Schema.String, point: Schema.String }),
  /**
   * The answers that can be rated: the answer of the whole run first (left out if an outage cut the run short), then
   * the answers of its steps.
   */
  answers: Schema.Array(Answer).check(Schema.isMinLength(1))
})

const Rating = Schema.Struct({
  type: Schema.Literal("rating"),
  version: Schema.Literal(version),
  at: Schema.Finite,
  run: Schema.NonEmptyString,
  /** The round of the rated step. Omitted if the rating applies to the whole run. */
  round: optional(Schema.Int),
  step: optional(Schema.Int),
  score: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
  source: Schema.Literals(Outcome.sources),
  /** The server key that submitted the rating. Omitted for ratings submitted on this machine. */
  rater: optional(Schema.String),
  /** An optional comment from the rater. */
  note: optional(Schema.String)
})

/** An entry that records a finished run. */
export type Run = typeof Run.Type
/** An entry that rates a run or one of its steps. */
export type Rating = typeof Rating.Type
/** An entry in the log. */
export type Entry = Run | Rating

/** Raised when the log cannot be read or written. */
export class OutcomeLogError extends Data.TaggedError("OutcomeLogError")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Files
// -------------------------------------------------------------------------------------------------------------------

/** The path in `DIVISI_OUTCOMES`, or `outcomes.jsonl` in the user's data folder if the variable is not set. */
export const defaultFile: Effect.Effect<string> = UserFolders.dataFile("outcomes.jsonl", "DIVISI_OUTCOMES")

const toError = ({ message }: { readonly message: string }) => new OutcomeLogError({ detail: message })

/** Appends entries to a log. Safe to call while other processes append to the same file. */
export const append = (file: string, ...entries: ReadonlyArray<Entry>): Effect.Effect<void, OutcomeLogError> =>
  Effect.gen(function* () {
    yield* WholeFile.makeFolder(path.dirname(file))
    yield* Lock.hold(`${file}.lock`, { wait: true })
    const writer = yield* JsonLines.open(file, { isSealed: true })
    for (const entry of entries) yield* JsonLines.attempt(() => writer.append(entry))
  }).pipe(Effect.scoped, Effect.mapError(toError))

/** Returns the time of a line, whatever its version. */
const atOf = (line: unknown): number => {
  const at = (line as { readonly at?: unknown } | null)?.at
  return typeof at === "number" ? at : 0
}

/** The number of entries that were removed, or would be removed in a dry run. */
export interface Purged {
  readonly entries: number
  readonly bytes: number
}

const purgeOptions = Options.table(
  { before: Options.expects("a time in milliseconds since 1970", Number.isFinite), isDryRun: Options.flag },
  { required: ["before"] }
)

/**
 * Removes damaged lines and all entries older than a time in milliseconds since 1970. With `isDryRun`, entries are
 * counted but not removed. The whole log is rewritten, and other processes cannot append in the meantime.
 */
export const purge = (
  file: string,
  options: { readonly before: number; readonly isDryRun?: boolean | undefined }
): Effect.Effect<Purged, OutcomeLogError> => {
  Options.check("OutcomeLog.purge", options, purgeOptions)
  const { before, isDryRun = false } = options
  return Effect.gen(function* () {
    if (!fs.existsSync(file)) return { entries: 0, bytes: 0 }
    yield* Lock.hold(`${file}.lock`, { wait: true })
    let damaged = 0
    const onDamaged = () => {
      damaged += 1
    }
    const lines = yield* Stream.runCollect(JsonLines.read(file, { seal: "required", onDamaged }))
    const recent = lines.filter((line) => atOf(line) >= before)
    const text = recent.map((line) => `${Sealed.stringify(line as object)}\n`).join("")
    const entries = lines.length - recent.length + damaged
    const bytes = entries === 0 ? 0 : Math.max(0, fs.statSync(file).size - Buffer.byteLength(text))
    if (entries > 0 && !isDryRun) yield* WholeFile.write(file, text)
    return { entries, bytes }
  }).pipe(Effect.scoped, Effect.mapError(toError))
}

const decode = Schema.decodeUnknownResult(Schema.Union([Run, Rating]))

/** Encodes entries as a string, for stores that are not files. */
export const encode = (entries: ReadonlyArray<Entry>): string => JSON.stringify(entries)

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Decodes entries from a string. Damaged entries and entries of another version are skipped. */
export const decodeText = (text: string): ReadonlyArray<Entry> => {
  const entries = parsed(text)
  return (Array.isArray(entries) ? entries : []).flatMap((entry) => {
    const decoded = decode(entry)
    return Result.isSuccess(decoded) ? [decoded.success] : []
  })
}

/** Options for {@link read}. */
export interface ReadOptions {
  /** Called with a description of each line that is damaged or has another version. Such lines are skipped. */
  readonly onUnusable?: ((problem: string) => void) | undefined
}

const readTable = { onUnusable: Options.aFunction } satisfies Options.ShapeOf<ReadOptions>

/** Reads all entries of a log, oldest first. Returns an empty list if the file does not exist. */
export const read = (file: string, options: ReadOptions = {}): Effect.Effect<ReadonlyArray<Entry>, OutcomeLogError> => {
  Options.check("OutcomeLog.read", options, readTable)
  const { onUnusable = () => {} } = options
  return Effect.gen(function* () {
    if (!fs.existsSync(file)) return []
    const report = (problem: string) => Callback.notifyLogged("onUnusable", () => onUnusable(problem))
    const lines = JsonLines.read(file, { seal: "required", onDamaged: ({ message }) => report(message) })
    const entries: Array<Entry> = []
    for (const line of yield* Stream.runCollect(lines)) {
      const decoded = decode(line)
      if (Result.isSuccess(decoded)) entries.push(decoded.success)
      else report(`${file} contains an entry from another version: ${decoded.failure.message}`)
    }
    return entries
  }).pipe(Effect.mapError(toError))
}

// -------------------------------------------------------------------------------------------------------------------
// Entries
// -------------------------------------------------------------------------------------------------------------------

/** Creates the log entry for a run. Returns `undefined` if no worker answered. */
export const runOf = (
  transcript: Transcript.Transcript,
  options: { readonly at: number; readonly embedder?: Embedder.Embedder | undefined }
): Effect.Effect<Run | undefined, Embedder.EmbedderError> =>
  Effect.gen(function* () {
    const { at, embedder = Embedder.hashed() } = options
    const outcomeOf = (step?: { readonly round: number; readonly step: number }) =>
      Outcome.fromTranscript(transcript, { at, score: 0, source: "user", step })
    if (transcript.answer === undefined) return undefined
    const whole = outcomeOf()
    const steps = transcript.rounds.flatMap(({ round, steps }) =>
      steps.flatMap(({ step }) => {
        const one = outcomeOf({ round, step })
        return one === undefined ? [] : [[one, { round, step }] as const]
      })
    )
    const first = whole ?? steps[0]?.[0]
    if (first === undefined) return undefined
    return defined({
      type: "run",
      version,
      at,
      run: transcript.runId,
      policy: transcript.policy,
      question: first.question,
      kind: first.kind,
      place: yield* placeOf(Task.question(transcript.task), embedder),
      answers: [...(whole === undefined ? [] : [answerOf(whole)]), ...steps.map(([one, place]) => answerOf(one, place))]
    } as const)
  })

const answerOf = (
  { costUsd, millis, model, probability, worker }: Outcome.Outcome,
  place?: { readonly round: number; readonly step: number }
): typeof Answer.Type => defined({ ...place, worker, model, costUsd, millis, probability })

/** Returns the recorded runs, newest first. */
export const runs = (entries: ReadonlyArray<Entry>): ReadonlyArray<Run> =>
  entries.filter((entry) => entry.type === "run").reverse()

const sameStep = (
  left: { readonly round?: number; readonly step?: number },
  right: { readonly round?: number; readonly step?: number }
): boolean => left.round === right.round && left.step === right.step

/** Returns the answer that a rating refers to. */
export const rated = (
  run: Run,
  step?: { readonly round: number; readonly step: number }
): typeof Answer.Type | undefined => run.answers.find((answer) => sameStep(answer, step ?? {}))

const trust = ({ source }: Rating): number => Outcome.sources.indexOf(source)

/** Drops each rating that was replaced by a later rating from the same server key. */
const current = (ratings: ReadonlyArray<Rating>): ReadonlyArray<Rating> => {
  const last = new Map(ratings.map((rating) => [rating.rater, rating]))
  return ratings.filter((rating) => rating.rater === undefined || last.get(rating.rater) === rating)
}

/** Returns the decisive rating: the newest rating from the most trusted source. */
const counting = (ratings: ReadonlyArray<Rating>): Rating =>
  current(ratings).reduce((best, one) => (trust(one) <= trust(best) ? one : best))

/** Returns the key of an entry. A new entry replaces earlier entries with the same key. */
export const nameOf = (entry: Entry): string =>
  entry.type === "run"
    ? `run/${entry.run}`
    : `rating/${entry.run}/${entry.round ?? ""}.${entry.step ?? ""}/${entry.rater ?? `${entry.source}/${entry.at}`}`

/**
 * Joins runs with their ratings and returns them as outcomes, in the order of the runs. Ratings are dropped if their
 * run is not in the log.
 */
export const outcomes = (entries: ReadonlyArray<Entry>): ReadonlyArray<Outcome.Outcome> => {
  const ratings = Map.groupBy(
    entries.filter((entry) => entry.type === "rating"),
    ({ run }) => run
  )
  const known = new Map(entries.flatMap((entry) => (entry.type === "run" ? [[entry.run, entry] as const] : [])))
  return [...known.values()].flatMap((run) => {
    const { answers, kind, place, question } = run
    return answers.flatMap((answer): ReadonlyArray<Outcome.Outcome> => {
      const own = ratings.get(run.run)?.filter((rating) => sameStep(rating, answer)) ?? []
      if (own.length === 0) return []
      const { at, score, source } = counting(own)
      const { costUsd, millis, model, probability, worker } = answer
      return [
        defined({
          version: Outcome.version,
          at,
          run: run.run,
          question,
          kind,
          place,
          worker,
          model,
          score,
          source,
          costUsd,
          millis,
          probability
        })
      ]
    })
  })
}
