/**
 * Determines which questions the gym's workers can read. They only compute: they have no knowledge of the world, and
 * understand only the English of their tasks. A question is understood only if all of its words, numbers, quotations
 * and symbols are, so that workers never answer a different question.
 */
import * as Policy from "@divisi/core/Policy"
import * as Task from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import * as Solve from "./internal/solve.ts"

/**
 * Whether the gym has workers for each part of a question and the question asks for a single answer. It does not imply
 * that their answers are correct.
 *
 * **Example**
 *
 * ```ts
 * import { GymQuestion } from "@divisi/gym"
 *
 * GymQuestion.isUnderstood("What is 17% of 2,350?") // => true
 * GymQuestion.isUnderstood("What is the capital of France?") // => false
 * ```
 */
export const isUnderstood = (question: string): boolean => Solve.obstacleOf(question) === undefined

/**
 * Whether a part of a question needs data that only a tool of `GymTools` provides.
 *
 * **Example**
 *
 * ```ts
 * import { GymQuestion } from "@divisi/gym"
 *
 * GymQuestion.needsTool("How many copper kettles are in stock?") // => true
 * GymQuestion.needsTool("What is 17% of 2,350?") // => false
 * ```
 */
export const needsTool: (question: string) => boolean = Solve.needsTool

/** The reason for declining a question that {@link isUnderstood} rejects. */
export const notUnderstood =
  "The workers of the offline gym cannot answer this kind of question: they compute (arithmetic, equations, units, dates, letters and words, logic puzzles, statistics, small programs), and know no facts about the world."

/** Why a question is declined that has several answers. */
const severalQuestions =
  "The workers of the offline gym give one answer, but this text contains several questions. Ask one question, or say how to combine the answers."

/** At most so many words are named. */
const mostWords = 8

/**
 * Returns why no worker of the gym can answer a question, with the unknown words if the rest is understood; `undefined`
 * if the question is understood.
 *
 * **Example**
 *
 * ```ts
 * import { GymQuestion } from "@divisi/gym"
 *
 * GymQuestion.whyNot("What is 17% of 2,350?") // => undefined
 * GymQuestion.whyNot("What is 17% of 2,350 in words?")?.includes('"words"') // => true
 * ```
 */
export const whyNot = (question: string): string | undefined => {
  const obstacle = Solve.obstacleOf(question)
  if (obstacle === undefined) return undefined
  if (obstacle.type === "several questions") return severalQuestions
  const words = obstacle.words.slice(0, mostWords).map((word) => `"${word.replaceAll('"', "").slice(0, 40)}"`)
  return words.length === 0 ? notUnderstood : `${notUnderstood} Not understood here: ${words.join(", ")}.`
}

/**
 * Wraps a policy for a pool of the gym's workers. It declines a question that no worker understands before any call, so
 * the run ends as `refused` at no cost.
 */
export const declining = (policy: Policy.Policy): Policy.Policy => ({
  ...policy,
  propose: (context) => {
    const detail = whyNot(Task.question(context.task))
    return detail === undefined
      ? Policy.propose(policy, context)
      : Effect.fail(new Policy.PolicyError({ policy: policy.name, detail, isRefusal: true }))
  }
})
