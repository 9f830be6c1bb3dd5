/** Policies that ask a single worker, chosen by the embedding of the question. */
import { Baselines, Embedder } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import * as Task from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import type { Vector } from "./vectors.ts"

/** Predicts the quality of each worker for an embedded question. Unknown workers are omitted. */
export type Rates = (question: Vector) => ReadonlyMap<string, number>

/** Embeds the question of a task. If the embedder fails, the policy fails. */
export const placeOf = (policy: string, embedder: Embedder.Embedder, task: Task.Task) =>
  Effect.mapBoth(Embedder.ask(embedder, [Task.question(task)]), {
    onFailure: (error) => new Policy.PolicyError({ policy, detail: error.message }),
    onSuccess: (points) => points[0]!
  })

/** Returns the rated workers of the pool, best first. Ties keep the order of the pool. */
export const ranked = (rates: ReadonlyMap<string, number>, { pool }: Policy.Context): ReadonlyArray<string> =>
  pool.workers
    .flatMap(({ id }, index) => (rates.has(id) ? [{ id, index, rate: rates.get(id)! }] : []))
    .sort((left, right) => right.rate - left.rate || left.index - right.index)
    .map(({ id }) => id)

export const noneKnown = (policy: string) =>
  new Policy.PolicyError({
    policy,
    detail: "it has no recorded samples from any worker in this pool. Fit it on this pool, or choose another baseline."
  })

/** Creates a policy that sends each question, unchanged, to the worker with the best rating for it. */
export const make = (name: string, embedder: Embedder.Embedder, rates: Rates): Policy.Policy => ({
  name,
  propose: Effect.fnUntraced(function* (context) {
    const place = yield* placeOf(name, embedder, context.task)
    const [best] = ranked(rates(place), context)
    return best === undefined ? yield* noneKnown(name) : yield* Baselines.single(best).propose(context)
  })
})
