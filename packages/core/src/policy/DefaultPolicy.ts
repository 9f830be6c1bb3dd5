/**
 * Selects the default policy for a pool. Used by `conduct`, `divisi run`, `divisi serve` and all other commands.
 *
 * | the pool | the default |
 * |---|---|
 * | one worker | it answers alone |
 * | a learned policy knows at least two of its workers | the learned policy |
 * | several workers, among them language models | the strongest model plans, or answers an easy question itself |
 * | descriptions, but no language model | the policy that reads descriptions, if the program has one |
 * | none of these | the run fails with an error that states what is missing |
 */
import * as Effect from "effect/Effect"
import * as Tables from "../Options.ts"
import type { Worker } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import * as Baselines from "./Baselines.ts"
import { inPlaceOf } from "./fallback.ts"
import { needsOf } from "./OneWorker.ts"
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

/** Minimum number of output tokens for a plan. With a lower limit, the model is only asked for the answer. */
const planTokens = 1_024

/** Returns the reason why a question is answered by one model without a plan, or `undefined` if a plan is written. */
const aloneBecause = (context: Policy.Context): string | undefined => {
  const { checks = [], maxOutputTokens = planTokens, misfit } = context
  if (maxOutputTokens < planTokens) return `An answer of at most ${maxOutputTokens} tokens needs no plan.`
  if (checks.length > 0) return "Each answer is checked, so one model answers and others are asked if the check fails."
  return needsOf(context).size > 0 || misfit !== undefined
    ? "A request with tools, images, files or an output schema is answered without a plan."
    : undefined
}

/**
 * Returns a policy that prompts a language model to write the plan or, if the question is easy, the answer. If its
 * completion is neither, `alone` plans. If the model fails, `next` does.
 */
const prompted = (model: Worker, alone: Policy.Policy, next: () => Policy.Policy, declines?: Policy.Declines) => {
  const most = Math.min(completionTokens, model.limits?.maxOutputTokens ?? completionTokens)
  const planner: Policy.Policy = {
    name: model.id,
    propose: Effect.fnUntraced(function* (context: Policy.Context) {
      const LanguagePolicy = yield* Effect.promise(() => import("./LanguagePolicy.ts"))
      const policy = LanguagePolicy.make({
        model,
        prompt: { descriptions: true, mayAnswer: true },
        maxOutputTokens: Math.min(most, context.maxOutputTokens ?? most),
        resamples: 0
      })
      return yield* Policy.propose(policy, context)
    })
  }
  const propose: Policy.Policy["propose"] = (context) =>
    Effect.catchTag(planner.propose(context), "WorkerError", ({ message }) =>
      inPlaceOf(next(), context, `${model.id} could not plan. ${message}`)
    )
  return Policy.withFallback({ ...planner, propose }, alone, { declines })
}

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

const strongestOf = (workers: ReadonlyArray<Worker>) => {
  const { why, workers: ordinals } = Strongest.choose({ workers: workers as unknown as WorkerPool["workers"] })
  return { model: workers[ordinals[0]]!, why }
}

/** Returns a policy in which the strongest language model plans for the pool. */
const planned = (workers: ReadonlyArray<Worker>, models: ReadonlyArray<Worker>): Policy.Policy => {
  const { model, why } = strongestOf(models)
  const isOnly = models.length === 1
  const next = () => {
    const others = (isOnly ? workers : models).filter((worker) => worker !== model)
    return Baselines.single(strongestOf(others).model.id)
  }
  return because(
    models.length === workers.length
      ? prompted(model, Strongest.make(), next, aloneBecause)
      : prompted(model, Baselines.single(model.id), next),
    isOnly ? `${model.id}, the only language model in the pool, plans.` : `the strongest language model plans: ${why}`
  )
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
 * name // => "large"
 * reason.slice(0, 65) // => "No policy was given, so the strongest language model plans: large"
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
  if (models.length > 0) return planned(workers, models)
  if (described !== undefined && workers.some(({ description = "" }) => description !== "")) {
    return because(described, "workers are chosen by their descriptions.")
  }
  return none
}
