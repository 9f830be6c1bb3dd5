/**
 * Folds Chat Completions chunks, or a complete response, into one answer. Content may arrive in deltas, at the end, or
 * only in a final message, which takes precedence.
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

/** Properties of a server that cannot be determined from its answers. */
export interface Options {
  /**
   * The requested model. Fields that the server adds to tool calls are sent back only to this model. If omitted, they
   * are never sent back.
   */
  readonly model?: string | undefined
  /** Whether the server's usage reports are used. Default: `true`. */
  readonly readsUsage?: boolean | undefined
  /**
   * The delta field that contains the reasoning, for servers that send several. Default: the first field that is not
   * empty.
   */
  readonly reasoningField?: string | undefined
  /** The field in which the server expects its reasoning back. If omitted, reasoning is not sent back. */
  readonly reasoningEcho?: Field | undefined
  /** Whether reasoning between tags is extracted from the text. Default: `false`. */
  readonly thinkTags?: boolean | undefined
  /** Whether an answer may end with `[DONE]` without a finish reason. Default: `false`. */
  readonly endsWithDone?: boolean | undefined
}

/** The accumulated state of an answer. */
export interface State {
  readonly isRefused: boolean
  /** The text received. */
  readonly text: string
  /** The complete text, if the final message differs from the streamed text. */
  readonly final: string | undefined
  readonly thinking: Thinking.Thinking
  readonly calls: Calls
  /** The received reasoning that the server expects to be sent back. */
  readonly echo: Echo | undefined
  /** `extra_content` from the message, which the server also expects back. */
  readonly extra: Json.Fields | undefined
  /** The most recent finish reason. */
  readonly finish: FinishReason | undefined
  readonly failure: WorkerErrorReason | undefined
  /** Whether any data in the format of this API has arrived. */
  readonly hasBegun: boolean
  /** Whether the format has no end marker except `[DONE]`. */
  readonly endsWithDone: boolean
  /** Whether `[DONE]` has arrived. */
  readonly isDone: boolean
  /** The model name reported in the response. */
  readonly model: string | undefined
  /** The usage object of a chunk, unchanged. */
  readonly usage: unknown
  /**
   * The last event that contains text and is not a chunk. Used as the error message if the answer has no end marker.
   */
  readonly foreign: Json.Fields | undefined
  /** Whether the first choice has arrived. */
  readonly hasFirst: boolean
  /** Chunks of choices other than the first. Whether they are the answer is known at its end. */
  readonly held: Held | undefined
}

/** The chunks held back, most recent first, because an answer may contain very many. */
interface Held {
  readonly chunk: Json.Fields
  readonly before: Held | undefined
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
  foreign: undefined,
  hasFirst: false,
  held: undefined
}

const nothing: ReadonlyArray<WorkerPart> = []

// -------------------------------------------------------------------------------------------------------------------
// Text
// -------------------------------------------------------------------------------------------------------------------

/**
 * Delta fields that may contain reasoning. Servers send the same reasoning in several fields, so only one is read.
 * `reasoning_text` is used by GitHub Copilot.
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
  // Cohere's plan for its tool calls.
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

/**
 * Whether a delta's content is a thought. Gemini's Chat Completions endpoint marks thoughts and also writes them
 * between tags.
 */
const isThought = (delta: Json.Fields): boolean => Json.fields(Json.fields(delta.extra_content).google).thought === true

/** Delta fields with content other than text. */
const mediaFields = {
  images: "pictures",
  audio: "audio",
  video: "video",
  annotations: "citations",
  citations: "citations",
  grounding_metadata: "citations"
} as const

/** Chunk fields that list sources, as used by Perplexity, xAI, and proxies in front of Gemini. */
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

/** Returns the transcript of spoken audio. */
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

/** Returns the text of a refusal. Some servers send an empty object or `false` if there is none. */
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

