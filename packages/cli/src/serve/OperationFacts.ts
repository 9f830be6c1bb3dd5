/** Collects data for a server's operators: keys with their spending, and machines that share a database. */
import type { Account } from "@divisi/core"
import { rounded } from "@divisi/core/Usage"
import type { Operations } from "@divisi/server"
import * as Effect from "effect/Effect"
import type { Failure } from "../invocation/Failure.ts"
import * as KeyAccounts from "../key/KeyAccounts.ts"
import type { Database } from "../stores/Database.ts"
import type { KeyStore, StoredKey } from "../stores/KeyStore.ts"

const stateOf = ({ damaged, expiresAt, revokedAt }: StoredKey, now: number): Operations.Key["state"] => {
  if (damaged !== undefined) return "damaged"
  if (revokedAt !== undefined) return "revoked"
  return expiresAt !== undefined && expiresAt <= now ? "expired" : "valid"
}

const keyOf = (key: StoredKey, spent: ReadonlyMap<string, number>, now: number): Operations.Key => {
  const { dayUsd, monthUsd, totalUsd } = key.limits
  const [day = 0, month = 0, total = 0] = KeyAccounts.namesOf(key.id, now).map((name) => spent.get(name))
  return {
    id: key.id,
    name: key.name,
    state: stateOf(key, now),
    expires_at: key.expiresAt ?? null,
    rights: key.rights ?? [],
    limits: {
      ...(dayUsd !== undefined && { day_usd: dayUsd }),
      ...(monthUsd !== undefined && { month_usd: monthUsd }),
      ...(totalUsd !== undefined && { total_usd: totalUsd }),
      ...(key.requestsPerMinute !== undefined && { requests_per_minute: key.requestsPerMinute }),
      ...(key.tokensPerMinute !== undefined && { tokens_per_minute: key.tokensPerMinute })
    },
    spent: { day_usd: day, month_usd: month, total_usd: total }
  }
}

/** Returns the keys in a store with their spending. Accounts are opened only if there is at least one key. */
export const keysOf = <E>(
  store: KeyStore,
  accounts: Effect.Effect<Account.Accounts, E>
): Effect.Effect<ReadonlyArray<Operations.Key>, Failure | E | Account.AccountsError> =>
  Effect.flatMap(store.all, (keys) =>
    keys.length === 0
      ? Effect.succeed([])
      : Effect.flatMap(accounts, (opened) =>
          Effect.map(opened.list, (standings) => {
            const spent = new Map(standings.map(({ name, total }) => [name, rounded(total.costUsd)]))
            return keys.map((key) => keyOf(key, spent, opened.now()))
          })
        )
  )

/** Returns the machines that share a database: cluster servers, and processes with runs in progress. */
export const machinesOf = ({ modules, postgres }: Database["cluster"]) =>
  Effect.map(modules.Operations.status(postgres), ({ owners, servers }): ReadonlyArray<Operations.Machine> => {
    const running = new Map(owners.map(({ address, runs }) => [address, runs]))
    const known = new Set<string | undefined>(servers.map(({ address }) => address))
    return [
      ...servers.map(
        ({ address, isDraining, isHealthy, seenMillis }): Operations.Machine => ({
          name: address,
          state: !isHealthy ? "unreachable" : isDraining ? "draining" : "healthy",
          runs: running.get(address) ?? 0,
          seen_millis: seenMillis
        })
      ),
      ...owners
        .filter(({ address }) => !known.has(address))
        .map(
          ({ address, process, runs }): Operations.Machine => ({
            name: process,
            // A server that is not listed has died, and no other server has taken its runs over yet.
            state: address === undefined ? "healthy" : "unreachable",
            runs,
            seen_millis: null
          })
        )
    ]
  })
