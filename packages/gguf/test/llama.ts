/** llama.cpp as tests ask it: one thread, no GPU, full precision. */
import * as Effect from "effect/Effect"
import { getLlama, LlamaLogLevel, type LlamaModel, type Token } from "node-llama-cpp"

let llama: ReturnType<typeof getLlama> | undefined

/** A loaded model; the binding itself is loaded once for all tests of a file. */
export const loadModel = (modelPath: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      llama ??= getLlama({ gpu: false, build: "never", maxThreads: 1, logLevel: LlamaLogLevel.error })
      return (await llama).loadModel({ modelPath, gpuLayers: 0, useMmap: false })
    }),
    (model: LlamaModel) => Effect.promise(() => model.dispose())
  )

/** The logits behind every token, with an adapter where one is given. */
export const logitsOf = (modelPath: string, tokens: ReadonlyArray<number>, adapter?: string) =>
  Effect.gen(function* () {
    const model = yield* loadModel(modelPath)
    return yield* Effect.promise(async () => {
      const context = await model.createContext({
        contextSize: 256,
        threads: 1,
        flashAttention: false,
        experimentalKvCacheKeyType: "F32",
        experimentalKvCacheValueType: "F32",
        ...(adapter === undefined ? {} : { lora: { adapters: [{ filePath: adapter }] } })
      })
      const wanted = tokens.map((token) => [token as Token, { generateNext: { logits: true } }] as const)
      const found = await context.getSequence().controlledEvaluate(wanted.map(([token, options]) => [token, options]))
      await context.dispose()
      return found.map((one) => {
        const logits = one?.next.logits ?? new Map<Token, number>()
        return Float32Array.from({ length: logits.size }, (_, id) => logits.get(id as Token) ?? NaN)
      })
    })
  })

/** The largest difference of two sets of logits; NaN where one of them lacks a number. */
export const largestDifference = (left: ReadonlyArray<Float32Array>, right: ReadonlyArray<Float32Array>): number => {
  let largest = left.length === right.length ? 0 : NaN
  for (const [place, row] of left.entries()) {
    for (const [index, value] of row.entries()) {
      const difference = Math.abs(value - (right[place]?.[index] ?? NaN))
      if (!(difference <= largest)) largest = difference
    }
  }
  return largest
}
