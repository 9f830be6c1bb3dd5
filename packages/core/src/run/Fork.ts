/**
 * Forking: continues a run from one of its steps, with a different answer, worker, subtask, plan or policy.
 *
 * A fork is a new run resumed from a truncated transcript. The forked step and everything that depends on it are
 * removed; the remaining answers are reused and cost nothing.
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import { placeOf, withItems } from "../events/items.ts"
import { waiting } from "../events/OpenRecord.ts"
import type { AnswerSource, ForkOf } from "../events/RunEvent.ts"
import {
  type LostCall,
  type Place,
  planRules,
  type RoundRecord,
  type StepRecord,
  type Transcript
} from "../events/Transcript.ts"
import { defined } from "../Fields.ts"
import { listShape } from "../loop/lists.ts"
import { OptionsError } from "../Options.ts"
import type { Policy, Revising, Revision } from "../policy/Policy.ts"
import * as Policies from "../policy/Policy.ts"
import { noUsage } from "../task/Usage.ts"
import { axesOf, listOf, sharedItem, waitsFor } from "../workflow/program.ts"
import {
  byOrdinals,
  check,
  type Rules,
  type Step,
  type StepInput,
  type Workflow,
  type WorkflowInput
} from "../workflow/Workflow.ts"
import { read, write } from "../workflow/WorkflowText.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The step to fork at, and the changes to make. If `at.nested` is set, the fork point is a step of the nested run. */
export interface Cut {
  readonly at: Place
  /**
   * Replacement answer for the step. If set, no worker is called for the step, unless the answer fails the step's check
   * or does not match its shape. If the step must answer with a list, the answer must be a valid list.
   */
  readonly answer?: string | undefined
  /** Step fields to override in the plan, such as the worker (by index or id) or the subtask. */
  readonly change?: Partial<StepInput> | undefined
  /**
   * Replacement plan for the round, as an object or in the text format of `WorkflowText.write`. Steps that differ from
   * the recorded plan run again, as do all steps that depend on them. Defaults to the recorded plan.
   */
  readonly plan?: WorkflowInput | string | undefined
}

/**
 * The run that a fork starts, as far as its plan depends on it: the ids of its workers, and the names in its options,
 * which default to those in the recorded plans.
 */
export interface Forking extends Pick<Rules, "checks" | "shapes" | "tools" | "maxItems"> {
  readonly ids: ReadonlyArray<string>
}

/** Returns what a fork's plan may use, from the options of the run that it starts. */
export const forkingOf = (
  ids: ReadonlyArray<string>,
  {
    checks,
    maxItems,
    policy,
    shapes
  }: {
    readonly checks?: object | undefined
    readonly shapes?: object | undefined
    readonly maxItems?: number | undefined
    readonly policy?: Pick<Policy, "checks"> | undefined
  },
  tools: ReadonlyArray<string>
): Forking => ({
  ids,
  checks: Object.keys({ ...checks, ...policy?.checks }),
  shapes: Object.keys(shapes ?? {}),
  tools,
  maxItems
})

// -------------------------------------------------------------------------------------------------------------------
// Records that cost nothing
// -------------------------------------------------------------------------------------------------------------------

const free = { usage: noUsage, costUsd: 0 }

/** Returns how the fork obtains a recorded answer, whose usage and cost belong to the run that was forked. */
const reused = ({ origin = "forked-run" }: Partial<AnswerSource>) => ({ cached: false, origin })

/**
 * Returns the failed calls with their cost removed. Interrupted calls are dropped, because they have no effect on the
 * run.
 */
const freeLost = (lost: ReadonlyArray<LostCall>): ReadonlyArray<LostCall> =>
  lost.flatMap(({ chargeId: _, isRetired: __, ...call }) =>
    call.reason === undefined ? [] : [{ ...call, ...free, unasked: true as const }]
  )

const freeStep = (record: StepRecord, parent: string): StepRecord => ({
  ...record,
  lost: freeLost(record.lost),
  ...(record.paid && { paid: free, ...reused(record) }),
  ...(record.turns && { turns: record.turns.map((turn) => ({ ...turn, paid: free, ...reused(turn) })) }),
  ...(record.checkAnswers && { checkAnswers: record.checkAnswers.map((one) => ({ ...one, ...free, ...reused(one) })) }),
  ...(record.items && { items: record.items.map((item) => freeStep(item, parent)) }),
  ...(record.nested && { nested: freeRun(record.nested, parent) })
})

