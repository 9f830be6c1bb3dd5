/** Loads llama.cpp once per requested GPU. Falls back to the CPU with a notice. */
import type { Llama, LlamaGpuType } from "node-llama-cpp"
import { detailOf, make } from "../LlamaCppError.ts"

/** The device that runs the layers: the best GPU available, a specific backend, or only the CPU. */
export type Gpu = "auto" | "cuda" | "vulkan" | "metal" | "none"

/** A running llama.cpp, with a notice if it differs from the requested one. */
export interface Backend {
  readonly llama: Llama
  readonly notice?: string | undefined
  /** The last errors logged by llama.cpp, most recent last. Cleared before each call that may fail. */
  readonly log: Array<string>
}

/** Loads the native binary; replaced in tests. */
export interface Loader {
  readonly getLlama: typeof import("node-llama-cpp").getLlama
  readonly platform: string
}

const load = async (): Promise<Loader> => {
  const platform = `${process.platform} ${process.arch}`
  try {
    const { getLlama } = await import("node-llama-cpp")
    return { getLlama, platform }
  } catch (cause) {
    throw make("llama.cpp", { _tag: "Binary", platform, detail: detailOf(cause) })
  }
}

const gpuOf = (gpu: Gpu): "auto" | LlamaGpuType => (gpu === "none" ? false : gpu)

const logLines = 20

/** Starts llama.cpp on a GPU without building or downloading anything. */
const start = async ({ getLlama }: Loader, gpu: Gpu): Promise<Backend> => {
  const log: Array<string> = []
  const { LlamaLogLevel } = await import("node-llama-cpp")
  const llama = await getLlama({
    gpu: gpuOf(gpu),
    build: "never",
    skipDownload: true,
    progressLogs: false,
    // The number of threads is set for each context.
    maxThreads: 0,
    logLevel: LlamaLogLevel.error,
    logger: (_, message) => {
      log.push(message.trim())
      if (log.length > logLines) log.shift()
    }
  })
  return { llama, log }
}

/**
 * Starts llama.cpp on the requested GPU. If that fails and the GPU is not required, falls back to the CPU with a
 * notice.
 */
export const open = async (gpu: Gpu, isRequired: boolean, loader?: Loader): Promise<Backend> => {
  const found = loader ?? (await load())
  try {
    return await start(found, gpu)
  } catch (cause) {
    if (isRequired && gpu !== "none")
      throw make("llama.cpp", { _tag: "Backend", backend: gpu, detail: detailOf(cause) })
    if (gpu === "none") throw make("llama.cpp", { _tag: "Binary", platform: found.platform, detail: detailOf(cause) })
    const fallback = await open("none", false, found)
    const notice = `The GPU backend "${gpu}" does not start (${detailOf(cause)}); the model runs on the CPU.`
    return { ...fallback, notice }
  }
}

const backends = new Map<string, Promise<Backend>>()

/** Returns the llama.cpp instance for a GPU, which is started once and shared within the process. */
export const shared = (gpu: Gpu, isRequired: boolean): Promise<Backend> => {
  const key = `${gpu}${isRequired ? "!" : ""}`
  const known = backends.get(key)
  if (known !== undefined) return known
  const opened = open(gpu, isRequired)
  backends.set(key, opened)
  opened.catch(() => backends.delete(key))
  return opened
}
