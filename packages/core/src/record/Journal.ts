/**
 * Journals: where a run's events and its paid calls are kept, so that the run survives its process.
 *
 * To resume is to run again: the journal is the first source of answers, and what it does not have is asked for. Each
 * entry has a sequence number within its run, from 0 and without gaps. A process claims a run before it appends to it;
 * each claim has a higher epoch than the one before, and what comes with an older epoch is refused. What `append` has
 * acknowledged is there after a crash.
 *
 * {@link makeMemory} keeps entries in memory; `DiskJournal` of `@divisi/files` keeps them in a SQLite file. Whoever
 * writes another journal holds it to `JournalContract` of `@divisi/testkit/journals`.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Paid } from "../task/Usage.ts"
import type { WorkerErrorReason } from "../task/Worker.ts"
import { heading } from "./heading.ts"
import type { Ending, Listener, RunEvent } from "./RunEvent.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** An attempt of a call: the call's place in its run (`run/round/step/number`), and its attempts from 0. */
interface Attempt {
  readonly call: string
  readonly attempt: number
}

/** What is known of one call, in the order in which it happened. */
export type CallEntry =
  /** Written before the call is sent: what is asked, and the most that it can cost. */
  | (Attempt & {
      readonly type: "intent"
      readonly hash: string
      readonly worker: string
      readonly at: number
      /** Its worst case. */
      readonly worst: Paid
    })
  /** The vendor has begun to answer, and can be asked for this answer again. */
  | (Attempt & { readonly type: "handle"; readonly handle: string })
  /** `answer` is the whole answer, as the response cache keeps it. */
  | (Attempt & { readonly type: "answered"; readonly answer: unknown } & Paid)
  | (Attempt & {
      readonly type: "failed"
      readonly reason: WorkerErrorReason
      readonly message: string
      /** Absent when the same worker is not tried again. */
      readonly retryInMillis?: number | undefined
      readonly unasked?: true | undefined
    } & Paid)
  | (Attempt & { readonly type: "interrupted" } & Paid)
  /** Its process ended before its answer was known. */
  | (Attempt & { readonly type: "lost" } & Paid)
  /** It was stopped before it was sent. */
  | (Attempt & { readonly type: "withdrawn" })
  /** The response cache had the answer. */
  | (Attempt & { readonly type: "found"; readonly hash?: string | undefined; readonly answer: unknown })

/** A thing that happened in a run. Pieces of answers (`step-delta`, `completion-delta`) are never written. */
export type Entry =
  | { readonly type: "event"; readonly event: RunEvent }
  /** What `run-started` does not say: whether somebody gave the run its seed. */
  | { readonly type: "begun"; readonly seed?: number | undefined }
  | CallEntry

/** What a list of runs says of each. */
export interface Head {
  readonly question: string
  readonly policy: string
  /** The ids of the pool. */
  readonly workers: ReadonlyArray<string>
  readonly startedAt: number
  /** Absent until the run has ended. */
  readonly ending?: Ending | undefined
  readonly costUsd: number
  readonly calls: number
  /** What a suspended run waits for, in words. */
  readonly waitsFor?: ReadonlyArray<string> | undefined
  /** Who asked: `metadata.owner` of its task, where that is a text. */
  readonly caller?: string | undefined
}

/** A run in a journal. */
export interface Summary extends Head {
  readonly run: string
  /** How many entries it has. */
  readonly length: number
  readonly bytes: number
  /** When something was written last, in milliseconds since 1970. */
  readonly changedAt: number
  /** Who carries it on now, in words; `undefined` when nobody does. */
  readonly owner: string | undefined
}

/** Which runs are listed; all by default. */
export interface Query {
  /** Those of one caller. */
  readonly caller?: string | undefined
  /** Those that were begun before a run; none where that run is not known. */
  readonly after?: string | undefined
  /** How many at most. */
  readonly limit?: number | undefined
}

/** The right to append to a run. */
export interface Claim {
  readonly epoch: number
  /** How many entries the run has: the sequence number of the next. */
  readonly length: number
}

