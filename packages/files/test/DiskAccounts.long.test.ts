import fs from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as DiskAccounts from "../src/DiskAccounts.ts"
import { folder } from "./folder.ts"
import { start } from "./processes.ts"

const root = folder()

describe("accounts on disk", () => {
  it.live("are exceeded by no number of processes, of which some are killed", () =>
    Effect.gen(function* () {
      const file = path.join(root, "accounts.sqlite")
      const accounts = yield* DiskAccounts.make({ file })
      const all = yield* accounts.open({ name: "all", limits: { costUsd: 2_000 } })
      const book = path.join(root, "book")
      const children = ["a", "b", "c"].map((name) => start("spender.ts", file, book, name, "60"))
      yield* Effect.promise(() => children[0]!.says("begun"))
      let most = 0
      const watch = Effect.forever(
        Effect.gen(function* () {
          const { reservedCostUsd, total } = yield* all.standing
          most = Math.max(most, total.costUsd + reservedCostUsd)
          yield* Effect.sleep(3)
        })
      )
      const watching = yield* Effect.forkChild(watch)
      yield* Effect.sleep(20)
      yield* Effect.promise(children[0]!.kill)
      yield* Effect.promise(() => Promise.all(children.map(({ ended }) => ended)))
      yield* Fiber.interrupt(watching)
      const really = fs
        .readFileSync(book, "utf8")
        .trim()
        .split("\n")
        .reduce((sum, line) => sum + Number(line), 0)
      // The next process that opens the file charges the reservations of dead ones.
      yield* Effect.scoped(DiskAccounts.make({ file }))
      const {
        open,
        total: { costUsd }
      } = yield* all.standing
      assert.isAtMost(most, 2_000)
      assert.isAbove(most, 1_500)
      assert.strictEqual(open, 0)
      // Of what the dead one had in flight, the worst case is counted.
      assert.isAtLeast(costUsd, really)
      assert.isAtMost(costUsd, 2_000)
    })
  )
})
