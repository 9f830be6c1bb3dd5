import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { TestClock } from "effect/testing"
import * as Journal from "../src/journal/Journal.ts"
import { loadAll } from "../src/OnDemand.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import * as Policy from "../src/policy/Policy.ts"
import * as Budget from "../src/run/Budget.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as Resilience from "../src/run/Resilience.ts"
import * as ResponseCache from "../src/run/ResponseCache.ts"
import type { BudgetExceeded } from "../src/task/Usage.ts"
import { type Worker, WorkerError } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

// The test clock does not wait for modules.
beforeAll(loadAll)

/** The order of a call's middleware (`loop/pipeline.ts`): each test fails if the two neighbours of its title are swapped. */

const usage = { inputTokens: 1, outputTokens: 1 }
const pricing = { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 }

/** A worker that gives these answers after 50 ms each; "fail" fails, and "wait" never answers. */
const worker = (id: string, answers: ReadonlyArray<string>, more: Partial<Worker> = {}) => {
  const asked: Array<string> = []
  const made: Worker = {
    id,
    pricing,
    maxOutputTokens: 100,
    generate: ({ messages }) =>
      Effect.suspend(() => {
        const text = answers[asked.length] ?? "no answer left"
        asked.push(messages.map(({ content }) => content).join(" | "))
        if (text === "wait") return Effect.never
        if (text === "fail") {
          const failed = Effect.fail(new WorkerError({ worker: id, reason: { _tag: "Overloaded" } }))
          return Effect.andThen(Effect.sleep(50), failed)
        }
        const parts = [
          { type: "text", text },
          { type: "finish", reason: "stop", usage }
        ] as const
        return Effect.delay(Effect.succeed(parts), 50)
      }),
    ...more
  }
  return { asked, worker: made }
}

/** Runs for up to a minute of the test clock, and then stops. */
const conducted = Effect.fnUntraced(function* (
  workers: ReadonlyArray<Worker>,
  options: Conductor.RunOptions,
  settings: Partial<Conductor.Options> = {}
) {
  const retry = { jitter: false, baseDelayMillis: 10 }
  const conductor = Conductor.make({
    pool: WorkerPool.makeUnsafe(workers),
    policy: Baselines.single(0),
    retry,
    ...settings
  })
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const run = yield* conductor.start({ question: "Why?", id: "task" }, { runId: "r", ...options })
      yield* TestClock.adjust("1 minute")
      return yield* run.interrupt
    })
  )
})

const inTwoSteps = Policy.fixed("in two steps", () => ({
  steps: [
    { worker: 0, subtask: "begin", access: [] },
    { worker: 1, subtask: "", access: "all" }
  ]
}))

const cached = <A, E>(effect: Effect.Effect<A, E>, store: ResponseCache.Store) =>
  Effect.provideService(effect, ResponseCache.ResponseCache, ResponseCache.make(store))

const storeOf = (entries: Map<string, ResponseCache.Entry>): ResponseCache.Store => ({
  get: (key) => Effect.sync(() => entries.get(key)),
  set: (key, entry) => Effect.sync(() => void entries.set(key, entry))
})

