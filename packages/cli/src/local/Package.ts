/** The package that runs local models. It brings llama.cpp, so it is installed by those who want that, and no one else. */
import * as Effect from "effect/Effect"
import { type Failure, failed, messageOf } from "../Failure.ts"
import * as DownloadProgress from "./DownloadProgress.ts"

type Package = typeof import("@tutti/policy-llamacpp")

const advice =
  "Local models need the package @tutti/policy-llamacpp, which brings llama.cpp: install it beside @tutti/cli, as in `npm install @tutti/policy-llamacpp`."

/** Loads it; throws what to do where it is not installed. */
export const load = async (): Promise<Package> => {
  try {
    return await import("@tutti/policy-llamacpp")
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND"
    throw isMissing ? new Error(advice) : error
  }
}

/** The same for commands. */
export const loaded: Effect.Effect<Package, Failure> = Effect.tryPromise({
  try: load,
  catch: (error) => failed(messageOf(error))
})

/** How local models are loaded by the command line: downloads and notices are told on the error output. */
export const loading = () => ({
  onProgress: DownloadProgress.make(process.stderr, Date.now),
  onNotice: (notice: string) => void process.stderr.write(`tutti: ${notice}\n`)
})
