/** The tiny Conductor in plain TypeScript, held to llama.cpp: the same requests, text by text and number by number. */

import { Resilience, Seed } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import { WorkerStream } from "@divisi/core/streams"
import type { Worker, WorkerRequest } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { Model } from "@divisi/gguf"
import { Decoder, Tokenizer } from "@divisi/gguf/browser"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as LlamaCppModel from "@divisi/policy-llamacpp/LlamaCppModel"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TinyConductor from "../src/TinyConductor.ts"

/** A logarithm of a probability may differ by this much from llama.cpp's, which computes in single precision. */
const tolerance = 1e-3

const textOf = (worker: Worker, request: WorkerRequest) =>
  Effect.map(Stream.runCollect(WorkerStream.generate(worker, request)), (parts) =>
    parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
  )

/** A request, and what the model in plain TypeScript wrote. */
interface Asked {
  readonly request: WorkerRequest
  text: string
}

/** Sample requests of runs: half of them with the whole gym, half with parts of it; some with a second round. */
const askedBy = Effect.fnUntraced(function* (worker: Worker, count: number) {
  const asked: Array<Asked> = []
  const recording: Worker = {
    ...worker,
    generate: (request) => {
      const one: Asked = { request, text: "" }
      asked.push(one)
      return Stream.tap(WorkerStream.generate(worker, request), (part) =>
        Effect.sync(() => {
          if (part.type === "text") one.text += part.text
        })
      )
    }
  }
  const gym = GymPool.make({ latencyMillis: 0 })
  const policy = TinyConductor.make(recording)
  for (const [index, task] of Gym.tasks({ split: "test", count, seed: 5 }).entries()) {
    const some = Seed.shuffle(gym.workers, index).slice(0, 3 + (index % 9))
    const pool = index % 2 === 0 ? gym : WorkerPool.makeUnsafe(some)
    yield* Conductor.make({
      policy,
      pool,
      seed: index,
      recursion: index % 5 === 0 ? 1 : 0,
      retry: Resilience.noRetry
    }).run(task)
  }
  assert.isAtLeast(asked.length, count)
  return asked
})

const logProbsOf = (logits: ArrayLike<number>): Float64Array => {
  const values = Float64Array.from(logits)
  const largest = values.reduce((most, value) => Math.max(most, value), -Infinity)
  const sum = values.reduce((total, value) => total + Math.exp(value - largest), 0)
  return values.map((value) => value - largest - Math.log(sum))
}

/** A token as llama.cpp's binding names it. */
type Token = ReturnType<typeof LlamaCppModel.tokenize>[number]

/** How much log-probabilities of tokens differ most, behind each token of an answer, from those of llama.cpp. */
const differenceOf = Effect.fnUntraced(function* (
  decoder: Decoder.Decoder,
  llama: LlamaCppModel.LlamaCppModel["llama"],
  prompt: ReadonlyArray<number>,
  answer: ReadonlyArray<number>
) {
  const all = [...prompt, ...answer] as Array<number> as Array<Token>
  const theirs = yield* Effect.promise(async () => {
    const context = await llama.createContext({
      contextSize: 1024,
      threads: 1,
      flashAttention: false,
      experimentalKvCacheKeyType: "F32",
      experimentalKvCacheValueType: "F32"
    })
    const found = await context
      .getSequence()
      .controlledEvaluate(
        all.map((token, at) => (at < prompt.length - 1 ? token : [token, { generateNext: { logits: true } }]))
      )
    await context.dispose()
    return found.flatMap((one) => (one?.next.logits === undefined ? [] : [one.next.logits]))
  })
  const cache = decoder.cache()
  let largest = 0
  let next: ReadonlyArray<number> = prompt
  for (const logits of theirs) {
    const ours = logProbsOf(decoder.append(cache, next))
    const expected = logProbsOf(ours.map((_, token) => logits.get(token as Token) ?? NaN))
    for (const [token, value] of ours.entries()) {
      const difference = Math.abs(value - expected[token]!)
      if (!(difference <= largest)) largest = difference
    }
    next = [all[cache.tokens.length]!]
  }
  return largest
})

/** Plans for `count` tasks of the gym, and compares log-probabilities for `compared` of them. */
export const hold = Effect.fnUntraced(function* (count: number, compared: number) {
  const model = yield* Model.read(TinyConductor.file)
  const decoder = Decoder.make(model)
  const ours = yield* TinyConductor.worker()
  const { template, ...running } = TinyConductor.llamaCpp
  const loaded = yield* LlamaCppModel.load({ ...running, source: TinyConductor.file, sequences: 2 })
  const theirs = LlamaCppModel.worker(loaded, { template })
  const asked = yield* askedBy(ours, count)
  let largest = 0
  for (const [index, { request, text }] of asked.entries()) {
    assert.strictEqual(text, yield* textOf(theirs, request))
    const prompt = Tokenizer.encode(model.tokenizer, template(request.messages), { controlTokens: true })
    assert.deepStrictEqual(prompt, [...LlamaCppModel.tokenize(loaded, template(request.messages), true)])
    if (index % Math.ceil(count / compared) !== 0) continue
    const answer = Tokenizer.encode(model.tokenizer, text)
    largest = Math.max(largest, yield* differenceOf(decoder, loaded.llama, prompt, answer))
  }
  assert.isBelow(largest, tolerance)
  return { requests: asked.length, largest }
})
