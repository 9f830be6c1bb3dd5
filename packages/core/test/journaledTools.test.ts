import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import type { RunEvent } from "../src/events/RunEvent.ts"
import * as Transcript from "../src/events/Transcript.ts"
import * as Journal from "../src/journal/Journal.ts"
import * as Policy from "../src/policy/Policy.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as Tool from "../src/task/Tool.ts"
import type { Worker, WorkerPart, WorkerRequest } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import { eventsIn, killedAt, timeless } from "./processes.ts"

const usage = { inputTokens: 3, outputTokens: 4 }

const resultsIn = ({ messages }: WorkerRequest) => messages.filter(({ role }) => role === "tool")

/** A worker that asks for the tools of a list, all at once, and answers with their results; it keeps its books. */
const clerk = (id: string, names: ReadonlyArray<string>) => {
  const asked: Array<WorkerRequest> = []
  const worker: Worker = {
    id,
    capabilities: { tools: true },
    pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 },
    maxOutputTokens: 100,
    generate: (request) => {
      asked.push(request)
      const results = resultsIn(request)
      const calls = names.map((name, index) => ({ id: `${id}-${index}`, name, arguments: "{}" }))
      const parts: ReadonlyArray<WorkerPart> =
        results.length === 0
          ? [
              ...calls.map((call) => ({ type: "tool-call" as const, ...call })),
              { type: "finish", reason: "tool-calls", usage }
            ]
          : [
              { type: "text", text: results.map(({ content }) => content).join(" and ") },
              { type: "finish", reason: "stop", usage }
            ]
      return Stream.fromArray(parts)
    }
  }
  return { worker, asked }
}

const empty = { type: "object", properties: {} } as const

const policy = Policy.fixed("two ask", () => ({
  steps: [
    { worker: 0, subtask: "first", access: [] },
    { worker: 1, subtask: "", access: [0] }
  ]
}))

const make = (pool: ReadonlyArray<Worker>, tools: ReadonlyArray<Tool.Tool>) =>
  Conductor.make({ policy, pool: WorkerPool.makeUnsafe(pool), tools, toolAccess: "every-step", seed: 7 })

/** Tools with handlers, and how often each was begun. */
const counting = (isRepeatable: boolean) => {
  const begun: Array<string> = []
  const count = (name: string) =>
    Tool.make({
      name,
      input: empty,
      isRepeatable,
      execute: () =>
        Effect.suspend(() => {
          begun.push(name)
          return Effect.as(Effect.sleep(2), `the ${name}`)
        })
    })
  return { begun, tools: [count("sum"), count("mean")] }
}

