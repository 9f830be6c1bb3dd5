/**
 * The price of a plan under the settings of its run, and whether the whole plan fits the budget before its first call
 * (`budget.admit`).
 *
 * A plan is admitted by its maximum price (`most`), so the budget never cuts short a plan that has started. The likely
 * price would not guarantee that, because each call must still fit the limits.
 */
import type * as Policy from "../policy/Policy.ts"
import * as Budget from "../run/Budget.ts"
import type { RunBudget } from "../run/RunSettings.ts"
import type { Checks } from "../task/Check.ts"
import { BudgetExceeded, cost, free, noUsage } from "../task/Usage.ts"
import type { Worker } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import * as Price from "../workflow/Price.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import { reassignOf } from "./reassignment.ts"
import type { State } from "./round.ts"

/** Returns the named checks of a run: its own, and those of the workflow's author. */
export const checksOf = ({ options: { checks = noChecks } }: State, author: Policy.Policy): Checks =>
  author.checks === undefined ? checks : { ...checks, ...author.checks }

export const noChecks: Checks = {}
/** Returns the price of a workflow under the settings of the run. */
export const priceOf = (
  state: State,
  workflow: Workflow,
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

/** The estimated number of bytes that a call reserves per token of another step's answer. */
const bytesPerToken = 4

/**
 * Returns the price of a plan: the sum of its calls' reservations. A worker without a price counts as free, because a
 * cost limit refuses it anyway and other limits do not need its price.
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

/** Whether whole plans are admitted. Nested runs do not admit plans, because they have no budget of their own. */
export const admitsPlans = ({ depth, options }: Pick<State, "depth" | "options">): boolean =>
  depth === 0 && (options.budget as RunBudget | undefined)?.admit === "plan"

/** Adds the plan and its price to a refusal. */
const refused = (error: BudgetExceeded | undefined, plan: Price.Price, account?: "payer"): BudgetExceeded | undefined =>
  error && new BudgetExceeded({ ...error.fields, ...(account === undefined ? undefined : { account }), plan })

/** Returns why a plan exceeds the rest of the run's own budget; `undefined` if it fits. */
export const refusalByBudget = ({ context: { ledger } }: State, price: Price.Price): BudgetExceeded | undefined =>
  refused(Budget.planRefusal(ledger, price.most, "own"), price)

/** Returns why a plan exceeds the run's budget, an account that the run shares, or the payer's account. */
export const refusalByAccounts = (
  { context: { ledger, payer } }: State,
  price: Price.Price
): BudgetExceeded | undefined =>
  refused(Budget.planRefusal(ledger, price.most), price) ??
  refused(payer && Budget.planRefusal(payer.account, price.most), price, "payer")
