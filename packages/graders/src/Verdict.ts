/**
 * Verdicts: what a grader of this package says about an answer, beyond right or wrong.
 *
 * Every grader here is one of core's. Its verdict also says which text it took for the answer, and what decided.
 */

import { Grader } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { Task } from "@divisi/core/Task"
import * as Effect from "effect/Effect"

/** A verdict on one answer, with its reasons. */
export interface Verdict extends Grader.Grade {
  /** The text that was taken for the answer; absent when the text gives none, which counts as wrong. */
  readonly extracted?: string | undefined
  /** What decided, e.g. `rational`; `unparsed` when there was no answer to compare. */
  readonly rung: string
}

/** A grader whose verdicts say what decided. */
export interface AnswerGrader extends Grader.Grader {
  readonly grade: (task: Task, answer: string) => Effect.Effect<Verdict, Grader.GraderError>
  /** Fails where something is missing without which it cannot judge: to be asked before answers are paid for. */
  readonly ready?: Effect.Effect<void, { readonly message: string }> | undefined
}

/** A verdict with a score of 1 or 0. */
export const make = (parts: {
  readonly correct: boolean
  readonly rung: string
  readonly extracted?: string | undefined
  readonly explanation?: string | undefined
}): Verdict =>
  defined({
    correct: parts.correct,
    score: parts.correct ? 1 : 0,
    rung: parts.rung,
    extracted: parts.extracted,
    explanation: parts.explanation
  })

/** The verdict on a text that gives no answer: wrong, with the rung `unparsed`. */
export const unparsed: Verdict = make({ correct: false, rung: "unparsed", explanation: "the text gives no answer" })

/**
 * Makes a grader from a comparison of a task's reference with the text of an answer. The reference always comes first.
 * A task without a reference is a `GraderError`.
 *
 * **Example**
 *
 * ```ts
 * import { Verdict } from "@divisi/graders"
 *
 * const sameLength = Verdict.grader("same-length", (gold, answer) =>
 *   Verdict.make({ correct: gold.length === answer.length, rung: "length", extracted: answer })
 * )
 * sameLength.name // => "same-length"
 * ```
 */
export const grader = (name: string, compare: (gold: string, answer: string) => Verdict): AnswerGrader =>
  graderEffect(name, (gold, answer) => Effect.sync(() => compare(gold, answer)))

/** Like {@link grader}, for comparisons that are effects. The text that one fails with becomes the `GraderError`'s. */
export const graderEffect = (
  name: string,
  compare: (gold: string, answer: string, task: Task) => Effect.Effect<Verdict, string>
): AnswerGrader => ({
  name,
  grade: (task, answer) => {
    const failure = (detail: string) => new Grader.GraderError({ grader: name, task: task.id, detail })
    if (task.reference === undefined) return Effect.fail(failure("the task has no reference answer"))
    return Effect.mapError(compare(task.reference, answer, task), failure)
  }
})
