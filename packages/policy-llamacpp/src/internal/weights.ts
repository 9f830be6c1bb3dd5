/** Loads a model's weights into memory from a validated GGUF file. */
import * as GgufReader from "@divisi/gguf/GgufReader"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { GgufFileInfo, GgufInsights, LlamaModel } from "node-llama-cpp"
import * as Errors from "../LlamaCppError.ts"
import type { Backend } from "./backend.ts"

/** Options for loading the weights. */
export interface WeightOptions {
  /** Layers on the GPU: as many as fit, all of them, or a number. */
  readonly gpuLayers: "auto" | "max" | number
  /** The context length for which memory is reserved when computing how many layers fit. */
  readonly contextTokens: number
  /** Whether the model will generate text, which requires an end token. Default: `true`. */
  readonly isForCompletions?: boolean | undefined
}

/** Loaded weights. */
export interface Weights {
  readonly model: LlamaModel
  readonly backend: Backend
  readonly path: string
  /** Size of the file, in bytes. */
  readonly size: number
}

/** Describes the problem with a file, as a clause. */
const problemOf = ({ reason }: Effect.Error<ReturnType<typeof GgufReader.read>>): Errors.LlamaCppErrorReason => {
  switch (reason._tag) {
    case "Missing":
      return { _tag: "Missing" }
    case "Truncated":
      return { _tag: "Damaged", detail: `it has ${reason.found} bytes, but its header declares ${reason.needed}` }
    case "Unsupported":
      return { _tag: "Format", detail: reason.detail }
    case "InputOutput":
      return { _tag: "Damaged", detail: Errors.detailOf(reason.cause) }
    default:
      return { _tag: "Damaged", detail: reason.detail.replace(/\.$/, "") }
  }
}

/** Reads and validates the header of a file, because node-llama-cpp trusts the lengths in it. */
export const checkFile = async (file: string): Promise<GgufReader.GgufFile> => {
  const header = await Effect.runPromise(Effect.result(GgufReader.read(file)))
  if (Result.isFailure(header)) throw Errors.make(file, problemOf(header.failure))
  return header.success
}

/** Validates the file or files of a model and returns their total size in bytes. */
const checkParts = async (file: string): Promise<number> => {
  const [whole = "", part = "", parts = ""] = /-(\d{5})-of-(\d{5})\.gguf$/.exec(file) ?? []
  const count = Number(part) > 0 && Number(part) <= Number(parts) ? Number(parts) : 0
  const names = Array.from({ length: count }, (_, index) => {
    const number = String(index + 1).padStart(5, "0")
    return `${file.slice(0, -whole.length)}-${number}-of-${parts}.gguf`
  })
  let size = 0
  for (const name of count === 0 ? [file] : names) size += (await checkFile(name)).bytes
  return size
}

/** The information about a model in its file's header. */
export interface Header {
  readonly info: GgufFileInfo
  readonly insights: GgufInsights
  readonly size: number
}

/** Reads the header of a file. */
export const readHeader = async (path: string, { llama }: Backend): Promise<Header> => {
  const size = await checkParts(path)
  const { GgufInsights, readGgufFileInfo } = await import("node-llama-cpp")
  try {
    const info = await readGgufFileInfo(path, { sourceType: "filesystem", logWarnings: false })
    return { info, insights: await GgufInsights.from(info, llama), size }
  } catch (cause) {
    throw Errors.make(path, { _tag: "Damaged", detail: Errors.detailOf(cause) })
  }
}

/** Returns the reason why llama.cpp did not load a model, from its log and the header. */
const explain = (path: string, { info, insights }: Header, { log }: Backend, cause: unknown): Errors.LlamaCppError => {
  const detail =
    log.findLast((line) => /error|fail|unknown|missing|corrupt|invalid/i.test(line)) ?? Errors.detailOf(cause)
  const { architecture } = info.metadata.general
  if (!insights.isSupportedByLlamaCpp || /unknown model architecture/.test(log.join("\n"))) {
    return Errors.make(path, { _tag: "Unsupported", architecture: String(architecture), detail })
  }
  if (/vocab|tokenizer/i.test(detail)) return Errors.make(path, { _tag: "Tokenizer", detail })
  return Errors.make(path, { _tag: "Damaged", detail: detail.replaceAll(path, "it") })
}

/** Fails if the model has no end token, because every completion would run to its limit. */
const checkTokens = ({ info }: Header, path: string): void => {
  const { eos_token_id: endOfText, eot_token_id: endOfTurn } = info.metadata.tokenizer?.ggml ?? {}
  if (endOfText === undefined && endOfTurn === undefined) {
    const detail = "it has no token that ends a text; set tokenizer.ggml.eos_token_id when the file is written."
    throw Errors.make(path, { _tag: "Tokenizer", detail })
  }
}

const advice =
  "choose a smaller model or a smaller quantisation of it, put fewer layers on the GPU (gpuLayers), or free some."

/**
 * On a CPU, llama.cpp's flash attention takes twice as long as plain attention for texts shorter than this number of
 * tokens, and half as long for longer ones.
 */
const plainAttention = 64

/** Loads the weights from a file. */
export const load = async (path: string, backend: Backend, options: WeightOptions): Promise<Weights> => {
  const header = await readHeader(path, backend)
  const { InsufficientMemoryError } = await import("node-llama-cpp")
  const { contextTokens, gpuLayers, isForCompletions = true } = options
  backend.log.length = 0
  try {
    const model = await backend.llama.loadModel({
      modelPath: path,
      gpuLayers: gpuLayers === "auto" ? { fitContext: { contextSize: contextTokens } } : gpuLayers,
      ...(isForCompletions || contextTokens > plainAttention || backend.llama.gpu !== false
        ? {}
        : { defaultContextFlashAttention: false })
    })
    try {
      if (isForCompletions) checkTokens(header, path)
    } catch (cause) {
      await model.dispose()
      throw cause
    }
    return { model, backend, path, size: header.size }
  } catch (cause) {
    if (cause instanceof Errors.LlamaCppError) throw cause
    if (cause instanceof InsufficientMemoryError) throw await tooLarge(path, header, backend, gpuLayers)
    throw explain(path, header, backend, cause)
  }
}

const tooLarge = async (path: string, { insights }: Header, { llama }: Backend, layers: WeightOptions["gpuLayers"]) => {
  const gpuLayers = typeof layers === "number" ? layers : layers === "max" ? insights.totalLayers : 0
  const needs = await insights.estimateModelResourceRequirementsV2({ gpuLayers })
  const kind = llama.gpu !== false && gpuLayers > 0 ? ("GPU memory" as const) : ("main memory" as const)
  const { free } = kind === "GPU memory" ? await llama.getVramState() : await llama.getRamState()
  const needed = kind === "GPU memory" ? needs.gpuVram : needs.cpuRam
  return Errors.make(path, { _tag: "Memory", kind, needed, available: free, detail: advice })
}
