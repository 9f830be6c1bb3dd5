/** Budgets, caches and journals that can be shared between runs. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { Journal } from "../journal/Journal.ts"
import { onDemand } from "../OnDemand.ts"
import * as Options from "../Options.ts"
import type * as Budget from "../run/Budget.ts"
import { make as makeLedger } from "../run/MemoryLedger.ts"
import * as ResponseCache from "../run/ResponseCache.ts"
import { limitsTable } from "../run/tables.ts"

/**
 * Creates a ledger that limits the total spending of several runs. Pass it as `ledger` to each run. `spent()` returns
 * the total spent by all of them.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, ledger, single, worker } from "@divisi/core/promise"
 *
 * const shared = ledger({ calls: 1 })
 * const options = { pool: [worker({ id: "a", answer: () => "42" })], policy: single(0), ledger: shared }
 * const first = await conduct({ ...options, question: "What is 6 times 7?" })
 * const second = await conduct({ ...options, question: "What is 7 times 6?" })
 * first.ending // => "answered"
 * second.ending // => "budget"
 * shared.spent().calls // => 1
 * ```
 */
export const ledger = (limit: Budget.Limits = {}): Budget.Ledger => {
  Options.check("ledger", limit, limitsTable)
  return makeLedger(limit)
}

/**
 * Creates an in-memory response cache that can be shared between runs. Identical calls with the same seed are answered
 * from the cache and cost nothing. For a persistent cache, use `openCache` from `@divisi/files/promise`.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, memoryCache, single, worker } from "@divisi/core/promise"
 *
 * const pool = [worker({ id: "calculator", answer: () => "42" })]
 * const options = { question: "What is 6 times 7?", pool, policy: single(0), cache: memoryCache({ maxEntries: 1_000 }) }
 * await conduct(options)
 * const again = await conduct(options)
 * again.spend.calls // => 0
 * ```
 */
export const memoryCache = (options: ResponseCache.MemoryOptions): ResponseCache.ResponseCache => {
  Options.check("memoryCache", options, ResponseCache.memoryTable)
  return ResponseCache.makeMemory(options)
}

// Marked as pure, so that a bundle that does not use it leaves it out.
const withMemoryJournal = /* @__PURE__ */ onDemand(() => import("../journal/MemoryJournal.ts"))

/**
 * Creates an in-memory journal, so that `resume` can continue a stopped run in the same process. For a journal that
 * survives the process, use `openJournal` from `@divisi/files/promise`.
 */
export const memoryJournal = (): Journal => {
  let journal: Journal | undefined
  const run = <A, E>(use: (journal: Journal) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
    withMemoryJournal(({ makeMemory }) => {
      journal ??= makeMemory()
      return use(journal)
    })
  return {
    name: "in memory",
    claim: (...given) => run((journal) => journal.claim(...given)),
    append: (batch) => run((journal) => journal.append(batch)),
    release: (...given) => run((journal) => journal.release(...given)),
    read: (...given) => run((journal) => journal.read(...given)),
    find: (name) => run((journal) => journal.find(name)),
    list: (query) => run((journal) => journal.list(query)),
    lengths: (names) => run((journal) => journal.lengths(names)),
    remove: (names) => run((journal) => journal.remove(names))
  }
}

/**
 * Builds a layer and returns its service, which stays open until it is disposed. For packages that offer shared
 * services to `conduct`, such as `openGate` in `@divisi/provider-kit/promise` and `openCache` in
 * `@divisi/files/promise`.
 */
export const open = async <S extends object, E>(
  key: Context.Key<never, S | undefined>,
  layer: Layer.Layer<never, E>
) => {
  const scope = Scope.makeUnsafe()
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope)).catch(async (error) => {
    await close()
    throw error
  })
  return { ...Context.getUnsafe(context, key)!, [Symbol.asyncDispose]: close }
}
