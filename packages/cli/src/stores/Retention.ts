/**
 * Enforces one retention period for all stored content: runs and their messages between servers, responses, outcomes
 * with ratings, and cached answers. Accounts, keys and learned tables contain no content and are not deleted.
 */
import fs from "node:fs"
import { Journal } from "@divisi/core"
import { DiskRecords } from "@divisi/files"
import * as OutcomeLog from "@divisi/policy-router/OutcomeLog"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Config } from "../config.ts"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { parseAge } from "../invocation/flags.ts"
import type * as Database from "./Database.ts"
import * as Journals from "./Journals.ts"
import * as OwnOutcomes from "./OwnOutcomes.ts"
import * as ResponseFile from "./ResponseFile.ts"
import type { Options as Services } from "./Services.ts"

// -------------------------------------------------------------------------------------------------------------------
// The period
// -------------------------------------------------------------------------------------------------------------------

/**
 * How long answers for an `Idempotency-Key` must be available, in milliseconds. This is the minimum retention period of
 * a server.
 */
const promisedMillis = 86_400_000

/** Returns the retention period from `--keep` or the config, in milliseconds, or `undefined` if neither is set. */
export const periodOf = (keep: Option.Option<number>, { retention }: Pick<Config, "retention">): number | undefined =>
  Option.getOrElse(keep, () => (retention === undefined ? undefined : parseAge(retention)))

/** Fails if the period is too short for a server that repeats answers for an idempotency key. */
export const servable = (keepMillis: number | undefined): Effect.Effect<void, Failure> =>
  keepMillis === undefined || keepMillis >= promisedMillis
    ? Effect.void
    : Effect.fail(
        usage(
          "A server must store runs for at least 24h, because clients can repeat requests with an Idempotency-Key for 24 hours. Set --keep (retention in the config) to at least 24h, or use --content none to store nothing."
        )
      )

// -------------------------------------------------------------------------------------------------------------------
// Stores
// -------------------------------------------------------------------------------------------------------------------

/** The number and size of items deleted from a store, or to be deleted. */
export interface Purged {
  readonly store: "cache" | "messages" | "outcomes" | "responses" | "runs"
  /** The file, or the database without user and password. */
  readonly place: string
  readonly entries: number
  readonly bytes: number
}

/** A store whose content can be deleted by age. */
export interface Store {
  readonly name: Purged["store"]
  readonly place: string
  /** Deletes items older than the period, by the store's clock. With `isDryRun`, only counts them. */
  readonly purge: (keepMillis: number, isDryRun: boolean) => Effect.Effect<Pick<Purged, "bytes" | "entries">, Failure>
}

/** Returns the time before which items in local files are deleted. */
const beforeOf = (keepMillis: number): Effect.Effect<number> =>
  Effect.map(Clock.currentTimeMillis, (now) => now - keepMillis)

const orFail = <A>(effect: Effect.Effect<A, { readonly message: string }>): Effect.Effect<A, Failure> =>
  Effect.mapError(effect, ({ message }) => failed(message))

const runsIn = (journal: Journal.Journal): Store => ({
  name: "runs",
  place: journal.name,
  purge: (keepMillis, isDryRun) =>
    orFail(
      Effect.gen(function* () {
        const old = yield* Journal.prunable(journal, { olderThanMillis: keepMillis })
        // Runs even if no run is old, because deleted content may still be in the file's write-ahead log.
        const removed = isDryRun ? old.map(({ run }) => run) : yield* journal.remove(old.map(({ run }) => run))
        const gone = new Set(removed)
        const bytes = old.filter(({ run }) => gone.has(run)).reduce((sum, { bytes }) => sum + bytes, 0)
        return { entries: removed.length, bytes }
      })
    )
})

/** Returns the store for runs in a file, which is opened for each purge. A missing file is not created. */
const runsInFile = (file: Option.Option<string>): Effect.Effect<Store> =>
  Effect.map(Journals.fileOf(file), (place) => ({
    name: "runs",
    place,
    purge: (...asked) =>
      fs.existsSync(place)
        ? Effect.scoped(Effect.flatMap(Journals.open(file), (journal) => runsIn(journal).purge(...asked)))
        : Effect.succeed({ entries: 0, bytes: 0 })
  }))

