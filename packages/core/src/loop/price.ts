/**
 * Calculates a plan's price under the run's settings, and whether the plan as a whole fits the budget (`budget.admit`).
 *
 * A plan is admitted based on its maximum price (`most`), so that the budget never cuts short a plan that has started.
 * The likely price would not guarantee this, because each call must still fit the limits.
 */
import type * as Policy from "../policy/Policy.ts"
import { planRefusal } from "../run/PlanBudget.ts"
import { BudgetExceeded, cost, free, limitNames, noUsage, shownAmount } from "../task/Usage.ts"
import type { Worker } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import * as Price from "../workflow/Price.ts"
import type { Workflow, WorkflowInput } from "../workflow/Workflow.ts"
import { checksOf, reassignOf } from "./plan.ts"
import type { State } from "./round.ts"

/** Returns the price of a workflow under the run's settings. */
export const priceOf = (
  state: State,
  workflow: WorkflowInput,
  author: Policy.Policy,
  previous: Policy.Previous | undefined,
  more: Partial<Price.Setting> = {}
): Price.Price => {
  const { equipment, options, pool, task } = state
  const { retry, skipUnseen, toolAccess = "last-step", worker } = options
  return Price.of(workflow, {
    pool,
    task,
    worker,
    retry,
    previous,
    skipUnseen,
    reassign: reassignOf(options) === "never" ? "never" : "next",
    checks: checksOf(state, author),
    isShaped: equipment.shape !== undefined,
    tools: equipment.tools === undefined || toolAccess === "none" ? undefined : toolAccess,
    ...more
  })
}

/** Estimated number of bytes to reserve per token of another step's answer. */
const bytesPerToken = 4

/**
 * Returns the price to use for admission: the sum of the amounts that the plan's calls will reserve. Workers without a
 * price count as free, because a cost limit rejects them anyway and other limits do not depend on the price.
 */
export const admissionPrice = (
  state: State,
  workflow: Workflow,
  author: Policy.Policy,
  previous: Policy.Previous | undefined
): Price.Price => priceOf(state, workflow, author, previous, { perToken: bytesPerToken, pool: priced(state.pool) })

const withPrice = (worker: Worker): Worker =>
  cost(worker.pricing, noUsage) === undefined ? { ...worker, pricing: free } : worker

const priced = ({ workers: [first, ...others] }: WorkerPool): WorkerPool => ({
  workers: [withPrice(first), ...others.map(withPrice)]
})

const amount = ({ calls, costUsd, tokens }: Price.Amount): string =>
  `${costUsd === undefined ? "an unknown cost" : shownAmount("costUsd", costUsd)} (${shownAmount("calls", calls)}, ${shownAmount("tokens", tokens)})`

const detailOf = (error: BudgetExceeded, { least, likely, most }: Price.Price): string => {
  const { allowed, limit, needed, spent } = error
  if (limit === "durationMillis") return error.message
  const limits = `the ${limitNames[limit]} limit is ${shownAmount(limit, allowed)} (${shownAmount(limit, spent)} spent)`
  return needed === undefined
    ? `The plan is not admitted: ${limits}, and the plan has no price: it contains a step with tools, a nested Conductor run, or a critic as a check. Remove that step, or remove budget.admit.`
    : `The plan is not admitted: it needs up to ${shownAmount(limit, needed)}, but ${limits}. Its cost is at least ${amount(least)}, likely ${amount(likely)}, and at most ${amount(most)}. Use fewer steps, shorter lists or cheaper workers, raise the limit, or lower --max-output-tokens (in code or a config: worker.maxOutputTokens) or retry.maxAttempts.`
}

/** Adds the plan's price to the error. */
const refused = (error: BudgetExceeded | undefined, plan: Price.Price, account?: "payer"): BudgetExceeded | undefined =>
  error &&
  new BudgetExceeded({
    ...error.fields,
    ...(account === undefined ? undefined : { account }),
    plan,
    detail: detailOf(error, plan)
  })

/** Returns an error if a plan exceeds the remainder of the run's own budget, or `undefined` if it fits. */
export const refusalByBudget = ({ context: { ledger } }: State, price: Price.Price): BudgetExceeded | undefined =>
  refused(planRefusal(ledger, price.most, "own"), price)

/**
 * Returns an error if a plan exceeds the run's budget, a shared account or the payer's account, or `undefined` if it
 * fits.
 */
export const refusalByAccounts = (
  { context: { ledger, payer } }: State,
  price: Price.Price
): BudgetExceeded | undefined =>
  refused(planRefusal(ledger, price.most), price) ??
  refused(payer && planRefusal(payer.account, price.most), price, "payer")
