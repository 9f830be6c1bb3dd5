/**
 * Writes the declarations of the package in the current folder into `dist`, after tsup has written its JavaScript. Part
 * of the build.
 *
 * The compiler writes one file per module, and each public entry point is a file that exports one of them. Files that
 * no entry point refers to are omitted, and imports are changed to the published file names.
 */
import { spawnSync } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { compiler, root } from "./workspace.mjs"

/** @typedef {Readonly<Record<string, string>>} Entry */

const folder = process.cwd()
const modules = path.join(folder, "dist/types")

/** Matches the specifier of a relative import in a declaration, including `import("…")`. */
const relativeImport = /((?:\bfrom|\bimport)\s*\(?\s*")(\.[^"]+?)(\.ts)?"/g

/** Compiler settings for the declarations of this package. Type errors are reported by `pnpm types` instead. */
const settings = () => ({
  extends: path.join(root, "tsconfig.base.json"),
  compilerOptions: {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    // Names marked `@internal` are shared within the package and are not part of its public API.
    stripInternal: true,
    noCheck: true,
    rootDir: path.join(folder, "src"),
    outDir: modules,
    typeRoots: [path.join(root, "node_modules/@types")]
  },
  include: [path.join(folder, "src")]
})

/** Runs the compiler and returns its output lines. */
const compile = () => {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-declarations-"))
  try {
    const project = path.join(temporary, "tsconfig.json")
    fs.writeFileSync(project, JSON.stringify(settings()))
    const args = [compiler, "-p", project, "--pretty", "false"]
    const { stderr, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" })
    return `${stdout}${stderr}`.split("\n")
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true })
  }
}

/** @param {string} source relative to the package */
const declarationOf = (source) => path.join(modules, path.relative("src", source).replace(/\.ts$/, ".d.ts"))

/** Returns the public entry points: the declaration file in the manifest, and the module. */
const entries = () => {
  const { exports } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"))
  return /** @type {Array<Entry>} */ (Object.values(exports).filter((entry) => typeof entry === "object")).map(
    (entry) => ({
      types: path.join(folder, entry.types ?? ""),
      module: declarationOf(entry["@divisi/source"] ?? "")
    })
  )
}

/**
 * Rewrites the imports of a module to published file names. Returns the imported modules.
 *
 * @param {string} file
 */
const publish = (file) => {
  /** @type {Array<string>} */
  const imported = []
  const text = fs.readFileSync(file, "utf8").replace(relativeImport, (whole, before, name, extension) => {
    if (extension === undefined) return whole
    imported.push(path.resolve(path.dirname(file), `${name}.d.ts`))
    return `${before}${name}.js"`
  })
  fs.writeFileSync(file, text)
  return imported
}

/**
 * @param {ReadonlyArray<string>} from
 * @param {ReadonlyArray<string>} printed
 */
const publishReachable = (from, printed) => {
  const reached = new Set(from)
  for (const file of reached) {
    if (!fs.existsSync(file)) throw new Error(`There are no declarations for ${file}:\n${printed.join("\n")}`)
    for (const imported of publish(file)) reached.add(imported)
  }
  return reached
}

/** @param {ReadonlySet<string>} wanted */
const removeOthers = (wanted) => {
  for (const name of fs.readdirSync(modules, { recursive: true, encoding: "utf8" })) {
    const file = path.join(modules, name)
    if (file.endsWith(".d.ts") && !wanted.has(file)) fs.rmSync(file)
  }
}

/**
 * Returns the relevant compiler errors. A module that is not published may have types that cannot be written.
 *
 * @param {ReadonlyArray<string>} printed
 * @param {ReadonlySet<string>} published
 */
const problems = (printed, published) =>
  printed.filter((line) => {
    const [, source] = /^(\S.*?)\(\d+,\d+\): error /.exec(line) ?? []
    return source === undefined ? /^error /.test(line) : published.has(declarationOf(source))
  })

fs.rmSync(modules, { recursive: true, force: true })
const printed = compile()
const entryPoints = entries()
const published = publishReachable(
  entryPoints.map(({ module }) => module),
  printed
)
removeOthers(published)
for (const { module, types } of entryPoints) {
  const name = path
    .relative(path.dirname(types), module)
    .replaceAll(path.sep, "/")
    .replace(/\.d\.ts$/, ".js")
  fs.writeFileSync(types, `export * from "./${name}"\n`)
}
const failed = problems(printed, published)
if (failed.length > 0) {
  process.stderr.write(`${failed.join("\n")}\n`)
  process.exitCode = 1
}
