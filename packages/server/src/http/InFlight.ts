/** Limits the bytes of request bodies in flight, in total and per caller. */
import { ApiError } from "../wire/ApiError.ts"
import type { Limits } from "../wire/Limits.ts"

/** Tracks the bytes of one request in flight. */
export interface Held {
  /** Adds bytes to the request. Returns an error if this would exceed a limit. */
  readonly take: (owner: string, bytes: number) => ApiError | undefined
  /** Stops counting the bytes received until now. The request can receive more. */
  readonly clear: () => void
  /** Stops tracking the request. Bytes that still arrive on its connection are ignored. */
  readonly release: () => void
}

/** Requests up to this size in bytes have a separate quota, so that large requests cannot crowd them out. */
const smallBytes = 64 * 2 ** 10

const retryAfterMillis = 1_000

/** Tracks the bytes in flight for a server. */
export interface InFlight {
  /** Starts tracking a request. */
  readonly open: () => Held
  /** Returns the total number of bytes in flight. */
  readonly bytes: () => number
}

/** Creates the tracker for a server. */
export const make = ({ callerInFlightBytes, inFlightBytes }: Limits): InFlight => {
  /** Bytes of large requests in flight, by caller. */
  const callers = new Map<string, number>()
  let large = 0
  let small = 0

  const refusal = (owner: string, bytes: number): ApiError | undefined => {
    if ((callers.get(owner) ?? 0) + bytes > callerInFlightBytes) {
      const message = `This API key may have at most ${callerInFlightBytes} bytes of requests in flight. Retry when some are answered.`
      return new ApiError({ kind: "rate-limit", message, retryAfterMillis })
    }
    return large + bytes > inFlightBytes ? full : undefined
  }

  const open = (): Held => {
    let caller = ""
    let held = 0
    let isOver = false

    const clear = (): void => {
      if (held <= smallBytes) small -= held
      else {
        large -= held
        const left = (callers.get(caller) ?? 0) - held
        if (left > 0) callers.set(caller, left)
        else callers.delete(caller)
      }
      held = 0
    }

    const release = (): void => {
      clear()
      isOver = true
    }

    const take = (owner: string, bytes: number): ApiError | undefined => {
      if (isOver) return undefined
      const next = held + bytes
      const isLarge = next > smallBytes
      const refused = isLarge
        ? refusal(owner, held > smallBytes ? bytes : next)
        : small + bytes > inFlightBytes
          ? full
          : undefined
      if (refused !== undefined) return refused
      clear()
      caller = owner
      held = next
      if (!isLarge) small += held
      else {
        large += held
        callers.set(owner, (callers.get(owner) ?? 0) + held)
      }
      return undefined
    }

    return { take, clear, release }
  }

  return { open, bytes: () => large + small }
}

const full = new ApiError({
  kind: "overloaded",
  message: "The server has too many request bytes in flight. Retry in a moment.",
  retryAfterMillis
})
