/**
 * Detailed verdicts: more information than correct or wrong.
 *
 * Every grader in this package implements core's `Grader`. In addition, its verdicts include the extracted answer and
 * the rule that decided.
 */

import { Grader } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { Task } from "@divisi/core/Task"
import * as Effect from "effect/Effect"

/** Why a text has no answer. */
export interface Absence {
  /**
   * `none`: the text states no value. `unasserted`: it only mentions one. `retracted`: it retracts its answer, or may
   * do so. `several`: it gives different answers.
   */
  readonly kind: "none" | "unasserted" | "retracted" | "several"
  /**
   * The parts of the text that led to this result: the mentioned value, the answer and its retraction, or the answers.
   */
  readonly quotes: ReadonlyArray<string>
}

/** A verdict on an answer, with the details behind it. */
export interface Verdict extends Grader.Grade {
  /** The extracted answer. Undefined if the text does not contain one, in which case the answer counts as wrong. */
  readonly extracted?: string | undefined
  /** The rule that decided the verdict, such as `rational`. `unparsed` if no answer could be extracted. */
  readonly rung: string
  /** Why `extracted` is missing. Set by graders of mathematics. */
  readonly absence?: Absence | undefined
}

/** A grader that returns detailed verdicts. */
export interface AnswerGrader extends Grader.Grader {
  readonly grade: (task: Task, answer: string) => Effect.Effect<Verdict, Grader.GraderError>
  /** Fails if a requirement of the grader is missing. Run it before paying for any answers. */
  readonly ready?: Effect.Effect<void, { readonly message: string }> | undefined
  /** Returns a warning about a reference that is meant for another grader, such as "the answer is in words". */
  readonly oddityOf?: ((reference: string) => string | undefined) | undefined
}

/** Creates a verdict with a score of 1 or 0. */
export const make = (parts: {
  readonly correct: boolean
  readonly rung: string
  readonly extracted?: string | undefined
  readonly explanation?: string | undefined
  readonly absence?: Absence | undefined
}): Verdict =>
  defined({
    correct: parts.correct,
    score: parts.correct ? 1 : 0,
    rung: parts.rung,
    extracted: parts.extracted,
    explanation: parts.explanation,
    absence: parts.absence
  })

/**
 * The verdict for a text without an answer: wrong, with the rung `unparsed`.
 *
 * @internal
 */
export const unparsed: Verdict = make({ correct: false, rung: "unparsed", explanation: "the text gives no answer" })

const described = ({ kind, quotes }: Absence): string => {
  const [first, second] = quotes.map((quote) => JSON.stringify(quote))
  if (kind === "unasserted") return `the text mentions ${first} but does not assert it as its answer`
  if (kind === "retracted") return `the text may retract its answer ${first} in ${second}`
  return kind === "several" ? `the text gives different answers, ${first} and ${second}` : "the text gives no answer"
}

/**
 * Creates the verdict for a text without an answer: wrong, with the rung `unparsed` and the reason.
 *
 * @internal
 */
export const absent = (absence: Absence): Verdict => make({ ...unparsed, explanation: described(absence), absence })

/**
 * Creates a grader from a comparison of the task's reference (first argument) with an answer. Fails with a
 * `GraderError` if the task has no reference.
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

/**
 * Like {@link grader}, for comparisons that return an effect. If the effect fails with a string, it becomes the message
 * of the `GraderError`.
 */
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
