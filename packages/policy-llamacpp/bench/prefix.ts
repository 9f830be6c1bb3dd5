/**
 * The savings of a warm prefix: tokens evaluated, and the time to the first token, of the first run and of the second.
 *
 *     node --conditions=@divisi/source bench/prefix.ts [--model path.gguf]
 */

import { Prompt } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import { WorkerStream } from "@divisi/core/streams"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as LlamaCppModel from "../src/LlamaCppModel.ts"
import { print, tinyModel } from "./tinyModel.ts"

const pool = WorkerPool.makeUnsafe(["a", "b", "c", "d", "e", "f", "g"].map((id) => ScriptedWorker.echo(id)))

const program = Effect.gen(function* () {
  const at = process.argv.indexOf("--model")
  const source = at < 0 ? yield* Effect.promise(() => tinyModel({ contextLength: 16_384 })) : process.argv[at + 1]!
  const model = yield* LlamaCppModel.load({ source, contextTokens: 16_384, sequences: 4 })
  const worker = LlamaCppModel.worker(model)
  const run = (question: string) =>
    Effect.gen(function* () {
      const before = LlamaCppModel.meter(model)
      const startedAt = performance.now()
      let firstAt = 0
      const messages = Prompt.conductorMessages({ task: Task.make(question), pool, maxSteps: 5, self: false })
      yield* Stream.runForEach(WorkerStream.generate(worker, { messages, maxOutputTokens: 8, seed: 1 }), () =>
        Effect.sync(() => {
          if (firstAt === 0) firstAt = performance.now()
        })
      )
      const after = LlamaCppModel.meter(model)
      return {
        evaluatedTokens: after.evaluatedTokens - before.evaluatedTokens,
        reusedTokens: after.reusedTokens - before.reusedTokens,
        firstTokenMillis: Number((firstAt - startedAt).toFixed(1))
      }
    })
  const first = yield* run("How many primes are there below 100?")
  const second = yield* run("Who wrote Faust, and when?")
  const atOnce = yield* Effect.forEach(["Why?", "How?", "When?"], run, { concurrency: "unbounded" })
  print({ model: model.name, first, second, threeAtOnce: atOnce.at(-1) })
})

await Effect.runPromise(Effect.scoped(program))
