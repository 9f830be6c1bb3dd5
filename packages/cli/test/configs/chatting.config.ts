import { defineConfig } from "@divisi/cli/config"
import { text } from "@divisi/core/Message"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"

// Answers with the number of messages so far, and talks for longer than any test waits if asked to talk forever.
export default defineConfig({
  pool: [
    ScriptedWorker.make({
      id: "counter",
      pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 0.01 },
      replies: ({ messages }) => {
        const last = text(messages.at(-1))
        return last.startsWith("for ever")
          ? { parts: Array.from({ length: 100_000 }, () => ({ type: "text", text: "la " })), delayMillis: 5 }
          : `${messages.length} seen, the first: ${text(messages[0])}; now: ${last.replaceAll("\n", "/")}`
      }
    })
  ],
  policy: "single:counter",
  retry: { maxAttempts: 1 }
})
