/**
 * Budget accounts in Postgres. Spending limits apply across all servers that share the database: together they never
 * exceed a limit, even if processes are killed. `DiskAccounts` does the same for processes on one machine.
 */
import { randomUUID } from "node:crypto"
import { Account, Budget } from "@divisi/core"
import { type BudgetExceeded, noSpend, type Spend } from "@divisi/core/Usage"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type * as AccountBook from "./internal/accountBook.ts"
import * as AccountTable from "./internal/accountTable.ts"
import * as Batches from "./internal/batches.ts"
import { bounded } from "./internal/closing.ts"
import type { Postgres, PostgresError } from "./Postgres.ts"

/** The error raised when accounts cannot be used. `cause` contains the database error. */
export class AccountsError extends Data.TaggedError("AccountsError")<{ readonly cause: PostgresError }> {
  override get message(): string {
    return this.cause.message
  }
}

/** The accounts in a database. */
export type Accounts = Account.Accounts<AccountsError>

/** Delay before retrying to close reservations, in milliseconds. */
const againMillis = 1_000

/** How long a charged call is remembered, in milliseconds. Runs cannot be resumed after that long. */
const keptMillis = 90 * 86_400_000

/**
 * Opens the accounts in a database.
 *
 * **Details**
 *
 * Before a call is sent, its worst-case cost is reserved by a statement that takes the reservations of all other
 * processes into account. Pending reservations share one statement. A frozen process holds no lock. The reservations of
 * a killed process count as spent until another process resumes its run and reports the actual cost.
 *
 * **Gotchas**
 *
 * If the accounts cannot be written, calls are refused: the run waits for the database and then fails with an
 * `AccountsError`. If a call ends while the database is unreachable, its worst-case cost stays reserved until the
 * accounts can be written. If the process exits before that, the worst-case cost counts as spent.
 *
 * **Example**
 *
 * ```ts no-run
 * import { Postgres, PostgresAccounts } from "@divisi/cluster"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * const opened = Postgres.open({ url: Redacted.make("postgres://divisi@localhost/divisi") })
 * const program = Effect.gen(function* () {
 *   const accounts = yield* PostgresAccounts.make(yield* opened)
 *   const team = yield* accounts.open({ name: "team/red", per: "day", limits: { costUsd: 5 } })
 *   return (yield* team.standing).total.costUsd
 * })
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 */
export const make = Effect.fnUntraced(function* (
  postgres: Postgres
): Effect.fn.Return<Accounts, AccountsError, Scope.Scope> {
  const { isAlive, name, now, schema, self } = postgres
  const table = AccountTable.make(schema, self, isAlive)
  const orFail = <A>(effect: Effect.Effect<A, PostgresError>) =>
    Effect.mapError(effect, (cause) => new AccountsError({ cause }))
  /** Last known balance of each account, keyed by current account name. */
  const seen = new Map<string, AccountBook.Row>()

  const scope = yield* Effect.scope

  const perform = yield* Batches.make((tasks: ReadonlyArray<AccountBook.Task>) =>
    Effect.map(orFail(postgres.run((session) => table.perform(session, tasks, now()))), ({ accounts, done }) => {
      for (const [name, row] of accounts) if (seen.has(name)) seen.set(name, row)
      return done.map((one) => Effect.succeed(one))
    })
  )

  const bury = (whose: "dead" | "own") =>
    Effect.flatMap(orFail(postgres.run((session) => table.left(session, whose))), (left) =>
      Effect.forEach(left, perform, { concurrency: "unbounded", discard: true })
    )

  /** Close operations that could not be written yet, keyed by reservation id. */
  const unclosed = new Map<string, AccountBook.Task>()
  const closeAll = Effect.suspend(() =>
    Effect.forEach(unclosed.values(), perform, { concurrency: "unbounded", discard: true })
  )
  const isUnreachable = ({ cause }: AccountsError) => cause.reason._tag === "Unreachable"
  const closeLater = (id: string, task: AccountBook.Task) => {
    const closed = Effect.retry(perform(task), { schedule: Schedule.spaced(againMillis), while: isUnreachable })
    const forget = Effect.sync(() => unclosed.delete(id))
    unclosed.set(id, task)
    return Effect.asVoid(Effect.forkIn(Effect.ensuring(Effect.ignore(closed), forget), scope))
  }

  const look = (account: Account.Named, isGiven: boolean) =>
    Effect.map(perform({ type: "open", account, isGiven }), () => seen.get(account.name)!)

  const opening = yield* Account.opening<AccountBook.Hold>(`${name} ${schema}`)

  const account = (
    chain: ReadonlyArray<Account.AccountOptions>,
    limits: Account.Limits
  ): Account.Account<AccountsError> => {
    const own = chain[0]!
    const named = (): ReadonlyArray<Account.Named> =>
      chain.map((one) => ({ name: Account.nameAt(one, now()), limits: one.limits }))
    const here = (): Account.Named => {
      const { name, limits } = named()[0]!
      if (!seen.has(name)) seen.set(name, nothing(name))
      return { name, limits }
    }

    const ledger = Account.reserving<AccountBook.Hold>({
      opening,
      chain: named,
      take: (accounts, wanted, draws) =>
        Effect.suspend(() => {
          here()
          const task = {
            type: "reserve",
            id: randomUUID(),
            account: own.name,
            chain: accounts,
            draws,
            ...wanted
          } as const
          // A resumed call may take over a reservation that is about to be closed.
          return Effect.orDie(Effect.andThen(closeAll, perform(task))) as Effect.Effect<
            Account.Taken<AccountBook.Hold> | "wait" | BudgetExceeded
          >
        }),
      // If the write fails, the reservation remains until the database is reachable, and the answer is still delivered.
      close: ({ chain, id }, used, isDrawn, draws) => {
        const task = { type: "close", id, chain, used, isDrawn, draws } as const
        return Effect.catch(Effect.asVoid(perform(task)), () => closeLater(id, task))
      },
      standings: Effect.orDie(
        Effect.forEach(named(), (one) => {
          if (!seen.has(one.name)) seen.set(one.name, nothing(one.name))
          return look(one, false)
        })
      ),
      bury: Effect.orDie(bury("dead"))
    })

    return {
      name: own.name,
      chain,
      limits,
      costLimit: Budget.lowest(limits.costUsd, own.parent?.costLimit),
      // Another process may set limits at any time, so the account is treated as limited.
      isLimited: true,
      ...ledger,
      charge: (costUsd, call) =>
        Effect.orDie(
          Effect.suspend(() =>
            perform({ type: "charge", id: randomUUID(), account: own.name, chain: named(), call, costUsd })
          )
        ) as Effect.Effect<void>,
      spent: (): Spend => seen.get(here().name)?.total ?? noSpend,
      standing: Effect.suspend(() => look(here(), false))
    }
  }

  yield* bury("dead")
  yield* orFail(postgres.run((session) => table.tidy(session, now() - keptMillis)))
  // The outcome of calls still in flight is unknown, so their reservations are charged.
  yield* Effect.addFinalizer(() => bounded(Effect.andThen(Effect.ignore(closeAll), bury("own"))))
  return {
    name,
    now,
    open: (options) =>
      Effect.suspend(() => {
        const named = { name: Account.nameAt(options, now()), limits: options.limits }
        if (!seen.has(named.name)) seen.set(named.name, nothing(named.name))
        return Effect.map(look(named, true), ({ limits }) =>
          account([options, ...(options.parent?.chain ?? [])], limits)
        )
      }),
    list: orFail(postgres.run((session) => table.list(session))),
    adjust: (correction) => orFail(postgres.run((session) => table.adjust(session, correction, now()))),
    adjustments: orFail(postgres.run((session) => table.adjustments(session)))
  }
})

/** Returns the row for an account that has not been used. */
const nothing = (name: string): AccountBook.Row => ({
  name,
  limits: {},
  total: noSpend,
  open: 0,
  reservedCostUsd: 0,
  reservedTokens: 0
})
