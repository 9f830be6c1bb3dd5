/**
 * The one retention period of all that is stored: runs with their messages between servers, responses of a server, outcomes
 * with their ratings, and cached answers. Accounts, keys and what was learned hold no content and stay.
 */
import fs from "node:fs"
import { Journal } from "@divisi/core"
import { DiskRecords } from "@divisi/files"
import { OutcomeLog } from "@divisi/policy-router"
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

/** How long the answer of an `Idempotency-Key` is given again: what a server stores stays at least as long. */
const promisedMillis = 86_400_000

/** Returns the period of `--keep`, or else of the config, in milliseconds; `undefined` if neither is set. */
export const periodOf = (keep: Option.Option<number>, { retention }: Pick<Config, "retention">): number | undefined =>
  Option.getOrElse(keep, () => (retention === undefined ? undefined : parseAge(retention)))

/** Refuses a period for a server that would break its promise of repeated answers. */
export const servable = (keepMillis: number | undefined): Effect.Effect<void, Failure> =>
  keepMillis === undefined || keepMillis >= promisedMillis
    ? Effect.void
    : Effect.fail(
        usage(
          "A server stores runs for at least 24h, because it repeats answers to requests with an Idempotency-Key for 24 hours. Set --keep (retention in the config) to at least 24h, or store nothing with --content none."
        )
      )

// -------------------------------------------------------------------------------------------------------------------
// Stores
// -------------------------------------------------------------------------------------------------------------------

/** Items removed from a store, or that would be. */
export interface Purged {
  readonly store: "cache" | "messages" | "outcomes" | "responses" | "runs"
  /** The file, or the database without user and password. */
  readonly place: string
  readonly entries: number
  readonly bytes: number
}

/** Something that stores content by the time of its last change. */
export interface Store {
  readonly name: Purged["store"]
  readonly place: string
  /** Removes what is older than the period by the clock of the store; with `isDryRun` it only counts. */
  readonly purge: (keepMillis: number, isDryRun: boolean) => Effect.Effect<Pick<Purged, "bytes" | "entries">, Failure>
}

/** The time before which a file of this machine keeps nothing. */
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
        // Also without old runs: earlier contents may be in the file's log.
        const removed = isDryRun ? old.map(({ run }) => run) : yield* journal.remove(old.map(({ run }) => run))
        const gone = new Set(removed)
        const bytes = old.filter(({ run }) => gone.has(run)).reduce((sum, { bytes }) => sum + bytes, 0)
        return { entries: removed.length, bytes }
      })
    )
})

/** Runs of a file, which is opened for each purge. A file that does not exist is not made. */
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

/** The stores of a database. */
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

/** The stores of files. */
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
  /** Files: those next to `--journal`, or this user's. */
  readonly files?:
    | { readonly journal: Option.Option<string>; readonly opened?: Journal.Journal | undefined }
    | undefined
  readonly cache: Services["cache"]
}

/** All stores of these places. */
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

/** Removes from all stores what is older than the period, and returns what was removed. */
export const purge = (
  stores: ReadonlyArray<Store>,
  keepMillis: number,
  isDryRun = false
): Effect.Effect<ReadonlyArray<Purged>, Failure> =>
  Effect.forEach(stores, ({ name, place, purge }) =>
    Effect.map(purge(keepMillis, isDryRun), (removed) => ({ store: name, place, ...removed }))
  )

/** Purges now and each hour. A store that fails is reported, and tried again an hour later. */
export const keeping = (
  stores: ReadonlyArray<Store>,
  keepMillis: number,
  notify: {
    readonly onPurged: (purged: ReadonlyArray<Purged>) => void
    readonly onFailed: (message: string) => void
    /** Frees the space of what was removed from a database. */
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

/** Formats the removed items. */
export const textOf = (purged: ReadonlyArray<Purged>): string =>
  purged.map(({ bytes, entries, store }) => `${store} ${entries} (${bytes} bytes)`).join(", ")
