/**
 * The declarations of what would be published are right for strict projects that check those of libraries, too
 * (`skipLibCheck: false`): every entry point of every packed package, and every type that it exports, under each way of
 * resolving modules.
 *
 * The tarballs are unpacked into an empty project outside of the workspace; what their manifests name of others is linked
 * from the workspace's own installation, so nothing is downloaded and what they do not name is not there.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import ts from "typescript"
import { type Member, root } from "../setup/workspace.mjs"
import { run } from "./command.ts"
import type { Report } from "./Report.ts"
import { pack, tarballOf } from "./tarballs.ts"

/** How a user's project resolves modules. */
const resolutions: Readonly<Record<string, ts.CompilerOptions>> = {
  node16: { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 },
  nodenext: { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
  bundler: { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }
}

const strict: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
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

/** Puts a packed package, and what its manifest names of others, where npm would. */
const install = async (member: Member, modules: string): Promise<void> => {
  const { dependencies, name, optionalDependencies, peerDependencies } = member.manifest
  const folder = path.join(modules, name)
  fs.mkdirSync(folder, { recursive: true })
  const unpacked = await run(["tar", "-xzf", tarballOf(member), "--strip-components=1", "-C", folder], { cwd: modules })
  if (unpacked.code !== 0) throw new Error(`${name} cannot be unpacked:\n${unpacked.output}`)
  // A published package has its sources beside it; types are those of its declarations.
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

/** A file that imports entry points and names every type of them, in barrels and in the modules that these hold. */
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

/** A type that is named without its arguments is there. */
const namedWithoutArguments = new Set([2314, 2707])

const problemsOf = (program: ts.Program, modules: string, resolution: string): ReadonlyArray<string> => {
  const ours = path.join(fs.realpathSync(modules), "@divisi")
  const found = new Set<string>()
  for (const { code, file, messageText, start } of ts.getPreEmitDiagnostics(program)) {
    const name = file?.fileName ?? ""
    const isUsers = !name.includes("node_modules")
    // What others publish is theirs to mend.
    if (!isUsers && (!name.startsWith(ours) || name.slice(ours.length).includes("node_modules"))) continue
    if (isUsers && namedWithoutArguments.has(code)) continue
    const line = file === undefined || start === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1
    const text = isUsers && file !== undefined && start !== undefined ? `: ${file.text.split("\n")[line - 1]}` : ""
    const where = name === "" ? "the project" : path.relative(path.dirname(modules), name)
    found.add(`${resolution}: ${where}:${line}${text}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`)
  }
  return [...found]
}

/** Packs every published package and compiles a strict project that uses all of them, once for each resolution. */
export const check = async (): Promise<Report> => {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "divisi-types-")))
  try {
    const modules = path.join(folder, "node_modules")
    fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
    const members = await pack()
    for (const member of members) await install(member, modules)
    link(path.join(root, "node_modules", "@types", "node"), path.join(modules, "@types", "node"))
    const entries = members.flatMap(entriesOf)
    const probe = path.join(folder, "probe.ts")
    const using = path.join(folder, "using.ts")
    fs.writeFileSync(probe, entries.map((entry) => `import ${JSON.stringify(entry)}\n`).join(""))
    const problems: Array<string> = []
    for (const [resolution, options] of Object.entries(resolutions)) {
      const settings = { ...strict, ...options, typeRoots: [path.join(modules, "@types")] }
      const probed = ts.createProgram([probe], settings)
      fs.writeFileSync(using, user(entries, probed, probed.getSourceFile(probe)!))
      problems.push(...problemsOf(ts.createProgram([using], settings, undefined, probed), modules, resolution))
    }
    return { passed: problems.length === 0 ? entries.length : 0, problems }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
