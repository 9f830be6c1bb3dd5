/** Seeded randomness for pure functions: effect's generator, run where it stands. */
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import * as EffectRandom from "effect/Random"

/** A seed for a part of something that has a seed: the same parts give the same seed, in 0 to 2^31 - 1. */
export const derive = (seed: number, ...parts: ReadonlyArray<string | number>): number =>
  Hash.string(`${seed}/${parts.join("/")}`) & 0x7fffffff

const seeded = <A>(effect: Effect.Effect<A>, seed: number): A =>
  Effect.runSync(EffectRandom.withSeed(effect, String(seed)))

export const shuffle = <A>(items: Iterable<A>, seed: number): Array<A> => seeded(EffectRandom.shuffle(items), seed)

/** An integer from 0 to `size - 1`. */
export const index = (size: number, seed: number): number =>
  seeded(EffectRandom.nextIntBetween(0, size, { halfOpen: true }), seed)
