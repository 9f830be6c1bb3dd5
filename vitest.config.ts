import { defineConfig } from "vitest/config"

// One run for the whole workspace: its files share the worker threads.
export default defineConfig({
  test: {
    projects: [
      "packages/*/vitest.config.ts",
      "simulation/vitest.config.ts",
      "durability/vitest.config.ts",
      "hostile/vitest.config.ts",
      "scripts/vitest.config.ts"
    ],
    passWithNoTests: true
  }
})
