/**
 * Folds Responses API events, or a complete response, into one answer. Content may arrive with its start event, in
 * deltas, with its end event, or only in the final response, which takes precedence.
 */
import type { FinishReason, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import { unreadable } from "../../VendorError.ts"
import { done } from "../../VendorEvents.ts"
import * as Json from "../../VendorJson.ts"
import type { Protocol, Step } from "../../VendorStream.ts"
import { ending } from "../endings.ts"
import * as Errors from "../errors.ts"
import * as Omitted from "../omitted.ts"
import { content } from "../text.ts"
import { usageOf } from "../usage.ts"
import * as Calls from "./calls.ts"
import * as Echo from "./echo.ts"
import { events } from "./events.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A part of a message's text, with its position. */
interface Part extends Calls.Place {
  readonly part: unknown
  readonly text: string
}

/** The position of reasoning: its item, and the section of a summary if the event names one. */
interface Thought extends Calls.Place {
  readonly section: unknown
}

/** The accumulated state of an answer. */
export interface State {
  /** Whether data in the format of this API has arrived. */
  readonly hasBegun: boolean
  readonly isRefused: boolean
  readonly texts: ReadonlyArray<Part>
  /** Whether a final text differs from its deltas. */
  readonly isOther: boolean
  /** The reasoning that has arrived. */
  readonly reasoned: ReadonlyArray<Thought>
  readonly calls: Calls.Calls
  /** The reasoning items, with the positions of tool calls. */
  readonly places: ReadonlyArray<Echo.Place>
  /** The response from the final event, once it has arrived. */
  readonly last: Json.Fields | undefined
  /**
   * The last event of an unknown type that contains text. Used as the error message if the answer ends without a
   * reason.
   */
  readonly foreign: Json.Fields | undefined
}

const initial: State = {
  hasBegun: false,
  isRefused: false,
  texts: [],
  isOther: false,
  reasoned: [],
  calls: [],
  places: [],
  last: undefined,
  foreign: undefined
}

const nothing: ReadonlyArray<WorkerPart> = []

const silent = (state: State): Step<State> => ({ state, parts: nothing })

// -------------------------------------------------------------------------------------------------------------------
// Text
// -------------------------------------------------------------------------------------------------------------------

const placeOf = (event: Json.Fields): Calls.Place => ({
  index: event.output_index ?? undefined,
  itemId: Json.text(event.item_id) ?? ""
})

const isSame = (left: Calls.Place, right: Calls.Place): boolean =>
  left.itemId !== "" && right.itemId !== "" ? left.itemId === right.itemId : left.index === right.index

/** Maximum number of text parts per answer. */
const most = 4096

const findPart = (texts: State["texts"], place: Calls.Place, part: unknown): number =>
  texts.findLastIndex((one) => one.part === part && isSame(one, place))

const withText = (state: State, at: number, part: Part): State => {
  if (at === -1 && state.texts.length >= most) throw unreadable("the response has too many parts")
  return { ...state, texts: at === -1 ? [...state.texts, part] : state.texts.with(at, part) }
}

const textPart = (text: string): ReadonlyArray<WorkerPart> => (text === "" ? nothing : [{ type: "text", text }])

/** Adds a chunk of a part's text. */
const said = (state: State, event: Json.Fields): Step<State> => {
  const { text } = content(event.delta, "delta")
  if (text === "") return silent(state)
  const place = placeOf(event)
  const part = event.content_index ?? 0
  const at = findPart(state.texts, place, part)
  const before = state.texts[at]?.text ?? ""
  return { state: withText(state, at, { ...place, part, text: before + text }), parts: textPart(text) }
}

const otherText = "the final text differs from the streamed text; the final text is used"

/** Applies the complete text of a part: emits what is missing, and replaces the streamed text if it differs. */
const wholePart = (state: State, place: Calls.Place, part: unknown, text: string): Step<State> => {
  const at = findPart(state.texts, place, part)
  const before = state.texts[at]?.text ?? ""
  if (text === "" || text === before) return silent(state)
  const next = withText(state, at, { ...place, part, text })
  return text.startsWith(before)
    ? { state: next, parts: textPart(text.slice(before.length)) }
    : { state: { ...next, isOther: true }, parts: nothing, warning: otherText }
}

const partText = (value: unknown): string => {
  const part = Json.fields(value)
  return Json.text(part.refusal) ?? content(part.text, "text").text
}

const isRefusal = (value: unknown): boolean => Json.fields(value).type === "refusal"

/** Applies the text of a complete message. */
const message = (state: State, place: Calls.Place, item: Json.Fields): Step<State> => {
  const parts =
    typeof item.content === "string" ? [{ type: "output_text", text: item.content }] : Json.items(item.content)
  let step: Step<State> = silent(state)
  for (const [index, part] of parts.entries())
    step = after(step, (state) => wholePart(state, place, index, partText(part)))
  const omitted = parts.flatMap(omittedOf)
  const said = omitted.length === 0 ? step : { ...step, omitted: [...(step.omitted ?? []), ...omitted] }
  return parts.some(isRefusal) ? { ...said, state: { ...said.state, isRefused: true } } : said
}

const texts: ReadonlySet<unknown> = new Set(["output_text", "text", "refusal", "summary_text", undefined, null])

/** Returns the kinds of content in a part other than text. */
const omittedOf = (value: unknown): ReadonlyArray<string> => {
  const part = Json.fields(value)
  if (!texts.has(part.type)) return [Omitted.kindOf(part.type)]
  return Json.items(part.annotations).length === 0 ? [] : ["citations"]
}

/** Reads tool calls within a message, which some proxies leave in the format of Chat Completions. */
const callsWithin = (state: State, item: Json.Fields): Step<State> => {
  let step: Step<State> = silent(state)
  for (const [at, value] of Json.items(item.tool_calls).entries()) {
    const call = { ...Json.fields(value), call_id: Json.fields(value).id, id: undefined }
    const place = { index: `call ${at}`, itemId: "" }
    step = after(step, (state) => taken(state, Calls.end(state.calls, place, call)))
  }
  return step
}

const after = (step: Step<State>, next: (state: State) => Step<State>): Step<State> => {
  const { omitted, parts, state, warning } = next(step.state)
  return {
    state,
    parts: parts.length === 0 ? step.parts : [...step.parts, ...parts],
    warning: step.warning ?? warning,
    omitted: omitted === undefined ? step.omitted : [...new Set([...(step.omitted ?? []), ...omitted])]
  }
}

const textOf = ({ texts }: State): string => texts.map(({ text }) => text).join("")

// -------------------------------------------------------------------------------------------------------------------
// Reasoning
// -------------------------------------------------------------------------------------------------------------------

const reasoningPart = (text: string): ReadonlyArray<WorkerPart> =>
  text === "" ? nothing : [{ type: "reasoning", text }]

const thoughtOf = (event: Json.Fields): Thought => ({ ...placeOf(event), section: event.summary_index ?? undefined })

/** Whether reasoning at a position has arrived. Without a section, any reasoning of the item counts. */
const hasThought = (state: State, { section, ...place }: Thought): boolean =>
  state.reasoned.some(
    (one) => isSame(one, place) && (section === undefined || one.section === undefined || one.section === section)
  )

const sectionBreak = "\n\n"

/** Adds reasoning. Sections of a summary are separated by an empty line. */
const withThought = (state: State, place: Thought, text: string): Step<State> => {
  if (hasThought(state, place)) return { state, parts: reasoningPart(text) }
  if (state.reasoned.length >= most) throw unreadable("the response has too many parts")
  const isFurther = state.reasoned.some((one) => isSame(one, place))
  const next = { ...state, reasoned: [...state.reasoned, place] }
  return { state: next, parts: reasoningPart(isFurther ? sectionBreak + text : text) }
}

const thought = (state: State, event: Json.Fields): Step<State> => {
  const { reasoning, text } = content(event.delta, "delta")
  return text + reasoning === "" ? silent(state) : withThought(state, thoughtOf(event), text + reasoning)
}

const thoughtText = (part: unknown): string => Json.text(part) ?? partText(part)

const reasoningTexts = (item: Json.Fields): string =>
  listOf(item.summary).map(thoughtText).filter(Boolean).join(sectionBreak) +
  listOf(item.content).map(thoughtText).join("")

/** Returns a list, or a single item as a list. */
const listOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]