describe("tools of a run with a journal", () => {
  it.live("are not called again for a known result, and unconfirmed calls only if they are repeatable", () =>
    Effect.gen(function* () {
      const whole = Journal.memory()
      const pool = () => [clerk("a", ["sum", "mean"]).worker, clerk("b", ["mean"]).worker]
      const first = make(pool(), counting(true).tools)
      yield* first.run("What?", { runId: "r", journal: Journal.makeMemory(whole) })
      const expected = timeless(yield* eventsIn(whole))
      let inDoubt = 0
      for (const isRepeatable of [false, true]) {
        for (const isAfter of [false, true]) {
          for (let count = 1; ; count++) {
            const memory = Journal.memory()
            const { begun, tools } = counting(isRepeatable)
            const { dead, journal } = yield* killedAt(memory, count, isAfter)
            const running = yield* Effect.forkDetach(make(pool(), tools).run("What?", { runId: "r", journal }))
            const ended = yield* Effect.raceFirst(Effect.as(Fiber.join(running), true), Effect.as(dead, false))
            if (ended) break
            yield* Effect.sleep(5)
            const before = yield* eventsIn(memory)
            const known = before.filter(({ type }) => type === "tool-finished").length
            const doubtful = before.filter(({ type }) => type === "tool-started").length - known
            inDoubt += doubtful
            const count0 = begun.length
            const result = yield* make(pool(), tools).run("What?", { runId: "r", journal: Journal.makeMemory(memory) })
            assert.strictEqual(result.ending, "answered")
            assert.strictEqual(begun.length - count0, 3 - known - (isRepeatable ? 0 : doubtful))
            // A handler runs only once its call is in the journal.
            assert.isAtMost(count0, known + doubtful)
            const events = yield* eventsIn(memory)
            if (isRepeatable || doubtful === 0) assert.deepStrictEqual(timeless(events), expected)
            else assert.match(JSON.stringify(events), /its result was lost\. It may have had its effect/)
          }
        }
      }
      assert.isAbove(inDoubt, 3)
    })
  )

  it.live("are waited for only where the journal knows of their calls", () =>
    Effect.gen(function* () {
      const tools = [Tool.make({ name: "sum", input: empty })]
      const full = new Journal.JournalError({ journal: "j", reason: { _tag: "Full" } })
      for (let count = 1; ; count++) {
        const process = Journal.makeMemory(Journal.memory())
        let writes = 0
        const append: Journal.Journal["append"] = (batch) =>
          ++writes > count ? Effect.fail(full) : process.append(batch)
        const pool = [clerk("a", ["sum"]).worker, clerk("b", ["sum"]).worker]
        const result = yield* make(pool, tools).run("What?", { runId: "r", journal: { ...process, append } })
        if (result.ending === "suspended") break
        assert.strictEqual(result.error, full)
        assert.deepStrictEqual(result.waitingFor, [])
      }
    })
  )

  it.live("that others run are listed with what they wait for, and given one after the other to other processes", () =>
    Effect.gen(function* () {
      const memory = Journal.memory()
      const [a, b] = [clerk("a", ["sum", "mean"]), clerk("b", ["sum"])]
      const tools = [Tool.make({ name: "sum", input: empty }), Tool.make({ name: "mean", input: empty })]
      const summary = Effect.map(Journal.makeMemory(memory).list(), (runs) => runs[0]!)
      const heard: Array<RunEvent> = []
      const going = (results: Conductor.Past["results"] = {}) =>
        make([a.worker, b.worker], tools).resume(
          { runId: "r", results },
          { journal: Journal.makeMemory(memory), listener: (event) => heard.push(event) }
        )
      const options = { runId: "r", journal: Journal.makeMemory(memory) }
      const suspended = yield* make([a.worker, b.worker], tools).run("What?", options)
      assert.strictEqual(suspended.ending, "suspended")
      assert.strictEqual(Journal.stateOf(yield* summary), "waiting")
      assert.deepStrictEqual((yield* summary).waitsFor, ["sum (0.0.0.0)", "mean (0.0.0.1)"])
      const partly = yield* going({ "0.0.0.0": "3" })
      assert.deepStrictEqual(
        partly.waitingFor.map(({ id }) => id),
        ["0.0.0.1"]
      )
      assert.deepStrictEqual((yield* summary).waitsFor, ["mean (0.0.0.1)"])
      // A resume without results changes nothing.
      yield* going()
      assert.deepStrictEqual((yield* summary).waitsFor, ["mean (0.0.0.1)"])
      const next = yield* going({ "0.0.0.1": "2" })
      assert.deepStrictEqual(
        next.waitingFor.map(({ id }) => id),
        ["0.1.0.0"]
      )
      assert.deepStrictEqual((yield* summary).waitsFor, ["sum (0.1.0.0)"])
      heard.length = 0
      const result = yield* going({ "0.1.0.0": "5" })
      assert.strictEqual(result.answer, "5")
      assert.strictEqual((yield* summary).waitsFor, undefined)
      assert.strictEqual(Journal.stateOf(yield* summary), "answered")
      assert.deepStrictEqual([a.asked.length, b.asked.length, result.spend.calls], [2, 2, 4])
      // A listener of the last segment receives the whole run.
      assert.deepStrictEqual(timeless(heard), timeless(yield* eventsIn(memory)))
      const again = yield* going({ "0.1.0.0": "5" })
      assert.strictEqual(again.answer, "5")
      const other = yield* going({ "0.1.0.0": "6" })
      assert.include(other.detail, 'Call "0.1.0.0" already has a different result.')
      assert.strictEqual(b.asked.length, 2)
    })
  )

  it.live("give the same run, whether it resumes from its journal or from its transcript", () =>
    Effect.gen(function* () {
      const tools = [...counting(true).tools, Tool.make({ name: "ask", input: empty })]
      const pool = () => [clerk("a", ["sum", "ask"]).worker, clerk("b", ["mean"]).worker]
      const memory = Journal.memory()
      const results = { "0.0.0.1": "yes" }
      const heard: Array<RunEvent> = []
      const listener = (event: RunEvent) => heard.push(event)
      yield* make(pool(), tools).run("What?", { runId: "r", journal: Journal.makeMemory(memory), listener })
      const transcript = Transcript.fromEvents(heard)!
      const journal = Journal.makeMemory(memory)
      const one = yield* make(pool(), tools).resume({ runId: "r", results }, { journal })
      heard.length = 0
      const two = yield* make(pool(), tools).resume({ transcript, results }, { listener })
      assert.strictEqual(one.answer, two.answer)
      assert.deepStrictEqual(one.spend, two.spend)
      assert.deepStrictEqual(timeless(heard), timeless(yield* eventsIn(memory)))
    })
  )
})

