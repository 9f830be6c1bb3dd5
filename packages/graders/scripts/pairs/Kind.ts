/** What a kind of pairs is: a gold answer, other ways to write it, and near answers that are wrong. */
import type { Random } from "./Random.ts"

/** One gold answer with what is right and what is wrong for it, true by the way it is made. */
export interface Draw {
  readonly gold: string
  readonly right: ReadonlyArray<string>
  readonly wrong: ReadonlyArray<string>
  /** Whole texts, to be graded as they stand; the others are dressed. */
  readonly isText?: boolean | undefined
}

/** Kinds by their names. */
export type Kinds = Readonly<Record<string, (random: Random) => Draw>>

export const gcd = (a: number, b: number): number => (b === 0 ? Math.abs(a) : gcd(b, a % b))

export const frac = (top: number, bottom: number): string =>
  top < 0 ? `-\\frac{${-top}}{${bottom}}` : `\\frac{${top}}{${bottom}}`

/** Digits in groups of three. */
export const grouped = (value: number, mark: string): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, mark)

/** `+ 3`, `- 3`, or nothing for 0. */
export const plus = (value: number, of = ""): string => {
  if (value === 0) return ""
  const size = Math.abs(value)
  return ` ${value < 0 ? "-" : "+"} ${size === 1 && of !== "" ? "" : size}${of}`
}

/** A multiple of a name: `3x`, `-x`. */
export const times = (value: number, of: string): string =>
  value === 1 ? of : value === -1 ? `-${of}` : `${value}${of}`

/** `x + 3`. */
export const shifted = (value: number, of = "x"): string => `${of}${plus(value)}`
