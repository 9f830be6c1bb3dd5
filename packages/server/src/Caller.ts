/** The caller: what a server knows of the owner of a request, and what that owner may do. */
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
  /** The workers that may work for it; all when absent. */
  readonly workers?: ReadonlyArray<string> | undefined
  /** The models that it may name; all when absent. */
  readonly models?: ReadonlyArray<string> | undefined
  /** Further rights (`Rights.all`); none by default. */
  readonly rights?: ReadonlyArray<string> | undefined
  /** The account that its runs are charged to. */
  readonly ledger?: Budget.Ledger | undefined
  /** The account and all above it, if any of them has limits: a request of a caller with a spent one is not read. */
  readonly accounts?: ReadonlyArray<Budget.Ledger> | undefined
  /** Called after each of its requests with the tokens used, and the time in milliseconds since 1970. */
  readonly onUsed?: ((tokens: number, at: number) => void) | undefined
}

/** Finds the caller of a request by its headers; fails if access is denied. */
export type Authenticate = (headers: Headers) => Effect.Effect<Caller, ApiError>

/** Whether an address is one that this machine alone reaches. */
export const isThisMachine = (host: string): boolean => Loopback.isLoopback(host.includes(":") ? `[${host}]` : host)

/**
 * Lets in programs on this machine without a key, all as one caller.
 *
 * **Details**
 *
 * Requests of web pages (`Origin`, `Sec-Fetch-Site`), requests that a proxy passes on (`Forwarded`, `X-Forwarded-For`,
 * `Via` and the like), and requests to another name than `localhost` or `127.0.0.1` are refused. `origins` names the
 * pages that are let in; with `ownPages`, so are the pages that this server itself sends. The caller may rate as a grader, as `divisi rate` on the same machine may.
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

/** The key of a request: a bearer token, as OpenAI's clients send it, or `x-api-key`, as Anthropic's do. */
export const tokenOf = (headers: Headers): string | undefined =>
  /^bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? "")?.[1] ?? headers["x-api-key"]