/** Adds reasoning that arrives complete, unless its pieces have already arrived. */
const wholeThought = (state: State, place: Thought, text: string): Step<State> =>
  text === "" || hasThought(state, place) ? silent(state) : withThought(state, place, text)

// -------------------------------------------------------------------------------------------------------------------
// Items
// -------------------------------------------------------------------------------------------------------------------

const itemPlace = (index: unknown, item: Json.Fields): Calls.Place => ({
  index: index ?? undefined,
  itemId: Json.text(item.id) ?? ""
})

const otherCall = "the final arguments of a tool call differ from the streamed ones; the final ones are used"

const taken = (state: State, { calls, isOther, parts }: Calls.Taken): Step<State> => ({
  state: calls === state.calls ? state : { ...state, calls },
  parts,
  warning: isOther === true ? otherCall : undefined
})

const added = (state: State, event: Json.Fields): Step<State> => {
  const item = Json.object(event.item ?? undefined, "an item")
  const place = itemPlace(event.output_index, item)
  if (Calls.isCall(item)) return taken(state, Calls.begin(state.calls, place, item))
  return item.type === "message" ? message(state, place, item) : silent(state)
}

const withPlace = (state: State, item: Json.Fields): State => {
  const place = Echo.placeOf(item)
  if (place === undefined || state.places.some((one) => Echo.isSame(one, place))) return state
  return { ...state, places: Echo.withPlace(state.places, place) }
}

