/**
 * Determines which questions the gym's workers understand. Workers can only compute: they have no world knowledge and
 * understand only the English that their tasks use. A question is understood only if every word, number, quotation and
 * symbol in it is, so workers never answer a different question than the one asked.
 */
import * as Policy from "@divisi/core/Policy"
import * as Task from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import * as Solve from "./internal/solve.ts"

/**
 * Whether the gym has workers for every part of a question, and the question asks for a single answer. Does not imply
 * that they answer correctly.
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
 * Whether a part of a question requires data from a tool in `GymTools`.
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

/**
 * The refusal for a question that {@link isUnderstood} rejects.
 *
 * @internal
 */
export const notUnderstood =
  "The offline gym's workers cannot answer this kind of question. They solve arithmetic, equations, units, dates, word and letter puzzles, logic puzzles, statistics and small programs, but know no facts about the world."

/** The refusal for a question that asks for several answers. */
const severalQuestions =
  "The offline gym's workers give one answer, but this text contains several questions. Ask one question, or say how to combine the answers."

/** The beginning of the refusal for a question that can be understood in several ways. */
const ambiguous = "This question can be understood in more than one way"

/** Maximum number of unknown words or sentences listed in a refusal. */
const mostTexts = 8

/**
 * Explains why no worker in the gym can answer a question. The explanation lists the words, or otherwise the sentences,
 * that are not understood if the rest is, or the text that can be understood in several ways. Returns `undefined` if the
 * question is understood.
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
  const texts = obstacle.texts.slice(0, mostTexts).map((text) => `"${text.replaceAll('"', "").slice(0, 80)}"`)
  if (obstacle.type === "ambiguous")
    return `${ambiguous}: ${texts.join(", ")}. Say which one is meant, for example with parentheses.`
  return texts.length === 0 ? notUnderstood : `${notUnderstood} Not understood here: ${texts.join(", ")}.`
}

/**
 * Wraps a policy for the gym's pool so that it declines questions that no worker understands. It does so before any
 * worker call, so the run ends as `refused` at no cost.
 *
 * @internal
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
