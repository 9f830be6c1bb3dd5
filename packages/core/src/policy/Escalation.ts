/**
 * Policies that ask a second worker on evidence: where a check fails the first answer, or where two answers differ.
 *
 * They are ordinary policies. What they ask first is a round, and what they ask then is another one; every call of
 * either, and of a worker that checks, is budgeted and in the transcript, and notes say what the check found.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { kindOf, OptionsError } from "../Options.ts"
import { messageOf } from "../Thrown.ts"
import type { Grader } from "../task/Grader.ts"
import { jsonText } from "../task/jsonText.ts"
import type { Shape } from "../task/Shape.ts"
import * as Task from "../task/Task.ts"
import type { BudgetExceeded } from "../task/Usage.ts"
import type { Worker } from "../task/Worker.ts"
import { voteOf } from "../workflow/vote.ts"
import type { Step } from "../workflow/Workflow.ts"
import { ordinal, type WorkerReference } from "./Baselines.ts"
import { type Context, canStand, type Policy, PolicyError, type Proposal } from "./Policy.ts"

export { voteOf } from "../workflow/vote.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/**
 * Says whether an answer passes: a function that gives true or false, or a text that says what is wrong ({@link matches}
 * is one); a grader; or a worker that is asked to judge.
 */
export type Check =
  | ((answer: string, task: Task.Task, signal: AbortSignal) => boolean | string | Promise<boolean | string>)
  | Grader
  | Worker

// -------------------------------------------------------------------------------------------------------------------
// Checks
// -------------------------------------------------------------------------------------------------------------------

/** What a worker that checks is told. */
const instruction =
  "Check the answer below against the question. Work it out yourself where you can. Say in one or two sentences what is " +
  "wrong with it, if anything. End with a line `Verdict: right` or `Verdict: wrong`."

/** Only a verdict that is plainly there passes an answer. */
const isRight = (text: string): boolean =>
  /^right/i.test([...text.matchAll(/verdict\W{1,6}(right|wrong)/gi)].at(-1)?.[1] ?? "")

const byWorker = (worker: Worker, answer: string, { complete, task }: Context) => {
  const content = `${instruction}\n\nQuestion:\n${Task.question(task)}\n\nAnswer:\n${answer}`
  const asked = complete({
    model: worker,
    request: { messages: [{ role: "user", content }] },
    attempt: 0,
    read: (text) => Result.succeed(isRight(text))
  })
  return Effect.map(asked, ({ completion, reading }) =>
    Result.getOrElse(reading, () => false) ? undefined : `${worker.id} objects: ${completion}`
  )
}

/** What is wrong with an answer; `undefined` where it passes. A check that fails passes nothing. */
const objectionTo = (
  check: Check,
  answer: string,
  context: Context
): Effect.Effect<string | undefined, BudgetExceeded> => {
  if (typeof check === "function") {
    return Effect.catch(
      Effect.map(
        Effect.tryPromise({ try: async (signal) => check(answer, context.task, signal), catch: messageOf }),
        (verdict) => (typeof verdict === "string" ? verdict : verdict ? undefined : "The check fails.")
      ),
      (detail) => Effect.succeed(`The check itself failed: ${detail}`)
    )
  }
  if ("grade" in check) {
    return Effect.catch(
      Effect.map(check.grade(context.task, answer), ({ correct, explanation }) =>
        correct ? undefined : (explanation ?? `${check.name} says that it is wrong.`)
      ),
      ({ message }) => Effect.succeed(message)
    )
  }
  return Effect.catchTag(byWorker(check, answer, context), "WorkerError", ({ message }) => Effect.succeed(message))
}

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
    const { compileShape } = await import("../task/compileShape.ts")
    const { check } = await Effect.runPromise(compileShape("the check", shape))
    const value: unknown = JSON.parse(jsonText(answer))
    return Effect.runPromise(Effect.match(check(value), { onSuccess: () => true, onFailure: (problem) => problem }))
  }

const isCheck = (check: unknown): check is Check =>
  typeof check === "function" ||
  (typeof check === "object" && check !== null && ("grade" in check || "generate" in check))

// -------------------------------------------------------------------------------------------------------------------
// Policies
// -------------------------------------------------------------------------------------------------------------------

const attempt = (worker: number): Step => ({ worker, subtask: "", access: [] })

const stands: Proposal = { workflow: { steps: [] } }

const found = (policy: string, { pool }: Context, references: ReadonlyArray<WorkerReference>) =>
  Effect.mapError(
    Effect.fromResult(Result.all(references.map((reference) => ordinal(pool, reference)))),
    (detail) => new PolicyError({ policy, detail })
  )

