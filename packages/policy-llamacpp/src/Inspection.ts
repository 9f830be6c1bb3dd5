/**
 * Compares a model's requirements with this machine's capabilities, before loading the model or to diagnose a failure.
 */
import os from "node:os"
import { Options } from "@divisi/core"
import * as Effect from "effect/Effect"
import { attempt } from "./internal/attempt.ts"
import * as Backend from "./internal/backend.ts"
import { inspectionTable } from "./internal/tables.ts"
import * as Weights from "./internal/weights.ts"
import type * as Errors from "./LlamaCppError.ts"
import * as ModelStore from "./ModelStore.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A model's properties according to its file, and its requirements on this machine. Sizes are in bytes. */
export interface Inspection {
  readonly path: string
  readonly name?: string | undefined
  readonly architecture: string
  readonly parameters: number
  /** The storage format of most weights, such as `Q4_K`. */
  readonly quantisation: string
  readonly size: number
  readonly layers: number
  /** The context length used in training, in tokens. */
  readonly trainedContext?: number | undefined
  readonly hasChatTemplate: boolean
  /** The default context for this model. */
  readonly context: { readonly tokens: number; readonly sequences: number }
  /** Estimated memory in bytes, with the layers on the GPU that {@link fits} assumes. */
  readonly needs: { readonly mainMemory: number; readonly gpuMemory: number }
  readonly free: { readonly mainMemory: number; readonly gpuMemory: number }
  readonly gpuLayers: number
  readonly fits: boolean
}

/** The backend for models on this machine, with its problems. */
export interface Diagnosis {
  readonly backend: "cuda" | "vulkan" | "metal" | "processor"
  /** The reason why this backend was chosen. */
  readonly why: string
  readonly devices: ReadonlyArray<string>
  readonly cores: number
  readonly mainMemory: { readonly total: number; readonly free: number }
  readonly gpuMemory: { readonly total: number; readonly free: number }
  /** The llama.cpp release. */
  readonly release: string
  readonly folder: string
  /** Problems and possible speed-ups, one sentence each. */
  readonly missing: ReadonlyArray<string>
}

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

const inspectFile = async (path: string, gpu: Backend.Gpu): Promise<Inspection> => {
  const { llama } = await Backend.shared(gpu, false)
  const { info, insights, size } = await Weights.readHeader(path, { llama, log: [] })
  const { GgmlType } = await import("node-llama-cpp")
  const { architecture, name } = info.metadata.general
  const tokens = Math.min(insights.trainContextSize ?? 8192, 8192)
  const sequences = llama.gpu === false ? 4 : 8
  const [vram, ram] = [await llama.getVramState(), await llama.getRamState()]
  const gpuLayers =
    llama.gpu === false
      ? 0
      : await insights.configurationResolver.resolveModelGpuLayers(
          { fitContext: { contextSize: tokens } },
          {
            ignoreMemorySafetyChecks: true
          }
        )
  const weights = await insights.estimateModelResourceRequirementsV2({ gpuLayers })
  const context = await insights.estimateContextResourceRequirementsV2({
    contextSize: tokens,
    sequences,
    modelGpuLayers: gpuLayers
  })
  const needs = { mainMemory: weights.cpuRam + context.cpuRam, gpuMemory: weights.gpuVram + context.gpuVram }
  const type = insights.dominantTensorType
  return {
    path,
    name,
    architecture: String(architecture),
    parameters: insights.totalParameters,
    quantisation: type === undefined ? "unknown" : (GgmlType[type] ?? String(type)),
    size,
    layers: insights.totalLayers,
    trainedContext: insights.trainContextSize,
    hasChatTemplate: info.metadata.tokenizer?.chat_template !== undefined,
    context: { tokens, sequences },
    needs,
    free: { mainMemory: ram.free, gpuMemory: vram.free },
    gpuLayers,
    fits: needs.mainMemory <= ram.free && needs.gpuMemory <= vram.free
  }
}

/** Reads a model's properties and requirements without loading its weights. A missing model is downloaded. */
export const inspect = Effect.fnUntraced(function* (
  source: string,
  options: ModelStore.Options & { readonly gpu?: Backend.Gpu | undefined } = {}
): Effect.fn.Return<Inspection, Errors.LlamaCppError> {
  Options.check("Inspection.inspect", options, inspectionTable)
  const path = yield* ModelStore.resolve(source, { folder: options.folder, onProgress: options.onProgress })
  return yield* attempt(path, () => inspectFile(path, options.gpu ?? "auto"))
})

// -------------------------------------------------------------------------------------------------------------------
// Machines
// -------------------------------------------------------------------------------------------------------------------

const packageOf = `@node-llama-cpp/${process.platform === "win32" ? "win" : process.platform}-${process.arch}`

const missingOf = (backend: Diagnosis["backend"], notice: string | undefined, free: number): ReadonlyArray<string> => [
  ...(notice === undefined ? [] : [notice]),
  ...(backend === "processor"
    ? [
        `No GPU is used. For an NVIDIA GPU, install its driver and ${packageOf}-cuda; for other GPUs, a Vulkan driver and ${packageOf}-vulkan.`
      ]
    : []),
  ...(free < 2 * 1024 ** 3
    ? ["Less than 2 GiB of main memory is free, so models with a billion parameters do not fit."]
    : [])
]

/**
 * Returns the backend that would run a model on this machine, with the reason and any problems. Fails if llama.cpp does
 * not start.
 */
export const diagnose = (
  options: ModelStore.Options & { readonly gpu?: Backend.Gpu | undefined } = {}
): Effect.Effect<Diagnosis, Errors.LlamaCppError> => {
  Options.check("Inspection.diagnose", options, inspectionTable)
  return Effect.flatMap(ModelStore.folderOf({ folder: options.folder }), (folder) =>
    diagnoseWith(folder, options.gpu ?? "auto")
  )
}

const diagnoseWith = (folder: string, gpu: Backend.Gpu) =>
  attempt("llama.cpp", async (): Promise<Diagnosis> => {
    const { llama, notice } = await Backend.shared(gpu, false)
    const backend = llama.gpu === false ? "processor" : llama.gpu
    const [vram, ram] = [await llama.getVramState(), await llama.getRamState()]
    const why =
      gpu === "none"
        ? "no GPU was requested"
        : notice !== undefined
          ? "the requested backend does not work"
          : backend === "processor"
            ? "no other backend works on this machine"
            : gpu === "auto"
              ? "it is the fastest backend that works on this machine"
              : "it was requested"
    return {
      backend,
      why,
      devices: backend === "processor" ? [os.cpus()[0]?.model.trim() ?? os.arch()] : await llama.getGpuDeviceNames(),
      cores: llama.cpuMathCores,
      mainMemory: { total: ram.total, free: ram.free },
      gpuMemory: { total: vram.total, free: vram.free },
      release: llama.llamaCppRelease.release,
      folder,
      missing: missingOf(backend, notice, ram.free)
    }
  })
