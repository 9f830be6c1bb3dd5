/**
 * Data that a server expects back with a turn that called tools: its reasoning and the fields that it added to the
 * calls.
 */
import { defined } from "@divisi/core/Fields"
import { unreadable } from "../../VendorError.ts"
import * as Json from "../../VendorJson.ts"

/** The message field in which a server expects its reasoning back. */
export type Field = "reasoning_content" | "reasoning_details"

/** Reasoning to send back, as a string or as a list of details. */
export type Echo = string | ReadonlyArray<Json.Fields>

/** Maximum number of reasoning details per answer, after chunks of the same detail are joined. */
const most = 1024

const texts = ["text", "summary"] as const

const isPiece = (before: Json.Fields, { index, type }: Json.Fields): boolean =>
  before.index === index && before.type === type && texts.some((name) => typeof before[name] === "string")

/**
 * Joins the strings in two chunks of a reasoning detail. For other fields, such as the signature in the last chunk, the
 * later value is used.
 */
const joined = (before: Json.Fields, piece: Json.Fields): Json.Fields => {
  const said = Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== null))
  const whole = texts.filter((name) => typeof piece[name] === "string" && typeof before[name] === "string")
  return { ...before, ...said, ...Object.fromEntries(whole.map((name) => [name, `${before[name]}${piece[name]}`])) }
}

const withDetail = (details: ReadonlyArray<Json.Fields>, value: unknown): ReadonlyArray<Json.Fields> => {
  const detail = Json.object(value, "a detail of reasoning")
  const last = details.at(-1)
  if (last !== undefined && isPiece(last, detail)) return [...details.slice(0, -1), joined(last, detail)]
  if (details.length >= most) throw unreadable("the response has too many reasoning details")
  return [...details, detail]
}

/**
 * Adds the reasoning of a delta.
 *
 * @internal
 */
export const takeEcho = (echo: Echo | undefined, delta: Json.Fields, field: Field | undefined): Echo | undefined => {
  const value = field === undefined ? undefined : (delta[field] ?? undefined)
  if (field === undefined || value === undefined) return echo
  if (field === "reasoning_content") return `${typeof echo === "string" ? echo : ""}${Json.textChunk(value, field)}`
  return Json.array(value, field).reduce(withDetail, typeof echo === "string" ? [] : (echo ?? []))
}

const isOf = (field: Field, value: unknown): boolean =>
  field === "reasoning_content" ? typeof value === "string" : Array.isArray(value)

/** Returns the message field with the reasoning to send back; empty if the reasoning comes from another vendor. */
export const echoed = (echo: unknown, field: Field | undefined): Json.Fields => {
  const value = field === undefined ? undefined : Json.fields(echo)[field]
  return field !== undefined && isOf(field, value) ? { [field]: value } : {}
}

// -------------------------------------------------------------------------------------------------------------------
// Extras
// -------------------------------------------------------------------------------------------------------------------

/**
 * Fields that a server added to a message and its calls, such as Gemini's signatures. They are valid only for the model
 * that issued them.
 */
interface Extras {
  /** `extra_content` from the message. */
  readonly message?: Json.Fields | undefined
  /** The added fields of each call. */
  readonly calls?: ReadonlyArray<Json.Fields | null> | undefined
}

/**
 * Wraps extras for an echo; returns an empty object if there are no extras.
 *
 * @internal
 */
export const extrasEcho = ({ calls, message }: Extras, model: string | undefined): Json.Fields =>
  model === undefined || (message === undefined && calls === undefined)
    ? {}
    : { extras: defined({ model, message, calls }) }

const isFields = (value: unknown): value is Json.Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Reads the extras from the echo of a turn with the given number of calls; empty if another model issued them. */
export const extrasIn = (echo: unknown, model: string, calls: number): Extras => {
  const extras = Json.fields(Json.fields(echo).extras)
  if (extras.model !== model) return {}
  const list = Json.items(extras.calls)
  return {
    message: isFields(extras.message) ? extras.message : undefined,
    calls: list.length === calls ? list.map((one) => (isFields(one) ? one : null)) : undefined
  }
}
