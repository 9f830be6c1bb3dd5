import { spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as PostgresAccounts from "../src/PostgresAccounts.ts"
import * as PostgresJournal from "../src/PostgresJournal.ts"
import { fresh, hasPostgres } from "./database.ts"

const spender = fileURLToPath(new URL("fixtures/spender.ts", import.meta.url))

/** A process that spends, and says when it has begun. */
const spend = async (...args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, ["--conditions=@divisi/source", spender, ...args], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  await once(child.stdout, "data")
  return { child, closed: once(child, "close") }
}

describe.skipIf(!hasPostgres)("services on Postgres", () => {
  let server: PostgresServer.PostgresServer
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-cluster-"))
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => {
    server.stop()
    fs.rmSync(root, { recursive: true })
  })

  it("is exceeded by no number of processes, of which one is killed, and its runs are free at once", () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const postgres = yield* fresh(() => server)
          const accounts = yield* PostgresAccounts.make(postgres)
          const journal = yield* PostgresJournal.make(postgres)
          const all = yield* accounts.open({ name: "all", limits: { costUsd: 2_000 } })
          const book = path.join(root, "book")
          const start = (name: string) => spend(server.url, postgres.schema, book, name, "100")
          // The one to be killed begins last, so that it has not ended before the others have begun.
          const others = yield* Effect.promise(() => Promise.all(["b", "c"].map(start)))
          const children = [yield* Effect.promise(() => start("a")), ...others]
          let most = 0
          const look = Effect.map(all.standing, ({ reservedCostUsd, total }) => {
            most = Math.max(most, total.costUsd + reservedCostUsd)
          })
          const watching = yield* Effect.forkChild(Effect.forever(Effect.andThen(look, Effect.sleep(3))))
          assert.strictEqual((yield* Effect.flip(journal.claim("a"))).reason._tag, "Held")
          children[0]!.child.kill("SIGKILL")
          yield* Effect.promise(() => children[0]!.closed)
          // The system closes its connections, and the database frees its lock.
          const taken = yield* Effect.retry(journal.claim("a"), { times: 200 })
          assert.deepStrictEqual(taken, { epoch: 2, length: 1, takeovers: 1 })
          yield* Effect.promise(() => Promise.all(children.map(({ closed }) => closed)))
          yield* Fiber.interrupt(watching)
          yield* look
          const really = fs
            .readFileSync(book, "utf8")
            .trim()
            .split("\n")
            .reduce((sum, line) => sum + Number(line), 0)
          // The next process that opens it charges the reservations of dead ones.
          yield* Effect.scoped(PostgresAccounts.make(postgres))
          const { open, total } = yield* all.standing
          assert.isAtMost(most, 2_000)
          assert.isAbove(most, 1_500)
          assert.strictEqual(open, 0)
          assert.isAtLeast(total.costUsd, really)
          assert.isAtMost(total.costUsd, 2_000)
        })
      )
    ))

  it("pays nothing twice where the database is thrown down in the middle of many runs, twice", () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const postgres = yield* fresh(() => server)
          const accounts = yield* PostgresAccounts.make(postgres)
          const journal = yield* PostgresJournal.make(postgres)
          const ledger = yield* accounts.open({ name: "all", limits: { calls: 1_000 } })
          const workers = [0, 1, 2, 3, 4].map((step) =>
            ScriptedWorker.make({
              id: `w${step}`,
              pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 },
              latencyMillis: 20 + step * 15,
              replies: [`${step}`]
            })
          )
          const pool = WorkerPool.makeUnsafe(workers)
          const policy = Policy.fixed("five", () => ({
            steps: [
              { worker: 0, subtask: "a", access: [] },
              { worker: 1, subtask: "b", access: [] },
              { worker: 2, subtask: "c", access: [] },
              { worker: 3, subtask: "d", access: [0, 1, 2] },
              { worker: 4, subtask: "e", access: [3] }
            ]
          }))
          const conductor = Conductor.make({ policy, pool, seed: 1 })
          const runs = Effect.forEach(
            Array.from({ length: 40 }, (_, index) => `run ${index}`),
            (question, index) =>
              Effect.andThen(
                Effect.sleep(index * 20),
                conductor.run(question, { runId: `r${index}`, journal, ledger })
              ),
            { concurrency: "unbounded" }
          )
          const running = yield* Effect.forkChild(runs)
          for (const _ of [1, 2]) {
            yield* Effect.sleep(150)
            yield* Effect.sync(() => server.restart("immediate"))
          }
          const results = yield* Fiber.join(running)
          assert.deepStrictEqual(
            results.map(({ detail, ending }) => [ending, detail]),
            results.map(() => ["answered", undefined])
          )
          const asked = workers.flatMap(({ calls, id }) =>
            calls.map(({ messages }) => `${/run \d+/.exec(JSON.stringify(messages))} ${id}`)
          )
          assert.strictEqual(asked.length, 200)
          assert.strictEqual(new Set(asked).size, 200)
          const { open, total } = yield* ledger.standing
          assert.deepStrictEqual([total.calls, total.costUsd, open], [200, 200, 0])
          for (const { ending, owner, length } of yield* journal.list()) {
            assert.deepStrictEqual([ending, owner], ["answered", undefined])
            assert.isAbove(length, 10)
          }
        })
      )
    ))
})
