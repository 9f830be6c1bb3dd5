import path from "node:path"
import type { Options } from "tsup"
import { build } from "../../tsup.base.ts"

type Plugin = NonNullable<Options["esbuildPlugins"]>[number]

/** Modules that nearly every program loads. */
const loop = [
  "run/Conductor",
  "policy/Baselines",
  "events/AnswerText",
  "telemetry/Telemetry",
  "events/Transcript",
  "task/Grader",
  "run/failedResult",
  "loop/cells"
].map((name) => path.resolve(`src/${name}.ts`))

/**
 * Makes one file of what nearly every program loads: each entry point, and what is loaded later, is built as if it
 * imported that, too. Otherwise esbuild makes a file for every set of entry points that share a module, and the thirty of
 * a first run take 13 ms more.
 */
const together: Plugin = {
  name: "together",
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /./ }, ({ kind, namespace, path: file, resolveDir }) => {
      const isEntry = kind === "entry-point" || (kind === "dynamic-import" && file.startsWith("."))
      if (isEntry) return { path: path.resolve(resolveDir, file), namespace: "entry" }
      // A module that is imported but unused is left out, unless it is marked as having side effects.
      return namespace === "entry" ? { path: file, sideEffects: true } : undefined
    })
    onLoad({ filter: /./, namespace: "entry" }, ({ path: file }) => ({
      contents: [`export * from "${file}"`, ...loop.map((module) => `import "${module}"`)].join("\n")
    }))
  }
}

export default { ...build(), esbuildPlugins: [together] }
