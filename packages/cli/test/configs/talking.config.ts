import { defineConfig } from "@divisi/cli/config"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"

// Talks for longer than any test waits, and says on the error output that it has been asked.
export default defineConfig({
  pool: [
    ScriptedWorker.make({
      id: "talker",
      replies: () => {
        process.stderr.write("asked\n")
        return { parts: Array.from({ length: 100_000 }, () => ({ type: "text", text: "la " })), delayMillis: 5 }
      }
    })
  ],
  policy: "single:talker"
})
