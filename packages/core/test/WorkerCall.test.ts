import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import type { RunEvent } from "../src/events/RunEvent.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import * as Budget from "../src/run/Budget.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ResponseCache from "../src/run/ResponseCache.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import type * as Usage from "../src/task/Usage.ts"
import type { Worker, WorkerPart } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import * as WorkerStream from "../src/task/WorkerStream.ts"

const pricing = { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 }

/** Fails once, and takes 50 ms for its answer. */
const slow = (): Worker & Pick<ScriptedWorker.ScriptedWorker, "calls"> => {
  const scripted = ScriptedWorker.make({ id: "a", pricing, replies: [{ fail: { _tag: "Overloaded" } }, "42"] })
  return {
    ...scripted,
    generate: (request) => Stream.unwrap(Effect.as(Effect.sleep(50), WorkerStream.generate(scripted, request)))
  }
}

/** The contents of one store, whichever run wrote them. */
const makeStore = () => {
  const entries = new Map<string, ResponseCache.Entry>()
  const store: ResponseCache.Store = {
    get: (key) => Effect.sync(() => entries.get(key)),
    set: (key, entry) => Effect.sync(() => void entries.set(key, entry))
  }
  return { entries, store }
}

const run = Effect.fnUntraced(function* (
  worker: Worker,
  store: ResponseCache.Store,
  options: Conductor.RunOptions = {},
  budget: Budget.Limits = {}
) {
  const events: Array<RunEvent> = []
  const retry = { jitter: false, baseDelayMillis: 10 }
  const conductor = Conductor.make({
    pool: WorkerPool.makeUnsafe([worker]),
    policy: Baselines.single(0),
    retry,
    budget
  })
  const running = conductor.run(
    { question: "Why?", id: "task" },
    { runId: "run", listener: (event) => events.push(event), ...options }
  )
  const fiber = yield* Effect.forkChild(
    Effect.provideService(running, ResponseCache.ResponseCache, ResponseCache.make(store))
  )
  yield* TestClock.adjust("1 second")
  return { result: yield* Fiber.join(fiber), events }
})

const untimed = (events: ReadonlyArray<RunEvent>) => events.map(({ at: _, ...event }) => event)

describe("an answer in pieces", () => {
  it.effect("is emitted per packet: deltas that arrive together are one piece, in order", () =>
    Effect.gen(function* () {
      const piece = (type: "text" | "reasoning", text: string): WorkerPart => ({ type, text })
      const packets: ReadonlyArray<ReadonlyArray<WorkerPart>> = [
        [piece("reasoning", "6 "), piece("reasoning", "x 7"), piece("text", ""), piece("text", "fo")],
        [piece("text", "rty"), piece("reasoning", "sure"), piece("text", "-two")],
        [{ type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } }]
      ]
      const worker: Worker = {
        id: "a",
        generate: () => Stream.flatMap(Stream.fromIterable(packets), (packet) => Stream.fromArray(packet))
      }
      const { events, result } = yield* run(worker, makeStore().store)
      const told = events.flatMap((event) => (event.type === "step-delta" ? [[event.kind, event.text]] : []))
      assert.deepStrictEqual(told, [
        ["reasoning", "6 x 7"],
        ["text", "fo"],
        ["text", "rty"],
        ["reasoning", "sure"],
        ["text", "-two"]
      ])
      assert.strictEqual(result.answer, "forty-two")
    })
  )
})

describe("a found answer", () => {
  it.effect("that is charged from the cache repeats the run with its failures, cost and time, without a call", () =>
    Effect.gen(function* () {
      const worker = slow()
      const { store } = makeStore()
      const account = Budget.make()
      const first = yield* run(worker, store, { cachedAnswers: "charged", payer: { account } })
      const paid = account.spent()
      const again = yield* run(worker, store, { cachedAnswers: "charged", payer: { account } })
      assert.strictEqual(worker.calls.length, 2)
      assert.deepStrictEqual(again.result.spend, first.result.spend)
      assert.strictEqual(again.result.spend.costUsd, 2)
      const [, , proposed, ...rest] = untimed(first.events)
      const [, , proposedAgain, ...restAgain] = untimed(again.events)
      assert.deepStrictEqual(proposedAgain, proposed)
      const runFinished = (events: ReadonlyArray<object>) => events.slice(0, -1)
      assert.deepStrictEqual(runFinished(restAgain), runFinished(rest))
      const finished = again.events.find((event) => event.type === "step-finished")
      assert.strictEqual(finished?.durationMillis, 110)
      // The payer is charged once.
      assert.deepStrictEqual(account.spent(), paid)
    })
  )

  it.effect("that is charged from the cache has to fit the run's own budget, as the original call did", () =>
    Effect.gen(function* () {
      const { store } = makeStore()
      const account = Budget.make()
      yield* run(slow(), store, { payer: { account } })
      const { result } = yield* run(slow(), store, { cachedAnswers: "charged", payer: { account } }, { calls: 1 })
      assert.strictEqual(result.ending, "budget")
      assert.strictEqual(result.spend.calls, 1)
      assert.isUndefined((result.error as Usage.BudgetExceeded).account)
    })
  )

  it.effect("is free by default", () =>
    Effect.gen(function* () {
      const { store } = makeStore()
      yield* run(slow(), store)
      const { events, result } = yield* run(slow(), store)
      assert.deepStrictEqual([result.answer, result.spend.calls], ["42", 0])
      assert.isTrue(events.some((event) => event.type === "step-finished" && event.cached))
    })
  )
})

