import { AccountsContract, JournalContract, PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as PostgresAccounts from "../src/PostgresAccounts.ts"
import * as PostgresJournal from "../src/PostgresJournal.ts"
import { fresh, hasPostgres } from "./database.ts"

describe.skipIf(!hasPostgres)("in Postgres", () => {
  let server: PostgresServer.PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.stop())
  const opened = () => fresh(() => server)

  JournalContract.contract({
    name: "The journal in Postgres",
    fresh: () => Effect.orDie(Effect.flatMap(opened(), PostgresJournal.make)),
    describe,
    it
  })

  it("A list of runs with a damaged head has the other rows, and the damaged one with its reason", () =>
    Effect.gen(function* () {
      const postgres = yield* opened()
      const journal = yield* PostgresJournal.make(postgres)
      const head = { question: "Q", policy: "p", workers: ["a"], startedAt: 1, costUsd: 0, calls: 0 }
      for (const run of ["before", "damaged", "after"]) {
        const { epoch } = yield* journal.claim(run)
        const entries = [{ type: "found", call: "r/0", attempt: 0, hash: "h", answer: { text: "" } } as const]
        yield* journal.append({ run, epoch, seq: 0, entries, head })
      }
      for (const damage of ["{", "null", "[]", "{}", '{"question":7}']) {
        const damaging = `UPDATE ${postgres.schema}.runs SET head = $1 WHERE run = 'damaged'`
        yield* postgres.run((session) => session.query(damaging, [damage]))
        const listed = yield* journal.list()
        assert.deepStrictEqual(
          listed.map(({ damaged, run }) => [run, damaged !== undefined]),
          [
            ["after", false],
            ["damaged", true],
            ["before", false]
          ]
        )
        assert.isString((yield* journal.find("damaged"))?.damaged)
        const shorten = `UPDATE ${postgres.schema}.runs SET length = -length WHERE run = 'damaged'`
        yield* postgres.run((session) => session.query(shorten, []))
        assert.include((yield* Effect.flip(journal.read("damaged"))).message, "the length of run damaged, -1")
        yield* postgres.run((session) => session.query(shorten, []))
      }
      const accounts = yield* PostgresAccounts.make(postgres)
      for (const name of ["one", "two"]) yield* accounts.open({ name, limits: { costUsd: 1 } })
      const damaging = `UPDATE ${postgres.schema}.accounts SET limits = '{' WHERE name = 'one'`
      yield* postgres.run((session) => session.query(damaging, []))
      const damaged = (yield* accounts.list).filter((account) => account.damaged !== undefined)
      assert.deepStrictEqual(
        damaged.map(({ limits, name }) => [name, limits.calls]),
        [["one", 0]]
      )
    }).pipe(Effect.scoped, Effect.runPromise))

  AccountsContract.contract({
    name: "Accounts in Postgres",
    fresh: () => Effect.flatMap(Effect.orDie(opened()), PostgresAccounts.make),
    describe,
    it
  })
})
