/**
 * Escalation policies: call another worker if a check rejects the first answer, or if two answers differ.
 *
 * Both are ordinary policies: `checked` adds a check to its step, and `agreed` compares the answers of a finished
 * round. All calls, including those made by checks, are charged to the budget and recorded in the transcript.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { kindOf, OptionsError } from "../Options.ts"
import { type Check, isCheck } from "../task/Check.ts"
import { voteOf } from "../workflow/vote.ts"
import type { Step } from "../workflow/Workflow.ts"
import { ordinal, type WorkerReference } from "./Baselines.ts"
import { type Context, canStand, type Policy, PolicyError, type Proposal } from "./Policy.ts"

export { voteOf } from "../workflow/vote.ts"

// -------------------------------------------------------------------------------------------------------------------
// Policies
// -------------------------------------------------------------------------------------------------------------------

const attempt = (worker: number): Step => ({ worker, subtask: "", access: [] })

/** Name of the check in workflows written by `checked`. */
const theCheck = "check"

const stands: Proposal = { workflow: { steps: [] } }

const found = (policy: string, { pool }: Context, references: ReadonlyArray<WorkerReference>) =>
  Effect.mapError(
    Effect.fromResult(Result.all(references.map((reference) => ordinal(pool, reference)))),
    (detail) => new PolicyError({ policy, detail })
  )

/** Whether the previous round called only this worker. */
const isAlone = ({ previous }: Context, worker: number): boolean =>
  previous?.workflow.steps.length === 1 && previous.workflow.steps[0]!.worker === worker

/**
 * Creates a policy that asks one worker first, and a second one if the first returns no answer or its answer fails the
 * check.
 *
 * **Details**
 *
 * Workers are given by id or index. The check is attached to the first worker's step (`Step.check`) and receives the
 * answer and the task. If it fails, the next round starts early, with the second worker, whose answer is not checked.
 * Checks that are functions or graders are free; a check by a worker costs one call, and its cost and verdict are
 * recorded in the transcript. If the check throws, the answer does not pass.
 *
 * **Gotchas**
 *
 * When the first answer fails, both answers are paid for. The policy therefore saves money only if the first worker is
 * much cheaper than the second, or usually correct.
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
      detail: `the check must be a function, a grader, a critic or a worker, not ${kindOf(check)}.`
    })
  }
  const name = `checked:${first}+${then}`
  const workers = (context: Context) => found(name, context, [first, then])
  return {
    name,
    // No failover: the caller selected both workers and defined what happens if the first one fails.
    failover: false,
    checks: { [theCheck]: check },
    propose: (context) =>
      Effect.map(workers(context), ([cheap, strong]): Proposal => {
        const { previous } = context
        if (previous === undefined) {
          return { workflow: { steps: [{ ...attempt(cheap!), check: { by: theCheck, onFailure: "revise" } }] } }
        }
        // A critic may object to an answer that passed its check, or that was not checked.
        if (previous.answer.type !== "answered") return { workflow: { steps: [attempt(strong!)] } }
        const wasAsked = isAlone(context, strong!) && cheap !== strong
        return wasAsked || previous.feedback === undefined ? stands : { workflow: { steps: [attempt(strong!)] } }
      }),
    revise: (context) =>
      Effect.map(workers(context), ([, strong]) => ({
        type: "re-plan",
        workflow: { steps: [attempt(strong!)] },
        notes: [`The answer failed its check. ${context.evidence.failed[0].objection}`]
      }))
  }
}

/**
 * Creates a policy that asks two workers in parallel, and a third one if their answers differ or one of them is
 * missing.
 *
 * **Details**
 *
 * Workers are given by id or index. Answers agree if their final answers are equal, as in a majority vote: the content
 * of the last `\boxed{…}`, the text between `<answer>` tags or after "answer:" or "answer is", or else the whole text.
 * If the third answer agrees with one of the first two, that answer wins; otherwise, the third answer is used.
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
    // No failover: if one worker replaced the other, it would only agree with itself.
    failover: false,
    maxSteps: 2,
    recursion: 1,
    propose: Effect.fnUntraced(function* (context: Context): Effect.fn.Return<Proposal, PolicyError> {
      const [one, other, third] = yield* found(name, context, [a, b, otherwise])
      const { previous } = context
      if (previous === undefined) return { workflow: { steps: [attempt(one!), attempt(other!)], answer: "majority" } }
      if (canStand(previous) && isAlone(context, third!)) return stands
      const votes = (previous.answers ?? []).flatMap((answer) =>
        answer?.type === "answered" ? [voteOf(answer.text)] : []
      )
      if (votes.length === 2 && votes[0] === votes[1] && previous.feedback === undefined) {
        return { ...stands, notes: ["Both answers agree."] }
      }
      const why =
        previous.feedback ?? (votes.length === 2 ? "The two answers differ." : "Fewer than two answers arrived.")
      return { workflow: { steps: [attempt(third!)] }, notes: [why] }
    })
  }
}
