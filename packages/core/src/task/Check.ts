/**
 * Checks validate step answers during a run. If an answer fails its check, the policy can write a new plan.
 *
 * A check is a function, a grader, a critic, or a worker that acts as a judge. If the check itself throws or fails, the
 * answer does not pass.
 */
import * as Effect from "effect/Effect"
import { settle } from "../Callback.ts"
import { isRecord } from "../Fields.ts"
import { messageOf } from "../Thrown.ts"
import type { Context, Critic } from "./Critic.ts"
import type { Grade, Grader } from "./Grader.ts"
import { jsonText } from "./jsonText.ts"
import type { Shape } from "./Shape.ts"
import * as Task from "./Task.ts"
import { BudgetExceeded } from "./Usage.ts"
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

/** The input of a check. */
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
 * Whether a value is a valid record of checks.
 *
 * @internal
 */
export const isChecks = (checks: unknown): checks is Checks => isRecord(checks) && Object.values(checks).every(isCheck)

/** Whether a check may call workers, which costs money. These calls are restored when a run is resumed. */
export const isAsking = (check: Check): check is Critic | Worker => "score" in check || "generate" in check

// -------------------------------------------------------------------------------------------------------------------
// Verdicts
// -------------------------------------------------------------------------------------------------------------------

/** Prompt for a worker that judges an answer. */
const instruction =
  "Check the answer below against the question. Work it out yourself where you can. Say in one or two sentences what is " +
  "wrong with it, if anything. End with a line `Verdict: right` or `Verdict: wrong`."

/** Whether a judge's reply contains an unambiguous positive verdict. */
const isRight = (text: string): boolean =>
  /^right/i.test([...text.matchAll(/verdict\W{1,6}(right|wrong)/gi)].at(-1)?.[1] ?? "")

const byWorker = (worker: Worker, { answer, ask, subtask, task }: Checked) => {
  const asked = subtask === "" ? "" : `\n\nSubtask, which alone was to be done:\n${subtask}`
  const content = `${instruction}\n\nQuestion:\n${Task.question(task)}${asked}\n\nAnswer:\n${answer}`
  return Effect.map(ask(worker, { messages: [{ role: "user", content }] }), ({ text }) =>
    isRight(text) ? undefined : text
  )
}

/** Returns the explanation of a grade. Tolerates invalid grades, because graders are user-supplied. */
const reasonOf = (grade: Partial<Grade> | undefined, otherwise: string): string =>
  typeof grade?.explanation === "string" ? grade.explanation : otherwise

const byCritic = (critic: Critic, { answer, ask, task, threshold }: Checked) =>
  Effect.map(
    settle(() => critic.score({ task, answer, ask })),
    (grade: Partial<Grade> | undefined) =>
      Number(grade?.score) >= threshold
        ? undefined
        : reasonOf(grade, `${critic.name} scores it ${Number(grade?.score)} of 1.`)
  )

const byGrader = (grader: Grader, { answer, task }: Checked) =>
  Effect.map(
    settle(() => grader.grade(task, answer)),
    (grade: Partial<Grade> | undefined) =>
      grade?.correct === true ? undefined : reasonOf(grade, `${grader.name} graded it as wrong.`)
  )

/** Calls a check function. The result is available synchronously unless the function returns a promise. */
const byFunction = (check: Extract<Check, (...args: never) => unknown>, { answer, task }: Checked) =>
  Effect.map(
    Effect.suspend((): Effect.Effect<boolean | string, string> => {
      const controller = new AbortController()
      const verdict = check(answer, task, controller.signal)
      if (typeof verdict !== "object") return Effect.succeed(verdict)
      const awaited = Effect.mapError(
        settle(() => verdict),
        messageOf
      )
      return Effect.onInterrupt(awaited, () => Effect.sync(() => controller.abort()))
    }),
    (verdict): string | undefined =>
      typeof verdict === "string" ? verdict : verdict === true ? undefined : "The check fails."
  )

/** Prefix of objections that report a failure of the check itself. */
export const checkFailed = "The check itself failed: "

const itselfFailed = (error: unknown) => Effect.succeed(`${checkFailed}${messageOf(error)}`)

/**
 * Runs a check. Returns the objection to the answer, or `undefined` if the answer passes.
 *
 * **Details**
 *
 * If the check throws or fails, the answer does not pass and the objection describes the failure. The effect fails only
 * if the budget is exceeded.
 */
export const objectionTo = (check: Check, checked: Checked): Effect.Effect<string | undefined, BudgetExceeded> => {
  if (typeof check === "function" || "grade" in check) {
    const found = typeof check === "function" ? byFunction(check, checked) : byGrader(check, checked)
    return Effect.catchDefect(
      Effect.catch(found as Effect.Effect<string | undefined, unknown>, itselfFailed),
      itselfFailed
    )
  }
  const asked = Effect.suspend(
    (): ReturnType<typeof byCritic> => ("score" in check ? byCritic(check, checked) : byWorker(check, checked))
  )
  return Effect.catchDefect(
    Effect.catch(asked, (error) => (error instanceof BudgetExceeded ? Effect.fail(error) : itselfFailed(error))),
    itselfFailed
  )
}

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
