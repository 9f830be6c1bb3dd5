/**
 * Accounts on disk: limits on what runs spend. Spending is recorded in one SQLite file, which concurrent and later
 * processes share.
 *
 * Each account is a `Ledger`: the runs that share it never exceed its limits together, even across processes and
 * restarts. Accounts can be nested: for example, the account of a run is below that of its key, which is below that of
 * its team, which is below that of the day.
 */
import { realpathSync } from "node:fs"
import path from "node:path"
import { Budget, Account as Shared, Options as Tables } from "@divisi/core"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as AccountTable from "./internal/accountTable.ts"
import * as Database from "./internal/database.ts"
import * as GroupCommit from "./internal/groupCommit.ts"
import { owners } from "./internal/owners.ts"
import * as UserFolders from "./UserFolders.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The location of the accounts on disk. */
export interface Options {
  /**
   * The file; it and its folder are created if they do not exist. Default: `divisi/accounts.sqlite` in the user's data
   * folder, or the path in the environment variable `DIVISI_ACCOUNTS`. While the file is in use, `<file>-wal`,
   * `<file>-shm` and the folder `<file>-owners`, which contains the locks of the processes, are next to it.
   */
  readonly file?: string | undefined
}

/**
 * The names, types and ranges of {@link Options}, for their validation. Invalid options are a defect: an `OptionsError`.
 *
 * @internal
 */
export const optionsTable = { file: Tables.name } satisfies Tables.ShapeOf<Options>

/** Options for opening an account. The name must be unique within the file. */
export type AccountOptions = Shared.AccountOptions

/** The spending and reservations on an account, across all processes. */
export type Standing = Shared.Standing

/**
 * Limits of an account: USD, tokens and calls. An omitted limit means unlimited.
 *
 * @internal
 */
export type Limits = Shared.Limits

/**
 * An account in a file. Pass it as `RunOptions.ledger`, in a `Payer`, or as the parent of an in-memory ledger.
 */
export type Account = Shared.Account<AccountsError>

/** The accounts in a file. */
export type Accounts = Shared.Accounts<AccountsError>

/** The accounts provided in the context. Default: none. */
export const Accounts: Context.Reference<Accounts | undefined> = Context.Reference("@divisi/files/DiskAccounts", {
  defaultValue: (): Accounts | undefined => undefined
})

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** The reason why accounts cannot be used. */
export type AccountsErrorReason = Database.Unopened

