import fs from "node:fs"
import path from "node:path"
import { Baselines, Budget, ResponseCache } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import { type Worker, WorkerError, type WorkerErrorReason, type WorkerPart } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { IntegerGrader } from "@divisi/graders/math"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import * as Evaluation from "../src/evaluation/Evaluation.ts"
import * as Journal from "../src/evaluation/journal.ts"
import * as Plan from "../src/evaluation/plan.ts"
import { folder } from "./folder.ts"

const suite = Evaluation.madeSuite({
  id: "products",
  title: "Products",
  prompt: "products/1",
  licence: "MIT",
  tasks: [Task.make({ id: "product", question: "What is 6 times 7?", reference: "42" })],
  grader: IntegerGrader.integer,
  seed: 0
})

const journalOf = (at: string) => path.join(at, "journal.jsonl")

describe("an evaluation", () => {
  it.effect("pays for a call that timed out, as its input may be billed", () =>
    Effect.gen(function* () {
      const pricing = { inputPerMillion: 1_000_000, outputPerMillion: 1_000_000 }
      const worker = ScriptedWorker.make({ id: "a", pricing, replies: [{ fail: { _tag: "Timeout" } }] })
      const pool = WorkerPool.makeUnsafe([{ ...worker, limits: { maxOutputTokens: 10 } }])
      const at = folder()
      const policies = [{ policy: Baselines.single("a") }]
      const run = { retry: { maxAttempts: 1 } }
      const options = { suites: [suite], policies, pool, folder: at, maxCostUsd: 1000, run }
      const { report, samples } = yield* Evaluation.run(options)
      assert.isAbove(samples[0]!.costUsd, 0)
      assert.strictEqual(report.extent.paidUsd, samples[0]!.costUsd)
      assert.strictEqual((yield* Journal.read(journalOf(at)))?.paidUsd, samples[0]!.costUsd)
      const stopped = yield* Evaluation.run({ ...options, maxCostUsd: 50, retryMissing: true })
      assert.strictEqual(stopped.stoppedBy?.account, "payer")
      assert.strictEqual(stopped.report.extent.paidUsd, report.extent.paidUsd)
    })
  )

  it.effect("reports impossible usage, with its samples and in its report", () =>
    Effect.gen(function* () {
      const usage = { inputTokens: 5, outputTokens: -90 }
      const parts: ReadonlyArray<WorkerPart> = [
        { type: "text", text: "42" },
        { type: "finish", reason: "stop", usage }
      ]
      const worker = ScriptedWorker.make({ id: "a", replies: [{ parts }] })
      const { report, samples } = yield* Evaluation.run({
        suites: [suite],
        policies: [{ policy: Baselines.single("a") }],
        pool: WorkerPool.makeUnsafe([worker]),
        folder: folder()
      })
      assert.strictEqual(samples[0]!.misreported, "outputTokens: -90")
      assert.deepStrictEqual(report.cells[0]!.misreported, { runs: 1, first: "outputTokens: -90" })
    })
  )
})

// -------------------------------------------------------------------------------------------------------------------
// Random mixtures
// -------------------------------------------------------------------------------------------------------------------

const pricing = { inputPerMillion: 1_000, outputPerMillion: 10_000, perCall: 0.001 }

const failures: ReadonlyArray<WorkerErrorReason> = [
  { _tag: "Timeout" },
  { _tag: "RateLimited" },
  { _tag: "Overloaded" },
  { _tag: "Malformed" },
  { _tag: "ContentFiltered" },
  { _tag: "Network" }
]

