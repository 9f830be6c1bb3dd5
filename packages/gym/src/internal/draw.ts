/** Seeded draws for generators, on pure-rand. */
import * as Hash from "effect/Hash"
import { uniformInt } from "pure-rand/distribution/uniformInt"
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"

/** A source of random numbers; every draw changes its state. */
export interface Draw {
  /** An integer from `min` to `max`, both included. */
  readonly int: (min: number, max: number) => number
  readonly pick: <A>(items: ReadonlyArray<A>) => A
  /** `count` different items, in a random order; all of them when there are fewer. */
  readonly some: <A>(items: ReadonlyArray<A>, count: number) => Array<A>
  /** True for this share of the draws. */
  readonly chance: (share: number) => boolean
}

/** A seed for a part of something seeded: the same parts give the same seed. */
export const derive = (...parts: ReadonlyArray<string | number>): number => Hash.string(parts.join("/")) | 0

/** Draws from a seed. */
export const make = (seed: number): Draw => {
  const generator = xoroshiro128plus(seed)
  const int = (min: number, max: number) => uniformInt(generator, min, max)
  const some = <A>(items: ReadonlyArray<A>, count: number): Array<A> => {
    const rest = items.slice()
    const taken: Array<A> = []
    while (taken.length < count && rest.length > 0) taken.push(rest.splice(int(0, rest.length - 1), 1)[0]!)
    return taken
  }
  return {
    int,
    pick: (items) => items[int(0, items.length - 1)]!,
    some,
    chance: (share) => int(0, 999_999) < share * 1_000_000
  }
}