/** Raised when accounts cannot be used. Runs that need them fail with this error. */
export class AccountsError extends Data.TaggedError("AccountsError")<{
  readonly file: string
  readonly reason: AccountsErrorReason
}> {
  override get message(): string {
    return `The accounts file ${this.file} ${Database.explain(this.reason, "Restore it from a backup, or choose another file")}.`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Returns the default file: the path in `DIVISI_ACCOUNTS`, otherwise `accounts.sqlite` in the user's data folder. */
const defaultFile: Effect.Effect<string> = UserFolders.dataFile("accounts.sqlite", "DIVISI_ACCOUNTS")

const namedAt =
  (now: number) =>
  (options: AccountOptions): Shared.Named => ({ name: Shared.nameAt(options, now), limits: options.limits })

/**
 * Opens a file of accounts. It is closed when the scope closes.
 *
 * **Details**
 *
 * The possible cost of a call is reserved in a transaction that sees the reservations of all other processes. It is on
 * disk before the call is sent; pending writes share one transaction. The reservations of a killed process count as
 * spent at their worst case, since the real usage is unknown. With a journal, the process that resumes the run
 * identifies its calls to the account: each is charged once, and the real cost replaces the worst case if the journal
 * contains it.
 *
 * **Gotchas**
 *
 * If an account cannot be written, calls are refused: the run fails with an `AccountsError`. If a call ends in the
 * meantime, its worst-case cost stays reserved.
 *
 * **Example**
 *
 * ```ts
 * import { DiskAccounts } from "@divisi/files"
 * import * as Effect from "effect/Effect"
 * import fs from "node:fs"
 * import os from "node:os"
 * import path from "node:path"
 *
 * const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "divisi-")), "accounts.sqlite")
 * const program = Effect.gen(function* () {
 *   const accounts = yield* DiskAccounts.make({ file })
 *   const day = yield* accounts.open({ name: "all", per: "day", limits: { costUsd: 10 } })
 *   const team = yield* accounts.open({ name: "team/red", limits: { costUsd: 5 }, parent: day })
 *   const reservation = yield* team.reserve({ costUsd: 0.01, tokens: 500 })
 *   yield* team.settle(reservation, { usage: { inputTokens: 120, outputTokens: 80 }, costUsd: 0.004 })
 *   return (yield* day.standing).total.costUsd
 * })
 * await Effect.runPromise(Effect.scoped(program)) // => 0.004
 * ```
 */
export const make = Effect.fnUntraced(function* (
  options: Options = {}
): Effect.fn.Return<Accounts, AccountsError, Scope.Scope> {
  Tables.check("DiskAccounts.make", options, optionsTable)
  const file = path.resolve(options.file ?? (yield* defaultFile))
  const failed = (reason: AccountsErrorReason) => new AccountsError({ file, reason })
  const { enter, find, self } = owners(file, yield* Effect.scope)
  const entered = yield* enter
  const database = yield* Database.open(file, AccountTable.kind, failed)
  const table = AccountTable.make(database)
  const writer = GroupCommit.make(database)
  yield* Effect.addFinalizer(() => Effect.sync(writer.close))
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  const orFail = <A>(effect: Effect.Effect<A, unknown>) =>
    Effect.mapError(effect, (error) => failed(Database.failureOf(error)))
  const write = <A>(work: () => A) => orFail(writer.write(work, true))
  const own = Effect.mapError(entered, ({ message }) => failed({ _tag: "Unwritable", detail: message }))

  /** Charges the reservations of dead processes. */
  const bury = Effect.gen(function* () {
    const dead: Array<string> = []
    for (const owner of yield* orFail(Database.patiently(table.owners))) {
      if ((yield* find(owner)) === undefined) dead.push(owner)
    }
    if (dead.length > 0) yield* write(() => table.bury(dead, now()))
  })

  const opening = yield* Shared.opening<number>(realpathSync(file))

  const account = (chain: ReadonlyArray<AccountOptions>, { limits, total }: AccountTable.Row): Account => {
    const { name } = chain[0]!
    const named = () => chain.map(namedAt(now()))
    let known = total

    const read = (): AccountTable.Row => {
      const row = table.open(named()[0]!, now(), false)
      known = row.total
      return row
    }

    const ledger = Shared.reserving<number>({
      opening,
      chain: named,
      take: (accounts, wanted, draws) =>
        Effect.orDie(
          Effect.andThen(
            own,
            write(() => {
              const taken = table.reserve({ ...wanted, chain: accounts, account: name, draws, owner: self, now: now() })
              read()
              return taken
            })
          )
        ),
      // If this write fails, the worst-case reservation remains, and the answer is still delivered.
      close: (hold, used, isDrawn, draws) =>
        Effect.ignore(
          write(() => {
            table.close({ hold, used, isDrawn, draws, now: now() })
            read()
          })
        ),
      standings: Effect.orDie(write(() => named().map((one) => table.open(one, now(), false)))),
      bury: Effect.orDie(bury)
    })

    return {
      name,
      chain,
      limits,
      costLimit: Budget.lowest(limits.costUsd, chain[0]!.parent?.costLimit),
      // Another process may set limits at any time, so the account is treated as limited.
      isLimited: true,
      ...ledger,
      charge: (costUsd, call) =>
        Effect.orDie(
          write(() => {
            table.charge({ chain: named(), account: name, call, owner: self, now: now() }, costUsd)
            read()
          })
        ),
      spent: () => known,
      standing: write(read)
    }
  }

  yield* bury
  yield* write(() => table.tidy(now()))
  return {
    name: file,
    now,
    open: (options) =>
      Effect.map(
        write(() => table.open(namedAt(now())(options), now(), true)),
        (row) => account([options, ...(options.parent?.chain ?? [])], row)
      ),
    list: orFail(Database.patiently(table.list)),
    adjust: (correction) => write(() => table.adjust(correction, now())),
    adjustments: orFail(Database.patiently(table.adjustments))
  }
})

// -------------------------------------------------------------------------------------------------------------------
// Layers
// -------------------------------------------------------------------------------------------------------------------

/**
 * Provides accounts on disk.
 *
 * @internal
 */
export const layer = (options: Options = {}): Layer.Layer<never, AccountsError> => Layer.effect(Accounts, make(options))
