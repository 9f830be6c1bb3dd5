import { AccountsContract, JournalContract, PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, it } from "vitest"
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

  AccountsContract.contract({
    name: "Accounts in Postgres",
    fresh: () => Effect.flatMap(Effect.orDie(opened()), PostgresAccounts.make),
    describe,
    it
  })
})
