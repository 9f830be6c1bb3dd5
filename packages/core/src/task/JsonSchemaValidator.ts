/**
 * Validates JSON values against JSON Schema (drafts 4 to 2020-12) in bounded time. Neither input is trusted: schemas
 * come from clients and MCP servers, values from models. Therefore the expanded size of a schema is limited, the result
 * for each referenced schema and value is memoized, and validation stops after a fixed number of steps.
 *
 * `pattern`, `patternProperties` and `format` are ignored, because an untrusted regular expression may never terminate.
 */
import { counted } from "../Counted.ts"
import { isRecord } from "../Fields.ts"
import { kindOf } from "../Options.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Maximum number of schemas in a document. A referenced schema counts once for each time it is followed. */
export const maxSchemaNodes = 10_000

/** Maximum nesting depth of a value, and of a schema after following references. */
const maxSchemaDepth = 200

/** Maximum number of JSON values in a schema document, including `enum` members and unknown keywords. */
const maxSchemaValues = 100_000

/** Maximum number of validation steps. A step takes 20 to 200 ns. */
const maxSteps = 500_000

/** Maximum depth of nested schema checks. */
const maxRecursion = 600

/** Maximum number of JSON values in a value to validate. */
const maxValues = 200_000

/** Maximum number of problems to report. */
const maxProblems = 10

/** A compiled schema. */
export interface Validator {
  /** Number of schemas. A referenced schema counts once for each time it is followed. */
  readonly size: number
  /**
   * Validates a value. Returns a description of the problems for the model that wrote the value, or `undefined` if it
   * is valid.
   */
  readonly problemsOf: (value: unknown) => string | undefined
}

/** A parsed schema. */
class Node {
  /** The raw keywords, for those with a number, string or boolean as their value. */
  readonly raw: Fields
  /** Whether the schema is `false`, which rejects every value. */
  readonly refuses: boolean
  /** Whether the node is the target of a reference, in which case its results are memoized. */
  isTarget = false
  /** Whether the schema contains patterns. They are ignored, so a value that passes may still violate the schema. */
  isUnsure = false
  hasPatterns = false
  types: ReadonlyArray<string> | undefined
  values: Values | undefined
  required = empty as ReadonlyArray<string>
  dependentRequired = empty as ReadonlyArray<readonly [name: string, required: ReadonlyArray<string>]>
  /** Subschemas that must all accept the value itself. */
  all = empty as ReadonlyArray<Node>
  any: ReadonlyArray<Node> | undefined
  one: ReadonlyArray<Node> | undefined
  not: Node | undefined
  condition: Node | undefined
  ifMet: Node | undefined
  ifNot: Node | undefined
  dependents = empty as ReadonlyArray<readonly [name: string, node: Node]>
  properties = noProperties
  additional: Node | undefined
  names: Node | undefined
  first = empty as ReadonlyArray<Node>
  items: Node | undefined
  contains: Node | undefined
  unevaluatedProperties: Node | undefined
  unevaluatedItems: Node | undefined

  constructor(schema: Fields | boolean) {
    this.refuses = schema === false
    this.raw = typeof schema === "boolean" ? {} : schema
  }
}

const empty: ReadonlyArray<never> = []

const noProperties: ReadonlyMap<string, Node> = new Map()

/** The members of an `enum`: primitives unchanged, arrays and objects as canonical text. */
interface Values {
  readonly plain: ReadonlySet<unknown>
  readonly composite: ReadonlySet<string>
  readonly shown: string
}

type Fields = Readonly<Record<string, unknown>>

/** Thrown to stop a validation that takes too many steps. */
const exhausted = new Error("Validation exceeded the limit of steps.")

const texts = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? [...new Set(value.filter((one) => typeof one === "string"))] : []

// -------------------------------------------------------------------------------------------------------------------
// Size
// -------------------------------------------------------------------------------------------------------------------

/**
 * Counts the JSON values within a value. Returns a description of the violated limit if there are too many, and stops
 * counting at that point.
 */
const sizeOf = (root: unknown, maxValues: number): number | string => {
  let count = 0
  let level: ReadonlyArray<object> = typeof root === "object" && root !== null ? [root] : []
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxSchemaDepth) return `it is nested more than ${maxSchemaDepth} levels deep`
    const next: Array<object> = []
    for (const parent of level) {
      const children: ReadonlyArray<unknown> = Array.isArray(parent) ? parent : Object.values(parent)
      count += children.length
      if (count > maxValues) return `it has more than ${maxValues} values`
      for (const child of children) if (typeof child === "object" && child !== null) next.push(child)
    }
    level = next
  }
  return count
}

