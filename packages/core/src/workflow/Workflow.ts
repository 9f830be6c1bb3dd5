/**
 * Workflows: the plan that a policy writes for a question, as plain data.
 *
 * A workflow is a short list of steps. Each step assigns a subtask in natural language to one worker and lists the
 * earlier steps that the worker sees. Because steps can only see earlier steps, a workflow is always a directed acyclic
 * graph: a single call, independent attempts with a judge, a chain, a tree, or a combination of these (paper, section
 * 1).
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import { nearest } from "../Nearest.ts"
import type { Reasoning } from "../task/Worker.ts"
import * as Keys from "./keys.ts"
import { isProgram, wrongField } from "./program.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The earlier steps that a step sees: all of them, or those with the given indices. */
export type Access = "all" | ReadonlyArray<number>

/** Refers to a step in an earlier round of the run. Both indices are zero-based. */
export interface EarlierStep {
  readonly round: number
  readonly step: number
}

/**
 * How to handle a failed check. `revise`: steps that see the answer wait; once no other step can run, the policy
 * decides whether to continue, to stop, or to write a new workflow. `next`: the next worker in the pool takes over the
 * step; if all workers fail, the last answer is used. `continue`: the verdict is recorded, and the workflow continues.
 * `again`: the same worker receives the objection and answers again; after `times` repetitions, the last answer is
 * used.
 */
export type OnFailure = "revise" | "next" | "continue" | "again"

/** The check that a step's answer must pass. A step without an answer fails its check as well. */
export interface StepCheck {
  /** Name of a check defined by the run or its policy, or the index of a worker that acts as a judge. */
  readonly by: string | number
  readonly onFailure: OnFailure
  /**
   * Maximum number of repetitions for `onFailure: "again"`, from 1 to 16. Not allowed with any other `onFailure`.
   * Default: 3.
   */
  readonly times?: number
}

/**
 * Required format of a step's answer: a JSON list with at most `list` items, or an output format defined by the run.
 */
export type Gives = { readonly list: number } | { readonly shape: string }

/**
 * Runs the step only if the answer of the step `failed` did not pass its check. Otherwise, the step adopts that answer
 * at no cost.
 */
export interface When {
  readonly failed: number
}

/**
 * A quorum: the step starts once `answers` of the answers that it sees have arrived, plus a grace period of
 * `graceMillis` (default 0). Steps and items that have not answered by then are stopped, unless another step waits for
 * them.
 */
export interface Enough {
  readonly answers: number
  readonly graceMillis?: number
}

/** Call settings for a single step. They override the run's settings. */
export interface StepSettings {
  readonly reasoning?: Reasoning
  /** Maximum number of output tokens per call, including reasoning. */
  readonly maxOutputTokens?: number
  readonly temperature?: number
  /** Maximum duration of one call, in milliseconds. */
  readonly timeoutMillis?: number
}

/** A single step: one instruction for one worker. */
export interface Step {
  /** Zero-based index of the worker in the pool. */
  readonly worker: number
  /** The instruction, in natural language. */
  readonly subtask: string
  readonly access: Access
  /** Steps of earlier rounds that this step sees. Their answers come first. */
  readonly earlier?: ReadonlyArray<EarlierStep>
  readonly check?: StepCheck
  /**
   * Whether the step may use the run's tools, or the names of the tools that it may use. Applies only if the policy
   * assigns tools (`toolAccess: "policy"`).
   */
  readonly tools?: boolean | ReadonlyArray<string>
  /** Required format of the answer. If it is a list, later steps can run once for each item. */
  readonly gives?: Gives
  /**
   * Index of an earlier step. This step runs once for each item of the list returned by that step, or, if that step
   * itself runs for items, once for each of the same items. The item replaces `{item}` in the subtask, or is appended
   * to it.
   */
  readonly each?: number
  readonly when?: When
  readonly enough?: Enough
  readonly settings?: StepSettings
}

