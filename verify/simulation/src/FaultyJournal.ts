/** A journal for one process, based on memory shared with others, with a fault at one of its writes. */
import { Journal, Seed } from "@divisi/core"
import * as Effect from "effect/Effect"

/** The fault at a write. */
export type Fault =
  /** The process is killed: none of its work continues. */
  | "crash-before"
  | "crash-after"
  /** The write is refused, or made and its reply is lost. */
  | "refused"
  | "reply-lost"
  /** It reaches the store twice. */
  | "twice"
  /** The process is paused until another one has taken over, and then continues. */
  | "stall"

/** Every fault. */
export const faults: ReadonlyArray<Fault> = ["crash-before", "crash-after", "refused", "reply-lost", "twice", "stall"]

/** The journal of a process. */
export interface FaultyJournal {
  readonly journal: Journal.Journal
  /** Whether the process runs, is dead or is paused. */
  readonly state: () => "goes-on" | "dead" | "still"
  /** Continues a paused process. */
  readonly wake: () => void
  /** Marks the process as ended for all others: its claims become free. */
  readonly end: () => void
}

/** A written entry, and the process that wrote it. */
export interface Written {
  readonly epoch: number
  readonly entries: number
}

const refused = new Journal.JournalError({ journal: "faulty", reason: { _tag: "Unwritable", detail: "a fault" } })

/** Makes the journal of one process. The fault happens at the write with this number, counted from 1. */
export const make = (
  memory: Journal.Memory,
  draw: Seed.Draw,
  fault: { readonly what: Fault; readonly at: number } | undefined,
  log: Array<Written>
): FaultyJournal => {
  const store = Journal.makeMemory(memory)
  let writes = 0
  let state: "goes-on" | "dead" | "still" = "goes-on"
  let wake = () => {}

  const write = (batch: Journal.Batch) =>
    Effect.tap(store.append(batch), () =>
      Effect.sync(() => log.push({ epoch: batch.epoch, entries: batch.entries.length }))
    )

  const die = Effect.suspend(() => {
    state = "dead"
    return Effect.never
  })

  const stall = Effect.callback<void>((resume) => {
    state = "still"
    wake = () => {
      state = "goes-on"
      resume(Effect.void)
    }
  })

  const at = (what: Fault, batch: Journal.Batch): Effect.Effect<void, Journal.JournalError> => {
    switch (what) {
      case "crash-before":
        return die
      case "crash-after":
        return Effect.andThen(write(batch), die)
      case "refused":
        return Effect.fail(refused)
      case "reply-lost":
        return Effect.andThen(write(batch), Effect.fail(refused))
      case "twice":
        return Effect.andThen(write(batch), Effect.ignore(write(batch)))
      case "stall":
        return Effect.andThen(stall, write(batch))
    }
  }

  const append: Journal.Journal["append"] = (batch) =>
    Effect.suspend(() => {
      writes += 1
      const written = writes === fault?.at ? at(fault.what, batch) : write(batch)
      return Seed.chance(draw, 0.4) ? Effect.andThen(Effect.sleep(Seed.below(draw, 10)), written) : written
    })

  return {
    journal: { ...store, append },
    state: () => state,
    wake: () => wake(),
    end: store.end
  }
}
