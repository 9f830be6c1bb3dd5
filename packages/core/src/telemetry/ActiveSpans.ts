/** Activates the span of the current part of a run while user code is running. */
import * as Effect from "effect/Effect"
import { unheard } from "../Callback.ts"
import type { Item, Listener } from "../events/RunEvent.ts"

/** A part of a run that has a span. */
export type Part =
  | { readonly type: "run"; readonly runId: string }
  | { readonly type: "round"; readonly runId: string }
  | { readonly type: "step"; readonly runId: string; readonly step: number; readonly item?: Item | undefined }
  /** A call that is being sent. Its span starts now. */
  | {
      readonly type: "call"
      readonly runId: string
      readonly by: "policy" | "step" | "critic" | "check"
      readonly step?: number | undefined
      readonly item?: Item | undefined
      readonly worker: string
    }
  | {
      readonly type: "tool"
      readonly runId: string
      readonly step: number
      readonly item?: Item | undefined
      readonly turn: number
      readonly index: number
    }

/** Runs effects within the span of a part of a run. */
export interface ActiveSpans {
  readonly within: <A, E, R>(part: Part, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

const known = new WeakMap<Listener, ActiveSpans>()

/** Associates a listener with its spans, so that a run with this listener executes within them. */
export const register = (listener: Listener, spans: ActiveSpans): void => void known.set(listener, spans)

/** Returns the spans associated with a listener, or `undefined` if it does not create any. */
export const spansOf = (listener: Listener | undefined): ActiveSpans | undefined =>
  listener === undefined ? undefined : known.get(listener)

/** Runs an effect within the span of a part of a run. */
export const within = <A, E, R>(
  spans: ActiveSpans | undefined,
  part: Part,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  // Recorders written in plain JavaScript may be outdated and support only events.
  typeof spans?.within === "function" ? insideOf(spans, part, effect) : effect

/** Runs an effect within a span. If a user-supplied recorder throws, the effect runs without the span. */
const insideOf = <A, E, R>(spans: ActiveSpans, part: Part, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  try {
    const inside: unknown = spans.within(part, effect)
    if (Effect.isEffect(inside)) return inside as Effect.Effect<A, E, R>
    unheard(inside)
  } catch {
    // The recorder's listener already reports the problem.
  }
  return effect
}
