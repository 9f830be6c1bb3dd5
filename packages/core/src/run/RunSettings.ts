/**
 * How a run goes, whoever plans it: rounds, limits, calls, failures. One value with one schema, which a config file,
 * the flags of a command, an evaluation and a training embed whole.
 *
 * `Conductor` uses the types alone, so a run loads no schema.
 */
import * as Schema from "effect/Schema"
import * as Options from "../Options.ts"
import { type Checks, isCheck } from "../task/Check.ts"
import type { Critic } from "../task/Critic.ts"
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
   * What happens to a preference that a worker does not take: its call fails (`"require"`, the default), or the preference
   * is mapped or left out with a notice (`"omit"`, the default of a server).
   */
  readonly preferences?: "require" | "omit" | undefined
  /**
   * How long one call may take, in milliseconds. Without it an answer may go on arriving for half an hour; a worker that
   * says nothing at all is waited for, as the vendors' clients have limits of their own on that.
   */
  readonly timeoutMillis?: number | undefined
  /**
   * How long a call may send nothing, in milliseconds, before and within its answer; then it fails as a `Timeout` and is
   * tried again. By default a third of `budget.durationMillis` for workers that stream, so that a call that hangs leaves
   * time for another; without such a budget, and for workers whose answers come whole, a call may be silent for as long
   * as it may take. Only parts of an answer count: comments of a vendor's event stream do not. 0 turns it off.
   */
  readonly silenceMillis?: number | undefined
}

/** Which steps of a workflow are given tools. */
export type ToolAccess = "last-step" | "every-step" | "policy" | "none"

/** The settings of a run. Each has a default, so `{}` is complete. */
export interface RunSettings {
  /** The most steps of a workflow; 5 by default, as in the paper. */
  readonly maxSteps?: number | undefined
  /**
   * The most recursive rounds after the first, in which the policy sees its previous workflow and answer; 0 by default,
   * 2 with a critic. The run ends earlier when the policy lets the previous answer stand. A round without an answer
   * (its last step failed for good) ends the run only when it was the last one allowed.
   */
  readonly recursion?: number | undefined
  /** Offers the Conductor as the last worker of its own pool; nested runs go at most `maxDepth` deep. */
  readonly self?: { readonly maxDepth: number } | undefined
  /** Limits of each run. To limit many runs together, give them one ledger in `RunOptions`. */
  readonly budget?: Limits | undefined
  /** The settings of every call of a worker. */
  readonly worker?: WorkerSettings | undefined
  /** How failed calls are tried again; `Resilience.defaultRetry` by default. */
  readonly retry?: Retry | undefined
  /**
   * Which worker takes over a step whose worker failed for good. By default the next eligible one of the pool
   * (`"next"`), or none (`"never"`) where the policy names its worker for the caller, as `single(0)` does.
   */
  readonly reassign?: Reassign | undefined
  /**
   * What is done about a call whose process ended before its answer came, when the run is resumed: it is made again
   * (default), it fails, or the next worker takes its step over. In each case it is charged at its worst case.
   */
  readonly onUnconfirmedCall?: "again" | "fail" | "reassign" | undefined
  /**
   * What happens when a step fails for good: the steps that see it are shown the failure (default), or the run ends.
   */
  readonly onStepFailure?: "report" | "end" | undefined
  /**
   * What happens when a worker's credentials are refused: as for other failures (`"report"`, the default: another worker
   * takes over, and `RunResult.failures` says so), or the run ends at once, since the key is wrong for every step.
   */
  readonly onAuthenticationFailure?: "report" | "end" | undefined
  /** Whether steps whose answer nobody sees are skipped; true by default. */
  readonly skipUnseen?: boolean | undefined
  /** Scores the answer of every round; the next round sees the score. The run's answer is the best one. */
  readonly critic?: Critic | undefined
  /** The score at which a critic is content; 1 by default. */
  readonly threshold?: number | undefined
  /**
   * What the answers of steps are checked by, by name: functions, graders, critics, or workers that judge. A workflow
   * says which step has to pass which (`Step.check`).
   */
  readonly checks?: Checks | undefined
  /**
   * The most rounds that begin early because an answer failed its check, besides those of `recursion`; 2 by default. When
   * there are none left, a workflow goes on as it is.
   */
  readonly revisions?: number | undefined
  /**
   * The tools that workers may ask for. Those with a handler are run within the step that asks; one without suspends the
   * run until its result is given.
   */
  readonly tools?: ReadonlyArray<Tool> | undefined
  /**
   * Which steps are given the tools: the last (default; the others advise it), every step, those of which the policy says
   * so (`Step.tools`), or none.
   */
  readonly toolAccess?: ToolAccess | undefined
  /** How often a step may ask for tools before it has to answer; 16 by default. */
  readonly maxToolRounds?: number | undefined
  /**
   * What happens where a worker takes no pictures, files or tools: its step fails (default; `reassign` finds another), or
   * they are left out and the transcript says so. A run for which nobody in the pool does fails before anything is paid.
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
 * The fields of {@link schema}, for schemas that embed the settings beside others: derived from the tables that
 * `Options.check` reads. They check what they are given and change nothing; a setting is there or absent, and not
 * `undefined`. Critics, checks, tools and a function that reassigns are values of the program and have no JSON.
 */
export const fields = {
  maxSteps: optional(number(settingsTable.maxSteps)),
  recursion: optional(number(settingsTable.recursion)),
  self: optional(Schema.Struct({ maxDepth: number(settingsTable.self.maxDepth) })),
  budget: optional(
    Schema.Struct({
      costUsd: optional(number(limitsTable.costUsd)),
      tokens: optional(number(limitsTable.tokens)),
      calls: optional(number(limitsTable.calls)),
      durationMillis: optional(number(limitsTable.durationMillis))
    } satisfies Fields<Limits>)
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
  revisions: optional(number(settingsTable.revisions)),
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
