/**
 * Declarative validation for all public options. Each set of options is described by a table, and `check`
 * validates values against it. Unknown, missing, conflicting or out-of-range options are reported under the name that
 * the caller used, before the run starts and before any money is spent.
 *
 * A {@link Shape} has one row per option. Shapes are declared with `satisfies ShapeOf<...>`, so that adding an option
 * without a row is a compile error. Validation needs no schema library and takes about a microsecond.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { isObject, isRecord } from "./Fields.ts"
import { aliasOf, didYouMean, nearest } from "./Nearest.ts"

// Every entry point that starts runs imports this module. Without this guard, an outdated runtime would fail later with
// an unrelated error.
if (typeof Promise.withResolvers !== "function") {
  const version = globalThis.process?.version ?? "an older runtime"
  throw new Error(
    `Divisi requires Node 22.19 or newer, but this is ${version}. Install a newer version from https://nodejs.org`
  )
}

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The inclusive numeric range accepted by a check. */
export interface Range {
  readonly least: number
  readonly most: number
  readonly isWhole: boolean
}

/**
 * A validation function for a single value. Returns `undefined` if the value is valid, or else a description of the
 * values that would be accepted.
 */
export interface Check {
  (value: unknown): string | undefined
  /** The accepted range, set for numeric checks only. */
  readonly range?: Range | undefined
}

/** Maps each option name to its validation rule. Use a nested shape for options that are themselves objects. */
export interface Shape {
  readonly [option: string]: Row
}

/** Validation rule for a single option. */
export type Row = Check | Shape | Table | Variants | Each

/** A {@link Shape} that must have a row for every property of the interface `A`. */
export type ShapeOf<A> = { readonly [Option in keyof A]-?: Row }

/**
 * Validates a combination of options, each of which is valid individually. Returns an error message, or `undefined` if
 * the combination is valid.
 */
export type Rule = (options: Readonly<Record<string, unknown>>) => string | undefined

/** Optional parts of a {@link Table}. */
export interface Notes {
  /** Names of the required options. */
  readonly required?: ReadonlyArray<string> | undefined
  /**
   * Aliases: option names used by other libraries, mapped to the names used here, e.g. `{ prompt: "question" }`. Case,
   * hyphens and underscores are ignored. An alias is not accepted as an option; the error message suggests the right
   * name.
   */
  readonly called?: Readonly<Record<string, string>> | undefined
  /**
   * Constraints between options, such as {@link needs}, {@link excludes} and {@link ordered}. They are checked in
   * order, after the individual options.
   */
  readonly rules?: ReadonlyArray<Rule> | undefined
}

/** A {@link Shape} with required options, aliases and rules. */
export interface Table extends Notes {
  readonly kind: "table"
  readonly shape: Shape
}

/**
 * Describes a discriminated union: the value of the option `by` selects the shape that the object must match, as in
 * `{ type: "constant" }`.
 */
export interface Variants {
  readonly kind: "variants"
  readonly by: string
  readonly of: Readonly<Record<string, Table | Shape>>
}

/** Describes a list by its elements, or a record with arbitrary keys by its values. */
export interface Each {
  readonly kind: "list" | "record"
  readonly each: Row
}

