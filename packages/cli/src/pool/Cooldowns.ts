/** Provider cooldowns, as reported by a running server or requested by a vendor. */
import type { Worker, WorkerErrorReason } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import { type Failure, failed, messageOf, usage } from "../invocation/Failure.ts"

/** A provider that is temporarily not called. */
export interface Cooldown {
  /** The worker's provider, or the worker's id if it has no provider. */
  readonly provider: string
  readonly because: "rate-limited" | "failing"
  /** Time of the next trial call, in ISO 8601 format. */
  readonly until: string
  /** Remaining time, in milliseconds. */
  readonly millis: number
  /** The source of the cooldown: a running server, or the vendor in its response to this check. */
  readonly by: "server" | "vendor"
}

/** Returns the provider of a worker. */
export const providerOf = ({ id, provider = id }: Worker): string => provider

/** Returns the cooldown requested by a failed call, or `undefined` if the vendor specified no time. */
export const asked = (worker: Worker, reason: WorkerErrorReason, nowMillis: number): Cooldown | undefined => {
  if (reason._tag !== "RateLimited" && reason._tag !== "Overloaded") return undefined
  const { retryAfterMillis: millis } = reason
  if (millis === undefined || millis <= 0) return undefined
  return {
    provider: providerOf(worker),
    because: reason._tag === "RateLimited" ? "rate-limited" : "failing",
    until: new Date(nowMillis + millis).toISOString(),
    millis,
    by: "vendor"
  }
}

/** Timeout for a server's health endpoint, in milliseconds. */
const patienceMillis = 5_000

const mostShown = 1_000

const cooldownOf = (value: unknown, nowMillis: number): ReadonlyArray<Cooldown> => {
  if (typeof value !== "object" || value === null) return []
  const { because, provider, until } = value as { readonly [name: string]: unknown }
  const at = typeof until === "string" ? Date.parse(until) : Number.NaN
  if (typeof provider !== "string" || Number.isNaN(at)) return []
  if (because !== "rate-limited" && because !== "failing") return []
  return [{ provider, because, until: new Date(at).toISOString(), millis: Math.max(0, at - nowMillis), by: "server" }]
}

const addressOf = (server: string): URL | undefined => {
  const text = server.includes("://") ? server : `http://${server}`
  return /^https?:/.test(text) && URL.canParse(text) ? new URL("/health/ready", text) : undefined
}

/** Returns the cooldowns reported by a running `divisi serve`. Fails if the server does not respond. */
export const ofServer = (server: string): Effect.Effect<ReadonlyArray<Cooldown>, Failure> => {
  const url = addressOf(server)
  if (url === undefined)
    return Effect.fail(usage(`--server: "${server}" is not a valid address. Use the form http://127.0.0.1:8080.`))
  const isNone = `Cannot reach divisi serve at ${url.origin}`
  return Effect.tryPromise({
    try: async () => {
      const response = await fetch(url, { signal: AbortSignal.timeout(patienceMillis), redirect: "error" })
      const health = (await response.json()) as { readonly status?: unknown; readonly closed?: unknown } | null
      if (typeof health?.status !== "string")
        throw new Error("the response is not from the health endpoint of divisi serve")
      const closed = Array.isArray(health.closed) ? health.closed.slice(0, mostShown) : []
      return closed.flatMap((one) => cooldownOf(one, Date.now()))
    },
    catch: (error) => {
      // `fetch` gives the reason only in the cause of its error.
      const { cause = error } = error as Error
      return failed(`${isNone}: ${messageOf(cause)}. Start it, or omit --server.`)
    }
  })
}
