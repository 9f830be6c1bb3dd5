/** What an MCP server gives for a call, as core shows it to a worker. */
import type { Content, ContentPart } from "@divisi/core/Message"
import type { CallToolResult, ContentBlock, EmbeddedResource } from "@modelcontextprotocol/client"

const text = (of: string): ContentPart => ({ type: "text", text: of })

/** Bytes that are neither a picture nor a text: few models can read them, so a line says that they are there. */
const untold = (what: string, mediaType: string, data: string): ContentPart =>
  text(`[${what}: ${mediaType}, ${Math.floor((data.length * 3) / 4)} bytes, not shown]`)

const image = (data: string, mediaType: string): ContentPart => ({ type: "image", data, mediaType })

const ofResource = ({ resource }: EmbeddedResource): ContentPart => {
  const { mimeType = "application/octet-stream", uri } = resource
  if ("text" in resource) return text(`${uri}\n${resource.text}`)
  return mimeType.startsWith("image/") ? image(resource.blob, mimeType) : untold(uri, mimeType, resource.blob)
}

const partOf = (block: ContentBlock): ContentPart => {
  switch (block.type) {
    case "text":
      return text(block.text)
    case "image":
      return image(block.data, block.mimeType)
    case "audio":
      return untold("A recording", block.mimeType, block.data)
    case "resource":
      return ofResource(block)
    case "resource_link":
      return text([`${block.name}: ${block.uri}`, block.description ?? ""].join("\n").trim())
  }
}

/** The content of a result. Structured content counts where there is no other: servers give it as text, too. */
export const contentOf = ({ content, structuredContent }: CallToolResult): Content => {
  const [first, ...rest] = content.map(partOf)
  if (first !== undefined) return rest.length === 0 && first.type === "text" ? first.text : [first, ...rest]
  return structuredContent === undefined ? "(nothing)" : JSON.stringify(structuredContent)
}