/**
 * The plan for a question. Its answer is that of the last step. With `answer: "majority"`, it is the answer that most
 * steps agree on, or the earliest of these in case of a tie; answers are compared by their final answer, without their
 * reasoning. The paper's text format cannot express a majority vote, so it is available only to policies defined in
 * code.
 */
export interface Workflow {
  readonly steps: ReadonlyArray<Step>
  readonly answer?: "majority"
}

/** A step as specified in code; the worker is given by index or id. */
export interface StepInput extends Omit<Step, "worker"> {
  readonly worker: number | string
}

/** A workflow as specified in code. Use {@link byOrdinals} to convert it to a {@link Workflow}. */
export interface WorkflowInput extends Omit<Workflow, "steps"> {
  readonly steps: ReadonlyArray<StepInput>
}

/** The constraints that a workflow must satisfy. */
export interface Rules {
  /** Number of workers in the pool. */
  readonly poolSize: number
  /** Maximum number of steps. Default: 5, as in the paper. */
  readonly maxSteps?: number | undefined
  /** Whether an empty workflow is allowed, which confirms the previous answer. Set only in recursive rounds. */
  readonly allowEmpty?: boolean | undefined
  /** Number of steps in each earlier round that steps may refer to. Default: no earlier rounds. */
  readonly earlier?: ReadonlyArray<number> | undefined
  /** Names of the available checks. Default: none. */
  readonly checks?: ReadonlyArray<string> | undefined
  /** Number of workers, counted from the first, that may act as judges. Default: all. */
  readonly judges?: number | undefined
  /** Names of the output formats that steps may request (`gives: { shape }`). Default: none. */
  readonly shapes?: ReadonlyArray<string> | undefined
  /** Names of the tools that steps may select (`tools: [name]`). Default: none. */
  readonly tools?: ReadonlyArray<string> | undefined
  /** Maximum total number of items across all steps, calculated from the declared list lengths. Default: 1,000. */
  readonly maxItems?: number | undefined
}

/** Maximum number of steps in a workflow, as in the paper. */
export const defaultMaxSteps = 5

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** The rule that a workflow violates. Steps and indices are zero-based. */
export type WorkflowErrorReason =
  | { readonly _tag: "NotAWorkflow"; readonly detail: string }
  | { readonly _tag: "NoSteps" }
  /** The workflow contains an unknown key. `hint` suggests the closest valid one. */
  | { readonly _tag: "UnknownKey"; readonly of: string; readonly key: string; readonly hint: string }
  | { readonly _tag: "TooManySteps"; readonly steps: number; readonly maxSteps: number }
  | { readonly _tag: "UnequalLengths"; readonly workers: number; readonly subtasks: number; readonly access: number }
  | { readonly _tag: "WorkerOutOfRange"; readonly step: number; readonly worker: number; readonly poolSize: number }
  | { readonly _tag: "AccessNotBackward"; readonly step: number; readonly index: number }
  | { readonly _tag: "AccessOutOfRange"; readonly step: number; readonly index: number }
  | { readonly _tag: "EarlierOutOfRange"; readonly step: number; readonly earlier: EarlierStep }
  | {
      readonly _tag: "UnknownCheck"
      readonly step: number
      readonly check: string | number
      readonly known: ReadonlyArray<string>
    }
  /** A field that extends the paper's format has an invalid value. */
  | { readonly _tag: "WrongField"; readonly step: number; readonly field: string; readonly detail: string }

const range = (count: number) => (count === 1 ? "use 0" : count === 2 ? "use 0 or 1" : `use 0 to ${count - 1}`)

