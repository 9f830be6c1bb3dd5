/**
 * Checks the options that plain JavaScript gives. An unknown or misspelt name, a value of the wrong kind or a missing
 * option is an error in the caller's own words, before anything runs.
 *
 * A {@link Shape} names the options and how each is checked; the compiler holds it to the interface with `satisfies`. It
 * is looked up once for each option that is given, so a check takes about a microsecond.
 */
import * as Data from "effect/Data"
import { nearest } from "./Nearest.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What an option must be, for people; `undefined` where the value is right. */
export type Check = (value: unknown) => string | undefined

/** The options that there are. A shape in a shape is an object of options. */
export interface Shape {
  readonly [option: string]: Check | Shape
}

/** A shape that names every option of an interface. */
export type ShapeOf<A> = { readonly [Option in keyof A]-?: Check | Shape }

/** Options that cannot be used, and why. */
export class OptionsError extends Data.TaggedError("OptionsError")<{
  /** What they were given to, e.g. `conduct`. */
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

/** What a value is, in a few words. It never throws. */
export const kindOf = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(shortest(value))
  if (typeof value === "function") return "a function"
  if (Array.isArray(value)) return "a list"
  if (value instanceof Promise) return "a promise (await it)"
  return typeof value === "object" && value !== null ? "an object" : String(value)
}

// -------------------------------------------------------------------------------------------------------------------
// Checks
// -------------------------------------------------------------------------------------------------------------------

/** A check by a test, and the words for what passes it. */
export const expects =
  (what: string, test: (value: unknown) => boolean): Check =>
  (value) =>
    test(value) ? undefined : what

export const anything: Check = () => undefined
export const text = expects("a text", (value) => typeof value === "string")
export const name = expects("a text that is not empty", (value) => typeof value === "string" && value.trim() !== "")
export const flag = expects("true or false", (value) => typeof value === "boolean")
export const aFunction = expects("a function", (value) => typeof value === "function")
export const anObject = expects("an object", (value) => typeof value === "object" && value !== null)

/** A finite number from `least` on. */
export const number = (least: number): Check =>
  expects(`a number of at least ${least}`, (value) => Number.isFinite(value) && (value as number) >= least)

/** A whole number from `least` on. */
export const whole = (least: number): Check =>
  expects(`a whole number of at least ${least}`, (value) => Number.isInteger(value) && (value as number) >= least)

/** A limit: a number from 0 on, infinity included. */
export const limit = expects("a number of at least 0", (value) => typeof value === "number" && value >= 0)

/** One of some words. */
export const oneOf = (...words: ReadonlyArray<string>): Check =>
  expects(words.map((word) => `"${word}"`).join(" or "), (value) => words.includes(value as string))

/** What passes any of the checks. */
export const either =
  (...checks: ReadonlyArray<Check>): Check =>
  (value) => {
    const wanted = checks.map((check) => check(value))
    return wanted.includes(undefined) ? undefined : wanted.join(", or ")
  }

// -------------------------------------------------------------------------------------------------------------------
// Options
// -------------------------------------------------------------------------------------------------------------------

const unknown = (path: string, option: string, shape: Shape): string => {
  const known = Object.keys(shape)
  const meant = nearest(option, known)
  const said = `there is no option "${path}${option}".`
  return meant === undefined ? `${said} There are: ${known.join(", ")}.` : `${said} Did you mean "${path}${meant}"?`
}

const problemOf = (options: object, shape: Shape, path: string): string | undefined => {
  for (const option of Object.keys(options)) {
    const value = (options as Record<string, unknown>)[option]
    const check = Object.hasOwn(shape, option) ? shape[option]! : undefined
    if (check === undefined) {
      // An option that is left out on purpose is none.
      if (value !== undefined) return unknown(path, option, shape)
    } else if (value !== undefined) {
      const problem = problemOfValue(value, check, `${path}${option}`)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

const problemOfValue = (value: unknown, check: Check | Shape, path: string): string | undefined => {
  const wanted = typeof check === "function" ? check(value) : anObject(value)
  if (wanted !== undefined) return `"${path}" must be ${wanted}, not ${kindOf(value)}.`
  return typeof check === "function" ? undefined : problemOf(value as object, check, `${path}.`)
}

/**
 * Throws an {@link OptionsError} where the options are not of the shape, or lack what is `required`.
 *
 * **Example**
 *
 * ```ts
 * import * as Options from "@divisi/core/Options"
 *
 * const shape = { name: Options.name, budget: { costUsd: Options.limit } }
 * const told = (options: object): string => {
 *   try {
 *     Options.check("serve", options, shape, ["name"])
 *     return "right"
 *   } catch (error) {
 *     return (error as Error).message
 *   }
 * }
 * told({ name: "a", budget: { costUSD: 1 } }) // => 'serve: there is no option "budget.costUSD". Did you mean "budget.costUsd"?'
 * told({ budget: {} }) // => 'serve: "name" is missing: a text that is not empty.'
 * ```
 */
export const check = (what: string, options: unknown, shape: Shape, required: ReadonlyArray<string> = []): void => {
  const detail = typeof options === "object" && options !== null ? problemOf(options, shape, "") : undefined
  if (detail !== undefined) throw new OptionsError({ what, detail })
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    const example = `${what}({ ${(required.length > 0 ? required : Object.keys(shape)).join(", ")} })`
    throw new OptionsError({ what, detail: `it takes one object of options, ${example}, not ${kindOf(options)}.` })
  }
  for (const option of required) {
    if ((options as Record<string, unknown>)[option] !== undefined) continue
    const check = shape[option]!
    const wanted = typeof check === "function" ? check(undefined) : "an object"
    throw new OptionsError({ what, detail: `"${option}" is missing${wanted === undefined ? "." : `: ${wanted}.`}` })
  }
}