/** Applies a completed output item from the stream, or from the final response with {@link Calls.confirm}. */
const ended = (before: State, index: unknown, value: unknown, endCall = Calls.end): Step<State> => {
  const item = Json.object(value ?? undefined, "an item")
  const state = withPlace(before, item)
  const place = itemPlace(index, item)
  if (Calls.isCall(item)) return taken(state, endCall(state.calls, place, item))
  if (item.type === "reasoning") return wholeThought(state, { ...place, section: undefined }, reasoningTexts(item))
  if (item.type === "image_generation_call") return { ...silent(state), omitted: ["pictures"] }
  return item.type === "message" || (item.type === undefined && (item.content !== undefined || item.tool_calls))
    ? after(message(state, place, item), (state) => callsWithin(state, item))
    : silent(state)
}

// -------------------------------------------------------------------------------------------------------------------
// Endings
// -------------------------------------------------------------------------------------------------------------------

const isMessage = (item: Json.Fields): boolean =>
  item.type === "message" || (item.type === undefined && !Calls.isCall(item))

/** Applies the final text of the response, if it has one; it takes precedence. */
const finalText = (state: State, output: ReadonlyArray<unknown>): Step<State> => {
  const whole = output.map(Json.fields).filter(isMessage)
  const text = whole
    .map((item) => (typeof item.content === "string" ? item.content : Json.items(item.content).map(partText).join("")))
    .join("")
  const streamed = textOf(state)
  if (text === "" || text === streamed) return silent(state)
  const refused = whole.some((item) => Json.items(item.content).some(isRefusal))
  const next = { ...state, isRefused: state.isRefused || refused, texts: [{ index: "all", itemId: "", part: 0, text }] }
  return text.startsWith(streamed)
    ? { state: next, parts: textPart(text.slice(streamed.length)) }
    : { state: { ...next, isOther: true }, parts: nothing, warning: otherText }
}

/** Returns the response from an event. Some servers send the response as the event, or only its error. */
const lastOf = (event: Json.Fields): Json.Fields => {
  const { error, object, output, response, usage } = event
  const own = object === "response" || Array.isArray(output) ? event : error ? { error } : undefined
  const last = Json.object(response ?? own, "response")
  return usage && !last.usage ? { ...last, usage } : last
}

/** Returns the items in a response. `output_text` is usually derived by SDKs, but some servers send only this field. */
const outputOf = (last: Json.Fields): ReadonlyArray<unknown> => {
  const output = listOf(last.output).filter((item) => item !== null)
  return output.length === 0 && Json.text(last.output_text) !== undefined
    ? [{ type: "message", content: last.output_text }]
    : output
}