/** Serializes a value such that the order of keys does not matter. */
const canonical = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return `{${entries.map(([key, child]) => `${JSON.stringify(key)}:${canonical(child)}`).join()}}`
}

const valuesOf = (members: ReadonlyArray<unknown>): Values => {
  if (members.some((member) => typeof member === "string" && member.length > maxKeyCharacters)) {
    throw new Error(`its enum or const has a string of more than ${maxKeyCharacters} characters`)
  }
  const isPlain = (value: unknown) => typeof value !== "object" || value === null
  const shown = members.slice(0, 20).map((member) => (isPlain(member) ? kindOf(member) : short(canonical(member))))
  return {
    plain: new Set(members.filter(isPlain)),
    composite: new Set(members.filter((member) => !isPlain(member)).map((member) => fingerprint(canonical(member)))),
    shown: `${shown.join(" or ")}${members.length > 20 ? ` or one of ${members.length - 20} more` : ""}`
  }
}

/** Longer strings are not used as keys in sets and maps, because JavaScript engines hash them by length alone. */
const maxKeyCharacters = 10_000

/** Returns a short key for a string of any length. */
const fingerprint = (text: string): string => {
  if (text.length <= maxKeyCharacters) return text
  let [left, right] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    left = Math.imul(left ^ code, 16_777_619)
    right = (Math.imul(right, 31) + code) | 0
  }
  return `${text.length} ${left} ${right}`
}

const short = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)

// -------------------------------------------------------------------------------------------------------------------
// Reading a schema
// -------------------------------------------------------------------------------------------------------------------

const typeNames = ["string", "number", "integer", "boolean", "null", "object", "array"]

const typesIn = (type: unknown): ReadonlyArray<string> => {
  const given: ReadonlyArray<unknown> = Array.isArray(type) ? type : [type]
  const unknown = given.find((name) => !typeNames.includes(name as string))
  if (unknown !== undefined) throw new Error(`its type ${kindOf(unknown)} is not one of ${typeNames.join(", ")}`)
  return given as ReadonlyArray<string>
}

/** Returns the schemas in a document that have an `$id` or an anchor, keyed by that name. */
const namesIn = (document: Fields): ReadonlyMap<string, Fields> => {
  const names = new Map<string, Fields>()
  const pending: Array<unknown> = [document]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value !== "object" || value === null) continue
    if (isRecord(value)) {
      const { $anchor, $dynamicAnchor, $id, id } = value
      for (const anchor of [$anchor, $dynamicAnchor]) {
        if (typeof anchor === "string" && !names.has(`#${anchor}`)) names.set(`#${anchor}`, value)
      }
      for (const name of [$id, id]) if (typeof name === "string" && !names.has(name)) names.set(name, value)
    }
    for (const child of Object.values(value).toReversed()) pending.push(child)
  }
  return names
}

const decoded = (token: string): string => {
  try {
    return decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~")
  } catch {
    return token
  }
}

/** Returns a function that resolves references within a document. */
const resolver = (document: Fields): ((reference: string) => unknown) => {
  let names: ReadonlyMap<string, Fields> | undefined
  const follow = (from: unknown, pointer: string) =>
    pointer
      .split("/")
      .slice(1)
      .map(decoded)
      .reduce<unknown>(
        (at, key) =>
          typeof at === "object" && at !== null && Object.hasOwn(at, key) ? at[key as keyof typeof at] : undefined,
        from
      )
  return (reference) => {
    const at = reference.indexOf("#")
    const [base, fragment] = at < 0 ? [reference, ""] : [reference.slice(0, at), reference.slice(at + 1)]
    if (base === "" && (fragment === "" || fragment.startsWith("/"))) return follow(document, fragment)
    names ??= namesIn(document)
    const root = base === "" ? document : (names.get(base) ?? names.get(`${base}#`))
    if (fragment === "" || fragment.startsWith("/")) return follow(root, fragment)
    return root === undefined ? undefined : (names.get(`#${fragment}`) ?? names.get(reference))
  }
}

/** Document-level operations used by the keyword readers. */
interface Document {
  /** Returns the node for a keyword's subschema. */
  readonly node: (schema: unknown, keyword: string) => Node
  /** Returns the node that a reference points to. */
  readonly target: (reference: unknown) => Node
}

