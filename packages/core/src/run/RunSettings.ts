/**
 * Settings for the execution of a run, independent of its policy: rounds, limits, calls, failures. Config files,
 * command flags, evaluations and trainings all embed this one schema.
 *
 * `Conductor` uses only the types, so a run does not load the schema.
 */
import * as Schema from "effect/Schema"
import * as Options from "../Options.ts"
import { type Checks, isCheck } from "../task/Check.ts"
import type { Critic } from "../task/Critic.ts"
import type { Shapes } from "../task/Shape.ts"
import type { Tool } from "../task/Tool.ts"
import type { Reasoning } from "../task/Worker.ts"
import type { Limits } from "./Budget.ts"
import type { Reassign, Retry } from "./Resilience.ts"
import { isTool, limitsTable, reassignWords, retryTable, settingsTable, workerTable } from "./tables.ts"

export { reference } from "./SettingsReference.ts"

/** Settings for every call to a worker. Default: the worker's own. */
export interface WorkerSettings {
  /** The maximum number of output tokens of one call, including reasoning; 4,096 in the paper's controlled setting. */
  readonly maxOutputTokens?: number | undefined
  /** The sampling temperature; 0.2 in the paper. */
  readonly temperature?: number | undefined
  readonly reasoning?: Reasoning | undefined
  /**
   * The behavior if a worker does not support a preference. With `"require"` (the default) the call fails. With
   * `"omit"` (the server's default) the preference is mapped to a supported one, or omitted with a notice.
   */
  readonly preferences?: "require" | "omit" | undefined
  /**
   * The maximum duration of one call, in milliseconds. By default, an answer may take up to half an hour after its
   * first part. The wait for the first part is not limited, because the vendors' clients have their own timeouts.
   */
  readonly timeoutMillis?: number | undefined
  /**
   * The maximum time without a new part of the answer, in milliseconds. If it is exceeded, the call fails as a
   * `Timeout` and is retried. Default: a third of `budget.durationMillis` for workers that stream, so that a hanging
   * call leaves time for another. Without such a budget, and for workers that do not stream, only the time limit of the
   * call applies. Keep-alive comments in a vendor's event stream do not count as parts. 0 disables it.
   */
  readonly silenceMillis?: number | undefined
}

/** Which steps of a workflow receive tools. */
export type ToolAccess = "last-step" | "every-step" | "policy" | "none"

/** The limits of a run, and how they are applied. */
export interface RunBudget extends Limits {
  /**
   * `"answer"` reserves the worst case of the last step. If the budget stops the other steps, the last step still
   * answers from the available results: the run ends as `budget`, and its answer is partial (`RunResult.isPartial`).
   * Answers that the step sees are estimated at 4 bytes per token. It has no effect on time limits, majority votes, or
   * a last step with items.
   */
  readonly keep?: "answer" | undefined
  /**
   * `"plan"` starts a plan only if its maximum price (`Price.of`, at 4 bytes per token) fits the remaining budget,
   * including shared accounts; then no limit on money, tokens or calls cuts it short. If it does not fit, a language
   * policy is shown the price and plans again; otherwise the run ends as `budget` before the first call of the plan.
   * Plans without a known price are not admitted. Shared accounts of this process reserve the amount while the plan
   * runs.
   */
  readonly admit?: "plan" | undefined
}

