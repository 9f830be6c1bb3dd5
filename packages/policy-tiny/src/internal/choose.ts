/** Chooses the next token from logits, which are overwritten. */
import type { Seed } from "@divisi/core"

/** Settings for choosing tokens. */
export interface Sampling {
  /** Sampling temperature; 0 selects the most likely token. */
  readonly temperature: number
  readonly draw: Seed.Draw
}

const likeliest = (logits: Float32Array): number => {
  let best = 0
  for (let token = 1; token < logits.length; token++) if (logits[token]! > logits[best]!) best = token
  return best
}

/** Samples a token by its probability. */
const drawn = (logits: Float32Array, { draw, temperature }: Sampling): number => {
  const largest = logits[likeliest(logits)]!
  let sum = 0
  for (let token = 0; token < logits.length; token++) {
    sum += Math.exp((logits[token]! - largest) / temperature)
    logits[token] = sum
  }
  const target = draw() * sum
  for (let token = 0; token < logits.length; token++) if (logits[token]! > target) return token
  return logits.length - 1
}

/** Returns the next token among those allowed; `undefined` if none is allowed. */
export const choose = (
  logits: Float32Array,
  sampling: Sampling,
  isAllowed: (token: number) => boolean
): number | undefined => {
  if (sampling.temperature === 0) {
    for (let tries = 0; tries < logits.length; tries++) {
      const token = likeliest(logits)
      if (isAllowed(token)) return token
      logits[token] = -Infinity
    }
    return undefined
  }
  let allowed = 0
  for (let token = 0; token < logits.length; token++) {
    if (isAllowed(token)) allowed++
    else logits[token] = -Infinity
  }
  return allowed === 0 ? undefined : drawn(logits, sampling)
}
