/** Data that a server expects back with a turn that called tools: its reasoning, and its additions to the calls. */
import { defined } from "@divisi/core/Fields"
import { unreadable } from "../../VendorError.ts"
import * as Json from "../../VendorJson.ts"

/** The field in which a server expects its reasoning back. */
export type Field = "reasoning_content" | "reasoning_details"

/** The reasoning, as text or as details. */
export type Echo = string | ReadonlyArray<Json.Fields>

/** More details than this no answer has, as the pieces of one are joined. */
const most = 1024

const texts = ["text", "summary"] as const

const isPiece = (before: Json.Fields, { index, type }: Json.Fields): boolean =>
  before.index === index && before.type === type && texts.some((name) => typeof before[name] === "string")

/** Joins texts; for all other values, such as the signature in the last piece, the last one applies. */
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

/** Adds the reasoning in a delta. */
export const takeEcho = (echo: Echo | undefined, delta: Json.Fields, field: Field | undefined): Echo | undefined => {
  const value = field === undefined ? undefined : (delta[field] ?? undefined)
  if (field === undefined || value === undefined) return echo
  if (field === "reasoning_content") return `${typeof echo === "string" ? echo : ""}${Json.said(value, field)}`
  return Json.array(value, field).reduce(withDetail, typeof echo === "string" ? [] : (echo ?? []))
}

const isOf = (field: Field, value: unknown): boolean =>
  field === "reasoning_content" ? typeof value === "string" : Array.isArray(value)

/** Returns the field of a turn with the vendor's additions; empty if they come from another vendor. */
export const echoed = (echo: unknown, field: Field | undefined): Json.Fields => {
  const value = field === undefined ? undefined : Json.fields(echo)[field]
  return field !== undefined && isOf(field, value) ? { [field]: value } : {}
}

// -------------------------------------------------------------------------------------------------------------------
// Extras
// -------------------------------------------------------------------------------------------------------------------

/**
 * A server's additions to a message and its calls, such as Gemini's signatures. They are valid for the model that
 * issued them.
 */
export interface Extras {
  /** `extra_content` of the message. */
  readonly message?: Json.Fields | undefined
  /** The fields that were added to each call. */
  readonly calls?: ReadonlyArray<Json.Fields | null> | undefined
}

/** Returns extras as a part of an echo; empty if there are no extras. */
export const extrasEcho = ({ calls, message }: Extras, model: string | undefined): Json.Fields =>
  model === undefined || (message === undefined && calls === undefined)
    ? {}
    : { extras: defined({ model, message, calls }) }

const isFields = (value: unknown): value is Json.Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns the extras in the echo of a turn with the given number of calls; empty if they come from another model. */
export const extrasIn = (echo: unknown, model: string, calls: number): Extras => {
  const extras = Json.fields(Json.fields(echo).extras)
  if (extras.model !== model) return {}
  const list = Json.items(extras.calls)
  return {
    message: isFields(extras.message) ? extras.message : undefined,
    calls: list.length === calls ? list.map((one) => (isFields(one) ? one : null)) : undefined
  }
}