/** Answers, fails, hangs, breaks off or is empty, after some time, as its own seed has it. */
const capricious = (id: string, onCall: () => void): Worker => ({
  id,
  pricing,
  limits: { maxOutputTokens: 20 },
  generate: () =>
    Stream.unwrap(
      Effect.gen(function* () {
        onCall()
        const fate = yield* Random.nextIntBetween(0, 10)
        const outputTokens = yield* Random.nextIntBetween(1, 20)
        const inputTokens = yield* Random.nextIntBetween(1, 20)
        const reason = failures[yield* Random.nextIntBetween(0, failures.length, { halfOpen: true })]!
        yield* Effect.sleep(yield* Random.nextIntBetween(0, 80))
        const usage = { inputTokens, outputTokens }
        const text: WorkerPart = { type: "text", text: "42" }
        const finish: WorkerPart = { type: "finish", reason: "stop", usage }
        if (fate < 5) return Stream.make(text, finish)
        if (fate === 5) return Stream.make(finish)
        if (fate === 6) return Stream.make(text)
        if (fate === 7) return Stream.concat(Stream.make(text), Stream.never)
        const error = new WorkerError({ worker: id, reason, ...(fate === 8 ? { usage } : {}) })
        return fate === 9 ? Stream.concat(Stream.make(text), Stream.fail(error)) : Stream.fail(error)
      })
    )
})

const journalIn = (at: string) => {
  const plan = Plan.planOf({
    suites: [suite],
    policies: [{ policy: Baselines.single(0) }],
    pool: WorkerPool.makeUnsafe([ScriptedWorker.echo("a")]),
    folder: at
  })
  return Effect.map(
    Journal.open(journalOf(at), plan, () => Effect.void),
    ({ journal }) => journal
  )
}

/** Returns the settled and reserved amounts of an account. A ledger does not expose the second. */
const heldBy = (ledger: Budget.Ledger) => {
  const { open, reservedCostUsd, reservedTokens } = ledger as unknown as Record<string, number>
  const { calls, costUsd, usage } = ledger.spent()
  return {
    costUsd: costUsd + reservedCostUsd!,
    tokens: usage.inputTokens + usage.outputTokens + reservedTokens!,
    calls: calls + open!,
    open: open!
  }
}

const policies = [
  Baselines.single(0),
  Baselines.bestOf({ n: 2, judge: 1 }),
  Baselines.selfReflection({ rounds: 1, worker: 1 }),
  Baselines.mixtureOfAgents()
]

