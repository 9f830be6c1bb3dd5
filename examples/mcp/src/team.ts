/** Who answers, and with which server. */
import path from "node:path"
import { worker } from "@divisi/core/promise"
import type { McpServer } from "@divisi/tools-mcp/promise"

/** Any model that calls tools: `openai("gpt-6.1-terra")`, `anthropic("claude-sonnet-4-6")`, … This one follows two rules. */
export const model = worker({
  id: "model",
  capabilities: { tools: true },
  answer: ({ messages }) => {
    const last = messages.at(-1)!
    if (last.role === "tool")
      return last.isError === true ? `It failed: ${last.content}` : `The notes say: ${last.content}`
    const [, note] = /^Note: (.*)$/.exec(String(last.content)) ?? []
    const word = /(\p{Lu}\p{L}+)\?$/u.exec(String(last.content))?.[1]
    const call =
      note === undefined ? { name: "notes__search", arguments: { word } } : { name: "notes__add", arguments: { note } }
    return { toolCalls: [call] }
  }
})

export const notes: McpServer = {
  command: process.execPath,
  args: [path.join(import.meta.dirname, "notes.ts")]
}
