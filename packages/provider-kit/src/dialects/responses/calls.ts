/**
 * Assembles the tool calls of a Responses API answer. A call may arrive with its start event, in argument deltas, with
 * the end of its arguments, with its end event, or only in the final response. Later data takes precedence.
 */
import type { WorkerPart } from "@divisi/core/Worker"
import { unreadable } from "../../VendorError.ts"
import * as Json from "../../VendorJson.ts"
import * as Arguments from "../arguments.ts"

/** A tool call, possibly incomplete. */
interface Call {
  /** The index and the id of the output item, which its pieces refer to. */
  readonly index: unknown
  readonly itemId: string
  readonly id: string
  readonly name: string
  readonly arguments: string
  /** The part of the arguments that has been emitted. */
  readonly given: string
  /** The last piece received of the arguments. */
  readonly last: string
  readonly isEnded: boolean
  /** Whether the vendor reports that the call is incomplete. */
  readonly isCut: boolean
}

/** The calls received, in order. */
export type Calls = ReadonlyArray<Call>

/** The next state of the calls, and the parts to emit. */
export interface Taken {
  readonly calls: Calls
  readonly parts: ReadonlyArray<WorkerPart>
  /** Whether the final arguments of a call differ from its pieces. */
  readonly isOther?: boolean | undefined
}

/** The position of an event: the index and the id of its output item. */
export interface Place {
  readonly index: unknown
  readonly itemId: string
}

/** Maximum number of calls per answer. */
const most = 1024

const none: ReadonlyArray<WorkerPart> = []

/** Whether an output item is a tool call. */
export const isCall = ({ arguments: given, call_id, name, type }: Json.Fields): boolean =>
  type === undefined ? name !== undefined && (given ?? call_id) !== undefined : types.has(type)

/** `function` and `tool_use` occur if a proxy forwards another vendor's calls. */
const types = new Set<unknown>(["function_call", "tool_call", "custom_tool_call", "function", "tool_use"])

/** Returns the input of a custom tool call, which may be any text. Workers are only offered function tools. */
const inputOf = ({ input }: Json.Fields): unknown =>
  typeof input !== "string" || input === "" || Arguments.isObject(input) ? input : JSON.stringify({ input })

/** Returns the function of a call. Some proxies nest it as in Chat Completions. */
const calledIn = (item: Json.Fields): Json.Fields => (item.function ? Json.fields(item.function) : item)

const argumentsOf = (item: Json.Fields): string =>
  Arguments.textOf(calledIn(item).arguments ?? calledIn(item).parameters ?? inputOf(item))

const placeOf = (calls: Calls, { index, itemId }: Place, callId = ""): number => {
  const byCall = callId === "" ? -1 : calls.findLastIndex(({ id }) => id === callId)
  if (byCall !== -1) return byCall
  const byItem = itemId === "" ? -1 : calls.findLastIndex((call) => call.itemId === itemId)
  if (byItem !== -1) return byItem
  const byIndex = calls.findLastIndex((call) => index !== undefined && call.index === index)
  if (byIndex === -1) return index === undefined && itemId === "" && callId === "" ? calls.length - 1 : -1
  const call = calls[byIndex]!
  // An index that is used twice denotes two calls.
  const isOther = call.isEnded && callId !== "" && call.id !== callId
  return isOther ? -1 : byIndex
}

const begun = ({ index, itemId }: Place): Call => ({
  index,
  itemId,
  id: "",
  name: "",
  arguments: "",
  given: "",
  last: "",
  isEnded: false,
  isCut: false
})

const withCall = (calls: Calls, place: number, call: Call): Calls => {
  if (place !== -1) return calls.with(place, call)
  if (calls.length >= most) throw unreadable("the response contains too many tool calls")
  return [...calls, call]
}

/** Emits the part of a call's arguments that has not been emitted, once the name is known. */
const give = (call: Call): readonly [Call, ReadonlyArray<WorkerPart>] => {
  const { arguments: text, given, id, name } = call
  if (name === "" || id === "" || text === given || !text.startsWith(given)) return [call, none]
  const piece = text.slice(given.length)
  return [{ ...call, given: text }, [{ type: "tool-call-delta", id, name, arguments: piece }]]
}

