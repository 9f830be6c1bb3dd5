/**
 * Streamed answers, as Effect streams. This module is loaded on first use: without it, a program whose workers do not
 * stream starts 25 % faster, and bundles are smaller.
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

/**
 * Converts an async iterable to a stream of parts, followed by a last part that is computed after the others have
 * arrived.
 */
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
