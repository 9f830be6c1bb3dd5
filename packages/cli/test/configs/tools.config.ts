import path from "node:path"
import { defineConfig } from "@divisi/cli/config"
import { tool, worker } from "@divisi/core/promise"

const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
const server = path.join(import.meta.dirname, "../fixtures/mcpServer.ts")

/** Asks for the tools that the question names, `name {"its":"arguments"}` each on a line, and says what they gave. */
const asker = worker({
  id: "asker",
  capabilities: { tools: true, images: true },
  answer: ({ messages, tools = [] }) => {
    if (tools.length === 0) return "I have no tools."
    const lines = String(messages.find(({ role }) => role === "user")?.content).split("\n")
    const results = messages.filter(({ role }) => role === "tool").map(({ content }) => String(content))
    if (lines[0] === "?") return tools.map(({ name }) => name).join(" ")
    const next = lines[results.length]
    if (next === undefined) return results.join(" | ")
    const [name, ...rest] = next.split(" ")
    return { toolCalls: [{ name: name!, arguments: rest.length === 0 ? {} : rest.join(" ") }] }
  }
})

export default defineConfig({
  pool: [asker],
  policy: "single:asker",
  tools: [
    tool({ name: "weather", input: city, execute: ({ city }) => `sunny in ${city}` }),
    tool({ name: "order", input: city, needsApproval: true, execute: ({ city }) => `ordered for ${city}` }),
    tool({ name: "total", input: { type: "object" } })
  ],
  mcpServers: {
    files: {
      command: process.execPath,
      args: [server],
      env: { SECRET: "hunter2-hunter2", NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "" }
    }
  }
})
