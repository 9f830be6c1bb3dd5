/**
 * Checks validate step answers during a run. If an answer fails its check, the policy can write a new plan.
 *
 * A check is a function, a grader, a critic, or a worker that acts as a judge. If the check itself throws or fails, the
 * answer does not pass.
 */
import * as Effect from "effect/Effect"
import * as Options from "../Options.ts"
import type { Context, Critic } from "./Critic.ts"
import type { Grader } from "./Grader.ts"
import { jsonText } from "./jsonText.ts"
import type { Shape } from "./Shape.ts"
import type * as Task from "./Task.ts"
import type { Worker } from "./Worker.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/**
 * Validates an answer: a grader, a critic, a worker that acts as a judge, or a function that returns `true`, `false` or
 * a description of the problem (see {@link matches}).
 */
export type Check =
  | ((answer: string, task: Task.Task, signal: AbortSignal) => boolean | string | Promise<boolean | string>)
  | Grader
  | Critic
  | Worker

/** Checks by name. Steps refer to them with `Step.check`. */
export type Checks = Readonly<Record<string, Check>>

/**
 * The input of a check.
 *
 * @internal
 */
export interface Checked {
  readonly task: Task.Task
  /** The step's subtask, or an empty string if the step received only the question. */
  readonly subtask: string
  readonly answer: string
  /** Minimum critic score for an answer to pass. */
  readonly threshold: number
  /** Calls a worker. The call is charged to the run's budget, retried on failure, and recorded. */
  readonly ask: Context["ask"]
}

/** Whether a value is a valid check. */
export const isCheck = (check: unknown): check is Check =>
  typeof check === "function" ||
  (typeof check === "object" &&
    check !== null &&
    ["grade", "score", "generate"].some((verb) => typeof (check as Record<string, unknown>)[verb] === "function"))

/**
 * Accepts named checks.
 *
 * @internal
 */
export const checksRow = Options.recordOf(
  Options.expects("a check: a function, a grader, a critic or a worker", isCheck)
)

/**
 * Whether a check may call workers, which costs money. These calls are restored when a run is resumed.
 *
 * @internal
 */
export const isAsking = (check: Check): check is Critic | Worker => "score" in check || "generate" in check

// -------------------------------------------------------------------------------------------------------------------
// Shapes
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns a check that passes if the answer is JSON that matches the schema, optionally inside a code block. Accepts an
 * Effect schema, a Standard Schema, or JSON Schema.
 *
 * **Example**
 *
 * ```ts
 * import { checked, conduct, matches, worker } from "@divisi/core/promise"
 *
 * const pool = [worker({ id: "cheap", answer: () => "forty-two" }), worker({ id: "strong", answer: () => "42" })]
 * const policy = checked("cheap", "strong", matches({ type: "number" }))
 * const result = await conduct({ question: "What is 6 times 7?", pool, policy })
 * result.answer // => "42"
 * ```
 */
export const matches =
  (shape: Shape): Check =>
  async (answer) => {
    // Imported lazily, so that programs without schemas do not load a schema library.
    const { compileShape } = await import("./compileShape.ts")
    const { check } = await Effect.runPromise(compileShape("the check", shape))
    const value: unknown = JSON.parse(jsonText(answer))
    return Effect.runPromise(Effect.match(check(value), { onSuccess: () => true, onFailure: (problem) => problem }))
  }