type Reader = (node: Node, value: unknown, document: Document) => void

const listOf = (value: unknown, keyword: string, { node }: Document): ReadonlyArray<Node> => {
  if (!Array.isArray(value)) throw new Error(`its ${keyword} must be a list of schemas, not ${kindOf(value)}`)
  return value.map((one) => node(one, keyword))
}

const entriesOf = (value: unknown, keyword: string): ReadonlyArray<readonly [string, unknown]> => {
  if (!isRecord(value)) throw new Error(`its ${keyword} must be an object of schemas, not ${kindOf(value)}`)
  return Object.entries(value)
}

const reference: Reader = (node, value, { target }) => {
  node.all = [...node.all, target(value)]
}

const dependents: Reader = (node, value, document) => {
  const entries = entriesOf(value, "dependentSchemas")
  const lists = entries.filter(([, one]) => Array.isArray(one))
  const schemas = entries.filter(([, one]) => !Array.isArray(one))
  node.dependentRequired = [...node.dependentRequired, ...lists.map(([name, one]) => [name, texts(one)] as const)]
  node.dependents = [
    ...node.dependents,
    ...schemas.map(([name, one]) => [name, document.node(one, "dependentSchemas")] as const)
  ]
}

/** Creates a reader for a keyword whose value is a single schema. */
const single =
  (keyword: string, field: { [K in keyof Node]: Node | undefined extends Node[K] ? K : never }[keyof Node]): Reader =>
  (node, value, document) => {
    Object.assign(node, { [field]: document.node(value, keyword) })
  }

const readers = new Map<string, Reader>(
  Object.entries<Reader>({
    $ref: reference,
    $dynamicRef: reference,
    $recursiveRef: reference,
    type: (node, value) => {
      node.types = typesIn(value)
    },
    const: (node, value) => {
      node.values = valuesOf([value])
    },
    enum: (node, value) => {
      if (Array.isArray(value)) node.values ??= valuesOf(value)
    },
    required: (node, value) => {
      node.required = texts(value)
    },
    dependentRequired: dependents,
    dependentSchemas: dependents,
    dependencies: dependents,
    allOf: (node, value, document) => {
      node.all = [...node.all, ...listOf(value, "allOf", document)]
    },
    anyOf: (node, value, document) => {
      node.any = listOf(value, "anyOf", document)
    },
    oneOf: (node, value, document) => {
      node.one = listOf(value, "oneOf", document)
    },
    not: single("not", "not"),
    if: single("if", "condition"),
    else: single("else", "ifNot"),
    properties: (node, value, document) => {
      const entries = entriesOf(value, "properties")
      node.properties = new Map(entries.map(([name, one]) => [name, document.node(one, "properties")]))
    },
    pattern: (node) => {
      node.isUnsure = true
    },
    patternProperties: (node, value) => {
      node.hasPatterns = entriesOf(value, "patternProperties").length > 0
      node.isUnsure ||= node.hasPatterns
    },
    additionalProperties: single("additionalProperties", "additional"),
    propertyNames: single("propertyNames", "names"),
    prefixItems: (node, value, document) => {
      node.first = listOf(value, "prefixItems", document)
    },
    items: (node, value, document) => {
      if (!Array.isArray(value)) node.items = document.node(value, "items")
      // Up to draft 7, an array in `items` describes the leading items, and `additionalItems` the remaining ones.
      else node.first = listOf(value, "items", document)
    },
    additionalItems: (node, value, document) => {
      if (Array.isArray(node.raw.items)) node.items = document.node(value, "additionalItems")
    },
    contains: single("contains", "contains"),
    unevaluatedProperties: single("unevaluatedProperties", "unevaluatedProperties"),
    unevaluatedItems: single("unevaluatedItems", "unevaluatedItems")
  })
)

readers.set("then", single("then", "ifMet"))

/**
 * Parses all schemas reachable from the root. Iterative, so that deep nesting and long reference chains cannot overflow
 * the stack.
 */
