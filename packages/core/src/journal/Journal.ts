/**
 * Journals store a run's events and its paid calls, so that the run survives its process.
 *
 * Resuming executes the run again: recorded answers come from the journal, and only missing answers are requested. Each
 * entry has a sequence number within its run, from 0 and without gaps. A process claims a run before it appends to it.
 * Each claim has a higher epoch than the previous one, and entries with an older epoch are rejected. Acknowledged
 * entries survive a crash.
 *
 * {@link makeMemory} stores entries in memory; `DiskJournal` of `@divisi/files` stores them in a SQLite file. Other
 * implementations should pass `JournalContract` of `@divisi/testkit/journals`.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Ending, RunEvent } from "../events/RunEvent.ts"
import type { Paid } from "../task/Usage.ts"
import type { WorkerErrorReason } from "../task/Worker.ts"
import { AmbientJournal } from "./AmbientJournal.ts"
import type * as Errors from "./JournalErrors.ts"
import type * as InMemory from "./MemoryJournal.ts"
import { isTriedAgain, supersededIn } from "./Superseded.ts"

export { type ReadHead, read as readHead } from "./Head.ts"
export { JournalError, JournalMismatch, otherQuestion } from "./JournalErrors.ts"
export { makeMemory, memory } from "./MemoryJournal.ts"

// Handed on by `export type { … } from`, they would be values in the declarations of a barrel.
/** Why a journal cannot be used. */
export type JournalErrorReason = Errors.JournalErrorReason
/** Memory shared by several journals, each of which represents one process. */
export type Memory = InMemory.Memory
/** A journal in memory. */
export type MemoryJournal = InMemory.MemoryJournal

type JournalError = Errors.JournalError

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A call attempt: the call's place in its run (`run/round/step/number`) and the index of the attempt, from 0. */
interface Attempt {
  readonly call: string
  readonly attempt: number
}

/** A journal entry about one call, in chronological order. */
export type CallEntry =
  /** Written before the call is sent. Contains the request and its maximum cost. */
  | (Attempt & {
      readonly type: "intent"
      readonly hash: string
      readonly worker: string
      readonly at: number
      /** The maximum cost of the call. */
      readonly worst: Paid
    })
  /** The vendor has started to answer and can re-deliver this answer. */
  | (Attempt & { readonly type: "handle"; readonly handle: string })
  /** `answer` is the complete answer, as stored in the response cache. */
  | (Attempt & { readonly type: "answered"; readonly answer: unknown } & Paid)
  | (Attempt & {
      readonly type: "failed"
      readonly reason: WorkerErrorReason
      readonly message: string
      /** Absent if the same worker is not retried. */
      readonly retryInMillis?: number | undefined
      readonly unasked?: true | undefined
    } & Paid)
  | (Attempt & { readonly type: "interrupted" } & Paid)
  /** The process ended before the answer arrived. */
  | (Attempt & { readonly type: "lost" } & Paid)
  /** The call was stopped before it was sent. */
  | (Attempt & { readonly type: "withdrawn" })
  /** The response cache had the answer. */
  | (Attempt & { readonly type: "found"; readonly hash?: string | undefined; readonly answer: unknown })

/** A journal entry of a run. Chunks of answers and the progress of tools (`RunEvent.isTransient`) are never written. */
export type Entry =
  | { readonly type: "event"; readonly event: RunEvent }
  /** Data that `run-started` does not include: the caller's seed, and the names of the tools that the policy saw. */
  | { readonly type: "begun"; readonly seed?: number | undefined; readonly tools?: ReadonlyArray<string> | undefined }
  /** The run had failed or reached a limit, and was resumed. Its end and its last failures are void. */
  | { readonly type: "resumed"; readonly at: number }
  | CallEntry

/** The data of a run that a list of runs shows. */
export interface Head {
  readonly question: string
  readonly policy: string
  /** The ids of the pool's workers. */
  readonly workers: ReadonlyArray<string>
  readonly startedAt: number
  /** Absent until the run has ended. */
  readonly ending?: Ending | undefined
  readonly costUsd: number
  readonly calls: number
  /** Descriptions of the calls that a suspended run waits for. */
  readonly waitsFor?: ReadonlyArray<string> | undefined
  /** The caller: `metadata.owner` of the run's task, if it is a string. */
  readonly caller?: string | undefined
  /** The id of the request that the run answers: `metadata.request` of its task, if it is a string. */
  readonly request?: string | undefined
}

/** A run in a journal. */
export interface Summary extends Head {
  readonly run: string
  /** Why the head could not be read. If present, the fields of the head are placeholders. */
  readonly damaged?: string | undefined
  /** The number of entries. */
  readonly length: number
  readonly bytes: number
  /** The time of the last write, in milliseconds since 1970. */
  readonly changedAt: number
  /**
   * The age of `changedAt` in milliseconds, by the clock of the journal. Compare ages rather than times, because the
   * clocks of servers that share a journal differ.
   */
  readonly ageMillis: number
  /** A description of the process that currently executes the run; `undefined` if it is not running. */
  readonly owner: string | undefined
  /** True if the owner may have exited: the database has just started, and its clients are still reconnecting. */
  readonly isOwnerUnconfirmed?: true | undefined
}

