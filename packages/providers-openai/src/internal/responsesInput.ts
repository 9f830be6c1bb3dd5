/** Converts a conversation to input items for the Responses API. */
import * as Message from "@divisi/core/Message"
import { Dialects } from "@divisi/provider-kit"
import type { ResponseInputContent, ResponseInputItem } from "openai/resources/responses/responses"
import { nameOf, resultOf, urlOf } from "./chatMessages.ts"

const partOf = (part: Message.ContentPart): ResponseInputContent => {
  switch (part.type) {
    case "text":
      return { type: "input_text", text: part.text }
    case "image":
      return { type: "input_image", image_url: urlOf(part), detail: "auto" }
    case "file":
      // A URL and a file name are mutually exclusive.
      return "url" in part
        ? { type: "input_file", file_url: part.url }
        : { type: "input_file", filename: nameOf(part), file_data: urlOf(part) }
  }
}

const isTexts = (content: Message.Content): boolean =>
  typeof content === "string" || content.every(({ type }) => type === "text")

const contentOf = (content: Message.Content): string | Array<ResponseInputContent> =>
  isTexts(content) ? Message.text(content) : Message.parts(content).map(partOf)

const callOf = ({ arguments: text, id, name }: Message.ToolCall): ResponseInputItem => ({
  type: "function_call",
  call_id: id,
  name,
  arguments: text
})

/** Converts an assistant turn. Its text follows the reasoning that precedes all calls. */
const assistant = (message: Message.AssistantMessage, model: string): Array<ResponseInputItem> => {
  const { content, echo, toolCalls = [] } = message
  const said: Array<ResponseInputItem> = content === "" && toolCalls.length > 0 ? [] : [{ role: "assistant", content }]
  const { before, between } = Dialects.ResponsesEcho.placed(echo, model, toolCalls)
  return [...before, ...said, ...toolCalls.flatMap((call, index) => [callOf(call), ...(between[index] ?? [])])]
}

const output = (message: Message.ToolMessage): ResponseInputItem => ({
  type: "function_call_output",
  call_id: message.callId,
  output: isTexts(message.content)
    ? resultOf(message)
    : [
        ...(message.isError === true ? [{ type: "input_text", text: "Error:" } as const] : []),
        ...Message.parts(message.content).map(partOf)
      ]
})

/** Returns the items for a conversation. */
export const inputOf = (
  messages: ReadonlyArray<Message.Message>,
  model: string,
  systemRole: "system" | "developer"
): Array<ResponseInputItem> =>
  messages.flatMap((message): Array<ResponseInputItem> => {
    switch (message.role) {
      case "user":
        return [{ role: "user", content: contentOf(message.content) }]
      case "assistant":
        return assistant(message, model)
      case "tool":
        return [output(message)]
      default:
        return [{ role: systemRole, content: message.content }]
    }
  })
