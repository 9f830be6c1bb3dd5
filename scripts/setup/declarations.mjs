/**
 * Writes the declarations of packages into their `dist`, after tsup has written their JavaScript. Part of the build.
 * Arguments: folders of packages. Defaults to the current folder.
 *
 * One run of the compiler serves all packages, because each run reads core and Effect. It writes one file per module,
 * and each public entry point is a file that exports one of them. Files that no entry point refers to are omitted, and
 * imports are changed to the published file names.
 */
import { spawnSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { compiler, root, stateFolder } from "./workspace.mjs"

/** @typedef {Readonly<Record<string, string>>} Entry */

const names = process.argv.length > 2 ? process.argv.slice(2) : ["."]
const folders = names.map((name) => path.resolve(name))

/** Matches the specifier of a relative import in a declaration, including `import("…")`. */
const relativeImport = /((?:\bfrom|\bimport)\s*\(?\s*")(\.[^"]+?)(\.ts)?"/g

/**
 * Compiler settings for the declarations. Type errors are reported by `pnpm types` instead.
 *
 * @param {string} outDir
 */
const settings = (outDir) => ({
  extends: path.join(root, "tsconfig.base.json"),
  compilerOptions: {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    // Names marked `@internal` are shared within the package and are not part of its public API.
    stripInternal: true,
    noCheck: true,
    rootDir: root,
    outDir,
    typeRoots: [path.join(root, "node_modules/@types")]
  },
  include: folders.map((folder) => path.join(folder, "src"))
})

/** @param {string} folder */
const modulesOf = (folder) => path.join(folder, "dist/types")

/** Runs the compiler, moves its files into the packages, and returns its output lines. */
const compile = () => {
  fs.mkdirSync(stateFolder, { recursive: true })
  // On the disk of the packages, so that files can be moved.
  const temporary = fs.mkdtempSync(path.join(stateFolder, "declarations-"))
  try {
    const project = path.join(temporary, "tsconfig.json")
    const out = path.join(temporary, "out")
    fs.writeFileSync(project, JSON.stringify(settings(out)))
    const args = [compiler, "-p", project, "--pretty", "false"]
    const { stderr, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" })
    for (const folder of folders) {
      const written = path.join(out, path.relative(root, folder), "src")
      fs.rmSync(modulesOf(folder), { recursive: true, force: true })
      fs.mkdirSync(path.join(folder, "dist"), { recursive: true })
      if (fs.existsSync(written)) fs.renameSync(written, modulesOf(folder))
    }
    return `${stdout}${stderr}`.split("\n")
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true })
  }
}

/**
 * @param {string} folder
 * @param {string} source relative to the package
 */
const declarationOf = (folder, source) =>
  path.join(modulesOf(folder), path.relative("src", source).replace(/\.ts$/, ".d.ts"))

/**
 * Returns the public entry points: the declaration file in the manifest, and the module.
 *
 * @param {string} folder
 */
const entriesOf = (folder) => {
  const { exports } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"))
  return /** @type {Array<Entry>} */ (Object.values(exports).filter((entry) => typeof entry === "object")).map(
    (entry) => ({
      types: path.join(folder, entry.types ?? ""),
      module: declarationOf(folder, entry["@divisi/source"] ?? "")
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

/**
 * @param {string} modules
 * @param {ReadonlySet<string>} wanted
 */
const removeOthers = (modules, wanted) => {
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
    if (source === undefined) return /^error /.test(line)
    const file = path.resolve(root, source)
    return folders.some((folder) => published.has(declarationOf(folder, path.relative(folder, file))))
  })

const printed = compile()
/** @type {Set<string>} */
const published = new Set()
for (const folder of folders) {
  const entryPoints = entriesOf(folder)
  const reached = publishReachable(
    entryPoints.map(({ module }) => module),
    printed
  )
  removeOthers(modulesOf(folder), reached)
  for (const file of reached) published.add(file)
  for (const { module, types } of entryPoints) {
    const name = path
      .relative(path.dirname(types), module)
      .replaceAll(path.sep, "/")
      .replace(/\.d\.ts$/, ".js")
    fs.writeFileSync(types, `export * from "./${name}"\n`)
  }
}
const failed = problems(printed, published)
if (failed.length > 0) {
  process.stderr.write(`${failed.join("\n")}\n`)
  process.exitCode = 1
}
