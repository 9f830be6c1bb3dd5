import { defineConfig } from "@divisi/cli/config"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"

export default defineConfig({
  pool: [ScriptedWorker.make({ id: "broken", replies: [{ fail: { _tag: "Authentication" } }] })],
  policy: "single:broken"
})
