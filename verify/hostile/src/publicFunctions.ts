/**
 * The public functions that take options, read from the sources: every function that an entry point of a published
 * package exports, with a parameter that is called `options`, `settings` or `config`, or has such a type.
 */
import fs from "node:fs"
import path from "node:path"
import ts from "typescript"

const packages = path.resolve(import.meta.dirname, "../../../packages")

/** Packages that are used by tests only. */
const internal = new Set(["testkit"])

const parsed = new Map<string, ts.SourceFile>()

const sourceOf = (file: string): ts.SourceFile => {
  const source = parsed.get(file) ?? ts.createSourceFile(file, fs.readFileSync(file, "utf8"), ts.ScriptTarget.Latest)
  parsed.set(file, source)
  return source
}

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true

const isOptions = ({ name, type }: ts.ParameterDeclaration, source: ts.SourceFile): boolean =>
  /^(?:options|settings|config)$/i.test(name.getText(source)) ||
  /(?:Options|Settings|Config)(?:<[^>]*>)?(?:\s*\|\s*undefined)?$/.test(type?.getText(source) ?? "")

/** Returns the function that a call such as `Effect.fn(…)(function* …)` wraps, or the expression if it is a function. */
const functionIn = (node: ts.Expression | undefined): ts.SignatureDeclaration | undefined => {
  if (node === undefined) return undefined
  if (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) return node
  return ts.isCallExpression(node) ? node.arguments.map(functionIn).find((one) => one !== undefined) : undefined
}

/** A public function that takes options. */
export interface PublicFunction {
  /** `Module.function`, or `function`. */
  readonly name: string
  /** The file of the entry point that exports it. */
  readonly entry: string
  /** The position of the options among the parameters. */
  readonly position: number
}

type Declared = Omit<PublicFunction, "entry">

/** Returns the functions with options that a file declares and exports. */
const declaredIn = (file: string): ReadonlyArray<Declared> => {
  const source = sourceOf(file)
  const declared = (name: string, node: ts.SignatureDeclaration | undefined): ReadonlyArray<Declared> => {
    const position = node?.parameters.findIndex((parameter) => isOptions(parameter, source)) ?? -1
    return position === -1 ? [] : [{ name, position }]
  }
  return source.statements.filter(isExported).flatMap((statement) => {
    if (ts.isFunctionDeclaration(statement)) return declared(statement.name!.text, statement)
    if (!ts.isVariableStatement(statement)) return []
    return statement.declarationList.declarations.flatMap(({ initializer, name, type }) =>
      declared(name.getText(source), type !== undefined && ts.isFunctionTypeNode(type) ? type : functionIn(initializer))
    )
  })
}

const target = (file: string, specifier: ts.Expression | undefined): string | undefined =>
  specifier !== undefined && ts.isStringLiteral(specifier) && specifier.text.startsWith(".")
    ? path.resolve(path.dirname(file), specifier.text)
    : undefined

/** Returns the functions with options that a file exports, by the names under which a caller imports them. */
const exportedFrom = (file: string): ReadonlyArray<Declared> => [
  ...declaredIn(file),
  ...sourceOf(file).statements.flatMap((statement): ReadonlyArray<Declared> => {
    if (!ts.isExportDeclaration(statement) || statement.isTypeOnly) return []
    const from = target(file, statement.moduleSpecifier)
    if (from === undefined) return []
    const clause = statement.exportClause
    const found = exportedFrom(from)
    if (clause === undefined) return found
    if (ts.isNamespaceExport(clause)) return found.map((one) => ({ ...one, name: `${clause.name.text}.${one.name}` }))
    const names = new Map(clause.elements.map(({ name, propertyName }) => [(propertyName ?? name).text, name.text]))
    return found.flatMap((one) => (names.has(one.name) ? [{ ...one, name: names.get(one.name)! }] : []))
  })
]

interface Manifest {
  readonly exports?: Readonly<Record<string, { readonly "@divisi/source"?: string } | string>>
}

/** Returns the entry points of a package. */
const entriesOf = (folder: string): ReadonlyArray<string> => {
  const { exports = {} }: Manifest = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"))
  return Object.values(exports).flatMap((entry) => {
    const source = typeof entry === "string" ? undefined : entry["@divisi/source"]
    return source?.endsWith(".ts") === true ? [path.join(folder, source)] : []
  })
}

/** An entry point that is a module, such as `@divisi/core/Conductor`, and the name of the module. */
const moduleOf = (entry: string): string | undefined => /\/([A-Z]\w*)\.ts$/.exec(entry)?.[1]

/** Returns every public function that takes options. */
export const publicFunctions = (): ReadonlyArray<PublicFunction> => {
  const all = fs
    .readdirSync(packages)
    .filter((name) => !internal.has(name))
    .flatMap((name) => entriesOf(path.join(packages, name)))
    .flatMap((entry) => {
      const module = moduleOf(entry)
      const named = (name: string) => (module === undefined ? name : `${module}.${name}`)
      return exportedFrom(entry).map((one) => ({ ...one, entry, name: named(one.name) }))
    })
  return [...new Map(all.map((one) => [one.name, one])).values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Imports a function. */
export const imported = async ({
  entry,
  name
}: PublicFunction): Promise<(...parameters: Array<unknown>) => unknown> => {
  const [first, second] = name.split(".") as [string, string?]
  const module = await import(entry)
  return second === undefined ? module[first] : (moduleOf(entry) === first ? module : module[first])[second]
}
