import fs from "node:fs"
import type { Options } from "tsup"

type Entries = Readonly<Record<string, string>>

/** The public entry points that the manifest of the package in this folder names, by the file that each becomes. */
const published = (): Entries => {
  const { exports } = JSON.parse(fs.readFileSync("package.json", "utf8"))
  return Object.fromEntries(
    Object.values<Record<string, string> | string>(exports)
      .filter((entry) => typeof entry === "object")
      .map((entry) => [entry.default!.replace(/^\.\/dist\/(.*)\.js$/, "$1"), entry["@divisi/source"]!])
  )
}

/** What every build of the workspace has in common. */
export const base: Options = {
  format: "esm",
  target: "node22",
  splitting: true,
  sourcemap: true,
  clean: true,
  treeshake: true,
  silent: true
}

/**
 * The JavaScript of every package: each entry point that its manifest names is a file, ESM. `files` are those that are
 * run and not imported, such as a worker thread's. `scripts/setup/declarations.mjs` writes the declarations.
 */
export const build = (files: Entries = {}): Options => ({
  ...base,
  entry: { ...published(), ...files }
})