/** Adds text, separating reasoning between tags from it. */
const written = (state: State, reasoning: string, text: string, { thinkTags }: Options): Step<State> => {
  if (text === "") return { state, parts: partsOf(reasoning, text) }
  if (thinkTags !== true) return { state: { ...state, text: state.text + text }, parts: partsOf(reasoning, text) }
  const { pieces, thinking, wasThought } = Thinking.take(state.thinking, text)
  const outside = pieces.map((piece) => (piece.type === "text" ? piece.text : "")).join("")
  const parts = [...partsOf(reasoning, ""), ...pieces]
  // Text before the closing tag of an unopened thought has already been emitted, so the complete text replaces it.
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

/** Applies a complete message, whose text and calls take precedence over the assembled ones. */
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
  const reasoning = state.text === "" && state.calls.length === 0 ? said.reasoning : ""
  const warning = isOther
    ? "its final message has different tool calls than were streamed; the final message is used"
    : undefined
  if (said.text === "" || said.text === state.text) {
    return { ...written(next, reasoning, "", options), warning }
  }
  if (state.text === "" || (said.text.startsWith(state.text) && options.thinkTags !== true)) {
    return { ...written(next, reasoning, said.text.slice(state.text.length), options), warning }
  }
  // Text with the reasoning removed cannot be compared with a message that includes it.
  if (options.thinkTags === true) return { state: next, parts: nothing, warning }
  return {
    state: { ...next, final: said.text },
    parts: nothing,
    warning: "its final message differs from the streamed text; the final message is used"
  }
}

/** Reads a message sent instead of a delta. It contains a chunk, or the entire text received up to then. */
const messagePiece = (state: State, message: Json.Fields): Json.Fields => {
  const text = message.content
  return typeof text === "string" && state.text !== "" && text.startsWith(state.text)
    ? { ...message, content: text.slice(state.text.length) }
    : message
}

// -------------------------------------------------------------------------------------------------------------------
// Endings
// -------------------------------------------------------------------------------------------------------------------

/** Reads finish reasons from non-standard fields; only known values are used. */
const otherFinish = (choice: Json.Fields): string => {
  const word =
    choice.finishReason ??
    choice.native_finish_reason ??
    Json.fields(choice.finish_details).type ??
    Json.fields(choice.delta).finish_reason ??
    choice.stop_reason
  return typeof word === "string" && isGood(word) ? word : ""
}

/**
 * Whether a choice contains the complete answer: it has a message, and the chunk is complete or reports the usage of
 * the complete answer.
 */
const isWhole = ({ object, usage }: Json.Fields, { delta, message }: Json.Fields): boolean =>
  Boolean(message) && !delta && (object === "chat.completion" || usageOf(usage) !== undefined)

/**
 * Returns the finish reason of a choice, or an empty string if the answer continues. A complete answer is finished even
 * without a reason.
 */
const finishOf = (chunk: Json.Fields, choice: Json.Fields): string => {
  const word = wordIn(choice.finish_reason, "finish_reason")
  if (word !== "" && !isOpen(word)) return word
  return otherFinish(choice) || (isWhole(chunk, choice) ? "stop" : "")
}

/**
 * Applies a finish reason. The last one is used, because some servers send one per call, but a failure takes precedence
 * over a success.
 */
const ended = (state: State, word: string): State => {
  if (word === "") return state
  const end = ending(word, "finish_reason")
  if (end.type === "failed") return { ...state, failure: state.failure ?? end.failure }
  return { ...state, finish: end.reason }
}

/** Whether the calls of the answer are complete: not if it was truncated or stopped by a filter. */
const hasWholeCalls = ({ finish }: State): boolean => finish !== "length" && finish !== "refusal"

/**
 * Returns the finish reason. If a single tool was forced, and on many servers always, an answer that calls a tool ends
 * with `stop`.
 */
const finishReason = (state: State, { endsWithDone }: Options): FinishReason | undefined => {
  const { calls, failure, finish, isDone, isRefused } = state
  if (failure !== undefined) return undefined
  // Some servers send no finish reason for an answer with tool calls (earendil-works/pi#6225).
  const isOver =
    isDone &&
    (areWhole(calls) || ((endsWithDone === true || state.endsWithDone) && (state.text !== "" || calls.length > 0)))
  if (finish === undefined && !isOver) return undefined
  if (isRefused) return "refusal"
  if (calls.length > 0 && hasWholeCalls(state)) return "tool-calls"
  return finish === undefined || finish === "tool-calls" ? "stop" : finish
}

