/** The cost of an engine's tokens, and an engine that charges for them. */
import * as Effect from "effect/Effect"
import type { Datum, Engine, EnginePricing, Sampler } from "../Engine.ts"
import type { GroupAdvantages } from "./grpoBatch.ts"

interface Tokens {
  readonly prefill?: number | undefined
  readonly sampled?: number | undefined
  readonly trained?: number | undefined
}

const usd = (pricing: EnginePricing | undefined, { prefill = 0, sampled = 0, trained = 0 }: Tokens): number =>
  pricing === undefined
    ? 0
    : (prefill * pricing.prefillPerMillion + sampled * pricing.samplePerMillion + trained * pricing.trainPerMillion) /
      1_000_000

const tokensOf = (data: ReadonlyArray<Datum>): number =>
  data.reduce((sum, { completion, prompt }) => sum + prompt.length + completion.length, 0)

/** USD of learning from data. */
export const ofLearning = ({ pricing }: Engine, data: ReadonlyArray<Datum>): number =>
  usd(pricing, { trained: tokensOf(data) })

/** USD of log-probabilities of data. */
export const ofForward = ({ pricing }: Engine, data: ReadonlyArray<Datum>): number =>
  usd(pricing, { prefill: tokensOf(data) })

/** USD of sampling groups. A prompt that a group shares is paid for once. */
export const ofSampling = ({ pricing }: Engine, groups: ReadonlyArray<GroupAdvantages>): number => {
  let [prefill, sampled] = [0, 0]
  for (const { completions } of groups) {
    for (const prompt of new Set(completions.map(({ round }) => round.prompt))) prefill += prompt.length
    for (const { round } of completions) sampled += round.sample.tokens.length
  }
  return usd(pricing, { prefill, sampled })
}

/** An engine that charges for each of its answers. An engine without prices is returned as it is. */
export const metered = (engine: Engine, charge: (costUsd: number) => Effect.Effect<void>): Engine => {
  const { pricing } = engine
  if (pricing === undefined) return engine
  const charged = <A, E>(work: Effect.Effect<A, E>, costUsd: number): Effect.Effect<A, E> =>
    Effect.tap(work, () => charge(costUsd))
  const sampling = ({ sample, version }: Sampler): Sampler => ({
    version,
    sample: (request) =>
      Effect.tap(sample(request), (samples) => {
        const sampled = samples.reduce((sum, { tokens }) => sum + tokens.length, 0)
        return charge(usd(pricing, { prefill: request.prompt.length, sampled }))
      })
  })
  return {
    ...engine,
    sampler: Effect.map(engine.sampler, sampling),
    forward: (data) => charged(engine.forward(data), ofForward(engine, data)),
    forwardBackward: (data, loss) => charged(engine.forwardBackward(data, loss), ofLearning(engine, data))
  }
}
