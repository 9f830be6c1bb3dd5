/** Loads the optional package for local models, which includes llama.cpp. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type Failure, failed, messageOf } from "../invocation/Failure.ts"
import * as OptionalPackage from "../invocation/OptionalPackage.ts"
import { drawing } from "../invocation/Output.ts"
import * as DownloadProgress from "../view/DownloadProgress.ts"

type Package = typeof import("@divisi/policy-llamacpp")

/** Loads it; throws what to do where it is not installed. */
export const load = async (): Promise<Package> => {
  try {
    return await import("@divisi/policy-llamacpp")
  } catch (error) {
    throw new Error(OptionalPackage.explain(error), { cause: error })
  }
}

/** The same for commands. */
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

/** A name as `model.gguf?threads=2`: the model, and the threads if they are given. Throws for other settings. */
export const named = (name: string): { readonly model: string; readonly threads?: number | undefined } => {
  const [, model = name, settings] = /^([^?]*)\?(.*)$/.exec(name) ?? []
  if (settings === undefined) return { model }
  const threads = /^threads=(.*)$/.exec(settings)?.[1]
  if (threads === undefined) throw new Error(`${name}: the only option after ? is threads, as in ${model}?threads=2.`)
  return { model, threads: threadsIn(threads, `${name}: threads`) }
}

/** Returns options for a download that show its progress on a terminal. */
export const downloading = () => ({ onProgress: DownloadProgress.make(drawing(process.stderr), Date.now) })

/** Loading of local models by the command line: downloads and notices are printed on the error output. */
export const loading = (threads?: number | undefined) => ({
  threads:
    threads ?? (process.env.DIVISI_THREADS ? threadsIn(process.env.DIVISI_THREADS, "DIVISI_THREADS") : undefined),
  ...downloading(),
  onNotice: (notice: string) => void process.stderr.write(`divisi: ${notice}\n`)
})
