/**
 * Checks that every name that a published package exports has a purpose outside it. Other packages, examples or pages
 * use the name, or a signature refers to it. Error classes are always public, because their types are inferred.
 */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import ts from "typescript"
import { extract } from "../documentation/Block.ts"
import { packages, root } from "../setup/workspace.mjs"
import type { Report } from "./Report.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The files of a workspace by their paths, relative to its root. */
export type Files = ReadonlyMap<string, string>

/** A published package. */
export interface Subject {
  /** Name in its manifest, such as `@divisi/gym`. */
  readonly name: string
  /** Path relative to the root, such as `packages/gym`. */
  readonly folder: string
  /** Source files of the entry points, relative to the root, by the specifiers with which they are imported. */
  readonly entries: ReadonlyMap<string, string>
}

/** A declared name in a file. */
interface Declared {
  readonly file: string
  readonly name: string
}

/** A declared name, or a module that is exported as a namespace. */
type Target = (Declared & { readonly type: "declaration" }) | { readonly type: "module"; readonly file: string }

/** A name imported into a file: one export of a module (`*` for all of them). */
interface Import {
  readonly specifier: string
  readonly name: string
}

interface Module {
  readonly imports: ReadonlyMap<string, Import>
  readonly declarations: ReadonlyMap<string, ReadonlyArray<ts.Node>>
  /** Exported names of declarations and imports in this file, by their public names. */
  readonly own: ReadonlyMap<string, string>
  /** Names exported from other files. */
  readonly from: ReadonlyMap<string, Import>
  /** Files whose exports are all exported again. */
  readonly all: ReadonlyArray<string>
}

// -------------------------------------------------------------------------------------------------------------------
// Modules
// -------------------------------------------------------------------------------------------------------------------

const hasExport = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true

/** Whether a name is marked `@internal`, so that the published declarations leave it out. */
const isInternal = (node: ts.Node): boolean =>
  ts.getJSDocTags(node).some(({ tagName }) => tagName.text === "internal") ||
  ts
    .getLeadingCommentRanges(node.getSourceFile().text, node.pos)
    ?.some(({ end, pos }) => node.getSourceFile().text.slice(pos, end).includes("@internal")) === true

const namesIn = (name: ts.BindingName): ReadonlyArray<string> =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : namesIn(element.name)))

const parse = (file: string, text: string): ts.SourceFile =>
  ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)

const moduleOf = (source: ts.SourceFile): Module => {
  const imports = new Map<string, Import>()
  const declarations = new Map<string, Array<ts.Node>>()
  const own = new Map<string, string>()
  const from = new Map<string, Import>()
  const all: Array<string> = []
  const declare = (name: string, node: ts.Node, statement: ts.Node) => {
    declarations.set(name, [...(declarations.get(name) ?? []), node])
    if (hasExport(statement) && !isInternal(statement)) own.set(name, name)
  }
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement) && ts.isStringLiteral(statement.moduleSpecifier)) {
      const specifier = statement.moduleSpecifier.text
      const bindings = statement.importClause?.namedBindings
      if (bindings === undefined) continue
      if (ts.isNamespaceImport(bindings)) imports.set(bindings.name.text, { specifier, name: "*" })
      else
        for (const { name, propertyName } of bindings.elements)
          imports.set(name.text, { specifier, name: (propertyName ?? name).text })
    } else if (ts.isExportDeclaration(statement) && !isInternal(statement)) {
      const specifier =
        statement.moduleSpecifier && ts.isStringLiteral(statement.moduleSpecifier)
          ? statement.moduleSpecifier.text
          : undefined
      const clause = statement.exportClause
      if (clause === undefined) all.push(specifier!)
      else if (ts.isNamespaceExport(clause)) from.set(clause.name.text, { specifier: specifier!, name: "*" })
      else
        for (const { name, propertyName } of clause.elements) {
          const local = (propertyName ?? name).text
          if (specifier === undefined) own.set(name.text, local)
          else from.set(name.text, { specifier, name: local })
        }
    } else if (ts.isVariableStatement(statement)) {
      for (const one of statement.declarationList.declarations)
        for (const name of namesIn(one.name)) declare(name, one, statement)
    } else if (
      (ts.isFunctionDeclaration(statement) ||
        ts.isClassDeclaration(statement) ||
        ts.isInterfaceDeclaration(statement) ||
        ts.isTypeAliasDeclaration(statement) ||
        ts.isEnumDeclaration(statement)) &&
      statement.name !== undefined
    )
      declare(statement.name.text, statement, statement)
  }
  return { imports, declarations, own, from, all }
}

