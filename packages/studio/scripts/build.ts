/**
 * Bundles the page with esbuild: as modules for servers, whose pages are loaded when they are opened, and as one classic
 * script for exported pages, since browsers load no modules from `file:` addresses.
 */
import crypto from "node:crypto"
import fs from "node:fs"
import path from "node:path"
import zlib from "node:zlib"
import { type BuildOptions, build, type Plugin } from "esbuild"

const source = path.join(import.meta.dirname, "../src/app")

/**
 * Leaves out the modules that core loads on demand: no function of the page uses them. With `splitting`, esbuild would
 * make a file of each, and of all of `effect/Schema`.
 */
const withoutCoreOnDemand: Plugin = {
  name: "without-core-on-demand",
  setup: ({ onResolve }) => {
    onResolve({ filter: /./ }, ({ importer, kind, path: name }) =>
      kind === "dynamic-import" && !importer.startsWith(source) ? { path: name, external: true } : undefined
    )
  }
}

const bundle = async (options: BuildOptions): Promise<ReadonlyArray<readonly [string, Uint8Array]>> => {
  const { outputFiles = [] } = await build({
    outdir: "out",
    bundle: true,
    minify: true,
    platform: "browser",
    target: ["es2023"],
    conditions: ["@divisi/source"],
    jsx: "automatic",
    legalComments: "none",
    plugins: [withoutCoreOnDemand],
    write: false,
    logLevel: "error",
    ...options
  })
  return outputFiles.map(({ contents, path: file }) => [path.basename(file), contents] as const)
}

const main = path.join(source, "main.tsx")

const styles = path.join(source, "styles.css")

/** The version of the page: a digest of its own code and styles, without that of libraries and other packages. */
export const pageVersion = async (): Promise<string> => {
  const entryPoints = { page: main, styles }
  const hash = crypto.createHash("sha256")
  for (const [, contents] of await bundle({ entryPoints, format: "esm", packages: "external", plugins: [] }))
    hash.update(contents)
  return hash.digest("hex").slice(0, 12)
}

/** Returns the document, with the version of the page. */
const documentOf = async (): Promise<Uint8Array> => {
  const text = fs.readFileSync(path.join(source, "index.html"), "utf8")
  return Buffer.from(text.replace("PAGE_VERSION", await pageVersion()))
}

/** Returns the files of the page on a server, by name. */
export const bundleApp = async (): Promise<ReadonlyMap<string, Uint8Array>> => {
  const files = await bundle({
    entryPoints: { studio: main, "studio-styles": styles },
    chunkNames: "page-[hash]",
    splitting: true,
    format: "esm"
  })
  const named = files.map(([name, contents]) => [name.replace("studio-styles", "studio"), contents] as const)
  const icon = fs.readFileSync(path.join(source, "icon.svg"))
  return new Map<string, Uint8Array>([["index.html", await documentOf()], ["icon.svg", icon], ...named])
}

/** Leaves out the editor of plans, which exported pages never open. */
const withoutEditor: Plugin = {
  name: "without-editor",
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/PlanEditor\.tsx$/ }, ({ path: name }) => ({ path: name, external: true }))
  }
}

/**
 * Imports the pages of an exported page statically, except for the editor. A classic script loads nothing later, and
 * esbuild leaves out unused code only where all imports are static.
 */
const withStaticPages: Plugin = {
  name: "with-static-pages",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/src\/app\/.*\.tsx$/ }, ({ path: file }) => {
      const imports: Array<string> = []
      const text = fs
        .readFileSync(file, "utf8")
        .replace(/\bimport\("(?!\.\/PlanEditor)([^"]+)"\)/g, (_, name: string) => {
          const local = `page${imports.length}`
          imports.push(`import * as ${local} from "${name}"`)
          return `Promise.resolve(${local})`
        })
      return { contents: [text, ...imports].join("\n"), loader: "tsx" }
    })
  }
}

/** Returns the script of an exported page. */
export const bundleExport = async (): Promise<Uint8Array> =>
  (
    await bundle({
      entryPoints: { exported: main },
      format: "iife",
      plugins: [withoutCoreOnDemand, withoutEditor, withStaticPages]
    })
  )[0]![1]

/** Writes the files of the page into a folder, and removes those of earlier builds. */
export const buildApp = async (folder: string): Promise<void> => {
  const files = await bundleApp()
  fs.mkdirSync(folder, { recursive: true })
  for (const name of fs.readdirSync(folder)) {
    if (name.startsWith("page-") && !files.has(name.replace(/\.(gz|br)$/, ""))) fs.rmSync(path.join(folder, name))
  }
  // A file is replaced whole, since another process may read it.
  const write = (name: string, contents: Uint8Array) => {
    const partial = path.join(folder, `.${process.pid}-${name}`)
    fs.writeFileSync(partial, contents)
    fs.renameSync(partial, path.join(folder, name))
  }
  for (const [name, contents] of files) {
    write(name, contents)
    write(`${name}.gz`, zlib.gzipSync(contents, { level: 9 }))
    write(`${name}.br`, zlib.brotliCompressSync(contents))
  }
  write("exported.js", await bundleExport())
}