const describe = (reason: WorkflowErrorReason): string => {
  switch (reason._tag) {
    case "NotAWorkflow":
      return `It is not a workflow, { steps: [{ worker, subtask, access }] }: ${reason.detail}.`
    case "UnknownKey":
      return Keys.describe(reason).replace(/^./u, (letter) => letter.toUpperCase())
    case "NoSteps":
      return "The workflow has no steps; write at least one (an empty workflow is valid only in a recursive round)."
    case "TooManySteps":
      return `The workflow has ${reason.steps} steps; at most ${reason.maxSteps} are allowed (maxSteps).`
    case "UnequalLengths":
      return `The lists differ in length: ${reason.workers} workers, ${reason.subtasks} subtasks, ${reason.access} access lists.`
    case "WorkerOutOfRange":
      return `Step ${reason.step}: worker ${reason.worker} does not exist; ${range(reason.poolSize)}.`
    case "AccessNotBackward":
      return `Step ${reason.step}: access list contains step ${reason.index}, but a step can see only earlier steps.`
    case "AccessOutOfRange":
      return `Step ${reason.step}: access list contains ${reason.index}, which is not a step index.`
    case "EarlierOutOfRange":
      return `Step ${reason.step}: access list contains step ${reason.earlier.step} of round ${reason.earlier.round}, which did not run before it.`
    case "UnknownCheck": {
      const known = reason.known.length === 0 ? "no checks are configured" : `checks: ${reason.known.join(", ")}`
      return `Step ${reason.step}: check "${reason.check}" does not exist; ${known}.`
    }
    case "WrongField":
      return `Step ${reason.step}: ${reason.field}: ${reason.detail}${reason.detail.endsWith("?") ? "" : "."}`
  }
}

/** Raised when a workflow is invalid. `reason` contains the violated rule and the step. */
export class WorkflowError extends Data.TaggedError("WorkflowError")<{ readonly reason: WorkflowErrorReason }> {
  override get message(): string {
    return describe(this.reason)
  }
}

const fail = (reason: WorkflowErrorReason) => Result.fail(new WorkflowError({ reason }))

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const checkAccess = (access: Access, step: number): Result.Result<Access, WorkflowError> => {
  if (access === "all") return Result.succeed(access)
  for (const index of access) {
    if (!Number.isInteger(index) || index < 0) return fail({ _tag: "AccessOutOfRange", step, index })
    if (index >= step) return fail({ _tag: "AccessNotBackward", step, index })
  }
  const ascending = access.every((index, at) => at === 0 || access[at - 1]! < index)
  return Result.succeed(ascending ? access : [...new Set(access)].sort((left, right) => left - right))
}

const problemOf = ({ check, earlier = [] }: Step, step: number, rules: Rules): WorkflowErrorReason | undefined => {
  const { checks = [], earlier: rounds = [], judges = rules.poolSize } = rules
  const isThere = ({ round, step: at }: EarlierStep) => Number.isInteger(at) && at >= 0 && at < (rounds[round] ?? 0)
  const stranger = earlier.find((one) => !isThere(one))
  if (stranger !== undefined) return { _tag: "EarlierOutOfRange", step, earlier: stranger }
  if (check === undefined) return undefined
  const { by } = check
  const isKnown = typeof by === "string" ? checks.includes(by) : Number.isInteger(by) && by >= 0 && by < judges
  return isKnown ? undefined : { _tag: "UnknownCheck", step, check: by, known: checks }
}

/** Returns a short description of an invalid value. Never throws. */
const kindOf = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  if (typeof value === "function") return "a function"
  return Array.isArray(value) ? "a list" : typeof value === "object" && value !== null ? "an object" : String(value)
}

/**
 * Whether a value is a list of `{ round, step }`.
 *
 * @internal
 */
export const isEarlier = (earlier: unknown): boolean =>
  Array.isArray(earlier) && earlier.every((one) => Number.isInteger(one?.round) && Number.isInteger(one?.step))

/** Describes what is wrong with the check of a step. */
const problemOfCheck = (check: unknown): string | undefined => {
  const { by, onFailure } = (check ?? {}) as Partial<StepCheck>
  if (typeof by !== "string" && typeof by !== "number") return "needs { by, onFailure }"
  const isKnown = onFailure === "revise" || onFailure === "next" || onFailure === "continue" || onFailure === "again"
  return isKnown ? undefined : 'needs an onFailure of "revise", "next", "continue" or "again"'
}

