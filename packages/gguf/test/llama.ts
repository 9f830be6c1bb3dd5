/** llama.cpp as tests ask it: one thread, no GPU, full precision. */

import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import * as Effect from "effect/Effect"
import { getLlama, LlamaLogLevel, type LlamaModel } from "node-llama-cpp"

/** A place in a folder of its own, which goes when the test ends. */
export const temporaryFile = (name: string) =>
  Effect.acquireRelease(
    Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "tutti-gguf-"))),
    (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
  ).pipe(Effect.map((folder) => path.join(folder, name)))

let llama: ReturnType<typeof getLlama> | undefined

/** The binding, loaded once for all tests of a file. */
export const loadModel = (modelPath: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      llama ??= getLlama({ gpu: false, build: "never", maxThreads: 1, logLevel: LlamaLogLevel.error })
      return (await llama).loadModel({ modelPath, gpuLayers: 0, useMmap: false })
    }),
    (model: LlamaModel) => Effect.promise(() => model.dispose())
  )

/** The logits behind every token. */
export const logitsOf = (modelPath: string, tokens: ReadonlyArray<number>, lora?: string) =>
  Effect.gen(function* () {
    const model = yield* loadModel(modelPath)
    return yield* Effect.promise(async () => {
      const context = await model.createContext({
        contextSize: 256,
        threads: 1,
        flashAttention: false,
        experimentalKvCacheKeyType: "F32",
        experimentalKvCacheValueType: "F32",
        ...(lora === undefined ? {} : { lora: { adapters: [{ filePath: lora }] } })
      })
      const wanted = tokens.map((token) => [token, { generateNext: { logits: true } }] as never)
      const found = await context.getSequence().controlledEvaluate(wanted)
      await context.dispose()
      return found.map((one) =>
        Float32Array.from(
          { length: model.fileInfo === undefined ? 0 : one!.next.logits!.size },
          (_, id) => one!.next.logits!.get(id as never)!
        )
      )
    })
  })

export const largestDifference = (left: ReadonlyArray<Float32Array>, right: ReadonlyArray<Float32Array>): number => {
  let largest = 0
  for (const [place, row] of left.entries()) {
    for (const [index, value] of row.entries()) {
      const difference = Math.abs(value - (right[place]?.[index] ?? NaN))
      if (!(difference <= largest)) largest = difference
    }
  }
  return largest
}
