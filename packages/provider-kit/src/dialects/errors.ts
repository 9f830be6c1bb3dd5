/**
 * Reads errors in any location and format: an error response with any content type, a stream event, or a field of a
 * choice. Supported formats: the error objects of OpenAI, Anthropic and Google, FastAPI's `detail`, flat and nested
 * objects, lists, numeric codes, JSON within a string, HTML pages from proxies, and empty bodies.
 *
 * The error class is derived from the innermost error, which is the most specific. The message combines the messages at
 * all levels.
 */
import { FailedCall } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import type { Refused } from "../Endpoint.ts"
import * as VendorError from "../VendorError.ts"
import * as Json from "../VendorJson.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/**
 * The parts of an error that could be read.
 *
 * @internal
 */
export interface ErrorDetails {
  /** Its messages, outermost first, without duplicates. */
  readonly words: ReadonlyArray<string>
  /** Its codes, types and status names, innermost first. */
  readonly codes: ReadonlyArray<string>
  /** The innermost HTTP status. */
  readonly status?: number | undefined
  /** The request parameter that the error refers to. */
  readonly param?: string | undefined
  /** The retry delay stated by the error, in milliseconds. */
  readonly retryAfterMillis?: number | undefined
}

/** State accumulated while reading an error. */
interface Reading {
  readonly words: Array<string>
  readonly codes: Array<string>
  status?: number
  param?: string
  retryAfterMillis?: number
  /** Number of values visited. */
  seen: number
}

// -------------------------------------------------------------------------------------------------------------------
// Rows
// -------------------------------------------------------------------------------------------------------------------

/** Fields that may contain a message, in the order in which they are read. */
const messageFields = [
  "message",
  "msg",
  "detail",
  "error_description",
  "error_message",
  "errorMessage",
  "error_msg",
  "errorMsg",
  "errMsg",
  "errmsg",
  "err_msg",
  "status_msg",
  "title",
  "description",
  "faultstring",
  "failure_reason",
  "Message",
  "Detail",
  "messages"
] as const

/** Fields that may contain a code as a string or a status as a number. */
const codeFields = [
  "code",
  "type",
  "status",
  "error_code",
  "errorCode",
  "error_type",
  "status_code",
  "statusCode",
  "http_status",
  "__type",
  "reason",
  "errorcode",
  "errcode",
  "errCode",
  "Code"
] as const

/** Fields that may contain a nested error, outermost first. */
const innerFields = [
  "error",
  "errors",
  "err",
  "base_resp",
  "innererror",
  "inner_error",
  "metadata",
  "raw",
  "details",
  "extensions",
  "header",
  "cause",
  "upstream_error",
  "response",
  "body",
  "data",
  "fault",
  "Error",
  "Response",
  "ResponseMetadata"
] as const

/**
 * Codes that are missing from core's table, with their equivalents. Sources: the schema ResponseErrorCode of
 * https://github.com/openai/openai-openapi, https://platform.minimax.io/docs/api-reference/errorcode,
 * https://docs.bigmodel.cn/cn/faq/api-code, https://help.aliyun.com/zh/model-studio/error-code.
 */
