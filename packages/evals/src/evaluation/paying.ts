/** Payments of an evaluation: the account for all calls, and the most recently paid answers. */
import { Budget, type ResponseCache } from "@divisi/core"
import { BudgetExceeded } from "@divisi/core/Usage"
import * as Effect from "effect/Effect"
import type { Options } from "./Evaluation.ts"
import type * as Journal from "./journal.ts"

/**
 * Creates the account for the actual spend, including earlier payments. It rejects all calls in offline mode, and while
 * the journal cannot be written, because an unrecorded answer would be paid for again.
 */
export const accountOf = (
  { isOffline, maxCostUsd }: Options,
  paidUsd: number,
  journal: Journal.Journal
): Effect.Effect<Budget.Ledger> => {
  const account = Budget.make({
    costUsd: maxCostUsd,
    calls: isOffline === true ? 0 : undefined
  })
  const reserve: Budget.Ledger["reserve"] = (...asked) =>
    Effect.suspend(() =>
      journal.waiting() === undefined
        ? account.reserve(...asked)
        : Effect.fail(new BudgetExceeded({ limit: "calls", allowed: 0, spent: 0, needed: 1 }))
    )
  return Effect.as(account.charge(paidUsd), { ...account, reserve })
}

/** Number of recent answers retained in memory, because a store on a full disk would lose them. */
const answersKept = 1_000

/** Wraps a store so that recent answers are looked up in memory first once the disk has been full. */
export const remembering = (store: ResponseCache.Store, isTroubled: () => boolean) => {
  const last = new Map<string, ResponseCache.Entry>()
  return {
    store: {
      get: (key) =>
        Effect.suspend(() => {
          const known = isTroubled() ? last.get(key) : undefined
          return known === undefined ? store.get(key) : Effect.succeed(known)
        }),
      set: store.set
    } satisfies ResponseCache.Store,
    remember: ({ answered }: Budget.Payment) => {
      if (answered === undefined) return
      last.set(answered.key, answered.entry)
      if (last.size > answersKept) last.delete(last.keys().next().value!)
    }
  }
}
