/**
 * Compares the size of a browser page that uses `conduct` with docs/own-pool.md: the script of that page, bundled with
 * esbuild from the built packages, minified and compressed with gzip. Needs `pnpm build`.
 */
import fs from "node:fs"
import path from "node:path"
import zlib from "node:zlib"
import { build, type Metafile } from "esbuild"
import { root } from "../setup/workspace.mjs"
import type { Report } from "./Report.ts"

const page = "docs/own-pool.md"

/** The size loaded before the first run stays below this many KB. Raise it only with a reason in the commit message. */
const limitKilobytes = 60

const sourcefile = "team.js"

const script = (text: string): string => /```js title="team\.mjs"\n(.*?)```/s.exec(text)?.[1] ?? ""

/** Returns a chunk and everything that it imports statically. */
const loadedWith = (outputs: Metafile["outputs"], file: string, found = new Set<string>()): ReadonlySet<string> => {
  if (found.has(file)) return found
  found.add(file)
  for (const { kind, path } of outputs[file]?.imports ?? []) {
    if (kind === "import-statement" && outputs[path] !== undefined) loadedWith(outputs, path, found)
  }
  return found
}

const kilobytes = async (contents: string, splitting: boolean): Promise<number> => {
  const { metafile, outputFiles } = await build({
    stdin: { contents, resolveDir: path.join(root, "packages/gym"), sourcefile },
    bundle: true,
    splitting,
    format: "esm",
    platform: "browser",
    minify: true,
    metafile: true,
    write: false,
    outdir: "out",
    logLevel: "silent"
  })
  const { outputs } = metafile
  // Modules that are loaded on demand are entry points as well.
  const [entry] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(sourcefile)) ?? []
  if (entry === undefined) throw new Error("esbuild wrote no output for the page's script")
  const loaded = [...loadedWith(outputs, entry)].map((file) => path.basename(file))
  const bytes = outputFiles
    .filter((file) => loaded.includes(path.basename(file.path)))
    .reduce((sum, { contents }) => sum + zlib.gzipSync(contents, { level: 9 }).length, 0)
  return Math.floor(bytes / 100) / 10
}

const isNear = (now: number, then: number): boolean => Math.abs(now - then) <= Math.max(1, then / 50)

/** Compares the loaded size with the page and the limit. */
export const check = async (): Promise<Report> => {
  const text = fs.readFileSync(path.join(root, page), "utf8")
  const [first, whole] = [await kilobytes(script(text), true), await kilobytes(script(text), false)]
  const [, thenFirst, thenWhole] = /([\d.]+) KB before its first run \(([\d.]+) KB in one file\)/.exec(text) ?? []
  const problems: Array<string> = []
  if (!isNear(first, Number(thenFirst)) || !isNear(whole, Number(thenWhole)))
    problems.push(`${page} must say: ${first} KB before its first run (${whole} KB in one file)`)
  if (first >= limitKilobytes)
    problems.push(`conduct loads ${first} KB before its first run, and the limit is ${limitKilobytes}.`)
  return { passed: 2 - problems.length, problems }
}