/** Resolves names of the workspace's source files to their declarations. */
const resolver = (files: Files, entries: ReadonlyMap<string, string>) => {
  const modules = new Map<string, Module>()
  const sources = new Map<string, ts.SourceFile>()
  const parsed = (file: string): ts.SourceFile => {
    const known = sources.get(file) ?? parse(file, files.get(file) ?? "")
    sources.set(file, known)
    return known
  }
  const module = (file: string): Module => {
    const known = modules.get(file) ?? moduleOf(parsed(file))
    modules.set(file, known)
    return known
  }
  const fileOf = (importer: string, specifier: string): string | undefined => {
    if (!specifier.startsWith(".")) return entries.get(specifier)
    const file = path.posix.join(path.posix.dirname(importer), specifier)
    return files.has(file) ? file : undefined
  }
  const imported = (importer: string, { name, specifier }: Import): Target | undefined => {
    const file = fileOf(importer, specifier)
    if (file === undefined) return undefined
    return name === "*" ? { type: "module", file } : exported(file, name)
  }
  /** Returns the target of a name that a file exports. */
  const exported = (file: string, name: string): Target | undefined => exportsOf(file).get(name)
  /** Returns the target of a name within a file. */
  const local = (file: string, name: string): Target | undefined => {
    const { declarations, imports } = module(file)
    if (declarations.has(name)) return { type: "declaration", file, name }
    const one = imports.get(name)
    return one && imported(file, one)
  }
  const known = new Map<string, ReadonlyMap<string, Target>>()
  const exportsOf = (file: string): ReadonlyMap<string, Target> => {
    const before = known.get(file)
    if (before !== undefined) return before
    const targets = new Map<string, Target>()
    known.set(file, targets)
    const { all, from, own } = module(file)
    const add = (name: string, target: Target | undefined) => target && targets.set(name, target)
    for (const specifier of all) {
      const source = fileOf(file, specifier)
      if (source !== undefined) for (const [name, target] of exportsOf(source)) targets.set(name, target)
    }
    for (const [name, one] of from) add(name, imported(file, one))
    for (const [name, inside] of own) add(name, local(file, inside))
    return targets
  }
  const isType = ({ file, name }: Declared): boolean =>
    module(file)
      .declarations.get(name)
      ?.some((node) => ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) === true
  return { parsed, module, exportsOf, local, fileOf, isType }
}

type Resolver = ReturnType<typeof resolver>

const keyOf = ({ file, name }: Declared): string => `${file}#${name}`

// -------------------------------------------------------------------------------------------------------------------
// Public names
// -------------------------------------------------------------------------------------------------------------------

/** Returns the declarations that a package exports, with the names under which users find them. */
const publicNames = ({ exportsOf }: Resolver, { entries, folder }: Subject): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  const visited = new Set<string>()
  const visit = (file: string, prefix: string) => {
    if (visited.has(file)) return
    visited.add(file)
    for (const [name, target] of exportsOf(file)) {
      if (!target.file.startsWith(`${folder}/`)) continue
      if (target.type === "module") visit(target.file, `${prefix}${name}.`)
      else if (!names.has(keyOf(target))) names.set(keyOf(target), `${prefix}${name}`)
    }
  }
  for (const [specifier, file] of entries) {
    const module = specifier.split("/")[2] ?? ""
    visit(file, /^[A-Z]/.test(module) ? `${module}.` : "")
  }
  return names
}

// -------------------------------------------------------------------------------------------------------------------
// Uses
// -------------------------------------------------------------------------------------------------------------------

