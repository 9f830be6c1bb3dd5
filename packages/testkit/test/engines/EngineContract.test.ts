import type { Engine } from "@divisi/trainer/Engine"
import * as ToyEngine from "@divisi/trainer/ToyEngine"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { EngineContract } from "../../src/engines.ts"

const toy = Effect.sync(() => ToyEngine.make({ noise: 0.5, pieces: ["One", "Three"] }))

EngineContract.contract({ name: "ToyEngine", make: toy, tolerance: 1e-9, learningRate: 0.1, describe, it, afterAll })

/** The names of the cases that an engine with a fault does not pass. */
const failing = async (fault: (engine: Engine) => Partial<Engine>): Promise<ReadonlyArray<string>> => {
  const failed: Array<string> = []
  const bodies: Array<readonly [string, () => Promise<void>]> = []
  const close: Array<() => Promise<void>> = []
  EngineContract.contract({
    name: "faulty",
    make: Effect.map(toy, (engine) => ({ ...engine, ...fault(engine) })),
    learningRate: 0.1,
    describe: (_, body) => body(),
    it: (name, body) => bodies.push([name.split(":")[0]!, body]),
    afterAll: (body) => close.push(body)
  })
  for (const [id, body] of bodies) await body().catch(() => failed.push(id))
  for (const body of close) await body()
  return failed
}

describe("EngineContract", () => {
  it("finds gradients that are means instead of sums", async () => {
    const failed = await failing((engine) => ({
      forwardBackward: (data, loss) =>
        engine.forwardBackward(
          data.map((datum) => ({
            ...datum,
            weights: Array.from(datum.completion, (_, token) => (datum.weights?.[token] ?? 1) / data.length)
          })),
          loss
        )
    }))
    assert.includeMembers([...failed], ["gradient/sum", "gradient/accumulate", "loss/crossEntropy"])
  })

  it("finds losses without a clip", async () => {
    const failed = await failing((engine) => ({
      forwardBackward: (data, loss) =>
        engine.forwardBackward(data, loss.type === "clippedRatio" ? { type: "importanceSampling" } : loss)
    }))
    assert.includeMembers([...failed], ["loss/clippedRatio-0.2-0.2", "gradient/clippedRatio-0.2-0.2"])
  })

  it("finds samplers that change with the weights", async () => {
    const failed = await failing((engine) => ({
      sampler: Effect.map(engine.sampler, (sampler) => ({
        ...sampler,
        sample: (request) => Effect.scoped(Effect.flatMap(engine.sampler, (now) => now.sample(request)))
      }))
    }))
    assert.deepStrictEqual(failed, ["sampler/snapshot"])
  })

  it("finds samplers that sharpen", async () => {
    const failed = await failing((engine) => ({
      sampler: Effect.map(engine.sampler, (sampler) => ({
        ...sampler,
        // The likeliest of three, with its true log-probability.
        sample: (request) =>
          Effect.map(sampler.sample({ ...request, count: 3 * (request.count ?? 1) }), (samples) => {
            const sum = ({ logProbs }: { readonly logProbs: ReadonlyArray<number> }) =>
              logProbs.reduce((total, one) => total + one, 0)
            return Array.from(
              { length: request.count ?? 1 },
              (_, index) => samples.slice(3 * index, 3 * index + 3).sort((left, right) => sum(right) - sum(left))[0]!
            )
          })
      }))
    }))
    assert.include(failed, "sampler/distribution")
  })

  it("finds saved states without the optimiser", async () => {
    const failed = await failing((engine) => ({
      load: (saved, folder) =>
        Effect.andThen(engine.load(saved, folder), Effect.asVoid(engine.step({ learningRate: 0 })))
    }))
    assert.includeMembers([...failed], ["save/continues"])
  })
})
