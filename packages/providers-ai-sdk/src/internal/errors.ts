/**
 * From whatever a model of the AI SDK throws, or puts into its stream, to the closed set of reasons of a `WorkerError`.
 *
 * Vendors differ in their codes and words, and the AI SDK passes both on. The status decides where there is one; codes
 * and words tell apart what shares a status, and classify errors inside of a stream, which have none.
 */
import { APICallError, LoadAPIKeyError } from "@ai-sdk/provider"
import type { WorkerErrorReason } from "@tutti/core/Worker"

/** What is known beside the error. */
export interface Surroundings {
  /** Texts that must not show. */
  readonly secrets: ReadonlyArray<string>
  /** For a retry-after that is a date. */
  readonly nowMillis: number
}

/** Why a call failed. */
export const reasonOf = (error: unknown, surroundings: Surroundings): WorkerErrorReason => {
  const words = wordsOf(error)
  const detail = shown(words.message, surroundings.secrets)
  const reason = APICallError.isInstance(error)
    ? fromCall(error, words, surroundings.nowMillis)
    : (fromName(error) ?? fromWords(words) ?? { _tag: "Overloaded" })
  return detail === "" ? reason : { ...reason, detail }
}

// -------------------------------------------------------------------------------------------------------------------
// Words
// -------------------------------------------------------------------------------------------------------------------

/** What an error says: to people, and in all it says. */
interface Words {
  readonly message: string
  readonly all: string
}

/** The most that is searched for words, and the most that is shown. */
const searched = 4_000
const longest = 600

const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}

/** Errors of a vendor inside of a stream are texts, or objects of the vendor's own. */
const wordsOf = (error: unknown): Words => {
  if (typeof error === "string") return { message: error, all: error.slice(0, searched) }
  const { code, message, responseBody, status, type } = fields(error)
  const said = typeof message === "string" ? message : ""
  const all = [said, code, type, status, responseBody].filter((text) => typeof text === "string")
  return { message: said, all: all.map((text) => text.slice(0, searched)).join("\n") }
}