/** Applies the final response, whose items take precedence. */
const completed = (state: State, last: Json.Fields): Step<State> => {
  const output = outputOf(last)
  let step: Step<State> = silent({ ...state, last })
  for (const [index, item] of output.entries()) {
    if (!isMessage(Json.fields(item))) step = after(step, (state) => ended(state, index, item, Calls.confirm))
  }
  for (const item of output.map(Json.fields)) {
    if (isMessage(item)) step = after(step, (state) => callsWithin(state, item))
  }
  const omitted = output.flatMap((item) => Json.items(Json.fields(item).content).flatMap(omittedOf))
  return after(step, (state) => ({ ...finalText(state, output), omitted }))
}

const isFailed = (status: unknown): boolean => status === "failed" || status === "cancelled"

/** Returns the calls. Those that the answer was cut within have no arguments. */
const callsOf = ({ calls, last }: State): ReadonlyArray<Calls.Whole> =>
  Calls.whole(calls, last?.status !== "incomplete")

/** Returns the positions of the calls that the answer was not cut within. */
const placesOf = (state: State): ReadonlyArray<Echo.Place> =>
  state.last?.status === "incomplete"
    ? Echo.upTo(state.places, new Set(callsOf(state).flatMap((call) => (call.arguments === "" ? [] : [call.id]))))
    : state.places

const failure = (last: Json.Fields): WorkerErrorReason | undefined => {
  if (Errors.hasInformation(last.error)) return Errors.reasonOfEvent(last.error)
  if (!isFailed(last.status)) return undefined
  return { _tag: "Overloaded", detail: `the answer ended with status "${last.status}" without a reason` }
}

/** Ends the response, regardless of the name of its last event. */
const concluded = (state: State, last: Json.Fields): Step<State> => {
  const failed = failure(last)
  if (failed !== undefined) return { state: { ...state, last }, parts: nothing, failure: failed }
  // Proxies report `completed` for truncated answers.
  const isCut = last.status === "completed" && Json.text(Json.fields(last.incomplete_details).reason) !== undefined
  return completed(state, isCut ? { ...last, status: "incomplete" } : last)
}

/** Returns the reason of an incomplete answer. Servers that give none have reached their limit. */
const incompleteReason = (last: Json.Fields): string => {
  const details = Json.fields(last.incomplete_details)
  return Json.text(details.reason) ?? Json.text(last.incomplete_details) ?? "max_output_tokens"
}

/** Returns the failure of an answer that is incomplete without a valid reason. */
const failed = ({ last }: State): WorkerErrorReason | undefined => {
  if (last?.status !== "incomplete") return undefined
  const end = ending(incompleteReason(last), "incomplete_details.reason")
  return end.type === "failed" ? end.failure : undefined
}

const finishReason = (state: State): FinishReason | undefined => {
  const { calls, isRefused, last } = state
  if (last === undefined || failed(state) !== undefined) return undefined
  if (last.status === "incomplete") {
    const end = ending(incompleteReason(last), "incomplete_details.reason")
    return end.type === "ended" ? end.reason : undefined
  }
  if (isRefused) return "refusal"
  return calls.length > 0 ? "tool-calls" : "stop"
}

// -------------------------------------------------------------------------------------------------------------------
// The protocol
// -------------------------------------------------------------------------------------------------------------------

/** Emits the handle for fetching the answer later, if the vendor processes it in the background. */
const created = (state: State, event: Json.Fields, isBackground: boolean): Step<State> => {
  const id = isBackground ? Json.text(lastOf(event).id) : undefined
  return id === undefined ? silent(state) : { state, parts: [{ type: "handle", handle: id }] }
}

/** Applies the start or end event of a part, both of which contain its entire text. */
const partEnd = (state: State, event: Json.Fields): Step<State> => {
  const step = wholePart(state, placeOf(event), event.content_index ?? 0, partText(event.part ?? event))
  return isRefusal(event.part) ? { ...step, state: { ...step.state, isRefused: true } } : step
}

type Handler = (state: State, event: Json.Fields, isBackground: boolean) => Step<State>

const refused =
  (handler: Handler): Handler =>
  (state, event, isBackground) =>
    handler(state.isRefused ? state : { ...state, isRefused: true }, event, isBackground)

