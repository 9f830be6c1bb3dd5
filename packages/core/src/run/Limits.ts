/** Spending limits, and whether an amount fits within them. Shared by all implementations of a ledger. */
import { addUsage, BudgetExceeded, type Paid, type Spend } from "../task/Usage.ts"

/** Spending limits. Omitted limits are unlimited. */
export interface Limits {
  /** Maximum cost in USD. While this limit is set, calls to workers without a known price are rejected. */
  readonly costUsd?: number | undefined
  /** Maximum number of input and output tokens combined. */
  readonly tokens?: number | undefined
  /** Maximum number of calls to workers, policies and critics, including failed calls. */
  readonly calls?: number | undefined
  /** Maximum duration of a run in milliseconds, measured from its start. */
  readonly durationMillis?: number | undefined
}

/** Upper bound on the usage of one call. `costUsd` is `undefined` if the price is unknown. */
export interface Amount {
  readonly costUsd: number | undefined
  readonly tokens: number
}

/** Current totals of an account. */
export interface Standing {
  /** Amounts settled and charged. */
  readonly total: Spend
  /** Number of calls in progress. `reservedCostUsd` and `reservedTokens` are their combined worst case. */
  readonly open: number
  readonly reservedCostUsd: number
  readonly reservedTokens: number
}

/** Whether an amount fits now (`"fits"`), may fit once open reservations have settled (`"wait"`), or can never fit. */
export type Fit = "fits" | "wait" | BudgetExceeded

/**
 * Reservations below this fraction of a limit are treated as rounding errors, because no settlement would free them.
 */
const rounding = 1e-12

const fitOne = (
  limit: "costUsd" | "tokens" | "calls",
  allowed: number | undefined,
  needed: number,
  spent: number,
  reserved: number
): Fit => {
  if (allowed === undefined || spent + reserved + needed <= allowed) return "fits"
  // Every call settles as at least one call, so waiting never frees a slot.
  return limit !== "calls" && reserved > rounding * allowed && spent + needed <= allowed
    ? "wait"
    : new BudgetExceeded({ limit, allowed, spent: limit === "calls" ? spent + reserved : spent, needed })
}

/** Determines whether one more call fits within the limits. Shared by all implementations of {@link Ledger}. */
export const fit = (limits: Limits, standing: Standing, amount: Amount): Fit => {
  const { open, reservedCostUsd, reservedTokens, total } = standing
  if (amount.costUsd === undefined && limits.costUsd !== undefined) {
    return new BudgetExceeded({ limit: "costUsd", allowed: limits.costUsd, spent: total.costUsd, needed: undefined })
  }
  const { calls, costUsd, usage } = total
  const fits = [
    fitOne("costUsd", limits.costUsd, amount.costUsd ?? 0, costUsd, reservedCostUsd),
    fitOne("tokens", limits.tokens, amount.tokens, usage.inputTokens + usage.outputTokens, reservedTokens),
    fitOne("calls", limits.calls, 1, calls, open)
  ]
  return fits.find((fit) => typeof fit === "object") ?? fits.find((one) => one === "wait") ?? "fits"
}

/**
 * Upper bound on the calls, tokens and cost of a whole plan. `costUsd` is `undefined` if the price of any part is
 * unknown.
 */
export interface PlanAmount extends Amount {
  readonly calls: number
}

/**
 * Returns the error for a call that would have to wait for others to settle, or `undefined` if it fits now.
 *
 * @internal
 */
export const refusal = (limits: Limits, standing: Standing, amount: Amount): BudgetExceeded | undefined => {
  const { reservedCostUsd, reservedTokens, total } = standing
  const usage = addUsage(total.usage, { inputTokens: reservedTokens, outputTokens: 0 })
  const spent = { ...total, usage, costUsd: total.costUsd + reservedCostUsd }
  const found = fit(limits, { ...standing, total: spent, reservedCostUsd: 0, reservedTokens: 0 }, amount)
  return typeof found === "object" ? found : undefined
}

/** An amount of money and tokens. */
export interface Part {
  readonly costUsd: number
  readonly tokens: number
}

/**
 * Returns the part of `needed` that `there` can cover.
 *
 * @internal
 */
export const covered = (needed: Part, there: Part): Part => ({
  costUsd: Math.max(0, Math.min(needed.costUsd, there.costUsd)),
  tokens: Math.max(0, Math.min(needed.tokens, there.tokens))
})

/** @internal */
export const minus = (one: Part, other: Part): Part => ({
  costUsd: Math.max(0, one.costUsd - other.costUsd),
  tokens: Math.max(0, one.tokens - other.tokens)
})

export const plus = (one: Part, other: Part): Part => ({
  costUsd: one.costUsd + other.costUsd,
  tokens: one.tokens + other.tokens
})

/**
 * Returns a call's usage as money and tokens.
 *
 * @internal
 */
export const partOf = ({ costUsd = 0, usage }: Paid): Part => ({
  costUsd,
  tokens: usage.inputTokens + usage.outputTokens
})

/**
 * Returns the amount to charge for a call whose reservation was partly used by nested runs: the full usage if the
 * limits allow it, or else as much as they allow.
 */
export const chargeable = (limits: Limits, standing: Standing, used: Paid): Paid => {
  const { reservedCostUsd, reservedTokens, total } = standing
  const { inputTokens, outputTokens } = used.usage
  const left = (limit: number | undefined, taken: number) => Math.max(0, (limit ?? Number.POSITIVE_INFINITY) - taken)
  const tokens = left(limits.tokens, total.usage.inputTokens + total.usage.outputTokens + reservedTokens)
  const costUsd = used.costUsd && Math.min(used.costUsd, left(limits.costUsd, total.costUsd + reservedCostUsd))
  if (inputTokens + outputTokens <= tokens) return { ...used, costUsd }
  const input = Math.min(inputTokens, tokens)
  return { costUsd, usage: { ...used.usage, inputTokens: input, outputTokens: tokens - input } }
}

/** Returns the lower of two limits. An undefined limit is unlimited. */
export const lowest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
