/** The accounts of keys: the account of a day is below that of its month, which is below the total. */
import { Account } from "@divisi/core"
import type { Keys } from "@divisi/server"
import * as Effect from "effect/Effect"

const limitOf = (costUsd: number | undefined) => (costUsd === undefined ? undefined : { costUsd })

const totalName = (id: string): string => `key/${id}`

const monthOf = (now: number): string => new Date(now).toISOString().slice(0, 7)

const monthName = (id: string, now: number): string => `${totalName(id)}/${monthOf(now)}`

/** Returns the account of a day. */
const daily = (id: string) => ({ name: `${totalName(id)}/day`, per: "day" }) as const

/** Returns the names of a key's accounts for a day, its month and all time, in this order. */
export const namesOf = (id: string, now: number): ReadonlyArray<string> => [
  Account.nameAt(daily(id), now),
  monthName(id, now),
  totalName(id)
]

/** Returns the id of an account's key. */
export const keyOf = (name: string): string => name.replace(/^key\//, "").replace(/\/.*$/s, "")

/** The accounts of a key (day, month and all time), by the account that its runs are charged to. */
const chains = new WeakMap<object, ReadonlyArray<Account.Account>>()

/** Returns an account of a key with its ancestors. */
export const chainOf = (account: object): ReadonlyArray<Account.Account> => chains.get(account) ?? []

/** Opens the account that a key's runs are currently charged to. */
export const open = Effect.fnUntraced(function* (
  accounts: Account.Accounts,
  { id, limits: { dayUsd, monthUsd, totalUsd } }: Keys.Key
): Effect.fn.Return<Account.Account, Account.AccountsError> {
  const total = yield* accounts.open({ name: totalName(id), limits: limitOf(totalUsd) })
  const month = yield* accounts.open({ name: monthName(id, accounts.now()), limits: limitOf(monthUsd), parent: total })
  const day = yield* accounts.open({ ...daily(id), limits: limitOf(dayUsd), parent: month })
  chains.set(day, [day, month, total])
  return day
})

/** Opens the accounts of keys, each once per limits and UTC month, by the clock of the accounts. */
export const opener = (accounts: Account.Accounts) => {
  const known = new Map<string, { readonly of: string; readonly account: Account.Account }>()
  return (key: Keys.Key): Effect.Effect<Account.Account, Account.AccountsError> =>
    Effect.suspend(() => {
      const of = `${monthOf(accounts.now())} ${JSON.stringify(key.limits)}`
      const before = known.get(key.id)
      if (before?.of === of) return Effect.succeed(before.account)
      return Effect.tap(open(accounts, key), (account) => Effect.sync(() => known.set(key.id, { of, account })))
    })
}

/** Returns the total spending of each key in USD, by its id. */
export const spent = (accounts: Account.Accounts): Effect.Effect<ReadonlyMap<string, number>, Account.AccountsError> =>
  Effect.map(
    accounts.list,
    (standings) => new Map(standings.map(({ name, total }) => [name.replace(/^key\//, ""), total.costUsd]))
  )
