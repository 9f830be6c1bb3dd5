/**
 * Invalid options for all public functions: for every option in {@link ./configurations.ts}, a misspelled name, values
 * of other types, numbers that are infinite, negative or very large, and empty values. Each must be rejected with a
 * message that names the option, unless {@link valid} gives a reason why the value is valid.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/** A public function that takes options. */
export interface Configuration {
  readonly name: string
  /** Calls the function. Returns a value, a promise or an effect. */
  readonly make: (options: never) => unknown
  /** Each option once, with a valid value. */
  readonly options: Readonly<Record<string, unknown>>
  /** Paths of objects whose keys the caller may choose, or whose content another function checks. */
  readonly open?: ReadonlyArray<string> | undefined
}

/** One mistake, and whether it was refused by name. */
export interface Attempt {
  readonly configuration: string
  /** `path=value`. */
  readonly mistake: string
  readonly message: string
  readonly isRefused: boolean
}

type Path = ReadonlyArray<string>

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Values that are wrong for an option with such a valid value. */
const wrongFor = (value: unknown): ReadonlyArray<unknown> => {
  if (typeof value === "number") return [Number.NaN, -1, -1e300, 1e300, "3", "", true, null, [], {}]
  if (typeof value === "boolean") return ["yes", "", 1, Number.NaN, null, [], {}]
  if (typeof value === "string") return ["", 3, Number.NaN, true, null, [], {}]
  if (typeof value === "function") return ["", "x", 3, true, null, [], {}]
  if (Array.isArray(value)) return ["", "x", 3, Number.NaN, true, null, {}]
  return ["", "x", 3, Number.NaN, true, null]
}

/** Values that {@link wrongFor} returns and that are valid for these options, by the reason. */
const valid: Readonly<Record<string, RegExp>> = {
  "an empty text for people or models is the same as none": /(?:^|\.)(?:description|instructions)=""$/,
  "a seed may be any whole number": /^seed=-1$/,
  "a worker may be given by its number, which is checked with the pool": /^(?:worker|judge|aggregator)=3$/,
  "a duration may be a number of milliseconds": /^timeToLive=3$/
}

const isValid = (attempt: string): boolean => Object.values(valid).some((pattern) => pattern.test(attempt))

/** The name with one letter doubled, which is nearest to the name itself. */
const misspelled = (name: string): string => `${name.slice(0, -1)}${name.at(-1)!.repeat(2)}`

const shown = (value: unknown): string => (typeof value === "number" ? String(value) : JSON.stringify(value))

const withAt = (value: Record<string, unknown>, [first, ...rest]: Path, put: unknown): Record<string, unknown> => ({
  ...value,
  [first!]: rest.length === 0 ? put : withAt(value[first!] as Record<string, unknown>, rest, put)
})

const pathsIn = (value: Record<string, unknown>, open: ReadonlyArray<string>, path: Path = []): ReadonlyArray<Path> =>
  Object.entries(value).flatMap(([key, part]) => {
    const at = [...path, key]
    return isPlain(part) && !open.includes(at.join(".")) ? [at, ...pathsIn(part, open, at)] : [at]
  })

/** Calls a function with options, runs the effect or builds the layer that it returns, and returns its error. */
export const outcomeOf = async (make: Configuration["make"], options: unknown): Promise<string> => {
  try {
    const made = await make(options as never)
    const built = Layer.isLayer(made) ? Layer.build(made as Layer.Layer<unknown>) : made
    if (Effect.isEffect(built)) {
      await Effect.runPromise(Effect.scoped(built as Effect.Effect<unknown, unknown, Scope.Scope>))
    }
    return ""
  } catch (error) {
    return error instanceof Error ? error.message : JSON.stringify(error)
  }
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce((at, key) => (at as Record<string, unknown>)[key], value)

async function* valuesOf({ make, name, open = [], options }: Configuration): AsyncGenerator<Attempt> {
  for (const path of pathsIn(options, open)) {
    const key = path.at(-1)!
    for (const wrong of wrongFor(valueAt(options, path))) {
      const mistake = `${path.join(".")}=${shown(wrong)}`
      if (isValid(mistake)) continue
      const message = await outcomeOf(make, withAt(options, path, wrong))
      // An empty or wrong object may be refused for what it lacks: its own path is named then, too.
      const isRefused = message.includes(key)
      yield { configuration: name, mistake, message, isRefused }
    }
  }
}

async function* namesOf({ make, name, open = [], options }: Configuration): AsyncGenerator<Attempt> {
  for (const path of pathsIn(options, open)) {
    const key = path.at(-1)!
    const written = misspelled(key)
    const message = await outcomeOf(make, withAt(options, [...path.slice(0, -1), written], valueAt(options, path)))
    // The names of one and two letters are not guessed.
    const isGuessed = key.length < 3 || (/did you mean/i.test(message) && message.includes(key))
    const isRefused = message.includes(written) && isGuessed
    yield {
      configuration: name,
      mistake: [...path.slice(0, -1), written].join("."),
      message,
      isRefused
    }
  }
}

/** Tries every mistake in a configuration, one at a time. */
export const attempts = async (configuration: Configuration): Promise<ReadonlyArray<Attempt>> => {
  const made: Array<Attempt> = []
  for await (const attempt of namesOf(configuration)) made.push(attempt)
  for await (const attempt of valuesOf(configuration)) made.push(attempt)
  return made
}

/** Returns the error of the valid options, if they are refused with the name of one of them. */
export const invalid = async ({ make, options }: Configuration): Promise<string | undefined> => {
  const message = await outcomeOf(make, options)
  return /option "[^"]*" does not exist|must be |is missing|required, but missing|unknown setting/.test(message)
    ? message
    : undefined
}
