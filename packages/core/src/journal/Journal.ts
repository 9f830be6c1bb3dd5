/**
 * Journals store a run's events and paid calls, so that the run survives its process.
 *
 * Resuming a run executes it again: recorded answers are read from the journal, and only missing answers are requested.
 * Each entry has a sequence number within its run, starting at 0 without gaps. A process must claim a run before
 * appending to it. Each claim increases the run's epoch, and entries with an older epoch are rejected. Acknowledged
 * entries survive a crash.
 *
 * {@link makeMemory} stores entries in memory; `DiskJournal` from `@divisi/files` stores them in a SQLite file. Other
 * implementations should pass `JournalContract` from `@divisi/testkit/journals`.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { AnswerOrigin, Ending, RunEvent } from "../events/RunEvent.ts"
import { type Paid, rounded } from "../task/Usage.ts"
import type { WorkerErrorReason } from "../task/Worker.ts"
import { AmbientJournal } from "./AmbientJournal.ts"
import type * as Errors from "./JournalErrors.ts"
import type * as InMemory from "./MemoryJournal.ts"
import { isTriedAgain, supersededIn } from "./Superseded.ts"

export { type ReadHead, read as readHead } from "./Head.ts"
export { JournalError, JournalMismatch, otherQuestion } from "./JournalErrors.ts"
export { makeMemory, memory } from "./MemoryJournal.ts"

// Declared as aliases, because with `export type { … } from`, they would appear as values in a barrel's declarations.
/** Why a journal is unusable. */
export type JournalErrorReason = Errors.JournalErrorReason
/** Memory that can be shared by several journals, each of which represents a process. */
export type Memory = InMemory.Memory
/** An in-memory journal. */
export type MemoryJournal = InMemory.MemoryJournal

type JournalError = Errors.JournalError

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/**
 * Identifies a call attempt: the call's position in its run (`run/round/step/number`), and the zero-based index of the
 * attempt.
 */
interface Attempt {
  readonly call: string
  readonly attempt: number
}

/** A journal entry that concerns a call. Entries for the same attempt are in chronological order. */
export type CallEntry =
  /** Written before the call is sent, with its request and its maximum cost. */
  | (Attempt & {
      readonly type: "intent"
      readonly hash: string
      readonly worker: string
      readonly at: number
      /** Maximum cost of the call. */
      readonly worst: Paid
    })
  /** The vendor has started to generate an answer and can deliver it again under this handle. */
  | (Attempt & { readonly type: "handle"; readonly handle: string })
  /** `answer` is the complete answer in the format of the response cache. */
  | (Attempt & { readonly type: "answered"; readonly answer: unknown } & Paid)
  | (Attempt & {
      readonly type: "failed"
      readonly reason: WorkerErrorReason
      readonly message: string
      /** Set if the call is retried with the same worker. */
      readonly retryInMillis?: number | undefined
      readonly unasked?: true | undefined
    } & Paid)
  | (Attempt & { readonly type: "interrupted" } & Paid)
  /** The process ended before the answer arrived. */
  | (Attempt & { readonly type: "lost" } & Paid)
  /** The call was stopped before it was sent. */
  | (Attempt & { readonly type: "withdrawn" })
  /** The answer was found in the response cache or, if `origin` is set, has another origin than a worker. */
  | (Attempt & {
      readonly type: "found"
      readonly hash?: string | undefined
      readonly answer: unknown
      readonly origin?: AnswerOrigin | undefined
    })

/**
 * Data not included in `run-started`: the caller's seed, the names of the tools shown to the policy, and the limits on
 * plans. A resumed run keeps them unless new ones are passed.
 */
export interface Begun {
  readonly type: "begun"
  readonly seed?: number | undefined
  readonly tools?: ReadonlyArray<string> | undefined
  readonly maxSteps?: number | undefined
  readonly maxItems?: number | undefined
}