const known = (call: Call, item: Json.Fields): Call => ({
  ...call,
  id: call.id || Arguments.idOf(item.call_id) || Json.textChunk(item.id, "an item's id"),
  name: call.name || Json.textChunk(calledIn(item).name, "a tool's name"),
  itemId: call.itemId || Json.textChunk(item.id, "an item's id"),
  isCut: call.isCut || item.status === "incomplete"
})

const putAt = (calls: Calls, place: number, call: Call, before: Call | undefined): Taken => {
  const [next, parts] = give(call)
  const isOther = before !== undefined && before.given !== "" && !call.arguments.startsWith(before.given)
  return { calls: withCall(calls, place, next), parts, isOther }
}

/** Starts a call. */
export const begin = (calls: Calls, at: Place, item: Json.Fields): Taken => {
  const place = placeOf(calls, at, Arguments.idOf(item.call_id))
  const before = calls[place]
  const call = known(before ?? begun(at), item)
  const text = call.arguments || argumentsOf(item)
  // Some servers send "{}" as a placeholder for arguments that follow.
  return putAt(calls, place, { ...call, arguments: text === "{}" ? "" : text }, before)
}

/** Adds a chunk of a call's arguments. */
export const extend = (calls: Calls, at: Place, delta: unknown): Taken => {
  const piece = Arguments.textOf(delta)
  if (piece === "") return { calls, parts: none }
  const place = placeOf(calls, at)
  const before = calls[place] ?? begun(at)
  const { arguments: text, given, id, name } = before
  const call = { ...before, arguments: text + piece, last: piece }
  if (name === "" || id === "" || text !== given) return putAt(calls, place, call, undefined)
  // All previous arguments have been emitted. Comparing them for each chunk would take quadratic time.
  const part = { type: "tool-call-delta", id, name, arguments: piece } as const
  return { calls: withCall(calls, place, { ...call, given: call.arguments }), parts: [part] }
}

/**
 * Completes a call from the end of its arguments, its end event, or the final response, which take precedence over the
 * pieces.
 */
export const end = (calls: Calls, at: Place, item: Json.Fields, isCallEnd = true): Taken => {
  const place = placeOf(calls, at, Arguments.idOf(item.call_id))
  const before = calls[place]
  const call = known(before ?? begun(at), item)
  const text = argumentsOf(item) || call.arguments
  return putAt(calls, place, { ...call, arguments: text, isEnded: isCallEnd || call.isEnded }, before)
}

/**
 * Completes a call from the final response. If it repeats the call at its position under other ids, the ids of the
 * stream remain.
 */
export const confirm = (calls: Calls, at: Place, item: Json.Fields): Taken => {
  const call = calls.find(({ index, isEnded }) => isEnded && index === at.index)
  const isKnown = placeOf(calls, at, Arguments.idOf(item.call_id)) !== -1
  const isSame = call?.name === calledIn(item).name && call?.arguments === argumentsOf(item)
  return isSame && !isKnown ? { calls, parts: none } : end(calls, at, item)
}

/** A call as it is emitted at the end of an answer. */
export type Whole = Extract<WorkerPart, { type: "tool-call" }>

/**
 * Returns the calls. If the answer is complete, a call without an end event is included if its arguments can be parsed.
 * Otherwise, a call that may have been cut has no arguments.
 */
export const whole = (calls: Calls, isComplete: boolean): ReadonlyArray<Whole> =>
  calls.flatMap((call, at) => {
    const { arguments: given, id, isEnded, last, name } = call
    const isCut = !isComplete && (call.isCut || !isEnded || at === calls.length - 1)
    if (name === "" && isCut) return []
    if (name === "") throw unreadable("a tool call has no name")
    const texts = call.isCut && isCut ? [""] : isCut ? Arguments.ofCut(given) : Arguments.whole(given, last)
    const isOpen = isComplete && !isEnded
    if (isOpen && (given === "" || !texts.every(Arguments.isObject))) throw unreadable("a tool call has no end event")
    // Several calls to one tool were merged into one.
    return texts.map((text, at) => {
      const own = at === 0 ? id : ""
      return { type: "tool-call", id: own || `call_${crypto.randomUUID()}`, name, arguments: text } as const
    })
  })
