import fs from "node:fs"
import { defineConfig } from "@divisi/cli/config"
import * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import type { Worker } from "@divisi/core/Worker"

/** A worker that writes its name into the book each time that it is asked. */
const worker = (id: string, reply: ScriptedWorker.Reply | ((asked: boolean) => ScriptedWorker.Reply)): Worker => ({
  ...ScriptedWorker.make({
    id,
    pricing: { inputPerMillion: 1_000, outputPerMillion: 1_000 },
    replies: ({ messages, tools = [] }) => {
      fs.appendFileSync(process.env.BOOK!, `${id}\n`)
      const wantsTool = tools.length > 0 && messages.every(({ role }) => role !== "tool")
      return typeof reply === "function" ? reply(wantsTool) : reply
    }
  }),
  capabilities: { tools: true }
})

const usage = { inputTokens: 5, outputTokens: 5 }

// Two look; the third asks for a tool where there is one, and otherwise never ends while STUCK is set.
export default defineConfig({
  pool: [
    worker("first", "one"),
    worker("second", "two"),
    worker("third", (wantsTool) => {
      if (wantsTool) {
        return {
          parts: [
            { type: "tool-call", id: "1", name: "look", arguments: "{}" },
            { type: "finish", reason: "tool-calls", usage }
          ]
        }
      }
      return process.env.STUCK === "1" ? { hang: true } : "done"
    })
  ],
  policy: Policy.fixed("a team", () => ({
    steps: [
      { worker: 0, subtask: "look", access: [] },
      { worker: 1, subtask: "look, too", access: [] },
      { worker: 2, subtask: "", access: "all" }
    ]
  }))
})
