/** The bytes of requests in flight: of all callers together, and of each. */
import { ApiError } from "../wire/ApiError.ts"
import type { Limits } from "./Limits.ts"

/** A request in flight. */
export interface Held {
  /** Adds bytes of a caller's request. Returns an error if there are too many in flight. */
  readonly take: (owner: string, bytes: number) => ApiError | undefined
  /** The bytes so far are no longer in flight; more may come. */
  readonly clear: () => void
  /** The request is over. Bytes that a connection still delivers count for nothing, as there is no one to release them. */
  readonly release: () => void
}

/** Requests up to this size have a share of their own, so that large ones cannot keep them out. */
const smallBytes = 64 * 2 ** 10

const retryAfterMillis = 1_000

/** The requests of a server. */
export interface InFlight {
  /** Begins to count a request. */
  readonly open: () => Held
  /** The bytes of all requests in flight. */
  readonly bytes: () => number
}

/** Counts the requests of a server. */
export const make = ({ callerInFlightBytes, inFlightBytes }: Limits): InFlight => {
  /** Of large requests, by their callers. */
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
