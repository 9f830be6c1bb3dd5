import os from "node:os"
import path from "node:path"
import { defineConfig } from "vitest/config"

// Workspace packages resolve to their source, so that tests need no build.
const conditions = ["@divisi/source"]

/** `vitest --mode long` runs the files `*.long.test.ts` alone, `--mode longest` those of `*.longest.test.ts`, which CI leaves out. */
const modes = ["long", "longest"]
const filesOf = (mode: string) => `test/**/*.${mode}.test.ts`

export default defineConfig(({ mode }) => ({
  resolve: { conditions: [...conditions, "module", "node", "development|production"] },
  ssr: { resolve: { conditions: [...conditions, "module", "node", "development|production"] } },
  test: {
    ...(modes.includes(mode)
      ? { include: [filesOf(mode)] }
      : { include: ["test/**/*.test.ts"], exclude: modes.map(filesOf) }),
    // Files share what they import, which takes half a second of computing for each file otherwise.
    isolate: false,
    globalSetup: path.join(import.meta.dirname, "vitest.setup.ts"),
    // Tests of processes, servers and locks wait for up to half of their time: two cores are busy with four files.
    maxWorkers: os.availableParallelism() * 2,
    // Hundreds of tests start processes: what the first has compiled, the others load. It halves the start of each.
    env: { NODE_COMPILE_CACHE: path.join(import.meta.dirname, ".divisi/compiled") },
    // Tests of the long part train, kill and start over. Others that need more than half a minute on a busy machine say
    // why, beside a patience of their own.
    testTimeout: modes.includes(mode) ? 300_000 : 30_000,
    hookTimeout: 30_000,
    // CI runs a failed test once more, and lists those that pass then as unsteady: each is a fault that is yet to be found.
    retry: process.env.CI === undefined ? 0 : 1
  }
}))