const keyShapes = /\b(?:sk|pk|rk|gsk|xai|key|AIza)[-_A-Za-z0-9]{16,}|\b(?:Bearer|Basic)\s+[^\s"'<>,;]{8,}/gi

/** Text for people, short and without keys. */
const shown = (text: string, secrets: ReadonlyArray<string>): string => {
  const hidden = secrets
    .filter((secret) => secret !== "")
    .reduce((shown, secret) => shown.replaceAll(secret, "<hidden>"), text.slice(0, searched + longest))
    .replaceAll(keyShapes, "<hidden>")
    .replaceAll(/\s+/g, " ")
    .trim()
  return hidden.length > longest ? `${hidden.slice(0, longest)}…` : hidden
}

// -------------------------------------------------------------------------------------------------------------------
// Reasons
// -------------------------------------------------------------------------------------------------------------------

const patterns: ReadonlyArray<readonly [RegExp, Exclude<WorkerErrorReason["_tag"], "ContextTooLong">]> = [
  [/insufficient_quota|exceeded your current quota|credit balance|billing|payment required/i, "Quota"],
  [/content_policy|content.?filter|content management policy|safety system|prohibited_content/i, "ContentFiltered"],
  [/rate.?limit|too many requests|resource_exhausted/i, "RateLimited"],
  [/overloaded|unavailable|at capacity|server_error|internal (?:server )?error|api_error/i, "Overloaded"],
  [/timed? ?out|timeout|deadline_exceeded/i, "Timeout"],
  [/invalid_api_key|authentication_error|unauthorized|permission_error/i, "Authentication"],
  [/invalid_request|not_found|unsupported/i, "InvalidRequest"]
]

const tooLong =
  /context_length_exceeded|context (?:length|window)|prompt is too long|input (?:is )?too long|exceeds? the maximum (?:number of tokens|context)|too many (?:input )?tokens/i

const number = (pattern: RegExp, text: string): number | undefined => {
  const found = pattern.exec(text)?.[1]
  return found === undefined ? undefined : Number(found.replaceAll(",", ""))
}

const contextTooLong = ({ all }: Words): WorkerErrorReason => {
  const contextTokens =
    number(/(?:context (?:length|window)|maximum)[^\d]{0,60}?(\d[\d,]{2,})/i, all) ?? number(/> ?(\d[\d,]{2,})/, all)
  const neededTokens = number(/(\d[\d,]{2,}) tokens? >|(?:resulted in|requested) (\d[\d,]{2,})/i, all)
  return {
    _tag: "ContextTooLong",
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(neededTokens === undefined ? {} : { neededTokens })
  }
}

const fromWords = (words: Words): WorkerErrorReason | undefined => {
  if (tooLong.test(words.all)) return contextTooLong(words)
  const found = patterns.find(([pattern]) => pattern.test(words.all))
  return found === undefined ? undefined : { _tag: found[1] }
}

const names: Readonly<Record<string, WorkerErrorReason["_tag"]>> = {
  AI_JSONParseError: "Malformed",
  AI_TypeValidationError: "Malformed",
  AI_InvalidResponseDataError: "Malformed",
  AI_EmptyResponseBodyError: "Malformed",
  AI_NoContentGeneratedError: "Malformed",
  AI_UnsupportedFunctionalityError: "InvalidRequest",
  AI_InvalidPromptError: "InvalidRequest",
  AI_InvalidArgumentError: "InvalidRequest",
  AI_LoadSettingError: "InvalidRequest",
  AI_NoSuchModelError: "InvalidRequest",
  TimeoutError: "Timeout",
  AbortError: "Timeout"
}

/** Errors that are not the vendor's: the AI SDK's own, those of `fetch`, and mistakes in code. */
const fromName = (error: unknown): WorkerErrorReason | undefined => {
  if (!(error instanceof Error)) return undefined
  if (LoadAPIKeyError.isInstance(error)) return { _tag: "Authentication" }
  const known = names[error.name]
  if (known !== undefined) return { _tag: known } as WorkerErrorReason
  const isNetwork =
    typeof fields(error.cause ?? error).code === "string" || /fetch|network|terminated/i.test(error.message)
  return { _tag: isNetwork ? "Network" : "InvalidRequest" }
}

const fromCall = (error: APICallError, words: Words, nowMillis: number): WorkerErrorReason => {
  const { responseHeaders = {}, statusCode: status } = error
  if (status === undefined) return { _tag: "Network" }
  if (status < 300) return { _tag: "Malformed" }
  const tag = fromStatus(status, words)
  if (tag === "ContextTooLong") return contextTooLong(words)
  if (tag !== "RateLimited" && tag !== "Overloaded") return { _tag: tag }
  const retryAfterMillis = retryAfter(responseHeaders, nowMillis)
  return { _tag: tag, ...(retryAfterMillis === undefined ? {} : { retryAfterMillis }) }
}

const byStatus: Readonly<Record<number, WorkerErrorReason["_tag"]>> = {
  401: "Authentication",
  402: "Quota",
  403: "Authentication",
  408: "Timeout",
  409: "Overloaded",
  413: "ContextTooLong",
  504: "Timeout"
}

const fromStatus = (status: number, words: Words): WorkerErrorReason["_tag"] => {
  const known = byStatus[status]
  if (known !== undefined) return known
  if (status >= 500) return "Overloaded"
  const said = fromWords(words)?._tag
  if (status === 429) return said === "Quota" ? "Quota" : "RateLimited"
  return said === "ContextTooLong" || said === "ContentFiltered" || said === "Quota" ? said : "InvalidRequest"
}

// -------------------------------------------------------------------------------------------------------------------
// When to come back
// -------------------------------------------------------------------------------------------------------------------

/** Milliseconds, seconds or a date, as vendors send them; `undefined` for nonsense. */
const retryAfter = (headers: Readonly<Record<string, string>>, nowMillis: number): number | undefined => {
  const isWait = (wait: number) => Number.isFinite(wait) && wait >= 0
  const millis = Number.parseFloat(headers["retry-after-ms"] ?? "")
  if (isWait(millis)) return millis
  const after = headers["retry-after"] ?? ""
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(after)) return Number(after) * 1000
  const wait = Date.parse(after) - nowMillis
  return isWait(wait) ? wait : undefined
}
