import { defineConfig } from "vitest/config"

// Workspace packages resolve to their source, so that tests need no build.
const conditions = ["@divisi/source"]

export default defineConfig({
  resolve: { conditions: [...conditions, "module", "node", "development|production"] },
  ssr: { resolve: { conditions: [...conditions, "module", "node", "development|production"] } },
  // A busy machine is not a failing test.
  test: { include: ["test/**/*.test.ts"], maxWorkers: "100%", testTimeout: 300_000, hookTimeout: 300_000 }
})
