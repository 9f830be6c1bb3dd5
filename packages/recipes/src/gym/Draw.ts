/** A random generator for training examples. The examples of the included model were sampled with it. */
import type { Seed } from "@divisi/core"
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"

/** Returns a random number generator. The same seed and index always give the same numbers. */
export const make = (seed: number, index: number): Seed.Draw => {
  const generator = xoroshiro128plus(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b))
  const draw = () => (generator.next() >>> 0) / 2 ** 32
  for (let warm = 0; warm < 8; warm++) draw()
  return draw
}
