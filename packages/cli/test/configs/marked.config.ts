import { defineConfig } from "@divisi/cli/config"
import * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"

const usage = { inputTokens: 5, outputTokens: 5 }

/** Every text of the worker holds the marker: its reasoning, the arguments of its tool call, its answer and its error. */
export default defineConfig({
  pool: [
    {
      ...ScriptedWorker.make({
        id: "first",
        replies: ({ messages, tools = [] }) => {
          if (JSON.stringify(messages).includes("break")) throw new Error("marker-7c1e in an error")
          const isAsking = tools.length > 0 && messages.every(({ role }) => role !== "tool")
          return {
            parts: [
              { type: "reasoning", text: "marker-7c1e in reasoning" },
              isAsking
                ? { type: "tool-call", id: "1", name: "look", arguments: '{"at":"marker-7c1e"}' }
                : { type: "text", text: "marker-7c1e in an answer" },
              { type: "finish", reason: isAsking ? "tool-calls" : "stop", usage }
            ]
          }
        }
      }),
      capabilities: { tools: true }
    }
  ],
  policy: Policy.fixed("marked", () => ({
    steps: [
      { worker: 0, subtask: "marker-7c1e in a subtask", access: [] },
      { worker: 0, subtask: "marker-7c1e in the last subtask", access: "all" }
    ]
  }))
})
