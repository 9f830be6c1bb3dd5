/** Opens the journal for durable runs, and looks up runs by id. */
import { existsSync } from "node:fs"
import path from "node:path"
import { Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import * as FolderOf from "../invocation/FolderOf.ts"
import * as Hint from "../invocation/Hint.ts"
import * as Database from "./Database.ts"

/** Opens the journal in the given database. */
const shared = Effect.fnUntraced(function* (
  file: Option.Option<string>,
  url: Option.Option<Redacted.Redacted>
): Effect.fn.Return<Journal.Journal, Failure, Scope.Scope> {
  const database = (yield* Database.open(url, Effect.succeed({}), { files: { journal: file } }))!
  return yield* database.journal
})

/** Returns the path of the journal file. Defaults to the user's journal. */
export const fileOf = (file: Option.Option<string>): Effect.Effect<string> =>
  Option.match(file, {
    onSome: (file) => Effect.succeed(file),
    onNone: () =>
      Effect.flatMap(
        Effect.promise(() => import("@divisi/files").then(({ DiskJournal }) => DiskJournal)),
        ({ defaultFile }) => defaultFile
      )
  })

const inFile = (file: string | undefined): Effect.Effect<Journal.Journal, Failure, Scope.Scope> =>
  Effect.flatMap(
    Effect.promise(() => import("@divisi/files").then(({ DiskJournal }) => DiskJournal)),
    (DiskJournal) => Effect.mapError(DiskJournal.make({ file }), ({ message }) => usage(message))
  )

/**
 * Opens a journal for new runs: the user's by default. A missing file is created with its folder, as `openJournal`
 * does. A new folder of a named file is reported, so that a misspelt path is noticed.
 */
export const create = Effect.fnUntraced(function* (
  file: Option.Option<string>
): Effect.fn.Return<Journal.Journal, Failure, Scope.Scope> {
  if (Option.isSome(file)) {
    const folder = path.dirname(path.resolve(file.value))
    if (existsSync(folder)) yield* FolderOf.check(file.value, "write", "journal")
    else process.stderr.write(`divisi: creating the folder ${folder} for the journal\n`)
  }
  return yield* inFile(Option.getOrUndefined(file))
})

/**
 * Opens a journal to read its runs or to continue them: the user's by default, or the one in a database. A missing file
 * is not created: it is read as a journal without runs.
 */
export const open = Effect.fnUntraced(function* (
  file: Option.Option<string>,
  database: Option.Option<Redacted.Redacted> = Option.none()
): Effect.fn.Return<Journal.Journal, Failure, Scope.Scope> {
  if (Option.isSome(database)) return yield* shared(file, database)
  if (Option.isSome(file)) yield* FolderOf.check(file.value, "read", "journal")
  const place = yield* fileOf(file)
  return existsSync(place) ? yield* inFile(place) : { ...Journal.makeMemory(), name: missing(place) }
})

const missing = (place: string): string => `${path.resolve(place)}, which does not exist`

/** Lists the runs in a journal. */
export const list = (journal: Journal.Journal): Effect.Effect<ReadonlyArray<Journal.Summary>, Failure> =>
  Effect.mapError(journal.list(), ({ message }) => failed(message))

/** Returns the summary for a run id, or `undefined` if the journal does not contain it. */
export const named = (journal: Journal.Journal, run: string): Effect.Effect<Journal.Summary | undefined, Failure> =>
  Effect.mapError(journal.find(run), ({ message }) => failed(message))

/** Finds a run by its id or a unique prefix, in the journal that `place` locates. */
export const find = Effect.fnUntraced(function* (
  journal: Journal.Journal,
  name: string,
  place: Hint.Place
): Effect.fn.Return<Journal.Summary, Failure> {
  const exact = yield* named(journal, name)
  if (exact !== undefined) return exact
  const begun = (yield* list(journal)).filter(({ run }) => run.startsWith(name))
  if (begun.length === 1) return begun[0]!
  const file = yield* fileOf(place.journal ?? Option.none())
  if (journal.name === missing(file)) {
    const isNamed = place.journal !== undefined && Option.isSome(place.journal)
    const remedy = isNamed ? "Check the path" : "Store a run with: divisi run --durable"
    return yield* usage(`Run ${name} not found: ${path.resolve(file)} does not exist. ${remedy}.`)
  }
  return yield* usage(
    begun.length === 0
      ? `Run ${name} not found in ${journal.name}. To list the stored runs: ${Hint.command("divisi runs", { journal: place.journal, database: place.database })}`
      : `${begun.length} run ids start with "${name}": ${begun.map(({ run }) => run).join(", ")}.`
  )
})

/** Returns the events of a run. */
export const events = (journal: Journal.Journal, run: string) =>
  Effect.mapBoth(journal.read(run), {
    onSuccess: Journal.eventsOf,
    onFailure: ({ message }) => failed(message)
  })
