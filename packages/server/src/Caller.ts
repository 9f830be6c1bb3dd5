/** Identifies the caller of a request and its permissions. */
import type { Budget } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Loopback from "./http/Loopback.ts"
import * as Origins from "./http/Origins.ts"
import type { ApiError } from "./wire/ApiError.ts"
import type { Headers } from "./wire/Choice.ts"

/** The authenticated caller of a request. */
export interface Caller {
  /** The name of the caller's key. Runs belong to this owner, and only this owner can send tool results to them. */
  readonly owner: string
  /** Ids of the workers that the caller may use. Default: all. */
  readonly workers?: ReadonlyArray<string> | undefined
  /** Names of the models that the caller may request. Default: all. */
  readonly models?: ReadonlyArray<string> | undefined
  /** Additional rights from `Rights.all`. Default: none. */
  readonly rights?: ReadonlyArray<string> | undefined
  /** The account charged for the caller's runs. */
  readonly ledger?: Budget.Ledger | undefined
  /**
   * The account and its ancestors, set if any of them has limits. If one is exhausted, requests are rejected before
   * their body is read.
   */
  readonly accounts?: ReadonlyArray<Budget.Ledger> | undefined
  /** Called after each request with the number of tokens used and the time, in milliseconds since the Unix epoch. */
  readonly onUsed?: ((tokens: number, at: number) => void) | undefined
}

/** Identifies the caller from the request headers. Fails with an `ApiError` if access is denied. */
export type Authenticate = (headers: Headers) => Effect.Effect<Caller, ApiError>

/** Whether a host is a loopback address. */
export const isThisMachine = (host: string): boolean => Loopback.isLoopback(host.includes(":") ? `[${host}]` : host)

/**
 * Returns an authenticator that accepts requests from programs on this machine without a key, and treats all of them as
 * the same caller.
 *
 * **Details**
 *
 * Rejects requests from web pages (`Origin`, `Sec-Fetch-Site`), requests forwarded by a proxy (`Forwarded`,
 * `X-Forwarded-For`, `Via` and similar), and requests to a host other than `localhost` or `127.0.0.1`. Web pages listed
 * in `origins` are allowed; `ownPages` also allows pages served by this server. The caller may submit ratings as a
 * grader, like `divisi rate` on the same machine.
 */
export const onThisMachine = (
  origins?: ReadonlyArray<string> | undefined,
  { ownPages = false }: { readonly ownPages?: boolean | undefined } = {}
): Authenticate => {
  const named = Origins.of(origins)
  return (headers) => {
    const refusal = Loopback.refusal(headers, named, ownPages)
    return refusal === undefined ? Effect.succeed({ owner: "local", rights: ["rate"] }) : Effect.fail(refusal)
  }
}

/** Returns the API key from the request headers: a bearer token (OpenAI clients) or `x-api-key` (Anthropic clients). */
export const tokenOf = (headers: Headers): string | undefined =>
  /^bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? "")?.[1] ?? headers["x-api-key"]