/** Raised when options are invalid. */
export class OptionsError extends Data.TaggedError("OptionsError")<{
  /** The function or file that received the options, e.g. `conduct`. */
  readonly what: string
  readonly detail: string
}> {
  override get message(): string {
    return `${this.what}: ${this.detail}`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Words
// -------------------------------------------------------------------------------------------------------------------

const shortest = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text)

/**
 * Matches strings that look like credentials. Error messages must not repeat such a string, in case a credential was
 * passed as the wrong option.
 */
const credential = /\bsk-|bearer\s|:\/\/[^/\s]*@/i

/** Returns a short description of a value for use in error messages. Never throws, and never includes a credential. */
export const kindOf = (value: unknown): string => {
  if (typeof value === "string") return credential.test(value) ? "a string" : JSON.stringify(shortest(value))
  if (typeof value === "function") return "a function"
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list"
  if (value instanceof Promise) return "a promise (await it)"
  const type = Object.prototype.toString.call(value).slice(8, -1)
  if (isObject(value) && Symbol.iterator in value && type !== "Object") return `a ${type}`
  return isObject(value) ? kindOfObject(value) : String(value)
}

/** Maximum number of keys to name. */
const mostKeys = 5

const kindOfObject = (value: object): string => {
  const keys = Object.keys(value).map(shortest)
  if (keys.length === 0) return "an empty object"
  if (keys.some((key) => credential.test(key))) return "an object"
  const rest = keys.length > mostKeys ? ", …" : ""
  return `an object with ${keys.length === 1 ? "the key" : "the keys"} ${keys.slice(0, mostKeys).join(", ")}${rest}`
}

/**
 * Whether a value has named fields: an object that is no list, promise or collection such as a `Map` or `Headers`, whose
 * entries are not fields.
 */
const hasFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isRecord(value) && !(Symbol.iterator in value) && !(value instanceof Promise)

// -------------------------------------------------------------------------------------------------------------------
// Checks
// -------------------------------------------------------------------------------------------------------------------

/** Creates a check from a predicate and a description of the accepted values. */
export const expects =
  (what: string, test: (value: unknown) => boolean): Check =>
  (value) =>
    test(value) ? undefined : what

export const anything: Check = () => undefined
export const text = expects("a text", (value) => typeof value === "string")
export const name = expects("a non-empty string", (value) => typeof value === "string" && value.trim() !== "")
export const flag = expects("true or false", (value) => typeof value === "boolean")
export const aFunction = expects("a function", (value) => typeof value === "function")
export const anObject = expects("an object", isObject)

const longestRunId = 512

// biome-ignore lint/suspicious/noControlCharactersInRegex: ids are held to have none
const control = /[\u0000-\u001f\u007f-\u009f]/

/** Ids that cannot be a part of a URL, because clients remove them from paths. */
const pathDots: ReadonlySet<string> = new Set([".", ".."])

/** Accepts the id of a run, which every journal can store. */
export const runId = expects(
  `a string of 1 to ${longestRunId} characters without control characters, other than "." and ".."`,
  (value) =>
    typeof value === "string" &&
    value.trim() !== "" &&
    value.length <= longestRunId &&
    value.isWellFormed() &&
    !control.test(value) &&
    !pathDots.has(value)
)

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

const within = (what: string, { isWhole, least, most }: Range): Check => {
  const isIn = (value: unknown) =>
    typeof value === "number" && value >= least && value <= most && (!isWhole || Number.isSafeInteger(value))
  const check: Check = (value) => {
    if (isIn(value)) return undefined
    const isBoundShown = most < Number.MAX_SAFE_INTEGER || (typeof value === "number" && value > most)
    return isBoundShown ? `${what} from ${least} to ${most}` : `${what} of at least ${least}`
  }
  return Object.assign(check, { range: { least, most, isWhole } })
}

/** Returns a check for objects that have the given method. */
export const madeBy = (what: string, method: string): Check =>
  expects(what, (value) => isRecord(value) && typeof value[method] === "function")

/** Returns a check for numbers from `least` to `most`, inclusive. `most` is 2^53 - 1 if omitted. */
export const number = (least: number, most = Number.MAX_SAFE_INTEGER): Check =>
  within("a number", { least, most, isWhole: false })

/** Returns a check for integers from `least` to `most`, inclusive. */
export const whole = (least: number, most = Number.MAX_SAFE_INTEGER): Check =>
  within("a whole number", { least, most, isWhole: true })

/** Accepts a sampling temperature. Vendors accept at most 1 or 2, and local models more. */
export const temperature = number(0, 100)

/** Accepts a number from 0 to 2^53 - 1, or `Infinity`, which means that there is no limit. */
export const limit: Check = Object.assign((value: unknown) => (value === Infinity ? undefined : number(0)(value)), {
  range: { least: 0, most: Infinity, isWhole: false }
})

/**
 * Accepts a count without a necessary limit: a whole number of at least 0, or infinity.
 *
 * @internal
 */
export const countOrInfinity: Check = Object.assign(
  expects("a whole number of at least 0, or Infinity", (value) => value === Infinity || isCount(value)),
  { range: { least: 0, most: Infinity, isWhole: true } }
)

/**
 * A check that accepts a fixed set of strings. The strings are exposed as `words`, so that schemas can be derived from
 * them.
 */
export interface OneOf<Word extends string> extends Check {
  readonly words: ReadonlyArray<Word>
}

/** Joins alternatives: `"a", "b" or "c"`. */
const alternatives = (words: ReadonlyArray<string>): string =>
  [words.slice(0, -1).join(", "), ...words.slice(-1)].filter((part) => part !== "").join(" or ")

/** Returns a check that accepts any of the given strings. */
export const oneOf = <const Words extends ReadonlyArray<string>>(...words: Words): OneOf<Words[number]> => {
  const check = expects(alternatives(words.map((word) => `"${word}"`)), (value) => words.includes(value as string))
  return Object.assign(check, { words })
}

/** Combines checks: a value is valid if any of them accepts it. */
export const either =
  (...checks: ReadonlyArray<Check>): Check =>
  (value) => {
    const wanted = checks.map((check) => check(value))
    return wanted.includes(undefined) ? undefined : wanted.join(", or ")
  }

// -------------------------------------------------------------------------------------------------------------------
// Tables
// -------------------------------------------------------------------------------------------------------------------

/** Creates a {@link Table} from a shape and its required options, aliases and rules. */
export const table = (shape: Shape, notes: Notes = {}): Table => ({ kind: "table", shape, ...notes })

/**
 * Returns aliases for a {@link Table} from lists of names: each option with the names that other libraries use for it,
 * separated by spaces. Each also stands for longer names that begin or end with it: `model` for `modelName`.
 */
export const aliases = (names: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(names).flatMap(([option, others]) => others.split(" ").map((other) => [other, option]))
  )

/** Describes a list whose elements all match the given row. */
export const listOf = (each: Row): Each => ({ kind: "list", each })

/** Describes an object with arbitrary keys whose values all match the given row. */
export const recordOf = (each: Row): Each => ({ kind: "record", each })

/**
 * Describes a discriminated union. The value of the option `by`, such as `type`, selects the shape to validate against.
 */
export const variants = (by: string, of: Variants["of"]): Variants => ({ kind: "variants", by, of })

/** Creates a rule: if `option` is set, at least one of `others` must be set as well. */
export const needs =
  (option: string, ...others: ReadonlyArray<string>): Rule =>
  (options) =>
    options[option] === undefined || others.some((other) => options[other] !== undefined)
      ? undefined
      : `"${option}" needs ${others.map((other) => `"${other}"`).join(" or ")}.`

/** Creates a rule: `option` and `other` must not both be set. */
export const excludes =
  (option: string, other: string): Rule =>
  (options) =>
    options[option] === undefined || options[other] === undefined
      ? undefined
      : `"${option}" and "${other}" cannot be used together.`

/** Creates a rule: the number in `lower` must not exceed the number in `upper`. */
export const ordered =
  (lower: string, upper: string): Rule =>
  (options) =>
    (options[lower] as number) > (options[upper] as number)
      ? `"${lower}" must be at most "${upper}", ${options[upper]}, not ${options[lower]}.`
      : undefined

const isStructure = (row: Row): row is Table | Variants | Each =>
  typeof (row as { readonly kind?: unknown }).kind === "string"

/** Returns the table for a row that describes an object. */
const tableOf = (row: Table | Shape): Table => (isStructure(row) ? (row as Table) : table(row))

// -------------------------------------------------------------------------------------------------------------------
// Check
// -------------------------------------------------------------------------------------------------------------------

const unknown = (path: string, option: string, { called = {}, shape }: Table): string => {
  const known = Object.keys(shape)
  const start = `option "${path}${shortest(option)}" does not exist.`
  const meant = nearest(option, known)
  const ours = aliasOf(option, called, meant)
  if (ours !== undefined) return `${start} Use "${ours}".`
  return `${start}${didYouMean(meant && `"${path}${meant}"`, `Options: ${known.join(", ")}.`)}`
}

const lacking = (path: string, option: string, row: Row): string => {
  const ofStructure = isStructure(row) && row.kind === "list" ? "a list" : "an object"
  const wanted = typeof row === "function" ? row(undefined) : ofStructure
  return `"${path}${option}" is missing${wanted === undefined ? "." : `: expected ${wanted}.`}`
}

const problemOfOptions = (options: Readonly<Record<string, unknown>>, table: Table, path: string) => {
  const { required = [], rules = [], shape } = table
  for (const option of Object.keys(options)) {
    const value = options[option]
    // An option set to `undefined` counts as omitted.
    if (value === undefined) continue
    if (!Object.hasOwn(shape, option)) return unknown(path, option, table)
    const problem = problemOf(value, shape[option]!, `${path}${option}`)
    if (problem !== undefined) return problem
  }
  for (const option of required) if (options[option] === undefined) return lacking(path, option, shape[option]!)
  for (const rule of rules) {
    const problem = rule(options)
    if (problem !== undefined) return path === "" ? problem : `in "${path.slice(0, -1)}", ${problem}`
  }
  return undefined
}

/** Keys that can follow a dot. */
const identifier = /^[a-z_$][\w$]{0,39}$/i

const problemOfEach = (value: unknown, { each, kind }: Each, path: string): string | undefined => {
  const isRight = kind === "list" ? Array.isArray(value) : hasFields(value)
  if (!isRight) {
    const [whole, part] = kind === "list" ? ["a list", "element"] : ["an object", "value"]
    const wanted = typeof each === "function" ? each(undefined) : undefined
    const ofEach = wanted === undefined ? "" : ` Each ${part} must be ${wanted}.`
    return `"${path}" must be ${whole}, not ${kindOf(value)}.${ofEach}`
  }
  for (const key of Object.keys(value as object)) {
    const at =
      kind === "list" ? `${path}[${key}]` : `${path}${identifier.test(key) ? `.${key}` : `["${shortest(key)}"]`}`
    const problem = problemOf((value as Readonly<Record<string, unknown>>)[key], each, at)
    if (problem !== undefined) return problem
  }
  return undefined
}

const namesOf = ({ of }: Variants): string => alternatives(Object.keys(of).map((name) => `"${name}"`))

const problemOfVariant = (value: Readonly<Record<string, unknown>>, { by, of }: Variants, path: string) => {
  const names = oneOf(...Object.keys(of))
  const variant = Object.hasOwn(of, String(value[by])) ? of[String(value[by])] : undefined
  if (variant === undefined) return problemOf(value[by], names, `${path}.${by}`)
  const table = tableOf(variant)
  return problemOfOptions(value, { ...table, shape: { [by]: names, ...table.shape } }, `${path}.`)
}

/** Validates a value against a row. Returns an error message, or `undefined` if the value is valid. */
export const problemOf = (value: unknown, row: Row, path: string): string | undefined => {
  if (typeof row === "function") {
    const wanted = row(value)
    return wanted === undefined ? undefined : `"${path}" must be ${wanted}, not ${kindOf(value)}.`
  }
  if (isStructure(row) && (row.kind === "list" || row.kind === "record")) return problemOfEach(value, row, path)
  const isVariant = isStructure(row) && row.kind === "variants"
  if (!hasFields(value)) {
    const fields = isVariant ? ` with "${row.by}": ${namesOf(row)}` : ""
    return `"${path}" must be an object${fields}, not ${kindOf(value)}.`
  }
  if (isVariant) return problemOfVariant(value, row, path)
  return problemOfOptions(value, tableOf(row as Table | Shape), `${path}.`)
}

/**
 * Throws an {@link OptionsError} if the options do not match the table.
 *
 * **Example**
 *
 * ```ts
 * import { Options } from "@divisi/core"
 *
 * const table = Options.table(
 *   { name: Options.name, attempts: Options.whole(1), budget: { costUsd: Options.limit } },
 *   { required: ["name"], called: { title: "name" } }
 * )
 * const problem = (options: object): string => {
 *   try {
 *     Options.check("serve", options, table)
 *     return "none"
 *   } catch (error) {
 *     return (error as Error).message
 *   }
 * }
 * problem({ name: "a", budget: { costUSD: 1 } }) // => 'serve: option "budget.costUSD" does not exist. Did you mean "budget.costUsd"?'
 * problem({ title: "a" }) // => 'serve: option "title" does not exist. Use "name".'
 * problem({ name: "a", attempts: 0 }) // => 'serve: "attempts" must be a whole number of at least 1, not 0.'
 * problem({ budget: {} }) // => 'serve: "name" is missing: expected a non-empty string.'
 * ```
 */
export const check = (what: string, options: unknown, row: Table | Shape): void => {
  const table = tableOf(row)
  if (!hasFields(options)) {
    const { required = Object.keys(table.shape) } = table
    const detail = `expected a single options object, ${what}({ ${required.join(", ")} }), not ${kindOf(options)}.`
    throw new OptionsError({ what, detail })
  }
  const detail = problemOfOptions(options, table, "")
  if (detail !== undefined) throw new OptionsError({ what, detail })
}

/** Like `check`, but returns an effect that fails with the {@link OptionsError} instead of throwing. */
export const checked = (what: string, options: unknown, row: Table | Shape): Effect.Effect<void, OptionsError> =>
  Effect.try({ try: () => check(what, options, row), catch: (error) => error as OptionsError })
