/** A seeded source of chance, for pairs that can be made again. */

/** Draws numbers, items and orders. */
export interface Random {
  /** A whole number from `least` to `most`. */
  readonly whole: (least: number, most: number) => number
  /** A whole number from `-most` to `most` that is not 0. */
  readonly signed: (most: number) => number
  readonly pick: <A>(items: ReadonlyArray<A>) => A
  readonly shuffle: <A>(items: ReadonlyArray<A>) => ReadonlyArray<A>
  /** So many different whole numbers in a range, from small to great. */
  readonly distinct: (count: number, least: number, most: number) => ReadonlyArray<number>
}

/** Marsaglia's xorshift on 32 bits, started by a multiplicative hash of the seed. */
export const make = (seed: number): Random => {
  let state = (Math.imul(seed + 1, 2654435761) ^ 0x9e3779b9) >>> 0 || 1
  const next = () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 4294967296
  }
  for (let round = 0; round < 8; round++) next()
  const whole = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  const shuffle = <A>(items: ReadonlyArray<A>): ReadonlyArray<A> => {
    const left = [...items]
    return items.map(() => left.splice(whole(0, left.length - 1), 1)[0]!)
  }
  return {
    whole,
    signed: (most) => (next() < 0.5 ? -1 : 1) * whole(1, most),
    pick: (items) => items[whole(0, items.length - 1)]!,
    shuffle,
    distinct: (count, least, most) => {
      const found = new Set<number>()
      while (found.size < count) found.add(whole(least, most))
      return [...found].sort((a, b) => a - b)
    }
  }
}
