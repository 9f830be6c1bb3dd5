/**
 * Reads a text that may be a list of parts, as with every vendor: `null` is empty, an unknown part is skipped and
 * named.
 */
import { unreadable } from "../VendorError.ts"
import * as Json from "../VendorJson.ts"

/** The text and the unknown parts of a content. */
export interface Content {
  readonly text: string
  readonly reasoning: string
  /** The kinds of parts that were skipped. */
  readonly skipped: ReadonlyArray<string>
}

const nothing: Content = Object.freeze({ text: "", reasoning: "", skipped: Object.freeze([]) })

/** Deeper than lists within lists are. */
const deepest = 4

/** Reasoning is a text, or a list of texts (Mistral). */
const thoughts = new Set<unknown>(["thinking", "reasoning", "thought", "reasoning_text", "summary_text"])

const texts = new Set<unknown>(["text", "output_text", "input_text", undefined, null])

const calls = new Set<unknown>(["tool_use", "tool_call", "tool-call", "function_call"])

/** Whether a part of this type is a call of a tool. */
export const isCallPart = (type: unknown): boolean => calls.has(type)

const partOf = (value: unknown, name: string, depth: number): Content => {
  if (typeof value === "string") return { ...nothing, text: value }
  const part = Json.object(value ?? undefined, `a part of ${name}`)
  if (thoughts.has(part.type)) {
    const inner = content(part.thinking ?? part.reasoning ?? part.text ?? part.content, name, depth + 1)
    return { ...nothing, reasoning: inner.text + inner.reasoning }
  }
  if (part.type === "refusal") return { ...nothing, text: Json.said(part.refusal, name) }
  if (texts.has(part.type)) {
    const inner = part.text === undefined ? part.content : part.text
    if (inner === undefined && value !== null) throw unreadable(`a part of ${name} has no text`)
    return content(inner, name, depth + 1)
  }
  // Its reader takes calls.
  if (isCallPart(part.type)) return nothing
  return { ...nothing, skipped: [String(part.type).slice(0, 40)] }
}

/** Reads a content: a text, a list of parts, one part, or nothing. Others are unreadable; `name` describes them. */
export const content = (value: unknown, name: string, depth = 0): Content => {
  if (typeof value === "string") return value === "" ? nothing : { ...nothing, text: value }
  if (value === undefined || value === null) return nothing
  // The Assistants API nests a text under `value`.
  const { value: inner } = Json.fields(value)
  if (typeof inner === "string") return content(inner, name, depth)
  if (depth > deepest || typeof value !== "object") throw unreadable(`${name} is no text`)
  const parts = (Array.isArray(value) ? value : [value]).map((part) => partOf(part, name, depth))
  return {
    text: parts.map(({ text }) => text).join(""),
    reasoning: parts.map(({ reasoning }) => reasoning).join(""),
    skipped: parts.flatMap(({ skipped }) => skipped)
  }
}
