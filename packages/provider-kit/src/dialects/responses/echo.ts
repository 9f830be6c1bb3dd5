/**
 * The reasoning that OpenAI expects back with a turn that called tools: its items (encrypted if responses are not
 * stored), each before the calls that follow it.
 */
import type { ToolCall } from "@divisi/core/Message"
import { unreadable } from "../../VendorError.ts"
import * as Json from "../../VendorJson.ts"

/** A reasoning item in the format required by the API. */
interface ReasoningItem {
  type: "reasoning"
  id: string
  summary: Array<{ type: "summary_text"; text: string }>
  encrypted_content?: string
}

/** A reasoning item, or the position of a tool call among the reasoning items. */
export type Place = ReasoningItem | { readonly type: "function_call"; readonly call_id: string }

/**
 * Data to send back with a turn. Only the model that issued it can read it.
 *
 * @internal
 */
export interface Echo {
  readonly model: string
  readonly items: ReadonlyArray<Place>
}

/** Returns the fields of a reasoning item that the vendor accepts back; `undefined` for other items. */
const reasoningOf = (value: unknown): ReasoningItem | undefined => {
  const { encrypted_content: encrypted, id, summary, type } = Json.fields(value)
  if (type !== "reasoning" || typeof id !== "string") return undefined
  const texts = Json.items(summary).flatMap((part) => {
    const { text } = Json.fields(part)
    return typeof text === "string" ? [{ type: "summary_text" as const, text }] : []
  })
  const item: ReasoningItem = { type: "reasoning", id, summary: texts }
  return typeof encrypted === "string" ? { ...item, encrypted_content: encrypted } : item
}

/**
 * Returns the position of a completed output item; `undefined` if the item is not sent back.
 *
 * @internal
 */
export const placeOf = (item: Json.Fields): Place | undefined => {
  const { call_id: id, type } = item
  return type === "function_call" && typeof id === "string" ? { type, call_id: id } : reasoningOf(item)
}

/**
 * Whether two positions are equal. An item may occur both in the stream and in the final response.
 *
 * @internal
 */
export const isSame = (left: Place, right: Place): boolean =>
  left.type === "reasoning"
    ? right.type === "reasoning" && left.id === right.id
    : right.type === left.type && left.call_id === right.call_id

/** Maximum number of positions per answer. */
const most = 2048

/**
 * Adds a position.
 *
 * @internal
 */
export const withPlace = (places: ReadonlyArray<Place>, place: Place): ReadonlyArray<Place> => {
  if (places.length >= most) throw unreadable("the response has too many items")
  return [...places, place]
}

/**
 * Returns the positions up to the last of the given calls. OpenAI refuses reasoning without the call that follows it.
 *
 * @internal
 */
export const upTo = (places: ReadonlyArray<Place>, calls: ReadonlySet<string>): ReadonlyArray<Place> =>
  places.slice(0, places.findLastIndex((one) => one.type === "function_call" && calls.has(one.call_id)) + 1)

/**
 * Returns the data to send back with the turn; `undefined` if no tool was called or there was no thinking.
 *
 * @internal
 */
export const echoOf = (model: string, items: ReadonlyArray<Place>): Echo | undefined =>
  items.some(({ type }) => type === "reasoning") && items.some(({ type }) => type === "function_call")
    ? { model, items }
    : undefined

/** Returns the reasoning items before all calls, and those after each call. */
export const placed = (
  echo: unknown,
  model: string,
  calls: ReadonlyArray<ToolCall>
): {
  readonly before: ReadonlyArray<ReasoningItem>
  readonly between: ReadonlyArray<ReadonlyArray<ReasoningItem>>
} => {
  const before: Array<ReasoningItem> = []
  const between = calls.map((): Array<ReasoningItem> => [])
  const { items, model: own } = Json.fields(echo)
  if (own !== model || calls.length === 0) return { before, between }
  let after = before
  for (const item of Json.items(items)) {
    const reasoning = reasoningOf(item)
    if (reasoning !== undefined) after.push(reasoning)
    const at = calls.findIndex(({ id }) => id === Json.fields(item).call_id)
    after = between[at] ?? after
  }
  return { before, between }
}
