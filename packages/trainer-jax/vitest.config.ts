import { defineConfig, mergeConfig } from "vitest/config"
import base from "../../vitest.base.ts"

// Every engine compiles its kernels for each shape that it meets, which takes its time on a busy machine.
const patience = 120_000

export default defineConfig((environment) =>
  environment.mode.startsWith("long")
    ? base(environment)
    : mergeConfig(base(environment), { test: { testTimeout: patience } })
)
