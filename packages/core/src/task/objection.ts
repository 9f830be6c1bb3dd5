/** Runs a check, and returns its objection to an answer. */
import * as Effect from "effect/Effect"
import { settle } from "../Callback.ts"
import { messageOf } from "../Thrown.ts"
import type { Check, Checked } from "./Check.ts"
import type { Critic } from "./Critic.ts"
import type { Grade, Grader } from "./Grader.ts"
import * as Task from "./Task.ts"
import { BudgetExceeded } from "./Usage.ts"
import type { Worker } from "./Worker.ts"

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

/** The problem with an answer, or the failure of the check itself. */
export interface Objection {
  readonly objection?: string | undefined
  readonly couldNotRun?: true | undefined
}

const itselfFailed = (error: unknown) =>
  Effect.succeed<Objection>({ objection: `The check could not run: ${messageOf(error)}`, couldNotRun: true })

const by = (check: Check, checked: Checked): Effect.Effect<string | undefined, unknown> => {
  if (typeof check === "function") return byFunction(check, checked)
  if ("grade" in check) return byGrader(check, checked)
  return "score" in check ? byCritic(check, checked) : byWorker(check, checked)
}

/**
 * Runs a check. Returns the objection to the answer, without a text if the answer passes.
 *
 * **Details**
 *
 * If the check throws or fails, the answer does not pass and the objection describes the failure. The effect fails only
 * if the budget of a judging worker is exceeded.
 *
 * @internal
 */
export const objectionTo = (check: Check, checked: Checked): Effect.Effect<Objection, BudgetExceeded> => {
  const isJudge = typeof check !== "function" && !("grade" in check)
  const found = Effect.map(
    Effect.suspend(() => by(check, checked)),
    (objection): Objection => ({ objection })
  )
  return Effect.catchDefect(
    Effect.catch(found, (error) =>
      isJudge && error instanceof BudgetExceeded ? Effect.fail(error) : itselfFailed(error)
    ),
    itselfFailed
  )
}
