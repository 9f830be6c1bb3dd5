/** The small model of the tests. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { TinyModel } from "@divisi/gguf"
import { Tokenizer } from "@divisi/gguf/browser"
import * as ChatTemplate from "@divisi/trainer-jax/ChatTemplate"
import type * as JaxEngine from "@divisi/trainer-jax/JaxEngine"
import * as Effect from "effect/Effect"
import type * as Operations from "../src/internal/operations.ts"
import * as State from "../src/internal/state.ts"
import * as Threads from "../src/internal/threads.ts"

export const tokenizer = Tokenizer.train(
  ['0 alpha solves sums\n1 beta writes code\n2 gamma checks\nmodel_id = [0, 1]\nsubtasks = ["a"]\n'],
  { merges: 12, controlTokens: ChatTemplate.linesControlTokens, chatTemplate: ChatTemplate.lines }
)

const sizes = { hiddenSize: 32, layers: 2, heads: 4, feedForwardSize: 48, contextLength: 128, tiedEmbeddings: true }

/** A model whose logits differ much: weights are spread three times as far as usual. */
export const make = (config: Partial<TinyModel.Options> = {}) => {
  const model = TinyModel.random({ architecture: "llama", seed: 5, spread: 3, tokenizer, ...sizes, ...config })
  const options: JaxEngine.Settings & JaxEngine.New = {
    config: model.config,
    tokenizer,
    tensors: model.tensors,
    threads: 1
  }
  return { ...model, options }
}

/** The inside of an engine with one thread, which is replaced when it holds more than so many bytes. */
export const core = Effect.fnUntraced(function* (
  { config, tensors }: Pick<TinyModel.TinyModel, "config" | "tensors">,
  { mostBytes = 1e9 }: { readonly mostBytes?: number | undefined } = {}
) {
  const threads = yield* Threads.make({ count: 1, mostBytes })
  const limits = { bytes: 1e9, tokens: 64, completions: 4 }
  return { state: State.make(config, tensors), threads, limits, tokenizer, name: "test" } satisfies Operations.Parts
})

/** Log-probabilities and entropies of tokens after a prompt, by the forward pass in plain TypeScript. */
export const distributions = (
  model: Pick<TinyModel.TinyModel, "config" | "tensors">,
  prompt: ReadonlyArray<number>,
  completion: ReadonlyArray<number>
) => {
  const rows = TinyModel.forward(model, [...prompt, ...completion]).slice(prompt.length - 1, -1)
  const logs = rows.map((row) => {
    const largest = Math.max(...row)
    const sum = Math.log(row.reduce((total, value) => total + Math.exp(value - largest), 0))
    return Float64Array.from(row, (value) => value - largest - sum)
  })
  return {
    logProbs: logs.map((row, place) => row[completion[place]!]!),
    entropies: logs.map((row) => row.reduce((sum, value) => sum - Math.exp(value) * value, 0))
  }
}

export const difference = (left: ArrayLike<number>, right: ArrayLike<number>): number => {
  let largest = left.length === right.length ? 0 : NaN
  for (let place = 0; place < left.length; place++) largest = Math.max(largest, Math.abs(left[place]! - right[place]!))
  return largest
}

/** Tokens that look random and are always the same. */
export const tokens = (count: number, seed: number): Array<number> =>
  Array.from({ length: count }, (_, place) => ((place + 3) * 7919 + seed * 104_729) % 250)

/** A folder that goes when the test ends. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-jax-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)
