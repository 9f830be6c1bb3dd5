/**
 * Calculates the minimum, likely and maximum price of a workflow before it runs.
 *
 * `most` is an upper bound under the assumption that each output token of one worker counts as at most `perToken` input
 * tokens for another. Budgets do not rely on this assumption: they reserve the worst case of each call once its input
 * is known.
 */
import * as Result from "effect/Result"
import { isRecord } from "../Fields.ts"
import * as Options from "../Options.ts"
import { type Checks, checksRow } from "../task/Check.ts"
import * as Task from "../task/Task.ts"
import * as Usage from "../task/Usage.ts"
import type { Worker } from "../task/Worker.ts"
import { ids, makeUnsafe, type WorkerPool } from "../task/WorkerPool.ts"
import { costBound, outputBound, worstCase } from "../task/WorstCase.ts"
import { axesOf, listOf as boundOf } from "./program.ts"
import { type WorkerView, workerMessages } from "./StepMessages.ts"
import { byOrdinals, needed, type Step, visible, type Workflow, WorkflowError, type WorkflowInput } from "./Workflow.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A number of calls and tokens, and their cost. */
export interface Amount {
  readonly calls: number
  /** Input and output tokens combined. */
  readonly tokens: number
  /**
   * Cost in USD. `undefined` if it cannot be calculated in advance: for workers without a price, steps that run the
   * Conductor itself, steps that may call tools, and critics used as checks. In that case, the calls and tokens of
   * nested runs, tool turns and critics are not included.
   */
  readonly costUsd: number | undefined
}

/** The price range of a workflow. */
export interface Price {
  /**
   * Minimum: every call succeeds, and only steps that no quorum, condition, check or empty list can skip are counted.
   * Input and output are assumed to be empty.
   */
  readonly least: Amount
  /** Likely price: every call succeeds, and answers and lists have their usual length. */
  readonly likely: Amount
  /** Maximum: every call is retried as often as allowed, and answers and lists have their maximum length. */
  readonly most: Amount
  /** Each step's share of `most`, including its checks. */
  readonly steps: ReadonlyArray<Amount>
}

/** The run's properties on which the price depends. Only `pool` and `task` are required. */
export interface Setting {
  /** The pool, or the list of its workers. */
  readonly pool: WorkerPool | ReadonlyArray<Worker>
  /** The question, or a complete task. */
  readonly task: Task.Input
  /** Settings for every worker call. */
  readonly worker?: { readonly maxOutputTokens?: number | undefined } | undefined
  /** Retry policy for failed calls. Default: 3 attempts. */
  readonly retry?: { readonly maxAttempts?: number | undefined } | undefined
  /** Whether another worker takes over a step after its worker failed all retries. Default: `"next"`, as for a run. */
  readonly reassign?: "never" | "next" | undefined
  /** The run's named checks. Checks that do not call workers are free. */
  readonly checks?: Checks | undefined
  /** Whether the answer must match an output format. If so, up to two repeated requests are included. */
  readonly isShaped?: boolean | undefined
  /** The steps that may call tools. Default: none. */
  readonly tools?: "last-step" | "every-step" | "policy" | undefined
  /** Whether steps whose answer is not used are skipped. Default: `true`. */
  readonly skipUnseen?: boolean | undefined
  /** Steps that keep their answers from an earlier run, by index. They cost nothing. Default: none. */
  readonly kept?: ReadonlySet<number> | undefined
  /** The previous round, which steps with access `"all"` also see. */
  readonly previous?: WorkerView["previous"]
  /** Number of input tokens that one worker needs per output token of another. Default: 2. */
  readonly perToken?: number | undefined
  /** Typical number of output tokens in an answer. Default: 400. */
  readonly usualOutput?: number | undefined
}

/** The properties with a complete pool and task. */
interface Properties extends Setting {
  readonly pool: WorkerPool
  readonly task: Task.Task
}

const isWorker = (value: unknown): boolean => isRecord(value) && typeof value.generate === "function"

const table = Options.table(
  {
    pool: Options.expects(
      "a list of workers, or the pool of WorkerPool.makeUnsafe",
      (pool) => (Array.isArray(pool) && pool.every(isWorker)) || (isRecord(pool) && Array.isArray(pool.workers))
    ),
    task: Options.anything,
    worker: Options.anObject,
    retry: Options.anObject,
    reassign: Options.oneOf("never", "next"),
    checks: checksRow,
    isShaped: Options.flag,
    tools: Options.oneOf("last-step", "every-step", "policy"),
    skipUnseen: Options.flag,
    kept: Options.madeBy("a Set of steps", "has"),
    previous: Options.anObject,
    perToken: Options.number(0),
    usualOutput: Options.number(0)
  } satisfies Options.ShapeOf<Setting>,
  { required: ["pool", "task"], called: { question: "task", workers: "pool" } }
)

