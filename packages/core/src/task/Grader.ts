/** Graders decide whether an answer is correct. Training, evaluations and critics share this interface. */

import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { CallbackError, called, type Given } from "../Callback.ts"
import { defined } from "../Fields.ts"
import { isA, messageOf } from "../Thrown.ts"
import type { Task } from "./Task.ts"

/** The verdict on an answer. */
export interface Grade {
  readonly correct: boolean
  /** Score from 0 to 1. Equals 1 for a correct answer, unless the grader gives partial credit. */
  readonly score: number
  /** Human-readable reason for the score. */
  readonly explanation?: string
}

/**
 * Decides whether the answer to a task is correct. If the grader cannot decide, it fails; this does not count as a
 * wrong answer.
 */
export interface Grader {
  readonly name: string
  readonly grade: (task: Task, answer: string) => Effect.Effect<Grade, GraderError>
  /** Grades a refusal to answer. If omitted, refusals always count as incorrect. */
  readonly gradeRefusal?: ((task: Task) => Effect.Effect<Grade, GraderError>) | undefined
}

/** Raised when a grader cannot reach a verdict. */
export class GraderError extends Data.TaggedError("GraderError")<{
  readonly grader: string
  readonly task: string
  readonly detail: string
}> {
  override get message(): string {
    return `The grader "${this.grader}" cannot grade "${this.task}": ${this.detail}.`
  }
}

/** Calls a method of a grader, which may be async. Exceptions are converted to a `GraderError`. */
const calledOf = <G extends Grade>(
  grader: string,
  task: Task,
  call: () => Given<G, GraderError>
): Effect.Effect<G, GraderError> =>
  Effect.mapError(
    called("grade", call, (error) => isA(error, GraderError)),
    (error) =>
      isA(error, CallbackError) ? new GraderError({ grader, task: task.id, detail: messageOf(error.cause) }) : error
  )

/** Calls a grader, which may be async. Exceptions are converted to a `GraderError`. */
export const ask = <G extends Grade>(
  grader: { readonly name: string; readonly grade: (task: Task, answer: string) => Effect.Effect<G, GraderError> },
  task: Task,
  answer: string
): Effect.Effect<G, GraderError> => calledOf<G>(grader.name, task, () => grader.grade(task, answer))

/** Like {@link ask}, for a run that ended with a refusal. Returns `undefined` if the grader does not grade refusals. */
export const askRefusal = (grader: Grader, task: Task): Effect.Effect<Grade, GraderError> | undefined =>
  grader.gradeRefusal && calledOf(grader.name, task, () => grader.gradeRefusal!(task))

/** Returns a grade with a score of 1 if `correct` is true, or 0 otherwise. */
export const verdict = (correct: boolean, explanation?: string): Grade =>
  defined({ correct, score: correct ? 1 : 0, explanation })

/**
 * Creates a grader that compares the answer with the task's reference answer. Grading a task without a reference fails
 * with a `GraderError`.
 *
 * **Example**
 *
 * ```ts
 * import { Grader } from "@divisi/core"
 *
 * const sameLength = Grader.fromComparison("same-length", (answer, reference) => answer.length === reference.length)
 * ```
 */
export const fromComparison = (name: string, isCorrect: (answer: string, reference: string) => boolean): Grader => ({
  name,
  grade: (task, answer) =>
    task.reference === undefined
      ? Effect.fail(new GraderError({ grader: name, task: task.id, detail: "the task has no reference answer" }))
      : Effect.succeed(verdict(isCorrect(answer, task.reference)))
})

const normalise = (text: string) =>
  text
    .trim()
    .replace(/\s+/g, " ")
    // The lookbehind anchors the match at the first such character. Otherwise, matching would take quadratic time.
    .replace(/(?<![.!])[.!]+$/, "")
    .toLowerCase()

/** Accepts answers that equal the reference, ignoring whitespace, case and trailing punctuation. */
export const exact: Grader = fromComparison("exact", (answer, reference) => normalise(answer) === normalise(reference))

/** The quality of a completion, from which its reward is derived. */
export type Result = "unreadable" | "wrong" | "correct"

/**
 * Returns the reward for a completion as defined in the paper (section 2): 0 if it cannot be parsed as a workflow, 0.5
 * if the final answer is wrong, 1 if it is correct.
 */
export const reward = (result: Result): number => (result === "unreadable" ? 0 : result === "wrong" ? 0.5 : 1)
