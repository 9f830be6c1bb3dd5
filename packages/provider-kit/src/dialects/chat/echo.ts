/** The reasoning that a server wants back with a turn that called tools. */
import { unreadable } from "../../VendorError.ts"
import * as Json from "../../VendorJson.ts"

/** The field in which a server wants its reasoning back. */
export type Field = "reasoning_content" | "reasoning_details"

/** As text, or as details. */
export type Echo = string | ReadonlyArray<Json.Fields>

/** More details than this no answer has, as the pieces of one are joined. */
const most = 1024

const texts = ["text", "summary"] as const

const isPiece = (before: Json.Fields, { index, type }: Json.Fields): boolean =>
  before.index === index && before.type === type && texts.some((name) => typeof before[name] === "string")

/** Texts are joined; of all else, such as the signature in the last piece, what is said last holds. */
const joined = (before: Json.Fields, piece: Json.Fields): Json.Fields => {
  const said = Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== null))
  const whole = texts.filter((name) => typeof piece[name] === "string" && typeof before[name] === "string")
  return { ...before, ...said, ...Object.fromEntries(whole.map((name) => [name, `${before[name]}${piece[name]}`])) }
}

const withDetail = (details: ReadonlyArray<Json.Fields>, value: unknown): ReadonlyArray<Json.Fields> => {
  const detail = Json.object(value, "a detail of reasoning")
  const last = details.at(-1)
  if (last !== undefined && isPiece(last, detail)) return [...details.slice(0, -1), joined(last, detail)]
  if (details.length >= most) throw unreadable("its reasoning has too many details")
  return [...details, detail]
}

/** Takes what a delta has of it. */
export const takeEcho = (echo: Echo | undefined, delta: Json.Fields, field: Field | undefined): Echo | undefined => {
  const value = field === undefined ? undefined : (delta[field] ?? undefined)
  if (field === undefined || value === undefined) return echo
  if (field === "reasoning_content") return `${typeof echo === "string" ? echo : ""}${Json.said(value, field)}`
  return Json.array(value, field).reduce(withDetail, typeof echo === "string" ? [] : (echo ?? []))
}

const isOf = (field: Field, value: unknown): boolean =>
  field === "reasoning_content" ? typeof value === "string" : Array.isArray(value)

/** The field of a turn with what came with it; nothing where another vendor's came. */
export const echoed = (echo: unknown, field: Field | undefined): Json.Fields => {
  const value = field === undefined ? undefined : Json.fields(echo)[field]
  return field !== undefined && isOf(field, value) ? { [field]: value } : {}
}
