import { defineConfig, mergeConfig } from "vitest/config"
import base from "../../vitest.base.ts"

// A process takes seconds to start on a busy machine, most tests start several, and those of a file run side by side.
const patience = 120_000

export default defineConfig((environment) =>
  environment.mode.startsWith("long")
    ? base(environment)
    : mergeConfig(base(environment), { test: { testTimeout: patience } })
)
