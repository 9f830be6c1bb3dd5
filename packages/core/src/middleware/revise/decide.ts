/** Asks the policy how to continue a round in which answers failed their checks. Loaded on first use. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { millisSince, ticks } from "../../Elapsed.ts"
import { defined } from "../../Fields.ts"
import * as prices from "../../loop/price.ts"
import {
  checkedProposal,
  completionsOf,
  held,
  objections,
  policyContextOf,
  previousOf,
  proposalKeys,
  type Revision,
  textOf,
  unknownIn
} from "../../loop/proposal.ts"
import { answerOf } from "../../loop/result.ts"
import type { RoundAsk, State } from "../../loop/round.ts"
import type { Results } from "../../loop/scheduler.ts"
import * as Policy from "../../policy/Policy.ts"
import * as Seed from "../../Seed.ts"
import type { KeysOf } from "../../workflow/keys.ts"
import type { PastRound } from "../../workflow/StepMessages.ts"
import * as Workflow from "../../workflow/Workflow.ts"

/** A round in which answers failed their checks. */
export interface Revising extends RoundAsk {
  readonly index: number
  /** The policy that wrote the workflow. */
  readonly author: Policy.Policy
  readonly workflow: Workflow.Workflow
  readonly results: Results
}

const failedOf = ({ steps }: Workflow.Workflow, { held, verdicts }: Results): ReadonlyArray<Policy.FailedCheck> =>
  held
    .toSorted((one, other) => one - other)
    .map((step) => {
      const by = steps[step]!.check!.by
      const check = typeof by === "string" ? by : `worker ${by}`
      const { couldNotRun, objection = "" } = verdicts[step] ?? {}
      return defined({ step, check, objection, couldNotRun })
    })

const newPlanKeys: KeysOf<Extract<Policy.Revision, Policy.Proposal>> = { ...proposalKeys, type: true }
const revisionKeys: KeysOf<Exclude<Policy.Revision, Policy.Proposal>> = { type: true, answer: true, notes: true }

/** Requests a revision from a policy and ensures that it is well-formed. Does not validate the workflow's rules. */
const revisionOf = (
  policy: Policy.Policy,
  author: Policy.Policy,
  context: Policy.Revising
): ReturnType<typeof Policy.revise> => {
  const problem = (detail: string) => Effect.fail(new Policy.PolicyError({ policy: author.name, detail }))
  return Effect.flatMap(Policy.revise(policy, author, context), (given): ReturnType<typeof Policy.revise> => {
    const { notes = [], type } = (given ?? {}) as Partial<Policy.Revision>
    if (!(Array.isArray(notes) && notes.every((note) => typeof note === "string")))
      return problem("its notes are not strings")
    const unknown = type === "go-on" || type === "stop" ? unknownIn(given, revisionKeys) : undefined
    if (unknown !== undefined) return problem(unknown)
    if (type === "go-on") return Effect.succeed(given)
    if (type === "stop") {
      const { answer } = given as Extract<Policy.Revision, { readonly type: "stop" }>
      return Workflow.isEarlier([answer])
        ? Effect.succeed(given)
        : problem("it stops the run, but does not name the { round, step } with the answer")
    }
    if (type === "re-plan") return Effect.as(checkedProposal(author.name, given as Policy.Proposal, newPlanKeys), given)
    return problem('its type is not "go-on", "stop" or "re-plan"')
  })
}

/** Validates a revision. */
const heldRevision = (
  state: State,
  revision: Policy.Revision,
  { author, durationMillis, previous }: { author: Policy.Policy; durationMillis: number; previous: Policy.Previous }
): Result.Result<Revision, Policy.PolicyError> => {
  if (revision.type === "go-on") return Result.succeed(revision)
  if (revision.type === "stop") {
    const { round, step } = revision.answer
    if (textOf({ past: previous.rounds as Array<PastRound> }, revision.answer) !== undefined)
      return Result.succeed(revision)
    const detail = `it stops the run with the answer of step ${step} of round ${round}, but that step has no answer`
    return Result.fail(new Policy.PolicyError({ policy: author.name, detail }))
  }
  const writer = { author: revision.author ?? author, policy: revision.policy ?? revision.author?.name ?? author.name }
  return Result.map(held(state, { ...revision, ...writer }, previous), (workflow) =>
    workflow.steps.length === 0 && revision.answer === undefined
      ? { type: "go-on", notes: revision.notes }
      : { ...revision, ...writer, workflow, durationMillis }
  )
}

/**
 * Asks the policy how to handle a round in which answers failed their checks. If the policy fails, the round continues.
 * If the policy's calls would exceed the budget, the run stops without a revision.
 */
export const decide = (
  state: State,
  { author, completions, index, results, round, seed, workflow }: Revising
): Effect.Effect<Revision | undefined> =>
  Effect.suspend(() => {
    const { context, past, policy, rounds } = state
    const startedAt = ticks(context.clock)
    const failed = failedOf(workflow, results) as Policy.Evidence["failed"]
    const soFar: PastRound = { workflow, answers: [...results.answers], verdicts: [...results.verdicts] }
    const answer = answerOf(workflow, results)
    const before = previousOf(
      { workflow, answer, failed: [], confirmed: false, objections: objections(results) },
      { past: [...past, soFar], rounds }
    )
    const asked = completionsOf(context, round, seed, completions.asked)
    const view: Policy.Revising = {
      ...policyContextOf(state, { round: round + 1, seed, previous: before, completions: asked }, prices),
      seed: Seed.derive(seed, "revise", index),
      previous: before,
      evidence: { failed }
    }
    const took = () => millisSince(context.clock, startedAt) + asked.addedMillis()
    const said = Effect.flatMap(revisionOf(policy, author, view), (revision) =>
      Effect.fromResult(heldRevision(state, revision, { author, previous: before, durationMillis: took() }))
    )
    const goesOn = ({ message }: { readonly message: string }) =>
      Effect.succeed<Revision>({ type: "go-on", notes: [`It continues unchanged: ${message}`] })
    const known = Effect.catch(said, (error) => (error._tag === "BudgetExceeded" ? Effect.fail(error) : goesOn(error)))
    const told = Effect.map(known, (revision) => {
      const { notes = [], type: decision } = revision
      const answer = revision.type === "stop" ? revision.answer : undefined
      // An interruption can happen before the round ends. The run then still has the selected answer.
      if (answer !== undefined && state.current !== undefined)
        state.current = { ...state.current, selected: textOf({ past: before.rounds as Array<PastRound> }, answer) }
      const name = revision.type === "re-plan" ? revision.policy : author.name
      const told = { type: "round-revised", round, index, policy: name, decision, notes } as const
      context.emit?.({ ...defined({ ...told, answer }), durationMillis: took() })
      return revision
    })
    return Effect.catch(told, (error) => {
      state.stopped = error
      return Effect.undefined
    })
  })
