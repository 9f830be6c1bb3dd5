/**
 * Divisi with Effect and a journal in Postgres, as shared by several servers. The database server's CPU time is not
 * included.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { Contender, Prepared } from "../Contender.ts"
import { startPostgres } from "../postgres.ts"
import type { Workload } from "../Workload.ts"
import { makeConductor } from "./DivisiEffect.ts"

const prepare = async (workload: Workload): Promise<Prepared> => {
  const { Postgres, PostgresJournal } = await import("@divisi/cluster")
  const { url } = await startPostgres()
  const opened = Effect.flatMap(Postgres.open({ url: Redacted.make(url) }), PostgresJournal.make)
  const journal = await Effect.runPromise(Scope.provide(opened, Scope.makeUnsafe()))
  const conductor = makeConductor(workload)
  const run = Effect.suspend(() => conductor.run(workload.plan.question, { journal }))
  return { run: () => Effect.runPromise(Effect.map(run, ({ answer }) => answer ?? "")) }
}

export const contender: Contender = { name: "divisiPostgres", prepare, prepareDurable: prepare }