/** Event handlers by type; other events are ignored. */
const handlers: Readonly<Record<string, Handler>> = {
  [events.created]: created,
  [events.textDelta]: said,
  [events.textDone]: partEnd,
  "response.text.delta": said,
  "response.text.done": partEnd,
  "response.content_part.delta": said,
  [events.refusalDelta]: refused(said),
  [events.refusalDone]: refused(partEnd),
  [events.partAdded]: partEnd,
  [events.partDone]: (state, event) =>
    Json.fields(event.part).type === "reasoning_text"
      ? wholeThought(state, thoughtOf(event), partText(event.part))
      : partEnd(state, event),
  [events.summaryDelta]: thought,
  "response.reasoning_text.delta": thought,
  "response.reasoning.delta": thought,
  "response.reasoning_summary.delta": thought,
  [events.summaryDone]: (state, event) => wholeThought(state, thoughtOf(event), partText(event)),
  "response.reasoning_text.done": (state, event) => wholeThought(state, thoughtOf(event), partText(event)),
  [events.summaryPartDone]: (state, event) => wholeThought(state, thoughtOf(event), partText(event.part)),
  [events.itemAdded]: added,
  [events.itemDone]: (state, event) => ended(state, event.output_index, event.item),
  [events.argumentsDelta]: (state, event) => taken(state, Calls.extend(state.calls, placeOf(event), event.delta)),
  [events.inputDelta]: (state, event) => taken(state, Calls.extend(state.calls, placeOf(event), event.delta)),
  [events.inputDone]: (state, event) =>
    taken(state, Calls.end(state.calls, placeOf(event), { name: event.name, input: event.input }, false)),
  [events.argumentsDone]: (state, event) =>
    taken(state, Calls.end(state.calls, placeOf(event), { name: event.name, arguments: event.arguments }, false)),
  [events.completed]: (state, event) => concluded(state, lastOf(event)),
  [events.incomplete]: (state, event) => concluded(state, { status: "incomplete", ...lastOf(event) }),
  [events.failed]: (state, event) => concluded(state, { ...lastOf(event), status: "failed" }),
  [events.cancelled]: (state, event) => concluded(state, { ...lastOf(event), status: "cancelled" }),
  "response.done": (state, event) => whole(state, lastOf(event))
}

/** Folds one event. Unknown events are ignored. */
const next = (state: State, event: unknown, isBackground: boolean): Step<State> => {
  if (event === null || event === done) return silent(state)
  const fields = Json.object(event, "an event")
  if (isWhole(fields)) return whole(state, fields)
  if (fields.type === undefined && isWhole(Json.fields(fields.response)))
    return whole(state, Json.fields(fields.response))
  const handler = Json.meaning(handlers, Json.textChunk(fields.type, "type"))
  if (handler !== undefined) return handler(state.hasBegun ? state : { ...state, hasBegun: true }, fields, isBackground)
  const error = Errors.errorIn(fields)
  if (error !== undefined) return { state, parts: nothing, failure: Errors.reasonOfEvent(error) }
  const hasWords = fields.type === undefined && Errors.read(fields).words.length > 0
  return silent(hasWords ? { ...state, foreign: fields } : state)
}

/** Whether an object is a complete response and not an event. */
const isWhole = ({ object, output, type }: Json.Fields): boolean =>
  type === undefined && (object === "response" || (object === undefined && Array.isArray(output)))

const ends: ReadonlySet<unknown> = new Set(["completed", "incomplete", "failed", "cancelled", undefined, null])

/** Applies a complete response. */
const whole = (state: State, response: Json.Fields): Step<State> => {
  if (!ends.has(response.status)) throw unreadable("an answer is incomplete")
  return concluded(state, response)
}

/** Returns the protocol of Responses API streams. */
export const protocol = (model: string, isBackground = false): Protocol<unknown, State> => ({
  initial,
  next: (state, event) => next(state, event, isBackground),
  failed,
  finishReason,
  isOver: ({ last }) => last !== undefined,
  last: callsOf,
  text: (state) => (state.isOther ? textOf(state) : undefined),
  // OpenAI's input includes cached tokens and its output includes reasoning, as in our usage.
  usage: ({ last }) => usageOf(last?.usage),
  model: ({ last }) => Json.text(last?.model),
  echo: (state) => Echo.echoOf(model, placesOf(state)),
  incomplete: ({ foreign, hasBegun }) => {
    if (foreign !== undefined) return Errors.reasonOfEvent(foreign)
    return hasBegun
      ? { _tag: "Network", detail: "the stream ended before the answer was complete" }
      : { _tag: "Malformed", detail: "the response is not a Responses API response" }
  }
})
