/** Finds needs of a request that a model does not support: reported by name before anything is sent. */
import { type ContentPart, type Message, parts } from "@divisi/core/Message"
import type { WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import type { Capabilities } from "../capabilities.ts"

/** Unsupported features of an API, for every model, with the reason. */
export interface Lacking {
  readonly fileUrl?: string | undefined
}

/** Returns the content other than text, which a model may not support. */
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
    return `output: ${model} does not support JSON Schema; describe the shape in the prompt`
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
