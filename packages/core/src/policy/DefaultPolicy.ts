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

/** A language model of the pool as its Conductor. Where it writes no plan, it answers alone. */
const prompted = (model: Worker): Policy.Policy => ({
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
    const proposal = yield* policy.propose(context)
    const why = `No policy was given, so ${model.id} plans: the first language model of the pool.`
    return { ...proposal, notes: [why, ...(proposal.notes ?? [])] }
  })
})

/** What a pool without a policy lacks. */
const nobody =
  "no policy was given, and no worker of the pool is known for a language model, which could plan. " +
  "Give a policy (a language policy, or one that asks a single worker), or say `isLanguageModel: true` of a worker that can be prompted"

/** The policy for a pool that was given none. */
export const of = (pool: WorkerPool): Policy.Policy => {
  const [first, ...others] = pool.workers
  if (others.length === 0) return Baselines.single(first.id)
  const model = pool.workers.find(({ isLanguageModel }) => isLanguageModel === true)
  if (model !== undefined) return prompted(model)
  return { name: "none", propose: () => Effect.fail(new Policy.PolicyError({ policy: "default", detail: nobody })) }
}
