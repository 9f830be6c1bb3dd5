/**
 * Data that Anthropic expects back with a turn that called tools: its signed thinking, unchanged, and its position
 * among text blocks and calls. https://platform.claude.com/docs/en/build-with-claude/thinking, read in November 2026.
 */
import * as Json from "../../VendorJson.ts"

/** A thinking block, unchanged. */
export type Thinking =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string }

/** The position of a text, identified by its length, or of a tool call. */
export type Place = { readonly type: "text"; readonly length: number } | { readonly type: "tool_use" }

/** The blocks of a turn, in order. Thinking can be read only by the model that wrote it. */
export interface Echo {
  readonly model: string
  readonly blocks: ReadonlyArray<Thinking | Place>
}

const noBlocks: Echo["blocks"] = []

const blockOf = (block: Json.Fields): Thinking | Place | undefined => {
  const { data, length, signature, thinking, type } = block
  if (type === "thinking" && typeof thinking === "string" && typeof signature === "string") {
    return { type, thinking, signature }
  }
  if (type === "redacted_thinking" && typeof data === "string") return { type, data }
  if (type === "text" && typeof length === "number") return { type, length }
  return type === "tool_use" ? { type } : undefined
}

/** Returns the blocks in an echo; empty if another model or vendor issued it. */
export const read = (echo: unknown, model: string): Echo["blocks"] => {
  const fields = Json.fields(echo)
  if (fields.model !== model) return noBlocks
  return Json.items(fields.blocks).flatMap((block) => blockOf(Json.fields(block)) ?? [])
}

/** Whether a block is thinking rather than a position. */
export const isThinking = (block: Thinking | Place): block is Thinking =>
  block.type === "thinking" || block.type === "redacted_thinking"
