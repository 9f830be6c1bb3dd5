/**
 * Parses message content. Clients mix vendor formats, so every wire accepts all of them: Chat Completions and Responses
 * parts, Messages blocks, and MCP content.
 */

import { Options } from "@divisi/core"
import type { Content, ContentPart, Source } from "@divisi/core/Message"
import { isReadonlyArrayNonEmpty } from "effect/Array"
import * as Base64 from "effect/encoding/Base64"
import { invalid } from "./ApiError.ts"
import * as Json from "./Json.ts"
import * as OpenAi from "./OpenAi.ts"
import type { Reading } from "./Reading.ts"

/** The role of the message that contains the part. */
export type Role = "user" | "assistant" | "system" | "tool"

type Parts = ReadonlyArray<ContentPart>

const textPart = (text: string): Parts => (text === "" ? [] : [{ type: "text", text }])

/** Parses a string, a list of lines, or `null` (empty). The Assistants API nests the string under `value`. */
const wordsOf = (value: unknown, field: string): Parts =>
  textPart(
    Array.isArray(value)
      ? value.map((line, at) => Json.text(line, `${field}[${at}]`)).join("\n")
      : (Json.optional(Json.isObject(value) ? value.value : value, field, Json.text) ?? "")
  )

// -------------------------------------------------------------------------------------------------------------------
// Images and files
// -------------------------------------------------------------------------------------------------------------------

const noUploads = "this server stores no uploaded files"

/** Parses the `source` of an Anthropic block. */
const sourceOf = (value: unknown, field: string): Source => {
  const source = Json.object(value, field)
  switch (source.type) {
    case "base64":
      return {
        mediaType: Json.text(source.media_type, `${field}.media_type`).toLowerCase(),
        data: Json.text(source.data, `${field}.data`)
      }
    case "url":
      return { url: Json.text(source.url, `${field}.url`) }
    case "text":
      return { mediaType: "text/plain", data: Base64.encode(Json.text(source.data, `${field}.data`)) }
    default:
      throw invalid(`${field}.type`, `${field}.type must be base64, url or text: ${noUploads}.`)
  }
}

/** Refuses audio and video. */
const checkType = (type: string | undefined, field: string): void => {
  if (type !== undefined && /^(?:audio|video)\//.test(type)) {
    throw invalid(field, `${field} must be text, an image or a file; ${type.slice(0, 80)} is not supported.`)
  }
}

/**
 * Creates a part from base64 data or a URL and a media type. Images become image parts, regardless of the original
 * part's type.
 */
const mediaOf = (place: string, mediaType: unknown, name: unknown, field: string): Parts => {
  const type = typeof mediaType === "string" ? mediaType.toLowerCase() : undefined
  checkType(type, field)
  const isPlace = place.startsWith("data:") || /^https?:\/\//.test(place)
  const source: Source = isPlace
    ? OpenAi.sourceOf(place, field)
    : { mediaType: type ?? "application/octet-stream", data: place }
  if ((type ?? ("mediaType" in source ? source.mediaType : ""))?.startsWith("image/"))
    return [{ type: "image", ...source }]
  return [typeof name === "string" ? { type: "file", name, ...source } : { type: "file", ...source }]
}

/** Parses Bedrock media: `image` and `document`, with a format and bytes. */
const bedrockMedia = ({ document, image }: Json.JsonObject, field: string): Parts | undefined => {
  const media = Json.isObject(image) ? image : document
  if (!Json.isObject(media) || !Json.isObject(media.source)) return undefined
  const bytes = Json.text(media.source.bytes, `${field}.source.bytes`)
  const format = Json.text(media.format, `${field}.format`)
  if (media === image) return [{ type: "image", mediaType: `image/${format}`, data: bytes }]
  const mediaType = documentTypes[format] ?? "application/octet-stream"
  return [{ type: "file", mediaType, data: bytes, ...(typeof media.name === "string" && { name: media.name }) }]
}

const documentTypes: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  csv: "text/csv",
  html: "text/html",
  txt: "text/plain",
  md: "text/markdown"
}

/** Parses Gemini media: `inlineData` contains bytes, `fileData` a URL. */
const geminiMedia = (part: Json.JsonObject, field: string): Parts | undefined => {
  const inline = part.inlineData ?? part.inline_data
  if (Json.isObject(inline)) {
    return mediaOf(Json.text(inline.data, `${field}.data`), inline.mimeType ?? inline.mime_type, undefined, field)
  }
  const file = part.fileData ?? part.file_data
  if (!Json.isObject(file)) return undefined
  const place = Json.text(file.fileUri ?? file.file_uri, `${field}.fileUri`)
  return mediaOf(place, file.mimeType ?? file.mime_type, undefined, field)
}

