/**
 * Bundles the page with esbuild: as modules for servers, whose pages are loaded when they are opened, and as one classic
 * script for exported pages, since browsers load no modules from `file:` addresses.
 */
import crypto from "node:crypto"
import fs from "node:fs"
import path from "node:path"
import zlib from "node:zlib"
import { type BuildOptions, build, type Plugin } from "esbuild"
import { element } from "../src/run/ExportedPage.ts"

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

/** Imports the modules that match a pattern statically, although the source loads them on demand. */
const withStatic = (pattern: RegExp): Plugin => ({
  name: "with-static",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/src\/app\/.*\.tsx$/ }, ({ path: file }) => {
      const imports: Array<string> = []
      const text = fs.readFileSync(file, "utf8").replace(pattern, (_, name: string) => {
        const local = `page${imports.length}`
        imports.push(`import * as ${local} from "${name}"`)
        return `Promise.resolve(${local})`
      })
      return { contents: [text, ...imports].join("\n"), loader: "tsx" }
    })
  }
})

/**
 * A classic script loads nothing later, and esbuild leaves out unused code only where all imports are static. Exported
 * pages have no editor.
 */
const withStaticPages = withStatic(/\bimport\("(?!\.\/PlanEditor)([^"]+)"\)/g)

/** On a server, the editor would be a file of its own, although the page of a run loads all that it imports. */
const withStaticEditor = withStatic(/\bimport\("(\.\/PlanEditor[^"]+)"\)/g)

/**
 * Puts all that the first page loads into one file, which compresses better than several. A module that is loaded on
 * demand imports the entry point, so that esbuild does not split it by the pages that share each part.
 */
const withWholeEntry: Plugin = {
  name: "with-whole-entry",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/src\/app\/pagesOf\w+\.ts$/ }, ({ path: file }) => ({
      contents: `${fs.readFileSync(file, "utf8")}\nimport "./main.tsx"`,
      loader: "ts"
    }))
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
    plugins: [withoutCoreOnDemand, withStaticEditor, withWholeEntry],
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

/** Returns the script of an exported page. */
export const bundleExport = async (): Promise<Uint8Array> =>
  (
    await bundle({
      entryPoints: { exported: main },
      format: "iife",
      plugins: [withoutCoreOnDemand, withoutEditor, withStaticPages]
    })
  )[0]![1]

const hashOf = (contents: string | Uint8Array): string =>
  `'sha256-${crypto.createHash("sha256").update(contents).digest("base64")}'`

/** Returns the document of an exported page without data, with a content security policy and its scripts. */
const exportedDocument = (document: string, source: string, style: string, scripts: string): string => {
  const policy = `default-src 'none'; script-src ${source}; style-src ${style}; base-uri 'none'; form-action 'none'`
  const replace = (page: string, pattern: string, by: string) => {
    if (!page.includes(pattern)) throw new Error(`index.html has no ${pattern}`)
    return page.split(pattern).join(by)
  }
  let page = replace(
    document,
    '<meta charset="utf-8">',
    `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">`
  )
  page = replace(page, '<link rel="icon" href="icon.svg" type="image/svg+xml">\n', "")
  page = replace(page, '<script src="studio.js" type="module"></script>\n', "")
  return replace(page, "</body>", `${element}\n${scripts}\n</body>`)
}

/** Returns the files for exported pages: a script, and the documents of a folder and of a single file. */
const bundleExported = async (style: string): Promise<ReadonlyArray<readonly [string, string]>> => {
  const document = Buffer.from(await documentOf()).toString("utf8")
  // The bundle is trusted code, so only a closing tag in one of its strings could end the script element.
  const script = Buffer.from(await bundleExport())
    .toString("utf8")
    .replaceAll("</script", "<\\/script")
  const own = "'self' file:"
  const inline = exportedDocument(document, hashOf(script), hashOf(style), `<script>${script}</script>`)
  return [
    ["exported.js", script],
    ["export.html", inline.split('<link rel="stylesheet" href="studio.css">').join(`<style>${style}</style>`)],
    ["folder.html", exportedDocument(document, own, own, '<script src="studio.js"></script>')]
  ]
}

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
  const exported = await bundleExported(Buffer.from(files.get("studio.css")!).toString("utf8"))
  const inFolders = new Map(exported.map(([name, text]) => [name, Buffer.from(text)] as const))
  // The page fetches the document of a single file to export a run.
  const fetched = [["export.html", inFolders.get("export.html")!] as const]
  for (const [name, contents] of [...files, ...fetched]) {
    write(`${name}.gz`, zlib.gzipSync(contents, { level: 9 }))
    write(`${name}.br`, zlib.brotliCompressSync(contents))
  }
  for (const [name, contents] of [...files, ...inFolders]) write(name, contents)
}
