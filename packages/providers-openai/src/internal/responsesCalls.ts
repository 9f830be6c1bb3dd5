/** The tools that an answer of the Responses API asks for, from its events. */
import type { WorkerPart } from "@divisi/core/Worker"
import { unreadable } from "@divisi/provider-kit/VendorError"
import * as Json from "@divisi/provider-kit/VendorJson"

interface Call {
  /** The number of the item, which its pieces name. */
  readonly index: unknown
  readonly id: string
  readonly name: string
  readonly arguments: string
  readonly isEnded: boolean
}

/** The calls so far, in order. */
export type Calls = ReadonlyArray<Call>

interface Taken {
  readonly calls: Calls
  readonly parts: ReadonlyArray<WorkerPart>
}

/** More calls than this no answer has. */
const most = 1024

const word = (value: unknown, name: string): string => {
  const text = Json.text(value)
  if (text === undefined) throw unreadable(`${name} is no text`)
  return text
}

/** Whether an output item is a call of a tool. */
export const isCall = (item: Json.Fields): boolean => item.type === "function_call"

/** Takes the beginning of a call. */
export const begin = (calls: Calls, index: unknown, item: Json.Fields): Calls => {
  if (calls.length >= most) throw unreadable("it asks for too many tools")
  const id = word(item.call_id, "a call's id")
  return [...calls, { index, id, name: word(item.name, "a tool's name"), arguments: "", isEnded: false }]
}

const placeOf = (calls: Calls, index: unknown): number =>
  calls.findLastIndex((call) => call.index === index && !call.isEnded)

/** Takes a piece of a call's arguments. */
export const extend = (calls: Calls, index: unknown, delta: unknown): Taken => {
  const piece = Json.said(delta, "a call's arguments")
  const place = placeOf(calls, index)
  const call = calls[place]
  if (call === undefined) throw unreadable("a call of a tool has no beginning")
  if (piece === "") return { calls, parts: [] }
  const { id, name } = call
  return {
    calls: calls.with(place, { ...call, arguments: call.arguments + piece }),
    parts: [{ type: "tool-call-delta", id, name, arguments: piece }]
  }
}

/** Takes the end of a call, which has all of it; its pieces count where there were any. */
export const end = (calls: Calls, index: unknown, item: Json.Fields): Taken => {
  const known = placeOf(calls, index) === -1 ? begin(calls, index, item) : calls
  const place = placeOf(known, index)
  const { arguments: pieces, id, name } = known[place]!
  const text = pieces || Json.said(item.arguments, "a call's arguments") || "{}"
  return {
    calls: known.with(place, { ...known[place]!, isEnded: true }),
    parts: [{ type: "tool-call", id, name, arguments: text }]
  }
}

/** Whether a call has begun and not ended. */
export const hasOpen = (calls: Calls): boolean => calls.some(({ isEnded }) => !isEnded)
