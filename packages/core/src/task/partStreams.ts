/**
 * Answers that arrive in pieces, as Effect's streams. It is loaded with the first of them: a program whose workers
 * answer whole starts a quarter earlier without streams, and a bundle contains only the used parts.
 */
import type * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { errorOfThrown } from "./thrownError.ts"
import type { PartStream, WorkerError, WorkerPart } from "./Worker.ts"

export const isStream = (value: unknown): value is PartStream => Stream.isStream(value)

/** Processes the parts of an answer; parts that arrive together are passed together. */
export const forEach = (
  parts: PartStream,
  take: (parts: ReadonlyArray<WorkerPart>) => Effect.Effect<void, WorkerError>
): Effect.Effect<void, WorkerError> => Stream.runForEachArray(parts, take)

/** Returns the parts of an async iterable, and the last part, which is made after they have arrived. */
export const fromIterable = <A>(
  worker: string,
  iterable: AsyncIterable<A>,
  part: (piece: A) => WorkerPart,
  last: () => WorkerPart,
  onEnd: Effect.Effect<void>
): PartStream =>
  Stream.fromAsyncIterable(iterable, (error) => errorOfThrown(worker, error)).pipe(
    Stream.map(part),
    Stream.concat(Stream.suspend(() => Stream.succeed(last()))),
    Stream.onExit(() => onEnd)
  )