describe("a run that resumes from its transcript", () => {
  it.live("keeps what the calls cost that were stopped", () =>
    Effect.gen(function* () {
      const { worker } = clerk("a", [])
      let isSlow = true
      const slow: Worker = {
        ...worker,
        generate: (request) =>
          Stream.concat(
            Stream.fromEffectDrain(Effect.suspend(() => (isSlow ? Effect.never : Effect.void))),
            Stream.fromArray<WorkerPart>([
              { type: "text", text: `${request.messages.length}` },
              { type: "finish", reason: "stop", usage }
            ])
          )
      }
      const conductor = make([slow, slow.id === "a" ? { ...slow, id: "b" } : slow], [])
      const heard: Array<RunEvent> = []
      const running = yield* Effect.forkChild(
        conductor.run("What?", { listener: (event) => heard.push(event), runId: "r" })
      )
      while (!heard.some(({ type }) => type === "step-started")) yield* Effect.sleep(1)
      yield* Effect.sleep(1)
      yield* Fiber.interrupt(running)
      isSlow = false
      const result = yield* conductor.resume({ transcript: Transcript.fromEvents(heard)! })
      assert.strictEqual(result.ending, "answered")
      assert.deepStrictEqual([result.spend.calls, result.spend.costUsd], [3, 3])
    })
  )

  it.live("is stored whole by a journal that did not contain it", () =>
    Effect.gen(function* () {
      const tools = [Tool.make({ name: "ask", input: empty })]
      const pool = () => [clerk("a", ["ask"]).worker, clerk("b", ["ask"]).worker]
      const heard: Array<RunEvent> = []
      yield* make(pool(), tools).run("What?", { runId: "r", listener: (event) => heard.push(event) })
      const transcript = Transcript.fromEvents(heard)!
      const memory = Journal.memory()
      const results = { "0.0.0.0": "yes" }
      yield* make(pool(), tools).resume({ transcript, results }, { journal: Journal.makeMemory(memory) })
      const [a, b] = [clerk("a", ["ask"]), clerk("b", ["ask"])]
      const journal = Journal.makeMemory(memory)
      const result = yield* make([a.worker, b.worker], tools).resume(
        { runId: "r", results: { "0.1.0.0": "no" } },
        { journal }
      )
      assert.strictEqual(result.answer, "no")
      assert.deepStrictEqual([a.asked.length, b.asked.length, result.spend.calls], [0, 1, 4])
    })
  )

  it.live("of an unknown run fails with the reason", () =>
    Effect.gen(function* () {
      const result = yield* make([clerk("a", []).worker], []).resume({ runId: "x" }, { journal: Journal.makeMemory() })
      assert.strictEqual(result.ending, "failed")
      assert.match(result.detail!, /has no run x/)
    })
  )
})
