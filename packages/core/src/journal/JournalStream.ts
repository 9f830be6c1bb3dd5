/**
 * The entries of a run as a stream. This module is separate from `Journal`, so that programs that do not stream do not
 * load Effect's streams.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Journal from "./Journal.ts"

const pollMillis = 100

/** Waits until the number of entries of a run is not `length`, and returns it. */
type Changed = (run: string, length: number) => Effect.Effect<number, Journal.JournalError>

/** A stream that waits for a change. */
interface Waiting {
  readonly run: string
  readonly length: number
  readonly wake: (length: Effect.Effect<number, Journal.JournalError>) => void
}

/** Polls a journal on behalf of all waiting streams, and stops when none is waiting. */
const polling = (journal: Journal.Journal): Changed => {
  const waiting = new Set<Waiting>()
  let isPolling = false

  const look = Effect.suspend(() => {
    const asked = [...waiting]
    const runs = [...new Set(asked.map(({ run }) => run))]
    const lengths = runs.length === 0 ? Effect.succeed([]) : journal.lengths(runs)
    return Effect.matchCause(lengths, {
      onFailure: (cause) => {
        for (const { wake } of asked) wake(Effect.failCause(cause))
      },
      onSuccess: (lengths) => {
        const lengthOf = new Map(runs.map((run, at) => [run, lengths[at] ?? 0]))
        for (const { length, run, wake } of asked) {
          const now = lengthOf.get(run)!
          if (now !== length) wake(Effect.succeed(now))
        }
      }
    })
  })

  const poll: Effect.Effect<void> = Effect.suspend(() => {
    isPolling = waiting.size > 0
    return isPolling ? Effect.andThen(Effect.delay(look, pollMillis), poll) : Effect.void
  })

  return (run, length) =>
    Effect.callback((resume) => {
      const one: Waiting = {
        run,
        length,
        wake: (news) => {
          waiting.delete(one)
          resume(news)
        }
      }
      waiting.add(one)
      if (!isPolling) Effect.runFork(poll)
      return Effect.sync(() => void waiting.delete(one))
    })
}

/** The poll of each followed journal. */
const polls = new WeakMap<Journal.Journal, Changed>()

const changedIn = (journal: Journal.Journal): Changed => {
  const changed = polls.get(journal) ?? polling(journal)
  polls.set(journal, changed)
  return changed
}

/**
 * Streams the entries of a run as they are written, from a sequence number to the run's end.
 *
 * **Details**
 *
 * All streams of a journal share one poll every 100 milliseconds, which also follows runs of other processes. If the run
 * has ended before `from`, or is removed, the stream ends.
 */
export const follow = (
  journal: Journal.Journal,
  run: string,
  options: { readonly from?: number | undefined } = {}
): Stream.Stream<Journal.Entry, Journal.JournalError> => {
  const { from = 0 } = options
  const changed = changedIn(journal)

  /** Whether the run has ended before `next`. No later entry would show it. */
  const isOver = (next: number) =>
    Effect.map(journal.find(run), (found) => found?.ending !== undefined && found.length <= next)

  const entriesFrom = (next: number, seen: number): Stream.Stream<Journal.Entry, Journal.JournalError> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const entries = yield* journal.read(run, next)
        const read = Stream.fromIterable(entries)
        if (Journal.isEnded(run, entries)) return read
        if (entries.length === 0 && next > 0 && (yield* isOver(next))) return Stream.empty
        const length = entries.length === 0 ? seen : next + entries.length
        const later = Effect.map(changed(run, length), (now) =>
          now < length ? Stream.empty : entriesFrom(next + entries.length, now)
        )
        return Stream.concat(read, Stream.unwrap(later))
      })
    )
  return entriesFrom(from, 0)
}
