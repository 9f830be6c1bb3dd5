/** `divisi models`: manages local models. */
import type { Inspection, LlamaCppError } from "@divisi/policy-llamacpp"
import * as Effect from "effect/Effect"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as LocalModels from "../vendors/LocalModels.ts"
import { table, toLeft } from "../view/Table.ts"

const print = (text: string) => Effect.sync(() => void stdout.write(`${text}\n`))

const orFail = <A>(effect: Effect.Effect<A, LlamaCppError.LlamaCppError>): Effect.Effect<A, Failure> =>
  Effect.mapError(effect, ({ message, reason }) =>
    reason._tag === "Reference" || reason._tag === "Missing" ? usage(message) : failed(message)
  )

/** Lists installed models, and the known models that can be downloaded. */
export const list = Effect.fnUntraced(function* (input: { readonly json: boolean }): Effect.fn.Return<void, Failure> {
  const { knownModels, LlamaCppError, ModelStore } = yield* LocalModels.loaded
  const stored = yield* orFail(ModelStore.list())
  const others = knownModels.filter(({ name }) => !stored.some((model) => model.name === name))
  if (input.json) {
    const lines = [
      ...stored.map((model) => ({ ...model, state: model.isComplete ? "here" : "partial" })),
      ...others.map((model) => ({ ...model, state: "known" }))
    ]
    return yield* print(lines.map((line) => JSON.stringify(line)).join("\n"))
  }
  const here = stored.map((model) => [
    model.name,
    LlamaCppError.formatBytes(model.size),
    model.isComplete ? "here" : "incomplete; download it again to resume",
    ""
  ])
  const known = others.map((model) => [model.name, `${model.gigabytes} GB`, "can be downloaded", model.licence])
  yield* print(
    `${table([["model", "size", "", "license"], ...here, ...known], toLeft)}\n\nFolder: ${yield* ModelStore.folderOf()}`
  )
})

/** Downloads a model. */
export const download = Effect.fnUntraced(function* (model: string): Effect.fn.Return<void, Failure> {
  const { ModelStore } = yield* LocalModels.loaded
  yield* print(yield* orFail(ModelStore.resolve(model, LocalModels.downloading())))
})

/** Removes a model. */
export const remove = Effect.fnUntraced(function* (model: string): Effect.fn.Return<void, Failure> {
  const { LlamaCppError, ModelStore } = yield* LocalModels.loaded
  const size = yield* orFail(ModelStore.remove(model))
  yield* print(`Removed ${model} and freed ${LlamaCppError.formatBytes(size)}.`)
})

const describe = (
  inspection: Inspection.Inspection,
  formatBytes: (bytes: number) => string
): ReadonlyArray<readonly [string, string]> => {
  const { context, free, needs } = inspection
  const memory = (needed: number, available: number) => `${formatBytes(needed)} of ${formatBytes(available)} free`
  return [
    ["file", inspection.path],
    ["name", inspection.name ?? "–"],
    ["architecture", inspection.architecture],
    ["weights", `${(inspection.parameters / 1e9).toPrecision(2)} billion, mostly ${inspection.quantisation}`],
    ["size", formatBytes(inspection.size)],
    ["trained context", inspection.trainedContext === undefined ? "–" : `${inspection.trainedContext} tokens`],
    ["chat template", inspection.hasChatTemplate ? "yes" : "no; it receives plain text"],
    ["parallel runs", `${context.sequences} of ${context.tokens} tokens each`],
    ["layers on the GPU", `${inspection.gpuLayers} of ${inspection.layers}`],
    ["main memory", memory(needs.mainMemory, free.mainMemory)],
    ...(needs.gpuMemory > 0 ? [["GPU memory", memory(needs.gpuMemory, free.gpuMemory)] as const] : []),
    ["fits", inspection.fits ? "yes" : "no; lower contextTokens or sequences, or choose a smaller quantisation"]
  ]
}

/** Prints a model's properties and requirements. */
export const inspect = Effect.fnUntraced(function* (
  model: string,
  input: { readonly json: boolean }
): Effect.fn.Return<void, Failure> {
  const { Inspection, LlamaCppError } = yield* LocalModels.loaded
  const inspection = yield* orFail(Inspection.inspect(model, LocalModels.downloading()))
  if (input.json) return yield* print(JSON.stringify(inspection))
  yield* print(table(describe(inspection, LlamaCppError.formatBytes), toLeft))
})
