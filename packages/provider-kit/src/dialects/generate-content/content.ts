/** A conversation as the contents of `generateContent`. */
import { defined } from "@divisi/core/Fields"
import * as Message from "@divisi/core/Message"
import * as Json from "../../VendorJson.ts"
import { withLetter } from "../names.ts"
import * as Echo from "./echo.ts"
import type { Target } from "./request.ts"

/** Bytes in base64. */
interface Blob {
  readonly inlineData: { readonly mimeType: string; readonly data: string }
}

/** Data that Google fetches itself. */
interface FileData {
  readonly fileData: { readonly fileUri: string; readonly mimeType?: string | undefined }
}

interface FunctionCall {
  readonly functionCall: { readonly id: string; readonly name: string; readonly args: Json.Fields }
  readonly thoughtSignature?: string | undefined
}

interface FunctionResponse {
  readonly functionResponse: {
    readonly id: string
    readonly name: string
    readonly response: { readonly output: string } | { readonly error: string }
    readonly parts?: ReadonlyArray<Blob> | undefined
  }
}

/** A piece of a turn. */
export type Part =
  | { readonly text: string; readonly thoughtSignature?: string | undefined }
  | Blob
  | FileData
  | FunctionCall
  | FunctionResponse

/** A turn. */
export interface Turn {
  readonly role: "user" | "model" | "system"
  readonly parts: Array<Part>
}

const textPart = (text: string): ReadonlyArray<Part> => (text === "" ? [] : [{ text }])

const mediaPart = (source: Message.Source): Blob | FileData =>
  "data" in source
    ? { inlineData: { mimeType: source.mediaType, data: source.data } }
    : { fileData: defined({ fileUri: source.url, mimeType: source.mediaType }) }

/** The vendor refuses empty texts. */
const partsOf = (content: Message.Content): ReadonlyArray<Part> =>
  Message.parts(content).flatMap((part) => (part.type === "text" ? textPart(part.text) : [mediaPart(part)]))

/** Returns arguments as the object that Google accepts; other values are wrapped under a separate name. */
const argsOf = (text: string): Json.Fields => {
  try {
    return Json.object(JSON.parse(text), "arguments")
  } catch {
    return text.trim() === "" ? {} : { arguments: text }
  }
}

/** Placeholder for an unknown signature: Gemini 3 refuses a turn whose first call has no signature. */
const anySignature = "skip_thought_signature_validator"

const saidOf = (message: Message.AssistantMessage, { capabilities, model }: Target): ReadonlyArray<Part> => {
  const { content, echo, toolCalls = [] } = message
  const signatures = Echo.read(echo, model)
  const calls = toolCalls.map(
    (call, index): Part =>
      defined({
        functionCall: { id: call.id, name: withLetter(call.name), args: argsOf(call.arguments) },
        thoughtSignature:
          signatures.calls.get(call.id) ?? (index === 0 && capabilities.signsCalls ? anySignature : undefined)
      })
  )
  const text: ReadonlyArray<Part> =
    content === "" ? [] : [defined({ text: content, thoughtSignature: signatures.text })]
  return [...text, ...calls]
}

/**
 * Returns a result, and separately the content that the model does not accept within it: URLs always, and all media
 * before Gemini 3.
 */
const resultOf = (message: Message.ToolMessage, { capabilities }: Target): ReadonlyArray<Part> => {
  const { callId: id, content, isError, name } = message
  const text = Message.text(content)
  const media = Message.parts(content).flatMap((part) => (part.type === "text" ? [] : [mediaPart(part)]))
  const within = capabilities.mediaInResults ? media.filter((part) => "inlineData" in part) : []
  const beside = media.filter((part) => !within.includes(part as Blob))
  const response = isError === true ? { error: text } : { output: text }
  const parts = within.length > 0 ? within : undefined
  return [{ functionResponse: defined({ id, name: withLetter(name), response, parts }) }, ...beside]
}

const turnOf = (message: Message.Message, target: Target): Turn => {
  switch (message.role) {
    case "assistant":
      return { role: "model", parts: [...saidOf(message, target)] }
    case "tool":
      return { role: "user", parts: [...resultOf(message, target)] }
    default:
      return { role: "user", parts: [...partsOf(message.content)] }
  }
}

const isRule = ({ role }: Message.Message): boolean => role === "system" || role === "developer"

/**
 * The turns of a conversation. Messages of one kind become parts of one turn: the results of calls that were made
 * together belong together.
 */
export const turnsOf = (messages: ReadonlyArray<Message.Message>, target: Target): Array<Turn> => {
  const turns: Array<Turn> = []
  let kind: Message.Message["role"] | undefined
  for (const message of messages) {
    if (isRule(message)) continue
    const turn = turnOf(message, target)
    if (turn.parts.length === 0) continue
    if (kind === message.role) turns.at(-1)?.parts.push(...turn.parts)
    else turns.push(turn)
    kind = message.role
  }
  return turns
}

/** The rules of a conversation, those of the application too; `undefined` without any. */
export const rulesOf = (messages: ReadonlyArray<Message.Message>): Turn | undefined => {
  const texts = messages.filter(isRule).map((message) => Message.text(message))
  const text = texts.filter((one) => one !== "").join("\n\n")
  return text === "" ? undefined : { role: "system", parts: [{ text }] }
}
