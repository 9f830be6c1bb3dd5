/**
 * Seeded randomness for pure functions. The same seed produces the same results on every machine.
 *
 * A seed is a number. Use {@link derive} to obtain separate seeds for separate purposes, and {@link index} or
 * {@link shuffle} to make a single choice. To make many choices, create a random source with {@link draw} and pass it
 * to {@link below}, {@link chance}, {@link pick} or {@link shuffled}. The results for a given seed never change between
 * versions, because published measurements depend on them.
 */
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import * as EffectRandom from "effect/Random"

const hash = (seed: number, parts: ReadonlyArray<string | number>): number => Hash.string(`${seed}/${parts.join("/")}`)

/**
 * Derives a seed from a parent seed and one or more labels. Equal inputs yield equal seeds, in the range 0 to 2^31 - 1.
 */
export const derive = (seed: number, ...parts: ReadonlyArray<string | number>): number => hash(seed, parts) & 0x7fffffff

/** Mixes the bits of a hash, so that similar labels yield unrelated seeds (the MurmurHash3 finalizer). */
const mix = (hash: number): number => {
  let bits = hash
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

/**
 * Like {@link derive}, but similar labels yield unrelated seeds. The range is 0 to 2^30 - 1, which leaves room for
 * adding a small number.
 */
export const spread = (seed: number, ...parts: ReadonlyArray<string | number>): number =>
  mix(hash(seed, parts)) & 0x3fffffff

const seeded = <A>(effect: Effect.Effect<A>, seed: number): A =>
  Effect.runSync(EffectRandom.withSeed(effect, String(seed)))

/** Returns the items in random order. */
export const shuffle = <A>(items: Iterable<A>, seed: number): Array<A> => seeded(EffectRandom.shuffle(items), seed)

/**
 * Returns a random integer from 0 to `size - 1`.
 *
 * @internal
 */
export const index = (size: number, seed: number): number =>
  seeded(EffectRandom.nextIntBetween(0, size, { halfOpen: true }), seed)

/** A source of random numbers. Each call returns the next number in [0, 1). */
export type Draw = () => number

/**
 * Creates a random source with a 32-bit state (splitmix32).
 *
 * **Example**
 *
 * ```ts
 * import { Seed } from "@divisi/core"
 *
 * const draw = Seed.draw(7)
 * Seed.below(draw, 100) // => 7
 * Seed.pick(draw, ["a", "b", "c"]) // => "c"
 * ```
 */
export const draw = (seed: number): Draw => {
  let state = mix(seed)
  return () => {
    state = (state + 0x9e3779b9) | 0
    return mix(state) / 0x1_0000_0000
  }
}

/** Returns a random integer from 0 to `count - 1`. */
export const below = (draw: Draw, count: number): number => Math.floor(draw() * count)

/** Returns `true` with probability `share`. */
export const chance = (draw: Draw, share: number): boolean => draw() < share

/** Returns a random item. The list must not be empty. */
export const pick = <A>(draw: Draw, items: ReadonlyArray<A>): A => items[below(draw, items.length)]!

/** Returns the items in random order. */
export const shuffled = <A>(draw: Draw, items: ReadonlyArray<A>): ReadonlyArray<A> => {
  const order = items.slice()
  for (let last = order.length - 1; last > 0; last--) {
    const other = below(draw, last + 1)
    const item = order[last]!
    order[last] = order[other]!
    order[other] = item
  }
  return order
}
