import fs from "node:fs"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Journal, ResponseCache, type RunEvent } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import { BudgetExceeded } from "@divisi/core/Usage"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as DiskAccounts from "../src/DiskAccounts.ts"
import { folder } from "./folder.ts"

const root = folder()
let files = 0
const fresh = () => path.join(root, `${files++}`, "accounts.sqlite")

const used = (costUsd: number) => ({ usage: { inputTokens: 1, outputTokens: 2 }, costUsd })

const amount = (costUsd: number) => ({ costUsd, tokens: 10 })

const openIn = (file: string, options: DiskAccounts.AccountOptions) =>
  Effect.flatMap(DiskAccounts.make({ file }), (accounts) => accounts.open(options))

describe("accounts on disk", () => {
  it.effect("that are per day restart each day, and a call counts for the day in which it began", () =>
    Effect.gen(function* () {
      const accounts = yield* DiskAccounts.make({ file: fresh() })
      const day = yield* accounts.open({ name: "all", per: "day", limits: { calls: 1 } })
      const team = yield* accounts.open({ name: "team", parent: day })
      const late = yield* team.reserve(amount(1))
      assert.isTrue((yield* Effect.flip(team.reserve(amount(1)))) instanceof BudgetExceeded)
      yield* TestClock.adjust("1 day")
      const next = yield* team.reserve(amount(1))
      yield* team.settle(late, used(0.5))
      yield* team.settle(next, used(0.25))
      const costs = (yield* accounts.list).map(({ name, total }) => `${name} ${total.costUsd}`)
      assert.deepStrictEqual(costs.sort(), ["all@1970-01-01 0.5", "all@1970-01-02 0.25", "team 0.75"])
    })
  )

  it.live("charge a cached answer of a run once, however often the run is resumed", () =>
    Effect.gen(function* () {
      const file = fresh()
      const account = yield* openIn(file, { name: "a" })
      const cache = ResponseCache.makeMemory({ maxEntries: 10 })
      const pool = WorkerPool.makeUnsafe([
        ScriptedWorker.make({
          id: "a",
          pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 },
          replies: ["42"]
        })
      ])
      const journal = Journal.makeMemory()
      /** Two steps; of the second the run is stopped, or not. */
      const go = (runId: string, isStopped: boolean) => {
        const policy = Policy.fixed("two", () => ({
          steps: [
            { worker: 0, subtask: "one", access: [] },
            { worker: 0, subtask: "two", access: [0] }
          ]
        }))
        const running = Conductor.make({ policy, pool, seed: 1 })
          .run("What is it?", {
            runId,
            journal,
            ledger: account,
            cachedAnswers: "charged",
            listener: (event) => stop(event)
          })
          .pipe(Effect.provideService(ResponseCache.ResponseCache, cache))
        const stopped = Deferred.makeUnsafe<void>()
        const stop = ({ type }: RunEvent.RunEvent) => {
          if (isStopped && type === "step-finished") Deferred.doneUnsafe(stopped, Effect.void)
        }
        return Effect.raceFirst(running, Deferred.await(stopped))
      }
      yield* go("first", false)
      assert.strictEqual(account.spent().calls, 2)
      yield* go("second", true)
      const before = account.spent().calls
      yield* go("second", false)
      assert.isAtMost(before, 4)
      assert.strictEqual(account.spent().calls, 4)
    })
  )

  it.live("say what is wrong with a file that holds none, or that a newer version wrote", () =>
    Effect.gen(function* () {
      const file = fresh()
      yield* Effect.scoped(DiskAccounts.make({ file }))
      const database = new DatabaseSync(file)
      database.exec("PRAGMA user_version = 99")
      database.close()
      const newer = yield* Effect.flip(Effect.scoped(DiskAccounts.make({ file })))
      assert.match(newer.message, /was written by a newer version of Divisi/)
      fs.writeFileSync(file, "a text of somebody's ".repeat(100))
      const foreign = yield* Effect.flip(Effect.scoped(DiskAccounts.make({ file })))
      assert.strictEqual(foreign.reason._tag, "Foreign")
    })
  )
})
