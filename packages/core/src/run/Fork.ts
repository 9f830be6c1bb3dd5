/**
 * Forks: runs that continue another run from one of its steps, with another answer, worker, subtask or policy.
 *
 * To fork, the transcript is cut, and a new run is resumed from it: the step and everything that depends on it are
 * removed, and the rest counts as cached answers, which cost nothing.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { waiting } from "../events/OpenRecord.ts"
import type { ForkOf } from "../events/RunEvent.ts"
import type { LostCall, Place, RoundRecord, StepRecord, Transcript } from "../events/Transcript.ts"
import { defined } from "../Fields.ts"
import { OptionsError } from "../Options.ts"
import type { Policy, Revising, Revision } from "../policy/Policy.ts"
import * as Policies from "../policy/Policy.ts"
import { noUsage } from "../task/Usage.ts"
import { axesOf, sharedItem, waitsFor } from "../workflow/program.ts"
import { byOrdinals, type StepInput, type Workflow } from "../workflow/Workflow.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The step at which a run is forked, and the changes to it. */
export interface Cut {
  readonly at: Place
  /** The answer of the step. If set, no worker is called for it. */
  readonly answer?: string | undefined
  /** Fields that replace those of the step in the plan: its worker (by index or id), its subtask, and others. */
  readonly change?: Partial<StepInput> | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Records that cost nothing
// -------------------------------------------------------------------------------------------------------------------

const free = { usage: noUsage, costUsd: 0 }

/** Failures are repeated without a call. Interrupted calls have no consequence and are dropped. */
const freeLost = (lost: ReadonlyArray<LostCall>): ReadonlyArray<LostCall> =>
  lost.flatMap(({ chargeId: _, isRetired: __, ...call }) =>
    call.reason === undefined ? [] : [{ ...call, ...free, unasked: true as const }]
  )

const freeStep = (record: StepRecord, parent: string): StepRecord => ({
  ...record,
  lost: freeLost(record.lost),
  ...(record.paid && { paid: free, cached: true }),
  ...(record.turns && { turns: record.turns.map((turn) => ({ ...turn, paid: free, cached: true })) }),
  ...(record.checkAnswers && { checkAnswers: record.checkAnswers.map((one) => ({ ...one, ...free, cached: true })) }),
  ...(record.items && { items: record.items.map((item) => freeStep(item, parent)) }),
  ...(record.nested && { nested: freeRun(record.nested, parent) })
})

const freeRound = (round: RoundRecord, runId: string): RoundRecord => ({
  ...round,
  lost: freeLost(round.lost),
  completions: round.completions.map((one) => (one.paid === undefined ? one : { ...one, paid: free, cached: true })),
  ...(round.criticAnswers && {
    criticAnswers: round.criticAnswers.map((one) => ({ ...one, ...free, cached: true }))
  }),
  steps: round.steps.map((step) => freeStep(step, runId))
})

/** A nested run under the id that it has in the fork. */
const freeRun = (run: Transcript, parent: string): Transcript => {
  const runId = `${parent}${run.runId.slice(run.parent?.runId.length ?? 0)}`
  return {
    ...run,
    runId,
    ...(run.parent && { parent: { ...run.parent, runId: parent } }),
    rounds: run.rounds.map((round) => freeRound(round, runId))
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The cut
// -------------------------------------------------------------------------------------------------------------------

/** By step, the items that follow from a step or an item of it; an empty text stands for all. */
const followers = (workflow: Workflow, step: number, item: string | undefined): ReadonlyMap<number, string> => {
  const axes = axesOf(workflow)
  const found = new Map([[step, item ?? ""]])
  for (let later = step + 1; later < workflow.steps.length; later++) {
    const shared = [...found].flatMap(([earlier, of]) => {
      if (!waitsFor(workflow.steps[later]!, earlier)) return []
      return of === "" ? "" : sharedItem(axes, earlier, later, of)
    })
    if (shared.length > 0) found.set(later, shared.every((one) => one === shared[0]) ? shared[0]! : "")
  }
  return found
}

/** The record of a step without the items that follow from the cut; `of` is one of them, or empty for all. */
const without = (record: StepRecord, of: string): StepRecord => {
  if (of === "" || record.items === undefined) return waiting(record.step, record.worker)
  return {
    ...waiting(record.step, record.worker),
    items: record.items.filter(({ item }) => !`${item}.`.startsWith(`${of}.`))
  }
}

const wrong = (detail: string) => Result.fail(new OptionsError({ what: "fork", detail }))

/** The workflow of the round with the changed step. */
const changed = (
  workflow: Workflow,
  { at, change }: Cut,
  ids: ReadonlyArray<string>
): Result.Result<Workflow, OptionsError> => {
  if (change === undefined) return Result.succeed(workflow)
  const steps = workflow.steps.map((step, index) => (index === at.step ? { ...step, ...change } : step))
  return Result.mapError(
    byOrdinals({ ...workflow, steps }, ids),
    (detail) => new OptionsError({ what: "fork", detail })
  )
}

/** Cuts the transcript of a run at a step. The fork is resumed from the result. */
export const cut = (
  transcript: Transcript,
  of: Cut,
  ids: ReadonlyArray<string>,
  runId: string
): Result.Result<Transcript, OptionsError> => {
  const { answer, at } = of
  const round = transcript.rounds[at.round]
  const record = round?.steps[at.step]
  if (round?.workflow === undefined || record === undefined)
    return wrong(`The run ${transcript.runId} has no step ${at.step} in round ${at.round}.`)
  const item = record.items?.find((one) => one.item === at.item)
  if (at.item !== undefined && item === undefined)
    return wrong(`Step ${at.step} of round ${at.round} has no item "${at.item}".`)
  if (answer !== undefined && at.item === undefined && record.items !== undefined)
    return wrong(`Step ${at.step} runs for items; name the item that gets the answer, as in { item: "0" }.`)
  const workflow = changed(round.workflow, of, ids)
  if (Result.isFailure(workflow)) return Result.fail(workflow.failure)
  const worker = ids[workflow.success.steps[at.step]!.worker]
  if (answer !== undefined && worker === undefined)
    return wrong(`Step ${at.step} is a nested run; to answer it, also change its worker.`)
  const others = followers(workflow.success, at.step, at.item)
  const given = (one: StepRecord): StepRecord => ({
    ...waiting(one.step, one.worker),
    ...defined({ item: one.item }),
    worker: worker ?? one.worker,
    state: "answered",
    text: answer ?? "",
    finishReason: "stop",
    paid: free,
    cached: true
  })
  const steps = freeRound(round, runId).steps.map((step, index) => {
    const prefix = others.get(index)
    if (prefix === undefined) return step
    if (index !== at.step || answer === undefined) return without(step, prefix)
    if (item === undefined) return given(step)
    return { ...without(step, prefix), items: [...(without(step, prefix).items ?? []), given(item)] }
  })
  const { answer: _, detail: __, durationMillis: ___, ending: ____, parent: _____, spend: ______, ...run } = transcript
  const { answer: _a, confirmed: _b, criticAnswers: _c, endedAt: _d, grade: _e, revisions: _f, ...begun } = round
  const last: RoundRecord = {
    ...freeRound(begun as RoundRecord, runId),
    workflow: workflow.success,
    steps,
    confirmed: false
  }
  const rounds = [...transcript.rounds.slice(0, at.round).map((one) => freeRound(one, runId)), last]
  const forkOf: ForkOf = defined({ runId: transcript.runId, ...at })
  return Result.succeed({ ...run, runId, forkOf, rounds })
}

// -------------------------------------------------------------------------------------------------------------------
// The policy
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the policy of a fork: it returns the recorded plans and revisions up to the forked step, and delegates later
 * rounds to the policy.
 */
export const policyOf = (policy: Policy, { forkOf, rounds }: Transcript): Policy => {
  if (forkOf === undefined) return policy
  const recorded = (round: number) => (round <= forkOf.round ? rounds[round] : undefined)
  const revised = new Map<number, number>()
  const revise = (context: Revising): Effect.Effect<Revision> | undefined => {
    const round = context.round - 1
    const index = revised.get(round) ?? 0
    const record = round < forkOf.round ? rounds[round]?.revisions?.[index] : undefined
    if (record === undefined) return undefined
    revised.set(round, index + 1)
    const { answer, decision, notes } = record
    if (decision === "stop") return Effect.succeed({ type: "stop", answer: answer!, notes })
    const workflow = rounds[context.round]?.workflow
    return Effect.succeed(
      decision === "re-plan" && workflow !== undefined ? { type: "re-plan", workflow, notes } : { type: "go-on", notes }
    )
  }
  return {
    ...policy,
    maxSteps: Math.max(policy.maxSteps ?? 0, ...rounds.map(({ workflow }) => workflow?.steps.length ?? 0)),
    recursion: Math.max(policy.recursion ?? 0, forkOf.round),
    propose: (context) => {
      const { answer, isOwn, notes, probability, workflow } = recorded(context.round) ?? {}
      if (workflow === undefined) return Policies.propose(policy, context)
      const own = isOwn === true ? answer : undefined
      return Effect.succeed(defined({ workflow, notes, probability, answer: own }))
    },
    revise: (context) => revise(context) ?? Policies.revise(policy, policy, context)
  }
}
