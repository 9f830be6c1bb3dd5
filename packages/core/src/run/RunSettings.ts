/**
 * Settings that control how a run is executed: rounds, limits, calls and error handling. The same schema is embedded in
 * config files, command-line flags, evaluations and training configurations.
 *
 * `Conductor` imports only the types, so a run does not load the schema.
 */
import * as Schema from "effect/Schema"
import * as Options from "../Options.ts"
import { type Checks, isCheck } from "../task/Check.ts"
import type { Critic } from "../task/Critic.ts"
import type { Shapes } from "../task/Shape.ts"
import type { Tool } from "../task/Tool.ts"
import type { Reasoning } from "../task/Worker.ts"
import type { Limits } from "./Limits.ts"
import { defaultRetry, type Reassign, type Retry } from "./Resilience.ts"
import { isTool, limitsTable, reassignWords, retryTable, settingsTable, workerTable } from "./tables.ts"

/** Settings applied to every worker call. Omitted settings default to the worker's own. */
export interface WorkerSettings {
  /** Maximum number of output tokens per call, including reasoning. The paper's controlled setting uses 4,096. */
  readonly maxOutputTokens?: number | undefined
  /** Sampling temperature. The paper uses 0.2. */
  readonly temperature?: number | undefined
  readonly reasoning?: Reasoning | undefined
  /**
   * How to handle preferences that a worker does not support. `"require"` (the default) fails the call. `"omit"` (the
   * server's default) substitutes a supported value or drops the preference, and adds a notice.
   */
  readonly preferences?: "require" | "omit" | undefined
  /**
   * Maximum duration of one call, in milliseconds. By default, an answer may take up to 30 minutes after its first
   * part. The time to the first part is not limited, because vendor clients have their own timeouts.
   */
  readonly timeoutMillis?: number | undefined
  /**
   * Maximum time without a new part of the answer, in milliseconds. If it is exceeded, the call fails with a `Timeout`
   * and is retried. Defaults to a third of `budget.durationMillis` for workers that stream, so that a stalled call
   * leaves time for another one. There is no default without such a budget, or for workers that do not stream.
   * Keep-alive comments in an event stream do not count as parts. 0 disables the limit.
   */
  readonly silenceMillis?: number | undefined
}

/** Selects the workflow steps that may call tools. */
export type ToolAccess = "last-step" | "every-step" | "policy" | "none"

/** Budget of a run: spending limits, and options for how they are enforced. */
export interface RunBudget extends Limits {
  /**
   * `"answer"` reserves the worst-case cost of the last step. If the budget stops earlier steps, the last step still
   * answers from the results available: the run ends with `budget`, and its answer is partial (`RunResult.isPartial`).
   * The cost of answers passed to the step is estimated at 4 bytes per token. Does not apply to time limits, majority
   * votes, or a last step with items.
   */
  readonly keep?: "answer" | undefined
  /**
   * `"plan"` starts a plan only if its maximum price (`Price.of`, at 4 bytes per token) fits the remaining budget,
   * including shared accounts. An admitted plan is never cut short by a cost, token or call limit. If a plan does not
   * fit, a language policy is shown the price and plans again; otherwise, the run ends with `budget` before the plan's
   * first call. Plans whose price is unknown are not admitted. Shared accounts in this process reserve the amount while
   * the plan runs.
   */
  readonly admit?: "plan" | undefined
}

