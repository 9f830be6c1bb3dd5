/** The accounts that a run's calls are charged to, their limits, and the amounts that calls reserve. */
import * as Effect from "effect/Effect"
import type { Amount, Ledger, Payer } from "../run/Budget.ts"
import type { Critic } from "../task/Critic.ts"
import { BudgetExceeded, cost, noUsage } from "../task/Usage.ts"
import type { Worker } from "../task/Worker.ts"
import { type Asked, worstCase } from "../task/WorstCase.ts"

/** The accounts that the calls of a run are charged to. */
export interface Accounts {
  readonly ledger: Ledger
  readonly payer: Payer | undefined
}

/** Whether an account has a limit, so that calls must reserve their worst case. */
export const isLimited = ({ ledger, payer }: Accounts): boolean => ledger.isLimited || payer?.account.isLimited === true

/** Adds the worker's name to the refusal of a call without a price. */
export const priced = <A>(
  reserved: Effect.Effect<A, BudgetExceeded>,
  { id }: Worker
): Effect.Effect<A, BudgetExceeded> =>
  Effect.mapError(reserved, (error) => (error.needed === undefined ? unpriced(error, id) : error))

const unpriced = ({ account, allowed, limit, spent }: BudgetExceeded, worker: string): BudgetExceeded =>
  new BudgetExceeded({ limit, allowed, spent, needed: undefined, account, worker })

/**
 * Returns why calls to some workers are refused in advance: an account limits the cost, but a worker has no price. A
 * limit that only another process knows is detected when the call is reserved.
 */
export const refusalOf = ({ ledger, payer }: Accounts, workers: ReadonlyArray<Worker>): BudgetExceeded | undefined => {
  const worker = workers.find(isUnpriced)
  if (worker === undefined) return undefined
  const refused = (account: Ledger, name?: "payer") =>
    account.costLimit === undefined
      ? undefined
      : new BudgetExceeded({
          limit: "costUsd",
          allowed: account.costLimit,
          spent: account.spent().costUsd,
          needed: undefined,
          worker: worker.id,
          account: name
        })
  return refused(ledger) ?? (payer && refused(payer.account, "payer"))
}

const isUnpriced = ({ pricing }: Worker): boolean => cost(pricing, noUsage) === undefined

/**
 * Returns the workers that every run needs: the critic's workers, and one of the pool if no worker in it has a price.
 */
export const neededOf = (pool: ReadonlyArray<Worker>, critic: Critic | undefined): ReadonlyArray<Worker> => [
  ...(pool.every(isUnpriced) ? pool.slice(0, 1) : []),
  ...(critic?.workers ?? [])
]

const nothing: Amount = { costUsd: 0, tokens: 0 }

/** Returns the amount to reserve for a call on an account. */
export const boundOn = ({ isLimited }: Ledger, ask: Asked): Amount => (isLimited ? worstCase(ask) : nothing)