/**
 * Returns the ids of the workers.
 *
 * @internal
 */
export const idsOf = ({ pool }: Pick<Setting, "pool">): ReadonlyArray<string> =>
  ("workers" in pool ? pool.workers : pool).map(({ id }) => id)

const propertiesOf = (setting: Setting): Properties => {
  Options.check("Price.of", setting, table)
  const { pool, task } = setting
  return { ...setting, pool: "workers" in pool ? pool : makeUnsafe(pool), task: Task.make(task) }
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

/** Returns the maximum price of one call. Input is charged at the cache-write price if that is higher. */
const callBound = (worker: Worker, inputTokens: number, outputTokens: number): Amount => ({
  calls: 1,
  tokens: inputTokens + outputTokens,
  costUsd: costBound(worker, inputTokens, outputTokens)
})

/** Returns the price of one call without caching. */
const callOf = (worker: Worker, inputTokens: number, outputTokens: number): Amount => ({
  calls: 1,
  tokens: inputTokens + outputTokens,
  costUsd: Usage.cost(worker.pricing, { inputTokens, outputTokens })
})

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

/** Maximum number of repeated requests for an answer that does not match the output format. */
const corrections = 2

/** Allowance for a judge's prompt and the text between answers, in tokens. */
const frameTokens = 1_024

/** Allowance for the text around another step's answer, such as a failure message or an item's heading, in tokens. */
const textFrame = 512

/** Estimated share of conditional steps that run. */
const conditionShare = 0.3

interface StepPrice {
  readonly least: Amount
  readonly likely: Amount
  readonly most: Amount
}

/** The parts of the workflow and the run on which each step's price depends. */
interface Plan {
  readonly workflow: Workflow
  readonly setting: Properties
  /** Steps that run. */
  readonly wanted: ReadonlySet<number>
  readonly axes: ReadonlyArray<ReadonlyArray<number>>
  /** Maximum number of output tokens per call, by step. Not known for steps that run the Conductor itself. */
  readonly outputs: ReadonlyArray<number>
  /** Steps that always run unless something fails. */
  readonly sure: ReadonlySet<number>
}

/** Returns the workers that may answer a step, starting with the assigned one. */
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

/** Returns the number of cells of the earlier step that one cell of `step` sees. */
const seenCells = (plan: Plan, step: number, earlier: number): number => {
  const own = plan.axes[step]!
  const theirs = plan.axes[earlier]!
  const shared = theirs.filter((axis, at) => own[at] === axis).length
  return product(plan, theirs.slice(shared))
}

/** Returns the input tokens of a step, excluding the answers that it sees. */
const bareTokens = ({ setting: { previous, task }, workflow }: Plan, step: number, worker: Worker): number => {
  const answers = workflow.steps.map(() => ({ type: "answered" as const, text: "" }))
  const messages = workerMessages({ task, workflow, step, answers, previous })
  return worstCase({ worker, request: { messages, maxOutputTokens: 0 } }).tokens
}

/** Returns the number of tokens that a cell sees from other steps, given the output length of each step. */
const seenTokens = (plan: Plan, step: number, outputOf: (step: number) => number): number => {
  const { axes, workflow } = plan
  const item = workflow.steps[step]!.each === undefined ? 0 : outputOf(axes[step]!.at(-1)!)
  return visible(workflow, step).reduce((all, earlier) => {
    const heading = workflow.steps[earlier]!.each === undefined ? 0 : outputOf(axes[earlier]!.at(-1)!)
    return all + seenCells(plan, step, earlier) * (outputOf(earlier) + heading)
  }, item)
}

/** Returns the price of checking one answer. */
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
 * Returns the maximum number of requests for one answer, excluding retries of failed calls but including repetitions
 * after a failed check.
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
    // Each turn includes the previous turns and the reason for repeating the request.
    const history = (turns - 1) * (perToken * output + textFrame)
    const turn = callBound(worker, bareTokens(plan, index, worker) + seen + history, output)
    // Under a cost limit, workers without a price never take over a step.
    return at > 0 && turn.costUsd === undefined ? { ...turn, costUsd: 0 } : turn
  })
  const judged = times(judgements(plan, step, perToken * longest, task), tries * answered.length)
  const attempts = retry?.maxAttempts ?? 3
  const all = plus(times(sum(answered), turns), judged)
  return times(mayCallTools(plan, index) ? plus(all, unknown) : all, product(plan, plan.axes[index]!) * attempts)
}

/** Returns the likely number of items in a list: half of the maximum, rounded. */
const usualCells = (cells: number): number => Math.max(1, Math.round(cells / 2))