const read = (root: Fields) => {
  const resolve = resolver(root)
  const known = new Map<unknown, Node>()
  const pending: Array<Node> = []
  let isTracking = false

  const nodeOf = (schema: unknown, keyword: string): Node => {
    const found = known.get(schema)
    if (found !== undefined) return found
    if (typeof schema !== "boolean" && !isRecord(schema)) {
      throw new Error(`its ${keyword} contains ${kindOf(schema)} instead of a schema`)
    }
    const node = new Node(schema)
    known.set(schema, node)
    if (known.size > maxSchemaNodes) throw new Error(`it has more than ${maxSchemaNodes} schemas`)
    pending.push(node)
    return node
  }

  const target = (reference: unknown): Node => {
    const schema = typeof reference === "string" ? resolve(reference) : undefined
    if (schema === undefined) throw new Error(`its $ref ${kindOf(reference)} does not resolve to a schema`)
    const node = nodeOf(schema, `reference ${kindOf(reference)}`)
    node.isTarget = true
    return node
  }

  const document: Document = { node: nodeOf, target }
  const first = nodeOf(root, "root")
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const keyword of Object.keys(node.raw)) {
      const value = node.raw[keyword]
      if (value !== undefined) readers.get(keyword)?.(node, value, document)
    }
    // A property without a schema may match a pattern, so it must not be rejected.
    if (node.hasPatterns) node.additional = undefined
    isTracking ||= node.unevaluatedItems !== undefined || node.unevaluatedProperties !== undefined
  }
  return { root: first, isTracking }
}

/** Returns the subschemas that apply to the value itself. */
const inPlace = ({ all, any, condition, dependents, ifMet, ifNot, not, one }: Node): ReadonlyArray<Node> => {
  const found = any === undefined && one === undefined ? [...all] : [...all, ...(any ?? []), ...(one ?? [])]
  for (const [, node] of dependents) found.push(node)
  for (const node of [not, condition, ifMet, ifNot]) if (node !== undefined) found.push(node)
  return found
}

/** Returns the subschemas that apply to parts of the value. */
const inParts = (node: Node): ReadonlyArray<Node> => {
  const { additional, contains, first, items, names, properties, unevaluatedItems, unevaluatedProperties } = node
  const found = [...properties.values(), ...first]
  for (const node of [additional, names, items, contains, unevaluatedProperties, unevaluatedItems]) {
    if (node !== undefined) found.push(node)
  }
  return found
}

/**
 * Counts schemas while following references. A recursive schema counts once per path. Throws if the limit is exceeded.
 * A schema without recursion is visited once, however often it is referenced.
 */
const expandedSize = (root: Node): number => {
  let size = 0
  let deepest = 0
  const path = new Map<Node, number>()
  /** The number of schemas, and of levels below, of each visited schema without recursion. */
  const known = new Map<Node, { readonly size: number; readonly levels: number }>()
  /**
   * `since` is the depth of the first schema on the path that applies to the same value. Returns whether the schema is
   * recursive, or refers to one that is.
   */
  const visit = (node: Node, depth: number, since: number): boolean => {
    const [sizeBefore, deepestBefore] = [size, deepest]
    const visited = known.get(node)
    size += visited?.size ?? 1
    deepest = depth + (visited?.levels ?? 0)
    if (size > maxSchemaNodes) {
      throw new Error(`with its references resolved, it has more than ${maxSchemaNodes} schemas`)
    }
    if (deepest > maxSchemaDepth) {
      throw new Error(`with its references resolved, it is nested more than ${maxSchemaDepth} levels deep`)
    }
    const at = path.get(node)
    if (at !== undefined && at >= since) throw new Error("its references form an endless loop")
    let isRecursive = at !== undefined
    if (visited === undefined && at === undefined) {
      path.set(node, depth)
      for (const child of inPlace(node)) {
        isRecursive = visit(child, depth + 1, since) || isRecursive
        node.isUnsure ||= child.isUnsure
      }
      for (const child of inParts(node)) {
        isRecursive = visit(child, depth + 1, depth + 1) || isRecursive
        node.isUnsure ||= child.isUnsure
      }
      path.delete(node)
      if (!isRecursive) known.set(node, { size: size - sizeBefore, levels: deepest - depth })
    }
    deepest = Math.max(deepestBefore, deepest)
    return isRecursive
  }
  visit(root, 1, 1)
  return size
}

// -------------------------------------------------------------------------------------------------------------------
// Checking a value
// -------------------------------------------------------------------------------------------------------------------

