import path from "node:path"
import type { Options } from "tsup"
import { build } from "../../tsup.base.ts"

type Plugin = NonNullable<Options["esbuildPlugins"]>[number]

const modules = (...names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.map((name) => path.resolve(`src/${name}.ts`))

const [index, promise] = modules("index", "promise")

/** Modules that most programs load in addition to the promise API, and those that a run with a map loads on demand. */
const more = modules(
  "run/Conductor",
  "task/Grader",
  "run/failedResult",
  "loop/cells",
  "loop/price",
  "loop/programScheduler",
  "middleware/steps",
  "middleware/fit/capable"
)

/**
 * Builds two files that nearly every program loads: one with the promise API and all that it imports, and one with
 * `more`. For this, every other entry point and every module that is loaded on demand is built as if it imported both.
 * Otherwise, esbuild writes a file for each set of entry points that share a module, and the thirty files of a first
 * run take 13 ms more, and the 21 files of a first map 10 ms more.
 *
 * The namespaces of `index` are objects that use all exports of a module, so that no bundler can remove any of them.
 * They are built from modules of their own, which only the file of `index` includes.
 */
const together: Plugin = {
  name: "together",
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /./ }, ({ importer, kind, namespace, path: file, resolveDir }) => {
      if (namespace === "whole") return { path: file }
      if (importer === index) return { path: path.resolve(resolveDir, file), namespace: "whole" }
      const isEntry = kind === "entry-point" || (kind === "dynamic-import" && file.startsWith("."))
      if (isEntry) return { path: path.resolve(resolveDir, file), namespace: "entry" }
      // A module that is imported but unused is left out, unless it is marked as having side effects.
      return namespace === "entry" ? { path: file, sideEffects: true } : undefined
    })
    onLoad({ filter: /./, namespace: "whole" }, ({ path: file }) => ({ contents: `export * from "${file}"` }))
    onLoad({ filter: /./, namespace: "entry" }, ({ path: file }) => {
      const others = file === promise ? [] : [promise, ...more]
      return { contents: [`export * from "${file}"`, ...others.map((module) => `import "${module}"`)].join("\n") }
    })
  }
}

export default { ...build(), esbuildPlugins: [together] }