/**
 * Describes the invalid fields of a step, or returns `undefined`. Worker ids have already been replaced with indices.
 */
const wrongFields = (step: Partial<Step> | null | undefined, index: number): string | undefined => {
  if (typeof step !== "object" || step === null)
    return `step ${index} is ${kindOf(step)}, not { worker, subtask, access }`
  const { access, check, earlier, subtask, worker } = step
  const wrong: Array<string> = []
  if (typeof worker !== "number" || Number.isNaN(worker)) {
    wrong.push(`worker is ${kindOf(worker)}, not an id or a number`)
  }
  if (typeof subtask !== "string") wrong.push(`subtask is ${kindOf(subtask)}, not a string`)
  if (access !== "all" && !Array.isArray(access)) {
    wrong.push(`access is ${kindOf(access)}, not "all" or a list of steps`)
  }
  if (wrong.length > 0) return `in step ${index}, ${wrong.join("; ")}`
  const wrongCheck = check === undefined ? undefined : problemOfCheck(check)
  if (wrongCheck !== undefined) return `the check of step ${index} ${wrongCheck}`
  const isWrong = earlier !== undefined && !isEarlier(earlier)
  return isWrong ? `the earlier of step ${index} is not a list of { round, step }` : undefined
}

/**
 * Returns an error message if a value does not have the structure of a workflow. Needed because policies written in
 * plain JavaScript may return anything.
 *
 * @internal
 */
