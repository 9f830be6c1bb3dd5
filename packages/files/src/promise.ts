/** State on disk that runs of `@divisi/core/promise` share, for programs that use promises instead of Effect. */

import { Journal, ResponseCache, Options as Tables } from "@divisi/core"
import { open } from "@divisi/core/promise"
import * as Effect from "effect/Effect"
import * as DiskAccounts from "./DiskAccounts.ts"
import * as DiskCache from "./DiskCache.ts"
import * as DiskJournal from "./DiskJournal.ts"

/**
 * Opens a file that stores workers' answers, so that identical calls are paid for only once, across this process and
 * all concurrent and later ones. Declare it with `await using` to close it; otherwise it stays open. The promise is
 * rejected with a `DiskCacheError` if the file cannot be used.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, single, worker } from "@divisi/core/promise"
 * import { openCache } from "@divisi/files/promise"
 *
 * let calls = 0
 * const pool = [worker({ id: "calculator", answer: () => `${(calls += 1) * 42}` })]
 * const cache = await openCache({ file: ":memory:" })
 * const options = { question: "What is 6 times 7?", pool, policy: single(0), cache }
 * await conduct(options)
 * const again = await conduct(options)
 * again.answer // => "42"
 * calls // => 1
 * ```
 */
export const openCache = async (options: DiskCache.Options): Promise<ResponseCache.ResponseCache & AsyncDisposable> => {
  Tables.check("openCache", options, DiskCache.optionsTable)
  return open(ResponseCache.ResponseCache, DiskCache.layer(options))
}

/**
 * Opens a file that stores runs, so that they survive their process. Default: a file in this user's data folder.
 * Declare it with `await using` to close it; otherwise it stays open. The promise is rejected with a `JournalError` if
 * the file cannot be used.
 *
 * `runs()` lists its runs, the most recent first, with their endings, costs and waiting calls.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, resume, single, worker } from "@divisi/core/promise"
 * import { openJournal } from "@divisi/files/promise"
 * import { mkdtempSync } from "node:fs"
 * import { tmpdir } from "node:os"
 * import { join } from "node:path"
 *
 * const file = join(mkdtempSync(join(tmpdir(), "divisi-")), "runs.sqlite")
 * let calls = 0
 * const pool = [worker({ id: "calculator", answer: () => `${(calls += 1) * 42}` })]
 * const options = { pool, policy: single(0), runId: "run-1" }
 * {
 *   await using journal = await openJournal({ file })
 *   await conduct({ ...options, journal, question: "What is 6 times 7?" })
 * }
 * await using journal = await openJournal({ file })
 * const again = await resume({ ...options, journal })
 * again.answer // => "42"
 * calls // => 1
 * const [run] = await journal.runs({ limit: 10 })
 * run?.ending // => "answered"
 * ```
 */
export const openJournal = async (options: DiskJournal.Options = {}) => {
  Tables.check("openJournal", options, DiskJournal.optionsTable)
  const journal: Journal.Journal & AsyncDisposable = await open(Journal.Journal, DiskJournal.layer(options))
  return { ...journal, runs: (query?: Journal.Query) => Effect.runPromise(journal.list(query)) }
}

/** Open accounts in a file, with promises instead of effects. */
export interface OpenAccounts extends Omit<DiskAccounts.Accounts, "list" | "open">, AsyncDisposable {
  readonly open: (account: DiskAccounts.AccountOptions) => Promise<DiskAccounts.Account>
  readonly list: () => Promise<ReadonlyArray<DiskAccounts.Standing>>
}

/**
 * Opens a file of accounts. They limit the spend of runs in all processes that use the file, even after a restart. Each
 * account is a `ledger` for `conduct`. By default, the file is in this user's data folder. Declare it with
 * `await using` to close it; otherwise it stays open. The promises are rejected with an `AccountsError` if the file
 * cannot be used.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, single, worker } from "@divisi/core/promise"
 * import { openAccounts } from "@divisi/files/promise"
 * import { mkdtempSync } from "node:fs"
 * import { tmpdir } from "node:os"
 * import { join } from "node:path"
 *
 * await using accounts = await openAccounts({ file: join(mkdtempSync(join(tmpdir(), "divisi-")), "accounts.sqlite") })
 * const day = await accounts.open({ name: "all", per: "day", limits: { calls: 1 } })
 * const team = await accounts.open({ name: "team/red", parent: day })
 * const options = { pool: [worker({ id: "a", answer: () => "42" })], policy: single(0), ledger: team }
 * const first = await conduct({ ...options, question: "What is 6 times 7?" })
 * const second = await conduct({ ...options, question: "What is 7 times 6?" })
 * first.ending // => "answered"
 * second.ending // => "budget"
 * ```
 */
export const openAccounts = async (options: DiskAccounts.Options = {}): Promise<OpenAccounts> => {
  Tables.check("openAccounts", options, DiskAccounts.optionsTable)
  const accounts = await open(DiskAccounts.Accounts, DiskAccounts.layer(options))
  return {
    ...accounts,
    open: (account: DiskAccounts.AccountOptions) => Effect.runPromise(accounts.open(account)),
    list: () => Effect.runPromise(accounts.list)
  }
}
