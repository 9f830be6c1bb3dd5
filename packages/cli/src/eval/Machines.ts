/** Stores for `divisi eval --on`, through which several machines share an evaluation. */
import type { Account, ResponseCache } from "@divisi/core"
import { Evaluation } from "@divisi/evals"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Failure, failed } from "../invocation/Failure.ts"
import type { Database } from "../stores/Database.ts"

/** Creates the shared stores for an evaluation: samples, runs, answers and an account. */
export const make = Effect.fnUntraced(function* (
  { modules, postgres }: Database["cluster"],
  name: string
): Effect.fn.Return<Evaluation.Machines, Failure, Scope.Scope> {
  const unusable = ({ message }: { readonly message: string }) => new Evaluation.MachinesError({ detail: message })
  const { PostgresAccounts, PostgresJournal, PostgresRecords, PostgresTasks } = modules
  const accounts = yield* Effect.mapError(PostgresAccounts.make(postgres), ({ message }) => failed(message))
  const records = yield* PostgresRecords.make(postgres, { kind: `answers of ${name}` })
  const account = (limits: Account.Limits) =>
    Effect.mapError(accounts.open({ name: `evaluation/${name}`, limits }), unusable)
  return {
    name: `evaluation/${name}`,
    open: (plan, keys) =>
      Effect.map(Effect.mapError(PostgresTasks.open(postgres, { id: name, plan, keys }), unusable), (tasks) => ({
        ...tasks,
        claim: (count, except) => Effect.mapError(tasks.claim(count, except), unusable),
        renew: (keys) => Effect.mapError(tasks.renew(keys), unusable),
        release: (keys) => Effect.mapError(tasks.release(keys), unusable),
        answer: (key, body) => Effect.mapError(tasks.answer(key, body), unusable),
        reopen: (keys) => Effect.mapError(tasks.reopen(keys), unusable),
        left: Effect.mapError(tasks.left, unusable),
        answers: Effect.mapError(tasks.answers, unusable)
      })),
    journal: yield* PostgresJournal.make(postgres),
    account: (costUsd) => account({ costUsd }),
    paidUsd: Effect.mapError(
      Effect.map(accounts.list, (all) => all.find((one) => one.name === `evaluation/${name}`)?.total.costUsd ?? 0),
      unusable
    ),
    answers: {
      get: (key) =>
        Effect.orElseSucceed(
          Effect.map(records.get(key), (text): ResponseCache.Entry | undefined => text && JSON.parse(text)),
          () => undefined
        ),
      set: (key, entry) => Effect.ignore(records.set(key, JSON.stringify(entry)))
    }
  }
})
