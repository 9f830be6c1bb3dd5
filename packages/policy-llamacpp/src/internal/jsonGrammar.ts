/**
 * Converts JSON Schemas to GBNF grammars, which restrict a model's output to JSON that matches the schema.
 *
 * Objects have the properties named in the schema, in that order, required ones first; optional ones may be missing.
 * Constraints that a grammar cannot express (patterns, numeric bounds, conditions) must be validated afterwards.
 */
import type { Tool } from "@divisi/core"

/** Larger length bounds are not enforced, because llama.cpp expands repetitions. */
const most = 256

/**
 * Limits for nesting depth, rules, and properties per object, because clients may send any schema. Anything beyond is
 * not enforced.
 */
const maxDepth = 100
const maxRules = 10_000
const maxNames = 500

const shared: ReadonlyArray<string> = [
  'ws ::= " "? | "\\n" " "{0,16}',
  'string ::= "\\"" character* "\\""',
  'character ::= [^"\\\\\\x00-\\x1F\\x7F] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})',
  'integer ::= "-"? ("0" | [1-9] [0-9]{0,15})',
  'number ::= integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})?',
  'boolean ::= "true" | "false"',
  'null ::= "null"',
  "any ::= object | array | string | number | boolean | null",
  'object ::= "{" ws (pair (ws "," ws pair)*)? ws "}"',
  'pair ::= string ws ":" ws any',
  'array ::= "[" ws (any (ws "," ws any)*)? ws "]"'
]

type Fields = Readonly<Record<string, unknown>>

const fields = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** Returns the grammar expression that matches a text literally. */
export const literal = (text: string): string => JSON.stringify(text)

const oneOf = (expressions: ReadonlyArray<string>): string => `(${[...new Set(expressions)].join(" | ")})`

/** Combines the properties of two schemas. */
const both = (left: Fields, right: Fields): Fields => ({
  ...left,
  ...right,
  properties: { ...fields(left.properties), ...fields(right.properties) },
  required: [...list(left.required), ...list(right.required)]
})

