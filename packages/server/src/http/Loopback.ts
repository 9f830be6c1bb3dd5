/**
 * What a server without keys takes: requests of programs on this machine. A page in a browser is none, wherever it comes
 * from, and neither is a name that somebody has pointed at this machine.
 */
import { ApiError } from "../wire/ApiError.ts"
import type { Headers } from "../wire/Choice.ts"

/** Whether a host is this machine by its own names: with a port or without. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\]|::1)(:\d+)?$/i.test(host)

const originHost = (origin: string): string => /^https?:\/\/(.+)$/i.exec(origin)?.[1] ?? origin

/** Why a request is not taken; `undefined` where it is. */
export const refusal = ({ host, origin }: Headers): ApiError | undefined => {
  const isOurs = (host === undefined || isLoopback(host)) && (origin === undefined || isLoopback(originHost(origin)))
  return isOurs
    ? undefined
    : new ApiError({
        kind: "permission",
        message:
          "This server has no keys, so it answers programs on its own machine alone, by the names localhost and 127.0.0.1. Make a key for others."
      })
}
