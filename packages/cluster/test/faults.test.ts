import { inspect } from "node:util"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Operations from "../src/Operations.ts"
import * as Postgres from "../src/Postgres.ts"
import * as PostgresAccounts from "../src/PostgresAccounts.ts"
import * as PostgresJournal from "../src/PostgresJournal.ts"
import * as PostgresRecords from "../src/PostgresRecords.ts"
import * as PostgresTasks from "../src/PostgresTasks.ts"
import { ClusterRuns } from "../src/runs.ts"
import { fresh, hasPostgres } from "./database.ts"

const entry = { type: "begun" } as const

/** Cuts the connection that holds the lock of a process. */
const cutOff = ({ self }: Postgres.Postgres, by: Postgres.Postgres) =>
  by.run((session) =>
    session.query("SELECT pg_terminate_backend(pid)::text FROM pg_locks WHERE objid::bigint = $1", [self.split(" ")[0]])
  )

describe.skipIf(!hasPostgres)("services on Postgres", () => {
  let server: PostgresServer.PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.stop())
  const place = (options?: Partial<Postgres.Options>) => fresh(() => server, options)
  const run = <A, E>(program: Effect.Effect<A, E, never>) => Effect.runPromise(program)

  it("refuses what a process writes whose run another has taken over, since its connection was cut", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const opened = place()
          const [one, two] = [yield* opened, yield* opened]
          const [first, second] = [yield* PostgresJournal.make(one), yield* PostgresJournal.make(two)]
          const claim = yield* first.claim("r")
          yield* first.append({ run: "r", epoch: claim.epoch, seq: 0, entries: [entry] })
          assert.strictEqual((yield* Effect.flip(second.claim("r"))).reason._tag, "Held")
          yield* cutOff(one, two)
          const taken = yield* Effect.retry(second.claim("r"), { times: 100 })
          assert.deepStrictEqual(taken, { epoch: 2, length: 1, takeovers: 1 })
          const late = yield* Effect.flip(
            first.append({ run: "r", epoch: claim.epoch, seq: 1, entries: [{ type: "begun", seed: 1 }] })
          )
          assert.strictEqual(late.reason._tag, "Fenced")
          assert.deepStrictEqual(yield* first.read("r"), [entry])
        })
      )
    ))

  it("confirms no call of a run that another process has taken over", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const opened = place()
          const options = { expireMillis: 600 }
          const [first, second] = yield* Effect.all(
            [opened, opened].map((one) => Effect.flatMap(one, (postgres) => PostgresJournal.make(postgres, options)))
          )
          const { epoch } = yield* first!.claim("r")
          yield* first!.append({ run: "r", epoch, seq: 0, entries: [entry] })
          yield* first!.confirm!("r", "attempt")
          const taken = Effect.retry(second!.claim("r", { takeOver: true }), Schedule.spaced("50 millis"))
          // Processes report every second that they are alive.
          assert.strictEqual((yield* taken).epoch, 2)
          assert.isTrue(Exit.isFailure(yield* Effect.exit(first!.confirm!("r", "attempt"))))
          yield* second!.confirm!("r", "attempt")
        })
      )
    ))

  it("takes no run over that was just written to, or after an outage in which no process was seen", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const opened = place()
          const [one, two] = [yield* opened, yield* opened]
          const first = yield* PostgresJournal.make(one)
          const second = yield* PostgresJournal.make(two, { expireMillis: 5_000 })
          for (const name of ["before", "written", "after"]) {
            const { epoch } = yield* first.claim(name)
            yield* first.append({ run: name, epoch, seq: 0, entries: [entry] })
          }
          /** Claims a run of the first process, which was not seen for long. */
          const claim = (name: string, since: string, changedAt = "0") =>
            Effect.gen(function* () {
              for (const statement of [
                `UPDATE ${two.schema}.runs SET changed_at = ${changedAt}`,
                `UPDATE ${two.schema}.owners SET since = ${since} WHERE process = '${two.self}'`,
                `UPDATE ${two.schema}.owners SET seen_at = 0 WHERE process = '${one.self}'`
              ])
                yield* two.run((session) => session.query(statement))
              return yield* second.claim(name, { takeOver: true })
            })
          // The first process reports every second that it is alive, and the database has to be up for a while.
          const taken = yield* Effect.retry(claim("before", "0"), Schedule.spaced("100 millis"))
          assert.strictEqual(taken.takeovers, 1)
          const now = "extract(epoch FROM clock_timestamp()) * 1000"
          const written = yield* Effect.flip(claim("written", "0", `${now} - 500`))
          assert.strictEqual(written.reason._tag, "Held")
          const refused = yield* Effect.flip(claim("after", now))
          assert.strictEqual(refused.reason._tag, "Held")
        })
      )
    ))

  it("gives back, once the database is there again, what it could not give back for as long as it waits", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const opened = place({ graceMillis: 3_600_000, patienceMillis: 200 })
          const [one, two] = [yield* opened, yield* opened]
          const [first, second] = [yield* PostgresJournal.make(one), yield* PostgresJournal.make(two)]
          for (const name of ["given back", "kept"]) {
            const { epoch } = yield* first.claim(name)
            yield* first.append({ run: name, epoch, seq: 0, entries: [entry] })
          }
          server.halt()
          yield* first.release("given back", 1)
          assert.strictEqual((yield* Effect.flip(first.claim("in doubt"))).reason._tag, "Unreachable")
          server.begin()
          // As if what was asked last had been done, and its answer lost.
          yield* Effect.retry(
            one.run((session) =>
              session.query(
                `INSERT INTO ${one.schema}.runs (run, epoch, owner, length, bytes, changed_at) VALUES ($1, 1, $2, 1, 0, 0)`,
                ["in doubt", one.self]
              )
            ),
            { times: 100 }
          )
          const claims = yield* Effect.forEach(["given back", "in doubt"], (name) =>
            Effect.retry(second.claim(name), { times: 100, schedule: Schedule.spaced(100) })
          )
          assert.deepStrictEqual(
            claims.map(({ epoch }) => epoch),
            [2, 2]
          )
          // Runs that this process executes remain its own.
          assert.strictEqual((yield* Effect.flip(second.claim("kept"))).reason._tag, "Held")
          yield* first.append({ run: "kept", epoch: 1, seq: 1, entries: [entry] })
        })
      )
    ))

  it("releases a run whose claim was abandoned", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const opened = place({ graceMillis: 3_600_000 })
          const [one, two] = [yield* opened, yield* opened]
          const second = yield* PostgresJournal.make(two)
          const [isDone, mayAnswer] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          const silent: Postgres.Postgres = {
            ...one,
            run: (work) =>
              Effect.tap(one.run(work), () =>
                Effect.andThen(Deferred.succeed(isDone, undefined), Deferred.await(mayAnswer))
              )
          }
          const first = yield* PostgresJournal.make(silent)
          const left = yield* Effect.forkChild(first.claim("r"))
          yield* Deferred.await(isDone)
          yield* Fiber.interrupt(left)
          assert.strictEqual((yield* Effect.flip(second.claim("r"))).reason._tag, "Held")
          yield* Deferred.succeed(mayAnswer, undefined)
          const { epoch } = yield* Effect.retry(second.claim("r"), { times: 100, schedule: Schedule.spaced(100) })
          assert.isAbove(epoch, 0)
        })
      )
    ))

  it("assumes no process dead for a while after the database has started", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const opened = place({ graceMillis: 3_600_000 })
          const [one, two] = [yield* opened, yield* opened]
          const [first, second] = [yield* PostgresJournal.make(one), yield* PostgresJournal.make(two)]
          yield* first.claim("r")
          yield* cutOff(one, two)
          assert.strictEqual((yield* Effect.flip(second.claim("r"))).reason._tag, "Held")
        })
      )
    ))

  it("writes a batch once, though it is not known whether it was committed", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const postgres = yield* place()
          let isOver = false
          const cut: Postgres.Postgres = {
            ...postgres,
            // Each statement is done, and its first answer lost.
            run: (work) =>
              postgres.run((session, attempt) =>
                attempt > 0 || isOver
                  ? work(session, attempt)
                  : Effect.andThen(
                      work(session, attempt),
                      session.query("SELECT pg_terminate_backend(pg_backend_pid())")
                    ).pipe(Effect.andThen(work(session, 1)))
              )
          }
          const journal = yield* PostgresJournal.make(cut)
          const { epoch } = yield* journal.claim("r")
          yield* journal.append({ run: "r", epoch, seq: 0, entries: [entry] })
          yield* journal.append({ run: "r", epoch, seq: 1, entries: [entry, entry] })
          assert.strictEqual((yield* journal.read("r")).length, 3)
          isOver = true
        })
      )
    ))

  it("charges a call once, though it is not known whether that was committed", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const postgres = yield* place()
          const cut: Postgres.Postgres = {
            ...postgres,
            run: (work) => Effect.andThen(postgres.run(work), postgres.run(work))
          }
          const accounts = yield* PostgresAccounts.make(cut)
          const account = yield* accounts.open({ name: "a", limits: { costUsd: 10 } })
          const paid = { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 0.5 }
          yield* account.settle(yield* account.reserve({ costUsd: 1, tokens: 2 }), paid)
          yield* account.settle(yield* account.reserve({ costUsd: 1, tokens: 2 }, "r/0/0/0/0"), paid)
          yield* account.charge(0.25)
          const { open, reservedCostUsd, total } = yield* account.standing
          assert.deepStrictEqual([total.calls, total.costUsd, open, reservedCostUsd], [2, 1.25, 0, 0])
        })
      )
    ))

  it("does not give a run for whole of which entries are missing", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const postgres = yield* place()
          const journal = yield* PostgresJournal.make(postgres)
          const { epoch } = yield* journal.claim("r")
          for (const seq of [0, 1, 2]) yield* journal.append({ run: "r", epoch, seq, entries: [entry] })
          yield* postgres.run((session) => session.query(`DELETE FROM ${postgres.schema}.batches WHERE seq = 1`))
          const { reason } = yield* Effect.flip(journal.read("r"))
          assert.deepStrictEqual(reason, { _tag: "Damaged", detail: "entries of run r from 1 on" })
        })
      )
    ))

  it("keeps texts for all processes, each kind for itself, and lets the oldest go", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const opened = place()
          const [one, two] = [yield* opened, yield* opened]
          const first = yield* PostgresRecords.make(one, { kind: "a", maxBytes: 250 })
          const second = yield* PostgresRecords.make(two, { kind: "a", maxBytes: 250 })
          const other = yield* PostgresRecords.make(two, { kind: "b" })
          yield* first.set("x", "ünï")
          yield* other.set("x", "other")
          assert.strictEqual(yield* second.get("x"), "ünï")
          yield* second.set("x", "again")
          assert.strictEqual(yield* first.get("x"), "again")
          const replaced = [yield* first.replace("x", "ünï", "late"), yield* first.replace("x", "again", "ünï 3")]
          assert.deepStrictEqual([...replaced, yield* second.get("x")], [false, true, "ünï 3"])
          assert.isFalse(yield* first.replace("y", "", "new"))
          yield* first.remove("x")
          assert.strictEqual(yield* second.get("x"), undefined)
          for (let index = 0; index < 64; index++) yield* first.set(`${index % 10}`, "x".repeat(100))
          const third = yield* PostgresRecords.make(one, { kind: "a", maxBytes: 250 })
          yield* third.set("last", "y".repeat(100))
          const left = [...(yield* third.all).keys()]
          assert.strictEqual(left.length, 2)
          assert.include(left, "last")
          assert.deepStrictEqual([...(yield* other.all)], [["x", "other"]])
        })
      )
    ))

  it("makes the tables that an older version had not, and keeps what is there", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const opened = place()
          const before = yield* opened
          yield* (yield* PostgresRecords.make(before, { kind: "a" })).set("x", "kept")
          // As it was before the last three steps of the schema.
          for (const statement of [
            `DROP TABLE ${before.schema}.slots`,
            `ALTER TABLE ${before.schema}.owners DROP COLUMN since`,
            `ALTER TABLE ${before.schema}.runs DROP COLUMN takeovers`,
            `UPDATE ${before.schema}.version SET version = version - 3`
          ])
            yield* before.run((session) => session.query(statement))
          const after = yield* opened
          assert.strictEqual(yield* (yield* PostgresRecords.make(after, { kind: "a" })).get("x"), "kept")
          const journal = yield* PostgresJournal.make(after)
          assert.deepStrictEqual(yield* journal.list({ request: "none" }), [])
        })
      )
    ))

  it("gives machines that open a list at the same time with different plans the plan of one of them", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const opened = place()
          // They also create the tables at the same time.
          const machines = yield* Effect.all([opened, opened, opened, opened], { concurrency: "unbounded" })
          for (let round = 0; round < 20; round++) {
            const lists = yield* Effect.forEach(
              machines,
              (postgres, at) =>
                PostgresTasks.open(postgres, { id: `list-${round}`, plan: `${at}`, keys: [`of ${at}`] }),
              { concurrency: "unbounded" }
            )
            const plans = new Set(lists.map(({ plan }) => plan))
            assert.strictEqual(plans.size, 1)
            assert.deepStrictEqual(yield* lists[0]!.claim(9), [`of ${[...plans][0]}`])
          }
        })
      )
    ))

  it("leaves tasks to other machines on request", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const tasks = yield* PostgresTasks.open(yield* place(), { id: "list", plan: "{}", keys: ["1", "2", "3"] })
          assert.sameMembers([...(yield* tasks.claim(2, ["1", "another"]))], ["2", "3"])
          assert.deepStrictEqual(yield* tasks.claim(2), ["1"])
        })
      )
    ))

  it("is migrated for runs of a cluster by several processes at once", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const options = { url: Redacted.make(server.url), schema: "migrated", graceMillis: 0 }
          const clients = yield* Effect.all(
            [1, 2, 3].map(() => ClusterRuns.make(options)),
            { concurrency: "unbounded" }
          )
          assert.strictEqual((yield* clients[0]!.poll("none"))._tag, "None")
        })
      )
    ))

  it("reports a migration that fails, changes nothing, and repeats it", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const { run: query } = yield* place()
          for (const [at, view] of ["tasks", "half1_cluster_messages"].entries()) {
            const schema = `half${at}`
            const migrated = Effect.result(
              Effect.scoped(ClusterRuns.make({ url: Redacted.make(server.url), schema, graceMillis: 0 }))
            )
            const tables = query((session) =>
              session.query(
                `SELECT tablename::text FROM pg_tables WHERE schemaname = '${schema}' AND tablename = '${view}'`
              )
            )
            yield* query((session) => session.query(`CREATE SCHEMA ${schema}`))
            yield* query((session) => session.query(`CREATE VIEW ${schema}.${view} AS SELECT 1 AS one`))
            const failed = yield* migrated
            assert.match(
              Result.isFailure(failed) ? failed.failure.message : "",
              /^The database .* has failed \(.+\)\.$/
            )
            assert.deepStrictEqual(yield* tables, [])
            yield* query((session) => session.query(`DROP VIEW ${schema}.${view}`))
            assert.isTrue(Result.isSuccess(yield* migrated))
            assert.deepStrictEqual(yield* tables, [[view]])
          }
        })
      )
    ))

  it("lists shared evaluations and trainings apart", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const postgres = yield* place()
          for (const id of ["math", "training/gym/main.0@1"])
            yield* PostgresTasks.open(postgres, { id, plan: "{}", keys: ["1", "2"] })
          const { trainings, works } = yield* Operations.status(postgres)
          const counts = { tasks: 2, answered: 0, claimed: 0 }
          assert.deepStrictEqual(works, [{ id: "math", ...counts }])
          assert.deepStrictEqual(trainings, [{ id: "gym/main.0@1", ...counts }])
        })
      )
    ))

  it("removes old work and cancellations, except those in progress", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const postgres = yield* place()
          const { run: use, schema } = postgres
          for (const id of ["old", "in progress"]) {
            const tasks = yield* PostgresTasks.open(postgres, { id, plan: "{}", keys: ["1", "2"] })
            if (id === "in progress") yield* tasks.claim(1)
          }
          yield* use((session) => session.query(`UPDATE ${schema}.works SET begun_at = 0`))
          yield* use((session) =>
            session.query(`INSERT INTO ${schema}.cancelled (run, at) VALUES ('old', 0), ('lost', 0)`)
          )
          yield* use((session) =>
            session.query(`INSERT INTO ${schema}.runs (run, epoch, owner, length, bytes, changed_at)
              VALUES ('lost', 1, '1 1 gone', 0, 0, 0)`)
          )
          assert.strictEqual(yield* Operations.purge(postgres, 3_600_000), 1)
          assert.deepStrictEqual(
            (yield* Operations.status(postgres)).works.map(({ id, tasks }) => [id, tasks]),
            [["in progress", 2]]
          )
          const left = yield* use((session) => session.query(`SELECT run FROM ${schema}.cancelled`))
          assert.deepStrictEqual(left, [["lost"]])
        })
      )
    ))

  it("says what is wrong with a database, and never its password", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const good = yield* place()
          const refusal = (url: string, options: Partial<Postgres.Options> = {}) =>
            Effect.flip(Effect.scoped(Postgres.open({ url: Redacted.make(url), startMillis: 0, ...options })))
          const wrong = "a-wrong-password"
          const errors = [
            yield* refusal(server.url.replace(PostgresServer.password, wrong)),
            yield* refusal(server.url.replace(/:\d+\//, ":1/")),
            yield* refusal(`http://divisi:${wrong}@localhost/`),
            yield* refusal(`postgres://divisi:${wrong}@[localhost`),
            yield* refusal(server.url, { schema: "a b" })
          ]
          assert.deepStrictEqual(
            errors.map(({ reason }) => reason._tag),
            ["Denied", "Unreachable", "Invalid", "Invalid", "Invalid"]
          )
          yield* good.run((session) => session.query(`UPDATE ${good.schema}.version SET version = 99`))
          const newer = yield* refusal(server.url, { schema: good.schema })
          assert.match(newer.message, /has tables from a newer version of Divisi/)
          for (const error of [...errors, newer]) {
            const all = `${inspect(error, { depth: 20 })} ${error.message} ${error.stack} ${JSON.stringify(error)}`
            assert.notInclude(all, PostgresServer.password)
            assert.notInclude(all, wrong)
          }
        })
      )
    ))
})