const freeRound = (round: RoundRecord, runId: string): RoundRecord => ({
  ...round,
  lost: freeLost(round.lost),
  completions: round.completions.map((one) => (one.paid === undefined ? one : { ...one, paid: free, ...reused(one) })),
  ...(round.criticAnswers && {
    criticAnswers: round.criticAnswers.map((one) => ({ ...one, ...free, ...reused(one) }))
  }),
  steps: round.steps.map((step) => freeStep(step, runId))
})

/** Returns a nested run's transcript with its id adjusted to the fork. */
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

/**
 * Maps each step that depends on the given step (or on one of its items, or on the steps in `from`) to the affected
 * items. An empty string means all items.
 */
const followers = (
  workflow: Workflow,
  step: number,
  item: string | undefined,
  from: ReadonlyArray<number> = []
): ReadonlyMap<number, string> => {
  const axes = axesOf(workflow)
  const found = new Map([[step, item ?? ""], ...from.map((other) => [other, ""] as const)])
  for (let later = Math.min(step, ...from) + 1; later < workflow.steps.length; later++) {
    if (found.get(later) === "") continue
    const shared = [...found].flatMap(([earlier, of]) => {
      if (!waitsFor(workflow.steps[later]!, earlier)) return []
      return of === "" ? "" : sharedItem(axes, earlier, later, of)
    })
    if (shared.length > 0) found.set(later, shared.every((one) => one === shared[0]) ? shared[0]! : "")
  }
  return found
}

/**
 * Returns a step's record without the items that depend on the forked step. `of` is the affected item, or an empty
 * string for all items.
 */
const without = (record: StepRecord, of: string): StepRecord => {
  if (of === "" || record.items === undefined) return waiting(record.step, record.worker)
  return {
    ...waiting(record.step, record.worker),
    items: record.items.filter(({ item }) => !`${item}.`.startsWith(`${of}.`))
  }
}

const wrong = (detail: string) => Result.fail(new OptionsError({ what: "fork", detail }))

/** Returns the rules for a fork's plan. Accepts workers that are in the pool but were not part of the recorded run. */
const rulesOf = (transcript: Transcript, round: number, { ids, ...names }: Forking): Rules => {
  const rules = planRules(transcript, round)
  return {
    ...rules,
    ...names,
    tools: [...(rules.tools ?? []), ...(names.tools ?? [])],
    judges: ids.length,
    poolSize: Math.max(rules.poolSize, ids.length)
  }
}

const refused = ({ message }: { readonly message: string }) => new OptionsError({ what: "fork", detail: message })

/** Parses a plan from text. */
const planIn = (text: string, rules: Rules): Result.Result<WorkflowInput, OptionsError> =>
  Result.mapBoth(read(text, { ...rules, mode: "strict", how: true }), {
    onFailure: refused,
    onSuccess: ({ workflow }) => workflow
  })

const replacedNote = "A fork replaced the plan."

/** Returns a step in text format. Settings that are only available in code are omitted. */
const textOf = (step: Step): string => write({ steps: [step] }, { how: true })

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Whether two steps are equal. Compares their JSON form, because recorded steps have no `undefined` fields. */
const isSameStep = (one: Step | undefined, other: Step | undefined): boolean =>
  one !== undefined && other !== undefined && Equal.equals(plain(one), plain(other))

/** Returns the round's workflow with the replacement plan and the step overrides applied, if a run accepts it. */
const changed = (
  transcript: Transcript,
  workflow: Workflow,
  { at, change, plan }: Cut,
  forking: Forking
): Result.Result<Workflow, OptionsError> =>
  Result.gen(function* () {
    const rules = rulesOf(transcript, at.round, forking)
    const byIndex = (input: WorkflowInput) =>
      Result.flatMap(
        Result.mapError(byOrdinals(input, forking.ids), (detail) => new OptionsError({ what: "fork", detail })),
        (whole) => Result.mapError(check(whole, rules), refused)
      )
    let whole = workflow
    if (typeof plan === "string") {
      const { steps } = yield* byIndex(yield* planIn(plan, rules))
      const recorded = workflow.steps
      const same = (step: Step, index: number) =>
        recorded[index] !== undefined && textOf(recorded[index]) === textOf(step) ? recorded[index] : step
      whole = { ...workflow, steps: steps.map(same) }
    } else if (plan !== undefined) whole = yield* byIndex(plan)
    if (change === undefined) return yield* byIndex(whole)
    const steps = whole.steps.map((step, index) => (index === at.step ? { ...step, ...change } : step))
    return yield* byIndex({ ...whole, steps })
  })

/** Names the steps that exist in a round, or the rounds that exist. */
const existing = ({ rounds }: Transcript, { round }: Cut["at"]): string => {
  const all = (what: string, count: number) => (count === 1 ? `${what} 0` : `${what}s 0 to ${count - 1}`)
  const steps = rounds[round]?.workflow?.steps.length ?? 0
  if (steps > 0) return `; this round has ${all("step", steps)}`
  if (rounds[round] !== undefined) return "; this round has no steps"
  return rounds.length === 0 ? "" : `; it has only ${all("round", rounds.length)}`
}

