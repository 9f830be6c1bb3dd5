/** Forking: starts a new run from a step of an existing run. */
import * as Effect from "effect/Effect"
import * as Options from "../Options.ts"
import type * as Conductor from "../run/Conductor.ts"
import { withJournaledRun } from "../run/journaled.ts"
import { refusalOf } from "./options.ts"
import { type ConductOptions, type ConductResult, conducted } from "./runs.ts"

/**
 * Options for {@link fork}. Identify the original run by its `transcript`, or by its `runId` and the `journal` that
 * stores it. `at` selects the step to fork at. The remaining options are the same as for `conduct`. `forkId` sets the
 * id of the new run and defaults to a random UUID.
 */
export type ForkOptions<A = unknown> = Omit<ConductOptions<A>, "question" | "runId" | "resume"> &
  Conductor.Fork & { readonly forkId?: string | undefined }

/** Validates the position of the step to fork at. `nested` leads into the run that was started by that step. */
// Marked as pure, so that a bundle that does not use it leaves it out.
const placeTable: Options.Table = /* @__PURE__ */ (() =>
  Options.table(
    {
      round: Options.whole(0),
      step: Options.whole(0),
      item: Options.expects('the name of an item, such as "3"', (value) => typeof value === "string"),
      get nested() {
        return placeTable
      }
    } satisfies Options.ShapeOf<Conductor.Fork["at"]>,
    { required: ["round", "step"] }
  ))()

/** Options that only `fork` has, for suggestions. */
const ownOptions = {
  transcript: Options.anything,
  at: Options.anything,
  answer: Options.anything,
  change: Options.anything,
  plan: Options.anything,
  forkId: Options.anything
} satisfies Options.Shape

/**
 * Forks a run at one of its steps: starts a new run with a different `answer` for that step, modified step fields
 * (`change`), a different `plan` for its round, or a different `policy`.
 *
 * **Details**
 *
 * Results that do not depend on the step are reused from the original run at no cost. The step and every step that
 * depends on it run again and call their workers. Plans are reused up to and including the step's round; the policy
 * plans all later rounds. The id of the original run is available as `transcript.forkOf` of the result.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, fork, policy, worker } from "@divisi/core/promise"
 *
 * let calls = 0
 * const member = (id: string) => worker({ id, answer: () => `${id}, call ${(calls += 1)}` })
 * const plan = policy("two steps", () => ({
 *   steps: [
 *     { worker: 0, subtask: "Try it.", access: [] },
 *     { worker: 0, subtask: "Check it.", access: [0] }
 *   ]
 * }))
 * const options = { pool: [member("cheap"), member("strong")], policy: plan }
 * const { transcript } = await conduct({ ...options, question: "What is 6 times 7?" })
 * const other = await fork({ ...options, transcript, at: { round: 0, step: 1 }, change: { worker: "strong" } })
 * other.answer // => "strong, call 3"
 * other.spend.calls // => 1
 * ```
 */
export const fork = async <A = unknown>(given: ForkOptions<A>): Promise<ConductResult<A>> => {
  await refusalOf("fork", given, ownOptions)
  const { answer, at, change, forkId = crypto.randomUUID(), plan, runId, transcript, ...options } = given
  if (transcript === undefined && (runId === undefined || options.journal === undefined)) {
    throw new Options.OptionsError({
      what: "fork",
      detail: `Pass the "transcript" of the run, or its "runId" and "journal".`
    })
  }
  if (typeof at !== "object" || at === null) {
    throw new Options.OptionsError({ what: "fork", detail: `"at" must be the step to fork at, { round, step }.` })
  }
  Options.check("fork", { at }, { at: placeTable })
  const from = transcript === undefined ? { runId: runId! } : { transcript }
  const ids = options.pool.map(({ id }) => id)
  const cut = await Effect.runPromise(
    withJournaledRun(({ forked }) => forked({ ...from, answer, at, change, plan }, ids, forkId, options.journal))
  )
  const resume = { transcript: cut.transcript, results: {}, isFork: true } as const
  const seed = options.seed ?? cut.seed
  return conducted("fork", { ...options, seed, question: cut.transcript.task, runId: forkId, resume }, ownOptions)
}