const last = (state: State, { thinkTags }: Options): ReadonlyArray<WorkerPart> => {
  // The finish reason is wrong, but the text is usable.
  if (state.finish === "tool-calls" && state.calls.length === 0 && state.text === "") {
    throw unreadable("the response ends with a request for tools but contains no tool call")
  }
  const rest = thinkTags === true ? Thinking.rest(state.thinking) : []
  return state.finish === "refusal" ? rest : [...rest, ...wholeCalls(state.calls, state.finish === "length")]
}

const incomplete = ({ foreign, hasBegun, isDone }: State): WorkerErrorReason => {
  if (foreign !== undefined) return Errors.reasonOfEvent(foreign)
  if (!hasBegun) return { _tag: "Malformed", detail: "the response is not a Chat Completions response" }
  return isDone
    ? {
        _tag: "Network",
        detail:
          "the stream ended with [DONE] but without a finish_reason; if this server always does this, set endsWithDone: true"
      }
    : { _tag: "Network", detail: "the stream ended before the answer was complete" }
}

// -------------------------------------------------------------------------------------------------------------------
// The protocol
// -------------------------------------------------------------------------------------------------------------------

/** Returns tool calls sent as content blocks, which proxies forward from Anthropic and the AI SDK. */
const blocksOf = (content: unknown): ReadonlyArray<unknown> =>
  partsIn(content).flatMap((value) => {
    const call = callOfPart(Json.fields(value))
    return call === undefined ? [] : [call]
  })

/**
 * Returns the tool calls of a delta or message: from the standard field, a field with another name, or content blocks.
 */
const callsIn = (message: Json.Fields): unknown => {
  const listed = message.tool_calls || message.toolCalls || message.function_calls
  if (listed) return listed
  const blocks = blocksOf(message.content)
  return blocks.length === 0 ? undefined : blocks
}

/** Merges a message's `extra_content`, unless it only marks a thought. */
const extraOf = (before: Json.Fields | undefined, { extra_content: extra }: Json.Fields): Json.Fields | undefined =>
  typeof extra === "object" && extra !== null && Json.fields(Json.fields(extra).google).thought !== true
    ? Json.fields(extra)
    : before

/**
 * Reads the less frequent fields: tool calls, refusals, the finish reason, usage, and data that the server expects
 * back.
 */
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

/** Stores the model name. Every chunk repeats it, so the first one is used. */
const named = (before: State, { choices, model, usage }: Json.Fields, given: Json.Fields): State => {
  const isFirst = !before.hasBegun && (choices !== undefined || usage !== undefined)
  const state = isFirst ? { ...before, hasBegun: true, endsWithDone: Forms.endsWithDone(given) } : before
  return state.model !== undefined || typeof model !== "string" || model === "" ? state : { ...state, model }
}

/** Stores the model name, and that the first choice has arrived. */
const begun = (before: State, chunk: Json.Fields, given: Json.Fields): State => {
  const state = named(before, chunk, given)
  return state.hasFirst ? state : { ...state, hasFirst: true }
}

/** Returns a delta or message as fields; a string becomes its content. PHP servers send an empty object as a list. */
const piecesOf = (value: unknown, name: string): Json.Fields => {
  if (typeof value === "string") return { content: value }
  return Array.isArray(value) && value.length === 0 ? {} : Json.object(value ?? undefined, name)
}

/** Returns the delta of a choice. Legacy completions have their text directly in the choice. */
const deltaOf = (state: State, choice: Json.Fields, isFinal: boolean): Json.Fields => {
  const delta = piecesOf(choice.delta, "delta")
  if (isFinal || (choice.delta && !(choice.message && Object.keys(delta).length === 0))) return delta
  if (choice.message) return messagePiece(state, piecesOf(choice.message, "a message"))
  return typeof choice.text === "string" ? { content: choice.text } : delta
}

/** Returns a chunk with a list of choices. Some servers send a single choice, or an object keyed by index. */
const listed = (chunk: Json.Fields): Json.Fields => {
  const { choices } = chunk
  if (choices === undefined || choices === null || Array.isArray(choices)) return chunk
  const one = Json.object(choices, "choices")
  const isNumbered = "0" in one
  return { ...chunk, choices: isNumbered ? Object.values(one) : [one] }
}

