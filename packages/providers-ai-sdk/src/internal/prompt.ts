/** Converts a conversation to an AI SDK prompt. */
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
  SharedV4ProviderOptions
} from "@ai-sdk/provider"
import { defined } from "@divisi/core/Fields"
import * as Message from "@divisi/core/Message"
import { ModelTurn } from "@divisi/provider-kit"

/** The model for which a conversation is converted. */
export interface Target {
  readonly version: "v3" | "v4"
  /** The model that can read the resulting turns again. */
  readonly model: string
}

type Said = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number]

// -------------------------------------------------------------------------------------------------------------------
// Pictures and files
// -------------------------------------------------------------------------------------------------------------------

type Seen = Message.ImagePart | Message.FilePart

/** Returns the media type. That of a URL is unknown; files are assumed to be PDFs. */
const mediaTypeOf = (part: Seen): string => part.mediaType ?? (part.type === "image" ? "image/*" : "application/pdf")

/** Returns file data. Version 3 contains the data directly, version 4 adds their type. */
const dataOf = (part: Seen, { version }: Target): LanguageModelV4FilePart["data"] => {
  const data = "url" in part ? { type: "url", url: new URL(part.url) } : { type: "data", data: part.data }
  const old = data.type === "url" ? data.url : data.data
  return (version === "v3" ? old : data) as LanguageModelV4FilePart["data"]
}

const fileOf = (part: Seen, target: Target): LanguageModelV4FilePart =>
  defined({
    type: "file",
    mediaType: mediaTypeOf(part),
    filename: part.type === "file" ? part.name : undefined,
    data: dataOf(part, target)
  })

const partsOf = (content: Message.Content, target: Target): Array<LanguageModelV4TextPart | LanguageModelV4FilePart> =>
  Message.parts(content).map((part) => (part.type === "text" ? part : fileOf(part, target)))

// -------------------------------------------------------------------------------------------------------------------
// Tools
// -------------------------------------------------------------------------------------------------------------------

/** Returns tool call input. A value other than an object is stored under the AI SDK's name for it. */
const saidOf = (part: ModelTurn.TurnPart): Said => {
  const providerOptions = part.metadata as SharedV4ProviderOptions | undefined
  if (part.type !== "tool-call") return defined({ type: part.type, text: part.text, providerOptions })
  const { call } = part
  const input = ModelTurn.inputOf(call, "rawInvalidInput")
  return defined({ type: "tool-call", toolCallId: call.id, toolName: call.name, input, providerOptions })
}

/**
 * Returns the images in tool results, which follow in a user turn, because some models would write their bytes as text.
 */
const seenOf = ({ content }: Message.ToolMessage, target: Target): ReadonlyArray<LanguageModelV4FilePart> =>
  partsOf(content, target).flatMap((part) => (part.type === "file" ? [part] : []))

/**
 * Returns the output of a tool. Some models include only the text of the AI SDK's error formats, so the text states the
 * failure.
 */
const outputOf = ({ content, isError }: Message.ToolMessage): LanguageModelV4ToolResultOutput => {
  const value = Message.text(content)
  return isError === true ? { type: "error-json", value: { error: value } } : { type: "text", value }
}

/** Converts consecutive tool results to one turn. */
const resultsOf = (results: ReadonlyArray<Message.ToolMessage>, target: Target): LanguageModelV4Prompt => {
  const seen = results.flatMap((result) => seenOf(result, target))
  const content = results.map((result) => ({
    type: "tool-result" as const,
    toolCallId: result.callId,
    toolName: result.name,
    output: outputOf(result)
  }))
  const turn: LanguageModelV4Message = { role: "tool", content }
  return seen.length === 0 ? [turn] : [turn, { role: "user", content: seen }]
}

// -------------------------------------------------------------------------------------------------------------------
// Prompts
// -------------------------------------------------------------------------------------------------------------------

const turnOf = (message: Exclude<Message.Message, Message.ToolMessage>, target: Target): LanguageModelV4Message => {
  if (message.role === "assistant")
    return { role: "assistant", content: ModelTurn.turnParts(message, target.model).map(saidOf) }
  if (message.role === "user") return { role: "user", content: partsOf(message.content, target) }
  return { role: "system", content: message.content }
}

/** Returns the turns for a conversation. */
export const promptOf = (messages: ReadonlyArray<Message.Message>, target: Target): LanguageModelV4Prompt =>
  ModelTurn.turns(messages).flatMap((turn) => ("role" in turn ? [turnOf(turn, target)] : resultsOf(turn, target)))
