import { defineConfig } from "vitest/config"

// Workspace packages resolve to their source, so that tests need no build.
const conditions = ["@tutti/source"]

export default defineConfig({
  resolve: { conditions: [...conditions, "module", "node", "development|production"] },
  ssr: { resolve: { conditions: [...conditions, "module", "node", "development|production"] } },
  test: { include: ["test/**/*.test.ts"] }
})
