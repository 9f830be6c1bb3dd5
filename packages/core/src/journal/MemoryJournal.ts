/** The in-memory journal. */
import * as Effect from "effect/Effect"
import { constant } from "effect/Function"
import { isTransient, type Listener } from "../events/RunEvent.ts"
import { heading } from "./HeadRecorder.ts"
import type { Batch, Bounds, Claim, Entry, Head, Journal, Query, Summary } from "./Journal.ts"
import { JournalError, type JournalErrorReason } from "./JournalErrors.ts"

interface Kept {
  /** Sequential number of the run. */
  readonly number: number
  epoch: number
  /** The process that holds the claim. */
  owner: Process | undefined
  readonly entries: Array<Entry>
  /** Returns the run's head, which is derived only when runs are listed. */
  head: () => Head | undefined
  bytes: number
  changedAt: number
}

interface Process {
  readonly name: string
}

/** Memory that can be shared by several journals, each of which represents a process. */
export interface Memory {
  /** Runs in the order of their claims, most recent last. */
  readonly runs: Map<string, Kept>
  /** Number of runs that have been started. */
  begun: number
  /** Approximate total size of all runs, in bytes. */
  bytes: number
  /** Maximum total size, in bytes. */
  readonly maxBytes: number
}

/**
 * Creates empty memory for journals. When its approximate size exceeds `maxBytes` (default: unlimited), the runs with
 * the oldest claims are evicted immediately, except for active runs.
 */
export const memory = ({ maxBytes = Number.POSITIVE_INFINITY }: Pick<Bounds, "maxBytes"> = {}): Memory => ({
  runs: new Map(),
  begun: 0,
  bytes: 0,
  maxBytes
})

/** An in-memory journal. */
export interface MemoryJournal extends Journal {
  /**
   * Returns a listener that stores a run's events but not its calls. Such a run is listed and read like any other but
   * cannot be resumed, and it takes much less memory.
   */
  readonly listener: (run: string) => Listener
  /** Simulates the end of the process: releases all claims and rejects further writes. */
  readonly end: () => void
}

/**
 * Estimates the size of a value's JSON in bytes. Serializing the value to measure it would cost more than storing it.
 */
const sizeOf = (whole: unknown): number => {
  const open = [whole]
  let size = 0
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === "string") size += value.length + 2
    else if (typeof value !== "object" || value === null) size += 8
    else if (Array.isArray(value)) {
      size += 2 + value.length
      for (const one of value) open.push(one)
    } else {
      size += 2
      for (const name in value) {
        const one = (value as Readonly<Record<string, unknown>>)[name]
        size += name.length + 4
        if (typeof one === "string") size += one.length + 2
        else if (typeof one === "object") open.push(one)
        else size += 8
      }
    }
  }
  return size
}

let processes = 0

/**
 * Creates an in-memory journal, for tests and for runs that are resumed within the same process.
 *
 * **Example**
 *
 * ```ts
 * import { Journal } from "@divisi/core"
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

  /**
   * Evicts the oldest runs that no process owns. Runs are evicted in batches, because iterating over a `Map` revisits
   * deleted entries, which would dominate the cost of individual evictions.
   */
  const prune = () => {
    const enough = maxBytes - maxBytes / 64
    for (const [run, kept] of runs) {
      if (store.bytes <= enough) return
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
      head: constant(undefined),
      bytes: 0,
      changedAt: 0
    }
    kept.epoch += 1
    kept.owner = self
    runs.delete(run)
    runs.set(run, kept)
    return kept
  }

  const claim: Journal["claim"] = (run, { takeOver = false } = {}): Effect.Effect<Claim, JournalError> =>
    Effect.suspend(() => {
      if (isOver) return fail({ _tag: "Unwritable", detail: "the process that opened it has ended" })
      const known = runs.get(run)
      if (known?.owner !== undefined && (known.owner === self || !takeOver))
        return fail({ _tag: "Held", run, owner: known.owner.name })
      const { entries, epoch } = own(run, known)
      return Effect.succeed({ epoch, length: entries.length })
    })

  const append = ({ entries, epoch, head, run, seq }: Batch): Effect.Effect<void, JournalError> =>
    Effect.clockWith((clock) => {
      const kept = runs.get(run)
      if (isOver || kept?.epoch !== epoch || kept.owner !== self || kept.entries.length !== seq)
        return fail({ _tag: "Fenced", run })
      if (head !== undefined) kept.head = constant(head)
      grow(kept, entries, clock.currentTimeMillisUnsafe())
      return Effect.void
    })

  const listener = (run: string): Listener => {
    const { head, take } = heading()
    let kept: Kept | undefined
    return (event) => {
      if (isOver || isTransient(event)) return
      const entry: Entry = { type: "event", event }
      take(entry, run)
      if (kept === undefined) {
        kept = own(run, runs.get(run))
        kept.head = head
      }
      if (event.type === "run-finished" && event.runId === run) {
        const { calls, costUsd } = event.spend
        const last = head()
        // A function without a scope of its own, so that the recorder of the head is released.
        kept.head = constant(last && { ...last, calls, costUsd })
        kept.owner = undefined
      }
      grow(kept, [entry], event.at)
    }
  }

  const summaryOf = (
    run: string,
    { bytes, changedAt, entries, head, owner }: Kept,
    now: number
  ): Summary | undefined => {
    const known = head()
    return (
      known && {
        ...known,
        run,
        bytes,
        changedAt,
        ageMillis: Math.max(0, now - changedAt),
        length: entries.length,
        owner: owner?.name
      }
    )
  }

  const find = (run: string) =>
    Effect.clockWith((clock) => {
      const kept = runs.get(run)
      return Effect.succeed(kept && summaryOf(run, kept, clock.currentTimeMillisUnsafe()))
    })

  const list = ({ after, caller, limit, request }: Query = {}) =>
    Effect.clockWith((clock) => {
      const now = clock.currentTimeMillisUnsafe()
      const before = after === undefined ? Number.POSITIVE_INFINITY : (runs.get(after)?.number ?? 0)
      const isMeant = (head: Head | undefined) =>
        (caller === undefined || head?.caller === caller) && (request === undefined || head?.request === request)
      const listed = [...runs]
        .filter(([, { head, number }]) => number < before && isMeant(head()))
        .sort(([, left], [, right]) => right.number - left.number)
        .flatMap(([run, kept]) => summaryOf(run, kept, now) ?? [])
      return Effect.succeed(listed.slice(0, limit))
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
    lengths: (names) => Effect.sync(() => names.map((run) => runs.get(run)?.entries.length ?? 0)),
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
