/** A promise of node-llama-cpp as an effect: whatever it throws is an error of this package. */
import * as Effect from "effect/Effect"
import * as Errors from "../LlamaCppError.ts"

/** Runs a promise. `name` is the model or file that its error names. */
export const attempt = <A>(name: string, run: () => Promise<A>): Effect.Effect<A, Errors.LlamaCppError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      cause instanceof Errors.LlamaCppError
        ? cause
        : Errors.make(name, { _tag: "Failed", detail: Errors.detailOf(cause) })
  })
