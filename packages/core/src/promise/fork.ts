/** Forking: starts a new run from a step of an existing run. */
import * as Effect from "effect/Effect"
import * as Options from "../Options.ts"
import type * as Conductor from "../run/Conductor.ts"
import { toolNamesOf } from "../run/Equipment.ts"
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

/** Options that only `fork` accepts, so that other functions can suggest it. */
const ownOptions = {
  transcript: Options.anything,
  at: Options.anything,
  answer: Options.anything,
  change: Options.anything,
  plan: Options.anything,
  forkId: Options.runId
} satisfies Options.Shape

/**
 * Forks a run at one of its steps: starts a new run with a different `answer` for that step, modified step fields
 * (`change`), a different `plan` for its round, or a different `policy`.
 *
 * **Details**
 *
 * Results that do not depend on the step are reused from the original run at no cost. The step and every step that
 * depends on it run again and call their workers. Plans are reused up to and including the step's round, unless `plan` replaces the plan of that round; the policy
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
  const of = { runId, transcript, answer, at, change, plan } as Conductor.Fork
  const ids = options.pool.map(({ id }) => id)
  const cut = await Effect.runPromise(
    withJournaledRun(({ forked, forkingOf }) =>
      forked(of, forkingOf(ids, options, toolNamesOf(options, {})), forkId, options.journal)
    )
  )
  const resume = { transcript: cut.transcript, results: {}, isFork: true } as const
  const seed = options.seed ?? cut.seed
  return conducted("fork", { ...options, seed, question: cut.transcript.task, runId: forkId, resume }, ownOptions)
}