/** Returns the calls of a choice other than the first, renumbered, because each choice numbers its calls from 0. */
const callsOfOther = (choice: Json.Fields, name: string, at: number): ReadonlyArray<unknown> =>
  Json.items(Json.fields(choice[name]).tool_calls).map((value) => {
    const call = Json.fields(value)
    return { ...call, index: `choice ${choice.index ?? at}: ${call.index ?? ""}` }
  })

/** Whether two calls have the same tool and arguments, as when a second answer to the question repeats them. */
const isSameCall = (left: unknown, right: unknown): boolean => {
  const [one, other] = [Json.fields(Json.fields(left).function), Json.fields(Json.fields(right).function)]
  return Boolean(one.name) && one.name === other.name && one.arguments === other.arguments
}

/** Whether a choice is not the first one. */
const isOther = (choice: unknown): boolean => Number(Json.fields(choice).index) > 0

/**
 * Returns the choice of a chunk. Only one answer is requested, but some servers split it across choices: GitHub Copilot
 * sends the text in one and each tool call in another. Their calls are then added to the first choice.
 */
const choiceOf = (chunk: Json.Fields): Json.Fields => {
  const listed = Json.items(chunk.choices)
  if (listed.length < 2) return Json.object(listed[0] ?? undefined, "a choice")
  const first = Math.max(
    0,
    listed.findIndex((one) => !isOther(one))
  )
  const choices = [listed[first], ...listed.filter((_, at) => at !== first)]
  const choice = Json.object(choices[0] ?? undefined, "a choice")
  const name = choice.message ? "message" : "delta"
  const own = Json.fields(choice[name])
  const ownCalls = Json.items(own.tool_calls)
  const calls = choices.slice(1).flatMap((other, at) => callsOfOther(Json.fields(other), name, at + 1))
  const others = calls.filter((call) => !ownCalls.some((known) => isSameCall(known, call)))
  return others.length === 0 ? choice : { ...choice, [name]: { ...own, tool_calls: [...ownCalls, ...others] } }
}

/** Reads an event without choices and usage, which may contain the reason for a missing answer. */
const foreign = (state: State, event: Json.Fields): Step<State> => {
  const hasWords = Errors.read(event).words.length > 0
  return { state: hasWords ? { ...state, foreign: event } : state, parts: nothing }
}

/** Folds a list of chunks that arrived together. The texts of consecutive chunks become one part. */
const nextOf = (before: State, events: ReadonlyArray<unknown>, options: Options): Step<State> => {
  const parts: Array<WorkerPart> = []
  const omitted: Array<string> = []
  let warning: string | undefined
  let failure: WorkerErrorReason | undefined
  let state = before
  let run = ""
  const endRun = () => {
    if (run === "") return
    state = { ...state, text: state.text + run }
    parts.push({ type: "text", text: run })
    run = ""
  }
  for (const event of events) {
    const text = state.hasFirst && state.model !== undefined ? textIn(event, options) : undefined
    if (text !== undefined) {
      run += text
      continue
    }
    endRun()
    const step = next(state, event, options)
    state = step.state
    for (const part of step.parts) parts.push(part)
    for (const kind of step.omitted ?? none) omitted.push(kind)
    warning ??= step.warning
    failure = step.failure
    if (failure !== undefined) break
  }
  endRun()
  return { state, parts, omitted, warning, failure }
}

/** Chunk fields that carry no content, and the fields that contain the text. */
const plainFields = {
  chunk: new Set(["id", "object", "created", "model", "choices", "system_fingerprint", "service_tier", "usage"]),
  choice: new Set(["index", "delta", "finish_reason", "logprobs"]),
  delta: new Set(["role", "content"])
} as const

/**
 * Returns the text of a chunk that contains nothing else, which is the most common case. Otherwise `undefined`. It calls
 * no other function, because an answer has hundreds of such chunks.
 */
