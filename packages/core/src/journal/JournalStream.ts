/**
 * The entries of a run as a stream. It is separate from `Journal` so that programs that do not stream do not load
 * Effect's streams.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Journal from "./Journal.ts"

/**
 * The entries of a run from a sequence number on, as they are written, up to its end.
 *
 * **Details**
 *
 * It polls every 100 milliseconds, or every `everyMillis`, so it follows runs of other processes, too. If the run has
 * ended before `from`, the stream ends at once.
 */
export const follow = (
  journal: Journal.Journal,
  run: string,
  options: { readonly from?: number | undefined; readonly everyMillis?: number | undefined } = {}
): Stream.Stream<Journal.Entry, Journal.JournalError> => {
  const { everyMillis = 100, from = 0 } = options
  /** A later read has no entry that shows the end. */
  const isOver =
    from === 0
      ? Effect.succeed(false)
      : Effect.map(journal.find(run), (found) => found?.ending !== undefined && found.length <= from)
  const look = (next: number): Stream.Stream<Journal.Entry, Journal.JournalError> =>
    Stream.unwrap(
      Effect.map(journal.read(run, next), (entries) => {
        const read = Stream.fromIterable(entries)
        if (Journal.isEnded(run, entries)) return read
        const later = Stream.unwrap(Effect.map(Effect.sleep(everyMillis), () => look(next + entries.length)))
        return Stream.concat(read, later)
      })
    )
  return Stream.unwrap(Effect.map(isOver, (isOver) => (isOver ? Stream.empty : look(from))))
}