const meanings: Readonly<Record<string, string>> = {
  invalid_prompt: "content_policy",
  bio_policy: "content_policy",
  cyber_policy: "content_policy",
  misalignment_policy_violation: "content_policy",
  // DashScope
  DataInspectionFailed: "content_policy",
  data_inspection_failed: "content_policy",
  Arrearage: "insufficient_balance",
  // MiniMax
  "1002": "rate_limit_exceeded",
  "1008": "insufficient_balance",
  "1026": "content_policy",
  "1027": "content_policy",
  "1039": "rate_limit_exceeded",
  "2056": "rate_limit_exceeded",
  // Zhipu
  "1113": "insufficient_balance",
  "1261": "context_length_exceeded",
  "1301": "content_policy",
  "1302": "rate_limit_exceeded",
  "1303": "rate_limit_exceeded",
  "1305": "rate_limit_exceeded",
  "1308": "rate_limit_exceeded"
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/** Maximum nesting depth that is read. */
const deepest = 8
const most = 200

/** Maximum length of a text that is parsed as JSON; some errors include the whole request. */
const longestJson = 64 * 1024

const isStatus = (value: number): boolean => Number.isInteger(value) && value >= 400 && value <= 599

const parsed = (text: string): unknown => {
  if (text.length > longestJson) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Extracts an error's JSON from a string, either on its own or after a proxy's prefix: `OpenAIException - {"error":
 * …}`.
 */
const within = (text: string): { readonly before: string; readonly value: unknown } | undefined => {
  const start = text.search(/[{[]/)
  if (start === -1) return undefined
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"))
  const value = parsed(text.slice(start, end + 1))
  return typeof value === "object" && value !== null ? { before: text.slice(0, start).trim(), value } : undefined
}

const sayWords = (reading: Reading, text: string): void => {
  const words = text.trim()
  if (words !== "" && !reading.words.includes(words)) reading.words.push(words)
}

const readText = (reading: Reading, text: string, depth: number): void => {
  const inner = within(text)
  const before = reading.words.length
  if (inner !== undefined) readValue(reading, inner.value, depth + 1)
  // A text without informative JSON is used unchanged.
  if (inner === undefined || reading.words.length === before) {
    sayWords(reading, text)
    return
  }
  const wrapper = inner.before.replace(/[\s:,-]{0,20}$/, "")
  if (wrapper !== "" && !reading.words.includes(wrapper)) reading.words.splice(before, 0, wrapper)
}

const readCode = (reading: Reading, value: unknown): void => {
  const number = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value
  if (typeof number === "number" && isStatus(number)) {
    reading.status = number
    return
  }
  const code = typeof value === "number" ? String(value) : Json.text(value)
  if (code === undefined || code === "error" || code === "object") return
  const meaning = Json.meaning(meanings, code)
  reading.codes.unshift(...(meaning === undefined ? [code] : [meaning, code]))
}

/** Fields with a retry delay, and their unit in milliseconds. */
const delayFields = { retry_after_ms: 1, retry_after: 1000, retryAfter: 1000, estimated_time: 1000 } as const

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Parses "Please try again in 1m2.5s", "Please retry after 7 seconds" and "Your quota will reset in 3 days". OpenAI and
 * Azure include this text even if their headers are lost.
 */
const delayInWords = (text: string): number | undefined => {
  const words =
    /(?:try again|retry(?:ing)?|wait|resets?)(?: in| after| for)?:? {1,3}((?:\d{1,6}(?:\.\d{1,6})? ?[a-z]{1,12}\b ?|\d{1,6}(?:\.\d{1,6})?[dhms]{1,2}){1,3})/i.exec(
      text.slice(0, 4000)
    )
  let millis = 0
  for (const [, amount, unit = ""] of (words?.[1] ?? "").matchAll(/(\d{1,6}(?:\.\d{1,6})?) ?([a-z]{1,12})/gi)) {
    const name = /^m(?:s\b|illi)/i.test(unit) ? "ms" : /^mon/i.test(unit) ? "month" : unit[0]!.toLowerCase()
    millis += Number(amount) * (units[name] ?? Number.NaN)
  }
  return millis > 0 ? Math.ceil(millis) : undefined
}

/** Reads a delay such as `34.5s`, the format of Google's `RetryInfo`. */
const readDelay = (reading: Reading, value: unknown): void => {
  const millis = Math.ceil(Number.parseFloat(Json.text(value) ?? "") * 1000)
  if (Number.isSafeInteger(millis) && millis >= 0) reading.retryAfterMillis = millis
}

/** Reads the delay in headers that a gateway quotes from its vendor, such as OpenRouter's `metadata.headers`. */
const readHeaders = (reading: Reading, headers: unknown): void => {
  const values = Object.entries(Json.fields(headers)).map(([name, value]) => [name.toLowerCase(), value] as const)
  const header = (name: string) => {
    const value = values.find(([one]) => one === name)?.[1]
    return value === undefined ? undefined : String(value)
  }
  const millis = FailedCall.retryAfterMillis(header, Date.now())
  if (millis !== undefined) reading.retryAfterMillis ??= millis
}

/** Reads FastAPI's validation errors: a location and a message. */
const readPlace = (reading: Reading, { loc, msg }: Json.Fields): boolean => {
  if (!Array.isArray(loc) || typeof msg !== "string") return false
  const place = loc.filter((one) => one !== "body").join(".")
  reading.param ??= place
  sayWords(reading, place === "" ? msg : `${place}: ${msg}`)
  return true
}

/** Reads ASP.NET's validation errors: messages keyed by field name. */
const readNamed = (reading: Reading, errors: unknown): void => {
  if (typeof errors !== "object" || errors === null || Array.isArray(errors)) return
  for (const [name, messages] of Object.entries(errors).slice(0, most)) {
    const texts = Json.items(messages).filter((one) => typeof one === "string")
    if (texts.length > 0) sayWords(reading, `${name}: ${texts.join(" ")}`)
  }
}

const readFields = (reading: Reading, fields: Json.Fields, depth: number): void => {
  for (const name of codeFields) if (fields[name] !== undefined) readCode(reading, fields[name])
  const param = Json.text(fields.param)
  if (param !== undefined) reading.param = param
  if (fields.retryDelay !== undefined) readDelay(reading, fields.retryDelay)
  if (fields.headers !== undefined) readHeaders(reading, fields.headers)
  for (const [name, millis] of Object.entries(delayFields)) {
    const delay = Json.number(fields[name])
    if (delay !== undefined && delay > 0) reading.retryAfterMillis ??= Math.ceil(delay * millis)
  }
  if (readPlace(reading, fields)) return
  for (const name of messageFields) {
    const value = fields[name]
    if (typeof value === "string") readText(reading, value, depth)
    else if (typeof value === "object") readValue(reading, value, depth + 1)
  }
  readNamed(reading, fields.errors)
  for (const name of innerFields) readValue(reading, fields[name], depth + 1)
}

const readValue = (reading: Reading, value: unknown, depth: number): void => {
  reading.seen += 1
  if (depth > deepest || reading.seen > most) return
  if (typeof value === "string") readText(reading, value, depth)
  else if (Array.isArray(value)) for (const one of value.slice(0, most)) readValue(reading, one, depth + 1)
  else if (typeof value === "object" && value !== null) readFields(reading, value as Json.Fields, depth)
}

/** Returns the title of a proxy's HTML page, which is more specific than its text. */
const titleOf = (page: string): string | undefined => /<title[^>]*>([^<]{1,300})<\/title>/i.exec(page)?.[1]?.trim()

const isPage = (text: string): boolean => /^\s*<(?:!doctype|html|head|body)/i.test(text.slice(0, 200))

/**
 * Reads an error from a JSON value or a string.
 *
 * @internal
 */
export const read = (error: unknown): ErrorDetails => {
  const reading: Reading = { words: [], codes: [], seen: 0 }
  if (typeof error === "string" && isPage(error)) {
    const words = titleOf(error.slice(0, longestJson)) ?? error
    return { words: [words], codes: [] }
  }
  readValue(reading, error, 0)
  const { codes, param, retryAfterMillis, status, words } = reading
  return defined({ words, codes, param, retryAfterMillis, status })
}

/** Codes for success, and strings that represent no value. */
const wells: ReadonlySet<unknown> = new Set([false, "", 0, "0", 200, "200", "null", "None", "ok", "OK", "success"])

/**
 * Whether a value contains information. Servers written in languages without optional fields send an empty error with
 * each chunk: `{}`, `[]`, empty strings, or the code 0.
 *
 * @internal
 */
export const hasInformation = (value: unknown, depth = 0): boolean => {
  if (value === undefined || value === null || wells.has(value)) return false
  return (
    typeof value !== "object" || (depth < deepest && Object.values(value).some((one) => hasInformation(one, depth + 1)))
  )
}

/** Whether an event consists only of an error: FastAPI's format, a flat error, or a proxy's error. */
const isError = (event: Json.Fields): boolean => {
  if (event.type === "error" || event.object === "error" || event.event === "error") return true
  if (hasInformation(event.errors) || hasInformation(event.detail) || event.success === false) return true
  if (hasInformation(Json.fields(event.header).code)) return true
  return (
    messageFields.some((name) => typeof event[name] === "string") &&
    [...codeFields, "error_code"].some((name) => hasInformation(event[name]))
  )
}

/**
 * Returns the error in an event or in its choice; `undefined` if there is no error.
 *
 * @internal
 */
export const errorIn = (event: Json.Fields, choice: Json.Fields = {}): unknown => {
  if (hasInformation(event.error)) return event.error
  if (hasInformation(choice.error)) return choice.error
  const { error } = Json.fields(choice.delta ?? choice.message)
  if (hasInformation(error)) return error
  const { status_code: code } = Json.fields(event.base_resp)
  if (typeof code === "number" && code !== 0) return event.base_resp
  return Json.items(event.choices).length === 0 && isError(event) ? event : undefined
}

/** Matches messages that state only that an error occurred. */
const hollow = /^(?:provider returned error|bad request|error|unknown error|an error occurred|request failed)\.?$/i

/**
 * Joins all messages of an error. Messages that carry no information are dropped if others remain.
 *
 * @internal
 */
export const messageOf = ({ codes, words }: ErrorDetails): string => {
  const telling = words.filter((text) => !hollow.test(text))
  const said = (telling.length === 0 ? words : telling).filter(
    (text, index, all) => !all.some((other, at) => at !== index && other.length > text.length && other.includes(text))
  )
  return said.length === 0 ? codes.join(", ") : said.join(": ")
}

// -------------------------------------------------------------------------------------------------------------------
// Reasons
// -------------------------------------------------------------------------------------------------------------------

/** Appends the name of the rejected parameter unless the message contains it. */
const withParam = (message: string, { param }: ErrorDetails): string =>
  param === undefined || message.includes(param.split(".")[0]!)
    ? message
    : `${message} (parameter: ${param.slice(0, 100)})`

/** OpenRouter rejects flagged content with the same status as a key without permission. */
const isFlagged = (status: number | undefined, message: string): boolean =>
  status === 403 && /\b(?:flagged|moderation)\b/i.test(message)

const withDelay = (reason: WorkerErrorReason, { retryAfterMillis, words }: ErrorDetails): WorkerErrorReason =>
  (reason._tag === "RateLimited" || reason._tag === "Overloaded") && reason.retryAfterMillis === undefined
    ? (defined({
        ...reason,
        retryAfterMillis: retryAfterMillis ?? delayInWords(words.join("\n"))
      }) as WorkerErrorReason)
    : reason

const reasonOf = (
  told: ErrorDetails,
  status: number | undefined,
  surroundings: VendorError.Surroundings,
  header?: (name: string) => string | null
): WorkerErrorReason => {
  const message = withParam(messageOf(told), told)
  if (isFlagged(status, message)) {
    return { _tag: "ContentFiltered", detail: VendorError.detail(message, surroundings.secrets) }
  }
  return withDelay(
    VendorError.fromRefusal(
      defined({ status, message, codes: told.codes.join("\n"), header }) as VendorError.Refusal,
      surroundings
    ),
    told
  )
}

/** Returns the most specific status. If a gateway forwards an error, this is the status of the original error. */
const statusOf = (status: number, told: ErrorDetails): number =>
  told.status !== undefined && (status < 300 || status === 500 || status === 502) ? told.status : status

const empty: Readonly<Record<number, string>> = {
  404: "status 404 without a reason: check the base URL and the model"
}

/** Returns the reason for an HTTP error response. */
export const reasonOfRefused = (
  { body, headers, status, text }: Refused,
  surroundings: VendorError.Surroundings
): WorkerErrorReason => {
  const told = read(body ?? text)
  const known = told.words.length === 0 && text.trim() !== "" && body === undefined ? read(text) : told
  const spoken = messageOf(known) === "" ? { ...known, words: [empty[status] ?? `status ${status}`] } : known
  return reasonOf(spoken, statusOf(status, spoken), surroundings, (name) => headers.get(name))
}

/** Returns the reason for a failed answer from the error that ends it: an object or text. */
export const reasonOfEvent = (
  error: unknown,
  surroundings: VendorError.Surroundings = { nowMillis: 0 }
): WorkerErrorReason => {
  const told = read(error)
  return messageOf(told) === "" && told.status === undefined
    ? { _tag: "Malformed", detail: "the response failed without a reason" }
    : reasonOf(told, told.status, surroundings)
}