/** Truncates a run at a step. Returns its transcript under a new id, without anything that depends on the step. */
const cutAt = (
  transcript: Transcript,
  of: Cut,
  forking: Forking,
  runId: string
): Result.Result<Transcript, OptionsError> => {
  const { answer, at } = of
  const { ids } = forking
  const round = transcript.rounds[at.round]
  const record = round?.steps[at.step]
  if (round?.workflow === undefined || record === undefined)
    return wrong(`Run "${transcript.runId}" has no step ${at.step} in round ${at.round}${existing(transcript, at)}.`)
  const item = record.items?.find((one) => one.item === at.item)
  if (at.item !== undefined && item === undefined)
    return wrong(`Step ${at.step} of round ${at.round} has no item "${at.item}".`)
  const isWhole = at.nested === undefined
  if (isWhole && answer !== undefined && at.item === undefined && record.items !== undefined)
    return wrong(`Step ${at.step} runs once per item. Pass the item that gets the answer, such as { item: "0" }.`)
  const recorded = round.workflow
  const isNestedRun = (recorded.steps[at.step]?.worker ?? 0) >= transcript.pool.length
  if (isWhole && answer !== undefined && !isNestedRun && Object.keys(of.change ?? {}).length > 0)
    return wrong(
      `The answer replaces the call in step ${at.round}.${at.step}, so a different worker or subtask has no effect. Pass an answer or changes to the step, but not both.`
    )
  const workflow = isWhole ? changed(transcript, recorded, of, forking) : Result.succeed(recorded)
  if (Result.isFailure(workflow)) return Result.fail(workflow.failure)
  const planned = workflow.success.steps
  if (planned[at.step] === undefined && (answer !== undefined || Object.keys(of.change ?? {}).length > 0))
    return wrong(`The plan has no step ${at.step} to answer or change.`)
  const others = followers(
    workflow.success,
    at.step,
    at.item,
    [...planned.keys()].filter((index) => index !== at.step && !isSameStep(planned[index], recorded.steps[index]))
  )
  const given = isWhole ? answered(of, planned[at.step], ids) : within(item ?? record, of, forking, runId)
  if (Result.isFailure(given)) return Result.fail(given.failure)
  const { steps: free } = freeRound(round, runId)
  const steps = planned.map(({ worker }, index) => {
    const step = free[index] ?? waiting(index, ids[worker] ?? "self")
    const prefix = others.get(index)
    if (prefix === undefined) return step
    const replaced = index === at.step ? given.success : undefined
    if (replaced === undefined) return without(step, prefix)
    if (item === undefined) return replaced(step)
    return { ...without(step, prefix), items: [...(without(step, prefix).items ?? []), replaced(item)] }
  })
  const { answer: _, detail: __, durationMillis: ___, ending: ____, spend: _____, ...run } = transcript
  const { answer: _a, confirmed: _b, criticAnswers: _c, endedAt: _d, grade: _e, revisions: _f, ...begun } = round
  const { probability: _g, ...replaced } = begun
  const isReplaced = isWhole && of.plan !== undefined
  const last: RoundRecord = {
    ...freeRound((isReplaced ? { ...replaced, notes: [...begun.notes, replacedNote] } : begun) as RoundRecord, runId),
    workflow: workflow.success,
    steps,
    confirmed: false
  }
  const rounds = [...transcript.rounds.slice(0, at.round).map((one) => freeRound(one, runId)), last]
  return Result.succeed({ ...run, runId, rounds })
}

/** Creates the new record for the forked step or item. `undefined` if the step runs again from scratch. */
type Replaced = ((record: StepRecord) => StepRecord) | undefined

/** Returns a record with the replacement answer, so that the step does not call a worker. */
const answered = (
  { answer, at }: Cut,
  planned: Step | undefined,
  ids: ReadonlyArray<string>
): Result.Result<Replaced, OptionsError> => {
  if (answer === undefined) return Result.succeed(undefined)
  const worker = ids[planned?.worker ?? -1]
  if (worker === undefined) return wrong(`Step ${at.step} is a nested run; to answer it, also change its worker.`)
  const list = listOf(planned?.gives)
  const read = list === undefined ? undefined : listShape(list).read(answer)
  if (read?.isRight === false) return wrong(`Step ${at.step} gives a list, but the answer does not: ${read.why}.`)
  return Result.succeed((record) => ({
    ...waiting(record.step, record.worker),
    ...defined({ item: record.item }),
    worker,
    state: "answered",
    text: answer,
    finishReason: "stop",
    paid: free,
    ...{ cached: false, origin: "caller" }
  }))
}

