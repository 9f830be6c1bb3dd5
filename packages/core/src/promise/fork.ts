/** Forks: runs that continue another run from one of its steps. */
import * as Effect from "effect/Effect"
import * as Options from "../Options.ts"
import type * as Conductor from "../run/Conductor.ts"
import { withJournaledRun } from "../run/journaled.ts"
import { type ConductOptions, type ConductResult, conduct } from "./runs.ts"

/**
 * Options of `fork`: the `transcript` of a run, or its `runId` and the `journal` that stores it; the step `at` which
 * the fork starts; and the options of a run. `forkId` is the id of the new run. Default: a random UUID.
 */
export type ForkOptions<A = unknown> = Omit<ConductOptions<A>, "question" | "runId" | "resume"> &
  Conductor.Fork & { readonly forkId?: string | undefined }

/** The step to fork at. In a nested run, it is a step of a step. */
const placeTable: Options.Table = Options.table(
  {
    round: Options.whole(0),
    step: Options.whole(0),
    item: Options.expects('the name of an item, such as "3"', (value) => typeof value === "string"),
    get nested() {
      return placeTable
    }
  } satisfies Options.ShapeOf<Conductor.Fork["at"]>,
  { required: ["round", "step"] }
)

/**
 * Continues a run from one of its steps, as a new run: with another `answer` to the step, with changed fields of it
 * (`change`), with another `plan` of its round, or with another `policy`.
 *
 * **Details**
 *
 * Everything that does not depend on the step is taken from the record and costs nothing. The step and the steps that
 * see its answer call their workers again. Plans up to and including the step's round are also taken from the record;
 * later rounds are planned by the policy. `transcript.forkOf` of the result names the original run.
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
export const fork = async <A = unknown>({
  answer,
  at,
  change,
  forkId = crypto.randomUUID(),
  plan,
  runId,
  transcript,
  ...options
}: ForkOptions<A>): Promise<ConductResult<A>> => {
  if (transcript === undefined && (runId === undefined || options.journal === undefined)) {
    throw new Options.OptionsError({
      what: "fork",
      detail: `Give the "transcript" of the run, or its "runId" and "journal".`
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
  const resume = { transcript: cut.transcript, results: {} }
  return conduct({ ...options, seed: options.seed ?? cut.seed, question: cut.transcript.task, runId: forkId, resume })
}
