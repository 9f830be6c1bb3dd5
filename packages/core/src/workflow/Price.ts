/**
 * The minimum, likely and maximum price of a workflow, calculated before it runs.
 *
 * `most` is an upper bound if each output token of one worker counts as at most `perToken` input tokens of another.
 * Budgets need no such assumption: they reserve the worst case of each call when its input is known.
 */
import type { Checks } from "../task/Check.ts"
import * as Task from "../task/Task.ts"
import * as Usage from "../task/Usage.ts"
import type { Worker } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import { costBound, outputBound, worstCase } from "../task/WorstCase.ts"
import { axesOf, listOf as boundOf } from "./program.ts"
import { type WorkerView, workerMessages } from "./StepMessages.ts"
import { needed, type Step, visible, type Workflow } from "./Workflow.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A number of calls and tokens, and their cost. */
export interface Amount {
  readonly calls: number
  /** Input and output tokens together. */
  readonly tokens: number
  /**
   * The cost in USD. `undefined` if it cannot be calculated before the run: for a worker without a price, a step of the
   * Conductor itself, a step that may call tools, or a critic as a check. In that case, calls and tokens of nested
   * runs, tool turns and critics are not counted.
   */
  readonly costUsd: number | undefined
}

/** The price of a workflow. */
export interface Price {
  /**
   * The minimum: every call succeeds, and only steps that no quorum, condition, check or empty list can skip are
   * counted. Input and output count as 0.
   */
  readonly least: Amount
  /** The likely price: every call succeeds, with answers and lists of the usual length. */
  readonly likely: Amount
  /** The maximum: every call is retried as often as allowed, with the longest answers and lists. */
  readonly most: Amount
  /** The part of each step in `most`, including its checks. */
  readonly steps: ReadonlyArray<Amount>
}

