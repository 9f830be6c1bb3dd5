/** The same pool for the command line: `divisi` finds this file in its folder and in those below. */
import { defineConfig } from "@divisi/cli/config"
import { plan } from "./src/plan.ts"
import { pool } from "./src/pool.ts"

export default defineConfig({
  pool,
  policy: plan,
  budget: { costUsd: 0.01, durationMillis: 10_000 }
})
