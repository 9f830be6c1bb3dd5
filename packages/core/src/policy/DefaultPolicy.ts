/**
 * Selects the default policy for a pool. Used by `conduct`, `divisi run`, `divisi serve` and all other commands.
 *
 * | the pool | the default |
 * |---|---|
 * | one worker | it answers alone |
 * | a learned policy knows at least two of its workers | the learned policy |
 * | several workers, all language models | the strongest answers alone; if it fails, the next worker takes over |
 * | some language models among other workers | the strongest model is prompted to write the plan |
 * | descriptions, but no language model | the policy that reads descriptions, if the program has one |
 * | none of these | the run fails with an error that states what is missing |
 */
import * as Effect from "effect/Effect"
import * as Tables from "../Options.ts"
import type { Worker } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import * as Baselines from "./Baselines.ts"
import * as Policy from "./Policy.ts"
import * as Strongest from "./Strongest.ts"

/** Optional policies from other packages to consider. */
export interface Options {
  /** A policy trained for this pool, such as a router or a Conductor. */
  readonly learned?: Policy.Policy | undefined
  /** A policy that selects workers by their descriptions, for pools without a language model. */
  readonly described?: Policy.Policy | undefined
}

const table = {
  learned: Tables.madeBy("a policy", "propose"),
  described: Tables.madeBy("a policy", "propose")
} satisfies Tables.ShapeOf<Options>

/**
 * Maximum number of output tokens per completion, including reasoning. The paper's limit of 1,024 is sufficient only
 * for a model trained to plan.
 */
const completionTokens = 8_192

/**
 * Returns a policy that prompts one of the pool's language models to act as Conductor. If the model does not write a
 * valid plan, it answers the question itself.
 */
const prompted = (model: Worker): Policy.Policy => ({
  name: model.id,
  propose: Effect.fnUntraced(function* (context: Policy.Context) {
    const LanguagePolicy = yield* Effect.promise(() => import("./LanguagePolicy.ts"))
    const most = model.limits?.maxOutputTokens ?? completionTokens
    const policy = LanguagePolicy.make({
      model,
      prompt: { descriptions: true, mayAnswer: true },
      maxOutputTokens: Math.min(completionTokens, most),
      fallback: Baselines.single(model.id)
    })
    return yield* Policy.propose(policy, context)
  })
})

const missing =
  "no policy was given, and no worker in the pool is known to be a language model, which could plan. " +
  "Pass a policy (such as a language policy or one for a single worker), or set `isLanguageModel: true` on a worker that takes prompts"

const none: Policy.Policy = {
  name: "none",
  propose: () => Effect.fail(new Policy.PolicyError({ policy: "default", detail: missing }))
}

const because = (policy: Policy.Policy, why: string): Policy.Policy => ({
  ...policy,
  reason: `No policy was given, so ${why}`
})

/** Removes a sentence from a policy's notes that its reason already contains. */
const without = (policy: Policy.Policy, sentence: string): Policy.Policy => ({
  ...policy,
  propose: (context) =>
    Effect.map(policy.propose(context), (proposal) => ({
      ...proposal,
      notes: proposal.notes?.filter((note) => note !== sentence)
    }))
})

const strongestOf = (workers: ReadonlyArray<Worker>) => {
  const { why, workers: ordinals } = Strongest.choose({ workers: workers as unknown as WorkerPool["workers"] })
  return { model: workers[ordinals[0]]!, why }
}

/**
 * Returns the default policy for a pool. Its `reason` states which worker plans or answers, and why.
 *
 * **Example**
 *
 * ```ts
 * import { DefaultPolicy } from "@divisi/core"
 * import { worker } from "@divisi/core/promise"
 *
 * const model = (id: string, outputPerMillion: number) =>
 *   worker({ id, answer: () => "42", isLanguageModel: true, pricing: { inputPerMillion: 1, outputPerMillion } })
 * const { name, reason = "" } = DefaultPolicy.of({ workers: [model("small", 1), model("large", 10)] })
 * name // => "router"
 * reason.slice(0, 65) // => "No policy was given, so the strongest worker answers alone: large"
 * ```
 */
export const of = ({ workers }: WorkerPool, options: Options = {}): Policy.Policy => {
  Tables.check("DefaultPolicy.of", options, table)
  const { described, learned } = options
  const [first, ...others] = workers
  if (others.length === 0)
    return because(Baselines.single(first.id), `${first.id}, the only worker in the pool, answers.`)
  if (learned !== undefined) return because(learned, "your rated runs determine the worker.")
  const models = workers.filter(({ isLanguageModel }) => isLanguageModel === true)
  if (models.length === workers.length) {
    const { why } = strongestOf(models)
    return because(without(Strongest.make(), why), `the strongest worker answers alone: ${why}`)
  }
  if (models.length > 0) {
    const { model, why } = strongestOf(models)
    const isOnly = models.length === 1
    return because(
      prompted(model),
      isOnly ? `${model.id}, the only language model in the pool, plans.` : `the strongest language model plans: ${why}`
    )
  }
  if (described !== undefined && workers.some(({ description = "" }) => description !== "")) {
    return because(described, "workers are chosen by their descriptions.")
  }
  return none
}