/** Settings for a run. All are optional. */
export interface RunSettings {
  /** Maximum number of steps in a workflow. Default: 5, as in the paper. */
  readonly maxSteps?: number | undefined
  /**
   * Maximum total number of items across all steps of a workflow, calculated from the declared list lengths. A plan
   * that could exceed it is rejected before it runs. Default: 1,000.
   */
  readonly maxItems?: number | undefined
  /** Maximum number of items that run concurrently. Default: 16. */
  readonly itemsAtOnce?: number | undefined
  /**
   * Maximum number of rounds after the first. In each, the policy sees its previous workflow and the resulting answer.
   * The run ends earlier if the policy confirms the answer. A round without an answer (because its last step failed)
   * does not end the run while more rounds are allowed. `Infinity` allows as many rounds as the budget does, at most
   * 10,000. Default: 0, or 2 with a critic.
   */
  readonly recursion?: number | undefined
  /**
   * Adds the Conductor itself to its pool as the last worker. `maxDepth` limits the nesting depth of the resulting
   * runs.
   */
  readonly self?: { readonly maxDepth: number } | undefined
  /** Spending limits for each run. To limit several runs together, pass a shared ledger in `RunOptions`. */
  readonly budget?: RunBudget | undefined
  /** Settings for every worker call. */
  readonly worker?: WorkerSettings | undefined
  /** Retry policy for failed calls. Default: `Resilience.defaultRetry`. */
  readonly retry?: Retry | undefined
  /**
   * Selects the worker that takes over a step after its worker failed all retries. Defaults to the next eligible worker
   * in the pool (`"next"`), or to none (`"never"`) if the caller selected the worker explicitly, as with `single(0)`.
   */
  readonly reassign?: Reassign | undefined
  /**
   * How a resumed run handles a call that was in flight when its process ended: send it again (`"again"`, the default),
   * treat it as failed (`"fail"`), or assign its step to the next worker (`"reassign"`). In each case, the lost call is
   * charged at its worst case.
   */
  readonly onUnconfirmedCall?: "again" | "fail" | "reassign" | undefined
  /**
   * How to handle a step that failed after all retries: inform the steps that depend on it (`"report"`, the default),
   * or end the run (`"end"`).
   */
  readonly onStepFailure?: "report" | "end" | undefined
  /**
   * How to handle rejected worker credentials. `"report"` (the default) treats this like any other failure: another
   * worker takes over, and the failure is listed in `RunResult.failures`. `"end"` ends the run immediately.
   */
  readonly onAuthenticationFailure?: "report" | "end" | undefined
  /** Whether to skip steps whose answer is not used. Default: `true`. */
  readonly skipUnseen?: boolean | undefined
  /**
   * Scores the answer of each round. The score is shown to the policy in the next round, and the answer with the best
   * score becomes the run's answer.
   */
  readonly critic?: Critic | undefined
  /** Minimum critic score for an answer to pass. Default: 1. */
  readonly threshold?: number | undefined
  /**
   * Named checks for step answers: functions, graders, critics, or workers acting as judges. A workflow assigns them to
   * steps with `Step.check`.
   */
  readonly checks?: Checks | undefined
  /**
   * Named output formats for step answers: an Effect schema, a Standard Schema, or JSON Schema. A workflow assigns them
   * to steps with `Step.gives`; such a step answers with matching JSON. For the run's final answer, `output` takes
   * precedence.
   */
  readonly shapes?: Shapes | undefined
  /**
   * Maximum number of extra rounds caused by failed checks, in addition to `recursion`. Once used up, the workflow
   * continues without a revision. Default: 2.
   */
  readonly revisions?: number | undefined
  /**
   * Whether each plan requires human approval before its first call, including plans of nested runs. Unless
   * `RunOptions.approvePlan` is set, the run is suspended with the plan and its price (`waitingFor`, `for: "plan"`).
   * Resume it with `{ approved: true }`, with `{ approved: false, reason }` to end the run as refused, or with the text
   * of a replacement plan, which is parsed strictly. Default: `false`.
   */
  readonly approvePlans?: boolean | undefined
  /**
   * Tools available to workers. A tool with `execute` runs as part of the step that calls it. A call to a tool without
   * `execute` suspends the run until the result is provided.
   */
  readonly tools?: ReadonlyArray<Tool> | undefined
  /**
   * Selects the steps that may call tools: the last step (the default), every step, steps chosen by the policy
   * (`Step.tools`), or none.
   */
  readonly toolAccess?: ToolAccess | undefined
  /** Maximum number of tool-calling turns before a step must answer. Default: 16. */
  readonly maxToolRounds?: number | undefined
  /**
   * How to handle images, files and tools that a worker does not support: fail the step (`"error"`, the default; see
   * `reassign`), or drop them and note this in the transcript (`"omit"`). If no worker in the pool has the capability,
   * the run fails before anything is paid for.
   */
  readonly unsupported?: "error" | "omit" | undefined
  /**
   * Seed that makes the run reproducible: if workers return the same answers, the transcript is the same. Workers that
   * support seeds receive one derived from this value.
   */
  readonly seed?: number | undefined
}

