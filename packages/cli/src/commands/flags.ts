/** Flags that several commands share, and what they accept. */
import * as Flag from "effect/cli/Flag"

/** A description of several lines, as help sets it. */
export const paragraphs = (...lines: ReadonlyArray<string>): string => lines.join("\n  ").replaceAll("\n  \n", "\n\n")

/** A whole number of at least `least`. */
export const whole = (name: string, least: number) =>
  Flag.Int(name).pipe(
    Flag.filter(
      (value) => value >= least && value <= Number.MAX_SAFE_INTEGER,
      () => `Expected a whole number of at least ${least}`
    )
  )

/** A flag that is on or off; off by default. */
export const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDefault(false), Flag.withDescription(description))

/** The seed of everything random. */
export const seed = whole("seed", 0).pipe(
  Flag.withDescription("Seed of everything random; the same seed gives the same run"),
  Flag.optional
)

const units = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 } as const

/** A duration such as `500ms`, `30s`, `2m` or `1h` in milliseconds; `undefined` when it is none. */
export const parseDuration = (text: string): number | undefined => {
  const match = /^(\d+(?:\.\d+)?) ?(ms|s|m|min|h)$/.exec(text.trim())
  const millis = match === null ? 0 : Number(match[1]) * units[match[2] as keyof typeof units]
  return millis > 0 && millis < 2 ** 31 ? millis : undefined
}
