/**
 * What a model's vendor wants back with a turn that called tools: its reasoning and the metadata of each part (signatures,
 * ids), as the AI SDK gave them, and where they stood between texts and calls.
 */
import type { SharedV4ProviderMetadata } from "@ai-sdk/provider"
import * as Json from "@divisi/provider-kit/VendorJson"

/** A part of a turn: its reasoning whole, of a text the length, of a call the place. */
export type Block = {
  readonly providerOptions?: SharedV4ProviderMetadata | undefined
} & (
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "text"; readonly length: number }
  | { readonly type: "tool-call" }
)

/** The parts of a turn, in their order. Another model cannot read them. */
export interface Echo {
  readonly model: string
  readonly blocks: ReadonlyArray<Block>
}

/** The parts as they come, each under the id that the AI SDK gives it. */
export type Blocks = ReadonlyArray<{ readonly id: string; readonly block: Block }>

const metadataOf = (value: unknown): SharedV4ProviderMetadata | undefined =>
  typeof value === "object" && value !== null ? (value as SharedV4ProviderMetadata) : undefined

const grown = (block: Block, delta: string): Block => {
  if (block.type === "reasoning") return { ...block, text: block.text + delta }
  return block.type === "text" ? { ...block, length: block.length + delta.length } : block
}

const begun = (type: Block["type"]): Block => {
  if (type === "reasoning") return { type, text: "" }
  return type === "text" ? { type, length: 0 } : { type }
}

/** Takes a piece of a part, and the metadata that came with it: the last that came counts. */
export const extend = (blocks: Blocks, type: Block["type"], id: string, delta: string, metadata: unknown): Blocks => {
  const isIt = (one: Blocks[number]) => one.id === id && one.block.type === type
  const block = grown(blocks.find(isIt)?.block ?? begun(type), delta)
  const providerOptions = metadataOf(metadata) ?? block.providerOptions
  const next = { id, block: providerOptions === undefined ? block : { ...block, providerOptions } }
  return blocks.some(isIt) ? blocks.map((one) => (isIt(one) ? next : one)) : [...blocks, next]
}

/** What goes back with a turn; nothing where no tool was called, or there is nothing but texts and calls. */
export const echoOf = (blocks: Blocks, model: string): Echo | undefined => {
  const calls = blocks.some(({ block }) => block.type === "tool-call")
  const more = blocks.some(({ block }) => block.type === "reasoning" || block.providerOptions !== undefined)
  return calls && more ? { model, blocks: blocks.map(({ block }) => block) } : undefined
}

const blockOf = (value: Json.Fields): Block | undefined => {
  const { length, text, type } = value
  const own = value.providerOptions === undefined ? {} : { providerOptions: metadataOf(value.providerOptions) }
  if (type === "reasoning" && typeof text === "string") return { type, text, ...own }
  if (type === "text" && typeof length === "number") return { type, length, ...own }
  return type === "tool-call" ? { type, ...own } : undefined
}

const noBlocks: ReadonlyArray<Block> = []

/** The parts of an echo; none where it is another model's. */
export const read = (echo: unknown, model: string): ReadonlyArray<Block> => {
  const fields = Json.fields(echo)
  if (fields.model !== model) return noBlocks
  return Json.items(fields.blocks).flatMap((block) => blockOf(Json.fields(block)) ?? [])
}
