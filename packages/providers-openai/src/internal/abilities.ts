/**
 * Detects request features that a model does not support, so that they are reported by name before anything is sent.
 */
import { type ContentPart, type Message, parts } from "@divisi/core/Message"
import type { WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import type { Capabilities } from "../capabilities.ts"

/** Features that an API does not support for any model, with the reason. */
export interface Lacking {
  readonly fileUrl?: string | undefined
}

/** Returns the content other than text, which a model may not support. */
const contentsOf = (messages: ReadonlyArray<Message>): ReadonlyArray<ContentPart> =>
  messages.flatMap(({ content, role }) =>
    (role === "user" || role === "tool") && typeof content !== "string" ? parts(content) : []
  )

const isFileUrl = (part: ContentPart) => part.type === "file" && "url" in part

/** Returns the reason why a request cannot be sent; `undefined` if it can. */
const lack = (
  model: string,
  { messages, output, tools = [] }: WorkerRequest,
  capabilities: Capabilities,
  { fileUrl }: Lacking
): string | undefined => {
  const contents = contentsOf(messages)
  const has = (type: ContentPart["type"]) => contents.some((part) => part.type === type)
  if (tools.length > 0 && !capabilities.tools) return `tools: ${model} does not support tools`
  if (has("image") && !capabilities.images) return `images: ${model} does not support images`
  if (has("file") && !capabilities.files) return `files: ${model} does not support files`
  if (output?.type === "json-schema" && !capabilities.jsonSchema)
    return `output: ${model} does not support JSON Schema; describe the shape in the prompt`
  return fileUrl !== undefined && contents.some(isFileUrl) ? `files by URL: ${fileUrl}` : undefined
}

/** Fails if the model does not support a request. */
export const checkAbilities = (
  model: string,
  request: WorkerRequest,
  capabilities: Capabilities,
  lacking: Lacking = {}
): Result.Result<void, WorkerErrorReason> => {
  const detail = lack(model, request, capabilities, lacking)
  return detail === undefined ? Result.succeed(undefined) : Result.fail({ _tag: "InvalidRequest", detail })
}
