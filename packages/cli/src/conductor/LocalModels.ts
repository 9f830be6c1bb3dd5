/**
 * The package that runs local models. It brings llama.cpp, so it is installed by those who want that, and no one else.
 */
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

/** How local models are loaded by the command line: downloads and notices are told on the error output. */
export const loading = () => ({
  onProgress: DownloadProgress.make(drawing(process.stderr), Date.now),
  onNotice: (notice: string) => void process.stderr.write(`divisi: ${notice}\n`)
})
