/** Seeded randomness for pure functions. */
import * as Hash from "effect/Hash"

/** Spreads the bits of a hash, so that neighbouring names give unrelated seeds (the finaliser of MurmurHash3). */
const mix = (hash: number): number => {
  let bits = hash
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

/**
 * A seed for a part of something that has a seed: the same parts give the same seed, in 0 to 2^30 - 1, so that a small
 * number can be added to it.
 */
export const derive = (seed: number, ...parts: ReadonlyArray<string | number>): number =>
  mix(Hash.string(`${seed}/${parts.join("/")}`)) & 0x3fffffff

/** Draws numbers from 0 to below 1, the same for the same seed. */
export type Draw = () => number

/** A generator with a state of 32 bits (splitmix32). */
export const draw = (seed: number): Draw => {
  let state = mix(seed)
  return () => {
    state = (state + 0x9e3779b9) | 0
    return mix(state) / 0x1_0000_0000
  }
}

/** The items in a random order. */
export const shuffle = <A>(items: ReadonlyArray<A>, seed: number): ReadonlyArray<A> => {
  const next = draw(seed)
  const shuffled = items.slice()
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(next() * (last + 1))
    const item = shuffled[last]!
    shuffled[last] = shuffled[other]!
    shuffled[other] = item
  }
  return shuffled
}
