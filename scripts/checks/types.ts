/**
 * Checks the declarations in the packed packages with strict projects that also check the declarations of libraries
 * (`skipLibCheck: false`): every entry point of every package, and every type that it exports, for each module
 * resolution.
 *
 * The tarballs are unpacked into an empty project outside of the workspace. Third-party packages in their manifests are
 * linked from the workspace, so nothing is downloaded, and packages not in their manifests are not available.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import ts from "typescript"
import { compiler, type Member, root } from "../setup/workspace.mjs"
import { run } from "./command.ts"
import type { Report } from "./Report.ts"
import { pack, tarballOf } from "./tarballs.ts"

/** Module resolutions used by projects. */
const resolutions: Readonly<Record<string, object>> = {
  node16: { module: "node16", moduleResolution: "node16" },
  nodenext: { module: "nodenext", moduleResolution: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" }
}

const strict = {
  target: "es2022",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  skipLibCheck: false,
  noEmit: true,
  types: ["node"]
}

// -------------------------------------------------------------------------------------------------------------------
// The project
// -------------------------------------------------------------------------------------------------------------------

const link = (target: string, at: string) => {
  fs.mkdirSync(path.dirname(at), { recursive: true })
  fs.symlinkSync(fs.realpathSync(target), at, "junction")
}

/** Installs a packed package and the third-party packages in its manifest at the same paths as npm. */
const install = async (member: Member, modules: string): Promise<void> => {
  const { dependencies, name, optionalDependencies, peerDependencies } = member.manifest
  const folder = path.join(modules, name)
  fs.mkdirSync(folder, { recursive: true })
  const unpacked = await run(["tar", "-xzf", tarballOf(member), "--strip-components=1", "-C", folder], { cwd: modules })
  if (unpacked.code !== 0) throw new Error(`${name} cannot be unpacked:\n${unpacked.output}`)
  // A published package includes its sources, but its types must come from its declarations.
  for (const dependency of Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies })) {
    const installed = path.join(member.folder, "node_modules", dependency)
    const isOurs = dependency.startsWith("@divisi/")
    if (!isOurs && fs.existsSync(installed)) link(installed, path.join(folder, "node_modules", dependency))
  }
}

const entriesOf = ({ manifest }: Member): ReadonlyArray<string> =>
  Object.entries(manifest.exports ?? {})
    .filter(([, target]) => typeof target === "object")
    .map(([entry]) => `${manifest.name}${entry.slice(1)}`)

/**
 * Generates a file that imports entry points and refers to all of their types, including those in nested namespaces.
 */
const user = (entries: ReadonlyArray<string>, program: ts.Program, probe: ts.SourceFile): string => {
  const checker = program.getTypeChecker()
  const imports = probe.statements.filter(ts.isImportDeclaration)
  const lines = entries.map((entry, index) => `import type * as M${index} from ${JSON.stringify(entry)}`)
  const name = (symbol: ts.Symbol, written: string, depth: number) => {
    const is = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    if (is.flags & (ts.SymbolFlags.Module | ts.SymbolFlags.Namespace) && depth < 2) {
      for (const member of checker.getExportsOfModule(is)) name(member, `${written}.${member.name}`, depth + 1)
    }
    if (is.flags & ts.SymbolFlags.Type) lines.push(`export type T${lines.length} = ${written}`)
    else if (is.flags & ts.SymbolFlags.Value) lines.push(`export type T${lines.length} = typeof ${written}`)
  }
  for (const [index, { moduleSpecifier }] of imports.entries()) {
    const module = checker.getSymbolAtLocation(moduleSpecifier)
    if (module === undefined) continue
    for (const member of checker.getExportsOfModule(module)) {
      if (member.name !== "default") name(member, `M${index}.${member.name}`, 0)
    }
  }
  return `${lines.join("\n")}\n`
}

// -------------------------------------------------------------------------------------------------------------------
// Problems
// -------------------------------------------------------------------------------------------------------------------

/** Error codes for generic types without type arguments, which prove that the type exists. */
const namedWithoutArguments = new Set(["TS2314", "TS2707"])

/** Returns the errors in our own declarations. Errors in third-party declarations are ignored. */
const problemsOf = (output: string, folder: string, resolution: string): ReadonlyArray<string> => {
  const lines = fs.readFileSync(path.join(folder, "using.ts"), "utf8").split("\n")
  return output.split("\n").flatMap((text) => {
    const [, file = "", line = "", code = ""] = /^(?:(\S.*?)\((\d+),\d+\): )?error (TS\d+): /.exec(text) ?? []
    const isOurs = /^node_modules\/@divisi\/[^/]+\/(?!.*node_modules\/)/.test(file)
    const isOfOthers = file.includes("node_modules/") && !isOurs
    if (code === "" || isOfOthers || (!isOurs && namedWithoutArguments.has(code))) return []
    return [`${resolution}: ${text}${file === "using.ts" ? `: ${lines[Number(line) - 1]}` : ""}`]
  })
}

/** Compiles the project with one module resolution. */
const compile = async (folder: string, resolution: string, options: object): Promise<ReadonlyArray<string>> => {
  const file = `tsconfig.${resolution}.json`
  fs.writeFileSync(
    path.join(folder, file),
    JSON.stringify({ compilerOptions: { ...strict, ...options }, files: ["using.ts"] })
  )
  const { code, output } = await run([process.execPath, compiler, "-p", file, "--pretty", "false", "--checkers", "1"], {
    cwd: folder
  })
  const problems = problemsOf(output, folder, resolution)
  return code === 0 || /error TS/.test(output)
    ? problems
    : [`${resolution}: the compiler ended with ${code}:\n${output}`]
}

/** Loads the entry points as a project would, to find the names of their types. */
const probe = (file: string): ts.Program =>
  ts.createProgram([file], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
    noEmit: true,
    types: []
  })

/**
 * Packs every published package and compiles a strict project that uses all of them, once for each module resolution.
 */
export const check = async (): Promise<Report> => {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "divisi-types-")))
  try {
    const modules = path.join(folder, "node_modules")
    fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
    const members = await pack()
    for (const member of members) await install(member, modules)
    link(path.join(root, "node_modules", "@types", "node"), path.join(modules, "@types", "node"))
    const entries = members.flatMap(entriesOf)
    const probed = path.join(folder, "probe.ts")
    fs.writeFileSync(probed, entries.map((entry) => `import ${JSON.stringify(entry)}\n`).join(""))
    const program = probe(probed)
    fs.writeFileSync(path.join(folder, "using.ts"), user(entries, program, program.getSourceFile(probed)!))
    const problems: Array<string> = []
    for (const [resolution, options] of Object.entries(resolutions)) {
      problems.push(...(await compile(folder, resolution, options)))
    }
    return { passed: problems.length === 0 ? entries.length : 0, problems }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
