/**
 * Checks decide during a run whether the answer of a step passes, so that the policy can re-plan if it fails.
 *
 * A check is a function, a grader, a critic or a worker that judges. If the check itself fails, the answer does not
 * pass.
 */
import * as Effect from "effect/Effect"
import { settle } from "../Callback.ts"
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
 * Decides whether an answer passes: a function that returns true, false or a description of the problem (such as {@link
 * matches}), a grader, a critic, or a worker that judges.
 */
export type Check =
  | ((answer: string, task: Task.Task, signal: AbortSignal) => boolean | string | Promise<boolean | string>)
  | Grader
  | Critic
  | Worker

/** Checks by name. Steps refer to them by these names (`Step.check`). */
export type Checks = Readonly<Record<string, Check>>

/** The input of a check. */
export interface Checked {
  readonly task: Task.Task
  /** The subtask of the step; empty if the step received the plain question. */
  readonly subtask: string
  readonly answer: string
  /** The minimum score with which a critic's grade passes. */
  readonly threshold: number
  /** Calls a worker; the call is budgeted, retried and recorded like any other. */
  readonly ask: Context["ask"]
}

/** Whether a value is a check. */
export const isCheck = (check: unknown): check is Check =>
  typeof check === "function" ||
  (typeof check === "object" &&
    check !== null &&
    ["grade", "score", "generate"].some((verb) => typeof (check as Record<string, unknown>)[verb] === "function"))

/** Whether a value is a record of checks. */
export const isChecks = (checks: unknown): checks is Checks =>
  typeof checks === "object" && checks !== null && !Array.isArray(checks) && Object.values(checks).every(isCheck)

/** Whether a check may call workers, which costs money. When a run is resumed, these calls are restored. */
export const isAsking = (check: Check): check is Critic | Worker => "score" in check || "generate" in check

// -------------------------------------------------------------------------------------------------------------------
// Verdicts
// -------------------------------------------------------------------------------------------------------------------

/** The instruction for a worker that checks. */
const instruction =
  "Check the answer below against the question. Work it out yourself where you can. Say in one or two sentences what is " +
  "wrong with it, if anything. End with a line `Verdict: right` or `Verdict: wrong`."

/** Whether a judge's text contains an unambiguous positive verdict. */
const isRight = (text: string): boolean =>
  /^right/i.test([...text.matchAll(/verdict\W{1,6}(right|wrong)/gi)].at(-1)?.[1] ?? "")

const byWorker = (worker: Worker, { answer, ask, subtask, task }: Checked) => {
  const asked = subtask === "" ? "" : `\n\nSubtask, which alone was to be done:\n${subtask}`
  const content = `${instruction}\n\nQuestion:\n${Task.question(task)}${asked}\n\nAnswer:\n${answer}`
  return Effect.map(ask(worker, { messages: [{ role: "user", content }] }), ({ text }) =>
    isRight(text) ? undefined : text
  )
}

/** Returns the problem that a grade reports. It is lenient because the grader's code may be wrong, too. */
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

/** Calls a function, synchronously if it does not return a promise. */
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

/** The prefix of an objection that reports a failure of the check itself. */
export const checkFailed = "The check itself failed: "

const itselfFailed = (error: unknown) => Effect.succeed(`${checkFailed}${messageOf(error)}`)

/**
 * Returns the problem of an answer, or `undefined` if it passes.
 *
 * **Details**
 *
 * If the check throws or fails, the answer does not pass, and the text reports the failure. The only possible error is
 * an exceeded budget.
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
 * Makes a check that passes answers that are JSON and match a schema, with or without a surrounding code block. Accepts
 * an Effect schema, a Standard Schema, or JSON Schema.
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
    // A program without schemas loads no library of them.
    const { compileShape } = await import("./compileShape.ts")
    const { check } = await Effect.runPromise(compileShape("the check", shape))
    const value: unknown = JSON.parse(jsonText(answer))
    return Effect.runPromise(Effect.match(check(value), { onSuccess: () => true, onFailure: (problem) => problem }))
  }
