/**
 * Settings for the execution of a run, independent of its policy: rounds, limits, calls, failures. A single value with
 * one schema that config files, command flags, evaluations and trainings embed as a whole.
 *
 * `Conductor` uses the types alone, so a run loads no schema.
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

/** The settings of every call of a worker. Absent ones are the worker's own. */
export interface WorkerSettings {
  /** Output tokens of one call, reasoning included; 4,096 in the paper's controlled setting. */
  readonly maxOutputTokens?: number | undefined
  /** 0.2 in the paper. */
  readonly temperature?: number | undefined
  readonly reasoning?: Reasoning | undefined
  /**
   * The behavior if a worker does not support a preference. With `"require"` (the default) its call fails. With
   * `"omit"` (a server's default) the preference is mapped or left out with a notice.
   */
  readonly preferences?: "require" | "omit" | undefined
  /**
   * The maximum duration of one call, in milliseconds. Without it an answer may keep arriving for half an hour. A
   * worker that sends nothing at all is waited for without a limit, because the vendors' clients have limits of their
   * own.
   */
  readonly timeoutMillis?: number | undefined
  /**
   * The maximum silence of a call, in milliseconds, before and within its answer; after it the call fails as a
   * `Timeout` and is retried. Default: a third of `budget.durationMillis` for workers that stream, so that a hanging
   * call leaves time for another. Without such a budget, and for workers whose answers arrive whole, the silence is
   * limited only by the time limit of the call. Only parts of an answer count: comments of a vendor's event stream do
   * not. 0 turns it off.
   */
  readonly silenceMillis?: number | undefined
}

/** Which steps of a workflow are given tools. */
export type ToolAccess = "last-step" | "every-step" | "policy" | "none"

/** The limits of a run, and what they leave free. */
export interface RunBudget extends Limits {
  /**
   * `"answer"`: the other steps leave the worst case of the last step free. If the budget stops them, the last step
   * still answers, with what there is: the run ends as `budget`, and its answer is partial (`RunResult.isPartial`).
   * Answers that the step sees count 4 bytes for each token. It does not limit time, a majority, or a step with items.
   */
  readonly keep?: "answer" | undefined
  /**
   * `"plan"`: a plan starts only if the most that it can cost (`Price.of`, at 4 bytes a token) fits what is left, on
   * shared accounts too; then no limit of money, tokens or calls cuts it short. A language policy is shown the price and
   * plans again. Otherwise the run ends as `budget` before the first call of the plan. Plans that cannot be priced are
   * not admitted. Shared accounts of this process leave room for the plan while it runs.
   */
  readonly admit?: "plan" | undefined
}

/** The settings of a run. Each has a default, so `{}` is complete. */
export interface RunSettings {
  /** The most steps of a workflow; 5 by default, as in the paper. */
  readonly maxSteps?: number | undefined
  /**
   * The most items of all steps of a workflow together, by the bounds of their lists; 1,000 by default. A plan that may
   * have more is refused before anything runs.
   */
  readonly maxItems?: number | undefined
  /** The maximum number of items that run at once; 16 by default. */
  readonly itemsAtOnce?: number | undefined
  /**
   * The maximum number of recursive rounds after the first, in which the policy sees its previous workflow and answer.
   * Default: 0, or 2 with a critic. The run ends earlier if the policy confirms the previous answer. A round without an
   * answer (its last step failed for good) ends the run only if it was the last allowed round.
   */
  readonly recursion?: number | undefined
  /** Offers the Conductor as the last worker of its own pool; nested runs go at most `maxDepth` deep. */
  readonly self?: { readonly maxDepth: number } | undefined
  /** Limits of each run. To limit many runs together, give them one ledger in `RunOptions`. */
  readonly budget?: RunBudget | undefined
  /** The settings of every call of a worker. */
  readonly worker?: WorkerSettings | undefined
  /** How failed calls are tried again; `Resilience.defaultRetry` by default. */
  readonly retry?: Retry | undefined
  /**
   * The worker that takes over a step whose worker failed for good. Default: the next eligible one of the pool
   * (`"next"`), or none (`"never"`) if the policy names its worker on behalf of the caller, as `single(0)` does.
   */
  readonly reassign?: Reassign | undefined
  /**
   * How to handle a call whose process ended before its answer arrived, when the run is resumed: make it again
   * (default), fail it, or let the next worker take its step over. In each case it is charged at its worst case.
   */
  readonly onUnconfirmedCall?: "again" | "fail" | "reassign" | undefined
  /** The behavior if a step fails for good: the steps that see it are shown the failure (default), or the run ends. */
  readonly onStepFailure?: "report" | "end" | undefined
  /**
   * The behavior if a worker's credentials are refused. With `"report"` (the default), it is handled like other
   * failures: another worker takes over, and `RunResult.failures` lists it. With `"end"` the run ends at once, since
   * the key is wrong for every step.
   */
  readonly onAuthenticationFailure?: "report" | "end" | undefined
  /** Whether to skip steps whose answer is not used. Default: `true`. */
  readonly skipUnseen?: boolean | undefined
  /** Scores the answer of every round; the next round sees the score. The run's answer is the best one. */
  readonly critic?: Critic | undefined
  /** The score at which a critic is content; 1 by default. */
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
   * The maximum number of rounds that begin early because an answer failed its check, in addition to those of
   * `recursion`. Default: 2. When none are left, the workflow continues without a revision.
   */
  readonly revisions?: number | undefined
  /**
   * Whether a person must approve each plan before its first call, nested runs included. Default: `false`. The run is
   * suspended with the plan and its price (`waitingFor`, `for: "plan"`), unless `RunOptions.approvePlan` decides. The
   * result is `{ approved: true }`, `{ approved: false, reason }`, which ends the run as refused, or the text of another
   * plan, which is read strictly.
   */
  readonly approvePlans?: boolean | undefined
  /**
   * The tools that workers may call. A tool with a handler is run within the step that calls it; a tool without one
   * suspends the run until its result is given.
   */
  readonly tools?: ReadonlyArray<Tool> | undefined
  /**
   * The steps that receive the tools: the last (default; the others advise it), every step, those that the policy
   * selects (`Step.tools`), or none.
   */
  readonly toolAccess?: ToolAccess | undefined
  /** How often a step may ask for tools before it has to answer; 16 by default. */
  readonly maxToolRounds?: number | undefined
  /**
   * The behavior if a worker does not accept pictures, files or tools: its step fails (default; `reassign` chooses
   * another), or they are left out and the transcript records it. A run for which the pool has no capable worker fails
   * before anything is paid.
   */
  readonly unsupported?: "error" | "omit" | undefined
  /** With a seed, the same answers of the same workers give the same transcript, and workers are sent seeds. */
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

/** A value of the program, which has no JSON. */
const declared = <A>(row: Options.Check, identifier: string) =>
  Schema.declare((value): value is A => row(value) === undefined, { identifier })

/**
 * The fields of {@link schema}, for schemas that embed the settings alongside others. They are derived from the tables
 * that `Options.check` reads. They validate without changing the input; a setting is present or absent, not
 * `undefined`. Critics, checks, shapes, tools and a function that reassigns are program values without a JSON form.
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