const isOfType = (value: unknown, type: string): boolean => {
  switch (type) {
    case "null":
      return value === null
    case "array":
      return Array.isArray(value)
    case "object":
      return isRecord(value)
    case "integer":
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

const isMultiple = (value: number, of: number): boolean => {
  const quotient = value / of
  return Number.isInteger(quotient) || Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.abs(quotient)
}

/** Returns a keyword's numeric value, or `undefined` if it is not set. */
const bound = (raw: Fields, keyword: string): number | undefined => {
  const value = raw[keyword]
  return typeof value === "number" ? value : undefined
}

/** Validates a number, or the length or size of a string, array or object. */
const sizeProblem = (raw: Fields, value: unknown, spend: (steps: number) => void): string | undefined => {
  const outside = (size: number, least: string, largest: string, what: string) => {
    const [from, to] = [bound(raw, least), bound(raw, largest)]
    if (from !== undefined && size < from) return `Expected at least ${from} ${what}, got ${size}`
    return to !== undefined && size > to ? `Expected at most ${to} ${what}, got ${size}` : undefined
  }
  if (typeof value === "number") return numberProblem(raw, value)
  if (typeof value === "string") {
    if (bound(raw, "minLength") === undefined && bound(raw, "maxLength") === undefined) return undefined
    spend(value.length / 16)
    let length = value.length
    for (let at = 1; at < value.length; at++) {
      if ((value.charCodeAt(at) & 0xfc00) === 0xdc00 && (value.charCodeAt(at - 1) & 0xfc00) === 0xd800) length -= 1
    }
    return outside(length, "minLength", "maxLength", "characters")
  }
  if (Array.isArray(value)) return outside(value.length, "minItems", "maxItems", "items")
  if (!isRecord(value) || (bound(raw, "minProperties") ?? bound(raw, "maxProperties")) === undefined) return undefined
  const size = Object.keys(value).length
  spend(size)
  return outside(size, "minProperties", "maxProperties", "properties")
}

const numberProblem = (raw: Fields, value: number): string | undefined => {
  const [minimum, maximum] = [bound(raw, "minimum"), bound(raw, "maximum")]
  // In draft 4, `exclusiveMinimum` and `exclusiveMaximum` are boolean flags.
  const above = raw.exclusiveMinimum === true ? minimum : bound(raw, "exclusiveMinimum")
  const below = raw.exclusiveMaximum === true ? maximum : bound(raw, "exclusiveMaximum")
  const step = bound(raw, "multipleOf")
  if (minimum !== undefined && value < minimum) return `Expected at least ${minimum}, got ${value}`
  if (maximum !== undefined && value > maximum) return `Expected at most ${maximum}, got ${value}`
  if (above !== undefined && value <= above) return `Expected more than ${above}, got ${value}`
  if (below !== undefined && value >= below) return `Expected less than ${below}, got ${value}`
  if (step !== undefined && step > 0 && !isMultiple(value, step)) return `Expected a multiple of ${step}, got ${value}`
  return undefined
}

/** The path of a part within a value. */
type Path = ReadonlyArray<string | number>

/** A validation problem with its property or index, or the subschema that rejects a part of the value. */
type Problem =
  | { readonly text: string; readonly key?: string | number | undefined }
  | { readonly node: Node; readonly value: unknown; readonly key?: string | number | undefined }

/** The properties and items evaluated by a schema, needed for `unevaluatedProperties` and `unevaluatedItems`. */
class Seen {
  readonly names = new Set<string>()
  readonly items = new Set<number>()
}

/** A single validation of a value. */
class Run {
  private left = maxSteps
  private depth = 0
  /** Whether to record evaluated parts, for schemas that restrict unevaluated ones. */
  private readonly isTracking: boolean
  private readonly known = new Map<Node, Map<unknown, Seen | boolean>>()

  constructor(isTracking: boolean) {
    this.isTracking = isTracking
  }

  readonly spend = (steps: number): void => {
    this.left -= steps
    if (this.left < 0) throw exhausted
  }

  /** Whether the schema accepts a value. Adds the evaluated parts to `seen`. */
  private allows(node: Node, value: unknown, seen: Seen | undefined): boolean {
    this.spend(1)
    if (node.refuses) return false
    // Strings and numbers have no parts, so the schema's size bounds the cost and memoization is not needed.
    if (!node.isTarget || typeof value !== "object") return this.look(node, value, seen)
    let results = this.known.get(node)
    if (results === undefined) {
      results = new Map()
      this.known.set(node, results)
    }
    let result = results.get(value)
    if (result === undefined) {
      const own = seen && new Seen()
      result = this.look(node, value, own) && (own ?? true)
      results.set(value, result)
    }
    if (result instanceof Seen) this.add(seen, result)
    return result !== false
  }

  private add(seen: Seen | undefined, more: Seen): void {
    this.spend(4 * (more.names.size + more.items.size))
    for (const name of more.names) seen?.names.add(name)
    for (const item of more.items) seen?.items.add(item)
  }

  /** Like `allows`, but leaves `seen` unchanged if the schema rejects the value. */
  private fits(node: Node, value: unknown, seen: Seen | undefined): boolean {
    if (seen === undefined || node.isTarget) return this.allows(node, value, seen)
    const own = new Seen()
    if (!this.allows(node, value, own)) return false
    this.add(seen, own)
    return true
  }

  private look(node: Node, value: unknown, seen: Seen | undefined): boolean {
    if (this.depth >= maxRecursion) throw exhausted
    this.depth += 1
    // Only parts evaluated by this schema itself count as evaluated for its `unevaluated*` keywords.
    const isOwn = node.unevaluatedItems !== undefined || node.unevaluatedProperties !== undefined
    const own = isOwn ? this.within(seen) : seen
    const isAllowed = this.check(node, value, own, undefined)
    if (isOwn && own !== undefined) this.add(seen, own)
    this.depth -= 1
    return isAllowed
  }

  /**
   * Whether the schema accepts a value. Stops at the first problem unless `problems` is given, in which case all
   * problems are collected.
   */
  private check(node: Node, value: unknown, seen: Seen | undefined, problems: Array<Problem> | undefined): boolean {
    const { raw, types, values } = node
    if (types !== undefined && !types.some((type) => isOfType(value, type))) {
      problems?.push({ text: `Expected ${types.join(" or ")}, got ${kindOf(value)}` })
      return false
    }
    if (values !== undefined && !this.isIn(values, value)) {
      problems?.push({ text: `Expected ${values.shown}, got ${kindOf(value)}` })
      return false
    }
    const size = sizeProblem(raw, value, this.spend)
    if (size !== undefined) {
      problems?.push({ text: size })
      return false
    }
    if (!this.ofWhole(node, value, seen, problems)) return false
    if (Array.isArray(value)) return this.ofItems(node, value, seen, problems)
    return !isRecord(value) || this.ofProperties(node, value, seen, problems)
  }

  private isIn({ composite, plain }: Values, value: unknown): boolean {
    if (typeof value === "string") this.spend(value.length / 64)
    if (typeof value !== "object" || value === null) return plain.has(value)
    return composite.size > 0 && composite.has(fingerprint(this.canonical(value)))
  }

  /** Returns the canonical text of a part of the value. The cost is charged before serializing. */
  private canonical(value: unknown): string {
    const size = sizeOf(value, this.left)
    if (typeof size === "string") throw exhausted
    this.spend(2 * size + 3)
    const text = canonical(value)
    this.spend(text.length / 16)
    return text
  }

  /** Applies the subschemas that concern the value as a whole. */
  private ofWhole(node: Node, value: unknown, seen: Seen | undefined, problems: Array<Problem> | undefined): boolean {
    const { all, any, dependents, not, one } = node
    for (const each of all) {
      if (!this.allows(each, value, seen)) return refused(problems, { node: each, value })
    }
    if (any !== undefined && !this.ofAny(any, value, seen)) return refused(problems, nearest(any, value))
    if (one !== undefined && !this.ofOne(one, value, seen, problems)) return false
    if (not !== undefined && !not.isUnsure && this.fits(not, value, this.isTracking ? new Seen() : undefined)) {
      return refused(problems, { text: `Expected a value that does not match "not", got ${kindOf(value)}` })
    }
    const branch = node.condition === undefined ? undefined : this.branchOf(node, node.condition, value, seen)
    if (branch !== undefined && !this.allows(branch, value, seen)) return refused(problems, { node: branch, value })
    if (dependents.length === 0 || !isRecord(value)) return true
    for (const [name, dependent] of dependents) {
      this.spend(1)
      if (!Object.hasOwn(value, name)) continue
      if (!this.allows(dependent, value, seen)) return refused(problems, { node: dependent, value })
    }
    return true
  }

  private ofAny(choices: ReadonlyArray<Node>, value: unknown, seen: Seen | undefined): boolean {
    let isAllowed = false
    for (const choice of choices) {
      if (!this.fits(choice, value, seen)) continue
      isAllowed = true
      // One match is sufficient, unless the properties evaluated by the remaining alternatives must be recorded.
      if (seen === undefined) return true
    }
    return isAllowed
  }

  private ofOne(
    choices: ReadonlyArray<Node>,
    value: unknown,
    seen: Seen | undefined,
    problems: Array<Problem> | undefined
  ): boolean {
    let fitting = 0
    for (const choice of choices) {
      if (!this.fits(choice, value, seen)) continue
      if (fitting === 0 || !choice.isUnsure) fitting += 1
      if (fitting > 1) return refused(problems, { text: 'Expected exactly one alternative of "oneOf" to match' })
    }
    return fitting === 1 || refused(problems, nearest(choices, value))
  }

  private branchOf(node: Node, condition: Node, value: unknown, seen: Seen | undefined): Node | undefined {
    const isMet = this.fits(condition, value, seen)
    if (!isMet) return node.ifNot
    return condition.isUnsure ? undefined : node.ifMet
  }

  private ofProperties(
    node: Node,
    value: Fields,
    seen: Seen | undefined,
    problems: Array<Problem> | undefined
  ): boolean {
    const { dependentRequired, properties, required, unevaluatedProperties } = node
    let isAllowed = true
    const wrong = (problem: Problem) => {
      isAllowed = refused(problems, problem)
      return problems === undefined || problems.length >= maxProblems
    }
    this.spend(required.length + properties.size + dependentRequired.length)
    for (const key of required) {
      if (!Object.hasOwn(value, key) && wrong({ key, text: "Missing key" })) return false
    }
    for (const [name, needed] of dependentRequired) {
      this.spend(needed.length)
      const key = Object.hasOwn(value, name) ? needed.find((other) => !Object.hasOwn(value, other)) : undefined
      if (key !== undefined && wrong({ key, text: `Missing key, required by ${kindOf(name)}` })) return false
    }
    for (const [key, property] of properties) {
      if (!Object.hasOwn(value, key)) continue
      seen?.names.add(key)
      if (!this.allows(property, value[key], this.within(seen)) && wrong({ node: property, value: value[key], key })) {
        return false
      }
    }
    const { additional, hasPatterns, names } = node
    if (additional !== undefined || names !== undefined || (hasPatterns && seen !== undefined)) {
      for (const key of this.keysOf(value)) {
        if (names !== undefined && !this.allows(names, key, undefined)) {
          if (wrong({ text: `Unexpected key ${kindOf(key)}` })) return false
        }
        if (properties.has(key)) continue
        if (additional !== undefined || hasPatterns) seen?.names.add(key)
        if (additional !== undefined && !this.allows(additional, value[key], this.within(seen))) {
          if (wrong(unexpected(additional, value[key], key))) return false
        }
      }
    }
    if (unevaluatedProperties === undefined || seen === undefined) return isAllowed
    for (const key of this.keysOf(value)) {
      if (seen.names.has(key)) continue
      seen.names.add(key)
      if (!this.allows(unevaluatedProperties, value[key], this.within(seen))) {
        if (wrong(unexpected(unevaluatedProperties, value[key], key))) return false
      }
    }
    return isAllowed
  }

  private ofItems(
    node: Node,
    value: ReadonlyArray<unknown>,
    seen: Seen | undefined,
    problems: Array<Problem> | undefined
  ): boolean {
    const { contains, first, items, raw, unevaluatedItems } = node
    let isAllowed = true
    const wrong = (problem: Problem) => {
      isAllowed = refused(problems, problem)
      return problems === undefined || problems.length >= maxProblems
    }
    const length = items === undefined ? Math.min(first.length, value.length) : value.length
    for (let key = 0; key < length; key++) {
      const item = first[key] ?? items!
      seen?.items.add(key)
      if (!this.allows(item, value[key], this.within(seen)) && wrong(unexpected(item, value[key], key))) return false
    }
    if (contains !== undefined) {
      const text = this.containsProblem(contains, raw, value, seen)
      if (text !== undefined && wrong({ text })) return false
    }
    if (raw.uniqueItems === true && !this.isUnique(value) && wrong({ text: "Expected unique items" })) {
      return false
    }
    if (unevaluatedItems === undefined || seen === undefined) return isAllowed
    for (let key = 0; key < value.length; key++) {
      this.spend(1)
      if (seen.items.has(key)) continue
      seen.items.add(key)
      if (!this.allows(unevaluatedItems, value[key], this.within(seen))) {
        if (wrong(unexpected(unevaluatedItems, value[key], key))) return false
      }
    }
    return isAllowed
  }

  private containsProblem(
    contains: Node,
    raw: Fields,
    value: ReadonlyArray<unknown>,
    seen: Seen | undefined
  ): string | undefined {
    let found = 0
    for (let key = 0; key < value.length; key++) {
      if (!this.allows(contains, value[key], this.within(seen))) continue
      found += 1
      seen?.items.add(key)
    }
    const [least = 1, largest = value.length] = [bound(raw, "minContains"), bound(raw, "maxContains")]
    if (found < least) return `Expected at least ${counted(least, "item")} matching "contains", got ${found}`
    const isTooMany = found > largest && !contains.isUnsure
    return isTooMany ? `Expected at most ${counted(largest, "item")} matching "contains", got ${found}` : undefined
  }

  private isUnique(value: ReadonlyArray<unknown>): boolean {
    const found = new Set<string>()
    for (const item of value) found.add(fingerprint(this.canonical(item)))
    return found.size === value.length
  }

  private keysOf(value: Fields): ReadonlyArray<string> {
    const keys = Object.keys(value)
    this.spend(keys.length)
    return keys
  }

  /** Returns a new `Seen` for a nested value, which has its own properties and items. */
  private within(seen: Seen | undefined): Seen | undefined {
    if (seen === undefined) return undefined
    this.spend(4)
    return new Seen()
  }

  /** Validates a value against the root schema. */
  start(node: Node, value: unknown): boolean {
    return this.allows(node, value, this.isTracking ? new Seen() : undefined)
  }

  /** Collects the reasons why a schema rejects a value. */
  explain(node: Node, value: unknown, path: Path, texts: Array<string>): void {
    if (node.refuses) texts.push(textOf(path, "Unexpected value"))
    if (node.refuses) return
    const problems: Array<Problem> = []
    this.check(node, value, this.isTracking ? new Seen() : undefined, problems)
    for (const problem of problems) {
      if (texts.length >= maxProblems) return
      const at = problem.key === undefined ? path : [...path, problem.key]
      if ("node" in problem) this.explain(problem.node, problem.value, at, texts)
      else texts.push(textOf(at, problem.text))
    }
  }
}

/** Records the problem if problems are collected, and returns `false`. */
const refused = (problems: Array<Problem> | undefined, problem: Problem): false => {
  problems?.push(problem)
  return false
}

/**
 * Returns the problem to report if no alternative matches. If exactly one alternative has the right type, its problems
 * are the most informative.
 */
const nearest = (choices: ReadonlyArray<Node>, value: unknown): Problem => {
  const near = choices.filter(({ types }) => types === undefined || types.some((type) => isOfType(value, type)))
  const [only] = near
  return near.length === 1 && only !== undefined
    ? { node: only, value }
    : { text: `Expected one of ${choices.length} alternatives, got ${kindOf(value)}` }
}

const unexpected = (node: Node, value: unknown, key: string | number): Problem =>
  node.refuses ? { key, text: typeof key === "number" ? "Unexpected item" : "Unexpected key" } : { node, value, key }

const textOf = (path: Path, text: string): string =>
  path.length === 0 ? text : `${text}\n  at ${path.map((key) => `[${short(JSON.stringify(key))}]`).join("")}`

const tooLarge = "The value cannot be checked, because it has too many parts for its schema"

/** Compiles a schema. Throws an error that describes the problem if the schema is invalid. */
export const make = (document: Fields): Validator => {
  const raw = sizeOf(document, maxSchemaValues)
  if (typeof raw === "string") throw new Error(raw)
  const { isTracking, root } = read(document)
  const size = expandedSize(root)
  const problemsOf = (value: unknown): string | undefined => {
    const problem = sizeOf(value, maxValues)
    if (typeof problem === "string") return `${tooLarge} (${problem})`
    const run = new Run(isTracking)
    const texts: Array<string> = []
    try {
      if (run.start(root, value)) return undefined
      run.explain(root, value, [], texts)
    } catch (error) {
      if (error !== exhausted) throw error
      if (texts.length === 0) return tooLarge
    }
    return [...new Set(texts)].join("\n")
  }
  return { size, problemsOf }
}
