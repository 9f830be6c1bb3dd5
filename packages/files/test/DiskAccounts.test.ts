import fs from "node:fs"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Budget from "@divisi/core/Budget"
import * as Conductor from "@divisi/core/Conductor"
import * as Journal from "@divisi/core/Journal"
import * as Policy from "@divisi/core/Policy"
import * as ResponseCache from "@divisi/core/ResponseCache"
import type { RunEvent } from "@divisi/core/RunEvent"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import { BudgetExceeded } from "@divisi/core/Usage"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as DiskAccounts from "../src/DiskAccounts.ts"
import { folder } from "./folder.ts"

const root = folder()
let files = 0
const fresh = () => path.join(root, `${files++}`, "accounts.sqlite")

const used = (costUsd: number) => ({ usage: { inputTokens: 1, outputTokens: 2 }, costUsd })

const amount = (costUsd: number) => ({ costUsd, tokens: 10 })

/** What an account of a file has spent and set aside, as the next process reads it. */
const standing = (file: string, name: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const accounts = yield* DiskAccounts.make({ file })
      const { open, reservedCostUsd, total } = (yield* accounts.list).find((account) => account.name === name)!
      return { calls: total.calls, costUsd: total.costUsd, open, reservedCostUsd }
    })
  )

const openIn = (file: string, options: DiskAccounts.AccountOptions) =>
  Effect.flatMap(DiskAccounts.make({ file }), (accounts) => accounts.open(options))

describe("accounts on disk", () => {
  it.live("are charged with those above them, keep the limits of each, and stand after a restart", () =>
    Effect.gen(function* () {
      const file = fresh()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const accounts = yield* DiskAccounts.make({ file })
          const day = yield* accounts.open({ name: "all", per: "day", limits: { costUsd: 1 } })
          const team = yield* accounts.open({ name: "team", limits: { calls: 3 }, parent: day })
          const key = yield* accounts.open({ name: "key", parent: team })
          const run = Budget.make({ costUsd: 0.9 }, key)
          const first = yield* run.reserve(amount(0.5))
          assert.strictEqual((yield* Effect.flip(run.reserve(amount(1)))).allowed, 0.9)
          yield* run.settle(first, used(0.25))
          yield* run.settle(yield* run.reserve(amount(0.25)), used(0.25))
          assert.deepStrictEqual(run.spent(), { ...key.spent(), usage: { inputTokens: 2, outputTokens: 4 } })
          yield* key.charge(0.125)
        })
      )
      const accounts = yield* DiskAccounts.make({ file })
      const day = yield* accounts.open({ name: "all", per: "day" })
      const team = yield* accounts.open({ name: "team", parent: day })
      assert.strictEqual((yield* day.standing).total.costUsd, 0.625)
      assert.deepStrictEqual((yield* team.standing).limits, { calls: 3 })
      const refused = yield* Effect.flip(team.reserve(amount(0.5)))
      assert.deepStrictEqual([refused.limit, refused.spent, refused.allowed], ["costUsd", 0.625, 1])
      yield* team.reserve(amount(0.1))
      assert.strictEqual((yield* Effect.flip(team.reserve(amount(0)))).limit, "calls")
    })
  )

  it.effect("that are per day begin anew with each, and a call counts for the day in which it began", () =>
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

  it.live("let a call wait for one of another process to settle, and take back one that is stopped as it waits", () =>
    Effect.gen(function* () {
      const file = fresh()
      const one = yield* openIn(file, { name: "a", limits: { costUsd: 1 } })
      const other = yield* openIn(file, { name: "a" })
      const first = yield* one.reserve(amount(0.9))
      const stopped = yield* Effect.forkChild(other.reserve(amount(0.8)), { startImmediately: true })
      const waiting = yield* Effect.forkChild(other.reserve(amount(0.7)), { startImmediately: true })
      yield* Effect.sleep(60)
      yield* Fiber.interrupt(stopped)
      yield* one.settle(first, used(0.25))
      const second = yield* Fiber.join(waiting)
      assert.strictEqual((yield* one.standing).reservedCostUsd, 0.7)
      yield* other.release(second)
      assert.deepStrictEqual(yield* standing(file, "a"), { calls: 1, costUsd: 0.25, open: 0, reservedCostUsd: 0 })
    })
  )

  it.live("charge a call that has a name once, however often it is charged", () =>
    Effect.gen(function* () {
      const file = fresh()
      const account = yield* openIn(file, { name: "a", limits: { calls: 2 } })
      const call = (cost: number) =>
        Effect.flatMap(account.reserve(amount(1), "r/0/1/0/0"), (hold) => account.settle(hold, used(cost)))
      yield* call(0.5)
      yield* call(0.75)
      const withdrawn = yield* account.reserve(amount(1), "r/0/2/0/0")
      yield* account.release(withdrawn)
      assert.deepStrictEqual(yield* standing(file, "a"), { calls: 1, costUsd: 0.5, open: 0, reservedCostUsd: 0 })
    })
  )

  it.live("charge what a run has found in a cache once, however often the run is gone on with", () =>
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
          .run("What is it?", { runId, journal, ledger: account, found: "as-made", listener: (event) => stop(event) })
          .pipe(Effect.provideService(ResponseCache.ResponseCache, cache))
        const stopped = Deferred.makeUnsafe<void>()
        const stop = ({ type }: RunEvent) => {
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

  it.live("count what a dead process had set aside at its worst case, until somebody knows better", () =>
    Effect.gen(function* () {
      const file = fresh()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const account = yield* openIn(file, { name: "a", limits: { costUsd: 2 } })
          yield* account.reserve(amount(0.5), "r/0/1/0/0")
          yield* account.reserve(amount(1))
        })
      )
      const account = yield* openIn(file, { name: "a" })
      assert.strictEqual(account.spent().costUsd, 1.5)
      const refused = yield* Effect.flip(account.reserve(amount(1)))
      assert.strictEqual(refused.spent, 1.5)
      const again = yield* account.reserve(amount(0.5), "r/0/1/0/0")
      yield* account.settle(again, used(0.125))
      assert.deepStrictEqual(yield* standing(file, "a"), { calls: 2, costUsd: 1.125, open: 0, reservedCostUsd: 0 })
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
