/**
 * Completions of random weights under the grammar, for pools of 1 to 12 and limits of 1 to 8 steps: how many read.
 *
 *     node --conditions=@divisi/source bench/grammar.ts [--completions 10000]
 */

import { WorkflowText } from "@divisi/core"
import { WorkerStream } from "@divisi/core/streams"
import { WorkflowGrammar } from "@divisi/gguf/browser"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as LlamaCppModel from "../src/LlamaCppModel.ts"
import { option, print, tinyModel } from "./tinyModel.ts"

const completions = option("completions", 10_000)
const seeds = option("models", 4)

const program = Effect.gen(function* () {
  const sizes = { hiddenSize: 32, layers: 1, heads: 2, feedForwardSize: 32 }
  const steps: Array<number> = []
  const failures: Array<string> = []
  let cut = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const source = yield* Effect.promise(() => tinyModel({ ...sizes, seed, spread: seed % 2 === 0 ? 3 : 1 }))
    const model = yield* LlamaCppModel.load({
      source,
      gpu: "none",
      contextTokens: 512,
      sequences: 16,
      queueLimit: completions
    })
    const worker = LlamaCppModel.worker(model, { reasoningTokens: 12, temperature: 1, topK: 0, topP: 1 })
    const run = (index: number) =>
      Effect.gen(function* () {
        const rules = {
          poolSize: 1 + (index % 12),
          maxSteps: 1 + (Math.floor(index / 12) % 8),
          access: index % 2 === 0 ? ("binary" as const) : ("fine-grained" as const),
          allowEmpty: index % 3 === 0
        }
        const messages = [{ role: "user" as const, content: `Question ${index}` }]
        // One in four has room to end by itself; the others are cut in all places.
        const maxOutputTokens = index % 4 === 0 ? 400 : 16 + (index % 97)
        const parts = yield* Stream.runCollect(
          WorkerStream.generate(worker, {
            messages,
            maxOutputTokens,
            seed: index,
            format: { type: "workflow", ...rules }
          })
        )
        const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
        const finish = parts.at(-1)
        if (finish?.type === "finish" && finish.reason === "length") cut++
        const span = WorkflowGrammar.span(text)
        const strict = WorkflowText.read(text.slice(span?.start), { ...rules, mode: "strict" })
        const tolerant = WorkflowText.read(text, rules)
        const isSame =
          Result.isSuccess(strict) &&
          Result.isSuccess(tolerant) &&
          JSON.stringify(strict.success.workflow) === JSON.stringify(tolerant.success.workflow)
        if (!isSame) failures.push(text)
        else steps[strict.success.workflow.steps.length] = (steps[strict.success.workflow.steps.length] ?? 0) + 1
      })
    const indices = Array.from({ length: Math.ceil(completions / seeds) }, (_, index) => index + seed * 1_000_003)
    yield* Effect.forEach(indices, run, { concurrency: "unbounded", discard: true })
  }
  const read = steps.reduce((sum, count) => sum + (count ?? 0), 0)
  print({
    completions: read + failures.length,
    read,
    endedAtTheLimit: cut,
    bySteps: steps,
    failures: failures.slice(0, 5)
  })
})

await Effect.runPromise(Effect.scoped(program))
