/** The plans of the escalation policies. Loaded on demand, because few runs need them. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { voteOf } from "../workflow/vote.ts"
import type { Step } from "../workflow/Workflow.ts"
import { ordinal, type WorkerReference } from "./Baselines.ts"
import {
  type Context,
  canStand,
  type FailedCheck,
  PolicyError,
  type Proposal,
  type Revising,
  type Revision
} from "./Policy.ts"

const attempt = (worker: number): Step => ({ worker, subtask: "", access: [] })

const stands: Proposal = { workflow: { steps: [] } }

const found = (policy: string, { pool }: Context, references: ReadonlyArray<WorkerReference>) =>
  Effect.mapError(
    Effect.fromResult(Result.all(references.map((reference) => ordinal(pool, reference)))),
    (detail) => new PolicyError({ policy, detail })
  )

/** Whether the previous round called only this worker. */
const isAlone = ({ previous }: Context, worker: number): boolean =>
  previous?.workflow.steps.length === 1 && previous.workflow.steps[0]!.worker === worker

/** Plans a round of `checked`: the first worker with its check, then the second one. */
export const checked = (
  policy: string,
  workers: readonly [first: WorkerReference, then: WorkerReference],
  check: string,
  context: Context
): Effect.Effect<Proposal, PolicyError> =>
  Effect.map(found(policy, context, workers), ([cheap, strong]): Proposal => {
    const { previous } = context
    if (previous === undefined) {
      return { workflow: { steps: [{ ...attempt(cheap!), check: { by: check, onFailure: "revise" } }] } }
    }
    // A critic may object to an answer that passed its check, or that was not checked.
    if (previous.answer.type !== "answered") return { workflow: { steps: [attempt(strong!)] } }
    const wasAsked = isAlone(context, strong!) && cheap !== strong
    return wasAsked || previous.feedback === undefined ? stands : { workflow: { steps: [attempt(strong!)] } }
  })

const noteOf = ({ couldNotRun, objection }: FailedCheck): string =>
  couldNotRun === true ? objection : `The answer failed its check. ${objection}`

/** Plans the round of `checked` that follows a failed check. */
export const revised = (
  policy: string,
  then: WorkerReference,
  context: Revising
): Effect.Effect<Revision, PolicyError> =>
  Effect.map(found(policy, context, [then]), ([strong]) => ({
    type: "re-plan",
    workflow: { steps: [attempt(strong!)] },
    notes: [noteOf(context.evidence.failed[0])]
  }))

/** Plans a round of `agreed`: two workers, then the third one unless their answers agree. */
export const agreed = Effect.fnUntraced(function* (
  policy: string,
  workers: readonly [a: WorkerReference, b: WorkerReference, otherwise: WorkerReference],
  context: Context
): Effect.fn.Return<Proposal, PolicyError> {
  const [one, other, third] = yield* found(policy, context, workers)
  const { previous } = context
  if (previous === undefined) return { workflow: { steps: [attempt(one!), attempt(other!)], answer: "majority" } }
  if (canStand(previous) && isAlone(context, third!)) return stands
  const votes = (previous.answers ?? []).flatMap((answer) => (answer?.type === "answered" ? [voteOf(answer.text)] : []))
  if (votes.length === 2 && votes[0] === votes[1] && previous.feedback === undefined) {
    return { ...stands, notes: ["Both answers agree."] }
  }
  const why = previous.feedback ?? (votes.length === 2 ? "The two answers differ." : "Fewer than two answers arrived.")
  return { workflow: { steps: [attempt(third!)] }, notes: [why] }
})
