/** The user's log of outcomes and the tables learned from it: where they are stored, and how runs are recorded. */
import fs from "node:fs"
import path from "node:path"
import { Embedder, Outcome, Strongest, type Transcript } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { Policy } from "@divisi/core/Policy"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { WholeFile } from "@divisi/files"
import { Head, HeadPolicy, Learned, OutcomeLog, Router, Table } from "@divisi/policy-router"
import { read } from "@divisi/recipes/Environment"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import * as Embedders from "../vendors/Embedders.ts"

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

const embedderOf = (name: string | undefined): Effect.Effect<Embedder.Embedder, Failure, Scope.Scope> =>
  name === undefined || name === hashed.name
    ? Effect.succeed(hashed)
    : Effect.map(Embedders.named(name, false, "DIVISI_EMBEDDINGS", Embedders.ofQuestions), (found = hashed) => found)

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

const tableInForce: Effect.Effect<Table.Table | undefined, Failure> = Effect.flatMap(Learned.defaultFile, (place) =>
  Effect.mapBoth(Learned.read(place), {
    onSuccess: (learned) => Learned.current(learned)?.table,
    onFailure: ({ message }) => failed(message)
  })
)

const isDial = (name: string): name is Table.Dial => (Table.dials as ReadonlyArray<string>).includes(name)

const dialOf = (name: string, dial: string): Effect.Effect<Table.Dial, Failure> =>
  isDial(dial)
    ? Effect.succeed(dial)
    : Effect.fail(usage(`Policy "${name}:${dial}": expected one of ${Table.dials.join(", ")} after the colon.`))

/**
 * Share of questions sent to a different worker that may be equally good, at no higher price, so that its score stays
 * current.
 */
const explored = 0.02

/** Creates a policy by name. */
type Resolve = (name: string) => Effect.Effect<Policy, Failure, Scope.Scope>

const isRouter = (name: string): boolean => /^(?:router|learned)\b/.test(name)

/** Returns the ids of the teams in a table, with their policy names. */
const teamsIn = ({ kinds }: Table.Table, dial: Table.Dial): ReadonlyArray<readonly [string, string]> =>
  [...new Set(kinds.map(({ choices }) => choices[dial]))]
    .filter((id) => !Table.isWorker(id))
    .map((id) => [id, id.slice(Outcome.teamPrefix.length).replace(/-(\d+)$/, ":$1")] as const)
    .filter(([, name]) => !isRouter(name))

/** Creates a router from a table. Teams that can no longer be created are left out. */
const routerBy = (table: Table.Table, name: string, dial: Table.Dial, resolve: Resolve) =>
  Effect.gen(function* () {
    const teams = yield* Effect.forEach(teamsIn(table, dial), ([id, name]) =>
      Effect.map(Effect.option(resolve(name)), (team) =>
        Option.match(team, { onNone: () => [], onSome: (policy) => [[id, policy] as const] })
      )
    )
    // Questions must be embedded with the table's embedder, even if a different one is configured for the log.
    const embedder = yield* embedderOf(table.embedder)
    const own = { dial, embedder, name: named(name, dial), explore: explored, teams: new Map(teams.flat()) }
    return Router.make(table, own)
  })

const named = (name: string, dial: Table.Dial): string => (dial === "best" ? name : `${name}:${dial}`)

/** Creates the policy `learned` or `learned:<dial>`. `resolve` creates the policies of teams. */
export const policy = (
  pool: WorkerPool.WorkerPool,
  resolve: Resolve,
  wanted = "best"
): Effect.Effect<Policy, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const dial = yield* dialOf("learned", wanted)
    const table = yield* tableInForce
    if (table === undefined) {
      return yield* usage("There is no learned table yet. Rate runs with `divisi rate`, and then run `divisi learn`.")
    }
    const ids = WorkerPool.ids(pool)
    if (!table.workers.some(({ worker }) => ids.includes(worker))) {
      const workers = table.workers.map(({ worker }) => worker).join(", ")
      return yield* usage(`The learned table is for ${workers}, none of which is in the pool.`)
    }
    return yield* routerBy(table, "learned", dial, resolve)
  })

/** Returns the active table if it covers at least two workers in the pool. An unusable file is reported and ignored. */
const tableFor = (pool: WorkerPool.WorkerPool): Effect.Effect<Table.Table | undefined> =>
  Effect.map(
    Effect.catch(tableInForce, ({ message }) =>
      Effect.sync(() => void process.stderr.write(`divisi: ${message}. The file was not changed.\n`))
    ),
    (table) => (table !== undefined && Table.covers(table, pool) ? table : undefined)
  )

/**
 * Creates the policy `router` or `router:<dial>`. It uses the learned table if the table covers at least two workers in
 * the pool, and public benchmark records and prices otherwise.
 */
export const router = (
  pool: WorkerPool.WorkerPool,
  resolve: Resolve,
  wanted = "best"
): Effect.Effect<Policy, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const dial = yield* dialOf("router", wanted)
    const table = yield* tableFor(pool)
    return table === undefined
      ? Strongest.make({ dial, name: named("router", dial) })
      : yield* routerBy(table, "router", dial, resolve)
  })

/** Whether the learned table covers at least two workers in the pool. */
export const hasTableFor = (pool: WorkerPool.WorkerPool): Effect.Effect<boolean> =>
  Effect.map(tableFor(pool), (table) => table !== undefined)

/**
 * Creates the policy `head`, using the head trained by `divisi learn --head` or one in a file, and the embedder it was
 * trained with.
 */
export const head = (
  pool: WorkerPool.WorkerPool,
  named?: string | undefined
): Effect.Effect<Policy, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const file = named ?? (yield* Head.defaultFile)
    const learned = yield* Effect.mapError(Head.read(file), ({ message }) => failed(message))
    if (learned === undefined) {
      return yield* usage(
        named === undefined
          ? "No classifier (head) has been trained yet. Rate runs with `divisi rate`, and then run `divisi learn --head`."
          : `Policy "head:${named}": the file does not exist. Create it with \`divisi pool train\`.`
      )
    }
    const ids = WorkerPool.ids(pool)
    if (!learned.workers.some((worker) => ids.includes(worker))) {
      return yield* usage(`The head was trained for ${learned.workers.join(", ")}, none of which is in the pool.`)
    }
    if (learned.embedder === Embedder.hashed().name) return HeadPolicy.make(learned)
    return HeadPolicy.make(learned, { embedder: yield* Embedders.named(learned.embedder, false) })
  })
