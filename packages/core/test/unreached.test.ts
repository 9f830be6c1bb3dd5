/** Calls that a resumed run does not reach: they are charged and reported, even if the journal has no event for them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { RunEvent } from "../src/events/RunEvent.ts"
import * as Transcript from "../src/events/Transcript.ts"
import * as Journal from "../src/journal/Journal.ts"
import type * as Policy from "../src/policy/Policy.ts"
import * as Budget from "../src/run/Budget.ts"
import * as Conductor from "../src/run/Conductor.ts"
import { type BudgetExceeded, noSpend, type Spend } from "../src/task/Usage.ts"
import { type Worker, WorkerError } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import { leftWith } from "./processes.ts"

const kinds = ["answered", "failed", "interrupted", "lost"] as const
type Kind = (typeof kinds)[number]

/** Kinds of calls that the worker has received and will not answer. */
const open = new Set<Kind>()

/** A worker that is paid for each call, whatever becomes of it. */
const worker = (kind: Kind): Worker => ({
  id: "w",
  pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 },
  maxOutputTokens: 100,
  generate: ({ messages }) => {
    const text = String(messages.at(-1)?.content)
    const usage = { inputTokens: 3, outputTokens: 4 }
    if (text === "unreached" && kind === "failed")
      return Stream.fail(new WorkerError({ worker: "w", reason: { _tag: "InvalidRequest", detail: "no" }, usage }))
    if (text === "unreached" && kind !== "answered") {
      open.add(kind)
      return Stream.never
    }
    return Stream.make({ type: "text", text } as const, { type: "finish", reason: "stop", usage } as const)
  }
})

/** Waits until the worker has received the call that it will not answer. */
const received = (kind: Kind): Effect.Effect<void> =>
  Effect.suspend(() => (open.delete(kind) ? Effect.void : Effect.andThen(Effect.sleep(1), received(kind))))

/** Asks the questions in turn, and then ends as given. The call that is not reached later may fail, or is stopped. */
const asking = (
  model: Worker,
  questions: ReadonlyArray<string>,
  end: Effect.Effect<{ readonly workflow: { readonly steps: [] }; readonly answer: string }, never>,
  stopped?: Kind
): Policy.Policy => ({
  name: "asking",
  propose: ({ complete }) => {
    const ask = (content: string): Effect.Effect<unknown, BudgetExceeded | WorkerError> => {
      const made = complete({
        model,
        request: { messages: [{ role: "user", content }] },
        read: () => Result.succeed(content)
      })
      if (content !== "unreached") return made
      return stopped === undefined ? Effect.ignore(made) : Effect.raceFirst(Effect.ignore(made), received(stopped))
    }
    return Effect.andThen(Effect.forEach(questions, ask), end)
  }
})

const answering = Effect.succeed({ workflow: { steps: [] as [] }, answer: "done" })

const run = (journal: Journal.Journal, policy: Policy.Policy, model: Worker, options: Conductor.RunOptions = {}) =>
  Conductor.make({ policy, pool: WorkerPool.makeUnsafe([model]), retry: { maxAttempts: 1 } }).run("What?", {
    runId: "r",
    journal,
    ...options
  })

const isOf = (event: RunEvent): boolean =>
  ("chargeId" in event && event.chargeId === "r/0/policy/1/0") ||
  (event.type === "completion-finished" && event.completion === "unreached")

/** The entries of a process that died after the second of its two calls, with or without the report of that call. */
const entriesOf = (kind: Kind, isReported: boolean) =>
  Effect.gen(function* () {
    const memory = Journal.memory()
    const process = Journal.makeMemory(memory)
    const model = worker(kind)
    const account = Budget.make({})
    const policy = asking(
      model,
      ["first", "unreached"],
      Effect.never,
      kind === "interrupted" || kind === "lost" ? kind : undefined
    )
    yield* Effect.forkDetach(run(process, policy, model, { ledger: account }))
    const isReport = (entry: Journal.Entry) => entry.type === "event" && isOf(entry.event)
    while (!(yield* process.read("r")).some(isReport)) yield* Effect.sleep(1)
    process.end()
    const written = yield* process.read("r")
    const entries = written.flatMap((entry): ReadonlyArray<Journal.Entry> => {
      if (entry.type === "event" && isOf(entry.event)) {
        if (!isReported) return []
        return kind === "lost" ? [{ ...entry, event: { ...entry.event, type: "call-lost" } as RunEvent }] : [entry]
      }
      return kind === "lost" && entry.type === "interrupted" ? [{ ...entry, type: "lost" }] : [entry]
    })
    return { account, entries }
  })