/** Forks the run nested in a step, so that the step continues with the forked nested run. */
const within = (
  { nested }: StepRecord,
  { at, ...of }: Cut,
  forking: Forking,
  parent: string
): Result.Result<Replaced, OptionsError> => {
  if (nested === undefined) {
    const which = at.item === undefined ? "" : `item ${at.item} of `
    return wrong(`There is no nested run in ${which}step ${at.step} of round ${at.round}.`)
  }
  const runId = `${parent}/${at.round}.${placeOf(at.step, at.item)}`
  return Result.map(
    cutAt(nested, { ...of, at: at.nested! }, forking, runId),
    (cut): Replaced =>
      (record) => ({
        ...waiting(record.step, record.worker),
        ...defined({ item: record.item, startedAt: record.startedAt, without: record.without }),
        nested: { ...cut, ...(nested.parent && { parent: { ...nested.parent, runId: parent } }) }
      })
  )
}

/** Truncates a transcript at the fork point. The fork is then resumed from the result. */
export const cut = (
  transcript: Transcript,
  of: Cut,
  forking: Forking,
  runId: string
): Result.Result<Transcript, OptionsError> => {
  const { parent: _, ...whole } = transcript
  const forkOf: ForkOf = defined({ runId: transcript.runId, ...of.at }) as ForkOf
  return Result.map(cutAt(whole, of, forking, runId), (run) => ({ ...run, forkOf }))
}

// -------------------------------------------------------------------------------------------------------------------
// The policy
// -------------------------------------------------------------------------------------------------------------------

/** The recorded plans that a fork reuses, and the index of the last round that reuses one. */
export interface Recorded {
  readonly rounds: ReadonlyArray<RoundRecord>
  readonly last: number
  /**
   * Whether the run has already ended with an answer that does not depend on the forked step, so that no rounds follow.
   */
  readonly isWhole: boolean
}

/** Whether a step or item depends on the step at which its round was forked. */
const isCutOff = ({ workflow }: RoundRecord, at: Place, { item, step }: StepRecord): boolean => {
  const prefix = workflow === undefined ? undefined : followers(workflow, at.step, at.item).get(step)
  return prefix !== undefined && (prefix === "" || `${item}.`.startsWith(`${prefix}.`))
}

/** Returns the recorded plans that the fork, or a run nested in it, reuses. */
export const recordedIn = (fork: Transcript, id: string): Recorded | undefined =>
  fork.forkOf === undefined ? undefined : recordedAt(fork, fork.forkOf, id)

const recordedAt = ({ ending, rounds, runId }: Transcript, at: Place | undefined, id: string): Recorded | undefined => {
  const last = at?.round ?? rounds.length - 1
  if (runId === id)
    return { rounds, last, isWhole: at === undefined && (ending === "answered" || ending === "refused") }
  for (const round of rounds.slice(0, last + 1)) {
    for (const record of withItems(round.steps)) {
      const { item, nested, step } = record
      if (nested === undefined || !`${id}/`.startsWith(`${nested.runId}/`)) continue
      if (at === undefined || round.round < last || !isCutOff(round, at, record))
        return recordedAt(nested, undefined, id)
      const isAtCut = step === at.step && item === at.item && at.nested !== undefined
      return isAtCut ? recordedAt(nested, at.nested, id) : undefined
    }
  }
  return undefined
}

/**
 * Wraps a policy for a fork: replays the recorded plans and revisions up to the forked step's round, then delegates to
 * the policy.
 */
export const policyOf = (policy: Policy, { isWhole, last, rounds }: Recorded): Policy => {
  const recorded = (round: number) => (round <= last ? rounds[round] : undefined)
  const revised = new Map<number, number>()
  const revise = (context: Revising): Effect.Effect<Revision> | undefined => {
    const round = context.round - 1
    const index = revised.get(round) ?? 0
    const record = round < last || isWhole ? rounds[round]?.revisions?.[index] : undefined
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
    recursion: Math.max(policy.recursion ?? 0, last),
    propose: (context) => {
      const record = recorded(context.round)
      if (record?.workflow === undefined) return Policies.propose(policy, context)
      const { isOwn, notes, probability, workflow } = record
      const answer = isOwn === true ? record.answer : undefined
      const isLast = isWhole && context.round === last ? true : record.isLast
      return Effect.succeed(defined({ workflow, notes, probability, answer, isLast }))
    },
    revise: (context) => revise(context) ?? Policies.revise(policy, policy, context)
  }
}
