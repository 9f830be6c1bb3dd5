/** The same for the command line: `divisi run` starts the server, and ends it with the run. */
import { defineConfig } from "@divisi/cli/config"
import { model, notes } from "./src/team.ts"

export default defineConfig({
  pool: [model],
  policy: "single:model",
  prices: { model: 0 },
  mcpServers: { notes }
})
