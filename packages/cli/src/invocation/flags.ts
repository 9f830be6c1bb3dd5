/** Flags shared by several commands, with their parsers. */

import * as Config from "effect/Config"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"

/** Joins lines to form a description in the help. */
export const paragraphs = (...lines: ReadonlyArray<string>): string => lines.join("\n  ").replaceAll("\n  \n", "\n\n")

/** Creates an optional string flag, such as a file or a name. */
export const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional)

/**
 * Creates an optional flag for a comma-separated list of names. A list ending with a comma is refused: after a space,
 * the remaining names would become arguments, e.g. part of the question.
 */
export const names = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(
    Flag.filter(
      (text) => !/,\s*$/.test(text),
      () => "Expected names separated by commas, without spaces and without a comma at the end"
    ),
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.optional
  )

/** `--journal`: the file of stored runs. */
export const journal = text(
  "journal",
  "<file>",
  "File where runs are stored (default: DIVISI_RUNS, or runs.sqlite in your data folder)"
)

/** Maximum of flags that count something, such as tasks or iterations. */
const mostCounted = 1_000_000

/** The name of an integer flag's value in the help. `UsageError` recognizes integer flags by it. */
export const integer = "<number>"

/** Creates an integer flag with a minimum and a maximum value. */
export const whole = (name: string, least: number, most = mostCounted) =>
  Flag.Int(name).pipe(
    Flag.filter(
      (value) => value >= least && value <= most,
      () =>
        `Expected a whole number ${most < Number.MAX_SAFE_INTEGER ? `from ${least} to ${most}` : `of at least ${least}`}`
    ),
    Flag.withMetavar(integer)
  )

/** Creates an integer flag without a practical maximum, such as a seed or a number of tokens. */
export const large = (name: string, least: number) => whole(name, least, Number.MAX_SAFE_INTEGER)

/** Creates a flag with a fixed set of values. */
export const choice = <const Values extends ReadonlyArray<string>>(name: string, values: Values) =>
  Flag.Literals(name, values).pipe(Flag.withMetavar("<value>"))

/** Creates `--port`. Port 0 picks a free one. */
export const port = (standard: number) =>
  Flag.Int("port").pipe(
    Flag.filter(
      (value) => value >= 0 && value <= 65_535,
      () => "Expected a port from 0 to 65535"
    ),
    Flag.withMetavar(integer),
    Flag.withDescription(`Port (default ${standard}); 0 picks a free one`),
    Flag.withDefault(standard)
  )

/** Creates a boolean flag. Default: off. */
export const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDefault(false), Flag.withDescription(description))

/** `--seed`: the seed for all random choices. */
export const seed = large("seed", 0).pipe(
  Flag.withDescription("Random seed; the same seed gives the same result"),
  Flag.optional
)

const units = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 } as const

/** Parses a duration such as `500ms`, `30s`, `2m` or `1h` to milliseconds. Returns `undefined` if it is invalid. */
const parseDuration = (text: string): number | undefined => {
  const match = /^(\d+(?:\.\d+)?) ?(ms|s|m|min|h)$/.exec(text.trim())
  const millis = match === null ? 0 : Number(match[1]) * units[match[2] as keyof typeof units]
  return millis > 0 && millis < 2 ** 31 ? millis : undefined
}

const ageUnits = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Parses an age such as `30m`, `12h` or `7d` to milliseconds. Returns `undefined` if it is invalid. */
export const parseAge = (text: string): number | undefined => {
  const match = /^(\d+)([smhd])$/.exec(text.trim())
  return match === null ? undefined : Number(match[1]) * ageUnits[match[2] as keyof typeof ageUnits]
}

/** Splits a comma-separated list of names. */
export const listOf = (names: string): ReadonlyArray<string> =>
  names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")

/**
 * Parses a UTC day such as 2026-11-28 to its start, in milliseconds since 1970. Returns `undefined` if it is invalid.
 */
export const parseDay = (text: string): number | undefined => {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text ? undefined : at
}

/** Creates a flag for an age, such as `7d` or `12h`. */
export const age = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(parseAge(text)),
      () => "Expected a duration such as 30m, 12h or 7d"
    ),
    Flag.withMetavar("<age>"),
    Flag.withDescription(description),
    Flag.optional
  )

/** Creates `--config`. The description lists the settings that the command uses. */
export const config = (description: string) =>
  Flag.String("config").pipe(
    Flag.withMetavar("<file>"),
    Flag.withDescription(
      `${description}. Default: DIVISI_CONFIG, or the nearest divisi.config.* in this folder and its parents. Its extension can be .ts, .mts, .js, .mjs, .cts or .cjs; "none" disables the config`
    ),
    Flag.withFallbackConfig(Config.String("DIVISI_CONFIG")),
    Flag.optional
  )

/** Creates a flag for a duration, parsed to milliseconds. */
export const duration = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(parseDuration(text)),
      () => "Expected a duration such as 500ms, 30s, 2m or 1h"
    ),
    Flag.withMetavar("<duration>"),
    Flag.withDescription(description),
    Flag.optional
  )

/** Creates `--timeout`, in milliseconds. */
export const timeout = (description: string) => duration("timeout", description)

/** Parses an amount in USD. Returns `undefined` if it is invalid. */
const parseAmount = (text: string): number | undefined => {
  const amount = text.trim() === "" ? Number.NaN : Number(text)
  return Number.isFinite(amount) && amount >= 0 ? amount : undefined
}

/** Creates a flag for an amount in USD. */
export const cost = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(parseAmount(text)),
      () => "Expected an amount in USD of at least 0, such as 0.50"
    ),
    Flag.withMetavar("<usd>"),
    Flag.withDescription(description),
    Flag.optional
  )
