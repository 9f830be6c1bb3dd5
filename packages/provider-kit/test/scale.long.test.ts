/** Many runs at once, with one budget and one provider between them: no call is lost, doubled or beyond a limit. */

import { Budget } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import { text } from "@divisi/core/Message"
import * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import type { Worker, WorkerRequest } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as ProviderGate from "@divisi/provider-kit/ProviderGate"
import { assert, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"

// A virtual clock does not wait for modules that load on demand.
beforeAll(() => Effect.runPromise(Conductor.preload))

const limits = { requestsPerMinute: 30_000, concurrency: 200 }
const pricing = { inputPerMillion: 1, outputPerMillion: 1 }

/** One call in fifty is rate limited, and says for how long. */
const isLimited = (call: number) => call % 50 === 7

const questionOf = (request: WorkerRequest) => /Question (\d+)/.exec(text(request.messages.at(-1)))![1]!

const makeWorker = (id: string, starts: Array<number>, answered: Map<string, number>): Worker => {
  const worker = ScriptedWorker.make({
    id,
    provider: "vendor",
    pricing,
    latencyMillis: 20,
    replies: (request, call) => {
      if (isLimited(call)) return { fail: { _tag: "RateLimited", retryAfterMillis: 1_000 } }
      const key = `${id}/${questionOf(request)}`
      answered.set(key, (answered.get(key) ?? 0) + 1)
      return "ok"
    }
  })
  return {
    ...worker,
    generate: (request) => {
      starts.push(clock.currentTimeMillisUnsafe())
      return worker.generate(request)
    }
  }
}

let clock: Clock.Clock

const runAll = Effect.fnUntraced(function* (runs: number, budget: Budget.Limits) {
  clock = yield* Clock.Clock
  const starts: Array<number> = []
  const answered = new Map<string, number>()
  const pool = WorkerPool.makeUnsafe(["a", "b"].map((id) => makeWorker(id, starts, answered)))
  const policy = Policy.fixed("two steps", () => ({
    steps: [
      { worker: 0, subtask: "First.", access: [] },
      { worker: 1, subtask: "Then.", access: "all" }
    ]
  }))
  const conductor = Conductor.make({ policy, pool })
  const ledger = Budget.make(budget)
  const fiber = yield* Effect.forkChild(
    Effect.forEach(
      Array.from({ length: runs }, (_, index) => index),
      (index) => conductor.run(`Question ${index}`, { ledger, seed: index }),
      { concurrency: "unbounded" }
    )
  )
  yield* TestClock.adjust("10 minutes")
  const results = yield* Fiber.join(fiber)
  return { starts, answered, results, spent: ledger.spent() }
})

/** No second sees more calls than the bucket can have held and gained. */
const assertPace = (starts: ReadonlyArray<number>) => {
  let level = limits.requestsPerMinute
  let last = 0
  for (const at of starts) {
    level = Math.min(limits.requestsPerMinute, level + ((at - last) * limits.requestsPerMinute) / 60_000) - 1
    last = at
    assert.isTrue(level > -1e-6, `too many calls at ${at} ms`)
  }
}

describe("many runs at once", () => {
  it.effect(
    "all answer, each with its own calls and no other",
    () =>
      Effect.gen(function* () {
        const runs = 10_000
        const { answered, results, spent, starts } = yield* runAll(runs, { costUsd: 1 })
        expect(results.filter((result) => result.ending === "answered").length).toBe(runs)
        expect(answered.size).toBe(2 * runs)
        expect([...answered.values()].every((count) => count === 1)).toBe(true)
        expect(spent.calls).toBe(starts.length)
        const costs = results.reduce((sum, result) => sum + result.spend.costUsd, 0)
        expect(costs).toBeCloseTo(spent.costUsd, 9)
        assertPace(starts)
      }).pipe(Effect.provide(ProviderGate.layer({ limits: { vendor: limits } }))),
    // Ten thousand runs.
    60_000
  )

  it.effect("stop within a budget that does not suffice for all", () =>
    Effect.gen(function* () {
      const { results, spent, starts } = yield* runAll(2_000, { calls: 3_000 })
      expect(starts.length).toBe(3_000)
      expect(spent.calls).toBe(3_000)
      const outcomes = new Set(results.map((result) => result.ending))
      expect([...outcomes].sort()).toEqual(["answered", "budget"])
      expect(results.reduce((sum, result) => sum + result.spend.calls, 0)).toBe(3_000)
    }).pipe(Effect.provide(ProviderGate.layer({ limits: { vendor: limits } })))
  )
})