/**
 * Settings for a run that is measured, or from which a policy learns. Another worker never takes over a step, because
 * the result would then belong to that worker.
 */
export interface MeasuredSettings extends Omit<RunSettings, "reassign"> {
  readonly reassign?: "never" | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Reference
// -------------------------------------------------------------------------------------------------------------------

interface Groups {
  readonly self: NonNullable<RunSettings["self"]>
  readonly budget: RunBudget
  readonly worker: WorkerSettings
  readonly retry: Retry
}

/** Dotted path of a setting, such as `budget.costUsd`. */
export type Path =
  | Exclude<keyof RunSettings, keyof Groups>
  | { [Group in keyof Groups]: `${Group}.${keyof Groups[Group] & string}` }[keyof Groups]

/** Documentation for a setting. */
export interface Row {
  readonly default: string
  readonly unit?: string
  /** The `divisi run` flag that sets it. */
  readonly flag?: `--${string}`
  readonly doc: string
}

const millis = "ms"

/** Documentation for each setting, keyed by its path. Tests compare the settings page and the flags with it. */
export const reference: { readonly [P in Path]: Row } = {
  maxSteps: { default: "5", flag: "--max-steps", doc: "Maximum number of steps in a workflow." },
  maxItems: {
    default: "1000",
    doc: "Maximum total number of items in a workflow, calculated from the declared list lengths."
  },
  itemsAtOnce: { default: "16", doc: "Maximum number of items that run in parallel." },
  recursion: {
    default: "0; 2 with a critic",
    flag: "--recursion",
    doc: "Maximum number of rounds after the first, in which the policy sees its previous workflow and answer."
  },
  "self.maxDepth": {
    default: "off",
    doc: "Offers the Conductor as a worker of its own pool; sets the maximum depth of nested runs."
  },
  "budget.costUsd": { default: "no limit", unit: "USD", flag: "--max-cost", doc: "Maximum cost of the run." },
  "budget.tokens": {
    default: "no limit",
    unit: "tokens",
    doc: "Maximum number of tokens of the run, input and output."
  },
  "budget.calls": { default: "no limit", unit: "calls", doc: "Maximum number of calls of the run." },
  "budget.durationMillis": {
    default: "no limit",
    unit: millis,
    flag: "--timeout",
    doc: "Maximum duration of the run."
  },
  "budget.keep": {
    default: "nothing",
    doc: "`answer`: reserves budget for the last step, so that it can answer when a limit is reached."
  },
  "budget.admit": {
    default: "every plan",
    doc: "`plan`: a plan starts only if its maximum price fits into the budget."
  },
  "worker.maxOutputTokens": {
    default: "the worker's own",
    unit: "tokens",
    flag: "--max-output-tokens",
    doc: "Maximum number of output tokens of one call, including reasoning."
  },
  "worker.temperature": { default: "the worker's own", doc: "Sampling temperature of every call." },
  "worker.reasoning": {
    default: "the worker's own",
    doc: 'Reasoning effort of every call: `{ type: "effort", effort }`, `{ type: "budget", tokens }` or `{ type: "off" }`.'
  },
  "worker.preferences": {
    default: '"require"; "omit" in a server',
    doc: "Behavior if a worker does not support a preference: the call fails, or the preference is mapped or left out with a notice."
  },
  "worker.timeoutMillis": { default: "30 minutes", unit: millis, doc: "Maximum duration of one call." },
  "worker.silenceMillis": {
    default: "a third of `budget.durationMillis`",
    unit: millis,
    flag: "--silence",
    doc: "Maximum time without data in a streaming call; after that, the call fails with `Timeout`. 0 disables this."
  },
  "retry.maxAttempts": {
    default: `${defaultRetry.maxAttempts}`,
    unit: "attempts",
    doc: "Maximum number of attempts of a call, including the first."
  },
  "retry.baseDelayMillis": {
    default: `${defaultRetry.baseDelayMillis}`,
    unit: millis,
    doc: "Delay before the first retry."
  },
  "retry.factor": { default: `${defaultRetry.factor}`, doc: "Factor by which the delay grows with every failure." },
  "retry.maxDelayMillis": {
    default: `${defaultRetry.maxDelayMillis}`,
    unit: millis,
    doc: "Maximum delay between retries."
  },
  "retry.maxRetryAfterMillis": {
    default: `${defaultRetry.maxRetryAfterMillis}`,
    unit: millis,
    doc: "Longest `retry-after` of a vendor that is respected; if it is longer, the call is not retried."
  },
  "retry.jitter": {
    default: `${defaultRetry.jitter}`,
    doc: "Whether delays are randomized; the same seed gives the same delays."
  },
  reassign: {
    default: '"next"; "never" if the policy names its worker for the caller',
    flag: "--reassign",
    doc: "The worker that takes over a step if its worker failed permanently."
  },
  onUnconfirmedCall: {
    default: '"again"',
    doc: "Behavior on resume for a call whose outcome is unknown: it is repeated, it fails, or its step is reassigned."
  },
  onStepFailure: {
    default: '"report"',
    doc: "Behavior if a step fails permanently: steps that read its answer see the failure, or the run ends."
  },
  onAuthenticationFailure: {
    default: '"report"',
    doc: "Behavior if a worker's credentials are rejected: the same as for other failures, or the run ends."
  },
  skipUnseen: { default: "true", doc: "Whether a step is skipped if no other step reads its answer." },
  critic: { default: "none", doc: "Scores the answer of every round; the answer of the run is the best one." },
  threshold: { default: "1", doc: "The score at which a critic accepts an answer." },
  checks: { default: "none", flag: "--check", doc: "Checks that steps can refer to, by name." },
  shapes: { default: "none", doc: "Shapes (JSON Schemas) that steps can return, by name." },
  revisions: {
    default: "2",
    doc: "Maximum number of rounds that start early because an answer failed its check, in addition to `recursion`."
  },
  approvePlans: {
    default: "false",
    flag: "--approve-plans",
    doc: "Whether a person must approve each plan, which is shown with its price, before its first call."
  },
  tools: { default: "none", flag: "--tool", doc: "The tools that workers may call." },
  toolAccess: { default: '"last-step"', flag: "--tool-access", doc: "The steps that get the tools." },
  maxToolRounds: { default: "16", doc: "Maximum number of tool rounds per step; after that, the step must answer." },
  unsupported: {
    default: '"error"',
    doc: "Behavior if a worker does not support images, files or tools: its step fails, or they are left out with a notice."
  },
  seed: {
    default: "0",
    flag: "--seed",
    doc: "Seed for everything random. If it is set, seeds are also sent to workers."
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Schema
// -------------------------------------------------------------------------------------------------------------------

type Fields<A> = Readonly<Record<keyof A, Schema.Top>>

const optional = Schema.optionalKey

const number = (row: Options.Check) => {
  const message = `Expected ${row(undefined)}`
  const isHeld = Schema.makeFilter((value: number) => row(value) === undefined || message)
  return Schema.Number.check(isHeld)
}

const words = <Word extends string>(row: Options.OneOf<Word>) => Schema.Literals(row.words)

/** Declares a value that exists only in code and cannot be represented as JSON. */
const declared = <A>(row: Options.Check, identifier: string) =>
  Schema.declare((value): value is A => row(value) === undefined, { identifier })

/**
 * The fields of {@link schema}, for embedding in other schemas. They are derived from the `Options.check` tables and do
 * not transform their input. Optional fields must be omitted rather than set to `undefined`. Critics, checks, output
 * formats, tools and a `reassign` function are excluded, because they cannot be represented as JSON.
 */
export const fields = {
  maxSteps: optional(number(settingsTable.maxSteps)),
  maxItems: optional(number(settingsTable.maxItems)),
  itemsAtOnce: optional(number(settingsTable.itemsAtOnce)),
  recursion: optional(number(settingsTable.recursion)),
  self: optional(Schema.Struct({ maxDepth: number(settingsTable.self.maxDepth) })),
  budget: optional(
    Schema.Struct({
      costUsd: optional(number(limitsTable.costUsd)),
      tokens: optional(number(limitsTable.tokens)),
      calls: optional(number(limitsTable.calls)),
      durationMillis: optional(number(limitsTable.durationMillis)),
      keep: optional(words(settingsTable.budget.keep)),
      admit: optional(words(settingsTable.budget.admit))
    } satisfies Fields<RunBudget>)
  ),
  worker: optional(
    Schema.Struct({
      maxOutputTokens: optional(number(workerTable.maxOutputTokens)),
      temperature: optional(number(workerTable.temperature)),
      reasoning: optional(
        Schema.Union([
          Schema.Struct({
            type: Schema.Literal("effort"),
            effort: Schema.Literals(["minimal", "low", "medium", "high"])
          }),
          Schema.Struct({ type: Schema.Literal("budget"), tokens: number(Options.whole(0)) }),
          Schema.Struct({ type: Schema.Literal("off") })
        ])
      ),
      preferences: optional(words(workerTable.preferences)),
      timeoutMillis: optional(number(workerTable.timeoutMillis)),
      silenceMillis: optional(number(workerTable.silenceMillis))
    } satisfies Fields<WorkerSettings>)
  ),
  retry: optional(
    Schema.Struct({
      maxAttempts: optional(number(retryTable.maxAttempts)),
      baseDelayMillis: optional(number(retryTable.baseDelayMillis)),
      factor: optional(number(retryTable.factor)),
      maxDelayMillis: optional(number(retryTable.maxDelayMillis)),
      maxRetryAfterMillis: optional(number(retryTable.maxRetryAfterMillis)),
      jitter: optional(Schema.Boolean)
    } satisfies Fields<Retry>)
  ),
  reassign: optional(
    Schema.Union([words(reassignWords), declared<Exclude<Reassign, string>>(Options.aFunction, "a function")])
  ),
  onUnconfirmedCall: optional(words(settingsTable.onUnconfirmedCall)),
  onStepFailure: optional(words(settingsTable.onStepFailure)),
  onAuthenticationFailure: optional(words(settingsTable.onAuthenticationFailure)),
  skipUnseen: optional(Schema.Boolean),
  critic: optional(declared<Critic>(settingsTable.critic, "a critic")),
  threshold: optional(number(settingsTable.threshold)),
  checks: optional(Schema.Record(Schema.String, Schema.declare(isCheck, { identifier: "a check" }))),
  shapes: optional(declared<Shapes>(settingsTable.shapes, "an object of shapes, keyed by name")),
  revisions: optional(number(settingsTable.revisions)),
  approvePlans: optional(Schema.Boolean),
  tools: optional(Schema.Array(Schema.declare(isTool, { identifier: "a tool" }))),
  toolAccess: optional(words(settingsTable.toolAccess)),
  maxToolRounds: optional(number(settingsTable.maxToolRounds)),
  unsupported: optional(words(settingsTable.unsupported)),
  seed: optional(number(settingsTable.seed))
} satisfies Fields<RunSettings>

/**
 * The schema for run settings.
 *
 * **Example**
 *
 * ```ts
 * import * as RunSettings from "@divisi/core/RunSettings"
 * import * as Schema from "effect/Schema"
 *
 * const settings = Schema.decodeUnknownSync(RunSettings.schema)({ maxSteps: 3, budget: { costUsd: 0.05 } })
 * settings.maxSteps // => 3
 * ```
 */
export const schema = Schema.Struct(fields)
