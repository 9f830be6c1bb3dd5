/** Gradients, held to differences of the loss that the forward pass in plain TypeScript gives. */

import type { Datum, Loss } from "@divisi/trainer/Engine"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { valueOf } from "../../src/internal/loss.ts"
import * as Operations from "../../src/internal/operations.ts"
import * as State from "../../src/internal/state.ts"
import { core, distributions, make, tokens } from "../model.ts"

const model = make({ hiddenSize: 16, heads: 4, keyValueHeads: 2, headSize: 6, layers: 2, feedForwardSize: 20 })

const shared = tokens(9, 1)

/** Advantages of both signs, and probabilities before that make some ratios large, some small and some neither. */
const data: ReadonlyArray<Datum> = [
  { prompt: shared, completion: tokens(5, 2) },
  { prompt: shared, completion: tokens(3, 4) },
  { prompt: tokens(2, 6), completion: tokens(4, 7) }
].map(({ completion, prompt }, index) => {
  const { logProbs } = distributions(model, prompt, completion)
  const numbers = (value: (place: number) => number) => completion.map((_, place) => value(place))
  return {
    prompt,
    completion,
    weights: numbers((place) => (place === 1 ? 0 : 0.5 + 0.25 * place)),
    advantages: numbers((place) => ((place + index) % 2 === 0 ? 1.5 : -0.75)),
    logProbs: numbers((place) => logProbs[place]! + [0.05, 0.6, -0.6, -0.05, 0.5][(place + index) % 5]!)
  }
})

const losses: ReadonlyArray<Loss> = [
  { type: "crossEntropy" },
  { type: "importanceSampling" },
  { type: "clippedRatio", low: 0.2, high: 0.3 },
  { type: "clippedRatio", low: 0.2, high: 0.2, entropy: 0.7 },
  { type: "sequenceRatio", low: 0.5, high: 0.5, entropy: 0.1 },
  { type: "sequenceRatio", low: 0.05, high: 0.1 }
]

const lossOf = (loss: Loss, tensors: State.Tensors): number =>
  data.reduce((sum, datum) => {
    const { entropies, logProbs } = distributions({ ...model, tensors }, datum.prompt, datum.completion)
    return sum + valueOf(loss, datum, Float64Array.from(logProbs), Float64Array.from(entropies))
  }, 0)

const gradientOf = (loss: Loss) =>
  Effect.scoped(
    Effect.gen(function* () {
      const inside = yield* core(model)
      yield* Operations.forwardBackward(inside, data, loss)
      return State.named(inside.state.snapshot.layout, inside.state.gradient!)
    })
  )

describe("gradients", () => {
  it.each(losses.map((loss) => [JSON.stringify(loss), loss] as const))("of %s", async (_, loss) => {
    const gradient = await Effect.runPromise(gradientOf(loss))
    assert.deepStrictEqual(Object.keys(gradient), Object.keys(model.tensors))
    for (const [name, { data: slopes }] of Object.entries(gradient)) {
      const norm = Math.hypot(...slopes)
      if (norm < 1e-3) continue
      const { data: weights, shape } = model.tensors[name]!
      // Along the gradient itself, where a wrong number costs most.
      const at = (distance: number) => {
        const moved = weights.map((weight, index) => weight + (distance * slopes[index]!) / norm)
        return lossOf(loss, { ...model.tensors, [name]: { shape, data: moved } })
      }
      const step = 4e-3
      const slope = (at(step) - at(-step)) / (2 * step)
      assert.isBelow(Math.abs(slope - norm) / norm, 0.02, `${name}: ${slope} against ${norm}`)
    }
  })
})