/** Entries that are written together or not at all. */
export interface Batch {
  readonly run: string
  readonly epoch: number
  /** The sequence number of the first. */
  readonly seq: number
  readonly entries: ReadonlyArray<Entry>
  /** Takes the place of the head before. */
  readonly head?: Head | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Why a journal cannot be used. */
export type JournalErrorReason =
  /** Another process carries the run on. */
  | { readonly _tag: "Held"; readonly run: string; readonly owner: string }
  /** Another process has taken the run over; or what is appended does not follow what is there. */
  | { readonly _tag: "Fenced"; readonly run: string }
  | { readonly _tag: "Missing"; readonly run: string }
  /** This runtime has no `node:sqlite`. */
  | { readonly _tag: "Unsupported" }
  | { readonly _tag: "Unwritable"; readonly detail: string }
  | { readonly _tag: "Full" }
  /** It is something else than a journal. */
  | { readonly _tag: "Foreign" }
  /** A newer version of this package wrote it. */
  | { readonly _tag: "Newer" }
  | { readonly _tag: "Damaged"; readonly detail: string }

const explain = (reason: JournalErrorReason): string => {
  switch (reason._tag) {
    case "Held":
      return `has run ${reason.run}, which ${reason.owner} carries on: wait until it has ended, or stop it`
    case "Fenced":
      return `has run ${reason.run}, which somebody else has taken over: this process has to stop it`
    case "Missing":
      return `has no run ${reason.run}: \`divisi runs\` lists those that it has`
    case "Unsupported":
      return "needs node:sqlite, which this runtime does not have: use Node 22.19 or newer"
    case "Unwritable":
      return `cannot be written (${reason.detail}): check the path, its permissions and the space that is left`
    case "Full":
      return "cannot be written, as no space is left on its disk: free some, and resume what has stopped"
    case "Foreign":
      return "is a file of something else, or its beginning is damaged, and was left as it is: name another file"
    case "Newer":
      return "was written by a newer version of Divisi: update, or name another file"
    case "Damaged":
      return `is damaged (${reason.detail}): restore it from a copy, or name another file`
  }
}

/** A journal that cannot be used. `reason` says why. */
export class JournalError extends Data.TaggedError("JournalError")<{
  readonly journal: string
  readonly reason: JournalErrorReason
}> {
  override get message(): string {
    return `The journal ${this.journal} ${explain(this.reason)}.`
  }
}

/** A resumed run asks something else than the journal says it did. Nothing was asked or written. */
export class JournalMismatch extends Data.TaggedError("JournalMismatch")<{
  readonly run: string
  /** Where: the call's place in its run. */
  readonly call: string
  readonly detail: string
}> {
  override get message(): string {
    return `Run ${this.run} cannot be resumed as it is set up now: call ${this.call} ${this.detail}. Resume it with the policy, pool, settings and seed with which it was begun.`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Service
// -------------------------------------------------------------------------------------------------------------------

/** Where runs are kept. */
export interface Journal {
  /** For people: the file, or where else it lies. */
  readonly name: string
  /**
   * Claims a run, which is begun where it is not known. Fails with `Held` while another claim is held by a process that
   * lives. The new epoch is higher than all before it.
   */
  readonly claim: (run: string) => Effect.Effect<Claim, JournalError>
  /** Gives a claim back. */
  readonly release: (run: string, epoch: number) => Effect.Effect<void>
  /**
   * Writes a batch whole or not at all; when it succeeds, the batch is there after a crash. It fails with `Fenced` and
   * writes nothing where the epoch is not that of the last claim, or `seq` is not the number of entries.
   */
  readonly append: (batch: Batch) => Effect.Effect<void, JournalError>
  /** The entries of a run from a sequence number on (default 0); none of one that is not known. */
  readonly read: (run: string, from?: number) => Effect.Effect<ReadonlyArray<Entry>, JournalError>
  /** What is known of one run that has entries; `undefined` for others. */
  readonly find: (run: string) => Effect.Effect<Summary | undefined, JournalError>
  /** The runs that have entries, the last begun first. */
  readonly list: (query?: Query) => Effect.Effect<ReadonlyArray<Summary>, JournalError>
  /** Removes runs; returns those that it has removed. A run that a living process carries on stays. */
  readonly remove: (runs: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, JournalError>
}

/** The journal of all runs that are given none of their own; none by default. */
export const Journal: Context.Reference<Journal | undefined> = Context.Reference("@divisi/core/Journal", {
  defaultValue: (): Journal | undefined => undefined
})

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/** The events among entries. */
export const eventsOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<RunEvent> =>
  entries.flatMap((entry) => (entry.type === "event" ? [entry.event] : []))

/** Whether the entries of a run have its end. */
export const isEnded = (run: string, entries: ReadonlyArray<Entry>): boolean =>
  entries.some((entry) => entry.type === "event" && entry.event.type === "run-finished" && entry.event.runId === run)

/** The state of a run: how it ended, or whether it goes on, waits for somebody, or was stopped. */
export type State = Ending | "running" | "waiting" | "stopped"

/** How it stands with a run. */
export const stateOf = ({ ending, owner, waitsFor }: Summary): State =>
  ending ?? (owner !== undefined ? "running" : waitsFor !== undefined ? "waiting" : "stopped")

/**
 * Which runs are removed: those unchanged for longer than an age, then the oldest until at most so many bytes are left.
 */
export interface Bounds {
  readonly olderThanMillis?: number | undefined
  readonly maxBytes?: number | undefined
}

/** Removes runs by age and size, those that were changed longest ago first. Returns the ids of the removed runs. */
export const prune = (
  journal: Journal,
  now: number,
  bounds: Bounds
): Effect.Effect<ReadonlyArray<string>, JournalError> =>
  Effect.flatMap(journal.list(), (runs) => {
    const { maxBytes = Number.POSITIVE_INFINITY, olderThanMillis = Number.POSITIVE_INFINITY } = bounds
    let bytes = 0
    const lastChangedFirst = runs.toSorted((left, right) => right.changedAt - left.changedAt)
    const gone = lastChangedFirst.filter((run) => {
      bytes += run.bytes
      return now - run.changedAt > olderThanMillis || bytes > maxBytes
    })
    return gone.length === 0 ? Effect.succeed([]) : journal.remove(gone.map(({ run }) => run))
  })

// -------------------------------------------------------------------------------------------------------------------
// In memory
// -------------------------------------------------------------------------------------------------------------------

interface Kept {
  /** Higher than that of each run that was begun before. */
  readonly number: number
  epoch: number
  /** The process that has the claim. */
  owner: Process | undefined
  readonly entries: Array<Entry>
  head: Head | undefined
  bytes: number
  changedAt: number
}

interface Process {
  readonly name: string
}

/** What journals in memory share: each journal over it stands for a process. */
export interface Memory {
  /** Those that were claimed last stand last. */
  readonly runs: Map<string, Kept>
  /** How many were begun so far. */
  begun: number
  /** About how many bytes they are. */
  bytes: number
  /** How many there may be. */
  readonly maxBytes: number
}

/**
 * Memory without runs. Where it gets larger than `maxBytes` (about, and no limit by default), the runs that were claimed
 * longest ago go at once, but for those that go on.
 */
export const memory = ({ maxBytes = Number.POSITIVE_INFINITY }: Pick<Bounds, "maxBytes"> = {}): Memory => ({
  runs: new Map(),
  begun: 0,
  bytes: 0,
  maxBytes
})

/** A journal in memory. */
export interface MemoryJournal extends Journal {
  /**
   * Takes the events of a run that cannot be gone on with, as it calls no tools of its client: they are kept at a
   * fraction of what it costs to keep a run with its calls. They are listed and read as those of others.
   */
  readonly listener: (run: string) => Listener
  /** Its process ends: its claims are free, and it takes nothing more. */
  readonly end: () => void
}

/** About how many bytes a value is as JSON. To write it out only to count it would cost more than to keep it. */
const sizeOf = (value: unknown): number => {
  if (typeof value === "string") return value.length + 2
  if (typeof value !== "object" || value === null) return 8
  let size = 2
  if (Array.isArray(value)) for (const one of value) size += 1 + sizeOf(one)
  else for (const name in value) size += name.length + 4 + sizeOf((value as Readonly<Record<string, unknown>>)[name])
  return size
}

let processes = 0

/**
 * A journal in memory: for tests, and for runs that several places of one process carry on.
 *
 * **Example**
 *
 * ```ts
 * import * as Journal from "@divisi/core/Journal"
 * import * as Effect from "effect/Effect"
 *
 * const journal = Journal.makeMemory()
 * const claim = await Effect.runPromise(journal.claim("run-1"))
 * claim // => { epoch: 1, length: 0 }
 * ```
 */
export const makeMemory = (store: Memory = memory()): MemoryJournal => {
  const { maxBytes, runs } = store
  const name = "in memory"
  const self: Process = { name: `process ${++processes}` }
  let isOver = false
  const fail = (reason: JournalErrorReason) => Effect.fail(new JournalError({ journal: name, reason }))

  const forget = (run: string, { bytes }: Kept): boolean => {
    store.bytes -= bytes
    return runs.delete(run)
  }

  /** Lets go of the oldest that nobody carries on. */
  const prune = () => {
    for (const [run, kept] of runs) {
      if (store.bytes <= maxBytes) return
      if (kept.owner === undefined) forget(run, kept)
    }
  }

  const grow = (kept: Kept, entries: ReadonlyArray<Entry>, now: number) => {
    const bytes = sizeOf(entries)
    kept.entries.push(...entries)
    kept.bytes += bytes
    kept.changedAt = now
    store.bytes += bytes
    if (store.bytes > maxBytes) prune()
  }

  const own = (run: string, known: Kept | undefined): Kept => {
    const kept: Kept = known ?? {
      number: store.begun++,
      epoch: 0,
      owner: undefined,
      entries: [],
      head: undefined,
      bytes: 0,
      changedAt: 0
    }
    kept.epoch += 1
    kept.owner = self
    runs.delete(run)
    runs.set(run, kept)
    return kept
  }

  const claim = (run: string): Effect.Effect<Claim, JournalError> =>
    Effect.suspend(() => {
      if (isOver) return fail({ _tag: "Unwritable", detail: "its process has ended" })
      const known = runs.get(run)
      if (known?.owner !== undefined) return fail({ _tag: "Held", run, owner: known.owner.name })
      const { entries, epoch } = own(run, known)
      return Effect.succeed({ epoch, length: entries.length })
    })

  const append = ({ entries, epoch, head, run, seq }: Batch): Effect.Effect<void, JournalError> =>
    Effect.clockWith((clock) => {
      const kept = runs.get(run)
      if (isOver || kept?.epoch !== epoch || kept.owner !== self || kept.entries.length !== seq)
        return fail({ _tag: "Fenced", run })
      kept.head = head ?? kept.head
      grow(kept, entries, clock.currentTimeMillisUnsafe())
      return Effect.void
    })

  const listener = (run: string): Listener => {
    const { head, take } = heading()
    let kept: Kept | undefined
    return (event) => {
      if (isOver || event.type === "step-delta" || event.type === "completion-delta") return
      const entry: Entry = { type: "event", event }
      take(entry, run)
      kept ??= own(run, runs.get(run))
      kept.head = head()
      if (event.type === "run-finished" && event.runId === run) {
        const { calls, costUsd } = event.spend
        kept.head = kept.head && { ...kept.head, calls, costUsd }
        kept.owner = undefined
      }
      grow(kept, [entry], event.at)
    }
  }

  const summaryOf = (run: string, { bytes, changedAt, entries, head, owner }: Kept): Summary | undefined =>
    head && { ...head, run, bytes, changedAt, length: entries.length, owner: owner?.name }

  const find = (run: string) =>
    Effect.sync(() => {
      const kept = runs.get(run)
      return kept && summaryOf(run, kept)
    })

  const list = ({ after, caller, limit }: Query = {}) =>
    Effect.sync(() => {
      const before = after === undefined ? Number.POSITIVE_INFINITY : (runs.get(after)?.number ?? 0)
      return [...runs]
        .filter(([, { head, number }]) => number < before && (caller === undefined || head?.caller === caller))
        .sort(([, left], [, right]) => right.number - left.number)
        .flatMap(([run, kept]) => summaryOf(run, kept) ?? [])
        .slice(0, limit)
    })

  return {
    name,
    claim,
    append,
    listener,
    find,
    list,
    release: (run, epoch) =>
      Effect.sync(() => {
        const kept = runs.get(run)
        if (kept?.epoch !== epoch || kept.owner !== self) return
        kept.owner = undefined
        if (kept.entries.length === 0) runs.delete(run)
        else if (store.bytes > maxBytes) prune()
      }),
    read: (run, from = 0) => Effect.sync(() => runs.get(run)?.entries.slice(from) ?? []),
    remove: (gone) =>
      Effect.sync(() =>
        gone.filter((run) => {
          const kept = runs.get(run)
          return kept !== undefined && kept.owner === undefined && forget(run, kept)
        })
      ),
    end: () => {
      isOver = true
      for (const kept of runs.values()) if (kept.owner === self) kept.owner = undefined
    }
  }
}
