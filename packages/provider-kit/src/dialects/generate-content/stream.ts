/** Folds `generateContent` responses, streamed or complete, into the parts of a worker's answer. */

import { Seed } from "@divisi/core"
import type { Message } from "@divisi/core/Message"
import type { FinishReason, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import { unreadable } from "../../VendorError.ts"
import * as Json from "../../VendorJson.ts"
import type { Protocol, Step } from "../../VendorStream.ts"
import * as Arguments from "../arguments.ts"
import * as Errors from "../errors.ts"
import * as Omitted from "../omitted.ts"
import { content } from "../text.ts"
import * as Echo from "./echo.ts"
import { blockedOf, endingOf, reasonWith } from "./endings.ts"
import { reasonOfEvent } from "./errors.ts"
import * as Partial from "./partial.ts"
import { counted, usageOf } from "./usage.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The properties that distinguish a function call from others. */
interface Called {
  readonly id: string
  /** The name and arguments. */
  readonly what: string
}

/**
 * The accumulated state of an answer.
 *
 * @internal
 */
export interface State {
  readonly hasBegun: boolean
  /** The finish reason, once it has been reported. */
  readonly reason?: FinishReason | undefined
  /** The usage figures received, unchanged. */
  readonly counts: Json.Fields
  /** The model name reported in the response. */
  readonly model?: string | undefined
  readonly calls: ReadonlyArray<Called>
  readonly signatures: Echo.Signatures
  /** A tool call whose arguments arrive in chunks. */
  readonly open?: Partial.Open | undefined
  /**
   * The last object that contains text and is not an answer. Used as the error message if the answer ends without a
   * reason.
   */
  readonly foreign?: Json.Fields | undefined
}

/** The request for which the answer is read. */
export interface Asked {
  readonly model: string
  readonly messages: ReadonlyArray<Message>
}

const initial: State = { hasBegun: false, counts: {}, calls: [], signatures: { calls: new Map() } }

const none: ReadonlyArray<never> = []

// -------------------------------------------------------------------------------------------------------------------
// Names
// -------------------------------------------------------------------------------------------------------------------

const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/**
 * Returns a field in Google's spelling or, as JSON from Protocol Buffers may have it, in the spelling of the `.proto`
 * files, such as `finish_reason`.
 */
const spelled = (value: unknown, name: string): Json.Fields => {
  const fields = Json.object(value ?? undefined, name)
  if (!Object.keys(fields).some((key) => key.includes("_"))) return fields
  return Object.fromEntries(Object.entries(fields).map(([key, inner]) => [camel(key), inner]))
}

// -------------------------------------------------------------------------------------------------------------------
// Parts
// -------------------------------------------------------------------------------------------------------------------

const parsed = (text: string): unknown => {
  try {
    return text.trim() === "" ? undefined : JSON.parse(text)
  } catch {
    throw unreadable("the arguments are not valid JSON")
  }
}

/** Returns arguments as JSON, from an object, a JSON string, or nothing. */
const argumentsOf = (args: unknown): string => {
  const value = typeof args === "string" ? parsed(args) : args
  // PHP servers send an empty object as a list.
  if (Array.isArray(value) && value.length === 0) return "{}"
  return JSON.stringify(Json.object(value ?? undefined, "arguments"))
}

/**
 * Returns an id for a call that has none (models before Gemini 3) or repeats the id of another call. The id is
 * deterministic for an answer and its messages, and differs for any other.
 */
const idOf = (responseId: unknown, messages: ReadonlyArray<Message>, calls: number): string =>
  `call-${Seed.derive(calls, String(responseId), JSON.stringify(messages)).toString(36)}`

type Call = Extract<WorkerPart, { type: "tool-call" }>

/** Returns a function call, which Google sends in one piece; `undefined` if the same call has already arrived. */
const callOf = (value: unknown, calls: ReadonlyArray<Called>, makeId: () => string): Call | undefined => {
  const call = Json.object(value, "a function call")
  const name = Json.textChunk(call.name, "a function's name")
  if (name === "") throw unreadable("a function call has no name")
  const given = Arguments.idOf(call.id)
  const text = argumentsOf(call.args)
  const same = calls.find(({ id }) => id === given)
  if (same?.what === `${name}${text}`) return undefined
  return { type: "tool-call", id: given === "" || same !== undefined ? makeId() : given, name, arguments: text }
}

const textOf = (value: unknown): string =>
  Array.isArray(value) ? content(value, "a part's text").text : Json.textChunk(value, "a part's text")

interface Read extends Pick<State, "calls" | "signatures" | "open"> {
  /** The parts to emit, which are appended in place, because a chunk may contain very many. */
  readonly parts: Array<WorkerPart>
}

/** Maximum number of calls per answer. */
const most = 1024

/** Parts with content other than text. Code that Google executes itself is not part of the answer. */
const skippable = ["inlineData", "fileData"] as const

/** Candidate fields that list sources. */
const sourceFields = { citationMetadata: "citations", groundingMetadata: "citations" } as const

/** Returns the parts of a candidate, which may be a list or a single part. */
const partsOf = ({ content: value }: Json.Fields): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) return value
  if (typeof value === "string") return [{ text: value }]
  const { parts } = Json.object(value ?? undefined, "content")
  return Array.isArray(parts) ? parts : [Json.object(parts ?? undefined, "parts")]
}

