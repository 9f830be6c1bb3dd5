import { defineConfig } from "@tutti/cli/config"
import * as ScriptedWorker from "@tutti/core/ScriptedWorker"

export default defineConfig({
  pool: [ScriptedWorker.make({ id: "broken", replies: [{ fail: { _tag: "Authentication" } }] })],
  policy: "single:broken"
})
