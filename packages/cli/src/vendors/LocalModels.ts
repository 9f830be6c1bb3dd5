/** Loads the optional package for local models, which includes llama.cpp. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type Failure, failed, messageOf } from "../invocation/Failure.ts"
import * as OptionalPackage from "../invocation/OptionalPackage.ts"
import { drawing } from "../invocation/Output.ts"
import * as DownloadProgress from "../view/DownloadProgress.ts"

type Package = typeof import("@divisi/policy-llamacpp")

/** Loads the package. If it is not installed, throws an error that says how to install it. */
export const load = async (): Promise<Package> => {
  try {
    return await import("@divisi/policy-llamacpp")
  } catch (error) {
    throw new Error(OptionalPackage.explain(error), { cause: error })
  }
}

/** The package, for use by commands. */
export const loaded: Effect.Effect<Package, Failure> = Effect.tryPromise({
  try: load,
  catch: (error) => failed(messageOf(error))
})

/** Number of threads for local models, from `--threads`. Defaults to `DIVISI_THREADS`, or the model's default. */
export const Threads = Context.Reference<number | undefined>("divisi/Threads", { defaultValue: () => undefined })

const threadsIn = (text: string, where: string): number => {
  const threads = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : undefined
  if (threads === undefined) throw new Error(`${where} must be a whole number of at least 1; got "${text}".`)
  return threads
}

/**
 * Parses a name such as `model.gguf?threads=2` into the model and the number of threads. Throws an error for any other
 * parameter.
 */
export const named = (name: string): { readonly model: string; readonly threads?: number | undefined } => {
  const [, model = name, settings] = /^([^?]*)\?(.*)$/.exec(name) ?? []
  if (settings === undefined) return { model }
  const threads = /^threads=(.*)$/.exec(settings)?.[1]
  if (threads === undefined) throw new Error(`${name}: the only option after ? is threads, as in ${model}?threads=2.`)
  return { model, threads: threadsIn(threads, `${name}: threads`) }
}

/** Returns options for a download that show its progress on a terminal. */
export const downloading = () => ({ onProgress: DownloadProgress.make(drawing(process.stderr), Date.now) })

/** Options for loading local models from the command line. Downloads and notices are printed to standard error. */
export const loading = (threads?: number | undefined) => ({
  threads:
    threads ?? (process.env.DIVISI_THREADS ? threadsIn(process.env.DIVISI_THREADS, "DIVISI_THREADS") : undefined),
  ...downloading(),
  onNotice: (notice: string) => void process.stderr.write(`divisi: ${notice}\n`)
})
