/**
 * Conversation messages in the format common to chat models.
 *
 * Content is a string, or a list of text, image and file parts. Messages are plain JSON with binary data in base64, so
 * they can be hashed, stored and sent.
 */
import type { NonEmptyReadonlyArray } from "effect/Array"

/** The source of an image or file: inline data or a URL. URLs are fetched by the vendor, never by Divisi. */
export type Source =
  | {
      /** Base64-encoded data, without a `data:` prefix. */
      readonly data: string
      /** MIME type, e.g. `image/png`. */
      readonly mediaType: string
    }
  | { readonly url: string; readonly mediaType?: string }

/** A text part. */
export interface TextPart {
  readonly type: "text"
  readonly text: string
}

/** An image part. */
export type ImagePart = { readonly type: "image" } & Source

/** A file part, such as a PDF. */
export type FilePart = { readonly type: "file"; readonly name?: string } & Source

/** A part of a message's content. */
export type ContentPart = TextPart | ImagePart | FilePart

/** Message content: a string or a list of parts. */
export type Content = string | NonEmptyReadonlyArray<ContentPart>

/** Message content as accepted from callers. Images and files may be passed as bytes instead of base64. */
export type ContentInput = string | NonEmptyReadonlyArray<ContentPart | MediaInput>

/** An image or file as bytes. */
export interface MediaInput {
  readonly type: "image" | "file"
  readonly data: Uint8Array
  readonly mediaType: string
  readonly name?: string
}

/** A tool call made by a model. */
export interface ToolCall {
  /** Unique within a conversation. The tool result refers to it. */
  readonly id: string
  readonly name: string
  /** The arguments exactly as the model wrote them: usually JSON, but possibly invalid. */
  readonly arguments: string
}

/** Instructions for the model. Some vendors use the `developer` role for instructions from the application. */
export type SystemMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "developer"; readonly content: string }

/** A message from the user. */
export interface UserMessage {
  readonly role: "user"
  readonly content: Content
}

/** A message from the model, including its tool calls. */
export interface AssistantMessage {
  readonly role: "assistant"
  /** May be empty if the message contains tool calls. */
  readonly content: string
  readonly toolCalls?: ReadonlyArray<ToolCall>
  /**
   * Opaque vendor-specific JSON to send back with this message, such as signed or encrypted reasoning. Only the
   * provider that returned it can interpret it; all other providers drop it.
   */
  readonly echo?: unknown
}

/** The result of a tool call. */
export interface ToolMessage {
  readonly role: "tool"
  /** Id of the {@link ToolCall} that this message responds to. */
  readonly callId: string
  /** Name of the tool. */
  readonly name: string
  readonly content: Content
  /** Whether the tool failed. If so, `content` is the error message. */
  readonly isError?: boolean
}

/** A message in a conversation. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage

/**
 * Returns the text parts of a message or its content, separated by newlines. Images and files are ignored. Accepts
 * `undefined` and returns an empty string for it, which allows `text(messages.at(-1))`.
 *
 * **Example**
 *
 * ```ts
 * import * as Message from "@divisi/core/Message"
 *
 * const content: Message.Content = [
 *   { type: "text", text: "What is this?" },
 *   { type: "image", url: "https://example.com/cat.png" }
 * ]
 * Message.text(content) // => "What is this?"
 * Message.text({ role: "user", content }) // => "What is this?"
 * ```
 */
export const text = (of: Content | Message | undefined): string => {
  if (of === undefined) return ""
  const content = typeof of === "string" || !("role" in of) ? of : of.content
  return typeof content === "string"
    ? content
    : content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
}

/** A message for a text-only model. */
export interface PlainMessage {
  readonly role: "system" | "user" | "assistant"
  readonly content: string
}

/**
 * Converts a message for a text-only model. Images, files and tool calls are dropped, `developer` becomes `system`, and
 * tool results become `user` messages.
 */
export const plain = (message: Message): PlainMessage => {
  const { role } = message
  const content = text(message)
  if (role === "assistant") return { role, content }
  return { role: role === "system" || role === "developer" ? "system" : "user", content }
}

/** Returns message content as a list of parts. A string becomes a single text part. */
export const parts = (content: Content): NonEmptyReadonlyArray<ContentPart> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

/**
 * Adds text before and after message content.
 *
 * @internal
 */
export const between = (before: string, content: Content, after: string): Content =>
  typeof content === "string"
    ? `${before}${content}${after}`
    : [{ type: "text", text: before.trim() }, ...content, { type: "text", text: after.trim() }]

const isBytes = (part: ContentPart | MediaInput): part is MediaInput =>
  part.type !== "text" && "data" in part && part.data instanceof Uint8Array

/** Number of bytes to encode at once. A function accepts at least this many arguments. */
const encodedBytes = 2 ** 13

/** Encodes bytes as base64. Effect's encoder comes with its decoder, which a browser would load for nothing. */
const base64Of = (bytes: Uint8Array): string => {
  let characters = ""
  for (let from = 0; from < bytes.length; from += encodedBytes) {
    characters += String.fromCharCode(...bytes.subarray(from, from + encodedBytes))
  }
  return btoa(characters)
}

/**
 * Converts message content to the format in which it is sent and stored, encoding bytes as base64.
 *
 * **Example**
 *
 * ```ts
 * import * as Message from "@divisi/core/Message"
 *
 * const image = { type: "image", data: new Uint8Array([137, 80]), mediaType: "image/png" } as const
 * Message.content([image]) // => [{ type: "image", data: "iVA=", mediaType: "image/png" }]
 * ```
 */
export const content = (input: ContentInput): Content => {
  if (typeof input === "string") return input
  const [first, ...rest] = input.map(
    (part): ContentPart => (isBytes(part) ? ({ ...part, data: base64Of(part.data) } as ContentPart) : part)
  )
  return [first!, ...rest]
}
