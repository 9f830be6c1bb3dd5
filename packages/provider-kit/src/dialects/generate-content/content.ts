/** Converts a conversation to the contents of a `generateContent` request. */
import { defined } from "@divisi/core/Fields"
import * as Message from "@divisi/core/Message"
import * as Json from "../../VendorJson.ts"
import { withLetter } from "../names.ts"
import * as Echo from "./echo.ts"
import type { Target } from "./request.ts"

/** Inline data, encoded as base64. */
interface Blob {
  readonly inlineData: { readonly mimeType: string; readonly data: string }
}

/** A reference to data that Google fetches itself. */
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

/** A part of a turn. */
export type Part =
  | { readonly text: string; readonly thoughtSignature?: string | undefined }
  | Blob
  | FileData
  | FunctionCall
  | FunctionResponse

/** A turn of the conversation. */
export interface Turn {
  readonly role: "user" | "model" | "system"
  readonly parts: Array<Part>
}

const textPart = (text: string): ReadonlyArray<Part> => (text === "" ? [] : [{ text }])

const mediaPart = (source: Message.Source): Blob | FileData =>
  "data" in source
    ? { inlineData: { mimeType: source.mediaType, data: source.data } }
    : { fileData: defined({ fileUri: source.url, mimeType: source.mediaType }) }

/** Google rejects empty text parts. */
const partsOf = (content: Message.Content): ReadonlyArray<Part> =>
  Message.parts(content).flatMap((part) => (part.type === "text" ? textPart(part.text) : [mediaPart(part)]))

/** Returns tool call arguments as an object, which Google requires; other values are wrapped under a fixed name. */
const argsOf = (text: string): Json.Fields => {
  try {
    return Json.object(JSON.parse(text), "arguments")
  } catch {
    return text.trim() === "" ? {} : { arguments: text }
  }
}

/** Placeholder for an unknown signature: Gemini 3 rejects a turn whose first call has no signature. */
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
 * Converts a tool result, and returns separately the content that the model does not accept within a result: URLs for
 * all models, and all media before Gemini 3.
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
 * Converts messages to turns. Consecutive messages with the same role become parts of one turn, because Google expects
 * the results of parallel calls together.
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

/** Returns the conversation's system instructions, including the application's; `undefined` if there are none. */
export const rulesOf = (messages: ReadonlyArray<Message.Message>): Turn | undefined => {
  const texts = messages.filter(isRule).map((message) => Message.text(message))
  const text = texts.filter((one) => one !== "").join("\n\n")
  return text === "" ? undefined : { role: "system", parts: [{ text }] }
}
