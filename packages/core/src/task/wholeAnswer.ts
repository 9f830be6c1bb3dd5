/**
 * Answers that come whole, as most functions give them: a stream of parts that who receives it may take at once, without
 * the machinery of a stream. For everybody else it is a stream like any other.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { WorkerError, WorkerPart } from "./Worker.ts"

type Parts = Stream.Stream<WorkerPart, WorkerError>

/** All parts of an answer, or the stream that they come in after all. */
export type Whole = Effect.Effect<ReadonlyArray<WorkerPart> | Parts, WorkerError>

const key = Symbol("@divisi/core/wholeAnswer")

/** A stream of the parts that an effect gives. What is made of it by `Stream`'s functions is an ordinary stream. */
export const fromWhole = (whole: Whole): Parts => {
  const parts = Stream.unwrap(Effect.map(whole, (given) => (isParts(given) ? Stream.fromArray(given) : given)))
  return Object.assign(parts, { [key]: whole })
}

/** What {@link fromWhole} was made of; `undefined` for any other stream. */
export const wholeOf = (parts: Parts): Whole | undefined => (parts as { readonly [key]?: Whole })[key]

/** Whether an answer is there, and no stream. */
export const isParts = (given: ReadonlyArray<WorkerPart> | Parts): given is ReadonlyArray<WorkerPart> =>
  Array.isArray(given)