describe("the order of a call's middleware", () => {
  for (const [name, first, second] of [
    ["begun with a budget and resumed without one", { tokens: 100_000 }, undefined],
    ["begun without a budget and resumed with one", undefined, { tokens: 100_000 }]
  ] as const) {
    it.effect(`replay before fit: a run in a journal, ${name}`, () =>
      Effect.gen(function* () {
        const memory = Journal.memory()
        const one = worker("one", ["first"], { maxOutputTokens: undefined, instructions: "Be brief." })
        const two = worker("two", ["wait", "second"])
        const pool = [one.worker, two.worker]
        const journal = () => Journal.makeMemory(memory)
        const begun = yield* conducted(pool, { journal: journal() }, { policy: inTwoSteps, budget: first })
        assert.strictEqual(begun.ending, "interrupted")
        const ended = yield* conducted(pool, { journal: journal() }, { policy: inTwoSteps, budget: second })
        assert.deepStrictEqual([ended.ending, ended.answer, ended.detail], ["answered", "second", undefined])
        assert.deepStrictEqual([one.asked.length, two.asked.length], [1, 2])
      })
    )
  }

  it.effect("replay before cache: an answer of the run's own journal comes before that of another run", () =>
    Effect.gen(function* () {
      const memory = Journal.memory()
      const one = worker("one", ["own", "other"])
      const two = worker("two", ["wait", "second"])
      const pool = [one.worker, two.worker]
      yield* conducted(pool, { journal: Journal.makeMemory(memory) }, { policy: inTwoSteps })
      const entries = new Map<string, ResponseCache.Entry>()
      const other = worker("two", ["of another run"])
      yield* cached(conducted([one.worker, other.worker], {}, { policy: inTwoSteps }), storeOf(entries))
      assert.strictEqual(entries.size, 2)
      const resumed = conducted(pool, { journal: Journal.makeMemory(memory) }, { policy: inTwoSteps })
      const { answer } = yield* cached(resumed, storeOf(entries))
      assert.strictEqual(answer, "second")
      assert.include(two.asked.at(-1), "own")
      assert.notInclude(two.asked.at(-1), "other")
    })
  )

  it.effect("fit before cache: workers of one name with other instructions have answers of their own", () =>
    Effect.gen(function* () {
      const store = storeOf(new Map())
      const terse = worker("one", ["terse"], { instructions: "Be brief." })
      const long = worker("one", ["long"], { instructions: "Explain." })
      const first = yield* cached(conducted([terse.worker], {}), store)
      const second = yield* cached(conducted([long.worker], {}), store)
      assert.deepStrictEqual([first.answer, second.answer], ["terse", "long"])
    })
  )

  it.effect("cache before payerReported: a cached answer is not reported to the payer", () =>
    Effect.gen(function* () {
      const store = storeOf(new Map())
      const paid: Array<unknown> = []
      const payer = { account: Budget.make(), onPaid: (payment: unknown) => paid.push(payment) }
      yield* cached(conducted([worker("one", ["1"]).worker], { payer }), store)
      yield* cached(conducted([worker("one", []).worker], { payer }), store)
      assert.deepStrictEqual([paid.length, payer.account.spent().calls], [1, 1])
    })
  )

  it.effect(
    "payerReported before retry: the payer's entry has the failures of a call and the time of all attempts",
    () =>
      Effect.gen(function* () {
        const entries: Array<ResponseCache.Entry | undefined> = []
        const onPaid = ({ answered }: Budget.Payment) => entries.push(answered?.entry)
        yield* conducted([worker("one", ["fail", "1"]).worker], { payer: { account: Budget.make(), onPaid } })
        const [failed, answered] = entries
        assert.isUndefined(failed)
        assert.deepStrictEqual([answered?.durationMillis, answered?.failures?.length], [110, 1])
      })
  )

  it.effect("retry before meter: each attempt is charged, and nothing is reserved between two", () =>
    Effect.gen(function* () {
      const ledger = Budget.make({ calls: 2 })
      const reserved: Array<number> = []
      const watching: Budget.Ledger = {
        limits: {},
        isLimited: false,
        reserve: (...asked) => Effect.tap(ledger.reserve(...asked), () => Effect.sync(() => reserved.push(1))),
        settle: (...asked) => Effect.tap(ledger.settle(...asked), () => Effect.sync(() => reserved.push(-1))),
        release: (...asked) => Effect.tap(ledger.release(...asked), () => Effect.sync(() => reserved.push(-1))),
        charge: ledger.charge,
        spent: ledger.spent
      }
      const { spend } = yield* conducted([worker("one", ["fail", "1"]).worker], { ledger: watching })
      assert.deepStrictEqual([reserved, spend.calls], [[1, -1, 1, -1], 2])
    })
  )

  /** A payer whose reservations are counted, and which allows so many calls. */
  const payerOf = (calls: number) => {
    const account = Budget.make({ calls })
    const state = { reservations: 0 }
    const payer: Budget.Payer = {
      account: {
        ...account,
        limits: account.limits,
        isLimited: true,
        settle: account.settle,
        release: account.release,
        charge: account.charge,
        spent: account.spent,
        reserve: (...asked) =>
          Effect.suspend(() => {
            state.reservations += 1
            return account.reserve(...asked)
          })
      }
    }
    return { payer, state }
  }

  it.effect("meter before payerCharged: a call that the run's own budget refuses does not reach the payer", () =>
    Effect.gen(function* () {
      const { payer, state } = payerOf(9)
      const { error } = yield* conducted([worker("one", ["1"]).worker], { payer }, { budget: { calls: 0 } })
      assert.deepStrictEqual([(error as BudgetExceeded).account, state.reservations], [undefined, 0])
    })
  )

  it.effect("payerCharged before gate: a call that the payer refuses takes no queue position", () =>
    Effect.gen(function* () {
      let entered = 0
      const gate: Resilience.Gate = {
        enter: (_worker, _tokens, call) =>
          Effect.suspend(() => {
            entered += 1
            return call(() => {})
          })
      }
      const run = conducted([worker("one", ["1"]).worker], { payer: payerOf(0).payer })
      const { error } = yield* Effect.provideService(run, Resilience.Gate, gate)
      assert.deepStrictEqual([(error as BudgetExceeded).account, entered], ["payer", 0])
    })
  )

  it.effect("gate before timeout: the time in the queue is not time of the call", () =>
    Effect.gen(function* () {
      const gate: Resilience.Gate = {
        enter: (_worker, _tokens, call) => Effect.andThen(Effect.sleep("10 seconds"), () => call(() => {}))
      }
      const run = conducted([worker("one", ["1"]).worker], {}, { worker: { timeoutMillis: 1_000 } })
      assert.strictEqual((yield* Effect.provideService(run, Resilience.Gate, gate)).answer, "1")
    })
  )

  it.effect("intent before send: an intent is durable before the worker is asked", () =>
    Effect.gen(function* () {
      const memory = Journal.memory()
      const inner = Journal.makeMemory(memory)
      const known: Array<number> = []
      const intents = () => memory.runs.get("r")?.entries.filter(({ type }) => type === "intent").length ?? 0
      const { worker: one } = worker("one", ["1"])
      const watched: Worker = {
        ...one,
        generate: (request) => {
          known.push(intents())
          return one.generate(request)
        }
      }
      yield* conducted([watched], { journal: inner })
      assert.deepStrictEqual(known, [1])
    })
  )
})