/** The properties of the run that the price depends on. Only `pool` and `task` are required. */
export interface Setting {
  readonly pool: WorkerPool
  readonly task: Task.Task
  /** The settings of every call to a worker. */
  readonly worker?: { readonly maxOutputTokens?: number | undefined } | undefined
  /** The retries of failed calls. Default: 3 attempts. */
  readonly retry?: { readonly maxAttempts?: number | undefined } | undefined
  /** Whether other workers take over a step whose worker failed after all retries. Default: `"next"`, as for a run. */
  readonly reassign?: "never" | "next" | undefined
  /** The checks of the run by name. Checks that do not call workers are free. */
  readonly checks?: Checks | undefined
  /** Whether the answer must have a shape. If so, up to two repeated requests are counted. */
  readonly isShaped?: boolean | undefined
  /** The steps that may call tools. Default: none. */
  readonly tools?: "last-step" | "every-step" | "policy" | undefined
  /** Whether steps whose answer is not used are skipped. Default: `true`. */
  readonly skipUnseen?: boolean | undefined
  /** The previous round, which steps with access `"all"` also see. */
  readonly previous?: WorkerView["previous"]
  /** The number of input tokens of a worker per output token of another. Default: 2. */
  readonly perToken?: number | undefined
  /** The usual number of output tokens of an answer. Default: 400. */
  readonly usualOutput?: number | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Amounts
// -------------------------------------------------------------------------------------------------------------------

const nothing: Amount = { calls: 0, tokens: 0, costUsd: 0 }

const unknown: Amount = { calls: 0, tokens: 0, costUsd: undefined }

const plus = (one: Amount, other: Amount): Amount => ({
  calls: one.calls + other.calls,
  tokens: one.tokens + other.tokens,
  costUsd: one.costUsd === undefined || other.costUsd === undefined ? undefined : one.costUsd + other.costUsd
})

const times = ({ calls, costUsd, tokens }: Amount, count: number): Amount =>
  count === 0 ? nothing : { calls: calls * count, tokens: tokens * count, costUsd: costUsd && costUsd * count }

const sum = (amounts: ReadonlyArray<Amount>): Amount => amounts.reduce(plus, nothing)

/** Returns the maximum of one call. Its input counts at the higher of the prices with and without cache. */
const callBound = (worker: Worker, inputTokens: number, outputTokens: number): Amount => ({
  calls: 1,
  tokens: inputTokens + outputTokens,
  costUsd: costBound(worker, inputTokens, outputTokens)
})

/** Returns one call at the price without cache. */
const callOf = (worker: Worker, inputTokens: number, outputTokens: number): Amount => ({
  calls: 1,
  tokens: inputTokens + outputTokens,
  costUsd: Usage.cost(worker.pricing, { inputTokens, outputTokens })
})

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

/** The maximum number of repeated requests for an answer with the wrong shape. */
const corrections = 2

/** The tokens of a judge's instruction and of the text between answers. */
const frameTokens = 1_024

/** The tokens around the text of another step, such as the reason for a failure or the heading of an item. */
const textFrame = 512

/** The likely share of conditional steps that run. */
const conditionShare = 0.3

interface StepPrice {
  readonly least: Amount
  readonly likely: Amount
  readonly most: Amount
}

/** The parts of a workflow and its run on which the price of each step depends. */
interface Plan {
  readonly workflow: Workflow
  readonly setting: Setting
  readonly wanted: ReadonlySet<number>
  readonly axes: ReadonlyArray<ReadonlyArray<number>>
  /** The maximum output tokens of one call, by step. Unknown for steps of the Conductor itself. */
  readonly outputs: ReadonlyArray<number>
  /** The steps that always run if nothing fails. */
  readonly sure: ReadonlySet<number>
}

/** Returns the workers that may answer a step, starting with its own. */
const answerersOf = (
  { setting: { pool, reassign = "next" } }: Plan,
  { check, worker }: Step
): ReadonlyArray<Worker> => {
  const own = pool.workers[worker]!
  if (reassign === "never" && check?.onFailure !== "next") return [own]
  return [own, ...pool.workers.filter((other) => other !== own)]
}

const listOf = ({ steps }: Workflow, step: number): number => boundOf(steps[step]!.gives) ?? 1

const product = ({ workflow }: Plan, axes: ReadonlyArray<number>): number =>
  axes.reduce((all, axis) => all * listOf(workflow, axis), 1)

/** Returns the number of cells of a step that one cell of another step sees. */
const seenCells = (plan: Plan, step: number, earlier: number): number => {
  const own = plan.axes[step]!
  const theirs = plan.axes[earlier]!
  const shared = theirs.filter((axis, at) => own[at] === axis).length
  return product(plan, theirs.slice(shared))
}

/** Returns the input of a step as if the answers that it sees were empty. */
const bareTokens = ({ setting: { previous, task }, workflow }: Plan, step: number, worker: Worker): number => {
  const answers = workflow.steps.map(() => ({ type: "answered" as const, text: "" }))
  const messages = workerMessages({ task, workflow, step, answers, previous })
  return worstCase({ worker, request: { messages, maxOutputTokens: 0 } }).tokens
}

/** Returns the tokens of other steps' texts that a cell sees, if each is `output` tokens long. */
const seenTokens = (plan: Plan, step: number, outputOf: (step: number) => number): number => {
  const { axes, workflow } = plan
  const item = workflow.steps[step]!.each === undefined ? 0 : outputOf(axes[step]!.at(-1)!)
  return visible(workflow, step).reduce((all, earlier) => {
    const heading = workflow.steps[earlier]!.each === undefined ? 0 : outputOf(axes[earlier]!.at(-1)!)
    return all + seenCells(plan, step, earlier) * (outputOf(earlier) + heading)
  }, item)
}

/** Returns the price of the checks of one answer. */
const judgements = (
  { setting: { checks = {}, pool } }: Plan,
  step: Step,
  answerTokens: number,
  task: Task.Task
): Amount => {
  const { check, subtask } = step
  if (check === undefined) return nothing
  const by = typeof check.by === "number" ? pool.workers[check.by] : checks[check.by]
  if (by === undefined || typeof by === "function" || "grade" in by) return nothing
  if (!("generate" in by)) return unknown
  const content = `${Task.question(task)}${subtask}`
  const asked = { worker: by, request: { messages: [{ role: "user" as const, content }], maxOutputTokens: 0 } }
  return callBound(
    by,
    worstCase(asked).tokens + frameTokens + answerTokens,
    outputBound({ ...asked, request: { messages: [] } })
  )
}

const mayCallTools = ({ setting: { tools }, workflow: { steps } }: Plan, step: number): boolean => {
  if (tools === undefined) return false
  if (tools === "every-step") return true
  return tools === "last-step" ? step === steps.length - 1 : hasTools(steps[step]!)
}

const hasTools = ({ tools }: Step): boolean =>
  tools !== undefined && tools !== false && (tools === true || tools.length > 0)

/**
 * Returns the maximum number of requests for one answer without failed calls, including repetitions because of its
 * check.
 */
const turnsOf = ({ setting, workflow }: Plan, step: number) => {
  const { check, gives } = workflow.steps[step]!
  const isLast = step === workflow.steps.length - 1
  const isShaped = gives !== undefined || (setting.isShaped === true && (isLast || workflow.answer === "majority"))
  const tries = 1 + (check?.onFailure === "again" ? (check.times ?? 1) : 0)
  return { tries, turns: tries * (isShaped ? 1 + corrections : 1) }
}

const mostOf = (plan: Plan, index: number): Amount => {
  const { outputs, setting, workflow } = plan
  const { perToken = 2, retry, task } = setting
  const step = workflow.steps[index]!
  const { tries, turns } = turnsOf(plan, index)
  const longest = Math.max(...outputs)
  const seen = seenTokens(plan, index, (earlier) => textFrame + perToken * (outputs[earlier] ?? longest))
  const answered = answerersOf(plan, step).map((worker, at) => {
    const output = outputOf(setting, step, worker)
    // Each turn is shown those before it, and the reason why it is asked again.
    const history = (turns - 1) * (perToken * output + textFrame)
    const turn = callBound(worker, bareTokens(plan, index, worker) + seen + history, output)
    // Under a cost limit, a worker without a price takes over no step.
    return at > 0 && turn.costUsd === undefined ? { ...turn, costUsd: 0 } : turn
  })
  const judged = times(judgements(plan, step, perToken * longest, task), tries * answered.length)
  const attempts = retry?.maxAttempts ?? 3
  const all = plus(times(sum(answered), turns), judged)
  return times(mayCallTools(plan, index) ? plus(all, unknown) : all, product(plan, plan.axes[index]!) * attempts)
}

/** Returns the likely length of a list: half of its maximum, rounded up. */
const usualCells = (cells: number): number => Math.max(1, Math.round(cells / 2))

const likelyOf = (plan: Plan, index: number): Amount => {
  const { outputs, setting, workflow } = plan
  const { task, usualOutput = 400 } = setting
  const step = workflow.steps[index]!
  const worker = setting.pool.workers[step.worker]!
  const usual = (at: number) => Math.min(outputs[at] ?? usualOutput, usualOutput)
  // A bound counts bytes; text has about four for a token.
  const bare = Math.ceil(bareTokens(plan, index, worker) / 4)
  const seen = visible(workflow, index).reduce(
    (all, earlier) => all + usualCells(seenCells(plan, index, earlier)) * usual(earlier),
    step.each === undefined ? 0 : Math.ceil(usualOutput / usualCells(product(plan, plan.axes[index]!)))
  )
  const call = callOf(worker, bare + seen, usual(index))
  const judged = judgements(plan, step, usual(index), task)
  const cells = step.each === undefined ? 1 : usualCells(product(plan, plan.axes[index]!))
  const one = plus(
    call,
    judged.calls === 0
      ? judged
      : { ...judged, tokens: Math.ceil(judged.tokens / 4), costUsd: judged.costUsd && judged.costUsd / 4 }
  )
  const share = times(one, cells * (step.when === undefined ? 1 : conditionShare))
  return mayCallTools(plan, index) ? plus(share, unknown) : share
}

const priceOf = (plan: Plan, index: number): StepPrice => {
  const step = plan.workflow.steps[index]!
  if (!plan.wanted.has(index)) return { least: nothing, likely: nothing, most: nothing }
  const worker = plan.setting.pool.workers[step.worker]
  // The plan of a nested run is not yet written.
  if (worker === undefined) return { least: plan.sure.has(index) ? unknown : nothing, likely: unknown, most: unknown }
  const least = plan.sure.has(index) ? callOf(worker, 0, 0) : nothing
  return { least, likely: likelyOf(plan, index), most: mostOf(plan, index) }
}

// -------------------------------------------------------------------------------------------------------------------
// Plans
// -------------------------------------------------------------------------------------------------------------------

const outputOf = ({ worker: all }: Setting, { settings }: Step, worker: Worker): number =>
  outputBound({ worker, request: { messages: [], maxOutputTokens: settings?.maxOutputTokens ?? all?.maxOutputTokens } })

/** Returns, by step, the maximum output of the workers that may answer it. */
const outputsOf = (workflow: Workflow, setting: Setting): ReadonlyArray<number> =>
  workflow.steps.map((step) => Math.max(...setting.pool.workers.map((worker) => outputOf(setting, step, worker)), 0))

/**
 * Returns the steps that always run if nothing fails. The others depend on a condition, a list, a quorum or a check.
 */
const sureOf = (workflow: Workflow, wanted: ReadonlySet<number>): ReadonlySet<number> => {
  const { steps } = workflow
  const unsure = new Set<number>()
  // A quorum stops what it sees, and what only that needs.
  for (let step = steps.length - 1; step >= 0; step--) {
    if (steps[step]!.enough !== undefined || unsure.has(step))
      for (const earlier of visible(workflow, step)) unsure.add(earlier)
  }
  const held = new Set<number>()
  for (const [step, { check, each, when }] of steps.entries()) {
    if (when !== undefined || each !== undefined) unsure.add(step)
    // The policy may end the round before a step that sees a failed check.
    const waits = visible(workflow, step).some((earlier) => held.has(earlier))
    if (waits) unsure.add(step)
    if (waits || check?.onFailure === "revise") held.add(step)
  }
  return new Set([...wanted].filter((step) => !unsure.has(step)))
}

/**
 * Returns the price of a workflow that `Workflow.check` accepts.
 *
 * **Details**
 *
 * It counts the calls of the steps and their checks, but not the calls of the policy and of a critic that scores the
 * answer. Cached and recorded answers cost nothing, so a run may cost less than `least`.
 *
 * **Example**
 *
 * ```ts
 * import { Price, Task, WorkerPool } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 *
 * const pricing = { inputPerMillion: 1, outputPerMillion: 4 }
 * const pool = WorkerPool.makeUnsafe([{ ...ScriptedWorker.make({ id: "a", replies: [] }), pricing, maxOutputTokens: 1_000 }])
 * const plan = { steps: [{ worker: 0, subtask: "Solve it.", access: [] }, { worker: 0, subtask: "Check it.", access: [0] }] }
 * const price = Price.of(plan, { pool, task: Task.make("What is 6 times 7?"), retry: { maxAttempts: 1 } })
 * price.most.calls // => 2
 * ```
 */
export const of = (workflow: Workflow, setting: Setting): Price => {
  const wanted = setting.skipUnseen === false ? new Set(workflow.steps.keys()) : needed(workflow)
  const plan: Plan = {
    workflow,
    setting,
    wanted,
    axes: axesOf(workflow),
    outputs: outputsOf(workflow, setting),
    sure: sureOf(workflow, wanted)
  }
  const steps = workflow.steps.map((_, index) => priceOf(plan, index))
  const all = (part: keyof StepPrice) => sum(steps.map((step) => step[part]))
  return { least: all("least"), likely: all("likely"), most: all("most"), steps: steps.map(({ most }) => most) }
}
