/** Code shared by OpenAI's two wires: errors, images, files, and reasoning effort. */
import type { ContentPart, Source } from "@divisi/core/Message"
import type { Reasoning } from "@divisi/core/Worker"
import { Dialects } from "@divisi/provider-kit"
import { type ApiError, invalid } from "./ApiError.ts"
import * as Json from "./Json.ts"

/** Error codes by kind and field. */
const codes: Readonly<Record<string, string>> = {
  "not-found model": "model_not_found",
  "invalid-request previous_response_id": "previous_response_not_found"
}

/** Returns the object for the `error` field. */
export const errorOf = ({ field, kind, message }: ApiError): Json.JsonObject => {
  const [type, code] = Dialects.Failures.forms[kind].openai
  return {
    message,
    type,
    param: field ?? null,
    code: codes[`${kind} ${field}`] ?? code
  }
}

/** Returns the body for an error. */
export const errorBody = (error: ApiError): Json.JsonObject => ({ error: errorOf(error) })

/** Parses the URL of an image or file. A `data:` URL contains the bytes. */
export const sourceOf = (url: string, field: string): Source => {
  if (!url.startsWith("data:")) return { url }
  const comma = url.indexOf(",")
  const mediaType = /^data:([^;,]+)(?:;.*)?;base64$/s.exec(url.slice(0, Math.max(0, comma)))?.[1]
  if (mediaType === undefined) {
    throw invalid(field, `${field} must be a URL, or a data: URL with a media type and base64.`)
  }
  return { mediaType: mediaType.toLowerCase(), data: url.slice(comma + 1) }
}

/**
 * Parses a file, which must include its data or a URL. Files uploaded to a vendor are available only to that vendor.
 */
export const fileOf = (file: Json.JsonObject, field: string): ContentPart => {
  const name = Json.optional(file.filename, `${field}.filename`, Json.text)
  const place = typeof file.file_url === "string" ? file.file_url : file.file_data
  if (typeof place !== "string") {
    throw invalid(field, `${field} must have file_data: this server stores no uploaded files.`)
  }
  const isPlace = place.startsWith("data:") || /^https?:\/\//.test(place)
  const source: Source = isPlace ? sourceOf(place, field) : { mediaType: "application/pdf", data: place }
  return name === undefined ? { type: "file", ...source } : { type: "file", name, ...source }
}

/** Converts a reasoning effort. Unknown values are treated as `high`. */
export const reasoningOf = (effort: string | undefined): Reasoning | undefined => {
  if (effort === undefined) return undefined
  if (effort === "none") return { type: "off" }
  return { type: "effort", effort: effort === "minimal" || effort === "low" || effort === "medium" ? effort : "high" }
}