/** Adds a complete call, unless it has already arrived. */
const withCall = (read: Read, call: Call | undefined, signature: string | undefined): Read => {
  if (call === undefined) return read
  const { calls, parts, signatures } = read
  const { arguments: text, id, name } = call
  if (calls.length >= most) throw unreadable("the response contains too many tool calls")
  parts.push(call)
  return {
    ...read,
    calls: [...calls, { id, what: `${name}${text}` }],
    signatures:
      signature === undefined ? signatures : { ...signatures, calls: new Map(signatures.calls).set(id, signature) }
  }
}

type MakeId = (calls: number) => string

/** Closes the open call. */
const closed = (read: Read, makeId: MakeId): Read => {
  const { calls, open } = read
  if (open === undefined) return read
  const { id, name, signature } = open
  const call = callOf({ id, name, args: Partial.argumentsOf(open) }, calls, () => makeId(calls.length))
  return { ...withCall(read, call, signature), open: undefined }
}

/** Adds a call, or a chunk of one. */
const called = (before: Read, value: unknown, signature: string | undefined, makeId: MakeId): Read => {
  const call = spelled(value, "a function call")
  const read = Partial.isOther(call, before.open) ? closed(before, makeId) : before
  if (Partial.isPiece(call, read.open)) {
    const next = { ...read, open: Partial.take(read.open, call, signature) }
    return call.willContinue === true ? next : closed(next, makeId)
  }
  const whole = callOf(call, read.calls, () => makeId(read.calls.length))
  return { ...withCall(read, whole, signature ?? read.open?.signature), open: undefined }
}

const read = (
  { calls, open, signatures }: State,
  chunk: Json.Fields,
  candidate: Json.Fields,
  messages: ReadonlyArray<Message>
): Read & { readonly omitted: ReadonlyArray<string> } => {
  const parts: Array<WorkerPart> = []
  const omitted = [...Omitted.kindsIn(candidate, sourceFields)]
  let read: Read = { parts, calls, open, signatures }
  for (const value of partsOf(candidate)) {
    const part: Json.Fields = typeof value === "string" ? { text: value } : spelled(value, "a part")
    const { functionCall, text, thoughtSignature } = part
    const thought = part.thought === true || part.thought === "true"
    const kind = skippable.find((name) => part[name] !== undefined && part[name] !== null)
    if (kind !== undefined) {
      const { mimeType } = spelled(part[kind], "media")
      omitted.push(Omitted.kindOf(mimeType ?? "file"))
    }
    const signature = Json.text(thoughtSignature)
    if (functionCall !== undefined && functionCall !== null) {
      read = called(read, functionCall, signature, (calls) => idOf(chunk.responseId, messages, calls))
      continue
    }
    if (signature !== undefined && !thought) read = { ...read, signatures: { ...read.signatures, text: signature } }
    const said = textOf(text)
    if (said !== "") parts.push({ type: thought ? "reasoning" : "text", text: said })
  }
  return { ...read, omitted }
}

// -------------------------------------------------------------------------------------------------------------------
// The protocol
// -------------------------------------------------------------------------------------------------------------------

