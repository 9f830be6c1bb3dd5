import path from "node:path"
import { defineConfig } from "vitest/config"
import base from "../../vitest.base.ts"
import { mutants, mutate } from "./src/Mutants.ts"

/** Runs the test that detects the mutant `MUTANT`, with the mutant applied to the sources. */
export default defineConfig((environment) => {
  const { edits, file, test } = mutants[process.env.MUTANT ?? ""]!
  const settings = base(environment)
  return {
    ...settings,
    root: path.join(import.meta.dirname, "../.."),
    plugins: [
      {
        name: "mutant",
        enforce: "pre",
        // The transformed sources are shared by all mutants, save the one that a mutant changes.
        configureVitest: ({ defineCacheKeyGenerator }) =>
          defineCacheKeyGenerator(({ id }) => (id.endsWith(file) ? JSON.stringify(edits) : undefined)),
        transform: (code, id) => (id.endsWith(file) ? mutate({ file, edits }, code) : undefined)
      }
    ],
    test: { ...settings.test, include: [test!], exclude: [], cache: false, retry: 0 }
  }
})