/** The settings of a run. All are optional. */
export interface RunSettings {
  /** The maximum number of steps of a workflow. Default: 5, as in the paper. */
  readonly maxSteps?: number | undefined
  /**
   * The maximum number of items of all steps of a workflow together, counted with the declared list lengths. Default:
   * 1,000. A plan that may exceed it is refused before anything runs.
   */
  readonly maxItems?: number | undefined
  /** The maximum number of items that run concurrently. Default: 16. */
  readonly itemsAtOnce?: number | undefined
  /**
   * The maximum number of recursive rounds after the first, in which the policy sees its previous workflow and answer.
   * Default: 0, or 2 with a critic. The run ends earlier if the policy confirms the previous answer. A round without an
   * answer (its last step failed) ends the run only if it was the last allowed round.
   */
  readonly recursion?: number | undefined
  /** Adds the Conductor to its own pool as the last worker. Nested runs are at most `maxDepth` deep. */
  readonly self?: { readonly maxDepth: number } | undefined
  /** The limits of each run. To limit several runs together, pass a shared ledger in `RunOptions`. */
  readonly budget?: RunBudget | undefined
  /** Settings for every call to a worker. */
  readonly worker?: WorkerSettings | undefined
  /** How failed calls are retried. Default: `Resilience.defaultRetry`. */
  readonly retry?: Retry | undefined
  /**
   * Which worker takes over a step whose worker failed after all retries. Default: the next eligible one of the pool
   * (`"next"`), or none (`"never"`) if the caller chose the worker explicitly, as with `single(0)`.
   */
  readonly reassign?: Reassign | undefined
  /**
   * On resume, the handling of a call whose process ended before its answer arrived: repeat it (default), fail it, or
   * let the next worker take over its step. In each case the lost call is charged at its worst case.
   */
  readonly onUnconfirmedCall?: "again" | "fail" | "reassign" | undefined
  /**
   * The effect of a step that fails after all retries: the failure is shown to the steps that depend on it (`"report"`,
   * the default), or the run ends (`"end"`).
   */
  readonly onStepFailure?: "report" | "end" | undefined
  /**
   * The effect of a worker's credentials being refused. With `"report"` (the default), it is handled like any other
   * failure: another worker takes over, and `RunResult.failures` lists it. With `"end"`, the run ends immediately.
   */
  readonly onAuthenticationFailure?: "report" | "end" | undefined
  /** Whether to skip steps whose answer is not used. Default: `true`. */
  readonly skipUnseen?: boolean | undefined
  /**
   * Scores the answer of each round. The next round sees the score, and the run's answer is the one with the best
   * score.
   */
  readonly critic?: Critic | undefined
  /** The score at which the critic's verdict counts as passed. Default: 1. */
  readonly threshold?: number | undefined
  /**
   * Named checks of step answers: functions, graders, critics, or workers that judge. A workflow assigns them to steps
   * (`Step.check`).
   */
  readonly checks?: Checks | undefined
  /**
   * Named shapes of step answers: Effect schemas, schemas of a library with Standard Schema, or JSON Schema. A workflow
   * assigns them to steps (`Step.gives`), whose answers are then JSON of that shape. The shape of the run's answer
   * (`output`) takes precedence.
   */
  readonly shapes?: Shapes | undefined
  /**
   * The maximum number of rounds caused by failed checks, in addition to those of `recursion`. Default: 2. When none
   * are left, the workflow continues without a revision.
   */
  readonly revisions?: number | undefined
  /**
   * Whether a person must approve each plan before its first call, including plans of nested runs. Default: `false`.
   * The run is suspended with the plan and its price (`waitingFor`, `for: "plan"`), unless `RunOptions.approvePlan`
   * decides. The result is `{ approved: true }`, `{ approved: false, reason }`, which ends the run as refused, or the
   * text of another plan, which is parsed strictly.
   */
  readonly approvePlans?: boolean | undefined
  /**
   * The tools that workers may call. A tool with `execute` runs within the step that calls it; a tool without `execute`
   * suspends the run until its result is provided.
   */
  readonly tools?: ReadonlyArray<Tool> | undefined
  /**
   * The steps that receive the tools: the last one (default), every step, those that the policy selects (`Step.tools`),
   * or none.
   */
  readonly toolAccess?: ToolAccess | undefined
  /** The maximum number of turns with tool calls before a step must answer. Default: 16. */
  readonly maxToolRounds?: number | undefined
  /**
   * If a worker does not support pictures, files or tools, its step fails (`"error"`, the default; `reassign` chooses
   * another worker), or they are omitted (`"omit"`) and the transcript records it. If no worker of the pool has the
   * capability, the run fails before anything is paid.
   */
  readonly unsupported?: "error" | "omit" | undefined
  /**
   * Makes the run reproducible: with a seed, equal answers of the workers give an equal transcript. Workers that
   * support seeds receive one derived from this seed.
   */
  readonly seed?: number | undefined
}

type Fields<A> = Readonly<Record<keyof A, Schema.Top>>

const optional = Schema.optionalKey

const number = (row: Options.Check) => {
  const message = `Expected ${row(undefined)}`
  const isHeld = Schema.makeFilter((value: number) => row(value) === undefined || message)
  return Schema.Number.check(isHeld)
}

const words = <Word extends string>(row: Options.OneOf<Word>) => Schema.Literals(row.words)

/** Declares a value that exists only in code and has no JSON form. */
const declared = <A>(row: Options.Check, identifier: string) =>
  Schema.declare((value): value is A => row(value) === undefined, { identifier })

/**
 * The fields of {@link schema}, for schemas that embed the settings. They are derived from the tables of
 * `Options.check` and do not transform the input. Optional fields must be absent rather than `undefined`. Critics,
 * checks, shapes, tools and a `reassign` function have no JSON form and are not included.
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
  shapes: optional(declared<Shapes>(settingsTable.shapes, "shapes by their names")),
  revisions: optional(number(settingsTable.revisions)),
  approvePlans: optional(Schema.Boolean),
  tools: optional(Schema.Array(Schema.declare(isTool, { identifier: "a tool" }))),
  toolAccess: optional(words(settingsTable.toolAccess)),
  maxToolRounds: optional(number(settingsTable.maxToolRounds)),
  unsupported: optional(words(settingsTable.unsupported)),
  seed: optional(number(settingsTable.seed))
} satisfies Fields<RunSettings>

/**
 * The schema of the settings.
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
