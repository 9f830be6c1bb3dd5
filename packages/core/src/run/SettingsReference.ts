/**
 * Reference of all run settings: default, unit, `divisi run` flag and description. The accepted values are defined in
 * `tables.ts`. Adding a setting without a row is a compile error, and tests compare the settings page and the flags
 * with this table.
 */
import { defaultRetry, type Retry } from "./Resilience.ts"
import type { RunBudget, RunSettings, WorkerSettings } from "./RunSettings.ts"

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

/** Documentation for each setting, keyed by its path. */
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
