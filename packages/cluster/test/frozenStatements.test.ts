/**
 * A process that is frozen after any statement of any store, before it reads the result, blocks no other process for
 * longer than the timeouts of Postgres; and neither does one that has not sent the end of an executed statement.
 */
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Operations from "../src/Operations.ts"
import * as Postgres from "../src/Postgres.ts"
import * as PostgresAccounts from "../src/PostgresAccounts.ts"
import * as PostgresJournal from "../src/PostgresJournal.ts"
import * as PostgresPaces from "../src/PostgresPaces.ts"
import * as PostgresRecords from "../src/PostgresRecords.ts"
import * as PostgresTasks from "../src/PostgresTasks.ts"
import * as Layers from "../src/runs/layers.ts"
import { hasPostgres } from "./database.ts"
import * as Freezing from "./freezing.ts"

const schema = "test_frozen"

/** The stores of a process. */
const storesOf = Effect.fnUntraced(function* (postgres: Postgres.Postgres, url: string) {
  const accounts = yield* PostgresAccounts.make(postgres)
  return {
    postgres,
    url: Redacted.make(url),
    accounts,
    journal: yield* PostgresJournal.make(postgres),
    paces: yield* PostgresPaces.make(postgres),
    records: yield* PostgresRecords.make(postgres, { kind: "a", maxBytes: 1_000_000, timeToLive: "1 day" }),
    tasks: yield* PostgresTasks.open(postgres, { id: "w", plan: "{}", keys: ["1", "2", "3"] })
  }
})

type Stores = Effect.Success<ReturnType<typeof storesOf>>
type Work = Effect.Effect<unknown, unknown, Scope.Scope>

const amount = { costUsd: 1, tokens: 10 }
const used = { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 1 }
const limits = { requestsPerMinute: 1_000, tokensPerMinute: 1_000 }
const entry = { type: "begun" } as const

const claimed = ({ journal }: Stores, run: string) =>
  Effect.map(journal.claim(run, { takeOver: true }), ({ epoch, length }) => ({ run, epoch, seq: length }))

const many = (work: (at: number) => Effect.Effect<unknown, unknown>) =>
  Effect.forEach(
    Array.from({ length: 1_000 }, (_, at) => at),
    work,
    { concurrency: "unbounded" }
  )

const longName = (name: string, at: number) => `${name} ${at} ${"x".repeat(64)}`

/** Work in two parts: what comes before the freeze, and what is frozen. The others do the same. */
const works: Readonly<Record<string, (stores: Stores, name: string) => Effect.Effect<Work, unknown, Scope.Scope>>> = {
  "claims a run": ({ journal }, name) => Effect.succeed(Effect.exit(journal.claim(name))),
  "takes a run over": (stores, name) => Effect.succeed(claimed(stores, name)),
  "writes to a run": (stores, name) =>
    Effect.map(claimed(stores, name), (batch) => stores.journal.append({ ...batch, entries: [entry] })),
  "releases a run": (stores, name) =>
    Effect.map(claimed(stores, name), ({ epoch, run }) => stores.journal.release(run, epoch)),
  "removes a run": ({ journal }, name) => Effect.succeed(journal.remove([name])),
  "lists and reads runs": ({ journal }, name) =>
    Effect.succeed(Effect.all([journal.list(), journal.find(name), journal.read(name), journal.lengths([name])])),
  "opens an account": ({ accounts }, name) => Effect.succeed(accounts.open({ name, limits: { costUsd: 100 } })),
  "reserves on an account and its parent": ({ accounts }, name) =>
    Effect.gen(function* () {
      const parent = yield* accounts.open({ name: `above ${name}` })
      const account = yield* accounts.open({ name, parent })
      return account.reserve(amount, undefined, "new")
    }),
  "settles a reservation": ({ accounts }, name) =>
    Effect.gen(function* () {
      const account = yield* accounts.open({ name })
      const reservation = yield* account.reserve(amount, undefined, "new")
      return account.settle(reservation, used)
    }),
  "releases a reservation": ({ accounts }, name) =>
    Effect.gen(function* () {
      const account = yield* accounts.open({ name })
      return account.release(yield* account.reserve(amount, undefined, "new"))
    }),
  "charges an account": ({ accounts }, name) =>
    Effect.map(accounts.open({ name }), (account) => account.charge(1, "run/0/0/0/0")),
  "corrects an account": ({ accounts }, name) =>
    Effect.map(accounts.open({ name }), () =>
      accounts.adjust({ id: name, by: "a", reason: "b", change: { addUsd: 1 }, names: [name] })
    ),
  "lists accounts": ({ accounts }) => Effect.succeed(Effect.all([accounts.list, accounts.adjustments])),
  "opens the accounts of a database": ({ postgres }) => Effect.succeed(PostgresAccounts.make(postgres)),
  "counts a request against a rate limit": ({ paces }, name) => Effect.succeed(paces.take(name, limits)),
  "counts tokens against a rate limit": ({ paces }, name) =>
    Effect.map(paces.take(name, limits), () => paces.use(name, limits, 10)),
  "stores a record": ({ records }, name) => Effect.succeed(records.set(name, "text")),
  "reads and removes records": ({ records }, name) =>
    Effect.map(records.set(name, "text"), () =>
      Effect.all([records.get(name), records.remove(name), records.all, records.purge(1)])
    ),
  "claims tasks": ({ tasks }) => Effect.succeed(tasks.claim(2)),
  "answers and releases tasks": ({ tasks }) =>
    Effect.succeed(
      Effect.all([tasks.renew(["1"]), tasks.answer("1", "{}"), tasks.release(["2"]), tasks.reopen(["1"])])
    ),
  "reads and forgets tasks": ({ tasks }, name) =>
    Effect.succeed(
      Effect.all([tasks.add([name]), tasks.left, tasks.find([name]), tasks.answers, tasks.forget([name])])
    ),
  "opens and removes shared work": ({ postgres }, name) =>
    Effect.succeed(
      Effect.flatMap(PostgresTasks.open(postgres, { id: name, plan: "{}", keys: ["1"] }), ({ remove }) => remove)
    ),
  "opens a new database": ({ url }, name) =>
    Effect.succeed(Postgres.open({ url, schema: `new_${name.replace(/\W/g, "_")}`, graceMillis: 0 })),
  "purges operations": ({ postgres }) =>
    Effect.succeed(
      Effect.all([
        Operations.status(postgres),
        Operations.drain(postgres, "a:1"),
        Operations.purge(postgres, 1e9),
        Operations.purgeMessages(postgres, 1e9)
      ])
    ),
  // The results exceed the buffers of the connection, so the database waits for its reader.
  "reserves a thousand calls at once": ({ accounts }, name) =>
    Effect.map(accounts.open({ name }), (account) => many((at) => account.reserve(amount, longName(name, at), "new"))),
  "claims a thousand runs at once": ({ journal }, name) =>
    Effect.succeed(many((at) => Effect.exit(journal.claim(longName(name, at), { takeOver: true })))),
  "claims a thousand tasks at once": ({ postgres }, name) =>
    Effect.map(
      PostgresTasks.open(postgres, {
        id: name,
        plan: "{}",
        keys: Array.from({ length: 1_000 }, (_, at) => longName(name, at))
      }),
      ({ claim }) => claim(1_000)
    ),
  "takes a transaction of the cluster": ({ url }) =>
    Effect.map(Layer.build(Layers.pool({ url, schema }, 1)), (context) =>
      Effect.provide(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const touch = sql`UPDATE version SET version = version`
          return yield* sql.withTransaction(Effect.andThen(touch, touch))
        }),
        context
      )
    ),
  "frees the space of removed rows": ({ postgres }) => Effect.succeed(postgres.vacuum)
}

