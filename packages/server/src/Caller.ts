/** The caller: the owner of a request, and what it may do. */
import type { Budget } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Loopback from "./http/Loopback.ts"
import * as Origins from "./http/Origins.ts"
import type { ApiError } from "./wire/ApiError.ts"
import type { Headers } from "./wire/Choice.ts"

/** The owner of a request. */
export interface Caller {
  /** The name of the caller's key. The caller owns its runs: no other caller can send tool results to them. */
  readonly owner: string
  /** The workers that it may use. Default: all. */
  readonly workers?: ReadonlyArray<string> | undefined
  /** The models that it may request. Default: all. */
  readonly models?: ReadonlyArray<string> | undefined
  /** Additional rights (`Rights.all`). Default: none. */
  readonly rights?: ReadonlyArray<string> | undefined
  /** The account that its runs are charged to. */
  readonly ledger?: Budget.Ledger | undefined
  /**
   * The account and its ancestors, if any of them has limits. If one is exhausted, requests are refused without being
   * read.
   */
  readonly accounts?: ReadonlyArray<Budget.Ledger> | undefined
  /** Called after each request with the tokens used, and the time in milliseconds since 1970. */
  readonly onUsed?: ((tokens: number, at: number) => void) | undefined
}

/** Returns the caller of a request by its headers. Fails if access is denied. */
export type Authenticate = (headers: Headers) => Effect.Effect<Caller, ApiError>

/** Whether an address is a loopback address. */
export const isThisMachine = (host: string): boolean => Loopback.isLoopback(host.includes(":") ? `[${host}]` : host)

/**
 * Authenticates programs on this machine without a key, all as one caller.
 *
 * **Details**
 *
 * Refuses requests from web pages (`Origin`, `Sec-Fetch-Site`), requests forwarded by a proxy (`Forwarded`,
 * `X-Forwarded-For`, `Via` and similar), and requests to a host other than `localhost` or `127.0.0.1`. `origins` lists
 * the web pages that are allowed; with `ownPages`, pages served by this server are also allowed. The caller may rate as
 * a grader, like `divisi rate` on the same machine.
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

/** Returns the key of a request: a bearer token (OpenAI's clients) or `x-api-key` (Anthropic's clients). */
export const tokenOf = (headers: Headers): string | undefined =>
  /^bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? "")?.[1] ?? headers["x-api-key"]
