/**
 * Numbers the calls of a caller (a policy, critic or check) that may make calls concurrently.
 *
 * Calls are numbered in the order in which they start. When a run is resumed, concurrent calls may start in a different
 * order, because recorded answers arrive sooner. Each call therefore receives the number under which the same request
 * was recorded, or a number beyond the record if it was not.
 *
 * If a request differs from the recorded one, either a sequential caller has changed, or a concurrent caller starts its
 * calls in another order. The call waits until another call shows that the caller is concurrent.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { FreeNumbers } from "../run/FreeNumbers.ts"
import { fingerprint } from "../run/fingerprint.ts"
import type { Ask, CallContext } from "./call.ts"

/** Identifies the caller whose calls are numbered. */
export type CallPlace = Pick<Ask, "by" | "round" | "step" | "item">

/** A call before it is assigned a number. */
export type Unnumbered = CallPlace & Pick<Ask, "worker" | "request">

/** The record of a caller's calls in an earlier process. */
export interface RecalledCalls {
  /** The number of calls. */
  readonly count: number
  /** The digests of the recorded requests by number, if calls of the caller were concurrent. */
  readonly requests: ReadonlyMap<number, string>
  /**
   * Whether this call is recorded and has not been made again yet. `request` is the request's digest; `isNext` is
   * whether the call has the number that it would have in the order of starts.
   */
  readonly isSame: (call: Unnumbered & Pick<Ask, "sample" | "turn">, request: string, isNext: boolean) => boolean
}

/** Returns the record of a caller's calls. */
export type Recalled = (of: CallPlace) => RecalledCalls

/** A call's number, and the data that its record needs. */
export type Number = Pick<Ask, "turn" | "sample" | "isNew"> & {
  /** Returns the digest of the request if the caller's calls are concurrent, as far as known when it is called. */
  readonly digest: () => string | undefined
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

/**
 * How long a call whose request differs from the recorded one waits for another call of its caller, in milliseconds.
 * After that, the caller counts as sequential, and the run ends with a `JournalMismatch` before it pays for the call.
 */
const otherCallMillis = 2_000

/** Returns a digest of a request. Tools are excluded, because the list of tools may change. */
const digestOf = ({ request: { tools: _, ...request }, worker }: Pick<Ask, "worker" | "request">): string =>
  fingerprint(JSON.stringify([worker.id, request]))

/** The numbers of the record that are not used yet. */
interface Unused {
  /** Returns the lowest number that is recorded with a request. Numbers with other digests are not examined. */
  readonly find: (digest: string, isRecorded: (turn: number) => boolean) => number | undefined
  readonly remove: (turn: number) => void
}

const unusedOf = ({ count, requests }: RecalledCalls, first: number, isFree: (turn: number) => boolean): Unused => {
  /**
   * Grouped by digest, in order. Numbers without a digest belong to calls that were stopped before their answer, which
   * only a journal records.
   */
  const byDigest = new Map<string | undefined, Set<number>>()
  for (let turn = first; turn < count; turn++) {
    if (!isFree(turn)) continue
    const digest = requests.get(turn)
    const same = byDigest.get(digest)
    if (same === undefined) byDigest.set(digest, new Set([turn]))
    else same.add(turn)
  }
  const lowest = (digest: string | undefined, isRecorded: (turn: number) => boolean) => {
    for (const turn of byDigest.get(digest) ?? []) if (isRecorded(turn)) return turn
    return Number.POSITIVE_INFINITY
  }
  return {
    find: (digest, isRecorded) => {
      const turn = Math.min(lowest(digest, isRecorded), lowest(undefined, isRecorded))
      return turn === Number.POSITIVE_INFINITY ? undefined : turn
    },
    remove: (turn) => {
      byDigest.get(requests.get(turn))?.delete(turn)
    }
  }
}

/** Creates the numbering for a caller's calls, starting at `first`. */
export const numbering = (
  { recalled }: CallContext,
  place: CallPlace,
  sampleOf: (turn: number) => number,
  first = 0
): Numbering => {
  const free = new FreeNumbers()
  let before: RecalledCalls | undefined
  let unused: Unused | undefined
  let inFlight = 0
  let wasConcurrent = false
  /** Completed once the caller is known to be concurrent. Defined if a call waits for it. */
  let concurrent: Deferred.Deferred<void> | undefined

  /** Returns the call's number, or `undefined` if it depends on whether the caller is concurrent (`isCertain`). */
  const numberOf = (
    asked: Pick<Ask, "worker" | "request">,
    own: number | undefined,
    isCertain: boolean
  ): Number | undefined => {
    const numbered = (turn: number, isNew: boolean): Number => ({
      turn,
      sample: sampleOf(turn),
      digest: () => (wasConcurrent ? digestOf(asked) : undefined),
      isNew
    })
    const next = own ?? free.from(first)
    if (before === undefined) return numbered(next, false)
    const digest = digestOf(asked)
    const { count, isSame } = before
    const call = { ...place, ...asked }
    const isRecorded = (turn: number, isNext = false) =>
      isSame({ ...call, turn, sample: sampleOf(turn) }, digest, isNext)
    // The next number may belong to a call that was withdrawn, so a concurrent call looks for its own answer first.
    if (isRecorded(next, !wasConcurrent)) return numbered(next, false)
    if (own === undefined) {
      unused ??= unusedOf(before, first, (turn) => free.from(turn) === turn)
      const found = unused.find(digest, isRecorded)
      if (found !== undefined) return numbered(found, false)
    }
    if (wasConcurrent && isRecorded(next, true)) return numbered(next, false)
    if (!isCertain && !wasConcurrent && own === undefined && next < count) return undefined
    // If a sequential caller's request differs from the recorded one, the call keeps its number, so that the mismatch
    // is detected.
    const turn = wasConcurrent && own === undefined ? free.from(Math.max(next, count)) : next
    return numbered(turn, wasConcurrent)
  }

  return {
    call: (asked, make, own) =>
      Effect.suspend(() => {
        before ??= recalled?.(place)
        wasConcurrent ||= inFlight > 0 || (before !== undefined && before.requests.size > 0)
        if (wasConcurrent && concurrent !== undefined) Deferred.doneUnsafe(concurrent, Effect.void)
        inFlight += 1
        const made = (number: Number) => {
          free.use(number.turn)
          unused?.remove(number.turn)
          return make(number)
        }
        const number = numberOf(asked, own, false)
        const held = () => {
          concurrent ??= Deferred.makeUnsafe<void>()
          const known = Effect.timeoutOrElse(Deferred.await(concurrent), {
            duration: otherCallMillis,
            orElse: () => Effect.void
          })
          return Effect.flatMap(known, () => made(numberOf(asked, own, true)!))
        }
        return Effect.ensuring(
          number === undefined ? held() : made(number),
          Effect.sync(() => {
            inFlight -= 1
          })
        )
      })
  }
}
