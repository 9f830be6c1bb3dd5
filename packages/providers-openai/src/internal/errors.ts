/** The vendor's errors as ours: one pure function for every status, code and exception. */
import type { WorkerErrorReason } from "@tutti/core/Worker"
import { APIConnectionError, APIConnectionTimeoutError, APIError } from "openai"

type Tag = WorkerErrorReason["_tag"]

/** What an error says, whoever says it. */
interface Facts {
  readonly status?: number | undefined
  readonly code?: string | undefined
  readonly message: string
  readonly headers?: Headers | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Tags
// -------------------------------------------------------------------------------------------------------------------

/** Codes and types of OpenAI and of servers like it; they say more than the status. */
const tagOfCode: Readonly<Record<string, Tag>> = {
  insufficient_quota: "Quota",
  billing_hard_limit_reached: "Quota",
  billing_not_active: "Quota",
  rate_limit_exceeded: "RateLimited",
  server_is_overloaded: "Overloaded",
  slow_down: "Overloaded",
  vector_store_timeout: "Timeout",
  invalid_api_key: "Authentication",
  context_length_exceeded: "ContextTooLong",
  exceed_context_size_error: "ContextTooLong",
  content_filter: "ContentFiltered",
  content_policy_violation: "ContentFiltered",
  invalid_prompt: "ContentFiltered",
  bio_policy: "ContentFiltered",
  cyber_policy: "ContentFiltered",
  misalignment_policy_violation: "ContentFiltered"
}

const tagOfStatus: Readonly<Record<number, Tag>> = {
  401: "Authentication",
  402: "Quota",
  403: "Authentication",
  408: "Timeout",
  409: "Overloaded",
  429: "RateLimited",
  504: "Timeout",
  524: "Timeout"
}

const contextTooLong = /context (?:length|window|size)|maximum (?:context|model) length|input is too long/i
const flagged = /\b(?:flagged|moderation)\b/i

/** An error in a stream has no status; what is not known by its code is then the vendor's fault. */
const tagOf = ({ code, message, status = 500 }: Facts): Tag => {
  const known = code === undefined ? undefined : tagOfCode[code]
  if (known !== undefined) return known
  if (status === 400 && contextTooLong.test(message)) return "ContextTooLong"
  if (status === 403 && flagged.test(message)) return "ContentFiltered"
  const named = tagOfStatus[status]
  if (named !== undefined) return named
  if (status >= 500) return "Overloaded"
  return status >= 400 ? "InvalidRequest" : "Malformed"
}

// -------------------------------------------------------------------------------------------------------------------
// Details
// -------------------------------------------------------------------------------------------------------------------

const positive = (text: string | null | undefined): number | undefined => {
  const value = text === null || text === undefined || text.trim() === "" ? Number.NaN : Number(text)
  return Number.isFinite(value) && value >= 0 ? value : undefined
}

/** When to come back: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export const retryAfterMillis = (headers: Headers | undefined, now: number): number | undefined => {
  const millis = positive(headers?.get("retry-after-ms"))
  if (millis !== undefined) return Math.ceil(millis)
  const after = headers?.get("retry-after")
  const seconds = positive(after)
  if (seconds !== undefined) return Math.ceil(seconds * 1000)
  const date = after === null || after === undefined ? Number.NaN : Date.parse(after)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const tokens = (match: RegExpExecArray | null): number | undefined =>
  match?.[1] === undefined ? undefined : Number(match[1].replaceAll(",", ""))

const contextOf = (message: string) => {
  const contextTokens = tokens(/maximum (?:context|model) length (?:is|of) (\d[\d,]*)/i.exec(message))
  const neededTokens = tokens(
    /(?:resulted in|requested|contains(?: at least)?) (\d[\d,]*) (?:\w+ )?tokens/i.exec(message)
  )
  return {
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(neededTokens === undefined ? {} : { neededTokens })
  }
}

/** As much of a message as fits into a line of a log: error pages and repeated requests can be megabytes long. */
const short = (text: string): string => {
  const line = text
    .slice(0, 4000)
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim()
  return line.length > 300 ? `${line.slice(0, 300)}…` : line
}

const reason = (facts: Facts, secret: string, now: number): WorkerErrorReason => {
  const _tag = tagOf(facts)
  const detail = short(secret === "" ? facts.message : facts.message.replaceAll(secret, "<the API key>"))
  if (_tag === "RateLimited" || _tag === "Overloaded") {
    const millis = retryAfterMillis(facts.headers, now)
    return { _tag, detail, ...(millis === undefined ? {} : { retryAfterMillis: millis }) }
  }
  return _tag === "ContextTooLong" ? { _tag, detail, ...contextOf(facts.message) } : { _tag, detail }
}

// -------------------------------------------------------------------------------------------------------------------
// Errors of the SDK
// -------------------------------------------------------------------------------------------------------------------

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

/** The innermost cause with a code, e.g. `ENOTFOUND`. */
const systemCode = (error: unknown): string | undefined => {
  let code: string | undefined
  for (let next = error, depth = 0; typeof next === "object" && next !== null && depth < 8; depth++) {
    if ("code" in next) code = text(next.code) ?? code
    next = "cause" in next ? next.cause : undefined
  }
  return code
}

const connectionWords = /terminated|fetch failed|network|socket|premature close|connection/i

/** The facts of an error object that the vendor sent. */
const factsOf = (error: APIError): Facts => {
  const sent = error.error as { readonly message?: unknown } | undefined
  const body = error.status === undefined ? error.message : error.message.replace(`${error.status} `, "")
  return {
    status: error.status,
    code: text(error.code) !== undefined && text(error.code)! in tagOfCode ? text(error.code) : text(error.type),
    message: `${error.status === undefined ? "" : `${error.status} `}${text(sent?.message) ?? body}`,
    headers: error.headers
  }
}

/**
 * Why a call failed, from whatever the SDK threw. `secret` is taken out of every message; `now` is the time, for a
 * retry-after that is a date.
 */
export const reasonOf = (error: unknown, secret: string, now: number): WorkerErrorReason => {
  if (error instanceof APIConnectionTimeoutError) return { _tag: "Timeout" }
  const message = error instanceof Error ? error.message : String(error)
  const code = systemCode(error)
  const isConnection =
    error instanceof APIConnectionError || (error instanceof TypeError && connectionWords.test(message))
  if (isConnection) return { _tag: "Network", detail: short(code ?? message) }
  if (error instanceof APIError) return reason(factsOf(error), secret, now)
  if (code !== undefined && !(error instanceof SyntaxError)) return { _tag: "Network", detail: short(code) }
  return { _tag: "Malformed", detail: short(secret === "" ? message : message.replaceAll(secret, "<the API key>")) }
}

/** Why a call failed, from an error object inside a stream. */
export const reasonOfObject = (
  error: { readonly code?: unknown; readonly message?: unknown } | null | undefined,
  secret: string,
  now: number
): WorkerErrorReason =>
  reason({ code: text(error?.code), message: text(error?.message) ?? "the answer failed" }, secret, now)
