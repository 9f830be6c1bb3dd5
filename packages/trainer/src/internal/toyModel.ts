/** Model of the toy engine: a table of logits with gradients, optimizer and sampling. */

import { Seed } from "@divisi/core"
import * as AdamW from "../AdamW.ts"
import type { OptimizerSettings, Sample } from "../Engine.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Model settings. */
export interface Settings {
  /** Number of tokens in the vocabulary. */
  readonly size: number
  /** Token that ends a completion. */
  readonly endToken: number
  /** Number of preceding tokens that determine the next token. */
  readonly order: number
  /** Standard deviation of the initial logits. */
  readonly noise: number
  readonly seed: number
}

/** Table row: its logits, with the gradient and optimizer moments of each. */
export interface Row {
  readonly logits: Float64Array
  readonly first: Float64Array
  readonly second: Float64Array
  gradient: Float64Array | undefined
}

type Table = Map<string, Row>

// -------------------------------------------------------------------------------------------------------------------
// The model
// -------------------------------------------------------------------------------------------------------------------

/** Returns the keys of the rows that determine the next token. */
export const keysAt = (promptKey: string, completion: ReadonlyArray<number>, token: number, order: number) => {
  const last = completion.slice(Math.max(0, token - order), token).join(",")
  return [last, `${promptKey}|${last}`] as const
}

/** Distribution of the next token. */
export interface Distribution {
  readonly probabilities: Float64Array
  /** Natural logarithms of the probabilities. */
  readonly logProbs: Float64Array
  readonly entropy: number
}

/** Table of logits with gradients and optimizer state. */
export class Model {
  readonly settings: Settings
  table: Table = new Map()
  step = 0

  constructor(settings: Settings) {
    this.settings = settings
  }

  private fresh(key: string): Float64Array {
    const logits = new Float64Array(this.settings.size)
    if (this.settings.noise === 0) return logits
    const next = Seed.draw(Seed.spread(this.settings.seed, key))
    // The sum of three uniform numbers approximates a normal distribution with standard deviation 1/2.
    return logits.map(() => this.settings.noise * 2 * (next() + next() + next() - 1.5))
  }

  row(key: string): Row {
    const known = this.table.get(key)
    if (known !== undefined) return known
    const row: Row = {
      logits: this.fresh(key),
      first: new Float64Array(this.settings.size),
      second: new Float64Array(this.settings.size),
      gradient: undefined
    }
    this.table.set(key, row)
    return row
  }

  distribution(keys: ReadonlyArray<string>): Distribution {
    const rows = keys.map(
      (key) => this.table.get(key)?.logits ?? (this.settings.noise === 0 ? undefined : this.fresh(key))
    )
    const logProbs = new Float64Array(this.settings.size)
    for (const logits of rows) {
      if (logits !== undefined)
        for (let token = 0; token < this.settings.size; token++) logProbs[token]! += logits[token]!
    }
    let highest = Number.NEGATIVE_INFINITY
    for (const logit of logProbs) highest = Math.max(highest, logit)
    let sum = 0
    for (const logit of logProbs) sum += Math.exp(logit - highest)
    const normaliser = highest + Math.log(sum)
    const probabilities = new Float64Array(this.settings.size)
    let entropy = 0
    for (let token = 0; token < this.settings.size; token++) {
      logProbs[token]! -= normaliser
      probabilities[token] = Math.exp(logProbs[token]!)
      entropy -= probabilities[token]! * logProbs[token]!
    }
    return { probabilities, logProbs, entropy }
  }

  /**
   * Adds to the gradients of a token's rows: `slope` is the derivative with respect to the log-probability,
   * `entropySlope` with respect to the entropy.
   */
  learn(keys: ReadonlyArray<string>, token: number, of: Distribution, slope: number, entropySlope: number): void {
    if (slope === 0 && entropySlope === 0) return
    const gradients = keys.map((key) => {
      const row = this.row(key)
      row.gradient ??= new Float64Array(this.settings.size)
      return row.gradient
    })
    for (let other = 0; other < this.settings.size; other++) {
      const probability = of.probabilities[other]!
      const change =
        slope * ((other === token ? 1 : 0) - probability) -
        entropySlope * probability * (of.logProbs[other]! + of.entropy)
      for (const gradient of gradients) gradient[other]! += change
    }
  }

  /** Returns a copy that later steps do not change. */
  frozen(): Model {
    const copy = new Model(this.settings)
    copy.step = this.step
    copy.table = new Map(
      [...this.table].map(([key, row]) => [key, { ...row, logits: row.logits.slice(), gradient: undefined }])
    )
    return copy
  }
}

/** Performs one AdamW step over all rows. */
export const adamW = (model: Model, settings: OptimizerSettings): { readonly gradientNorm: number } => {
  model.step += 1
  const rows = [...model.table.values()]
  const done = AdamW.update(
    rows.map(({ logits, ...row }) => ({ ...row, weights: logits })),
    model.step,
    settings
  )
  for (const row of rows) row.gradient = undefined
  return done
}

// -------------------------------------------------------------------------------------------------------------------
// Sampling
// -------------------------------------------------------------------------------------------------------------------

/** Samples one completion. */
export const sample = (model: Model, prompt: string, maxTokens: number, seed: number): Sample => {
  const next = Seed.draw(seed)
  const tokens: Array<number> = []
  const logProbs: Array<number> = []
  while (tokens.length < maxTokens) {
    const { logProbs: all, probabilities } = model.distribution(
      keysAt(prompt, tokens, tokens.length, model.settings.order)
    )
    let left = next()
    let token = 0
    while (token < model.settings.size - 1 && left >= probabilities[token]!) {
      left -= probabilities[token]!
      token++
    }
    tokens.push(token)
    logProbs.push(all[token]!)
    if (token === model.settings.endToken) return { tokens, logProbs, reason: "stop" }
  }
  return { tokens, logProbs, reason: "length" }
}
