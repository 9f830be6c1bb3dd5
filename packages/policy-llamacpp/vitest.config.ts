import { defineConfig, mergeConfig } from "vitest/config"
import base from "../../vitest.base.ts"

// llama.cpp is loaded once for a process, and tests look at how it is loaded.
export default defineConfig((environment) => mergeConfig(base(environment), { test: { isolate: true } }))
