/** Converts promises of node-llama-cpp to effects. Thrown values become errors of this package. */
import * as Effect from "effect/Effect"
import * as Errors from "../LlamaCppError.ts"

/** Runs a promise. `name` is the model or file named in the error. */
export const attempt = <A>(name: string, run: () => Promise<A>): Effect.Effect<A, Errors.LlamaCppError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      cause instanceof Errors.LlamaCppError
        ? cause
        : Errors.make(name, { _tag: "Failed", detail: Errors.detailOf(cause) })
  })
