/**
 * Streams the entries of runs. In a separate module, so that programs that do not stream do not load Effect's streams.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Options from "../Options.ts"
import * as Journal from "./Journal.ts"

const pollMillis = 100

/** Waits until a run's number of entries differs from `length`, and returns the new number. */
type Changed = (run: string, length: number) => Effect.Effect<number, Journal.JournalError>

/** A stream that is waiting for new entries. */
interface Waiting {
  readonly run: string
  readonly length: number
  readonly wake: (length: Effect.Effect<number, Journal.JournalError>) => void
}

/** Polls a journal on behalf of all waiting streams. Polling stops when no stream is waiting. */
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

/** The shared poller for each journal. */
const polls = new WeakMap<Journal.Journal, Changed>()

const changedIn = (journal: Journal.Journal): Changed => {
  const changed = polls.get(journal) ?? polling(journal)
  polls.set(journal, changed)
  return changed
}

/**
 * Streams a run's entries as they are written, from a given sequence number until the run ends.
 *
 * **Details**
 *
 * All streams on a journal share one poller with an interval of 100 ms, which also detects entries written by other
 * processes. The stream ends immediately if the run ended before `from`, or if the run is removed.
 */
export const follow = (
  journal: Journal.Journal,
  run: string,
  options: { readonly from?: number | undefined } = {}
): Stream.Stream<Journal.Entry, Journal.JournalError> => {
  Options.check("JournalStream.follow", options, { from: Options.whole(0) })
  const { from = 0 } = options
  const changed = changedIn(journal)

  /** Whether the run ended before entry `next`, in which case no later entry would end the stream. */
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