const incomplete = ({ foreign, hasBegun }: State): WorkerErrorReason => {
  if (foreign !== undefined) return reasonOfEvent(foreign)
  return hasBegun
    ? { _tag: "Network", detail: "the stream ended before the answer was complete" }
    : { _tag: "Malformed", detail: "the response is not a generateContent response" }
}

const isAnswer = (chunk: Json.Fields): boolean =>
  ["candidates", "usageMetadata", "promptFeedback", "modelVersion", "responseId"].some((name) => name in chunk)

/**
 * Reads an object that is not an answer. A server that does not support this protocol may explain its rejection there.
 */
const foreign = (state: State, chunk: Json.Fields): Step<State> => {
  if (Errors.read(chunk).words.length === 0) return { state, parts: none }
  return state.hasBegun
    ? { state: { ...state, foreign: chunk }, parts: none }
    : { state, parts: none, failure: reasonOfEvent(chunk) }
}

/** Folds an answer, or a chunk of one. Unknown parts and fields are ignored. */
const add = (state: State, chunk: Json.Fields, messages: ReadonlyArray<Message>): Step<State> => {
  const { candidates: given } = chunk
  const isOne = typeof given === "object" && given !== null && !Array.isArray(given)
  const candidates = isOne ? [given] : Json.array(given ?? undefined, "candidates")
  // Proxies list candidates in arbitrary order.
  const first = candidates.find((one) => Json.fields(one).index === 0) ?? candidates[0]
  const candidate = spelled(first, "a candidate")
  const { calls, omitted, open, parts, signatures } = read(state, chunk, candidate, messages)
  const end = endingOf(candidate)
  const after = {
    ...state,
    hasBegun: true,
    counts: counted(state.counts, spelled(chunk.usageMetadata, "usage")),
    model: Json.text(chunk.modelVersion) ?? state.model,
    reason: end?.type === "ended" ? end.reason : state.reason,
    calls,
    signatures,
    open
  }
  const failure = end?.type === "failed" ? end.failure : blockedOf(chunk.promptFeedback)
  return { state: after, parts, failure, omitted }
}

/**
 * Folds one event: an answer or a chunk of one, possibly nested in `response` by Google's Code Assist, or a list of
 * them.
 */
const next = (state: State, event: unknown, messages: ReadonlyArray<Message>): Step<State> => {
  if (Array.isArray(event)) return nextOf(state, event, messages)
  const outer = spelled(event, "an event")
  const chunk = isAnswer(outer) || outer.response === undefined ? outer : spelled(outer.response, "a response")
  if (Errors.hasInformation(chunk.error)) {
    return { state, parts: none, failure: reasonOfEvent(chunk.error) }
  }
  return isAnswer(chunk) ? add(state, chunk, messages) : foreign(state, chunk)
}

/** Folds a list of events; without `alt=sse`, the whole stream is one list. */
const nextOf = (state: State, events: ReadonlyArray<unknown>, messages: ReadonlyArray<Message>): Step<State> => {
  const parts: Array<WorkerPart> = []
  const omitted: Array<string> = []
  let step: Step<State> = { state, parts: none }
  for (const event of events) {
    step = next(step.state, Json.object(event ?? null, "an event"), messages)
    for (const part of step.parts) parts.push(part)
    for (const kind of step.omitted ?? none) omitted.push(kind)
    if (step.failure !== undefined) break
  }
  return { ...step, parts, omitted }
}

/**
 * Returns the protocol of `generateContent` streams.
 *
 * @internal
 */
export const protocolOf = ({ messages, model }: Asked): Protocol<unknown, State> => ({
  initial,
  next: (state, event) => next(state, event, messages),
  finishReason: ({ calls, open, reason }) => reasonWith(reason, calls.length + (open === undefined ? 0 : 1)),
  last: (state) => {
    const { calls, open, reason } = state
    const makeId = (calls: number) => idOf(undefined, messages, calls)
    if (reason === "stop") return closed({ ...state, parts: [] }, makeId).parts
    if (reason !== "length" || open === undefined) return none
    return [{ type: "tool-call", id: makeId(calls.length), name: open.name, arguments: "" }]
  },
  usage: ({ counts }) => usageOf(counts),
  model: (state) => state.model,
  echo: ({ calls, signatures }) => (calls.length === 0 ? undefined : Echo.write(signatures, model)),
  incomplete
})
