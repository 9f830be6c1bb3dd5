import { defineConfig } from "@divisi/cli/config"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"

// Takes its time, and says on the error output that it has been asked.
export default defineConfig({
  pool: [
    ScriptedWorker.make({
      id: "patient",
      latencyMillis: 1_500,
      replies: () => {
        process.stderr.write("asked\n")
        return "done"
      }
    })
  ]
})
