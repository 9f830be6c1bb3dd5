/** Tests of whether two policies differ, by the questions that both answered. */
import { uniformInt } from "pure-rand/distribution/uniformInt"
import { mersenne } from "pure-rand/generator/mersenne"
import { binomialTail } from "./distribution.ts"

/**
 * McNemar's exact test. Returns the probability of a split at least as uneven as this one among the questions that
 * exactly one of two policies answers correctly, if both are equally good.
 *
 * **Example**
 *
 * ```ts
 * import * as Statistics from "@divisi/evals/Statistics"
 *
 * Statistics.mcnemar(1, 5) // => 0.21875
 * ```
 */
export const mcnemar = (onlyFirst: number, onlySecond: number): number => {
  const total = onlyFirst + onlySecond
  const few = Math.min(onlyFirst, onlySecond)
  // Beyond a thousand the first term is too small for a double.
  if (total > 1000) return Math.min(1, 2 * binomialTail(few, total, 0.5))
  let term = 0.5 ** total
  let tail = 0
  for (let index = 0; index <= few; index++) {
    tail += term
    term *= (total - index) / (index + 1)
  }
  return Math.min(1, 2 * tail)
}

/** Maximum number of differences for which all combinations of signs are tried instead of random ones. */
const maxExact = 14

/**
 * The sign-flip test. Returns the probability of a mean at least this far from 0 if each difference were equally likely
 * to have the opposite sign. Tries all combinations for up to 14 differences, or the given number of seeded random ones
 * otherwise.
 */
export const signFlip = (
  differences: ReadonlyArray<number>,
  options: { readonly seed?: number | undefined; readonly draws?: number | undefined } = {}
): number => {
  const total = (signs: (index: number) => boolean) =>
    Math.abs(differences.reduce((sum, value, index) => sum + (signs(index) ? value : -value), 0))
  const limit = total(() => true) - 1e-12
  if (differences.length <= maxExact) {
    const combinations = 2 ** differences.length
    let extreme = 0
    for (let bits = 0; bits < combinations; bits++)
      if (total((index) => ((bits >> index) & 1) === 1) >= limit) extreme++
    return extreme / combinations
  }
  const draws = options.draws ?? 10_000
  const random = mersenne(options.seed ?? 0)
  let extreme = 1
  for (let draw = 0; draw < draws; draw++) if (total(() => uniformInt(random, 0, 1) === 1) >= limit) extreme++
  return extreme / (draws + 1)
}
