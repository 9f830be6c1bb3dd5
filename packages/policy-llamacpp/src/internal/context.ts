/** A context: the memory for a model's sequences, with one set of adapters. */

import { defined } from "@divisi/core/Fields"
import * as GgufReader from "@divisi/gguf/GgufReader"
import type { LlamaContext } from "node-llama-cpp"
import * as Errors from "../LlamaCppError.ts"
import { checkFile, type Weights } from "./weights.ts"

/** Data type of cached keys and values. */
export type KeyValueType = "F32" | "F16" | "BF16" | "Q8_0" | "Q5_1" | "Q5_0" | "Q4_1" | "Q4_0"

/** A LoRA adapter in a GGUF file. */
export interface Adapter {
  readonly path: string
  /** Scale applied to the adapter's weights. Default: 1; 0 disables the adapter. */
  readonly scale?: number | undefined
}

/** Options for creating a context. */
export interface ContextOptions {
  /** Number of tokens per sequence, for prompt and completion together. */
  readonly contextTokens: number
  /** Number of concurrent sequences. */
  readonly sequences: number
  /** Number of tokens evaluated per batch. */
  readonly batchTokens?: number | undefined
  readonly threads: number
  readonly flashAttention: boolean | "auto"
  readonly keyValueType: KeyValueType
  readonly adapters: ReadonlyArray<Adapter>
}

const lower = "lower contextTokens or sequences, store keys and values as Q8_0 (keyValueType), or free some memory."

/** llama.cpp stores the number of tokens of all sequences in 31 bits. */
const countable = 2 ** 31 - 1

/**
 * Returns the memory required by a context. If llama.cpp cannot estimate a part, it is extrapolated from the others.
 */
const needsOf = async ({ model }: Weights, options: ContextOptions) => {
  const isCountable = options.contextTokens * options.sequences <= countable
  const contextSize = isCountable ? options.contextTokens : 4096
  const sequences = isCountable ? options.sequences : 1
  const { cpuRam, gpuVram } = await model.fileInsights.estimateContextResourceRequirementsV2(
    defined({
      contextSize,
      sequences,
      modelGpuLayers: model.gpuLayers,
      flashAttention: options.flashAttention,
      // node-llama-cpp's types do not permit undefined options.
      batchSize: options.batchTokens
    })
  )
  const times = (options.contextTokens * options.sequences) / (contextSize * sequences)
  return { cpuRam: cpuRam * times, gpuVram: gpuVram * times }
}

/** Fails with the required and available amounts if a context needs more memory than is free. */
const checkMemory = async (weights: Weights, options: ContextOptions): Promise<void> => {
  const { llama } = weights.backend
  const needs = await needsOf(weights, options)
  const check = (kind: "main memory" | "GPU memory", needed: number, available: number) => {
    if (needed > available) throw Errors.make(weights.path, { _tag: "Memory", kind, needed, available, detail: lower })
  }
  check("main memory", needs.cpuRam, (await llama.getRamState()).free)
  if (llama.gpu !== false) check("GPU memory", needs.gpuVram, (await llama.getVramState()).free)
}

/**
 * Returns the cause of a failure from llama.cpp's log, which is the only source for problems with an adapter or with
 * memory.
 */
const explain = ({ backend: { log }, path }: Weights, { adapters }: ContextOptions, cause: unknown) => {
  const detail =
    log.findLast((line) => /fail|error|lora|invalid|mismatch|does not/i.test(line)) ?? Errors.detailOf(cause)
  const isAdapter = adapters.length > 0 && (/lora|adapter/i.test(log.join("\n")) || /lora/i.test(String(cause)))
  return isAdapter
    ? Errors.make(path, { _tag: "Adapter", adapter: adapters.map((adapter) => adapter.path).join(", "), detail })
    : Errors.make(path, { _tag: "Failed", detail })
}

/** Checks the header of an adapter, because other GGUF files crash some versions of llama.cpp. */
const checkAdapter = async ({ model, path }: Weights, { path: adapter }: Adapter): Promise<void> => {
  const refuse = (detail: string) => Errors.make(path, { _tag: "Adapter", adapter, detail })
  const header = await checkFile(adapter).catch((cause: Errors.LlamaCppError) => {
    const { reason } = cause
    if (reason._tag === "Missing") throw refuse("there is no such file")
    throw refuse("detail" in reason ? `it is not a complete GGUF file: ${reason.detail}` : reason._tag)
  })
  const type = GgufReader.text(header, "general.type")
  const architecture = GgufReader.architecture(header)
  if (type !== "adapter") throw refuse("it is a model, not an adapter")
  if (architecture !== model.architecture)
    throw refuse(`its base is ${architecture}, but this model is ${model.architecture}`)
}

/** Creates a context. */
export const make = async (weights: Weights, options: ContextOptions): Promise<LlamaContext> => {
  for (const adapter of options.adapters) await checkAdapter(weights, adapter)
  await checkMemory(weights, options)
  weights.backend.log.length = 0
  try {
    return await weights.model.createContext(
      defined({
        contextSize: options.contextTokens,
        sequences: options.sequences,
        threads: options.threads,
        flashAttention: options.flashAttention,
        experimentalKvCacheKeyType: options.keyValueType,
        experimentalKvCacheValueType: options.keyValueType,
        failedCreationRemedy: false,
        batchSize: options.batchTokens,
        lora:
          options.adapters.length === 0
            ? undefined
            : { adapters: options.adapters.map(({ path: filePath, scale = 1 }) => ({ filePath, scale })) }
      })
    )
  } catch (cause) {
    throw explain(weights, options, cause)
  }
}
