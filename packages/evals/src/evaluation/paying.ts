/** The payments of an evaluation: the account of all its calls, and the answers paid for last. */
import { Budget, type ResponseCache } from "@divisi/core"
import { BudgetExceeded } from "@divisi/core/Usage"
import * as Effect from "effect/Effect"
import type { Options } from "./Evaluation.ts"
import type * as Journal from "./journal.ts"

/**
 * The account of what is really paid, with what was paid before. Without a network, no call is allowed; nor is one
 * while the journal cannot be written, because its answer would be paid for again.
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

/** The last answers stay in memory: a store loses them while its disk is full. */
const answersKept = 1_000

/** While a disk is full, or was, the answers paid for last are looked up before the stored ones. */
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
