/**
 * The validator of all public configurations: a table of options and ranges, and a function that checks values against
 * it. An unknown option, a value out of range, a missing option or a contradiction is reported with the caller's option
 * names before anything runs or is paid for.
 *
 * A {@link Shape} has one row per option. It is declared with `satisfies`, so an option without a row does not compile.
 * No schema library is loaded, and a check takes about a microsecond.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { isSame, nearest } from "./Nearest.ts"

// Every entry point for runs loads this module. Without this, an old runtime fails later, with an error that does not
// name the reason.
if (typeof Promise.withResolvers !== "function") {
  const version = globalThis.process?.version ?? "an older runtime"
  throw new Error(`Divisi needs Node 22.19 or newer, and this is ${version}. Install it from https://nodejs.org`)
}

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The range of numbers that a check accepts, both ends included. */
export interface Range {
  readonly least: number
  readonly most: number
  readonly isWhole: boolean
}

/** Returns a description of the accepted values, or `undefined` if the value is accepted. */
export interface Check {
  (value: unknown): string | undefined
  /** The range, if the check is for numbers. */
  readonly range?: Range | undefined
}

/** The options of a configuration, with one row each. A nested shape describes a nested object of options. */
export interface Shape {
  readonly [option: string]: Row
}

/** A row of a shape. */
export type Row = Check | Shape | Table | Variants | Each

/** A shape with a row for every option of an interface. */
export type ShapeOf<A> = { readonly [Option in keyof A]-?: Row }

/** Checks options that are individually valid. Returns the problem as a sentence, or `undefined`. */
export type Rule = (options: Readonly<Record<string, unknown>>) => string | undefined

/** The parts of a table other than its rows. */
export interface Notes {
  /** The required options. */
  readonly required?: ReadonlyArray<string> | undefined
  /** Names from other libraries, mapped to ours: `{ prompt: "question" }`. Spelling is normalized before the lookup. */
  readonly called?: Readonly<Record<string, string>> | undefined
  /**
   * Rules between options ({@link needs}, {@link excludes}, {@link ordered}), checked in order after the options
   * themselves.
   */
  readonly rules?: ReadonlyArray<Rule> | undefined
}

/** A shape with required options, aliases and rules. */
export interface Table extends Notes {
  readonly kind: "table"
  readonly shape: Shape
}

/** Objects in which one option decides which others are allowed: `{ type: "constant" }`. */
export interface Variants {
  readonly kind: "variants"
  readonly by: string
  readonly of: Readonly<Record<string, Table | Shape>>
}

/** Describes the elements of a list, or the values of a record with arbitrary keys. */
export interface Each {
  readonly kind: "list" | "record"
  readonly each: Row
}

