/** Converts a conversation to Chat Completions messages. */
import * as Message from "@divisi/core/Message"
import { Dialects } from "@divisi/provider-kit"
import type { ChatCompletionContentPart, ChatCompletionMessageParam } from "openai/resources/chat/completions"
import type { Dialect } from "./chatRequest.ts"

/** Returns the URL of an image or file; inline data is converted to a data URL. */
export const urlOf = (source: Message.Source): string =>
  "url" in source ? source.url : `data:${source.mediaType};base64,${source.data}`

/** Returns the name of a file, which OpenAI requires. */
export const nameOf = ({ mediaType = "", name }: Message.FilePart): string =>
  name ?? `file.${/^[\w-]+\/([a-z\d]+)$/.exec(mediaType)?.[1] ?? "bin"}`

/** Returns the text of a tool result, with a note if the tool failed. */
export const resultOf = ({ content, isError }: Message.ToolMessage): string =>
  `${isError === true ? "Error: " : ""}${Message.text(content)}`

const partOf = (part: Message.ContentPart): ChatCompletionContentPart => {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text }
    case "image":
      return { type: "image_url", image_url: { url: urlOf(part) } }
    case "file":
      return { type: "file", file: { filename: nameOf(part), file_data: urlOf(part) } }
  }
}

/** Returns message content. Content with only text becomes a single string, which every server accepts. */
const contentOf = (content: Message.Content): string | Array<ChatCompletionContentPart> =>
  typeof content === "string" || content.every(({ type }) => type === "text")
    ? Message.text(content)
    : content.map(partOf)

const assistant = (
  { content, echo, toolCalls = [] }: Message.AssistantMessage,
  { reasoningEcho }: Dialect,
  model: string
): ChatCompletionMessageParam => {
  if (toolCalls.length === 0) return { role: "assistant", content }
  const extras = Dialects.ChatEcho.extrasIn(echo, model, toolCalls.length)
  return {
    role: "assistant",
    content: content === "" ? null : content,
    ...Dialects.ChatEcho.echoed(echo, reasoningEcho),
    ...(extras.message === undefined ? {} : { extra_content: extras.message }),
    tool_calls: toolCalls.map(({ arguments: text, id, name }, at) => ({
      ...extras.calls?.[at],
      id,
      type: "function",
      function: { name, arguments: text }
    }))
  }
}

/**
 * Returns the media in a tool result. They are added to a user turn after all results, because a result itself can
 * contain only text.
 */
const shown = ({ content, name }: Message.ToolMessage): ReadonlyArray<ChatCompletionContentPart> => {
  const sights = Message.parts(content).filter(({ type }) => type !== "text")
  return sights.length === 0 ? [] : [{ type: "text", text: `From the tool ${name}:` }, ...sights.map(partOf)]
}

const turnOf = (
  message: Exclude<Message.Message, Message.ToolMessage>,
  dialect: Dialect,
  model: string
): ChatCompletionMessageParam => {
  switch (message.role) {
    case "user":
      return { role: "user", content: contentOf(message.content) }
    case "assistant":
      return assistant(message, dialect, model)
    default:
      return { role: dialect.systemRole, content: message.content }
  }
}

/** Converts a conversation to messages with the server's role names. */
export const messagesOf = (
  messages: ReadonlyArray<Message.Message>,
  dialect: Dialect,
  model: string
): Array<ChatCompletionMessageParam> => {
  const sent: Array<ChatCompletionMessageParam> = []
  let sights: ReadonlyArray<ChatCompletionContentPart> = []
  for (const [index, message] of messages.entries()) {
    if (message.role !== "tool") {
      sent.push(turnOf(message, dialect, model))
      continue
    }
    sent.push({ role: "tool", tool_call_id: message.callId, content: resultOf(message) })
    sights = [...sights, ...shown(message)]
    if (sights.length === 0 || messages[index + 1]?.role === "tool") continue
    sent.push({ role: "user", content: [...sights] })
    sights = []
  }
  return sent
}
