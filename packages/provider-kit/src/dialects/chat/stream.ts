/**
 * Folds the chunks of Chat Completions, or a complete response, into one answer. Content may arrive in deltas, at the
 * end, or only in a final message, which takes precedence.
 */
import type { FinishReason, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import { unreadable } from "../../VendorError.ts"
import { done } from "../../VendorEvents.ts"
import * as Json from "../../VendorJson.ts"
import type { Protocol, Step } from "../../VendorStream.ts"
import { ending, isGood, isOpen, wordIn } from "../endings.ts"
import * as Errors from "../errors.ts"
import * as Omitted from "../omitted.ts"
import { callOfPart, content, partsIn } from "../text.ts"
import * as Thinking from "../thinking.ts"
import { later, reportedIn, usageOf } from "../usage.ts"
import { areWhole, type Calls, extrasOf, finalCalls, takeCalls, takeFunction, wholeCalls } from "./calls.ts"
import { type Echo, extrasEcho, type Field, takeEcho } from "./echo.ts"
import * as Forms from "./forms.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Facts about a server that its answers do not state. */
export interface Options {
  /**
   * The requested model. Additions of the server to its calls are sent back only to this model. If absent, they are not
   * sent back.
   */
  readonly model?: string | undefined
  /** Whether its usage reports are used. Default: `true`. */
  readonly readsUsage?: boolean | undefined
  /** The field of a delta with the reasoning, if there are several. Default: the first one that is not empty. */
  readonly reasoningField?: string | undefined
  /** The field in which the server expects its reasoning back. If absent, reasoning is not sent back. */
  readonly reasoningEcho?: Field | undefined
  /** Whether reasoning between tags is removed from the text. Default: `false`. */
  readonly thinkTags?: boolean | undefined
  /** Whether an answer may end with `[DONE]` and without a finish reason. Default: `false`. */
  readonly endsWithDone?: boolean | undefined
}

/** The state of an answer so far. */
export interface State {
  readonly isRefused: boolean
  /** The text so far. */
  readonly text: string
  /** The complete text, if a final message differs from the streamed text. */
  readonly final: string | undefined
  readonly thinking: Thinking.Thinking
  readonly calls: Calls
  /** The data that the server expects back: its reasoning so far. */
  readonly echo: Echo | undefined
  /** `extra_content` of the message: other data that the server expects back. */
  readonly extra: Json.Fields | undefined
  /** The last reported finish reason. */
  readonly finish: FinishReason | undefined
  readonly failure: WorkerErrorReason | undefined
  /** Whether data in the format of this API has arrived. */
  readonly hasBegun: boolean
  /** Whether the format has no end marker other than `[DONE]`. */
  readonly endsWithDone: boolean
  /** Whether `[DONE]` has arrived. */
  readonly isDone: boolean
  /** The model name in the response. */
  readonly model: string | undefined
  /** The usage of a chunk, unchanged. */
  readonly usage: unknown
  /** The last event with text that is not a chunk. It is the reason if the answer has no end marker. */
  readonly foreign: Json.Fields | undefined
}

const initial: State = {
  isRefused: false,
  text: "",
  final: undefined,
  thinking: Thinking.start,
  calls: [],
  echo: undefined,
  extra: undefined,
  finish: undefined,
  failure: undefined,
  hasBegun: false,
  endsWithDone: false,
  isDone: false,
  model: undefined,
  usage: undefined,
  foreign: undefined
}

const nothing: ReadonlyArray<WorkerPart> = []

// -------------------------------------------------------------------------------------------------------------------
// Text
// -------------------------------------------------------------------------------------------------------------------

/**
 * The fields of a delta that hold reasoning. Servers send the same in several, so one of them counts. `reasoning_text` is
 * GitHub Copilot's.
 */
const reasoningFields = [
  "reasoning_content",
  "reasoning",
  "thinking",
  "thinking_content",
  "thought",
  "thoughts",
  "reasoning_text",
  "thinking_blocks",
  // Cohere's plan of its calls.
  "tool_plan"
] as const

const reasoningIn = (delta: Json.Fields, { reasoningField }: Options): string => {
  if (reasoningField !== undefined && delta[reasoningField]) return textOf(delta[reasoningField], reasoningField)
  for (const name of reasoningFields) if (delta[name]) return textOf(delta[name], name)
  if (!delta.reasoning_details) return ""
  return Json.items(delta.reasoning_details)
    .map((detail) => Json.text(Json.fields(detail).text) ?? Json.text(Json.fields(detail).summary) ?? "")
    .join("")
}

const textOf = (value: unknown, name: string): string => {
  if (typeof value === "string") return value
  const { reasoning, text } = content(value, name)
  return reasoning + text
}

interface Said {
  readonly reasoning: string
  readonly text: string
  readonly skipped: ReadonlyArray<string>
}

const none: ReadonlyArray<never> = []

/** Gemini's endpoint of Chat Completions marks the content of a delta as thought, and writes it between tags. */
const isThought = (delta: Json.Fields): boolean => Json.fields(Json.fields(delta.extra_content).google).thought === true

/** Fields of a delta with contents that are no text. */
const mediaFields = {
  images: "pictures",
  audio: "audio",
  video: "video",
  annotations: "citations",
  citations: "citations",
  grounding_metadata: "citations"
} as const

/** Fields of a chunk with sources: Perplexity's, xAI's, and those of proxies in front of Gemini. */
const sourceFields = {
  citations: "citations",
  search_results: "citations",
  images: "pictures",
  vertex_ai_grounding_metadata: "citations",
  groundingMetadata: "citations"
} as const

const omittedIn = (chunk: Json.Fields, choice: Json.Fields, delta: Json.Fields, { skipped }: Said) => {
  const message = choice.message ? Omitted.kindsIn(Json.fields(choice.message), mediaFields) : none
  const inFields = [...Omitted.kindsIn(chunk, sourceFields), ...Omitted.kindsIn(delta, mediaFields), ...message]
  const all = skipped.length === 0 ? inFields : [...inFields, ...skipped.map(Omitted.kindOf)]
  return all.length === 0 ? undefined : all
}

/** The words of spoken audio. */
const transcriptOf = ({ audio }: Json.Fields): string => Json.text(Json.fields(audio).transcript) ?? ""

const saidBy = (delta: Json.Fields, options: Options): Said => {
  if (delta.extra_content !== undefined && isThought(delta)) {
    const thought = content(delta.content, "content").text.replaceAll(/<\/?thought>/g, "")
    return { reasoning: thought, text: "", skipped: none }
  }
  const reasoning = reasoningIn(delta, options)
  if (typeof delta.content === "string" && !delta.refusal && !delta.audio) {
    return { reasoning, text: delta.content, skipped: none }
  }
  const said = content(delta.content, "content")
  const text = said.text || refusalOf(delta.refusal) || transcriptOf(delta)
  return { reasoning: reasoning || said.reasoning, text, skipped: said.skipped }
}

/** The words of a refusal: some servers write an empty object or false for none. */
const refusalOf = (value: unknown): string => {
  const isEmpty = !value || (typeof value === "object" && Object.keys(value).length === 0)
  return isEmpty ? "" : content(value, "refusal").text
}

const partsOf = (reasoning: string, text: string): ReadonlyArray<WorkerPart> => {
  if (reasoning === "") return text === "" ? nothing : [{ type: "text", text }]
  return text === ""
    ? [{ type: "reasoning", text: reasoning }]
    : [
        { type: "reasoning", text: reasoning },
        { type: "text", text }
      ]
}

/** Adds text, and separates reasoning between tags. */
const written = (state: State, { reasoning, text }: Said, { thinkTags }: Options): Step<State> => {
  if (thinkTags !== true || text === "") {
    const parts = partsOf(reasoning, text)
    return text === "" ? { state, parts } : { state: { ...state, text: state.text + text }, parts }
  }
  const { pieces, thinking, wasThought } = Thinking.take(state.thinking, text)
  const outside = pieces.map((piece) => (piece.type === "text" ? piece.text : "")).join("")
  const parts = [...partsOf(reasoning, ""), ...pieces]
  // Text before the closing tag of an unopened thought has already been emitted: the whole text replaces it.
  if (wasThought) {
    const before: ReadonlyArray<WorkerPart> = state.text === "" ? [] : [{ type: "reasoning", text: state.text }]
    return {
      state: { ...state, thinking, text: outside, final: state.text === "" ? state.final : "" },
      parts: [...before, ...parts]
    }
  }
  return { state: { ...state, thinking, text: state.text + outside }, parts }
}

// -------------------------------------------------------------------------------------------------------------------
// Final messages
// -------------------------------------------------------------------------------------------------------------------

/** A message as it is whole: its text and its calls win over what was pieced together. */
const finished = (state: State, message: Json.Fields, options: Options): Step<State> => {
  const said = saidBy(message, options)
  const { calls, isOther } = finalCalls(state.calls, callsIn(message))
  const legacy = calls.length === 0 ? takeFunction(calls, message.function_call).calls : calls
  const next = {
    ...state,
    calls: legacy,
    echo: state.echo ?? takeEcho(undefined, message, options.reasoningEcho),
    extra: extraOf(state.extra, message)
  }
  const fresh = { ...said, reasoning: state.text === "" && state.calls.length === 0 ? said.reasoning : "" }
  const warning = isOther ? "its final message has other calls of tools than it streamed: those count" : undefined
  if (said.text === "" || said.text === state.text) {
    return { ...written(next, { ...fresh, text: "" }, options), warning }
  }
  if (state.text === "" || (said.text.startsWith(state.text) && options.thinkTags !== true)) {
    return { ...written(next, { ...fresh, text: said.text.slice(state.text.length) }, options), warning }
  }
  // Text without its reasoning is compared with no message that has it.
  if (options.thinkTags === true) return { state: next, parts: nothing, warning }
  return {
    state: { ...next, final: said.text },
    parts: nothing,
    warning: "its final message has another text than it streamed: that counts"
  }
}

/** Reads a message instead of a delta: a piece, or the whole text so far. */
const messagePiece = (state: State, message: Json.Fields): Json.Fields => {
  const text = message.content
  return typeof text === "string" && state.text !== "" && text.startsWith(state.text)
    ? { ...message, content: text.slice(state.text.length) }
    : message
}

// -------------------------------------------------------------------------------------------------------------------
// Endings
// -------------------------------------------------------------------------------------------------------------------

/** Reads endings in non-standard fields, which count if they are known words. */
const otherFinish = (choice: Json.Fields): string => {
  const word =
    choice.finishReason ??
    choice.native_finish_reason ??
    Json.fields(choice.finish_details).type ??
    Json.fields(choice.delta).finish_reason ??
    choice.stop_reason
  return typeof word === "string" && isGood(word) ? word : ""
}

/** Whether a choice is of a whole answer: it has a message, and its chunk is whole or has the usage of the whole answer. */
const isWhole = ({ object, usage }: Json.Fields, { delta, message }: Json.Fields): boolean =>
  Boolean(message) && !delta && (object === "chat.completion" || usageOf(usage) !== undefined)

/** Returns the word of an ending; empty if the answer continues. A whole answer has ended even if it has no word. */
const finishOf = (chunk: Json.Fields, choice: Json.Fields): string => {
  const word = wordIn(choice.finish_reason, "finish_reason")
  if (word !== "" && !isOpen(word)) return word
  return otherFinish(choice) || (isWhole(chunk, choice) ? "stop" : "")
}

/** The last ending counts: some servers end each of several calls. Of good endings and failures, a failure does. */
const ended = (state: State, word: string): State => {
  if (word === "") return state
  const end = ending(word, "finish_reason")
  if (end.type === "failed") return { ...state, failure: state.failure ?? end.failure }
  return { ...state, finish: end.reason }
}

/** An answer that ends in its middle, or that a filter has cut off, calls no tools. */
const hasWholeCalls = ({ finish }: State): boolean => finish !== "length" && finish !== "refusal"

/** With the choice of one tool, and on many servers always, an answer that calls a tool ends by itself. */
const finishReason = (state: State, { endsWithDone }: Options): FinishReason | undefined => {
  const { calls, failure, finish, isDone, isRefused } = state
  if (failure !== undefined) return undefined
  // Some servers give no reason for an answer that calls tools (earendil-works/pi#6225).
  const isOver =
    isDone &&
    (areWhole(calls) || ((endsWithDone === true || state.endsWithDone) && (state.text !== "" || calls.length > 0)))
  if (finish === undefined && !isOver) return undefined
  if (isRefused) return "refusal"
  if (calls.length > 0 && hasWholeCalls(state)) return "tool-calls"
  return finish === undefined || finish === "tool-calls" ? "stop" : finish
}

const last = (state: State, { thinkTags }: Options): ReadonlyArray<WorkerPart> => {
  // With a text, the word alone is wrong.
  if (state.finish === "tool-calls" && state.calls.length === 0 && state.text === "") {
    throw unreadable("the response ends with a request for tools but contains no tool call")
  }
  const rest = thinkTags === true ? Thinking.rest(state.thinking) : []
  return hasWholeCalls(state) ? [...rest, ...wholeCalls(state.calls)] : rest
}

const incomplete = ({ foreign, hasBegun, isDone }: State): WorkerErrorReason => {
  if (foreign !== undefined) return Errors.reasonOfEvent(foreign)
  if (!hasBegun) return { _tag: "Malformed", detail: "the response is not a Chat Completions response" }
  return isDone
    ? {
        _tag: "Network",
        detail:
          "the stream ended with [DONE] and without a finish_reason: if its answers always do, set endsWithDone: true"
      }
    : { _tag: "Network", detail: "the stream ended before the answer was complete" }
}

// -------------------------------------------------------------------------------------------------------------------
// The protocol
// -------------------------------------------------------------------------------------------------------------------

/** Calls as blocks of the content, which proxies pass on from Anthropic and from the AI SDK. */
const blocksOf = (content: unknown): ReadonlyArray<unknown> =>
  partsIn(content).flatMap((value) => {
    const call = callOfPart(Json.fields(value))
    return call === undefined ? [] : [call]
  })

/** The calls of a delta or of a message: in the field of the API, by other names, or as blocks of the content. */
const callsIn = (message: Json.Fields): unknown => {
  const listed = message.tool_calls || message.toolCalls || message.function_calls
  if (listed) return listed
  const blocks = blocksOf(message.content)
  return blocks.length === 0 ? undefined : blocks
}

/** `extra_content` of a message that is more than a mark of a thought. */
const extraOf = (before: Json.Fields | undefined, { extra_content: extra }: Json.Fields): Json.Fields | undefined =>
  typeof extra === "object" && extra !== null && Json.fields(Json.fields(extra).google).thought !== true
    ? Json.fields(extra)
    : before

/** Takes what is rare: calls of tools, refusals, why an answer ends, what it used, and what the server wants back. */
const rest = (state: State, delta: Json.Fields, word: string, usage: unknown, options: Options): Step<State> => {
  const called = takeCalls(state.calls, callsIn(delta))
  const { calls, parts } = takeFunction(called.calls, delta.function_call)
  const next: State = {
    ...state,
    isRefused: state.isRefused || refusalOf(delta.refusal) !== "",
    calls,
    echo: takeEcho(state.echo, delta, options.reasoningEcho),
    extra: extraOf(state.extra, delta),
    usage: later(state.usage, usage)
  }
  return { state: ended(next, word), parts: called.parts.length === 0 ? parts : [...called.parts, ...parts] }
}

/** Each chunk names the model; the first that does is enough. */
const named = (before: State, { choices, model, usage }: Json.Fields, given: Json.Fields): State => {
  const isFirst = !before.hasBegun && (choices !== undefined || usage !== undefined)
  const state = isFirst ? { ...before, hasBegun: true, endsWithDone: Forms.endsWithDone(given) } : before
  return state.model !== undefined || typeof model !== "string" || model === "" ? state : { ...state, model }
}

/** A delta or a message: fields, or a text alone. PHP writes an empty object as a list. */
const piecesOf = (value: unknown, name: string): Json.Fields => {
  if (typeof value === "string") return { content: value }
  return Array.isArray(value) && value.length === 0 ? {} : Json.object(value ?? undefined, name)
}

/** A choice of legacy completions has its text outside of a message. */
const deltaOf = (state: State, choice: Json.Fields, isFinal: boolean): Json.Fields => {
  const delta = piecesOf(choice.delta, "delta")
  if (isFinal || (choice.delta && !(choice.message && Object.keys(delta).length === 0))) return delta
  if (choice.message) return messagePiece(state, piecesOf(choice.message, "a message"))
  return typeof choice.text === "string" ? { content: choice.text } : delta
}

/** A chunk whose choices are a list. Some servers give one alone, or an object with the numbers of choices as its names. */
const listed = (chunk: Json.Fields): Json.Fields => {
  const { choices } = chunk
  if (choices === undefined || choices === null || Array.isArray(choices)) return chunk
  const one = Json.object(choices, "choices")
  const isNumbered = "0" in one
  return { ...chunk, choices: isNumbered ? Object.values(one) : [one] }
}

/** The calls of another choice than the first, with numbers of their own: each choice numbers its calls from 0. */
const callsOfOther = (choice: Json.Fields, name: string, at: number): ReadonlyArray<unknown> =>
  Json.items(Json.fields(choice[name]).tool_calls).map((value) => {
    const call = Json.fields(value)
    return { ...call, index: `choice ${choice.index ?? at}: ${call.index ?? ""}` }
  })

/** Whether two calls are of one tool with the same arguments, as a second answer to the question repeats them. */
const isSameCall = (left: unknown, right: unknown): boolean => {
  const [one, other] = [Json.fields(Json.fields(left).function), Json.fields(Json.fields(right).function)]
  return Boolean(one.name) && one.name === other.name && one.arguments === other.arguments
}

/**
 * The choice of a chunk. One answer is asked for: where a server spreads it over several choices, as GitHub Copilot gives
 * text in one and each call of a tool in another, the first is read with the calls of the others.
 */
const choiceOf = (chunk: Json.Fields): Json.Fields => {
  const choices = Json.items(chunk.choices)
  const choice = Json.object(choices[0] ?? undefined, "a choice")
  if (choices.length < 2) return choice
  const name = choice.message ? "message" : "delta"
  const own = Json.fields(choice[name])
  const ownCalls = Json.items(own.tool_calls)
  const calls = choices.slice(1).flatMap((other, at) => callsOfOther(Json.fields(other), name, at + 1))
  const others = calls.filter((call) => !ownCalls.some((known) => isSameCall(known, call)))
  return others.length === 0 ? choice : { ...choice, [name]: { ...own, tool_calls: [...ownCalls, ...others] } }
}

/** Reads an event without choices and usage: the reason for a missing answer, or nothing. */
const foreign = (state: State, event: Json.Fields): Step<State> => {
  const hasWords = Errors.read(event).words.length > 0
  return { state: hasWords ? { ...state, foreign: event } : state, parts: nothing }
}

/** Folds a list of chunks that came as one. */
const nextOf = (before: State, events: ReadonlyArray<unknown>, options: Options): Step<State> => {
  let step: Step<State> = { state: before, parts: nothing }
  for (const event of events) {
    const { failure, omitted = none, parts, state, warning } = next(step.state, event, options)
    step = {
      state,
      parts: [...step.parts, ...parts],
      failure,
      warning: step.warning ?? warning,
      omitted: [...(step.omitted ?? none), ...omitted]
    }
    if (failure !== undefined) break
  }
  return step
}

/** The fields of a chunk that say nothing about the answer, and where its text is. */
const plainFields = {
  chunk: new Set(["id", "object", "created", "model", "choices", "system_fingerprint", "service_tier", "usage"]),
  choice: new Set(["index", "delta", "finish_reason", "logprobs"]),
  delta: new Set(["role", "content"])
} as const

const hasOnly = (fields: Json.Fields, names: ReadonlySet<string>): boolean => {
  for (const name in fields) if (!names.has(name) && fields[name] !== null) return false
  return true
}

/** The text of a chunk that brings nothing else, as most do; `undefined` for every other chunk. */
const plainText = (chunk: Json.Fields): string | undefined => {
  const { choices, usage } = chunk
  if (!Array.isArray(choices) || choices.length !== 1 || (usage ?? undefined) !== undefined) return undefined
  const choice = Json.fields(choices[0])
  const delta = Json.fields(choice.delta)
  const isPlain =
    typeof delta.content === "string" &&
    (choice.finish_reason ?? undefined) === undefined &&
    hasOnly(chunk, plainFields.chunk) &&
    hasOnly(choice, plainFields.choice) &&
    hasOnly(delta, plainFields.delta)
  return isPlain ? (delta.content as string) : undefined
}

/** Folds one chunk. */
const next = (before: State, event: unknown, options: Options): Step<State> => {
  if (event === null) return { state: before, parts: nothing }
  if (event === done) return { state: { ...before, isDone: true }, parts: nothing }
  if (Array.isArray(event)) return nextOf(before, event, options)
  const given = Json.object(event, "an event")
  const text = plainText(given)
  if (text !== undefined) return written(named(before, given, given), { reasoning: "", text, skipped: none }, options)
  const chunk = listed(Forms.chunkOf(given))
  const state = named(before, chunk, given)
  const choice = choiceOf(chunk)
  const error = Errors.errorIn(chunk, choice)
  if (error !== undefined) {
    const used = { ...state, usage: reportedIn(chunk) ?? state.usage }
    return { state: used, parts: nothing, failure: Errors.reasonOfEvent(error) }
  }
  if (chunk.choices === undefined && chunk.usage === undefined) return foreign(state, chunk)
  const word = finishOf(chunk, choice)
  const isFinal = Boolean(choice.message) && (word !== "" || chunk.object === "chat.completion")
  const delta = deltaOf(state, choice, isFinal)
  const said = saidBy(delta, options)
  const usage = options.readsUsage === false ? undefined : reportedIn(chunk)
  const wrote = written(state, said, options)
  const isPlain =
    !usage &&
    word === "" &&
    !delta.refusal &&
    !delta.tool_calls &&
    !delta.toolCalls &&
    !delta.function_calls &&
    !delta.function_call &&
    !delta.extra_content &&
    typeof delta.content !== "object" &&
    !options.reasoningEcho
  const omitted = omittedIn(chunk, choice, delta, said)
  if (isPlain) return omitted === undefined ? wrote : { ...wrote, omitted }
  const further = rest(wrote.state, delta, word, usage, options)
  const parts = further.parts.length === 0 ? wrote.parts : [...wrote.parts, ...further.parts]
  if (!isFinal) return { state: further.state, parts, omitted }
  const message = piecesOf(choice.message, "a message")
  const whole = finished(
    { ...further.state, isRefused: further.state.isRefused || refusalOf(message.refusal) !== "" },
    message,
    options
  )
  return { state: whole.state, parts: [...parts, ...whole.parts], warning: whole.warning, omitted }
}

/** Returns the data to send back with a turn that called tools. */
const echoOf = ({ calls, echo, extra }: State, { model, reasoningEcho }: Options): unknown => {
  if (calls.length === 0) return undefined
  const reasoning = reasoningEcho === undefined || echo === undefined ? {} : { [reasoningEcho]: echo }
  const whole = { ...reasoning, ...extrasEcho({ calls: extrasOf(calls), message: extra }, model) }
  return Object.keys(whole).length === 0 ? undefined : whole
}

/** Returns the protocol of a Chat Completions server. */
export const protocol = (options: Options = {}): Protocol<unknown, State> => ({
  initial,
  next: (state, event) => next(state, event, options),
  failed: ({ failure }) => failure,
  finishReason: (state) => finishReason(state, options),
  last: (state) => last(state, options),
  text: ({ final, text }) => (final === "" ? text : final),
  usage: ({ usage }) => usageOf(usage),
  model: ({ model }) => model,
  echo: (state) => echoOf(state, options),
  incomplete
})
