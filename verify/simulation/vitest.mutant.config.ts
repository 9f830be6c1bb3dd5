import path from "node:path"
import { defineConfig } from "vitest/config"
import base from "../../vitest.base.ts"
import { mutants, mutate } from "./src/Mutants.ts"

/** Runs the test that finds the mutant `MUTANT`, with the mutant in the sources. */
export default defineConfig((environment) => {
  const { file, test, ...rest } = mutants[process.env.MUTANT ?? ""]!
  const settings = base(environment)
  return {
    ...settings,
    root: path.join(import.meta.dirname, "../.."),
    plugins: [
      {
        name: "mutant",
        enforce: "pre",
        transform: (code, id) => (id.endsWith(file) ? mutate({ file, ...rest }, code) : undefined)
      }
    ],
    // Vitest would find the transformed source of another mutant again.
    test: { ...settings.test, include: [test!], exclude: [], cache: false, fsModuleCache: false, retry: 0 }
  }
})