/** Many runs that ask for much the same at once, in a world that is all a seed's. */
const mixture = Effect.fnUntraced(function* (at: string, cachedAnswers: "free" | "charged") {
  const limits = {
    costUsd: yield* Random.nextBetween(0.5, 12),
    calls: yield* Random.nextIntBetween(10, 80)
  }
  const account = Budget.make(limits)
  const journal = yield* journalIn(at)
  const entries = new Map<string, ResponseCache.Entry>()
  const cache = ResponseCache.make({
    get: (key) => Effect.sync(() => entries.get(key)),
    set: (key, entry) => Effect.as(Effect.sleep(1), void entries.set(key, entry))
  })
  const budgets: Array<readonly [Budget.Ledger, Budget.Limits]> = [[account, limits]]
  const watch = () => {
    for (const [ledger, { calls = Number.POSITIVE_INFINITY, costUsd = Number.POSITIVE_INFINITY }] of budgets) {
      const held = heldBy(ledger)
      assert.isAtMost(held.costUsd, costUsd + 1e-9)
      assert.isAtMost(held.calls, calls)
    }
  }
  let refused = 0
  const told: Array<string> = []
  const payer: Budget.Payer = {
    account,
    onPaid: (payment) => {
      journal.paid({ paidUsd: payment.costUsd ?? 0 })
      // The answer is not stored yet: the store receives it after the payment.
      if (payment.answered !== undefined) {
        assert.isFalse(entries.has(payment.answered.key))
        told.push(payment.answered.key)
      }
      watch()
    },
    onRefused: ({ error }) => {
      assert.strictEqual(error.account, "payer")
      refused += 1
    }
  }
  const pool = WorkerPool.makeUnsafe([capricious("a", watch), capricious("b", watch)])
  const one = Effect.fnUntraced(function* (index: number) {
    const own = { costUsd: yield* Random.nextBetween(0.1, 3), calls: yield* Random.nextIntBetween(2, 12) }
    const ledger = Budget.make(own)
    budgets.push([ledger, own])
    yield* Effect.sleep(yield* Random.nextIntBetween(0, 120))
    const conductor = Conductor.make({
      policy: policies[index % policies.length]!,
      pool,
      reassign: index % 3 === 0 ? "next" : "never",
      worker: { timeoutMillis: 60 },
      retry: { maxAttempts: 3, baseDelayMillis: 5 },
      seed: index % 2
    })
    return yield* conductor.run(
      { question: `Question ${index % 3}?`, id: String(index % 3) },
      {
        ledger,
        payer,
        cachedAnswers,
        listener: watch
      }
    )
  })
  const fibers = yield* Effect.forEach(
    Array.from({ length: 24 }, (_, index) => index),
    (index) => Effect.forkChild(one(index).pipe(Effect.provideService(ResponseCache.ResponseCache, cache)))
  )
  yield* TestClock.adjust(70)
  yield* Effect.forEach(fibers.slice(0, 5), Fiber.interrupt, { concurrency: "unbounded" })
  yield* TestClock.adjust("1 minute")
  const exits = yield* Fiber.awaitAll(fibers)
  assert.isTrue(exits.every((exit) => Exit.isSuccess(exit) || Exit.hasInterrupts(exit)))
  watch()
  for (const [ledger] of budgets) assert.strictEqual(heldBy(ledger).open, 0)
  journal.flush()
  const booked = budgets.slice(1).reduce((sum, [ledger]) => sum + ledger.spent().costUsd, 0)
  const calls = budgets.slice(1).reduce((sum, [ledger]) => sum + ledger.spent().calls, 0)
  return { booked, calls, paid: account.spent(), refused, told, entries: entries.size }
})

const mixtures = (cachedAnswers: "free" | "charged", seeds: number) =>
  Effect.forEach(
    Array.from({ length: seeds }, (_, seed) => seed),
    (seed) => {
      const at = folder()
      return Effect.flatMap(
        Effect.scoped(mixture(at, cachedAnswers)).pipe(Random.withSeed(`accounts ${seed}`)),
        (outcome) =>
          Effect.map(Journal.read(journalOf(at)), (contents) => {
            fs.rmSync(at, { recursive: true })
            return { ...outcome, journalUsd: contents?.paidUsd ?? 0 }
          })
      )
    }
  )

describe("accounts", () => {
  it.effect("agree: what runs book where cached answers are free, what the payer pays, what the journal says", () =>
    Effect.gen(function* () {
      const outcomes = yield* mixtures("free", 15)
      for (const { booked, calls, journalUsd, paid, told } of outcomes) {
        assert.approximately(booked, paid.costUsd, 1e-9)
        assert.approximately(journalUsd, paid.costUsd, 1e-9)
        assert.strictEqual(calls, paid.calls)
        // An answer is paid for once.
        assert.strictEqual(new Set(told).size, told.length)
      }
      // The worlds are what they are meant to be.
      assert.isTrue(outcomes.some(({ refused }) => refused > 0))
      assert.isTrue(outcomes.some(({ refused }) => refused === 0))
    })
  )

  it.effect("hold their limits where cached answers are charged, and then runs book more than the payer pays", () =>
    Effect.gen(function* () {
      const outcomes = yield* mixtures("charged", 15)
      for (const { booked, calls, journalUsd, paid } of outcomes) {
        assert.approximately(journalUsd, paid.costUsd, 1e-9)
        assert.isAtLeast(booked, paid.costUsd - 1e-9)
        assert.isAtLeast(calls, paid.calls)
      }
      assert.isTrue(outcomes.every(({ calls, paid }) => calls > paid.calls))
    })
  )
})