/** About how often one work of many statements is frozen, at statements that are spread evenly. */
const mostCuts: Readonly<Record<Freezing.Place, number>> = { "after its end": 3, "before its end": 1 }

/** The longest wait: more than the timeouts of idle transactions and of locks, less than that of statements. */
const patience = "30 seconds"

describe.skipIf(!hasPostgres)("a process that is frozen within a statement stops no other: it", () => {
  let server: PostgresServer.PostgresServer
  let others: Stores
  const scope = Scope.makeUnsafe()
  const opened = (url: string) =>
    Postgres.open({ url: Redacted.make(url), schema, graceMillis: 0, maxConnections: 2, patienceMillis: 100 })
  beforeAll(async () => {
    server = await PostgresServer.start()
    const postgres = Postgres.open({ url: Redacted.make(server.url), schema, graceMillis: 0, maxConnections: 4 })
    others = await Effect.runPromise(
      Scope.provide(
        Effect.flatMap(postgres, (postgres) => storesOf(postgres, server.url)),
        scope
      )
    )
  })
  afterAll(async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    server.stop()
  })

  /** Waits until the database has executed what it received on a connection, or has ended it. */
  const executed = (port: number, place: Freezing.Place): Effect.Effect<void, unknown> =>
    Effect.flatMap(
      others.postgres.run((session) =>
        session.query(
          "SELECT CASE WHEN wait_event LIKE 'Client%' THEN state ELSE 'busy' END FROM pg_stat_activity WHERE client_port = $1",
          [`${port}`]
        )
      ),
      ([row]) =>
        row === undefined || row[0] === "active" || (place === "after its end" && row[0] !== "busy")
          ? Effect.void
          : Effect.delay(executed(port, place), 10)
    )

  /** Freezes a process at a statement of its work. Returns how many there were, and what others then do. */
  const freeze = Effect.fnUntraced(function* (
    work: (typeof works)[string],
    name: string,
    at: number,
    place: Freezing.Place
  ) {
    const way = yield* Effect.promise(() => Freezing.open(server.url))
    const working = Effect.gen(function* () {
      const part = yield* work(yield* storesOf(yield* opened(way.url), way.url), name)
      way.stopAt(at, place)
      yield* part
      return way.passed()
    })
    const frozen = yield* Effect.forkChild(Effect.scoped(working))
    const stopped = Effect.flatMap(
      Effect.promise(() => way.stopped),
      (port) => executed(port, place)
    )
    const passed = yield* Effect.raceFirst(Effect.as(stopped, at), Fiber.join(frozen))
    const done = yield* Effect.timeoutOption(Effect.exit(Effect.scoped(Effect.flatten(work(others, name)))), patience)
    way.close()
    yield* Fiber.interrupt(frozen)
    return { passed, done }
  })

  const places: ReadonlyArray<Freezing.Place> = ["after its end", "before its end"]
  const cases = Object.entries(works).flatMap(([name, work]) => places.map((place) => ({ name, work, place })))

  it.concurrent.each(cases)("$name, $place", { timeout: 180_000 }, ({ name, work, place }) =>
    Effect.gen(function* () {
      const { passed } = yield* freeze(work, `${name} ${place}`, Number.POSITIVE_INFINITY, place)
      assert.isAbove(passed, 0)
      for (let at = 1; at <= passed; at += Math.max(1, Math.floor(passed / mostCuts[place]))) {
        const { done } = yield* freeze(work, `${name} ${place} ${at}`, at, place)
        const where = `${place} of statement ${at} of ${passed}`
        assert.deepInclude(done, { _tag: "Some" }, `blocked ${where}`)
        assert.isTrue(done._tag === "Some" && Exit.isSuccess(done.value), `failed ${where}`)
      }
    }).pipe(Effect.runPromise)
  )
})