const sumOf = (events: ReadonlyArray<RunEvent>): Spend =>
  Transcript.payments(Transcript.fromEvents(events)!).reduce(Transcript.withPayment, noSpend)

const amountOf = ({ calls, costUsd }: Spend) => ({ calls, costUsd })

const cases = kinds.flatMap((kind) => [true, false].map((isReported) => ({ kind, isReported })))

describe("a call that a resumed run does not reach", () => {
  it.live.each(cases)("is charged and reported once: $kind, reported before: $isReported", ({ isReported, kind }) =>
    Effect.gen(function* () {
      const model = worker(kind)
      const { account, entries } = yield* entriesOf(kind, isReported)
      assert.strictEqual(
        entries.some((entry) => entry.type === "event" && isOf(entry.event)),
        isReported
      )
      const memory = yield* leftWith(entries)
      const events: Array<RunEvent> = []
      const listener = (event: RunEvent) => void events.push(event)
      const policy = asking(model, ["first"], answering)
      const result = yield* run(Journal.makeMemory(memory), policy, model, { ledger: account, listener })
      const both = { calls: 2, costUsd: 2 }
      assert.deepStrictEqual([result.ending, result.answer], ["answered", "done"])
      assert.deepStrictEqual(amountOf(result.spend), both)
      assert.deepStrictEqual(amountOf(account.spent()), both)
      assert.deepStrictEqual(sumOf(events), result.spend)
      const written = yield* Journal.makeMemory(memory).read("r")
      assert.deepStrictEqual(sumOf(Journal.eventsOf(written)), result.spend)
      assert.strictEqual(written.filter(({ type }) => type === kind).length, kind === "answered" ? 2 : 1)
    })
  )

  it.live.each(cases)(
    "is charged once if a later process reaches it: $kind, reported before: $isReported",
    ({ isReported, kind }) =>
      Effect.gen(function* () {
        const model = worker(kind)
        const { account, entries } = yield* entriesOf(kind, isReported)
        const memory = yield* leftWith(entries)
        const both = { calls: 2, costUsd: 2 }
        const failing = asking(model, ["first"], Effect.die(new Error("It is down.")))
        const failed = yield* run(Journal.makeMemory(memory), failing, model, { ledger: account })
        assert.deepStrictEqual([failed.ending, amountOf(failed.spend)], ["failed", both])
        const events: Array<RunEvent> = []
        const listener = (event: RunEvent) => void events.push(event)
        const whole = asking(worker("answered"), ["first", "unreached"], answering)
        const result = yield* run(Journal.makeMemory(memory), whole, model, { ledger: account, listener })
        // A call without an answer is made again.
        const calls = kind === "answered" ? 2 : 3
        assert.deepStrictEqual([result.ending, amountOf(result.spend)], ["answered", { calls, costUsd: calls }])
        assert.deepStrictEqual(amountOf(account.spent()), { calls, costUsd: calls })
        assert.deepStrictEqual(sumOf(events), result.spend)
        const written = yield* Journal.makeMemory(memory).read("r")
        assert.deepStrictEqual(sumOf(Journal.eventsOf(written)), result.spend)
      })
  )

  it.live("is charged if a smaller budget ends the resumed run before it, and its call was answered", () =>
    Effect.gen(function* () {
      const model = worker("answered")
      const { account, entries } = yield* entriesOf("answered", true)
      const memory = yield* leftWith(entries)
      const policy = asking(model, ["first", "unreached"], answering)
      const conductor = Conductor.make({ policy, pool: WorkerPool.makeUnsafe([model]), budget: { costUsd: 1 } })
      const result = yield* conductor.run("What?", {
        runId: "r",
        journal: Journal.makeMemory(memory),
        ledger: account
      })
      assert.strictEqual(result.spend.costUsd, 2)
      assert.deepStrictEqual(amountOf(account.spent()), { calls: 2, costUsd: 2 })
    })
  )
})