/** Invalid options, with the reason. */
export class OptionsError extends Data.TaggedError("OptionsError")<{
  /** The function or file that the options were given to, e.g. `conduct`. */
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
 * Matches values that look like credentials. They are not repeated in errors, because a credential may be in the wrong
 * option.
 */
const credential = /\bsk-|bearer\s|:\/\/[^/\s]*@/i

/** Describes a value in a few words. It never throws, and never repeats a credential. */
export const kindOf = (value: unknown): string => {
  if (typeof value === "string") return credential.test(value) ? "a text" : JSON.stringify(shortest(value))
  if (typeof value === "function") return "a function"
  if (Array.isArray(value)) return "a list"
  if (value instanceof Promise) return "a promise (await it)"
  return typeof value === "object" && value !== null ? "an object" : String(value)
}

// -------------------------------------------------------------------------------------------------------------------
// Checks
// -------------------------------------------------------------------------------------------------------------------

/** Makes a check from a test and a description of the accepted values. */
export const expects =
  (what: string, test: (value: unknown) => boolean): Check =>
  (value) =>
    test(value) ? undefined : what

export const anything: Check = () => undefined
export const text = expects("a text", (value) => typeof value === "string")
export const name = expects("a non-empty string", (value) => typeof value === "string" && value.trim() !== "")
export const flag = expects("true or false", (value) => typeof value === "boolean")
export const aFunction = expects("a function", (value) => typeof value === "function")
export const anObject = expects("an object", (value) => typeof value === "object" && value !== null)

const within = (what: string, { isWhole, least, most }: Range): Check => {
  const words = most >= Number.MAX_SAFE_INTEGER ? `${what} of at least ${least}` : `${what} from ${least} to ${most}`
  const test = (value: unknown) =>
    typeof value === "number" && value >= least && value <= most && (!isWhole || Number.isSafeInteger(value))
  return Object.assign(expects(words, test), { range: { least, most, isWhole } })
}

/** Returns a check that recognizes an object by one of its methods. */
export const madeBy = (what: string, method: string): Check =>
  expects(what, (value) => isRecord(value) && typeof value[method] === "function")

/** Accepts a finite number from `least` to `most`. */
export const number = (least: number, most = Number.MAX_VALUE): Check =>
  within("a number", { least, most, isWhole: false })

/** Accepts an integer from `least` to `most`. */
export const whole = (least: number, most = Number.MAX_SAFE_INTEGER): Check =>
  within("a whole number", { least, most, isWhole: true })

/** Accepts a limit: a number of at least 0, infinity included. */
export const limit = within("a number", { least: 0, most: Infinity, isWhole: false })

/** A check that accepts a fixed set of words. Schemas are derived from `words`. */
export interface OneOf<Word extends string> extends Check {
  readonly words: ReadonlyArray<Word>
}

/** Accepts one of the given words. */
export const oneOf = <const Words extends ReadonlyArray<string>>(...words: Words): OneOf<Words[number]> => {
  const check = expects(words.map((word) => `"${word}"`).join(" or "), (value) => words.includes(value as string))
  return Object.assign(check, { words })
}

/** Returns a check that accepts values that pass any of the given checks. */
export const either =
  (...checks: ReadonlyArray<Check>): Check =>
  (value) => {
    const wanted = checks.map((check) => check(value))
    return wanted.includes(undefined) ? undefined : wanted.join(", or ")
  }

// -------------------------------------------------------------------------------------------------------------------
// Tables
// -------------------------------------------------------------------------------------------------------------------

/** Makes a table from a shape, with required options, aliases and rules. */
export const table = (shape: Shape, notes: Notes = {}): Table => ({ kind: "table", shape, ...notes })

/** Accepts a list, and checks each element. */
export const listOf = (each: Row): Each => ({ kind: "list", each })

/** Accepts an object with arbitrary keys, and checks each value. */
export const recordOf = (each: Row): Each => ({ kind: "record", each })

/** Accepts objects in which one option, such as `type`, decides which other options are allowed. */
export const variants = (by: string, of: Variants["of"]): Variants => ({ kind: "variants", by, of })

/** A rule: the option requires one of several other options. */
export const needs =
  (option: string, ...others: ReadonlyArray<string>): Rule =>
  (options) =>
    options[option] === undefined || others.some((other) => options[other] !== undefined)
      ? undefined
      : `"${option}" needs ${others.map((other) => `"${other}"`).join(" or ")}.`

/** A rule: at most one of two options may be set. */
export const excludes =
  (option: string, other: string): Rule =>
  (options) =>
    options[option] === undefined || options[other] === undefined
      ? undefined
      : `"${option}" and "${other}" cannot be used together.`

/** A rule: one number must not exceed another. */
export const ordered =
  (lower: string, upper: string): Rule =>
  (options) =>
    (options[lower] as number) > (options[upper] as number)
      ? `"${lower}" must be at most "${upper}", ${options[upper]}, not ${options[lower]}.`
      : undefined

const isStructure = (row: Row): row is Table | Variants | Each =>
  typeof (row as { readonly kind?: unknown }).kind === "string"

/** Returns the table of a row that describes an object of options. */
export const tableOf = (row: Table | Shape): Table => (isStructure(row) ? (row as Table) : table(row))

// -------------------------------------------------------------------------------------------------------------------
// Check
// -------------------------------------------------------------------------------------------------------------------

const unknown = (path: string, option: string, { called = {}, shape }: Table): string => {
  const known = Object.keys(shape)
  const start = `option "${path}${shortest(option)}" does not exist.`
  const habit = Object.keys(called).find((one) => isSame(one, option))
  if (habit !== undefined) return `${start} Use "${called[habit]}".`
  const meant = nearest(option, known)
  return meant === undefined ? `${start} Options: ${known.join(", ")}.` : `${start} Did you mean "${path}${meant}"?`
}

const lacking = (path: string, option: string, row: Row): string => {
  const wanted = typeof row === "function" ? row(undefined) : "an object"
  return `"${path}${option}" is missing${wanted === undefined ? "." : `: ${wanted}.`}`
}

const problemOfOptions = (options: Readonly<Record<string, unknown>>, table: Table, path: string) => {
  const { required = [], rules = [], shape } = table
  for (const option of Object.keys(options)) {
    const value = options[option]
    // An option that is `undefined` is absent.
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

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const problemOfEach = (value: unknown, { each, kind }: Each, path: string): string | undefined => {
  const isRight = kind === "list" ? Array.isArray(value) : isRecord(value)
  if (!isRight) return `"${path}" must be ${kind === "list" ? "a list" : "an object"}, not ${kindOf(value)}.`
  for (const key of Object.keys(value as object)) {
    const at = kind === "list" ? `${path}[${key}]` : `${path}.${shortest(key)}`
    const problem = problemOf((value as Readonly<Record<string, unknown>>)[key], each, at)
    if (problem !== undefined) return problem
  }
  return undefined
}

const problemOfVariant = (value: Readonly<Record<string, unknown>>, { by, of }: Variants, path: string) => {
  const names = oneOf(...Object.keys(of))
  const variant = Object.hasOwn(of, String(value[by])) ? of[String(value[by])] : undefined
  if (variant === undefined) return problemOf(value[by], names, `${path}.${by}`)
  const table = tableOf(variant)
  return problemOfOptions(value, { ...table, shape: { [by]: names, ...table.shape } }, `${path}.`)
}

/** Checks a value against a row. Returns the problem as a sentence, or `undefined`. */
export const problemOf = (value: unknown, row: Row, path: string): string | undefined => {
  if (typeof row === "function") {
    const wanted = row(value)
    return wanted === undefined ? undefined : `"${path}" must be ${wanted}, not ${kindOf(value)}.`
  }
  if (isStructure(row) && (row.kind === "list" || row.kind === "record")) return problemOfEach(value, row, path)
  if (!isRecord(value)) return `"${path}" must be an object, not ${kindOf(value)}.`
  if (isStructure(row) && row.kind === "variants") return problemOfVariant(value, row, path)
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
 * problem({ budget: {} }) // => 'serve: "name" is missing: a non-empty string.'
 * ```
 */
export const check = (what: string, options: unknown, row: Table | Shape): void => {
  const table = tableOf(row)
  if (!isRecord(options)) {
    const { required = Object.keys(table.shape) } = table
    const detail = `it takes a single options object, ${what}({ ${required.join(", ")} }), not ${kindOf(options)}.`
    throw new OptionsError({ what, detail })
  }
  const detail = problemOfOptions(options, table, "")
  if (detail !== undefined) throw new OptionsError({ what, detail })
}

/** Like `check`, as an effect that fails with the {@link OptionsError}. */
export const checked = (what: string, options: unknown, row: Table | Shape): Effect.Effect<void, OptionsError> =>
  Effect.try({ try: () => check(what, options, row), catch: (error) => error as OptionsError })
