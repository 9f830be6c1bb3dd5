/**
 * The reference of the settings of a run: the default of each, its unit, the flag of `divisi run` and a line for people.
 * The values that a setting accepts are in `tables.ts`. A setting without a row does not compile; tests hold the page of
 * settings and the flags to it.
 */
import { defaultRetry, type Retry } from "./Resilience.ts"
import type { RunBudget, RunSettings, WorkerSettings } from "./RunSettings.ts"

interface Groups {
  readonly self: NonNullable<RunSettings["self"]>
  readonly budget: RunBudget
  readonly worker: WorkerSettings
  readonly retry: Retry
}

/** The path of a setting, as `budget.costUsd`. */
export type Path =
  | Exclude<keyof RunSettings, keyof Groups>
  | { [Group in keyof Groups]: `${Group}.${keyof Groups[Group] & string}` }[keyof Groups]

/** The row of a setting. */
export interface Row {
  readonly default: string
  readonly unit?: string
  /** The flag of `divisi run` that sets it. */
  readonly flag?: `--${string}`
  readonly doc: string
}

const millis = "ms"

/** The settings of a run, by their paths. */
export const reference: { readonly [P in Path]: Row } = {
  maxSteps: { default: "5", flag: "--max-steps", doc: "Maximum number of steps of a workflow." },
  maxItems: { default: "1000", doc: "Maximum number of items of all steps of a workflow, by the bounds of its lists." },
  itemsAtOnce: { default: "16", doc: "Maximum number of items that run at once." },
  recursion: {
    default: "0; 2 with a critic",
    flag: "--recursion",
    doc: "Maximum number of rounds after the first, in which the policy sees its previous workflow and answer."
  },
  "self.maxDepth": {
    default: "off",
    doc: "Offers the Conductor as a worker of its own pool; nested runs go at most this deep."
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
    doc: "`answer`: the other steps leave room for the last one, so that a limit yields an answer."
  },
  "budget.admit": {
    default: "every plan",
    doc: "`plan`: a plan starts only if the most that it can cost fits the budget."
  },
  "worker.maxOutputTokens": {
    default: "the worker's own",
    unit: "tokens",
    flag: "--max-output-tokens",
    doc: "Maximum number of output tokens of one call, reasoning included."
  },
  "worker.temperature": { default: "the worker's own", doc: "Sampling temperature of every call." },
  "worker.reasoning": {
    default: "the worker's own",
    doc: 'How much a worker reasons: `{ type: "effort", effort }`, `{ type: "budget", tokens }` or `{ type: "off" }`.'
  },
  "worker.preferences": {
    default: '"require"; "omit" in a server',
    doc: "If a worker does not support a preference: the call fails, or the preference is mapped or left out with a notice."
  },
  "worker.timeoutMillis": { default: "30 minutes", unit: millis, doc: "Maximum duration of one call." },
  "worker.silenceMillis": {
    default: "a third of `budget.durationMillis`",
    unit: millis,
    flag: "--silence",
    doc: "Maximum time in which a call that streams may send nothing; then it fails as `Timeout`. 0 turns it off."
  },
  "retry.maxAttempts": {
    default: `${defaultRetry.maxAttempts}`,
    unit: "attempts",
    doc: "Maximum number of attempts of a call, the first included."
  },
  "retry.baseDelayMillis": {
    default: `${defaultRetry.baseDelayMillis}`,
    unit: millis,
    doc: "Wait after the first failure."
  },
  "retry.factor": { default: `${defaultRetry.factor}`, doc: "Factor by which the wait grows with every failure." },
  "retry.maxDelayMillis": {
    default: `${defaultRetry.maxDelayMillis}`,
    unit: millis,
    doc: "Longest wait of this schedule."
  },
  "retry.maxRetryAfterMillis": {
    default: `${defaultRetry.maxRetryAfterMillis}`,
    unit: millis,
    doc: "Longest `retry-after` of a vendor that is obeyed; beyond it the call is not retried."
  },
  "retry.jitter": {
    default: `${defaultRetry.jitter}`,
    doc: "Whether waits are spread at random, the same for the same seed."
  },
  reassign: {
    default: '"next"; "never" if the policy names its worker for the caller',
    flag: "--reassign",
    doc: "The worker that takes over a step whose worker failed for good."
  },
  onUnconfirmedCall: {
    default: '"again"',
    doc: "When a run is resumed, what happens to a call whose outcome is unknown: it is made again, fails, or its step is reassigned."
  },
  onStepFailure: {
    default: '"report"',
    doc: "If a step fails for good: the steps that see it are shown the failure, or the run ends."
  },
  onAuthenticationFailure: {
    default: '"report"',
    doc: "If a worker's credentials are refused: as for other failures, or the run ends."
  },
  skipUnseen: { default: "true", doc: "Whether steps whose answer no step sees are skipped." },
  critic: { default: "none", doc: "Scores the answer of every round; the answer of the run is the best one." },
  threshold: { default: "1", doc: "The score at which a critic accepts an answer." },
  checks: { default: "none", flag: "--check", doc: "The checks that steps may have to pass, by name." },
  shapes: { default: "none", doc: "The shapes that steps may give, by name." },
  revisions: {
    default: "2",
    doc: "Maximum number of rounds that begin early because an answer failed its check, in addition to `recursion`."
  },
  approvePlans: {
    default: "false",
    flag: "--approve-plans",
    doc: "Whether a person must approve each plan, which is shown with its price, before its first call."
  },
  tools: { default: "none", flag: "--tool", doc: "The tools that workers may ask for." },
  toolAccess: { default: '"last-step"', flag: "--tool-access", doc: "The steps that get the tools." },
  maxToolRounds: { default: "16", doc: "How often a step may ask for tools before it has to answer." },
  unsupported: {
    default: '"error"',
    doc: "If a worker takes no pictures, files or tools: its step fails, or they are left out with a notice."
  },
  seed: { default: "0", flag: "--seed", doc: "Seed of everything random. If it is given, workers are sent seeds, too." }
}