const textIn = (event: unknown, { thinkTags }: Options): string | undefined => {
  if (thinkTags === true || typeof event !== "object" || event === null) return undefined
  const chunk = event as Json.Fields
  const { choices, usage } = chunk
  if (!Array.isArray(choices) || choices.length !== 1 || (usage ?? undefined) !== undefined) return undefined
  const choice: Json.Fields = choices[0] ?? {}
  const delta = (choice.delta ?? {}) as Json.Fields
  const { content } = delta
  if (typeof content !== "string" || Number(choice.index) > 0 || (choice.finish_reason ?? undefined) !== undefined) {
    return undefined
  }
  for (const name in chunk) if (!plainFields.chunk.has(name) && chunk[name] !== null) return undefined
  for (const name in choice) if (!plainFields.choice.has(name) && choice[name] !== null) return undefined
  for (const name in delta) if (!plainFields.delta.has(name) && delta[name] !== null) return undefined
  return content
}

/**
 * Folds a chunk with no fields beyond OpenAI's, such as those with the role, the finish reason or the usage: all that
 * the readers of other forms look for is absent. Returns `undefined` for any other chunk.
 */
const standard = (before: State, chunk: Json.Fields, options: Options): Step<State> | undefined => {
  const { choices, object, usage } = chunk
  if (options.reasoningEcho !== undefined || !Array.isArray(choices) || choices.length > 1) return undefined
  if (object !== undefined && object !== "chat.completion.chunk") return undefined
  const isEmpty = choices.length === 0
  const choice: Json.Fields = isEmpty ? {} : (choices[0] ?? {})
  const delta = isEmpty ? {} : choice.delta
  if (typeof delta !== "object" || delta === null || Number(choice.index) > 0) return undefined
  const { content } = delta as Json.Fields
  const text = content ?? ""
  if (typeof text !== "string" || (usage !== undefined && typeof usage !== "object")) return undefined
  for (const name in chunk) if (!plainFields.chunk.has(name) && chunk[name] !== null) return undefined
  for (const name in choice) if (!plainFields.choice.has(name) && choice[name] !== null) return undefined
  for (const [name, value] of Object.entries(delta))
    if (!plainFields.delta.has(name) && value !== null) return undefined
  const begins = isEmpty ? named(before, chunk, chunk) : begun(before, chunk, chunk)
  const { parts, state } = written(begins, "", text, options)
  const word = isEmpty ? "" : finishOf(chunk, choice)
  const reported = options.readsUsage === false ? undefined : (usage ?? undefined)
  if (word === "" && reported === undefined) return { state, parts }
  return { state: ended({ ...state, usage: later(state.usage, reported) }, word), parts }
}

/** Stores a chunk without the first choice. */
const hold = (state: State, chunk: Json.Fields, options: Options): Step<State> => {
  const usage = options.readsUsage === false ? undefined : reportedIn(chunk)
  const { usage: _, ...rest } = chunk
  let { held } = state
  for (const choice of Json.items(chunk.choices)) held = { chunk: { ...rest, choices: [choice] }, before: held }
  return { state: { ...state, usage: later(state.usage, usage), held }, parts: nothing }
}

/** Returns the chunks held back, in order. */
const heldIn = (state: State): ReadonlyArray<Json.Fields> => {
  const chunks: Array<Json.Fields> = []
  for (let at = state.held; at !== undefined; at = at.before) chunks.push(at.chunk)
  return chunks.reverse()
}

/**
 * Returns the state at the end of an answer. If the first choice never arrived, the earliest other one is the answer.
 * Otherwise, only tool calls and the finish reason of other choices are used, and only if the first has none.
 */
