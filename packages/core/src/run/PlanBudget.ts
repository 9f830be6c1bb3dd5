/** Admits whole plans to budgets (`budget.admit`). */
import { BudgetExceeded } from "../task/Usage.ts"
import type { Ledger } from "./Budget.ts"
import type { Limits, PlanAmount, Standing } from "./Limits.ts"
import { LedgerNode } from "./MemoryLedger.ts"

/** Returns `undefined` if the plan fits in addition to the current reservations, or else the limit that it exceeds. */
const planFit = (limits: Limits, { open, reservedCostUsd, reservedTokens, total }: Standing, plan: PlanAmount) => {
  const { calls, costUsd, usage } = total
  const { calls: allowedCalls, costUsd: allowedCost, tokens: allowedTokens } = limits
  const tokens = usage.inputTokens + usage.outputTokens + reservedTokens
  const isKnown = plan.costUsd !== undefined
  const spentUsd = costUsd + reservedCostUsd
  const spentCalls = calls + open
  const error = (limit: "costUsd" | "tokens" | "calls", allowed: number, spent: number, needed: number | undefined) =>
    new BudgetExceeded({ limit, allowed, spent, needed })
  const exceeds = (allowed: number | undefined, spent: number, needed: number): allowed is number =>
    allowed !== undefined && (!isKnown || spent + needed > allowed)
  if (exceeds(allowedCost, spentUsd, plan.costUsd ?? 0)) return error("costUsd", allowedCost, spentUsd, plan.costUsd)
  if (exceeds(allowedTokens, tokens, plan.tokens))
    return error("tokens", allowedTokens, tokens, isKnown ? plan.tokens : undefined)
  if (exceeds(allowedCalls, spentCalls, plan.calls))
    return error("calls", allowedCalls, spentCalls, isKnown ? plan.calls : undefined)
  return undefined
}

/**
 * Returns `undefined` if a plan fits the remaining budget of a ledger and its ancestors, or else the limit that it
 * exceeds. Calls in flight and plans of other runs count at their worst case. `"own"` checks only this ledger, so that
 * a resumed run makes the same decision. For an account outside this process, only its spending is known.
 *
 * @internal
 */
export const planRefusal = (ledger: Ledger, plan: PlanAmount, which?: "own"): BudgetExceeded | undefined => {
  if (!(ledger instanceof LedgerNode))
    return planFit(ledger.limits, { total: ledger.spent(), open: 0, reservedCostUsd: 0, reservedTokens: 0 }, plan)
  if (which === "own") return planFit(ledger.limits, ledger, plan)
  for (let one: LedgerNode | undefined = ledger; one !== undefined; one = one.parent) {
    const refused = planFit(one.limits, one.standing(false, undefined, ledger), plan)
    if (refused !== undefined) return refused
  }
  return ledger.above && planRefusal(ledger.above, plan)
}

/**
 * Reserves the upper bound of an admitted plan on the ancestors of its run's ledger, so that calls and plans of other
 * runs cannot use it. Call the returned function to release it.
 *
 * @internal
 */
export const promise = (ledger: Ledger, most: PlanAmount): (() => void) => {
  if (!(ledger instanceof LedgerNode) || ledger.parent === undefined) return () => {}
  const base = ledger.total
  for (let one: LedgerNode | undefined = ledger.parent; one !== undefined; one = one.parent) {
    one.promised ??= new Map()
    one.promised.set(ledger, { most, base })
  }
  return () => {
    for (let one: LedgerNode | undefined = ledger.parent; one !== undefined; one = one.parent) {
      one.promised?.delete(ledger)
      if (one.promised?.size === 0) one.promised = undefined
    }
    ledger.serveAll()
  }
}
