/** A database that becomes unreachable in the middle of a call, and is reachable again when the run is resumed. */
import { conduct, policy, worker } from "@divisi/core/promise"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Postgres, PostgresError } from "../src/Postgres.ts"
import * as PostgresAccounts from "../src/PostgresAccounts.ts"
import * as PostgresJournal from "../src/PostgresJournal.ts"
import { fresh, hasPostgres } from "./database.ts"

/** The statement at which the database becomes unreachable, whether it is performed, and the paid calls in all. */
const outages = [
  { at: "the intent of the first call", statement: /INSERT INTO .*batches/s, nth: 1, calls: 2 },
  { at: "the answer of the first call", statement: /INSERT INTO .*batches/s, nth: 2, calls: 2 },
  { at: "the settlement of the first call", statement: /account_tasks/, nth: 3, calls: 2 },
  { at: "the reservation of the second call", statement: /account_tasks/, nth: 4, calls: 2 }
].flatMap((outage) => [
  { ...outage, isPerformed: true },
  { ...outage, isPerformed: false }
])

describe.skipIf(!hasPostgres)("a run whose database becomes unreachable", () => {
  let server: PostgresServer.PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.stop())

  /** Fails all statements from the given one on, until `end` is called. */
  const failing = (postgres: Postgres, { isPerformed, nth, statement }: (typeof outages)[number]) => {
    const state = { isDown: false, isOver: false, seen: 0 }
    const error = new PostgresError({ database: postgres.name, reason: { _tag: "Unreachable", detail: "a test" } })
    const run: Postgres["run"] = (work) =>
      Effect.suspend(() => {
        if (state.isDown) return Effect.fail(error)
        let isLost = false
        const done = postgres.run((session, attempt) =>
          work(
            {
              query: (text, parameters) =>
                Effect.suspend(() => {
                  if (!state.isOver && statement.test(text) && ++state.seen === nth) {
                    state.isDown = true
                    isLost = true
                    if (!isPerformed) return Effect.succeed([])
                  }
                  return session.query(text, parameters)
                })
            },
            attempt
          )
        )
        return Effect.matchCauseEffect(done, {
          onSuccess: (value) => (isLost ? Effect.fail(error) : Effect.succeed(value)),
          onFailure: (cause) => (isLost ? Effect.fail(error) : Effect.failCause(cause))
        })
      })
    const end = () => {
      state.isDown = false
      state.isOver = true
    }
    return { postgres: { ...postgres, run }, state, end }
  }

  it.each(outages)("pays and charges each call once: at $at, performed: $isPerformed", (outage) =>
    Effect.gen(function* () {
      const { end, postgres, state } = failing(yield* fresh(() => server), outage)
      const journal = yield* PostgresJournal.make(postgres)
      const account = yield* Effect.flatMap(PostgresAccounts.make(postgres), ({ open }) =>
        open({ name: "all", limits: { costUsd: 100 } })
      )
      let book = 0
      const vendor = worker({
        id: "a",
        pricing: { inputPerMillion: 1, outputPerMillion: 1 },
        answer: () => {
          book += 1
          return `answer ${book}`
        }
      })
      const steps = [
        { subtask: "Look", worker: 0, access: [] as ReadonlyArray<number> },
        { subtask: "Answer", worker: 0, access: [0] }
      ]
      const run = Effect.promise(() =>
        conduct({
          question: "Why?",
          pool: [vendor],
          policy: policy("two", () => ({ steps })),
          journal,
          ledger: account,
          runId: "r",
          seed: 1
        })
      )
      yield* Effect.exit(run)
      assert.isTrue(state.isDown)
      end()
      const result = yield* run
      const { open, total } = yield* account.standing
      const entries = yield* journal.read("r")
      const lost = entries.filter(({ type }) => type === "lost")
      assert.deepStrictEqual([book, total.calls, open, lost], [outage.calls, book, 0, []])
      assert.strictEqual(result.ending, "answered")
    }).pipe(Effect.scoped, Effect.runPromise)
  )
})
