import { defineConfig } from "@divisi/cli/config"
import * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"

export default defineConfig({
  pool: [
    ScriptedWorker.make({ id: "quick", replies: ["done"] }),
    ScriptedWorker.make({ id: "stuck", replies: [{ hang: true }] })
  ],
  policy: Policy.fixed("half", () => ({
    steps: [
      { worker: 0, subtask: "Do it.", access: [] },
      { worker: 1, subtask: "Hang.", access: "all" }
    ]
  }))
})
