/** Calculates the cost of engine tokens, and wraps engines so that they charge for them. */
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

/** Returns the cost of a training pass over the data, in USD. */
export const ofLearning = ({ pricing }: Engine, data: ReadonlyArray<Datum>): number =>
  usd(pricing, { trained: tokensOf(data) })

/** Returns the cost of a forward pass over the data, in USD. */
export const ofForward = ({ pricing }: Engine, data: ReadonlyArray<Datum>): number =>
  usd(pricing, { prefill: tokensOf(data) })

/** Returns the cost of sampling the groups, in USD. A prompt shared by a group is charged once. */
export const ofSampling = ({ pricing }: Engine, groups: ReadonlyArray<GroupAdvantages>): number => {
  let [prefill, sampled] = [0, 0]
  for (const { completions } of groups) {
    for (const prompt of new Set(completions.map(({ round }) => round.prompt))) prefill += prompt.length
    for (const { round } of completions) sampled += round.sample.tokens.length
  }
  return usd(pricing, { prefill, sampled })
}

/** Returns an engine that charges for each operation. An engine without prices is returned unchanged. */
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
