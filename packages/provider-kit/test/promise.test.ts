import { setImmediate } from "node:timers/promises"
import * as promise from "@divisi/core/promise"
import { assert, describe, it } from "@effect/vitest"
import { openGate } from "../src/promise.ts"

describe("openGate", () => {
  it("keeps all runs that share a gate to its limits", async () => {
    await using gate = await openGate({ limits: { slow: { concurrency: 2 } } })
    let running = 0
    let most = 0
    const slow = promise.worker({
      id: "slow",
      answer: async () => {
        most = Math.max(most, ++running)
        await setImmediate()
        running -= 1
        return "done"
      }
    })
    const options = { question: "Anybody?", pool: [slow], policy: promise.single(0), gate }
    const results = await Promise.all(Array.from({ length: 8 }, () => promise.conduct(options)))
    assert.isTrue(results.every(({ answer }) => answer === "done"))
    assert.strictEqual(most, 2)
  })
})
