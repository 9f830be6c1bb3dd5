import { Baselines, Budget, Journal } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/** An account in a database, which stores charges only when the test allows it. */
const slow = Effect.gen(function* () {
  const account = Budget.make()
  const settling = yield* Deferred.make<void>()
  const stored = yield* Deferred.make<void>()
  const { isLimited, limits } = account
  const ledger: Budget.Ledger = {
    limits,
    isLimited,
    reserve: (...asked) => account.reserve(...asked),
    release: (reservation) => account.release(reservation),
    charge: (...asked) => account.charge(...asked),
    spent: () => account.spent(),
    settle: (reservation, used) =>
      Deferred.succeed(settling, undefined).pipe(
        Effect.andThen(Deferred.await(stored)),
        Effect.andThen(account.settle(reservation, used))
      )
  }
  return { ledger, settling, stored }
})

describe("an answer", () => {
  for (const by of ["ledger", "payer"] as const) {
    it.effect(`is in the journal before it is charged to an account, and once: ${by}`, () =>
      Effect.gen(function* () {
        let asked = 0
        const one = ScriptedWorker.echo("a")
        const worker: typeof one = {
          ...one,
          generate: (request) => {
            asked += 1
            return one.generate(request)
          }
        }
        const journal = Journal.makeMemory()
        const conductor = Conductor.make({ pool: WorkerPool.makeUnsafe([worker]), policy: Baselines.single(0) })
        const { ledger, settling, stored } = yield* slow
        const options = { runId: "run", journal, ...(by === "ledger" ? { ledger } : { payer: { account: ledger } }) }
        const running = yield* Effect.forkChild(conductor.run("Why?", options))
        yield* Deferred.await(settling)
        const types = Effect.map(journal.read("run"), (entries) =>
          entries.flatMap(({ type }) => (type === "event" ? [] : [type]))
        )
        for (let turn = 0; turn < 1_000 && !(yield* types).includes("answered"); turn += 1) yield* Effect.yieldNow
        assert.deepStrictEqual(yield* types, ["begun", "intent", "answered"])
        assert.strictEqual(ledger.spent().calls, 0)
        yield* Deferred.succeed(stored, undefined)
        assert.strictEqual((yield* Fiber.join(running)).ending, "answered")
        assert.deepStrictEqual(yield* types, ["begun", "intent", "answered"])
        assert.deepStrictEqual([asked, ledger.spent().calls], [1, 1])
      })
    )
  }
})