const settled = (state: State, options: Options): Step<State> => {
  const { calls, finish } = state
  const held = heldIn(state)
  const [first] = held
  if (first === undefined) return { state, parts: nothing }
  const choiceIn = (chunk: Json.Fields) => Json.fields(Json.items(chunk.choices)[0])
  if (state.hasFirst) {
    const pieces = held.flatMap((chunk, at) => {
      const choice = choiceIn(chunk)
      return callsOfOther(choice, choice.message ? "message" : "delta", at)
    })
    const taken = calls.length > 0 ? { calls, parts: nothing } : takeCalls(calls, pieces)
    const word = held.map((chunk) => finishOf(chunk, choiceIn(chunk))).find(Boolean) ?? ""
    const next = { ...state, calls: taken.calls, held: undefined }
    return { state: finish === undefined ? ended(next, word) : next, parts: taken.parts }
  }
  const { index } = choiceIn(first)
  const chunks = held.map((chunk) => {
    const choice = choiceIn(chunk)
    return choice.index === index ? { ...chunk, choices: [{ ...choice, index: 0 }] } : chunk
  })
  const step = nextOf({ ...state, held: undefined }, chunks, options)
  const whole = settled(step.state, options)
  return { ...step, state: whole.state, parts: [...step.parts, ...whole.parts] }
}

/** Folds one chunk. */
const next = (before: State, event: unknown, options: Options): Step<State> => {
  if (event === null) return { state: before, parts: nothing }
  if (event === done) return { state: { ...before, isDone: true }, parts: nothing }
  if (Array.isArray(event)) return nextOf(before, event, options)
  const given = Json.object(event, "an event")
  const text = textIn(given, options)
  if (text !== undefined) {
    const state = before.hasFirst && before.model !== undefined ? before : begun(before, given, given)
    if (text === "") return { state, parts: nothing }
    return { state: { ...state, text: state.text + text }, parts: [{ type: "text", text }] }
  }
  const simple = standard(before, given, options)
  if (simple !== undefined) return simple
  const chunk = listed(Forms.chunkOf(given))
  const choices = Json.items(chunk.choices)
  const hasFirst = !choices.every(isOther)
  const state = hasFirst ? begun(before, chunk, given) : named(before, chunk, given)
  const choice = choiceOf(chunk)
  const error = Errors.errorIn(chunk, choice)
  if (error !== undefined) {
    const used = { ...state, usage: reportedIn(chunk) ?? state.usage }
    return { state: used, parts: nothing, failure: Errors.reasonOfEvent(error) }
  }
  if (chunk.choices === undefined && chunk.usage === undefined) return foreign(state, chunk)
  if (choices.length > 0 && !hasFirst) return hold(state, chunk, options)
  const word = finishOf(chunk, choice)
  const isFinal = Boolean(choice.message) && (word !== "" || chunk.object === "chat.completion")
  const delta = deltaOf(state, choice, isFinal)
  const said = saidBy(delta, options)
  const usage = options.readsUsage === false ? undefined : reportedIn(chunk)
  const wrote = written(state, said.reasoning, said.text, options)
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
const echoOf = ({ calls: all, echo, extra, finish }: State, { model, reasoningEcho }: Options): unknown => {
  const calls = finish === "length" ? all.filter((call) => areWhole([call])) : all
  if (calls.length === 0) return undefined
  const reasoning = reasoningEcho === undefined || echo === undefined ? {} : { [reasoningEcho]: echo }
  const whole = { ...reasoning, ...extrasEcho({ calls: extrasOf(calls), message: extra }, model) }
  return Object.keys(whole).length === 0 ? undefined : whole
}

/** Settles each state once, because every function that reads the end of an answer needs it. */
const settling = (options: Options) => {
  const known = new WeakMap<State, Step<State>>()
  return (state: State): Step<State> => {
    if (state.held === undefined) return { state, parts: nothing }
    const step = known.get(state) ?? settled(state, options)
    known.set(state, step)
    return step
  }
}

/** Returns the protocol of a Chat Completions server. */
export const protocol = (options: Options = {}): Protocol<unknown, State> => {
  const end = settling(options)
  return {
    initial,
    next: (state, event) => next(state, event, options),
    all: (state, events) => nextOf(state, events, options),
    failed: (state) => end(state).state.failure,
    finishReason: (state) => finishReason(end(state).state, options),
    last: (state) => {
      const { parts, state: whole } = end(state)
      return parts.length === 0 ? last(whole, options) : [...parts, ...last(whole, options)]
    },
    text: (state) => {
      const { final, text } = end(state).state
      return final === "" ? text : final
    },
    usage: ({ usage }) => usageOf(usage),
    model: ({ model }) => model,
    echo: (state) => echoOf(end(state).state, options),
    incomplete
  }
}
