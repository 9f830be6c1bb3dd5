/** Opens a GGUF file as the tiny Conductor, in the same way as for users. */
import { LanguagePolicy } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import { TinyConductor } from "@divisi/policy-tiny"
import * as TinyPrompt from "@divisi/policy-tiny/TinyPrompt"
import * as Effect from "effect/Effect"
import type { Contender } from "./Part.ts"

/** The model has no fallback: a task that it cannot plan counts as wrong. */
const nobody: Policy.Policy = {
  name: "nobody",
  propose: () => Effect.fail(new Policy.PolicyError({ policy: "nobody", detail: "nobody stands in." }))
}

/** The policy of a file as users run it, with the lexical rule as its fallback. */
export const served = Effect.fnUntraced(function* (name: string, file: string) {
  const policy = yield* TinyConductor.policy({ file, name })
  return { name, policy } satisfies Contender
})

/**
 * The policy of a file. Without `subtasks` it gets the prompt of the earlier training, in which workers receive the
 * question itself.
 */
export const open = Effect.fnUntraced(function* (name: string, file: string, subtasks = true) {
  const model = yield* TinyConductor.worker(file)
  const policy = subtasks
    ? TinyConductor.make(model, { name, fallback: nobody })
    : LanguagePolicy.make({
        model,
        name,
        prompt: { ...TinyPrompt.options, subtasks },
        maxOutputTokens: 128,
        temperature: 0,
        resamples: 0
      })
  return { name, policy } satisfies Contender
})