/** A journal entry. Text chunks and tool progress (`RunEvent.isTransient`) are never written. */
export type Entry =
  | { readonly type: "event"; readonly event: RunEvent }
  | Begun
  /**
   * The run had failed or reached a limit, or its process could not make calls, and it was resumed. Its end and its last
   * failures no longer apply.
   */
  | { readonly type: "resumed"; readonly at: number }
  | CallEntry

/** The summary of a run that is shown in lists of runs. */
export interface Head {
  readonly question: string
  readonly policy: string
  /** Ids of the workers in the pool. */
  readonly workers: ReadonlyArray<string>
  readonly startedAt: number
  /** Undefined while the run has not ended. */
  readonly ending?: Ending | undefined
  readonly costUsd: number
  /** Set if all workers in the pool have prices in play money. */
  readonly isPlay?: true | undefined
  /** Set if `costUsd` does not include all calls, because a price is unknown. */
  readonly isUnpriced?: true | undefined
  readonly calls: number
  /** Descriptions of the calls that a suspended run is waiting for. */
  readonly waitsFor?: ReadonlyArray<string> | undefined
  /** The caller: `metadata.owner` of the run's task, if it is a string. */
  readonly caller?: string | undefined
  /** Id of the request that the run belongs to: `metadata.request` of its task, if it is a string. */
  readonly request?: string | undefined
  /** Id of the run that this run was forked from. */
  readonly forkOf?: string | undefined
}

/** A run as listed by a journal. */
export interface Summary extends Head {
  readonly run: string
  /** Set if the head could not be parsed, with the reason. The head's fields are then placeholders. */
  readonly damaged?: string | undefined
  /** Number of entries. */
  readonly length: number
  readonly bytes: number
  /** Time of the last write, in milliseconds since the Unix epoch. */
  readonly changedAt: number
  /**
   * Time since `changedAt` in milliseconds, according to the journal's clock. Use it instead of comparing timestamps,
   * because the clocks of servers that share a journal may differ.
   */
  readonly ageMillis: number
  /** Description of the process that is currently executing the run. Undefined if the run is not being executed. */
  readonly owner: string | undefined
  /**
   * Set if the owner may no longer be running: the database has just started, and its clients are still reconnecting.
   */
  readonly isOwnerUnconfirmed?: true | undefined
}

/**
 * Returns the head of a listed run.
 *
 * @internal
 */
export const headOf = (run: Summary): Head => ({
  question: run.question,
  policy: run.policy,
  workers: run.workers,
  startedAt: run.startedAt,
  ending: run.ending,
  costUsd: run.costUsd,
  isPlay: run.isPlay,
  isUnpriced: run.isUnpriced,
  calls: run.calls,
  waitsFor: run.waitsFor,
  caller: run.caller,
  request: run.request,
  forkOf: run.forkOf
})

/** Filters for listing runs. By default, all runs are returned. */
export interface Query {
  /** Return only runs of this caller. */
  readonly caller?: string | undefined
  /** Return only runs that belong to this request. */
  readonly request?: string | undefined
  /** Return only runs that started before this run. If the run is unknown, the list is empty. */
  readonly after?: string | undefined
  /** Maximum number of runs to return. */
  readonly limit?: number | undefined
}

/** Grants the right to append to a run. */
export interface Claim {
  readonly epoch: number
  /** Number of entries in the run, which is also the sequence number of the next entry. */
  readonly length: number
  /**
   * Number of consecutive processes that lost the run while executing it, without receiving an answer. Undefined if the
   * journal does not track this.
   */
  readonly takeovers?: number | undefined
}

/** Options for claiming a run. */
export interface ClaimOptions {
  /**
   * Whether to revoke another process's claim even if that process is alive; its later writes fail with `Fenced`. Use
   * this only if a lease or a similar mechanism guarantees that the process no longer owns the run. A claim held by the
   * same process is never revoked. Default: `false`.
   */
  readonly takeOver?: boolean | undefined
}