describe("a payer", () => {
  it.effect("is notified of each paid attempt, and of an answer under its key before it is cached", () =>
    Effect.gen(function* () {
      const { entries, store } = makeStore()
      const told: Array<readonly [number | undefined, string | undefined, boolean]> = []
      const onPaid = ({ answered, costUsd }: Budget.Payment) =>
        told.push([costUsd, answered?.entry.text, entries.size > 0])
      yield* run(slow(), store, { payer: { account: Budget.make(), onPaid } })
      assert.deepStrictEqual(told, [
        [1, undefined, false],
        [1, "42", false]
      ])
      const [entry] = entries.values()
      assert.strictEqual(entry?.durationMillis, 110)
      assert.deepStrictEqual(
        entry?.failures?.map(({ reason, retryInMillis }) => [reason._tag, retryInMillis]),
        [["Overloaded", 10]]
      )
    })
  )

  it.effect("who allows no more ends the run, which says whose limit it was and keeps nothing reserved", () =>
    Effect.gen(function* () {
      const refusals: Array<string> = []
      const account = Budget.make({ calls: 0 })
      const onRefused = ({ error, worker }: Budget.Refusal) => refusals.push(`${worker}: ${error.limit}`)
      const ledger = Budget.make({ calls: 1 })
      const worker = slow()
      const { result } = yield* run(worker, makeStore().store, { ledger, payer: { account, onRefused } })
      assert.strictEqual(result.ending, "budget")
      assert.strictEqual((result.error as Usage.BudgetExceeded).account, "payer")
      assert.deepStrictEqual(refusals, ["a: calls"])
      assert.strictEqual(worker.calls.length, 0)
      yield* ledger.reserve({ costUsd: 0, tokens: 0 })
    })
  )
})

describe("a call without an output limit", () => {
  const asked = Effect.fnUntraced(function* (
    about: Partial<Worker>,
    options: Omit<Conductor.Options, "policy" | "pool">
  ) {
    const scripted = ScriptedWorker.make({ id: "a", pricing, replies: ["42"] })
    const pool = WorkerPool.makeUnsafe([{ ...scripted, ...about }])
    const conductor = Conductor.make({ policy: Baselines.single(0), pool, ...options })
    const { ending } = yield* conductor.run("Why?")
    return ending === "answered" ? scripted.calls[0]?.maxOutputTokens : ending
  })

  it.effect(
    "may write 8,192 tokens on a limited account, fewer if its model allows fewer, and 4,096 if its limits are unknown",
    () =>
      Effect.gen(function* () {
        const budget = { tokens: 10_000 }
        assert.strictEqual(yield* asked({}, { budget }), 4_096)
        assert.strictEqual(yield* asked({ limits: { maxOutputTokens: 128_000 } }, { budget }), 8_192)
        assert.strictEqual(yield* asked({ limits: { maxOutputTokens: 500 } }, { budget }), 500)
      })
  )

  it.effect("is held to its worker's own setting, and to what the run says before that", () =>
    Effect.gen(function* () {
      const own = { maxOutputTokens: 20_000, limits: { maxOutputTokens: 128_000 } }
      assert.strictEqual(yield* asked(own, { budget: { tokens: 30_000 } }), 20_000)
      assert.strictEqual(yield* asked(own, { budget: { tokens: 10_000 } }), "budget")
      assert.strictEqual(yield* asked(own, { budget: { tokens: 10_000 }, worker: { maxOutputTokens: 9_000 } }), 9_000)
    })
  )

  it.effect("is held to nothing without a limit", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* asked({ limits: { maxOutputTokens: 128_000 } }, {}))
    })
  )
})
