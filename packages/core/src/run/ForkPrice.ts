/** Calculates the price of a fork before it runs. Steps that keep their answers cost nothing. */
import * as Result from "effect/Result"
import type { StepRecord, Transcript } from "../events/Transcript.ts"
import type { OptionsError } from "../Options.ts"
import * as Price from "../workflow/Price.ts"
import { type Cut, cut } from "./Fork.ts"

/** States of a step that a fork repeats without a call, failures included. */
const isEnded: ReadonlySet<StepRecord["state"]> = new Set(["answered", "failed", "skipped"])

/**
 * Returns the price of the round at which a run is forked, or the reason why it cannot be forked there.
 *
 * **Details**
 *
 * Later rounds, which the policy has yet to plan, are not included. The pool contains the workers of the run in the same
 * order, and can contain others after them. The price of a fork within a nested run is not known in advance.
 *
 * **Example**
 *
 * ```ts
 * import { ForkPrice } from "@divisi/core"
 * import { conduct, policy, worker } from "@divisi/core/promise"
 *
 * const pool = [worker({ id: "a", pricing: { inputPerMillion: 1, outputPerMillion: 4 }, answer: () => "It is 42." })]
 * const plan = policy("two steps", () => ({
 *   steps: [
 *     { worker: 0, subtask: "Try it.", access: [] },
 *     { worker: 0, subtask: "Check it.", access: [0] }
 *   ]
 * }))
 * const { transcript } = await conduct({ pool, policy: plan, question: "What is 6 times 7?" })
 * const price = ForkPrice.of(transcript, { at: { round: 0, step: 1 } }, { pool })
 * price._tag === "Success" && price.success.likely.calls // => 1
 * ```
 */
export const of = (
  transcript: Transcript,
  fork: Cut,
  setting: Omit<Price.Setting, "task" | "kept">
): Result.Result<Price.Price, OptionsError> =>
  Result.map(cut(transcript, fork, { ids: Price.idsOf(setting) }, transcript.runId), ({ rounds, task }) => {
    const { steps, workflow } = rounds[fork.at.round]!
    const kept = steps.flatMap(({ state, step }) => (isEnded.has(state) ? step : []))
    return Price.of(workflow!, { ...setting, task, kept: new Set(kept) })
  })