/** Filters for a list of runs. By default all runs are listed. */
export interface Query {
  /** Only runs of this caller. */
  readonly caller?: string | undefined
  /** Only runs that answer this request. */
  readonly request?: string | undefined
  /** Only runs that started before this run. If the run is unknown, the list is empty. */
  readonly after?: string | undefined
  /** The maximum number of runs. */
  readonly limit?: number | undefined
}

/** The right to append to a run. */
export interface Claim {
  readonly epoch: number
  /** The number of entries of the run, which is the sequence number of the next entry. */
  readonly length: number
  /**
   * The number of consecutive processes that lost the run while executing it, without an answer in between; absent if
   * the journal does not count them.
   */
  readonly takeovers?: number | undefined
}

/** How a run is claimed. */
export interface ClaimOptions {
  /**
   * Whether to revoke the claim of another process even if that process is alive; its later writes fail with `Fenced`.
   * Use it if a lease or similar guarantees that the process no longer owns the run. A claim of the same process is
   * never revoked. Default: `false`.
   */
  readonly takeOver?: boolean | undefined
}

/** Entries that are written together or not at all. */
export interface Batch {
  readonly run: string
  readonly epoch: number
  /** The sequence number of the first entry. */
  readonly seq: number
  readonly entries: ReadonlyArray<Entry>
  /** Replaces the previous head. */
  readonly head?: Head | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Service
// -------------------------------------------------------------------------------------------------------------------

/** A store of runs. */
export interface Journal {
  /** The location of the journal for display, such as a file. */
  readonly name: string
  /**
   * Claims a run, and creates it if it does not exist. Fails with `Held` while a live process holds another claim. The
   * new epoch is higher than all previous ones.
   */
  readonly claim: (run: string, options?: ClaimOptions) => Effect.Effect<Claim, JournalError>
  /**
   * Called with the id of the run before the intent of each paid call is written. The call is made when it returns. It
   * does not return if another process takes over the run. If absent, every call is made.
   */
  readonly admit?: ((run: string) => Effect.Effect<void>) | undefined
  /**
   * Called when the intent of a paid call is durable, right before the call is sent, with the id of the run and the
   * name of the attempt (`run/round/step/number/attempt`). It returns when it is certain that no other process owns the
   * run, and does not return if another process may own it. If absent, every call is sent.
   */
  readonly confirm?: ((run: string, attempt: string) => Effect.Effect<void>) | undefined
  /**
   * Releases a claim. `unwritten` are the batches whose write failed or that followed it, in order: the journal may have
   * the first one. If it can be unreachable, it writes them before the claim ends, so that answers that arrived and calls
   * that were never sent are known. It may ignore them: those calls count as unconfirmed.
   */
  readonly release: (run: string, epoch: number, unwritten?: ReadonlyArray<Batch>) => Effect.Effect<void>
  /**
   * Writes a batch atomically. After success, the batch survives a crash. If the epoch is not the current one, or `seq`
   * is not the number of entries, it fails with `Fenced` and writes nothing.
   */
  readonly append: (batch: Batch) => Effect.Effect<void, JournalError>
  /** Returns the entries of a run from a sequence number (default 0). Returns none for an unknown run. */
  readonly read: (run: string, from?: number) => Effect.Effect<ReadonlyArray<Entry>, JournalError>
  /**
   * Returns the number of entries of each run, in the order of the names; 0 for an unknown run. It is called ten times
   * a second with all followed runs, so it should be a single query.
   */
  readonly lengths: (runs: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<number>, JournalError>
  /** Returns the summary of a run, or `undefined` if it has no entries. */
  readonly find: (run: string) => Effect.Effect<Summary | undefined, JournalError>
  /** Returns the runs that have entries, the most recent first. */
  readonly list: (query?: Query) => Effect.Effect<ReadonlyArray<Summary>, JournalError>
  /** Removes runs, except those that a live process is executing, and returns the removed ones. */
  readonly remove: (runs: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, JournalError>
}

/** The default journal of runs; none unless it is set. `RunOptions.journal` overrides it. */
export const Journal: Context.Reference<Journal | undefined> = AmbientJournal

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/** Returns the events among a run's entries, without those that a resume made void. */
export const eventsOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<RunEvent> => {
  const superseded = supersededIn(entries).events
  return entries.flatMap((entry, at) => (entry.type === "event" && !superseded.has(at) ? [entry.event] : []))
}

const ends: ReadonlySet<string> = new Set(["answered", "failed", "interrupted", "lost", "withdrawn"])

/**
 * Returns the names of call attempts that start or end in the entries. An owner uses the names to count its own calls
 * in flight, because attempts of an earlier owner also end in its entries.
 */
export const attemptsIn = (entries: ReadonlyArray<Entry>, which: "begun" | "ended"): ReadonlyArray<string> =>
  entries.flatMap((entry) =>
    "attempt" in entry && (which === "begun" ? entry.type === "intent" : ends.has(entry.type))
      ? [`${entry.call}/${entry.attempt}`]
      : []
  )

/**
 * Returns a journal for a run that a shared journal stores under another name. The run is always taken over, because
 * the claim of its task decides which process executes it. Its end is not written, because its result is stored
 * elsewhere.
 */
export const storedAs = (journal: Journal, name: string, run: string): Journal => ({
  ...journal,
  claim: () => journal.claim(name, { takeOver: true }),
  confirm: journal.confirm && ((_, attempt) => journal.confirm!(name, attempt)),
  release: (_, epoch, unwritten) =>
    journal.release(
      name,
      epoch,
      unwritten?.map((batch) => ({ ...batch, run: name }))
    ),
  append: (batch) => journal.append({ ...batch, run: name }),
  read: () =>
    Effect.map(journal.read(name), (entries) =>
      entries.filter(
        (entry) => !(entry.type === "event" && entry.event.type === "run-finished" && entry.event.runId === run)
      )
    )
})

/** Returns a run's ending according to its entries; `undefined` if it has not ended, or was resumed. */
export const endingOf = (run: string, entries: ReadonlyArray<Entry>): Ending | undefined => {
  const last = entries.findLast(
    (entry) =>
      entry.type === "resumed" ||
      (entry.type === "event" && entry.event.type === "run-finished" && entry.event.runId === run)
  )
  return last?.type === "event" && last.event.type === "run-finished" ? last.event.ending : undefined
}

/** Whether the entries of a run include its end. */
export const isEnded = (run: string, entries: ReadonlyArray<Entry>): boolean => endingOf(run, entries) !== undefined

/**
 * Whether an ending is final. Resuming a run with a final ending returns its result again. A run that failed or reached
 * a limit continues from its recorded results.
 */
export const isFinal = (ending: Ending): boolean => !isTriedAgain(ending)

/** The state of a run: its ending, or whether it is running, waiting, stopped, or damaged. */
export type State = Ending | "running" | "waiting" | "stopped" | "damaged"

/** Returns the state of a run. */
export const stateOf = ({ damaged, ending, owner, waitsFor }: Summary): State =>
  (damaged === undefined ? ending : "damaged") ??
  (owner !== undefined ? "running" : waitsFor !== undefined ? "waiting" : "stopped")

/**
 * Limits by which runs are removed: first runs that have not changed for an age, then the oldest until the size limit
 * holds.
 */
export interface Bounds {
  readonly olderThanMillis?: number | undefined
  readonly maxBytes?: number | undefined
}

/** The number of runs per page of a list. */
const pageLength = 500

type Changed = Pick<Summary, "ageMillis" | "bytes" | "changedAt" | "owner" | "run">

const changedIn = (
  journal: Journal,
  after?: string,
  before: ReadonlyArray<Changed> = []
): Effect.Effect<ReadonlyArray<Changed>, JournalError> =>
  Effect.flatMap(journal.list({ after, limit: pageLength }), (page) => {
    const all = before.concat(
      page.map(({ ageMillis, bytes, changedAt, owner, run }) => ({ ageMillis, bytes, changedAt, owner, run }))
    )
    return page.length < pageLength
      ? Effect.succeed(all)
      : Effect.andThen(Effect.yieldNow, changedIn(journal, page.at(-1)?.run, all))
  })

/** Returns the runs that {@link prune} would remove, the most recently changed first. */
export const prunable = (
  journal: Journal,
  { maxBytes = Number.POSITIVE_INFINITY, olderThanMillis = Number.POSITIVE_INFINITY }: Bounds
): Effect.Effect<ReadonlyArray<Changed>, JournalError> =>
  Effect.map(changedIn(journal), (runs) => {
    let bytes = 0
    return runs
      .toSorted((left, right) => right.changedAt - left.changedAt)
      .filter((run) => {
        bytes += run.bytes
        return run.owner === undefined && (run.ageMillis > olderThanMillis || bytes > maxBytes)
      })
  })

/**
 * Removes runs by age and size, the least recently changed first, except runs that a live process is executing. Ages
 * are measured with the clock of the journal. Returns the ids of the removed runs.
 */
export const prune = (journal: Journal, bounds: Bounds): Effect.Effect<ReadonlyArray<string>, JournalError> =>
  Effect.flatMap(prunable(journal, bounds), (gone) =>
    gone.length === 0 ? Effect.succeed([]) : journal.remove(gone.map(({ run }) => run))
  )