const cacheIn = (cache: NonNullable<Services["cache"]>): Store => {
  const file = typeof cache === "string" ? cache : cache.file
  return {
    name: "cache",
    place: file,
    purge: (keepMillis, isDryRun) =>
      Effect.gen(function* () {
        const DiskCache = yield* Effect.promise(() => import("@divisi/files").then(({ DiskCache }) => DiskCache))
        return yield* orFail(DiskCache.purge({ file, before: yield* beforeOf(keepMillis), isDryRun }))
      })
  }
}

/** Returns the stores in a database. */
const shared = (database: Database.Database): Effect.Effect<ReadonlyArray<Store>, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const journal = yield* database.journal
    return [
      runsIn(journal),
      ...(["messages", "responses", "outcomes"] as const).map(
        (name): Store => ({
          name,
          place: database.name,
          purge: (keepMillis, isDryRun) => database.purge(name, keepMillis, isDryRun)
        })
      )
    ]
  })

/** Returns the stores in files. */
const own = (
  file: Option.Option<string>,
  journal: Journal.Journal | undefined
): Effect.Effect<ReadonlyArray<Store>, Failure> =>
  Effect.gen(function* () {
    const responses = yield* ResponseFile.of(file)
    const outcomes = yield* OwnOutcomes.file
    return [
      journal === undefined ? yield* runsInFile(file) : runsIn(journal),
      {
        name: "responses" as const,
        place: responses,
        purge: (keepMillis, isDryRun) =>
          Effect.flatMap(beforeOf(keepMillis), (before) =>
            orFail(DiskRecords.purge({ file: responses, before, isDryRun }))
          )
      },
      ...(outcomes === undefined
        ? []
        : [
            {
              name: "outcomes",
              place: outcomes,
              purge: (keepMillis, isDryRun) =>
                Effect.flatMap(beforeOf(keepMillis), (before) =>
                  orFail(OutcomeLog.purge(outcomes, { before, isDryRun }))
                )
            } satisfies Store
          ])
    ]
  })

/** The locations of stored content. */
export interface Places {
  readonly database?: Database.Database | undefined
  /** Files next to `--journal`, or the user's default files. */
  readonly files?:
    | { readonly journal: Option.Option<string>; readonly opened?: Journal.Journal | undefined }
    | undefined
  readonly cache: Services["cache"]
}

/** Returns all stores in these locations. */
export const storesOf = ({
  cache,
  database,
  files
}: Places): Effect.Effect<ReadonlyArray<Store>, Failure, Scope.Scope> =>
  Effect.map(
    Effect.all([
      database === undefined ? Effect.succeed([]) : shared(database),
      files === undefined ? Effect.succeed([]) : own(files.journal, files.opened)
    ]),
    (stores) => [...stores.flat(), ...(cache === undefined ? [] : [cacheIn(cache)])]
  )

// -------------------------------------------------------------------------------------------------------------------
// Purging
// -------------------------------------------------------------------------------------------------------------------

/** Deletes items older than the period from all stores, and returns what was deleted. */
export const purge = (
  stores: ReadonlyArray<Store>,
  keepMillis: number,
  isDryRun = false
): Effect.Effect<ReadonlyArray<Purged>, Failure> =>
  Effect.forEach(stores, ({ name, place, purge }) =>
    Effect.map(purge(keepMillis, isDryRun), (removed) => ({ store: name, place, ...removed }))
  )

/** Deletes old items now and every hour. A store that fails is reported and retried an hour later. */
export const keeping = (
  stores: ReadonlyArray<Store>,
  keepMillis: number,
  notify: {
    readonly onPurged: (purged: ReadonlyArray<Purged>) => void
    readonly onFailed: (message: string) => void
    /** Makes the space of deleted database rows reusable. */
    readonly vacuum?: Effect.Effect<void, Failure> | undefined
  }
): Effect.Effect<never> => {
  const once = Effect.forEach(stores, (store) =>
    Effect.catch(purge([store], keepMillis), ({ message }) =>
      Effect.sync(() => {
        notify.onFailed(message)
        return []
      })
    )
  )
  const freed = Effect.catch(notify.vacuum ?? Effect.void, ({ message }) => Effect.sync(() => notify.onFailed(message)))
  const reported = Effect.flatMap(once, (purged) => {
    const removed = purged.flat().filter(({ entries }) => entries > 0)
    if (removed.length === 0) return Effect.void
    notify.onPurged(removed)
    return freed
  })
  return Effect.forever(Effect.andThen(reported, Effect.sleep("1 hour")))
}

/** Formats the deleted items. */
export const textOf = (purged: ReadonlyArray<Purged>): string =>
  purged.map(({ bytes, entries, store }) => `${store} ${entries} (${bytes} bytes)`).join(", ")