/** Entries to append atomically. */
export interface Batch {
  readonly run: string
  readonly epoch: number
  /** Sequence number of the first entry. */
  readonly seq: number
  readonly entries: ReadonlyArray<Entry>
  /** The new head of the run, which replaces the previous one. */
  readonly head?: Head | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Service
// -------------------------------------------------------------------------------------------------------------------

/** A store of runs. */
export interface Journal {
  /** Display name of the journal, such as its file path. */
  readonly name: string
  /**
   * Claims a run, creating it if necessary. Fails with `Held` while another live process holds the claim. The new epoch
   * is higher than all previous ones.
   */
  readonly claim: (run: string, options?: ClaimOptions) => Effect.Effect<Claim, JournalError>
  /**
   * Called with the run's id before the intent of each paid call is written. The call proceeds once the effect
   * completes. If another process takes over the run, the effect never completes. If omitted, all calls proceed.
   */
  readonly admit?: ((run: string) => Effect.Effect<void>) | undefined
  /**
   * Called with the run's id and the attempt's name (`run/round/step/number/attempt`) once the intent of a paid call is
   * durable, immediately before the call is sent. The effect completes when no other process can own the run; it never
   * completes if one might. If omitted, all calls are sent.
   */
  readonly confirm?: ((run: string, attempt: string) => Effect.Effect<void>) | undefined
  /**
   * Releases a claim. `unwritten` contains the batches that could not be written, in order, starting with the one whose
   * write failed; the journal may already contain that one. A journal that may be unreachable should write them before
   * the claim ends, so that answers received and calls never sent are not lost. If it ignores them, those calls count as
   * unconfirmed.
   */
  readonly release: (run: string, epoch: number, unwritten?: ReadonlyArray<Batch>) => Effect.Effect<void>
  /**
   * Appends a batch atomically. Once the effect succeeds, the batch survives a crash. Fails with `Fenced` and writes
   * nothing if `epoch` is not current or if `seq` does not equal the number of entries.
   */
  readonly append: (batch: Batch) => Effect.Effect<void, JournalError>
  /** Returns a run's entries, starting at a sequence number (default 0). Returns an empty list for an unknown run. */
  readonly read: (run: string, from?: number) => Effect.Effect<ReadonlyArray<Entry>, JournalError>
  /**
   * Returns the number of entries in each run, in the order of the ids; 0 for an unknown run. Called ten times per
   * second with the ids of all followed runs, so it should execute only one query.
   */
  readonly lengths: (runs: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<number>, JournalError>
  /** Returns the summary of a run, or `undefined` if the run has no entries. */
  readonly find: (run: string) => Effect.Effect<Summary | undefined, JournalError>
  /** Returns all runs with entries, most recent first. */
  readonly list: (query?: Query) => Effect.Effect<ReadonlyArray<Summary>, JournalError>
  /** Removes runs, except those being executed by a live process. Returns the ids of the removed runs. */
  readonly remove: (runs: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, JournalError>
}

/** The default journal. `undefined` unless set. `RunOptions.journal` takes precedence. */
export const Journal: Context.Reference<Journal | undefined> = AmbientJournal

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/** Returns the events among a run's entries, excluding those superseded by a resume. */
export const eventsOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<RunEvent> => {
  const superseded = supersededIn(entries).events
  return entries.flatMap((entry, at) => (entry.type === "event" && !superseded.has(at) ? [entry.event] : []))
}

const ends: ReadonlySet<string> = new Set(["answered", "failed", "interrupted", "lost", "withdrawn"])

/**
 * Returns the names of call attempts that start or end in the entries. The names allow an owner to count its own calls
 * in flight, because attempts by an earlier owner may also end in its entries.
 */
export const attemptsIn = (entries: ReadonlyArray<Entry>, which: "begun" | "ended"): ReadonlyArray<string> =>
  entries.flatMap((entry) =>
    "attempt" in entry && (which === "begun" ? entry.type === "intent" : ends.has(entry.type))
      ? [`${entry.call}/${entry.attempt}`]
      : []
  )

/**
 * Returns a journal for a run that is stored under a different name in a shared journal. The run is always taken over,
 * because the claim on its task determines which process executes it. The end of the run is not stored, because its
 * result is stored elsewhere.
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

/** Returns the ending recorded in a run's entries, or `undefined` if the run has not ended or has been resumed. */
export const endingOf = (run: string, entries: ReadonlyArray<Entry>): Ending | undefined => {
  const last = entries.findLast(
    (entry) =>
      entry.type === "resumed" ||
      (entry.type === "event" && entry.event.type === "run-finished" && entry.event.runId === run)
  )
  return last?.type === "event" && last.event.type === "run-finished" ? last.event.ending : undefined
}

/** Whether a run's entries include its end. */
export const isEnded = (run: string, entries: ReadonlyArray<Entry>): boolean => endingOf(run, entries) !== undefined

/**
 * Whether an ending is final. Resuming a run with a final ending returns the same result. A run that failed or reached
 * a limit instead continues from its recorded results.
 */
export const isFinal = (ending: Ending): boolean => !isTriedAgain(ending)

/** The state of a run: its ending, or `running`, `waiting`, `stopped` or `damaged`. */
export type State = Ending | "running" | "waiting" | "stopped" | "damaged"

/** Returns the state of a run. */
export const stateOf = ({ damaged, ending, owner, waitsFor }: Summary): State =>
  (damaged === undefined ? ending : "damaged") ??
  (owner !== undefined ? "running" : waitsFor !== undefined ? "waiting" : "stopped")

/** A run as listed by servers, in `GET /v1/runs`. Times are in milliseconds since 1970. */
export interface Listed {
  readonly id: string
  readonly object: "run"
  readonly state: State
  /** The question; `null` if content is not stored. */
  readonly question: string | null
  readonly policy: string
  /** The workers in the pool. */
  readonly workers: ReadonlyArray<string>
  readonly started_at: number
  readonly changed_at: number
  readonly cost_usd: number
  /** Set if the cost is play money. */
  readonly is_play?: boolean
  /** Set if `cost_usd` does not include all calls, because a price is unknown. */
  readonly is_unpriced?: boolean
  readonly calls: number
  /** Id of the key that owns the run; `null` for a run started from the command line. */
  readonly owner: string | null
  /** Descriptions of the pending tool calls. */
  readonly waits_for: ReadonlyArray<string>
  /** Id of the run that this run was forked from. */
  readonly fork_of?: string
  /** Set if the run's list entry cannot be read: the reason. The transcript may still be intact. */
  readonly damaged?: string
}

/** Returns a run of a journal as servers list it. */
export const listed = (run: Summary): Listed => ({
  id: run.run,
  object: "run",
  state: stateOf(run),
  question: run.question,
  policy: run.policy,
  workers: run.workers,
  started_at: run.startedAt,
  changed_at: run.changedAt,
  cost_usd: rounded(run.costUsd),
  ...(run.isPlay && { is_play: true }),
  ...(run.isUnpriced && { is_unpriced: true }),
  calls: run.calls,
  owner: run.caller ?? null,
  waits_for: run.waitsFor ?? [],
  ...(run.forkOf !== undefined && { fork_of: run.forkOf }),
  ...(run.damaged !== undefined && { damaged: run.damaged })
})

/**
 * Criteria for removing runs: first those not changed for a given time, then the least recently changed until the size
 * limit is met.
 */
export interface Bounds {
  readonly olderThanMillis?: number | undefined
  readonly maxBytes?: number | undefined
}

/** Number of runs to fetch per page. */
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

/** Returns the runs that {@link prune} would remove, most recently changed first. */
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
 * Removes runs by age and total size, least recently changed first. Runs being executed by a live process are skipped.
 * Ages are measured with the journal's clock. Returns the ids of the removed runs.
 */
export const prune = (journal: Journal, bounds: Bounds): Effect.Effect<ReadonlyArray<string>, JournalError> =>
  Effect.flatMap(prunable(journal, bounds), (gone) =>
    gone.length === 0 ? Effect.succeed([]) : journal.remove(gone.map(({ run }) => run))
  )
