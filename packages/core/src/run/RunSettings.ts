/**
 * How a run goes, whoever plans it: rounds, limits, calls, failures. One value with one schema, which a config file,
 * the flags of a command, an evaluation and a training embed whole.
 *
 * `Conductor` uses the types alone, so a run loads no schema.
 */
import * as Schema from "effect/Schema"
import { type Checks, isCheck } from "../task/Check.ts"
import type { Critic } from "../task/Critic.ts"
import type { Tool } from "../task/Tool.ts"
import type { Reasoning } from "../task/Worker.ts"
import type { Limits } from "./Budget.ts"
import type { Reassign, Retry } from "./Resilience.ts"

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
  readonly onDoubt?: "again" | "fail" | "reassign" | undefined
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

const finite = (least: number) => {
  const message = `Expected a number of at least ${least}`
  return Schema.Finite.annotate({ message }).check(Schema.isGreaterThanOrEqualTo(least, { message }))
}

const whole = (least: number) => {
  const message = `Expected a whole number of at least ${least}`
  return Schema.Int.annotate({ message }).check(Schema.isGreaterThanOrEqualTo(least, { message }))
}

const optional = Schema.optionalKey

const isFunction = (value: unknown): value is (...args: ReadonlyArray<never>) => unknown => typeof value === "function"

const isCritic = (value: unknown): value is Critic =>
  typeof value === "object" && value !== null && "name" in value && "score" in value && isFunction(value.score)

const isTool = (value: unknown): value is Tool =>
  typeof value === "object" && value !== null && "name" in value && typeof value.name === "string" && "input" in value

/**
 * The fields of {@link schema}, for schemas that embed the settings beside others. They check what they are given and
 * change nothing; a setting is there or absent, and not `undefined`. Critics, checks and a function that reassigns are
 * values of the program and have no JSON.
 */
export const fields = {
  maxSteps: optional(whole(1)),
  recursion: optional(whole(0)),
  self: optional(Schema.Struct({ maxDepth: whole(0) })),
  budget: optional(
    Schema.Struct({
      costUsd: optional(finite(0)),
      tokens: optional(whole(0)),
      calls: optional(whole(0)),
      durationMillis: optional(finite(0))
    })
  ),
  worker: optional(
    Schema.Struct({
      maxOutputTokens: optional(whole(1)),
      temperature: optional(finite(0)),
      reasoning: optional(
        Schema.Union([
          Schema.Struct({
            type: Schema.Literal("effort"),
            effort: Schema.Literals(["minimal", "low", "medium", "high"])
          }),
          Schema.Struct({ type: Schema.Literal("budget"), tokens: whole(0) }),
          Schema.Struct({ type: Schema.Literal("off") })
        ])
      ),
      preferences: optional(Schema.Literals(["require", "omit"])),
      timeoutMillis: optional(finite(0)),
      silenceMillis: optional(finite(0))
    })
  ),
  retry: optional(
    Schema.Struct({
      maxAttempts: optional(whole(1)),
      baseDelayMillis: optional(finite(0)),
      factor: optional(finite(1)),
      maxDelayMillis: optional(finite(0)),
      maxRetryAfterMillis: optional(finite(0)),
      jitter: optional(Schema.Boolean)
    })
  ),
  reassign: optional(
    Schema.Union([
      Schema.Literals(["never", "next"]),
      Schema.declare((value): value is Exclude<Reassign, string> => isFunction(value), { identifier: "a function" })
    ])
  ),
  onDoubt: optional(Schema.Literals(["again", "fail", "reassign"])),
  onStepFailure: optional(Schema.Literals(["report", "end"])),
  onAuthenticationFailure: optional(Schema.Literals(["report", "end"])),
  skipUnseen: optional(Schema.Boolean),
  critic: optional(Schema.declare(isCritic, { identifier: "a critic" })),
  threshold: optional(finite(0)),
  checks: optional(Schema.Record(Schema.String, Schema.declare(isCheck, { identifier: "a check" }))),
  revisions: optional(whole(0)),
  tools: optional(Schema.Array(Schema.declare(isTool, { identifier: "a tool" }))),
  toolAccess: optional(Schema.Literals(["last-step", "every-step", "policy", "none"])),
  maxToolRounds: optional(whole(0)),
  unsupported: optional(Schema.Literals(["error", "omit"])),
  seed: optional(whole(0))
} satisfies Readonly<Record<keyof RunSettings, Schema.Top>>

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