/** Resolves a reference within a document. */
const resolve = (document: Fields, reference: unknown): unknown => {
  if (typeof reference !== "string" || !reference.startsWith("#")) return undefined
  const names = reference.slice(1).split("/").slice(1)
  return names.reduce<unknown>(
    (at, name) => fields(at)?.[decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~")],
    document
  )
}

const bounds = (least: unknown, largest: unknown): readonly [least: number, largest: number | undefined] => {
  const from = typeof least === "number" && least > 0 && least <= most ? least : 0
  return [from, typeof largest === "number" && largest >= from && largest <= most ? largest : undefined]
}

const typesOf = (schema: Fields): ReadonlyArray<unknown> => {
  if (typeof schema.type === "string") return [schema.type]
  if (Array.isArray(schema.type)) return schema.type
  if (Object.keys(fields(schema.properties) ?? {}).length > 0) return ["object"]
  return schema.items === undefined && schema.prefixItems === undefined ? [] : ["array"]
}

/** Collects the rules for several schemas in one grammar. */
export interface Rules {
  /** Adds a schema and returns the name of its rule. */
  readonly add: (schema: Tool.JsonSchema) => string
  /** Returns the grammar with all added rules and the given root. */
  readonly grammar: (root: string) => string
}

/** Creates an empty set of rules. */
export const make = (): Rules => {
  const rules = new Map<string, string>()
  const references = new Map<Fields, Map<string, string>>()

  const define = (body: (name: string) => string): string => {
    const name = `r${rules.size}`
    rules.set(name, "")
    rules.set(name, body(name))
    return name
  }

  /** Returns the rule for a reference. Each reference has a single rule, so a schema may be recursive. */
  const referenceOf = (reference: string, document: Fields): string => {
    const known = references.get(document) ?? new Map<string, string>()
    references.set(document, known)
    const name = known.get(reference)
    if (name !== undefined) return name
    const target = resolve(document, reference)
    return define((name) => {
      known.set(reference, name)
      return expressionOf(target, document)
    })
  }

  const objectOf = (schema: Fields, document: Fields): string => {
    const properties = fields(schema.properties) ?? {}
    const required = new Set(list(schema.required).filter((name) => typeof name === "string"))
    const names = [...new Set([...Object.keys(properties), ...required])]
    if (names.length > maxNames) return "object"
    if (names.length === 0) return mapOf(schema.additionalProperties, document)
    const pair = (name: string) => {
      const value = define(() => expressionOf(properties[name], document))
      return `${literal(JSON.stringify(name))} ws ":" ws ${value}`
    }
    const needed = names.filter((name) => required.has(name)).map(pair)
    const rest = names.filter((name) => !required.has(name)).map((name) => define(() => pair(name)))
    /** The continuations after the first pair: the remaining optional properties. */
    const tails = rest.map((_, at) => rest.slice(at + 1).map((name) => `(ws "," ws ${name})?`))
    const body =
      needed.length > 0
        ? [needed.join(' ws "," ws '), ...rest.map((name) => `(ws "," ws ${name})?`)].join(" ")
        : `${oneOf(rest.map((name, at) => [name, ...tails[at]!].join(" ")))}?`
    return `"{" ws ${body} ws "}"`
  }

  /** Returns the rule for an object with arbitrary property names. */
  const mapOf = (additional: unknown, document: Fields): string => {
    if (additional === false) return '"{" ws "}"'
    const schema = fields(additional)
    if (schema === undefined) return "object"
    const pair = define(() => `string ws ":" ws ${expressionOf(schema, document)}`)
    return `"{" ws (${pair} (ws "," ws ${pair})*)? ws "}"`
  }

  const arrayOf = (schema: Fields, document: Fields): string => {
    const first = list(schema.prefixItems).map((item) => define(() => expressionOf(item, document)))
    if (first.length > 0) return `"[" ws ${first.join(' ws "," ws ')} ws "]"`
    const item = define(() => expressionOf(schema.items, document))
    const [least, largest] = bounds(schema.minItems, schema.maxItems)
    if (largest === 0) return '"[" ws "]"'
    const more = `{${Math.max(0, least - 1)},${largest === undefined ? "" : largest - 1}}`
    const items = `${item} (ws "," ws ${item})${more}`
    return `"[" ws ${least === 0 ? `(${items})?` : items} ws "]"`
  }

  const stringOf = (schema: Fields): string => {
    const [least, largest] = bounds(schema.minLength, schema.maxLength)
    return least === 0 && largest === undefined ? "string" : `"\\"" character{${least},${largest ?? ""}} "\\""`
  }

  const typed = (type: unknown, schema: Fields, document: Fields): string => {
    switch (type) {
      case "object":
        return objectOf(schema, document)
      case "array":
        return arrayOf(schema, document)
      case "string":
        return stringOf(schema)
      case "integer":
      case "number":
      case "boolean":
      case "null":
        return type
      default:
        return "any"
    }
  }

  let depth = 0

  /**
   * Returns the expression for a schema. If the schema is nested too deeply, recurses without end or has too many
   * rules, any JSON is accepted.
   */
  const expressionOf = (value: unknown, document: Fields): string => {
    if (depth >= maxDepth || rules.size >= maxRules) return "any"
    depth += 1
    try {
      return writtenOf(value, document)
    } finally {
      depth -= 1
    }
  }

  const writtenOf = (value: unknown, document: Fields): string => {
    const schema = fields(value)
    if (schema === undefined) return "any"
    const { $ref, allOf, anyOf, const: constant, enum: values, oneOf: ones, ...rest } = schema
    if (typeof $ref === "string") return referenceOf($ref, document)
    if (constant !== undefined) return literal(JSON.stringify(constant))
    if (Array.isArray(values) && values.length > 0) {
      return oneOf(values.map((one) => literal(JSON.stringify(one))))
    }
    const parts = list(allOf).flatMap((part): ReadonlyArray<Fields> => {
      const found = fields(part)
      const whole = fields(typeof found?.$ref === "string" ? resolve(document, found.$ref) : found)
      return whole === undefined ? [] : [whole]
    })
    if (parts.length > 0) return expressionOf(parts.reduce<Fields>(both, { ...rest, anyOf, oneOf: ones }), document)
    const choices = list(anyOf ?? ones)
    if (choices.length > 0) {
      return oneOf(choices.map((choice) => expressionOf(both(rest, fields(choice) ?? {}), document)))
    }
    const types = typesOf(rest)
    return types.length === 0 ? "any" : oneOf(types.map((type) => typed(type, rest, document)))
  }

  return {
    add: (schema) => define(() => expressionOf(schema, schema)),
    grammar: (root) =>
      [`root ::= ${root}`, ...[...rules].map(([name, body]) => `${name} ::= ${body}`), ...shared].join("\n")
  }
}
