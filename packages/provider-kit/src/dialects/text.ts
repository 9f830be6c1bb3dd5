/**
 * Reads text content, which every vendor may also send as a list of parts. `null` is empty; unknown parts are skipped
 * and reported.
 */
import { unreadable } from "../VendorError.ts"
import * as Json from "../VendorJson.ts"

/**
 * The text and the skipped parts of message content.
 *
 * @internal
 */
export interface Content {
  readonly text: string
  readonly reasoning: string
  /** The kinds of the skipped parts. */
  readonly skipped: ReadonlyArray<string>
}

const nothing: Content = Object.freeze({ text: "", reasoning: "", skipped: Object.freeze([]) })

/** Maximum nesting depth of lists. */
const deepest = 4

/** Types of parts that contain reasoning, as a string or as a list of strings (Mistral). */
const thoughts = new Set<unknown>(["thinking", "reasoning", "thought", "reasoning_text", "summary_text"])

const texts = new Set<unknown>(["text", "output_text", "input_text", undefined, null])

const calls = new Set<unknown>(["tool_use", "tool_call", "tool-call", "function_call"])

/** Fields in which Gemini and Bedrock put a tool call, in parts without a type. */
const callFields = ["functionCall", "function_call", "toolUse"] as const

/** A tool call in a content part, in any vendor's format. Missing fields are `undefined`. */
interface BlockCall {
  readonly id: unknown
  readonly name: unknown
  readonly input: unknown
}

/**
 * Reads the tool call in a part: a Messages or AI SDK block, or the fields of Gemini and Bedrock. Returns `undefined`
 * for other parts.
 */
export const callIn = (part: Json.Fields): BlockCall | undefined => {
  const nested = callFields.map((name) => part[name]).find((value) => typeof value === "object" && value !== null)
  if (nested === undefined && !calls.has(part.type)) return undefined
  const call = Json.fields(nested ?? part)
  return {
    id: call.id ?? call.call_id ?? call.toolCallId ?? call.toolUseId,
    name: call.name ?? call.toolName,
    input: call.input ?? call.args ?? call.arguments
  }
}

/**
 * Converts the tool call in a part to the format of Chat Completions; returns `undefined` for other parts.
 *
 * @internal
 */
export const callOfPart = (part: Json.Fields): Json.Fields | undefined => {
  const call = callIn(part)
  return call === undefined ? undefined : { id: call.id, function: { name: call.name, arguments: call.input ?? {} } }
}

/** Whether a part is a thought, determined by its type or by the fields of Gemini, Cohere and Bedrock. */
const isThought = (part: Json.Fields): boolean =>
  thoughts.has(part.type) ||
  part.thought === true ||
  part.reasoningContent !== undefined ||
  (part.type === undefined && part.thinking !== undefined)

/** Returns the text of a thought, which Bedrock nests and Databricks calls a summary. */
const thoughtOf = ({ content, reasoning, reasoningContent, summary, text, thinking }: Json.Fields): unknown =>
  thinking ??
  reasoning ??
  text ??
  content ??
  summary ??
  Json.fields(Json.fields(reasoningContent).reasoningText ?? reasoningContent).text

/**
 * Returns the parts of message content, from a list or from an object with a list (Gemini).
 *
 * @internal
 */
export const partsIn = (content: unknown): ReadonlyArray<unknown> =>
  Json.items(Array.isArray(content) ? content : Json.fields(content).parts)

const partOf = (value: unknown, name: string, depth: number): Content => {
  if (typeof value === "string") return { ...nothing, text: value }
  const part = Json.object(value ?? undefined, `a part of ${name}`)
  // Tool calls are read elsewhere.
  if (callOfPart(part) !== undefined) return nothing
  if (isThought(part)) {
    const inner = content(thoughtOf(part), name, depth + 1)
    return { ...nothing, reasoning: inner.text + inner.reasoning }
  }
  if (part.type === "refusal") return { ...nothing, text: Json.textChunk(part.refusal, name) }
  if (texts.has(part.type)) {
    const inner = part.text === undefined ? part.content : part.text
    if (inner === undefined && value !== null) throw unreadable(`a part of ${name} has no text`)
    return content(inner, name, depth + 1)
  }
  return { ...nothing, skipped: [String(part.type).slice(0, 40)] }
}

/**
 * Reads message content: a string, a list of parts, a single part, or nothing. Throws for any other value; `name`
 * describes the value in the error.
 *
 * @internal
 */
export const content = (value: unknown, name: string, depth = 0): Content => {
  if (typeof value === "string") return value === "" ? nothing : { ...nothing, text: value }
  if (value === undefined || value === null) return nothing
  // The Assistants API nests text under `value`.
  const { parts: listed, value: inner } = Json.fields(value)
  if (typeof inner === "string") return content(inner, name, depth)
  if (Array.isArray(listed)) return content(listed, name, depth + 1)
  if (depth > deepest || typeof value !== "object") throw unreadable(`${name} is not a string`)
  const parts = (Array.isArray(value) ? value : [value]).map((part) => partOf(part, name, depth))
  return {
    text: parts.map(({ text }) => text).join(""),
    reasoning: parts.map(({ reasoning }) => reasoning).join(""),
    skipped: parts.flatMap(({ skipped }) => skipped)
  }
}