/** Parses an AI SDK file: `data` or `url`, with a media type. */
const sdkFile = (part: Json.JsonObject, field: string): Parts | undefined => {
  const place = part.data ?? part.url
  const isOther = Json.isObject(part.file) || part.file_data != null || part.file_url != null
  return isOther || typeof place !== "string"
    ? undefined
    : mediaOf(place, part.mediaType ?? part.mimeType, part.filename, field)
}

/** Creates the part of an image. Some clients send a PDF as an image. */
const pictureOf = (source: Source, field: string): Parts => {
  checkType(source.mediaType, field)
  const isImage = source.mediaType?.startsWith("image/") ?? true
  return [isImage ? { type: "image", ...source } : { type: "file", ...source }]
}

/**
 * Parses an image: `source` (Messages), `image_url` as a string or an object (OpenAI), `data` with `mimeType` (MCP), or
 * `image` (AI SDK).
 */
const imageOf = (part: Json.JsonObject, field: string): Parts => {
  if (Json.isObject(part.source)) return pictureOf(sourceOf(part.source, `${field}.source`), `${field}.source`)
  const bytes = part.data ?? part.base64
  const mediaType = part.mimeType ?? part.mime_type
  if (typeof bytes === "string" && typeof mediaType === "string") return [{ type: "image", mediaType, data: bytes }]
  if (typeof part.image === "string") {
    return mediaOf(part.image, part.mediaType ?? part.mimeType ?? "image/png", undefined, field)
  }
  const given = part.image_url ?? part.imageUrl ?? part.url
  const url = Json.isObject(given) ? given.url : given
  if (typeof url !== "string") throw invalid(field, `${field} must have image_url or source: ${noUploads}.`)
  return pictureOf(OpenAi.sourceOf(url, `${field}.image_url`), `${field}.image_url`)
}

const documentOf = (block: Json.JsonObject, field: string, reading: Reading, role: Role): Parts => {
  const source = Json.object(block.source, `${field}.source`)
  if (source.type === "content") return partsOf(source.content, `${field}.source.content`, reading, role)
  const name = Json.optional(block.title, `${field}.title`, Json.text)
  const file = sourceOf(source, `${field}.source`)
  return [name === undefined ? { type: "file", ...file } : { type: "file", name, ...file }]
}

const searchResultOf = (block: Json.JsonObject, field: string, reading: Reading, role: Role): Parts => [
  ...textPart(`${Json.text(block.title, `${field}.title`)} (${Json.text(block.source, `${field}.source`)})`),
  ...partsOf(block.content, `${field}.content`, reading, role)
]

/** Parses an MCP `resource`: text, or binary data as a file. */
const resourceOf = (value: unknown, field: string): Parts => {
  const resource = Json.object(value, field)
  if (typeof resource.text === "string") return textPart(resource.text)
  const mediaType = typeof resource.mimeType === "string" ? resource.mimeType : "application/octet-stream"
  return [{ type: "file", mediaType, data: Json.text(resource.blob, `${field}.blob`) }]
}

// -------------------------------------------------------------------------------------------------------------------
// Parts
// -------------------------------------------------------------------------------------------------------------------

/** Media types without a part in core. In user messages they cause an error, because no worker can read them. */
const unreadable = new Set([
  "input_audio",
  "audio",
  "audio_url",
  "input_video",
  "video",
  "video_url",
  "media",
  "container_upload",
  "image_file"
])

/** Reasoning from earlier turns: notes from this server, or a vendor's reasoning. It is not sent to workers. */
const thoughts = new Set([
  "thinking",
  "redacted_thinking",
  "reasoning",
  "reasoning_text",
  // The AI SDK's separator between two turns.
  "step-start"
])

/** Handles a part of unknown type. */
const unknownOf = (part: Json.JsonObject, field: string, reading: Reading, role: Role): Parts => {
  if (typeof part.text === "string") return textPart(part.text)
  // A message nested in the content, as in a list of instructions.
  if ((part.type === undefined || part.type === "message") && part.content != null)
    return partsOf(part.content, `${field}.content`, reading, role)
  const kind = Options.kindOf(part.type)
  if (role === "user" && typeof part.type === "string" && unreadable.has(part.type)) {
    throw invalid(`${field}.type`, `${field}.type must be text, an image or a file; ${kind} is not supported.`)
  }
  if (role === "tool") {
    reading.notice(`${field}: content of type ${kind} was passed on as JSON.`)
    return textPart(JSON.stringify(part))
  }
  reading.notice(`${field} was omitted, because content of type ${kind} is not supported.`)
  return []
}

