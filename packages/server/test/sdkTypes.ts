/** Compares JSON with the types of an official SDK: the declarations themselves are read, so that nothing is written twice. */
import * as Path from "node:path"
import * as ts from "typescript"

/** The types that answers are compared with, each with the expression of its type. */
export type Types = Readonly<Record<string, string>>

/** Finds the first place in which a value is not of a type. */
export interface SdkTypes {
  readonly problemOf: (name: string, value: unknown) => string | undefined
}

const ownFile = Path.join(import.meta.dirname, "sdkTypes.virtual.ts")

const options: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: []
}

const program = (source: string): ts.Program => {
  const host = ts.createCompilerHost(options)
  const { fileExists, getSourceFile, readFile } = host
  return ts.createProgram([ownFile], options, {
    ...host,
    fileExists: (name) => name === ownFile || fileExists.call(host, name),
    readFile: (name) => (name === ownFile ? source : readFile.call(host, name)),
    getSourceFile: (name, language) =>
      name === ownFile ? ts.createSourceFile(name, source, language) : getSourceFile.call(host, name, language)
  })
}

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 120) ?? "undefined"

/**
 * Reads the declarations of SDKs. `imports` are the statements that the expressions of the types need, `addedBySdk` the
 * fields that no server sends.
 */
export const read = (imports: string, types: Types, addedBySdk: ReadonlySet<string> = new Set()): SdkTypes => {
  const names = Object.keys(types)
  const all = program(`${imports}\n${names.map((name) => `export type ${name} = ${types[name]}`).join("\n")}`)
  const file = all.getSourceFile(ownFile)!
  const checker = all.getTypeChecker()
  const known = new Map(
    file.statements
      .filter(ts.isTypeAliasDeclaration)
      .map((alias) => [alias.name.text, checker.getTypeFromTypeNode(alias.type)])
  )

  const inObject = (type: ts.Type, value: object, path: string): string | undefined => {
    for (const property of checker.getPropertiesOfType(type)) {
      if (addedBySdk.has(property.name)) continue
      const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0
      const of = checker.getTypeOfSymbolAtLocation(property, file)
      const given: unknown = Reflect.get(value, property.name)
      if (given === undefined && (isOptional || of.getCallSignatures().length > 0)) continue
      const problem =
        given === undefined ? `${path}.${property.name} is missing` : inType(of, given, `${path}.${property.name}`)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  /** Whether a member of a union names another kind of object than the value is. */
  const isOther = (type: ts.Type, value: object): boolean =>
    ["type", "object", "role"].some((name) => {
      const property = type.getProperty(name)
      const of = property && checker.getTypeOfSymbolAtLocation(property, file)
      return of?.isStringLiteral() === true && of.value !== Reflect.get(value, name)
    })

  const inUnion = (type: ts.UnionType, value: unknown, path: string): string | undefined => {
    const isObject = typeof value === "object" && value !== null
    const members = isObject ? type.types.filter((member) => !isOther(member, value)) : type.types
    const problems = members.map((member) => inType(member, value, path))
    if (problems.includes(undefined)) return undefined
    return problems.length === 1 ? problems[0] : `${path} is ${shown(value)}`
  }

  const inType = (type: ts.Type, value: unknown, path: string): string | undefined => {
    const wrong = `${path} is ${shown(value)}`
    const { flags } = type
    if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return undefined
    if (flags & ts.TypeFlags.BooleanLike && typeof value === "boolean") {
      return flags & ts.TypeFlags.BooleanLiteral && checker.typeToString(type) !== String(value) ? wrong : undefined
    }
    if (type.isUnion()) return inUnion(type, value, path)
    if (type.isIntersection()) {
      return type.types.map((member) => inType(member, value, path)).find((problem) => problem !== undefined)
    }
    if (type.isStringLiteral() || type.isNumberLiteral()) return type.value === value ? undefined : wrong
    if (flags & ts.TypeFlags.String) return typeof value === "string" ? undefined : wrong
    if (flags & ts.TypeFlags.Number) return typeof value === "number" ? undefined : wrong
    if (flags & ts.TypeFlags.Null) return value === null ? undefined : wrong
    // `{}` is anything but nothing.
    if (flags & ts.TypeFlags.Object && checker.typeToString(type) === "{}") return value === null ? wrong : undefined
    if ((flags & ts.TypeFlags.Object) === 0 || typeof value !== "object" || value === null) return wrong
    if (checker.isArrayType(type)) {
      const [item] = checker.getTypeArguments(type as ts.TypeReference)
      if (!Array.isArray(value)) return wrong
      return value.map((one, at) => inType(item!, one, `${path}[${at}]`)).find((problem) => problem !== undefined)
    }
    if (Array.isArray(value)) return wrong
    return inObject(type, value, path)
  }

  return {
    problemOf: (name, value) => {
      const type = known.get(name)
      if (type === undefined || type.flags & ts.TypeFlags.Any) throw new Error(`${name} was not found in the SDK.`)
      return inType(type, value, name)
    }
  }
}
