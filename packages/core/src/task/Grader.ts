/** Graders decide whether an answer is right. Training, evaluation and critics share this one interface. */

import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { CallbackError, called, type Given } from "../Callback.ts"
import { defined } from "../Fields.ts"
import { isA, messageOf } from "../Thrown.ts"
import type { Task } from "./Task.ts"

/** A verdict on one answer. */
export interface Grade {
  readonly correct: boolean
  /** 0 to 1; 1 if correct, unless the grader gives partial credit. */
  readonly score: number
  /** The reason for the score, for people. */
  readonly explanation?: string
}

/** Decides whether an answer to a task is right. A failure of the grader itself is an error, never a wrong answer. */
export interface Grader {
  readonly name: string
  readonly grade: (task: Task, answer: string) => Effect.Effect<Grade, GraderError>
  /** Grades a refusal of a task that cannot be answered. If absent, a refusal is never correct. */
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
 * Calls a grader for a run whose policy declined the task, as {@link ask} does; `undefined` if it does not grade
 * refusals.
 */
export const askRefusal = (grader: Grader, task: Task): Effect.Effect<Grade, GraderError> | undefined =>
  grader.gradeRefusal && calledOf(grader.name, task, () => grader.gradeRefusal!(task))

/** The verdict `correct`, with a score of 1 or 0. */
export const verdict = (correct: boolean, explanation?: string): Grade =>
  defined({ correct, score: correct ? 1 : 0, explanation })

/**
 * A grader from a comparison of the answer with the task's reference. A task without a reference is a `GraderError`.
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

/** Right when the texts are equal, white space, letter case and a final full stop aside. */
export const exact: Grader = fromComparison("exact", (answer, reference) => normalise(answer) === normalise(reference))

/** The outcome of a completion, as far as the reward is concerned. */
export type Result = "unreadable" | "wrong" | "correct"

/**
 * Returns the reward of the paper (section 2): 0 if the completion cannot be read as a workflow, 0.5 if it runs and the
 * final answer is wrong, 1 if it is right.
 */
export const reward = (result: Result): number => (result === "unreadable" ? 0 : result === "wrong" ? 0.5 : 1)
