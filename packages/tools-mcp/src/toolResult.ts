/**
 * Parses the result of a call to an MCP server into the form that core shows to a worker. Each part is parsed
 * separately.
 */

import type { Tool } from "@divisi/core"
import { isRecord } from "@divisi/core/Fields"
import type { Content, ContentPart } from "@divisi/core/Message"
import { fromJsonSchema } from "@modelcontextprotocol/client"

/** A parsed result. */
export interface Result {
  readonly content: Content
  readonly isError: boolean
}

const isText = (value: unknown): value is string => typeof value === "string"

const text = (of: string): ContentPart => ({ type: "text", text: of })

const kind = (value: unknown): string => (isText(value) ? `"${value.slice(0, 60)}"` : typeof value)

const isBase64 = (data: unknown): data is string => isText(data) && /^[A-Za-z0-9+/_-]+={0,2}$/.test(data)

/** Returns a line of text that represents binary content, because few models accept media other than images. */
const notShown = (what: string, mediaType: string, data: string): ContentPart =>
  text(`[${what}: ${mediaType}, ${Math.floor((data.length * 3) / 4)} bytes, not shown]`)

const media = (what: string, data: unknown, mediaType: unknown): ContentPart => {
  if (!isBase64(data)) return text(`[${what} without readable data, not shown]`)
  const type = isText(mediaType) && mediaType !== "" ? mediaType : "application/octet-stream"
  return /^image\/[\w.+-]+$/.test(type) ? { type: "image", data, mediaType: type } : notShown(what, type, data)
}

const ofResource = (resource: unknown): ContentPart => {
  if (!isRecord(resource)) return text("[A resource without content, not shown]")
  const { blob, mimeType, text: content } = resource
  const uri = isText(resource.uri) ? resource.uri : "A resource"
  return isText(content) ? text(`${uri}\n${content}`) : media(uri, blob, mimeType)
}

const partOf = (block: unknown): ContentPart => {
  if (isText(block)) return text(block)
  if (!isRecord(block)) return text(`[Content that is ${block === null ? "null" : kind(block)}, not shown]`)
  const { data, description, mimeType, name, resource, type, uri } = block
  switch (type) {
    case "text":
      return text(isText(block.text) ? block.text : JSON.stringify(block.text ?? null))
    case "image":
      return media("A picture", data, mimeType)
    case "audio":
      return media("A recording", data, mimeType)
    case "resource":
      return ofResource(resource)
    case "resource_link":
      return text([[name, uri].filter(isText).join(": "), isText(description) ? description : ""].join("\n").trim())
    default:
      return text(`[Content of the type ${kind(type)}, not shown]`)
  }
}

/**
 * Limits for output validation. Larger schemas and values are not validated, nor are schemas whose validation may take
 * more than linear time.
 */
const maxSchemaCharacters = 20_000
const maxValueCharacters = 1_000_000
const isSlow = /"(?:\$ref|\$dynamicRef|pattern|patternProperties|uniqueItems|format)":/

/**
 * Validates structured content against the tool's output schema. Returns the violation; `undefined` if the content is
 * valid.
 */
const missOf = (schema: Tool.JsonSchema, value: unknown): string | undefined => {
  if (value === undefined) return "it has no structured content"
  try {
    const written = JSON.stringify(schema)
    if (written.length > maxSchemaCharacters || isSlow.test(written)) return undefined
    if (JSON.stringify(value).length > maxValueCharacters) return undefined
    const checked = fromJsonSchema(schema)["~standard"].validate(value)
    if (checked instanceof Promise || checked.issues === undefined) return undefined
    return checked.issues
      .map(({ message }) => message)
      .join("; ")
      .slice(0, 300)
  } catch {
    // An invalid schema or a value nested too deeply does not show that the result is wrong.
    return undefined
  }
}

const contentOf = (parts: ReadonlyArray<ContentPart>): Content => {
  const [first, ...rest] = parts
  if (first === undefined) return "(nothing)"
  return rest.length === 0 && first.type === "text" ? first.text : [first, ...rest]
}

/**
 * Parses a result. Structured content is used only if there is no other content, because servers also send it as text.
 * Returns `undefined` if the result has no content in any form.
 */
export const read = (result: unknown, output: Tool.JsonSchema | undefined): Result | undefined => {
  if (!isRecord(result)) return undefined
  const { content, structuredContent, task, toolResult } = result
  const isError = result.isError === true
  if (isRecord(task) && content === undefined)
    return {
      content: `The tool started the task ${kind(task.taskId)} of MCP. MCP tasks are not supported.`,
      isError: true
    }
  const blocks = content === undefined || content === null ? [] : [content].flat()
  // The first protocol version named this field `toolResult`.
  const value = structuredContent ?? toolResult
  if (blocks.length === 0 && value === undefined && !Array.isArray(content) && !isError) return undefined
  const parts =
    blocks.length > 0 || value === undefined
      ? blocks.map(partOf)
      : [text(isText(value) ? value : JSON.stringify(value))]
  const miss = output === undefined || isError ? undefined : missOf(output, structuredContent)
  if (miss !== undefined) parts.push(text(`[The result does not match the output schema of its tool: ${miss}]`))
  return { content: contentOf(parts), isError }
}
