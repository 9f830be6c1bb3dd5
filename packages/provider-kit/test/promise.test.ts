import { setImmediate } from "node:timers/promises"
import type { Resilience } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as promise from "@divisi/core/promise"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { openGate } from "../src/promise.ts"

const plan = { steps: [{ worker: 0, subtask: "", access: [] }] }

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

  describe("lets the calls of a run pass whose call holds the last place", () => {
    /** A worker that starts a run of some workers at once on the same gate, level after level. */
    const team = (gate: Resilience.Gate, levels: number, members: number, seen: { running: number; most: number }) => {
      const leaf = promise.worker({
        id: "leaf",
        provider: "vendor",
        answer: async () => {
          seen.most = Math.max(seen.most, ++seen.running)
          await setImmediate()
          seen.running -= 1
          return "done"
        }
      })
      const panel = promise.policy("panel", ({ pool }) => ({
        steps: [...Array.from({ length: members }, () => 0), 0].map((worker, step) => ({
          worker: Math.min(worker, pool.workers.length - 1),
          subtask: `Part ${step}.`,
          access: step === members ? "all" : []
        }))
      }))
      let below = leaf
      for (let level = 0; level < levels; level++) {
        const pool = [below]
        below = promise.worker({
          id: `level-${level}`,
          provider: "vendor",
          answer: async ({ messages }) => {
            const question = `${messages.at(-1)?.content}`
            const { answer = "nothing" } = await promise.conduct({ question, pool, policy: panel, gate })
            return answer
          }
        })
      }
      return below
    }

    it.each([
      [1, 1, 1],
      [1, 2, 1],
      [1, 1, 4],
      [1, 3, 2],
      [2, 2, 3]
    ])("%s places, %s levels of runs, %s steps at once", async (concurrency, levels, members) => {
      await using gate = await openGate({ limits: { vendor: { concurrency } }, breaker: {} })
      const seen = { running: 0, most: 0 }
      const pool = [team(gate, levels, members, seen)]
      const options = { question: "Anybody?", pool, policy: promise.single(0), gate }
      const results = await Promise.all(Array.from({ length: 3 }, () => promise.conduct(options)))
      assert.deepStrictEqual(
        results.map(({ answer }) => answer),
        ["done", "done", "done"]
      )
      assert.isAtMost(seen.most, concurrency)
    })

    it("with an account, and where the run is started by an effect", async () => {
      await using gate = await openGate({ limits: { vendor: { concurrency: 1 } } })
      const leaf = promise.worker({ id: "leaf", provider: "vendor", answer: () => "done" })
      const inner = Conductor.make({ pool: WorkerPool.makeUnsafe([leaf]), policy: promise.single(0) })
      const outer: Worker = {
        id: "outer",
        provider: "vendor",
        generate: () =>
          Stream.unwrap(
            Effect.map(inner.run("Why?"), ({ answer = "nothing" }) =>
              Stream.fromIterable([
                { type: "text" as const, text: answer },
                { type: "finish" as const, reason: "stop" as const, usage: { inputTokens: 1, outputTokens: 1 } }
              ])
            )
          )
      }
      for (const ledger of [undefined, promise.ledger({ calls: 10 })]) {
        const result = await promise.conduct({ question: "?", pool: [outer], policy: promise.single(0), gate, ledger })
        assert.strictEqual(result.answer, "done")
      }
    })

    it("while it is the call that tries its provider after a pause", async () => {
      await using gate = await openGate({ breaker: { failures: 1, openMillis: 20 } })
      let isDown = true
      const leaf = promise.worker({ id: "leaf", provider: "vendor", answer: () => "done" })
      const outer = promise.worker({
        id: "outer",
        provider: "vendor",
        answer: async () => {
          if (isDown) throw Object.assign(new Error("down"), { status: 503 })
          const { answer = "nothing" } = await promise.conduct({ ...options, pool: [leaf] })
          return answer
        }
      })
      const options = { question: "?", policy: promise.single(0), gate, retry: { maxAttempts: 1 } }
      assert.strictEqual((await promise.conduct({ ...options, pool: [outer] })).ending, "failed")
      isDown = false
      let answer: string | undefined
      while (answer === undefined) answer = (await promise.conduct({ ...options, pool: [outer] })).answer
      assert.strictEqual(answer, "done")
    })
  })

  describe("closed for a provider, lets another worker answer instead of waiting", () => {
    const minute = 60_000
    const closing = {
      "after failures": { status: 503, headers: {} },
      "because it asked for a pause": { status: 429, headers: { "retry-after": "60" } }
    }
    for (const [because, failure] of Object.entries(closing)) {
      it(because, async () => {
        await using gate = await openGate({ breaker: { failures: 1, openMillis: minute } })
        let calls = 0
        const down = promise.worker({
          id: "down",
          answer: () => {
            calls += 1
            throw Object.assign(new Error("down"), failure)
          }
        })
        const backup = promise.worker({ id: "backup", answer: () => "done" })
        const options = { question: "?", policy: promise.policy("down", () => plan), gate }
        const once = { ...options, retry: { maxAttempts: 1 } }
        await promise.conduct({ ...once, pool: [down, backup] })
        const { answer, failures } = await promise.conduct({ ...options, pool: [down, backup] })
        assert.deepStrictEqual([answer, calls, failures[0]?.reassignedTo], ["done", 1, "backup"])
        // Without another worker, it waits, here longer than the run may take.
        const alone = await promise.conduct({ ...options, pool: [down], budget: { durationMillis: 50 } })
        assert.strictEqual(alone.answer, undefined)
      })
    }
  })

  describe("after a call whose vendor asks for a pause", () => {
    const headers = { "retry-after": "60" }
    const run = async (
      pool: (down: Worker, backup: (provider: string) => Worker) => ReadonlyArray<Worker>,
      options: Partial<Parameters<typeof promise.conduct>[0]> = {}
    ) => {
      await using gate = await openGate({})
      let calls = 0
      const down = promise.worker({
        id: "down",
        provider: "vendor",
        answer: () => {
          calls += 1
          throw Object.assign(new Error("Slow down."), { status: 429, headers })
        }
      })
      const backup = (provider: string) => promise.worker({ id: "backup", provider, answer: () => "done" })
      const waited: Array<number | undefined> = []
      const stop = new AbortController()
      const { answer } = await promise.conduct({
        question: "?",
        policy: promise.policy("down", () => plan),
        pool: pool(down, backup),
        gate,
        signal: stop.signal,
        onEvent: (event) => {
          if (event.type !== "call-failed") return
          waited.push(event.retryInMillis)
          if (event.retryInMillis !== undefined) stop.abort()
        },
        ...options
      })
      return { answer, calls, isWaiting: waited.some((millis) => millis !== undefined) }
    }

    it("lets another worker answer at once", async () => {
      const done = await run((down, backup) => [down, backup("other")])
      assert.deepStrictEqual(done, { answer: "done", calls: 1, isWaiting: false })
    })

    it("waits if the other worker is paused, too, or if the caller named the worker or allows no other", async () => {
      const waiting = { answer: undefined, calls: 1, isWaiting: true }
      const both = (down: Worker, backup: (provider: string) => Worker) => [down, backup("other")]
      assert.deepStrictEqual(await run((down, backup) => [down, backup("vendor")]), waiting)
      assert.deepStrictEqual(await run(both, { policy: promise.single("down") }), waiting)
      assert.deepStrictEqual(await run(both, { reassign: "never" }), waiting)
    })
  })

  describe("over a limit of its own for a provider", () => {
    const limits = { requestsPerMinute: 1 }
    const settings = (calls: Record<string, number>) => {
      const pool = ["first", "second", "third"].map((id) =>
        promise.worker({
          id,
          answer: () => {
            calls[id] = (calls[id] ?? 0) + 1
            return id
          }
        })
      )
      return { question: "?", policy: promise.policy("first", () => plan), pool }
    }

    for (const [name, limit] of Object.entries({
      requests: limits,
      tokens: { tokensPerMinute: 1 }
    })) {
      it(`lets idle workers answer first: ${name}`, async () => {
        await using gate = await openGate({ limits: { first: limit, second: limit } })
        const calls: Record<string, number> = {}
        const answers: Array<string | undefined> = []
        for (let run = 0; run < 4; run++) answers.push((await promise.conduct({ ...settings(calls), gate })).answer)
        assert.deepStrictEqual(answers, ["first", "second", "third", "third"])
        assert.deepStrictEqual(calls, { first: 1, second: 1, third: 2 })
      })
    }

    it("sends calls of one run to idle workers", async () => {
      await using gate = await openGate({ limits: { first: limits, second: limits } })
      const calls: Record<string, number> = {}
      const steps = [[], [], [], [0, 1, 2]].map((access) => ({ worker: 0, subtask: "", access }))
      const many = { ...settings(calls), policy: promise.policy("four", () => ({ steps })) }
      const { ending } = await promise.conduct({ ...many, gate })
      assert.deepStrictEqual([ending, calls], ["answered", { first: 1, second: 1, third: 2 }])
    })

    it("waits if all workers are over theirs, or no other worker may answer", async () => {
      await using gate = await openGate({ limits: { "*": limits } })
      const calls: Record<string, number> = {}
      for (let run = 0; run < 3; run++) await promise.conduct({ ...settings(calls), gate })
      const late = { ...settings(calls), gate, budget: { durationMillis: 50 }, retry: { maxAttempts: 1 } }
      for (const reassign of ["next", "never"] as const) {
        const { answer, failures } = await promise.conduct({ ...late, reassign })
        assert.deepStrictEqual([answer, calls], [undefined, { first: 1, second: 1, third: 1 }])
        if (reassign === "never") assert.isTrue(failures.every(({ reassignedTo }) => reassignedTo === undefined))
      }
    })
  })
})