const likelyOf = (plan: Plan, index: number): Amount => {
  const { outputs, setting, workflow } = plan
  const { task, usualOutput = 400 } = setting
  const step = workflow.steps[index]!
  const worker = setting.pool.workers[step.worker]!
  const usual = (at: number) => Math.min(outputs[at] ?? usualOutput, usualOutput)
  // The bound counts bytes; text averages about four bytes per token.
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
  // The plan of a nested run is not known in advance.
  if (worker === undefined) return { least: plan.sure.has(index) ? unknown : nothing, likely: unknown, most: unknown }
  const least = plan.sure.has(index) ? callOf(worker, 0, 0) : nothing
  return { least, likely: likelyOf(plan, index), most: mostOf(plan, index) }
}

// -------------------------------------------------------------------------------------------------------------------
// Plans
// -------------------------------------------------------------------------------------------------------------------

const outputOf = ({ worker: all }: Properties, { settings }: Step, worker: Worker): number =>
  outputBound({ worker, request: { messages: [], maxOutputTokens: settings?.maxOutputTokens ?? all?.maxOutputTokens } })

/** Returns the maximum output tokens for each step, over all workers that may answer it. */
const outputsOf = (workflow: Workflow, setting: Properties): ReadonlyArray<number> =>
  workflow.steps.map((step) => Math.max(...setting.pool.workers.map((worker) => outputOf(setting, step, worker)), 0))

/**
 * Returns the steps that always run unless something fails. All other steps depend on a condition, a list, a quorum or
 * a check.
 */
const sureOf = (workflow: Workflow, wanted: ReadonlySet<number>): ReadonlySet<number> => {
  const { steps } = workflow
  const unsure = new Set<number>()
  // A quorum may stop the steps that it sees, and steps needed only by those.
  for (let step = steps.length - 1; step >= 0; step--) {
    if (steps[step]!.enough !== undefined || unsure.has(step))
      for (const earlier of visible(workflow, step)) unsure.add(earlier)
  }
  const held = new Set<number>()
  for (const [step, { check, each, when }] of steps.entries()) {
    if (when !== undefined || each !== undefined) unsure.add(step)
    // The policy may end the round before a step that sees a failed answer runs.
    const waits = visible(workflow, step).some((earlier) => held.has(earlier))
    if (waits) unsure.add(step)
    if (waits || check?.onFailure === "revise") held.add(step)
  }
  return new Set([...wanted].filter((step) => !unsure.has(step)))
}

const unpriceable = (detail: string) => new Options.OptionsError({ what: "Price.of", detail })

/** Returns the workflow with all workers as indices. Throws if there is no such worker, because it has no price. */
const inPool = (given: WorkflowInput, { pool }: Properties): Workflow => {
  if (!Array.isArray(given?.steps)) throw unpriceable("expected a workflow, { steps: [...] }.")
  const resolved = byOrdinals(given, ids(pool))
  if (Result.isFailure(resolved)) throw unpriceable(`${resolved.failure}.`)
  const workflow = resolved.success
  // The index after the last worker means the Conductor itself.
  const step = workflow.steps.findIndex(({ worker }) => !(worker === pool.workers.length || worker in pool.workers))
  if (step < 0) return workflow
  const { worker } = workflow.steps[step]!
  const reason = { _tag: "WorkerOutOfRange", step, worker, poolSize: pool.workers.length } as const
  throw unpriceable(new WorkflowError({ reason }).message)
}

/**
 * Calculates the price of a workflow, whose steps refer to workers by index or id. The workflow must be valid according
 * to `Workflow.check`. Throws an `OptionsError` if a worker is not in the pool.
 *
 * **Details**
 *
 * Includes the calls of the steps and their checks, but not those of the policy or of a critic that scores the answer.
 * Cache hits and replayed answers cost nothing, so a run may cost less than `least`.
 *
 * **Example**
 *
 * ```ts
 * import { Price } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 *
 * const pricing = { inputPerMillion: 1, outputPerMillion: 4 }
 * const pool = [{ ...ScriptedWorker.make({ id: "a", replies: [] }), pricing, maxOutputTokens: 1_000 }]
 * const plan = { steps: [{ worker: 0, subtask: "Solve it.", access: [] }, { worker: 0, subtask: "Check it.", access: [0] }] }
 * const price = Price.of(plan, { pool, task: "What is 6 times 7?", retry: { maxAttempts: 1 } })
 * price.most.calls // => 2
 * ```
 */
export const of = (given: WorkflowInput, input: Setting): Price => {
  const setting = propertiesOf(input)
  const workflow = inPool(given, setting)
  const seen = setting.skipUnseen === false ? new Set(workflow.steps.keys()) : needed(workflow)
  const wanted = setting.kept === undefined ? seen : seen.difference(setting.kept)
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
