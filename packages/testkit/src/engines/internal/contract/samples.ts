/** Cases for the output of samplers and for rejected input. */

import * as fs from "node:fs"
import * as path from "node:path"
import type {
  Engine,
  EngineError,
  ExportFormat,
  LossName,
  Sample,
  SampleRequest,
  Sampler
} from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import { type Case, expect, expectAllNear, expectFailure } from "./subject.ts"

const withSampler = <A, E>(engine: Engine, use: (sampler: Sampler) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(engine.sampler, use))

const sample = (engine: Engine, request: SampleRequest) => withSampler(engine, (sampler) => sampler.sample(request))

const same = (left: ReadonlyArray<Sample>, right: ReadonlyArray<Sample>) =>
  JSON.stringify(left.map(({ tokens }) => tokens)) === JSON.stringify(right.map(({ tokens }) => tokens))

const maxTokens = 12

const samples: ReadonlyArray<Case> = [
  {
    id: "sampler/form",
    name: "gives as many completions as asked for, each with its end or as long as allowed",
    run: Effect.fnUntraced(function* ({ data: [{ prompt }], engine }) {
      const given = yield* sample(engine, { prompt, maxTokens, count: 5, seed: 11 })
      expect(given.length === 5, `${given.length} completions came back of 5`)
      for (const { logProbs, reason, tokens } of given) {
        expect(tokens.length > 0 && tokens.length <= maxTokens, `a completion has ${tokens.length} tokens`)
        expect(logProbs.length === tokens.length, `${logProbs.length} log-probabilities of ${tokens.length} tokens`)
        const ends = tokens.flatMap((token, index) => (token === engine.tokenizer.endToken ? [index] : []))
        const expected = reason === "stop" ? [tokens.length - 1] : []
        expect(ends.join() === expected.join(), `a completion that ended by ${reason} has ends at [${ends}]`)
        expect(reason === "stop" || tokens.length === maxTokens, "a completion ended by length before the limit")
      }
    })
  },
  {
    id: "sampler/agrees",
    name: "tells the log-probabilities that forward finds",
    run: Effect.fnUntraced(function* ({ data: [{ prompt }], engine, tolerance }) {
      const given = yield* sample(engine, { prompt, maxTokens, count: 8, seed: 3 })
      const pass = yield* engine.forward(given.map(({ tokens }) => ({ prompt, completion: tokens })))
      given.forEach(({ logProbs }, index) => {
        expectAllNear(`completion ${index}`, logProbs, pass.logProbs[index]!, tolerance)
      })
    })
  },
  {
    id: "sampler/seeds",
    name: "gives the same for the same seed, and completion i what seed + i gives",
    run: Effect.fnUntraced(function* ({ data: [{ prompt }], engine }) {
      const three = yield* sample(engine, { prompt, maxTokens, count: 3, seed: 5 })
      const again = yield* sample(engine, { prompt, maxTokens, count: 3, seed: 5 })
      expect(same(three, again), "the same seed gave other completions")
      for (const [index, one] of three.entries()) {
        const alone = yield* sample(engine, { prompt, maxTokens, seed: 5 + index })
        expect(same([one], alone), `completion ${index} of seed 5 is not that of seed ${5 + index}`)
      }
    })
  },
  {
    id: "sampler/varied",
    name: "gives other completions for other seeds",
    run: Effect.fnUntraced(function* ({ data: [{ prompt }], engine }) {
      const given = yield* sample(engine, { prompt, maxTokens, count: 16, seed: 100 })
      const different = new Set(given.map(({ tokens }) => tokens.join())).size
      expect(different > 1, "16 seeds gave one and the same completion")
    })
  },
  {
    id: "sampler/distribution",
    name: "samples at a temperature of 1, from all tokens",
    run: Effect.fnUntraced(function* ({ data: [datum], engine }) {
      const { entropies } = yield* engine.forward([datum])
      if (entropies === undefined) return
      const given = yield* sample(engine, { prompt: datum.prompt, maxTokens: 1, count: 256, seed: 1000 })
      const surprisals = given.map(({ logProbs }) => -logProbs[0]!)
      const mean = surprisals.reduce((sum, one) => sum + one, 0) / surprisals.length
      const variance = surprisals.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (surprisals.length - 1)
      const error = Math.sqrt(variance / surprisals.length)
      // The mean surprisal of sampled tokens equals the entropy, here within five standard errors.
      const entropy = entropies[0]![0]!
      expect(
        Math.abs(mean - entropy) <= 5 * error + 1e-3,
        `the mean surprisal of 256 tokens is ${mean}, and the entropy is ${entropy}: is something cut or sharpened?`
      )
    })
  },
  {
    id: "sampler/snapshot",
    name: "keeps a sampler as it was when weights change",
    run: Effect.fnUntraced(function* ({ data, engine, learningRate }) {
      const [{ prompt }] = data
      const request = { prompt, maxTokens, count: 4, seed: 21 }
      yield* withSampler(
        engine,
        Effect.fnUntraced(function* (sampler: Sampler): Effect.fn.Return<void, EngineError> {
          const before = yield* sampler.sample(request)
          for (let step = 0; step < 5; step++) {
            yield* engine.forwardBackward(data, { type: "crossEntropy" })
            yield* engine.step({ learningRate })
          }
          expect(same(yield* sampler.sample(request), before), "the same sampler gives other completions after steps")
          const fresh = yield* Effect.scoped(engine.sampler)
          expect(fresh.version === sampler.version + 5, `a new sampler has version ${fresh.version}`)
        })
      )
    })
  },
  {
    id: "sampler/together",
    name: "samples several requests at once, each as if it were alone",
    run: Effect.fnUntraced(function* ({ data, engine }) {
      const requests = data.map(({ prompt }, index) => ({ prompt, maxTokens, count: 2, seed: 50 + index }))
      const alone = yield* Effect.forEach(requests, (request) => sample(engine, request))
      const together = yield* withSampler(engine, (sampler) =>
        Effect.forEach(requests, (request) => sampler.sample(request), { concurrency: "unbounded" })
      )
      alone.forEach((one, index) => {
        expect(same(one, together[index]!), `request ${index} gave other completions among others than alone`)
      })
    })
  }
]

