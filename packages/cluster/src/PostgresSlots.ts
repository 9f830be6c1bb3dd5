/**
 * Slots for concurrent calls, shared by all processes that use the database, such as the number of calls that a vendor
 * accepts at the same time.
 *
 * A process holds a number of slots until its lease expires, by the database's clock, and renews it while it makes
 * calls. If the processes need more slots than there are, each gets an equal share. If there are more processes than
 * slots, they take turns.
 */
import { randomUUID } from "node:crypto"
import type { Resilience } from "@divisi/core"
import * as Effect from "effect/Effect"
import { bounded } from "./internal/closing.ts"
import type { Postgres } from "./Postgres.ts"

/** How long a process keeps its slots without renewing them, in milliseconds. */
const leaseMillis = 10_000

/**
 * Creates slots in a database, for `ProviderGate.layerShared`.
 *
 * **Gotchas**
 *
 * If a process dies, its slots become free after 10 seconds. If a process is frozen for longer, other processes use the
 * slots of its calls in flight. While the database is unreachable, the gate applies the limit to each process
 * separately.
 *
 * **Example** (eight calls at a time for all processes)
 *
 * ```ts no-run
 * import { Postgres, PostgresSlots } from "@divisi/cluster"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * const program = Effect.gen(function* () {
 *   const postgres = yield* Postgres.open({ url: Redacted.make("postgres://divisi@localhost/divisi") })
 *   const member = yield* PostgresSlots.make(postgres).join
 *   return yield* member.share("openai", { limit: 8, used: 0, wanted: 3 })
 * })
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 */
export const make = ({ run, schema, self }: Postgres): Resilience.SharedSlots => {
  const share = `SELECT slots, contended FROM ${schema}.share_slots($1, $2, $3::integer, $4::integer, $5::integer,
    ${leaseMillis})`
  return {
    join: Effect.gen(function* () {
      const member = `${randomUUID()} of ${self}`
      yield* Effect.addFinalizer(() =>
        bounded(run((session) => session.query(`DELETE FROM ${schema}.slots WHERE process = $1`, [member])))
      )
      return {
        share: (name, { limit, used, wanted }) =>
          Effect.map(
            run((session) => session.query(share, [name, member, `${limit}`, `${used}`, `${wanted}`])),
            ([row]) => ({ slots: Number(row?.[0]), isContended: row?.[1] === true, leaseMillis })
          )
      }
    })
  }
}
