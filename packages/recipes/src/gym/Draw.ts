/** Random choices for examples, the same for the same seed and place. */
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"

/** A source of random choices. */
export interface Draw {
  /** A whole number from 0 to below `count`. */
  readonly below: (count: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(items: ReadonlyArray<A>) => A
}

/** Choices for a place of a source. */
export const make = (seed: number, index: number): Draw => {
  const generator = xoroshiro128plus(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b))
  const uniform = () => (generator.next() >>> 0) / 2 ** 32
  for (let warm = 0; warm < 8; warm++) uniform()
  const below = (count: number) => Math.floor(uniform() * count)
  return {
    below,
    chance: (probability) => uniform() < probability,
    pick: (items) => items[below(items.length)]!
  }
}
