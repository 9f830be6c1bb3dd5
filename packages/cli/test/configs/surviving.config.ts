import { appendFileSync } from "node:fs"
import { defineConfig } from "@divisi/cli/config"
import { Tool } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import type { Worker } from "@divisi/core/Worker"

const { BOOK = "", STUCK, TOOL } = process.env

/** Writes down that it was asked. */
const noted = (worker: Worker): Worker => ({
  ...worker,
  pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 0.01 },
  generate: (request) => {
    appendFileSync(BOOK, `${worker.id}\n`)
    return worker.generate(request)
  }
})

/** Asks for a tool where there is one, and says what it gave. */
const asking: Worker = {
  ...ScriptedWorker.make({
    id: "last",
    replies: ({ messages, tools = [] }) => {
      const result = messages.find(({ role }) => role === "tool")
      if (tools.length === 0 || result !== undefined) return `It is ${result?.content ?? "done"}.`
      return {
        parts: [
          { type: "tool-call", id: "1", name: "weather", arguments: "{}" },
          { type: "finish", reason: "tool-calls", usage: { inputTokens: 1, outputTokens: 1 } }
        ]
      }
    }
  }),
  capabilities: { tools: true }
}

const hanging: Worker = {
  ...ScriptedWorker.make({ id: "last", replies: [{ hang: true }] }),
  capabilities: { tools: true }
}

export default defineConfig({
  pool: [noted(ScriptedWorker.make({ id: "quick", replies: ["done"] })), noted(STUCK === undefined ? asking : hanging)],
  policy: Policy.fixed("half", () => ({
    steps: [
      { worker: 0, subtask: "Do it.", access: [] },
      { worker: 1, subtask: "", access: "all" }
    ]
  })),
  tools: TOOL === undefined ? [] : [Tool.make({ name: "weather", input: { type: "object", properties: {} } })]
})
