/** Seeded random numbers for generators, based on pure-rand. */
import * as Hash from "effect/Hash"
import { uniformInt } from "pure-rand/distribution/uniformInt"
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"

/** A stateful source of random values. Every call advances its state. */
export interface Draw {
  /** Returns an integer from `min` to `max`, inclusive. */
  readonly int: (min: number, max: number) => number
  readonly pick: <A>(items: ReadonlyArray<A>) => A
  /** Returns `count` distinct items in random order, or all items if there are fewer. */
  readonly some: <A>(items: ReadonlyArray<A>, count: number) => Array<A>
  /** Returns `true` with probability `share`. */
  readonly chance: (share: number) => boolean
}

/** Derives a seed from its arguments. Equal arguments produce equal seeds. */
export const derive = (...parts: ReadonlyArray<string | number>): number => Hash.string(parts.join("/")) | 0

/** Creates a source from a seed. */
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
