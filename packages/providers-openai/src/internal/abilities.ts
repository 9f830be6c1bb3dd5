/** What a request needs and a model cannot do: told by name before anything is sent. */
import { type ContentPart, type Message, parts } from "@divisi/core/Message"
import type { WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import type { Capabilities } from "../capabilities.ts"

/** What an API does not take, whatever the model, and why. */
export interface Lacking {
  readonly fileUrl?: string | undefined
}

/** What is more than text, and so may be more than a model takes. */
const contentsOf = (messages: ReadonlyArray<Message>): ReadonlyArray<ContentPart> =>
  messages.flatMap(({ content, role }) =>
    (role === "user" || role === "tool") && typeof content !== "string" ? parts(content) : []
  )

const isFileUrl = (part: ContentPart) => part.type === "file" && "url" in part

/** Why a request cannot be sent; nothing where it can. */
const lack = (
  model: string,
  { messages, output, tools = [] }: WorkerRequest,
  capabilities: Capabilities,
  { fileUrl }: Lacking
): string | undefined => {
  const contents = contentsOf(messages)
  const has = (type: ContentPart["type"]) => contents.some((part) => part.type === type)
  if (tools.length > 0 && !capabilities.tools) return `tools: ${model} calls none`
  if (has("image") && !capabilities.images) return `images: ${model} sees none`
  if (has("file") && !capabilities.files) return `files: ${model} reads none`
  if (output?.type === "json-schema" && !capabilities.jsonSchema)
    return `output: ${model} has no JSON Schema; ask for the form in words`
  return fileUrl !== undefined && contents.some(isFileUrl) ? `files by URL: ${fileUrl}` : undefined
}

/** Passes a request that the model can answer. */
export const checkAbilities = (
  model: string,
  request: WorkerRequest,
  capabilities: Capabilities,
  lacking: Lacking = {}
): Result.Result<void, WorkerErrorReason> => {
  const detail = lack(model, request, capabilities, lacking)
  return detail === undefined ? Result.succeed(undefined) : Result.fail({ _tag: "InvalidRequest", detail })
}
