/** The log of outcomes of the user: where it is stored, and how runs are recorded and rated. */
import fs from "node:fs"
import path from "node:path"
import { Embedder, type Transcript } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import { WholeFile } from "@divisi/files"
import * as OutcomeLog from "@divisi/policy-router/OutcomeLog"
import { read } from "@divisi/recipes/Environment"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { type Failure, failed } from "../invocation/Failure.ts"

const off = "none"

/** The log file, or `undefined` if the user has disabled the log. */
export const file: Effect.Effect<string | undefined> = Effect.flatMap(
  read(["DIVISI_OUTCOMES"]),
  ({ DIVISI_OUTCOMES }) => (DIVISI_OUTCOMES === off ? Effect.succeed(undefined) : OutcomeLog.defaultFile)
)

/**
 * The embedder for questions: hashed words by default, or the model in `DIVISI_EMBEDDINGS`, e.g.
 * `llamacpp:minilm.gguf`. Records from other embedders are ignored.
 */
export const embedder: Effect.Effect<Embedder.Embedder, Failure, Scope.Scope> = Effect.flatMap(
  read(["DIVISI_EMBEDDINGS"]),
  ({ DIVISI_EMBEDDINGS }) => embedderOf(DIVISI_EMBEDDINGS)
)

/** Returns an embedder for questions by name. */
export const embedderOf = Effect.fnUntraced(function* (
  name: string | undefined
): Effect.fn.Return<Embedder.Embedder, Failure, Scope.Scope> {
  if (name === undefined || name === hashed.name) return hashed
  const { named, ofQuestions } = yield* Effect.promise(() => import("../vendors/Embedders.ts"))
  return (yield* named(name, false, "DIVISI_EMBEDDINGS", ofQuestions)) ?? hashed
})

const hashed = Embedder.hashed()

/** The user's last `divisi run`. Runs with play money are not in the log. */
const LastRun = Schema.fromJsonString(Schema.Struct({ run: Schema.NonEmptyString, isPlay: Schema.Boolean }))

const lastFile = (log: string): string => `${log}.last`

/** Returns the user's last `divisi run`, or `undefined` if it is unknown. */
export const last = (log: string): Effect.Effect<typeof LastRun.Type | undefined> =>
  Effect.try(() => fs.readFileSync(lastFile(log), "utf8")).pipe(
    Effect.flatMap(Schema.decodeEffect(LastRun)),
    Effect.orElseSucceed(() => undefined)
  )

/** How to record a run. */
interface Noted {
  readonly isPlay: boolean
  /** Whether the run is in the log already. */
  readonly isLogged: boolean
}

/** Records the last run, and adds it to the log, so that it can be rated. A failure does not affect the run. */
export const note = (transcript: Transcript.Transcript, { isLogged, isPlay }: Noted): Effect.Effect<void> =>
  Effect.gen(function* () {
    const log = yield* file
    if (log === undefined || (isPlay && !fs.existsSync(log))) return
    yield* WholeFile.makeFolder(path.dirname(log))
    yield* WholeFile.writeJson(lastFile(log), { run: transcript.runId, isPlay })
    if (isPlay || isLogged) return
    const entry = yield* OutcomeLog.runOf(transcript, {
      at: yield* Clock.currentTimeMillis,
      embedder: yield* embedder
    })
    if (entry !== undefined) yield* OutcomeLog.append(log, entry)
  }).pipe(Effect.scoped, Effect.ignore)

/** A rating from a server or an evaluation. */
type Rating = Pick<OutcomeLog.Rating, "at" | "score" | "source"> & {
  /** The kind of question, if the task does not define it. */
  readonly kind?: string | undefined
  readonly step?: { readonly round: number; readonly step: number } | undefined
  readonly note?: string | undefined
  readonly rater?: string | undefined
}

/** Appends entries to a log, either a file or a database. */
export type Append = (...entries: ReadonlyArray<OutcomeLog.Entry>) => Effect.Effect<void, Failure>

/** Returns an appender for a log file. */
export const appendTo =
  (log: string): Append =>
  (...entries) =>
    Effect.mapError(OutcomeLog.append(log, ...entries), ({ message }) => failed(message))

/** Stores a rating together with its run. Routers learn only from rated runs. */
export const rate =
  (append: Append, embedder: Embedder.Embedder) =>
  (
    transcript: Transcript.Transcript,
    { at, kind, note, rater, score, source, step }: Rating
  ): Effect.Effect<void, Failure> =>
    Effect.gen(function* () {
      const run = yield* OutcomeLog.runOf(transcript, { at, embedder })
      if (run === undefined) return
      const rating = { type: "rating", version: OutcomeLog.version, at, run: run.run, ...step, score, source } as const
      yield* append(defined({ ...run, kind: run.kind ?? kind }), defined({ ...rating, rater, note }))
    }).pipe(Effect.mapError(({ message }) => failed(message)))
