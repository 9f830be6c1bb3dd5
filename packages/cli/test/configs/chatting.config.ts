import { defineConfig } from "@divisi/cli/config"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"

// Says how many messages it has seen, and talks for longer than any test waits when it is told to go on for ever.
export default defineConfig({
  pool: [
    ScriptedWorker.make({
      id: "counter",
      pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 0.01 },
      replies: ({ messages }) => {
        const last = messages.at(-1)?.content ?? ""
        return last.startsWith("for ever")
          ? { parts: Array.from({ length: 100_000 }, () => ({ type: "text", text: "la " })), delayMillis: 5 }
          : `${messages.length} seen, the first: ${messages[0]?.content}; now: ${last.replaceAll("\n", "/")}`
      }
    })
  ],
  policy: "single:counter",
  retry: { maxAttempts: 1 }
})
