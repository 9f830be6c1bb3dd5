import { defineConfig } from "@divisi/cli/config"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"

const pricing = { inputPerMillion: 0, outputPerMillion: 0, perCall: 0.01 }

export default defineConfig({
  pool: [
    ScriptedWorker.make({ id: "first", pricing, replies: ["one"] }),
    ScriptedWorker.make({ id: "second", pricing, replies: ["two"] })
  ],
  policy: "single:first",
  serve: { database: process.env.CONFIGURED_DATABASE },
  retry: { maxAttempts: 1 }
})