/** Whether the last round asked this worker alone: there is nobody left to ask. */
const wasAsked = ({ previous }: Context, worker: number): boolean =>
  previous?.workflow.steps.length === 1 && previous.workflow.steps[0]!.worker === worker

/**
 * Asks one worker, and another where the first gives no answer or one that fails a check.
 *
 * **Details**
 *
 * The workers are named by id or by ordinal. The check sees the first answer and the task. It costs nothing where it is
 * a function or a grader; a worker that checks is asked in the second round, and what that costs is in the transcript
 * with the completions. A check that throws passes nothing. The second answer is not checked.
 *
 * **Gotchas**
 *
 * It pays for two answers where the first fails, so it is cheaper than the second worker alone only where the first is
 * much cheaper, or mostly right.
 *
 * **Example**
 *
 * ```ts
 * import { checked, conduct, worker } from "@divisi/core/promise"
 *
 * const pool = [
 *   worker({ id: "cheap", answer: () => "about forty" }),
 *   worker({ id: "strong", answer: () => "42" })
 * ]
 * const policy = checked("cheap", "strong", (answer) => /^\d+$/.test(answer) || "It is no number.")
 * const result = await conduct({ question: "What is 6 times 7?", pool, policy })
 * result.answer // => "42"
 * ```
 */
export const checked = (first: WorkerReference, then: WorkerReference, check: Check): Policy => {
  if (!isCheck(check)) {
    throw new OptionsError({
      what: "checked",
      detail: `the check must be a function, a grader or a worker, not ${kindOf(check)}.`
    })
  }
  const name = `checked:${first}+${then}`
  return {
    name,
    recursion: 1,
    propose: Effect.fnUntraced(function* (context: Context): Effect.fn.Return<Proposal, PolicyError | BudgetExceeded> {
      const [cheap, strong] = yield* found(name, context, [first, then])
      const { previous } = context
      if (previous === undefined) return { workflow: { steps: [attempt(cheap!)] } }
      if (previous.answer.type === "answered") {
        if (wasAsked(context, strong!) && cheap !== strong) return stands
        const objection = previous.feedback ?? (yield* objectionTo(check, previous.answer.text, context))
        if (objection === undefined) return { ...stands, notes: ["The answer passed its check."] }
        return { workflow: { steps: [attempt(strong!)] }, notes: [`The answer failed its check. ${objection}`] }
      }
      return { workflow: { steps: [attempt(strong!)] }, notes: [`${context.pool.workers[cheap!]!.id} gave no answer.`] }
    })
  }
}

/**
 * Asks two workers at once, and a third where their answers differ or one of them has none.
 *
 * **Details**
 *
 * The workers are named by id or by ordinal. Answers agree when their final answers do, as in a majority vote: what
 * stands in the last `\boxed{…}`, between `<answer>` tags, or after "answer:" or "answer is", or else the whole text.
 * Where the third worker agrees with one of the two, it has outvoted the other; where it agrees with neither, its answer
 * is the answer.
 *
 * **Example**
 *
 * ```ts
 * import { agreed, conduct, worker } from "@divisi/core/promise"
 *
 * const says = (id: string, text: string) => worker({ id, answer: () => text })
 * const pool = [says("a", "The answer is 42."), says("b", "42"), says("judge", "I was not asked.")]
 * const result = await conduct({ question: "What is 6 times 7?", pool, policy: agreed("a", "b", "judge") })
 * result.answer // => "The answer is 42."
 * result.spend.calls // => 2
 * ```
 */
export const agreed = (a: WorkerReference, b: WorkerReference, otherwise: WorkerReference): Policy => {
  const name = `agreed:${a}+${b}+${otherwise}`
  return {
    name,
    maxSteps: 2,
    recursion: 1,
    propose: Effect.fnUntraced(function* (context: Context): Effect.fn.Return<Proposal, PolicyError> {
      const [one, other, third] = yield* found(name, context, [a, b, otherwise])
      const { previous } = context
      if (previous === undefined) return { workflow: { steps: [attempt(one!), attempt(other!)], answer: "majority" } }
      if (canStand(previous) && wasAsked(context, third!)) return stands
      const votes = (previous.answers ?? []).flatMap((answer) =>
        answer?.type === "answered" ? [voteOf(answer.text)] : []
      )
      if (votes.length === 2 && votes[0] === votes[1] && previous.feedback === undefined) {
        return { ...stands, notes: ["Both answers agree."] }
      }
      const why = previous.feedback ?? (votes.length === 2 ? "The two answers differ." : "There were not two answers.")
      return { workflow: { steps: [attempt(third!)] }, notes: [why] }
    })
  }
}
