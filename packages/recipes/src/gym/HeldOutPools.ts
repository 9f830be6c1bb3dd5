/**
 * Pools that the gym recipe never trains with, so that it can be measured what the tiny Conductor makes of new ones.
 */
import { Seed } from "@divisi/core"
import * as GymPool from "@divisi/gym/GymPool"
import * as Draw from "./Draw.ts"

const seed = 2026
const sizes = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
const poolsOfSize = 3

/** Draws `count` of the items, in a random order. */
const some = <A>(draw: Seed.Draw, items: ReadonlyArray<A>, count: number): ReadonlyArray<A> => {
  const left = [...items]
  return Array.from({ length: count }, () => left.splice(Seed.below(draw, left.length), 1)[0]!)
}

/**
 * The ids of the workers of 30 pools, no two of the same workers: three of each size from 3 to 12, in order of size.
 */
export const heldOutPools: ReadonlyArray<ReadonlyArray<string>> = sizes.flatMap((size, row) =>
  Array.from({ length: poolsOfSize }, (_, column) =>
    some(
      Draw.make(seed, row * poolsOfSize + column),
      GymPool.profiles.map(({ id }) => id),
      size
    )
  )
)
