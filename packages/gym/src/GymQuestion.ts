/**
 * Which questions the workers of the gym can read. They compute: they know nothing of the world, and no language but the
 * English of their tasks. What nobody of them understands need not be asked.
 */
import * as Policy from "@divisi/core/Policy"
import * as Task from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import * as Solve from "./internal/solve.ts"

/**
 * Whether there are workers in the gym that do each part of a question. Whether they do it rightly is another matter.
 *
 * **Example**
 *
 * ```ts
 * import * as GymQuestion from "@divisi/gym/GymQuestion"
 *
 * GymQuestion.isUnderstood("What is 17% of 2,350?") // => true
 * GymQuestion.isUnderstood("What is the capital of France?") // => false
 * ```
 */
export const isUnderstood: (question: string) => boolean = Solve.understands

/**
 * Whether a part of a question is about what only a tool of `GymTools` knows.
 *
 * **Example**
 *
 * ```ts
 * import * as GymQuestion from "@divisi/gym/GymQuestion"
 *
 * GymQuestion.needsTool("How many copper kettles are in stock?") // => true
 * GymQuestion.needsTool("What is 17% of 2,350?") // => false
 * ```
 */
export const needsTool: (question: string) => boolean = Solve.needsTool

/** Why a question is declined that {@link isUnderstood} does not know. */
export const notUnderstood =
  "The workers of the offline gym cannot answer this kind of question: they compute (arithmetic, equations, units, dates, letters and words, logic puzzles, statistics, small programs), and know nothing of the world."

/**
 * A policy for a pool of the gym's workers that declines what none of them understands, before anybody is asked: the run
 * ends `refused`, and nothing is paid.
 */
export const declining = (policy: Policy.Policy): Policy.Policy => ({
  ...policy,
  propose: (context) =>
    isUnderstood(Task.question(context.task))
      ? Policy.propose(policy, context)
      : Effect.fail(new Policy.PolicyError({ policy: policy.name, detail: notUnderstood, isRefusal: true }))
})
