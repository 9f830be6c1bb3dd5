/**
 * The numbers of calls that one caller (a policy, a critic, a check) may make at the same time.
 *
 * Calls are numbered in the order in which they start. If calls start concurrently, a resumed run may start them in
 * another order, because recorded answers arrive sooner than others. It therefore gives a call the number under which
 * the same request is recorded, and a number beyond the record if it is not recorded.
 */
import * as Effect from "effect/Effect"
import { fingerprint } from "../run/fingerprint.ts"
import type { Ask, CallContext } from "./call.ts"

/** The caller of calls that are to be numbered. */
export type CallPlace = Pick<Ask, "by" | "round" | "step" | "item">

/** A call without its number. */
export type Unnumbered = CallPlace & Pick<Ask, "worker" | "request">

/** The record of the calls of an earlier process. */
export interface Recalled {
  /** The number of calls of a caller. */
  readonly count: (of: CallPlace) => number
  /** Whether calls of the caller were concurrent. */
  readonly isConcurrent: (of: CallPlace) => boolean
  /**
   * Whether the record has this call, and it was not made yet. `request` is the digest of the request; `isNext` is true
   * if the call has the number that it would have in the order of starts.
   */
  readonly isSame: (call: Unnumbered & Pick<Ask, "sample" | "turn">, request: string, isNext: boolean) => boolean
}

/** The number of a call, and what its record needs. */
export type Number = Pick<Ask, "turn" | "sample" | "isNew"> & {
  /** The digest of the request; present if calls of the caller are concurrent. */
  readonly digest: string | undefined
}

/** Makes the calls of one caller, each with its number. `first` is the number of the first. */
export interface Numbering {
  readonly call: <A, E>(
    asked: Pick<Ask, "worker" | "request">,
    make: (number: Number) => Effect.Effect<A, E>,
    /** The number, if the caller numbers its calls. */
    own?: number
  ) => Effect.Effect<A, E>
}

/** A digest of a request. Tools are not part of it, as their lists change. */
const digestOf = ({ request: { tools: _, ...request }, worker }: Pick<Ask, "worker" | "request">): string =>
  fingerprint(JSON.stringify([worker.id, request]))

/** Numbers the calls of one caller from `first`. */
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
    // The record of a caller whose calls follow each other has another request: the run must not continue with it.
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
