/** Graders decide whether an answer is correct. Training, evaluation and critics share this interface. */

import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { CallbackError, called, type Given } from "../Callback.ts"
import { defined } from "../Fields.ts"
import { isA, messageOf } from "../Thrown.ts"
import type { Task } from "./Task.ts"

/** A verdict on one answer. */
export interface Grade {
  readonly correct: boolean
  /** The score, from 0 to 1. 1 if correct, unless the grader gives partial credit. */
  readonly score: number
  /** The reason for the score, for display. */
  readonly explanation?: string
}

/** Decides whether an answer to a task is correct. A failure of the grader itself is an error, not a wrong answer. */
export interface Grader {
  readonly name: string
  readonly grade: (task: Task, answer: string) => Effect.Effect<Grade, GraderError>
  /** Grades a refusal to answer. If absent, a refusal is never correct. */
  readonly gradeRefusal?: ((task: Task) => Effect.Effect<Grade, GraderError>) | undefined
}

/** The grader could not reach a verdict. */
export class GraderError extends Data.TaggedError("GraderError")<{
  readonly grader: string
  readonly task: string
  readonly detail: string
}> {
  override get message(): string {
    return `Grader ${this.grader} returned no verdict on ${this.task}: ${this.detail}.`
  }
}

/** Calls a function of a grader, which may be async. An exception becomes a failure of the grader. */
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

/** Calls a grader, which may be async. An exception becomes a failure of the grader. */
export const ask = <G extends Grade>(
  grader: { readonly name: string; readonly grade: (task: Task, answer: string) => Effect.Effect<G, GraderError> },
  task: Task,
  answer: string
): Effect.Effect<G, GraderError> => calledOf<G>(grader.name, task, () => grader.grade(task, answer))

/**
 * Like {@link ask}, for a run whose policy declined the task. Returns `undefined` if the grader does not grade
 * refusals.
 */
export const askRefusal = (grader: Grader, task: Task): Effect.Effect<Grade, GraderError> | undefined =>
  grader.gradeRefusal && calledOf(grader.name, task, () => grader.gradeRefusal!(task))

/** Returns a grade with a score of 1 if `correct`, else 0. */
export const verdict = (correct: boolean, explanation?: string): Grade =>
  defined({ correct, score: correct ? 1 : 0, explanation })

/**
 * Makes a grader that compares the answer with the task's reference. A task without a reference gives a `GraderError`.
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
    // Only at the beginning of a run of such characters: a match from each of them would be quadratic in the length of
    // the run.
    .replace(/(?<![.!])[.!]+$/, "")
    .toLowerCase()

/** A grader that accepts equal texts, ignoring whitespace, case and a final full stop. */
export const exact: Grader = fromComparison("exact", (answer, reference) => normalise(answer) === normalise(reference))

/** The outcome of a completion that determines its reward. */
export type Result = "unreadable" | "wrong" | "correct"

/**
 * Returns the reward of the paper (section 2): 0 if the completion cannot be parsed as a workflow, 0.5 if the final
 * answer is wrong, 1 if it is correct.
 */
export const reward = (result: Result): number => (result === "unreadable" ? 0 : result === "wrong" ? 0.5 : 1)
