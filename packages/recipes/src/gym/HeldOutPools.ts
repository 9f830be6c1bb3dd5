/** Pools that are excluded from training in the gym recipe, to measure how the tiny Conductor handles new pools. */
import { Seed } from "@divisi/core"
import * as GymPool from "@divisi/gym/GymPool"
import * as Draw from "./Draw.ts"

const seed = 2026
const sizes = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
const poolsOfSize = 3

/** Samples `count` items in random order. */
const some = <A>(draw: Seed.Draw, items: ReadonlyArray<A>, count: number): ReadonlyArray<A> => {
  const left = [...items]
  return Array.from({ length: count }, () => left.splice(Seed.below(draw, left.length), 1)[0]!)
}

/** The worker ids of 30 distinct pools: three for each size from 3 to 12, ordered by size. */
export const heldOutPools: ReadonlyArray<ReadonlyArray<string>> = sizes.flatMap((size, row) =>
  Array.from({ length: poolsOfSize }, (_, column) =>
    some(
      Draw.make(seed, row * poolsOfSize + column),
      GymPool.profiles.map(({ id }) => id),
      size
    )
  )
)