/** Returns the files of the modules that a text imports dynamically, or of which it uses the type. */
const loadedBy = (resolved: Resolver, source: ts.SourceFile): ReadonlyArray<string> => {
  const loaded: Array<string> = []
  const visit = (node: ts.Node): void => {
    const argument =
      ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
        ? node.arguments[0]
        : ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)
          ? node.argument.literal
          : undefined
    if (argument !== undefined && ts.isStringLiteral(argument) && !argument.text.startsWith(".")) {
      const file = resolved.fileOf(source.fileName, argument.text)
      if (file !== undefined) loaded.push(file)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return loaded
}

/** Reports each declaration that a text uses through imports of packages, or through modules loaded elsewhere. */
const usesIn = (
  resolved: Resolver,
  source: ts.SourceFile,
  loaded: ReadonlyArray<string>,
  use: (key: string) => void
): void => {
  const modules = new Map<string, string>()
  const see = (target: Target | undefined, as: string) => {
    if (target?.type === "declaration") use(keyOf(target))
    else if (target !== undefined && !modules.has(as)) modules.set(as, target.file)
  }
  const { from, imports } = moduleOf(source)
  for (const [name, one] of [...imports, ...from]) {
    const at = one.specifier.startsWith(".") ? undefined : resolved.fileOf(source.fileName, one.specifier)
    if (at === undefined) continue
    see(one.name === "*" ? { type: "module", file: at } : resolved.exportsOf(at).get(one.name), name)
  }
  // A loaded module can be passed on, so any name in the text may belong to it.
  const named = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) for (const at of loaded) see(resolved.exportsOf(at).get(node.text), node.text)
    ts.forEachChild(node, named)
  }
  if (loaded.length > 0) named(source)
  const member = (of: ts.Node, name: string): string | undefined => {
    const at = ts.isIdentifier(of)
      ? modules.get(of.text)
      : ts.isPropertyAccessExpression(of)
        ? (member(of.expression, of.name.text) ?? modules.get(of.name.text))
        : ts.isQualifiedName(of)
          ? member(of.left, of.right.text)
          : undefined
    const target = at === undefined ? undefined : resolved.exportsOf(at).get(name)
    if (target?.type === "module") return target.file
    if (target !== undefined) use(keyOf(target))
    return undefined
  }
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) member(node.expression, node.name.text)
    if (ts.isQualifiedName(node)) member(node.left, node.right.text)
    // `const { make } = Gym`
    if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name) && node.initializer !== undefined)
      for (const { name, propertyName } of node.name.elements)
        member(node.initializer, (propertyName ?? name).getText())
    ts.forEachChild(node, visit)
  }
  visit(source)
}

