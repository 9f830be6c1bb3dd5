/**
 * Checks decide during a run whether the answer of a step passes, so that the policy can re-plan on evidence.
 *
 * A check is a function, a grader, a critic or a worker that judges. A check that itself fails passes nothing.
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
 * Decides whether an answer passes: a function that returns true or false, or a text with the problem ({@link matches}
 * is one); a grader; a critic; or a worker that judges.
 */
export type Check =
  | ((answer: string, task: Task.Task, signal: AbortSignal) => boolean | string | Promise<boolean | string>)
  | Grader
  | Critic
  | Worker

/** Checks by the names that steps call them by (`Step.check`). */
export type Checks = Readonly<Record<string, Check>>

/** The input of a check. */
export interface Checked {
  readonly task: Task.Task
  /** The subtask of the step; empty if the step was asked the question itself. */
  readonly subtask: string
  readonly answer: string
  /** The score at which a critic is content. */
  readonly threshold: number
  /** Calls a worker; the call is budgeted, retried and recorded like any other. */
  readonly ask: Context["ask"]
}

/** Whether something is a check. */
export const isCheck = (check: unknown): check is Check =>
  typeof check === "function" ||
  (typeof check === "object" &&
    check !== null &&
    ["grade", "score", "generate"].some((verb) => typeof (check as Record<string, unknown>)[verb] === "function"))

/** Whether something has checks by their names. */
export const isChecks = (checks: unknown): checks is Checks =>
  typeof checks === "object" && checks !== null && !Array.isArray(checks) && Object.values(checks).every(isCheck)

/** Whether a check may call workers, which costs money. Its calls are restored when a run is resumed. */
export const isAsking = (check: Check): check is Critic | Worker => "score" in check || "generate" in check

// -------------------------------------------------------------------------------------------------------------------
// Verdicts
// -------------------------------------------------------------------------------------------------------------------

/** The instruction for a worker that checks. */
const instruction =
  "Check the answer below against the question. Work it out yourself where you can. Say in one or two sentences what is " +
  "wrong with it, if anything. End with a line `Verdict: right` or `Verdict: wrong`."

/** Only a verdict that is plainly there passes an answer. */
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

/** The beginning of an objection that reports a failure of the check itself. */
export const checkFailed = "The check itself failed: "

const itselfFailed = (error: unknown) => Effect.succeed(`${checkFailed}${messageOf(error)}`)

/**
 * Returns the problem of an answer, or `undefined` if it passes.
 *
 * **Details**
 *
 * A check that throws or fails passes nothing, and the text states it. The only possible error is an exceeded budget.
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
 * A check that passes answers that are JSON of a shape, a block of code around it or not: an Effect schema, one of a
 * library that speaks Standard Schema, or JSON Schema.
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
