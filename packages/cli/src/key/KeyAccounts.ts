/** What keys spend, on disk: a day's account under a month's, and that under the one of all time. */
import type * as DiskAccounts from "@divisi/files/DiskAccounts"
import type { Keys } from "@divisi/server"
import * as Effect from "effect/Effect"

const limitOf = (costUsd: number | undefined) => (costUsd === undefined ? undefined : { costUsd })

const totalName = (id: string): string => `key/${id}`

/** The account that a key's runs are charged to now. */
export const open = Effect.fnUntraced(function* (
  accounts: DiskAccounts.Accounts,
  { id, limits: { dayUsd, monthUsd, totalUsd } }: Keys.Key,
  now: number
): Effect.fn.Return<DiskAccounts.Account, DiskAccounts.AccountsError> {
  const total = yield* accounts.open({ name: totalName(id), limits: limitOf(totalUsd) })
  const name = `${totalName(id)}/${new Date(now).toISOString().slice(0, 7)}`
  const month = yield* accounts.open({ name, limits: limitOf(monthUsd), parent: total })
  return yield* accounts.open({ name: `${totalName(id)}/day`, per: "day", limits: limitOf(dayUsd), parent: month })
})

/** What each key has spent in all, in USD, by its id. */
export const spent = (
  accounts: DiskAccounts.Accounts
): Effect.Effect<ReadonlyMap<string, number>, DiskAccounts.AccountsError> =>
  Effect.map(
    accounts.list,
    (standings) => new Map(standings.map(({ name, total }) => [name.replace(/^key\//, ""), total.costUsd]))
  )
