/**
 * Numbers the calls of a caller (a policy, critic or check) that may make calls concurrently.
 *
 * Calls are numbered in the order in which they start. When a run is resumed, concurrent calls may start in a different
 * order, because recorded answers arrive sooner. Each call therefore receives the number under which the same request
 * was recorded, or a number beyond the record if it was not.
 */
import * as Effect from "effect/Effect"
import { fingerprint } from "../run/fingerprint.ts"
import type { Ask, CallContext } from "./call.ts"

/** Identifies the caller whose calls are numbered. */
export type CallPlace = Pick<Ask, "by" | "round" | "step" | "item">

/** A call before it is assigned a number. */
export type Unnumbered = CallPlace & Pick<Ask, "worker" | "request">

/** Looks up calls recorded by an earlier process. */
export interface Recalled {
  /** Returns the number of calls recorded for a caller. */
  readonly count: (of: CallPlace) => number
  /** Whether a caller's recorded calls were concurrent. */
  readonly isConcurrent: (of: CallPlace) => boolean
  /**
   * Whether this call is recorded and has not been made again yet. `request` is the request's digest; `isNext` is
   * whether the call has the number that it would have in the order of starts.
   */
  readonly isSame: (call: Unnumbered & Pick<Ask, "sample" | "turn">, request: string, isNext: boolean) => boolean
}

/** A call's number, and the data that its record needs. */
export type Number = Pick<Ask, "turn" | "sample" | "isNew"> & {
  /** Digest of the request. Set if the caller's calls are concurrent. */
  readonly digest: string | undefined
}

/** Makes a caller's calls, assigning a number to each. */
export interface Numbering {
  readonly call: <A, E>(
    asked: Pick<Ask, "worker" | "request">,
    make: (number: Number) => Effect.Effect<A, E>,
    /** The number to use, if the caller numbers its calls itself. */
    own?: number
  ) => Effect.Effect<A, E>
}

/** Returns a digest of a request. Tools are excluded, because the list of tools may change. */
const digestOf = ({ request: { tools: _, ...request }, worker }: Pick<Ask, "worker" | "request">): string =>
  fingerprint(JSON.stringify([worker.id, request]))

/** Creates the numbering for a caller's calls, starting at `first`. */
export const numbering = (
  { recalled }: CallContext,
  place: CallPlace,
  sampleOf: (turn: number) => number,
  first = 0
): Numbering => {
  const used = new Set<number>()
  let inFlight = 0
  let wasConcurrent = false

  const from = (least: number): number => {
    let turn = least
    while (used.has(turn)) turn++
    return turn
  }

  const numberOf = (asked: Pick<Ask, "worker" | "request">, own: number | undefined): Number => {
    wasConcurrent ||= inFlight > 0 || recalled?.isConcurrent(place) === true
    const digest = wasConcurrent || recalled !== undefined ? digestOf(asked) : undefined
    const reported = wasConcurrent ? digest : undefined
    const next = own ?? from(first)
    if (recalled === undefined) return { turn: next, sample: sampleOf(next), digest: reported, isNew: false }
    const call = { ...place, ...asked }
    const count = recalled.count(place)
    const last = own ?? Math.max(next, count - 1)
    for (let turn = next; turn <= last; turn = from(turn + 1)) {
      const sample = sampleOf(turn)
      if (recalled.isSame({ ...call, turn, sample }, digest!, turn === next))
        return { turn, sample, digest: reported, isNew: false }
    }
    // If a sequential caller's request differs from the recorded one, the call keeps its number, so that the mismatch
    // is detected.
    const turn = wasConcurrent && own === undefined ? from(Math.max(next, count)) : next
    return { turn, sample: sampleOf(turn), digest: reported, isNew: wasConcurrent }
  }

  return {
    call: (asked, make, own) =>
      Effect.suspend(() => {
        const number = numberOf(asked, own)
        used.add(number.turn)
        inFlight += 1
        return Effect.ensuring(
          make(number),
          Effect.sync(() => {
            inFlight -= 1
          })
        )
      })
  }
}
