/** A config of which every part prints: to the console, and to the standard output itself. */
import path from "node:path"
import { Worker } from "node:worker_threads"
import { defineConfig } from "@divisi/cli/config"
import { policy, tool, worker } from "@divisi/core/promise"

const noise = () => {
  console.log("NOISE of the console")
  console.info("NOISE")
  console.table([{ NOISE: 1 }])
  console.debug("NOISE")
  process.stdout.write("NOISE of the output")
  process.stdout.write(new TextEncoder().encode("NOISE in bytes\n"))
  process.emitWarning("NOISE")
}

noise()
new Worker('console.log("NOISE of a thread")', { eval: true }).unref()

const raw = path.join(import.meta.dirname, "../../../tools-mcp/test/fixtures/raw.mjs")

export default defineConfig({
  pool: [
    worker({
      id: "asker",
      capabilities: { tools: true },
      answer: ({ messages, tools = [] }) => {
        noise()
        const last = messages.at(-1)
        if (last?.role === "tool") return String(last.content)
        return tools.length === 0 ? "42" : { toolCalls: [{ name: "loud", arguments: {} }] }
      }
    })
  ],
  policy: policy("loud", () => {
    noise()
    return { steps: [{ worker: 0, subtask: "", access: [], check: { by: "loud", onFailure: "continue" } }] }
  }),
  checks: {
    loud: () => {
      noise()
      return true
    }
  },
  tools: [
    tool({
      name: "loud",
      input: {},
      needsApproval: () => {
        noise()
        // Core warns of it.
        throw new Error("NOISE")
      },
      execute: () => {
        noise()
        return "done"
      }
    })
  ],
  // A server that offers no tools.
  mcpServers: { empty: { command: process.execPath, args: [raw, JSON.stringify({ capabilities: {} })] } }
})
