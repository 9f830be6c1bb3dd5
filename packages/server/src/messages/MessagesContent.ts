/** Reads the blocks of a message of Anthropic's: texts, pictures, documents, and results of tools. */
import type { Content, ContentPart, Source } from "@divisi/core/Message"
import { kindOf } from "@divisi/core/Options"
import { isReadonlyArrayNonEmpty } from "effect/Array"
import * as Base64 from "effect/encoding/Base64"
import { invalid } from "../wire/ApiError.ts"
import * as Json from "../wire/Json.ts"

const sourceOf = (value: unknown, field: string): Source => {
  const source = Json.object(value, field)
  switch (source.type) {
    case "base64":
      return {
        mediaType: Json.text(source.media_type, `${field}.media_type`),
        data: Json.text(source.data, `${field}.data`)
      }
    case "url":
      return { url: Json.text(source.url, `${field}.url`) }
    case "text":
      return { mediaType: "text/plain", data: Base64.encode(Json.text(source.data, `${field}.data`)) }
    default:
      throw invalid(`${field}.type`, `${field}.type must be base64, url or text: this server keeps no uploaded files.`)
  }
}

const documentOf = (block: Json.JsonObject, field: string): ReadonlyArray<ContentPart> => {
  const source = Json.object(block.source, `${field}.source`)
  if (source.type === "content") return partsOf(source.content, `${field}.source.content`)
  const name = Json.optional(block.title, `${field}.title`, Json.text)
  const file = sourceOf(source, `${field}.source`)
  return [name === undefined ? { type: "file", ...file } : { type: "file", name, ...file }]
}

const searchResultOf = (block: Json.JsonObject, field: string): ReadonlyArray<ContentPart> => [
  {
    type: "text",
    text: `${Json.text(block.title, `${field}.title`)} (${Json.text(block.source, `${field}.source`)})`
  },
  ...partsOf(block.content, `${field}.content`)
]

/** What a block says. */
export const partOf = (value: unknown, field: string): ReadonlyArray<ContentPart> => {
  const block = Json.object(value, field)
  switch (block.type) {
    case "text":
      return [{ type: "text", text: Json.text(block.text, `${field}.text`) }]
    case "image":
      return [{ type: "image", ...sourceOf(block.source, `${field}.source`) }]
    case "document":
      return documentOf(block, field)
    case "search_result":
      return searchResultOf(block, field)
    case "tool_reference":
      return [{ type: "text", text: Json.text(block.tool_name, `${field}.tool_name`) }]
    default:
      throw invalid(
        `${field}.type`,
        `${field}.type must be text, image, document or search_result: ${kindOf(block.type)} is not read.`
      )
  }
}

/** What blocks say, or a text. */
export const partsOf = (value: unknown, field: string): ReadonlyArray<ContentPart> =>
  typeof value === "string"
    ? [{ type: "text", text: value }]
    : Json.list(value, field).flatMap((block, at) => partOf(block, `${field}.${at}`))

/** Parts as a content: a text where there is nothing else among them. */
export const contentOf = (parts: ReadonlyArray<ContentPart>): Content => {
  if (parts.every((part) => part.type === "text")) return parts.map(({ text }) => text).join("\n")
  return isReadonlyArrayNonEmpty(parts) ? parts : ""
}
