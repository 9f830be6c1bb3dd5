import { defineConfig, mergeConfig } from "vitest/config"
import base from "../../vitest.base.ts"

// A process takes seconds to start on a busy machine, most tests start several, and those of a file run side by side.
const patience = 120_000

// Tests of the command line change what belongs to a process: its environment, its signals, its terminal.
export default defineConfig((environment) =>
  mergeConfig(base(environment), {
    test: { isolate: true, ...(environment.mode === "long" ? {} : { testTimeout: patience }) }
  })
)
