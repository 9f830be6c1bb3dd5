/** Samples tokens by their probabilities. */
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"

/**
 * Mixes the bits of a seed (MurmurHash3's finalizer), because this generator returns similar numbers for similar seeds.
 */
const spread = (seed: number): number => {
  let bits = seed | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return bits ^ (bits >>> 16)
}

/** Number of outputs to discard initially, because the generator's first outputs are of low quality. */
const skipped = 16

/** Returns a generator of 53-bit numbers from 0 (inclusive) to 1 (exclusive). */
export const uniforms = (seed: number): (() => number) => {
  const generator = xoroshiro128plus(spread(seed))
  for (let index = 0; index < skipped; index++) generator.next()
  return () => {
    const high = generator.next() >>> 5
    const low = generator.next() >>> 6
    return (high * 2 ** 26 + low) / 2 ** 53
  }
}

/** Returns the token selected by a number from 0 to 1, with its log-probability. */
export const choose = (logits: Float32Array, number: number): { readonly token: number; readonly logProb: number } => {
  let largest = -Infinity
  for (const logit of logits) if (logit > largest) largest = logit
  const shares = new Float64Array(logits.length)
  let total = 0
  for (let token = 0; token < logits.length; token++) {
    const share = Math.exp(logits[token]! - largest)
    shares[token] = share
    total += share
  }
  let rest = number * total
  let token = 0
  // A remainder from rounding is assigned to the last token with a nonzero probability.
  for (let next = 0; next < shares.length && rest >= 0; next++) {
    if (shares[next] === 0) continue
    token = next
    rest -= shares[next]!
  }
  return { token, logProb: logits[token]! - largest - Math.log(total) }
}