/** Parses a part or block. Returns an empty list if it is ignored. */
export const partOf = (value: unknown, field: string, reading: Reading, role: Role): Parts => {
  if (value === null) return []
  if (typeof value === "string") return textPart(value)
  // Tool output is never dropped, regardless of its format.
  if (role === "tool" && !Json.isObject(value)) return textPart(JSON.stringify(value))
  const part = Json.object(value, field)
  switch (part.type) {
    case "text":
    case "input_text":
    case "output_text":
    case "summary_text":
      return wordsOf(part.text ?? part.content, `${field}.text`)
    case "refusal":
      return wordsOf(part.refusal, `${field}.refusal`)
    case "image_url":
    case "input_image":
    case "image":
      return imageOf(part, field)
    case "file":
      return (
        sdkFile(part, field) ?? [
          OpenAi.fileOf(Json.isObject(part.file) ? part.file : part, Json.isObject(part.file) ? `${field}.file` : field)
        ]
      )
    case "input_file":
      return [OpenAi.fileOf(part, field)]
    case "document":
      return documentOf(part, field, reading, role)
    case "search_result":
      return searchResultOf(part, field, reading, role)
    // Anthropic's summary of the earlier conversation; `null` if there was nothing to summarize.
    case "compaction":
      return typeof part.content === "string" ? textPart(`Summary of the conversation so far:\n${part.content}`) : []
    case "tool_reference":
      return wordsOf(part.tool_name, `${field}.tool_name`)
    case "resource":
      return resourceOf(part.resource, `${field}.resource`)
    default:
      if (part.type === undefined) {
        const media = geminiMedia(part, field) ?? bedrockMedia(part, field)
        if (media !== undefined) return media
      }
      return typeof part.type === "string" && thoughts.has(part.type) ? [] : unknownOf(part, field, reading, role)
  }
}

/** Parses content into parts. Content is a string, a part, a list of parts, or `null`. */
export const partsOf = (value: unknown, field: string, reading: Reading, role: Role): Parts => {
  if (value === undefined || value === null) return []
  if (typeof value === "string") return textPart(value)
  if (Array.isArray(value)) {
    return Json.items(value, field).flatMap((part, at) => partOf(part, reading.at(field, at), reading, role))
  }
  if (Json.isObject(value) && (typeof value.type === "string" || typeof value.text === "string")) {
    return partOf(value, field, reading, role)
  }
  if (Json.isObject(value) && Array.isArray(value.parts)) return partsOf(value.parts, field, reading, role)
  // A message in place of content, such as instructions with the role `system`.
  if (Json.isObject(value) && typeof value.role === "string") return partsOf(value.content, field, reading, role)
  if (typeof value === "number" || typeof value === "boolean") return textPart(String(value))
  // A tool may return any value, which is passed on as JSON.
  if (role === "tool") return textPart(JSON.stringify(value))
  throw invalid(field, `${field} must be a string or a list of parts, not ${Options.kindOf(value)}.`)
}

const concatenated = (parts: ReadonlyArray<{ readonly text: string }>): string => {
  let all = ""
  for (const [at, { text }] of parts.entries()) all += at === 0 ? text : `\n${text}`
  return all
}

/** Returns content as a list of parts. */
export const listOf = (content: Content): Parts => (typeof content === "string" ? textPart(content) : content)

/** Returns parts as content: a string if all parts are text. */
export const contentOf = (parts: Parts): Content => {
  // Concatenation does not copy long texts, as `join` does.
  if (parts.every((part) => part.type === "text")) return concatenated(parts)
  return isReadonlyArrayNonEmpty(parts) ? parts : ""
}

/** Parses message content. */
export const read = (value: unknown, field: string, reading: Reading, role: Role): Content =>
  contentOf(partsOf(value, field, reading, role))

/** Parses content for roles that allow only text. Other parts are dropped with a notice. */
export const textOf = (value: unknown, field: string, reading: Reading, role: Role): string => {
  const parts = partsOf(value, field, reading, role)
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
  if (texts.length < parts.length)
    reading.notice(`${field}: images and files in a message with role ${role} were omitted.`)
  return texts.join("\n")
}
