/** Budget accounts for keys. The account for a day is a child of its month's account, which is a child of the total. */
import { Account } from "@divisi/core"
import { rounded } from "@divisi/core/Usage"
import type { Keys } from "@divisi/server"
import * as Effect from "effect/Effect"

const limitOf = (costUsd: number | undefined) => (costUsd === undefined ? undefined : { costUsd })

const totalName = (id: string): string => `key/${id}`

const monthOf = (now: number): string => new Date(now).toISOString().slice(0, 7)

const monthName = (id: string, now: number): string => `${totalName(id)}/${monthOf(now)}`

/** Returns the daily account of a key. */
const daily = (id: string) => ({ name: `${totalName(id)}/day`, per: "day" }) as const

/** Returns the names of a key's accounts: the current day, the current month, and the total. */
export const namesOf = (id: string, now: number): ReadonlyArray<string> => [
  Account.nameAt(daily(id), now),
  monthName(id, now),
  totalName(id)
]

/** Extracts the key id from an account name. */
export const keyOf = (name: string): string => name.replace(/^key\//, "").replace(/\/.*$/s, "")

/** The account chain of each key (day, month and total), keyed by the account that runs are charged to. */
const chains = new WeakMap<object, ReadonlyArray<Account.Account>>()

/** Returns a key's account together with its ancestors. */
export const chainOf = (account: object): ReadonlyArray<Account.Account> => chains.get(account) ?? []

/** Opens the account that the key's runs are currently charged to. */
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

/**
 * Returns a function that opens the accounts of keys. Each is opened once per set of limits and UTC month, based on the
 * clock of the account store.
 */
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

/** A key's spending in USD: in total, and on the current day and in the current month if it has a limit for them. */
export interface Spending {
  readonly spentUsd: number
  readonly spentTodayUsd?: number
  readonly spentThisMonthUsd?: number
}

/** Returns a function that looks up the spending of keys. Days and months are in UTC. */
export const spending = (
  accounts: Account.Accounts
): Effect.Effect<(key: Pick<Keys.Key, "id" | "limits">) => Spending, Account.AccountsError> =>
  Effect.map(accounts.list, (standings) => {
    const spent = new Map(standings.map(({ name, total }) => [name, rounded(total.costUsd)]))
    const now = accounts.now()
    return ({ id, limits }) => {
      const [today, thisMonth, total] = namesOf(id, now).map((name) => spent.get(name) ?? 0)
      return {
        spentUsd: total!,
        ...(limits.dayUsd !== undefined && { spentTodayUsd: today! }),
        ...(limits.monthUsd !== undefined && { spentThisMonthUsd: thisMonth! })
      }
    }
  })