/** Names in the text of a page: `make` of a module is written `Gym.make`. */
const spans = /`([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)/g

// -------------------------------------------------------------------------------------------------------------------
// Signatures
// -------------------------------------------------------------------------------------------------------------------

/** Reports each name in the signature of a declaration. Bodies of functions are not part of it. */
const signature = (resolved: Resolver, file: string, node: ts.Node, see: (target: Declared) => void): void => {
  const resolve = (name: ts.Node): Target | undefined => {
    if (ts.isIdentifier(name)) return resolved.local(file, name.text)
    const [left, right] = ts.isQualifiedName(name)
      ? [name.left, name.right]
      : ts.isPropertyAccessExpression(name)
        ? [name.expression, name.name]
        : []
    if (left === undefined || right === undefined) return undefined
    const of = resolve(left)
    return of?.type === "module" ? resolved.exportsOf(of.file).get(right.text) : of
  }
  const visit = (part: ts.Node): void => {
    if (ts.isBlock(part)) return
    if (ts.isIdentifier(part) || ts.isQualifiedName(part) || ts.isPropertyAccessExpression(part)) {
      const target = resolve(part)
      if (target?.type === "declaration") see(target)
    }
    ts.forEachChild(part, visit)
  }
  visit(node)
}

// -------------------------------------------------------------------------------------------------------------------
// The check
// -------------------------------------------------------------------------------------------------------------------

/** Returns the exported names of each package that serve no purpose outside it. */
export const unused = (subjects: ReadonlyArray<Subject>, files: Files): ReadonlyArray<string> => {
  const resolved = resolver(files, new Map(subjects.flatMap(({ entries }) => [...entries])))
  const owner = (file: string) => subjects.find(({ folder }) => file.startsWith(`${folder}/`))?.folder
  const reached = new Set<string>()
  const all = subjects.map((subject) => ({ subject, names: publicNames(resolved, subject) }))
  const byName = new Map<string, Array<string>>()
  const add = (name: string, key: string) => byName.set(name, [...(byName.get(name) ?? []), key])
  for (const { names, subject } of all) {
    for (const [key, name] of names) {
      add(name, key)
      // In the readme of a package, a name can stand without its module.
      add(`${subject.folder}/README.md ${name.split(".").at(-1)}`, key)
    }
  }
  /** The modules that the files of a folder, such as `packages/cli`, load. */
  const loaded = new Map<string, ReadonlyArray<string>>()
  const sources = [...files.keys()]
    .filter((file) => /\.(?:ts|tsx|mts|js|mjs)$/.test(file))
    .map((file) => ({ source: resolved.parsed(file), folder: file.split("/", 2).join("/") }))
  for (const { folder, source } of sources) {
    loaded.set(folder, [...(loaded.get(folder) ?? []), ...loadedBy(resolved, source)])
  }
  for (const { folder, source } of sources) {
    const own = owner(source.fileName)
    usesIn(resolved, source, [...new Set(loaded.get(folder))], (key) => owner(key) === own || reached.add(key))
  }
  for (const [file, text] of files) {
    if (file.endsWith(".md")) {
      for (const [, name = ""] of text.matchAll(spans)) {
        for (const key of [...(byName.get(name) ?? []), ...(byName.get(`${file} ${name}`) ?? [])]) reached.add(key)
      }
    }
    // Examples are written for users, including those of the package itself.
    for (const { language, text: example } of extract(file, text)) {
      if (!/^(?:ts|tsx|js|mjs)$/.test(language)) continue
      const source = parse(file, example)
      usesIn(resolved, source, loadedBy(resolved, source), (key) => reached.add(key))
    }
  }
  for (const { source } of sources) {
    if (owner(source.fileName) === undefined || !source.fileName.includes("/src/")) continue
    const { declarations, own } = resolved.module(source.fileName)
    for (const name of own.values()) {
      for (const node of declarations.get(name) ?? []) {
        // The published declarations of every file need the types of other files.
        signature(resolved, source.fileName, node, (target) => {
          if (target.file !== source.fileName && resolved.isType(target)) reached.add(keyOf(target))
        })
      }
    }
  }
  // Names that are added to the set during the loop are visited as well.
  for (const key of reached) {
    const [file = "", name = ""] = key.split("#")
    for (const node of resolved.module(file).declarations.get(name) ?? [])
      signature(resolved, file, node, (target) => reached.add(keyOf(target)))
  }
  const isError = (key: string) => /#\w+Error$/.test(key)
  return all.flatMap(({ subject: { name }, names }) =>
    [...names]
      .filter(([key]) => !reached.has(key) && !isError(key))
      .map(
        ([key, exported]) =>
          `${key.split("#")[0]}: ${name} exports ${exported}, but only ${name} uses it. Do not export it, mark it @internal, or give it an example.`
      )
  )
}

const read = (): Files => {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26
  }).split("\n")
  const isRead = (file: string) =>
    /\.(?:ts|tsx|mts|js|mjs|md)$/.test(file) && !/^\.changeset\/|^docs\/lab\/|CHANGELOG/.test(file)
  return new Map(
    listed
      .filter((file) => isRead(file) && fs.existsSync(path.join(root, file)))
      .map((file) => [file, fs.readFileSync(path.join(root, file), "utf8")])
  )
}

/** Checks the published packages of this workspace. */
export const check = (): Report => {
  const subjects = packages()
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ folder, manifest }): Subject => {
      const at = path.relative(root, folder).split(path.sep).join("/")
      const sources = Object.entries(manifest.exports ?? {}).flatMap(([subpath, entry]): Array<[string, string]> => {
        const source = (entry as Record<string, string> | null)?.["@divisi/source"]
        return source === undefined ? [] : [[path.posix.join(manifest.name, subpath), path.posix.join(at, source)]]
      })
      return { name: manifest.name, folder: at, entries: new Map(sources) }
    })
  const problems = unused(subjects, read())
  return { passed: subjects.length, problems }
}