export const malformation = (workflow: unknown): string | undefined => {
  if (typeof workflow !== "object" || workflow === null) return `it is ${kindOf(workflow)}`
  const { steps } = workflow as { readonly steps?: unknown }
  if (!Array.isArray(steps)) return `its steps are ${kindOf(steps)}`
  for (let index = 0; index < steps.length; index++) {
    const wrong = wrongFields(steps[index], index)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

const unknownWorker = (step: number, worker: string, ids: ReadonlyArray<string>): string => {
  const meant = nearest(worker, ids)
  const hint = meant === undefined ? `workers: ${ids.join(", ")}` : `did you mean "${meant}"?`
  return `Step ${step}: worker "${worker}" is not in the pool; ${hint}`
}

/**
 * Replaces worker ids with indices. Fails with a message if an id is unknown. A value that is not a workflow is
 * returned unchanged, so that {@link check} can report it.
 *
 * **Example**
 *
 * ```ts
 * import * as Result from "effect/Result"
 * import { Workflow } from "@divisi/core"
 *
 * const plan = { steps: [{ worker: "writer", subtask: "", access: [] }] }
 * Result.getOrThrow(Workflow.byOrdinals(plan, ["search", "writer"])).steps[0]?.worker // => 1
 * ```
 */
export const byOrdinals = (workflow: WorkflowInput, ids: ReadonlyArray<string>): Result.Result<Workflow, string> => {
  const isNamed = (step: WorkflowInput["steps"][number] | undefined) => typeof step?.worker === "string"
  if (!Array.isArray(workflow?.steps) || !workflow.steps.some(isNamed)) return Result.succeed(workflow as Workflow)
  const named = workflow.steps.map((step) => (isNamed(step) ? (step.worker as string) : undefined))
  const unknown = named.findIndex((id) => id !== undefined && !ids.includes(id))
  if (unknown >= 0) return Result.fail(unknownWorker(unknown, named[unknown]!, ids))
  const steps = workflow.steps.map((step, at) =>
    named[at] === undefined ? step : { ...step, worker: ids.indexOf(named[at]) }
  )
  return Result.succeed({ ...workflow, steps } as Workflow)
}

/**
 * Validates a workflow and normalizes its access lists (sorted, without duplicates).
 *
 * **Details**
 *
 * A valid workflow has 1 to `maxSteps` steps, workers that are in the pool, access lists that refer only to earlier
 * steps, existing checks, at most `maxItems` items, and no unknown keys. Otherwise, a `WorkflowError` with the violated
 * rule and the step is returned.
 *
 * **Example**
 *
 * ```ts
 * import * as Result from "effect/Result"
 * import { Workflow } from "@divisi/core"
 *
 * const plan = { steps: [{ worker: 7, subtask: "Solve it.", access: [] }] }
 * const checked = Workflow.check(plan, { poolSize: 3 })
 * Result.isFailure(checked) && checked.failure.message // => "Step 0: worker 7 does not exist; use 0 to 2."
 * ```
 */
export const check = (workflow: Workflow, rules: Rules): Result.Result<Workflow, WorkflowError> => {
  const unknown = Keys.unknownKeyOf(workflow)
  if (unknown !== undefined) return fail({ _tag: "UnknownKey", ...unknown })
  const detail = malformation(workflow)
  return detail === undefined ? ruled(workflow, rules) : fail({ _tag: "NotAWorkflow", detail })
}

/**
 * Validates and normalizes a workflow like {@link check}, without its form: the types of its fields, and its keys.
 *
 * @internal
 */
export const ruled = (workflow: Workflow, rules: Rules): Result.Result<Workflow, WorkflowError> => {
  const { allowEmpty = false, maxSteps = defaultMaxSteps, poolSize } = rules
  const count = workflow.steps.length
  if (count === 0 && !allowEmpty) return fail({ _tag: "NoSteps" })
  if (count > maxSteps) return fail({ _tag: "TooManySteps", steps: count, maxSteps })
  let steps: Array<Step> | undefined
  for (let index = 0; index < count; index++) {
    const step = workflow.steps[index]!
    if (!Number.isInteger(step.worker) || step.worker < 0 || step.worker >= poolSize) {
      return fail({ _tag: "WorkerOutOfRange", step: index, worker: step.worker, poolSize })
    }
    const access = checkAccess(step.access, index)
    if (Result.isFailure(access)) return Result.fail(access.failure)
    const problem = step.check === undefined && step.earlier === undefined ? undefined : problemOf(step, index, rules)
    if (problem !== undefined) return fail(problem)
    if (access.success !== step.access) {
      steps ??= workflow.steps.slice()
      steps[index] = { ...step, access: access.success }
    }
  }
  const checked = steps === undefined ? workflow : { ...workflow, steps }
  const wrong = isProgram(checked) ? wrongField(checked, rules) : undefined
  return wrong === undefined ? Result.succeed(checked) : fail(wrong)
}

// -------------------------------------------------------------------------------------------------------------------
// Combinators
// -------------------------------------------------------------------------------------------------------------------

/** Returns the indices of the steps that a step sees, in ascending order. */
export const visible = (workflow: Workflow, step: number): ReadonlyArray<number> => {
  const access = workflow.steps[step]!.access
  return access === "all" ? Array.from({ length: step }, (_, index) => index) : access
}

/**
 * Whether the workflow is empty, which confirms the previous answer.
 *
 * @internal
 */
export const isEmpty = (workflow: Workflow): boolean => workflow.steps.length === 0

/**
 * Returns the indices of the steps whose answer is used: the last step and its direct and indirect dependencies. With
 * `answer: "majority"`, all steps are used. Unused steps do not have to run.
 */
export const needed = (workflow: Workflow): ReadonlySet<number> => {
  const count = workflow.steps.length
  const found = new Set<number>()
  for (let step = count - 1; step >= 0; step--) {
    if (step === count - 1 || workflow.answer === "majority" || found.has(step)) {
      found.add(step)
      for (const earlier of visible(workflow, step)) found.add(earlier)
      const { each, when } = workflow.steps[step]!
      if (each !== undefined) found.add(each)
      if (when !== undefined) found.add(when.failed)
    }
  }
  return found
}
