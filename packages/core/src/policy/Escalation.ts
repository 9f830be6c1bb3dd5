/**
 * Escalation policies: call another worker if a check rejects the first answer, or if two answers differ.
 *
 * Both are ordinary policies: `checked` adds a check to its step, and `agreed` compares the answers of a finished
 * round. All calls, including those made by checks, are charged to the budget and recorded in the transcript.
 */
import { onDemand } from "../OnDemand.ts"
import { kindOf, OptionsError } from "../Options.ts"
import { type Check, isCheck } from "../task/Check.ts"
import type { WorkerReference } from "./Baselines.ts"
import type { Policy } from "./Policy.ts"

export { voteOf } from "../workflow/vote.ts"

// -------------------------------------------------------------------------------------------------------------------
// Policies
// -------------------------------------------------------------------------------------------------------------------

const planned = onDemand(() => import("./escalate.ts"))

/** Name of the check in workflows written by `checked`. */
const theCheck = "check"

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
  return {
    name,
    // No failover: the caller selected both workers and defined what happens if the first one fails.
    failover: false,
    checks: { [theCheck]: check },
    propose: (context) => planned((plans) => plans.checked(name, [first, then], theCheck, context)),
    revise: (context) => planned((plans) => plans.revised(name, then, context))
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
    propose: (context) => planned((plans) => plans.agreed(name, [a, b, otherwise], context))
  }
}