const lossNames: ReadonlyArray<LossName> = ["crossEntropy", "importanceSampling", "clippedRatio", "sequenceRatio"]
const formats: ReadonlyArray<ExportFormat> = ["gguf", "gguf-lora", "peft"]

const refusals: ReadonlyArray<Case> = [
  {
    id: "refuses/empty",
    name: "refuses a completion without tokens",
    run: ({ data: [{ prompt }], engine }) =>
      expectFailure("no tokens", engine.forward([{ prompt, completion: [] }]), "InvalidRequest")
  },
  {
    id: "refuses/lengths",
    name: "refuses arrays of unequal length",
    run: Effect.fnUntraced(function* ({ data: [datum], engine }) {
      for (const name of ["weights", "advantages", "logProbs"] as const) {
        const broken = { ...datum, [name]: [1] }
        const pass = engine.forwardBackward([broken], { type: "clippedRatio", low: 0.2, high: 0.2 })
        yield* expectFailure(`one of the ${name}`, pass, "InvalidRequest")
      }
    })
  },
  {
    id: "refuses/missing",
    name: "refuses data that lack what a loss needs",
    run: Effect.fnUntraced(function* ({ data: [{ advantages, completion, logProbs, prompt }], engine }) {
      if (!engine.capabilities.losses.includes("importanceSampling")) return
      const loss = { type: "importanceSampling" } as const
      const without = { prompt, completion }
      yield* expectFailure(
        "no advantages",
        engine.forwardBackward([{ ...without, logProbs: logProbs! }], loss),
        "InvalidRequest"
      )
      yield* expectFailure(
        "no log-probabilities",
        engine.forwardBackward([{ ...without, advantages: advantages! }], loss),
        "InvalidRequest"
      )
    })
  },
  {
    id: "refuses/losses",
    name: "refuses losses that it does not have",
    run: ({ data, engine }) =>
      Effect.forEach(
        lossNames.filter((name) => !engine.capabilities.losses.includes(name)),
        (type) => {
          const loss = type === "clippedRatio" || type === "sequenceRatio" ? { type, low: 0.2, high: 0.2 } : { type }
          return expectFailure(type, engine.forwardBackward(data, loss), "InvalidRequest")
        },
        { discard: true }
      )
  },
  {
    id: "refuses/long",
    name: "refuses more tokens than its context holds",
    run: Effect.fnUntraced(function* ({ data: [{ completion, prompt }], engine }) {
      const { contextTokens } = engine.capabilities
      const long = Array.from({ length: contextTokens }, (_, index) => prompt[index % prompt.length]!)
      yield* expectFailure("a pass", engine.forward([{ prompt: long, completion }]), "TooLarge", "InvalidRequest")
      yield* expectFailure(
        "a sample",
        sample(engine, { prompt: long, maxTokens: 4, seed: 1 }),
        "TooLarge",
        "InvalidRequest"
      )
    })
  },
  {
    id: "refuses/lost",
    name: "says so when a saved state is not there",
    run: ({ engine, folder }) =>
      expectFailure("a lost state", engine.load({ reference: "lost", version: 1 }, folder), "Expired")
  },
  {
    id: "export/formats",
    name: "exports in the formats that it names, and refuses others",
    run: Effect.fnUntraced(function* ({ engine, folder }) {
      for (const format of formats) {
        const target = path.join(folder, `exported-${format}`)
        if (engine.capabilities.exports.includes(format)) {
          yield* engine.export(format, target)
          expect(fs.existsSync(target), `nothing was written as ${format}`)
        } else yield* expectFailure(format, engine.export(format, target), "InvalidRequest")
      }
    })
  }
]

/** All cases for sampler output and rejected input. */
export const sampling: ReadonlyArray<Case> = [...samples, ...refusals]
