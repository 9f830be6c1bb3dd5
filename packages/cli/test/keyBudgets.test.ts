import path from "node:path"
import { Baselines } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { DiskAccounts } from "@divisi/files"
import { Keys, NodeServer } from "@divisi/server"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as KeyAccounts from "../src/key/KeyAccounts.ts"
import { inFolder } from "./process.ts"

/** A cent for each answer, and at the worst, too. */
const cent = {
  ...ScriptedWorker.make({ id: "a", replies: ["yes"] }),
  pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 0.01 },
  maxOutputTokens: 1
}

const pool = WorkerPool.makeUnsafe([cent])

const body = JSON.stringify({ model: "divisi", messages: [{ role: "user", content: "?" }] })

/** How many of so many requests at once are answered, and what that cost by the key's accounts. */
const answered = (file: string, limits: Keys.Key["limits"], requests: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const accounts = yield* DiskAccounts.make({ file })
      const { key, secret } = Keys.make({ name: "test", limits }, 0)
      const server = yield* NodeServer.make({
        pool,
        policy: Baselines.single("a"),
        port: 0,
        authenticate: Keys.authenticate({
          find: () => Effect.succeed(key),
          ledger: (of) => Effect.orDie(KeyAccounts.open(accounts, of))
        })
      })
      const ask = () =>
        fetch(`${server.url}/chat/completions`, { method: "POST", body, headers: { "x-api-key": secret } }).then(
          async (response) => {
            await response.text()
            return response.status
          }
        )
      const statuses = yield* Effect.promise(() => Promise.all(Array.from({ length: requests }, ask)))
      const spent = (yield* KeyAccounts.spending(accounts))(key).spentUsd
      return { statuses, spent }
    })
  )

describe("the budget of a key", () => {
  for (const [name, requests] of [
    ["dayUsd", 100],
    ["monthUsd", 100],
    ["totalUsd", 1_000]
  ] as const) {
    it(`is never exceeded by ${requests} requests at once: ${name}`, () =>
      inFolder(async (folder) => {
        const file = path.join(folder, "accounts.sqlite")
        const { spent, statuses } = await Effect.runPromise(answered(file, { [name]: 0.07 }, requests))
        assert.lengthOf(
          statuses.filter((status) => status === 200),
          7
        )
        assert.lengthOf(
          statuses.filter((status) => status === 429),
          requests - 7
        )
        assert.closeTo(spent, 0.07, 1e-9)
      }))
  }
})
