/**
 * Who plans where no policy was given: the best that needs no training and no choice. It loads the prompt of a language
 * policy only when it is asked for a plan.
 */
import * as Effect from "effect/Effect"
import type { Worker } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import * as Baselines from "./Baselines.ts"
import * as Policy from "./Policy.ts"

/** Output of one completion, reasoning included: the paper's 1,024 tokens are for a model that was trained to plan. */
const completionTokens = 8_192

/** What somebody with several models may want more: a model that was not trained to plan seldom makes up for its cost. */
const instead = "To have the one asked that answers best: policy: routed(), of @divisi/policy-router."

/** A language model of the pool as its Conductor. Where it writes no plan, it answers alone. */
const prompted = (model: Worker, isAlone: boolean): Policy.Policy => ({
  name: model.id,
  propose: Effect.fnUntraced(function* (context: Policy.Context) {
    const LanguagePolicy = yield* Effect.promise(() => import("./LanguagePolicy.ts"))
    const most = model.limits?.maxOutputTokens ?? completionTokens
    const policy = LanguagePolicy.make({
      model,
      prompt: { descriptions: true },
      maxOutputTokens: Math.min(completionTokens, most),
      fallback: Baselines.single(model.id)
    })
    const proposal = yield* Policy.propose(policy, context)
    const who = `No policy was given, so ${model.id} plans: the first language model of the pool.`
    const why = isAlone ? who : `${who} ${instead}`
    return { ...proposal, notes: [why, ...(proposal.notes ?? [])] }
  })
})

/** What a pool without a policy lacks. */
const nobody =
  "no policy was given, and no worker of the pool is known for a language model, which could plan. " +
  "Give a policy (routed() of @divisi/policy-router, a language policy, or one that asks a single worker), or say `isLanguageModel: true` of a worker that can be prompted"

/** The policy for a pool that was given none. */
export const of = (pool: WorkerPool): Policy.Policy => {
  const [first, ...others] = pool.workers
  if (others.length === 0) return Baselines.single(first.id)
  const models = pool.workers.filter(({ isLanguageModel }) => isLanguageModel === true)
  if (models[0] !== undefined) return prompted(models[0], models.length === 1)
  return { name: "none", propose: () => Effect.fail(new Policy.PolicyError({ policy: "default", detail: nobody })) }
}
