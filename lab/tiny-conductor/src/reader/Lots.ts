/** Random sampling. */
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"

export interface Lots {
  readonly chance: (share: number) => boolean
  /** From the least to the most, both of them possible. */
  readonly int: (least: number, most: number) => number
  readonly pick: <A>(items: ReadonlyArray<A>) => A
  /** As many of the items, in any order. */
  readonly some: <A>(items: ReadonlyArray<A>, count: number) => ReadonlyArray<A>
}

/** The same seed gives the same draws. */
export const make = (seed: number): Lots => {
  const generator = xoroshiro128plus(seed)
  const uniform = () => (generator.next() >>> 0) / 2 ** 32
  const int = (least: number, most: number) => least + Math.floor(uniform() * (most - least + 1))
  const pick = <A>(items: ReadonlyArray<A>) => items[int(0, items.length - 1)]!
  const some = <A>(items: ReadonlyArray<A>, count: number) => {
    const left = [...items]
    return Array.from({ length: Math.min(count, items.length) }, () => left.splice(int(0, left.length - 1), 1)[0]!)
  }
  return { chance: (share) => uniform() < share, int, pick, some }
}

/**
 * A word. A share of longer words are changed so that they look like related words: one letter, or the last one or two
 * letters, are removed.
 */
export const blurred = ({ chance, int }: Lots, word: string, share: number): string => {
  if (word.length < 5 || !chance(share)) return word
  if (chance(0.5)) return word.slice(0, word.length - int(1, 2))
  const at = int(0, word.length - 1)
  return word.slice(0, at) + word.slice(at + 1)
}
