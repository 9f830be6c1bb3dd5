/** A tool reports how far it is: its reports are events of the run, bounded in rate and size, and nothing else. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { TestClock } from "effect/testing"
import * as Transcript from "../src/events/Transcript.ts"
import * as Wire from "../src/events/Wire.ts"
import * as ToolProgress from "../src/middleware/tools/ToolProgress.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import { conduct, memoryJournal, type RunEvent, single, tool, worker } from "../src/promise.ts"
import * as Conductor from "../src/run/Conductor.ts"
import type { ToolCallContext } from "../src/task/Tool.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const asking = worker({
  id: "a",
  capabilities: { tools: true },
  answer: ({ messages }) => {
    const last = messages.at(-1)!
    return last.role === "tool" ? String(last.content) : { toolCalls: [{ name: "t", arguments: {} }] }
  }
})

const input = { type: "object" } as const

const reports = (events: ReadonlyArray<RunEvent>) =>
  events.flatMap((event) => {
    if (event.type !== "tool-progress") return []
    const { message, progress, total } = event
    return [[progress, total, message]]
  })

type Progress = ToolCallContext["progress"]

const run = async (execute: (progress: Progress) => unknown, options: object = {}) => {
  const events: Array<RunEvent> = []
  const result = await conduct({
    question: "?",
    pool: [asking],
    policy: single(0),
    tools: [tool({ name: "t", input, execute: (_, { progress }) => execute(progress) })],
    onEvent: (event) => void events.push(event),
    ...options
  })
  return { result, events }
}

const hostile = {
  get message(): string {
    throw new Error("no message")
  }
}

describe("the progress of a tool", () => {
  it("is an event of the run, as text or as numbers", async () => {
    for (const [update, report] of [
      ["reading", [undefined, undefined, "reading"]],
      [{ progress: 1, total: 4, message: "page 1" }, [1, 4, "page 1"]],
      [{ progress: 0.5 }, [0.5, undefined, undefined]],
      [{ message: "a\u001b[31mb\n" }, [undefined, undefined, "a [31mb"]],
      ["x".repeat(1e7), [undefined, undefined, "x".repeat(500)]],
      [{ progress: 1, total: Number.NaN, message: 7 }, [1, undefined, undefined]]
    ] as const) {
      const { events, result } = await run((progress) => {
        progress(update as string)
        return "done"
      })
      assert.deepStrictEqual([result.answer, reports(events)], ["done", [report]])
      const progress = events.find(({ type }) => type === "tool-progress")!
      assert.strictEqual(events[events.indexOf(progress) - 1]?.type, "tool-started")
      assert.deepStrictEqual(Result.getOrThrow(Wire.decodeRunEvent(Wire.encodeRunEvent(progress))), progress)
    }
  })

  it("is dropped where it says nothing, and fails no tool", async () => {
    for (const update of [
      undefined,
      null,
      "",
      " ",
      7,
      {},
      { total: 3 },
      hostile,
      { progress: Number.NaN },
      () => "x"
    ]) {
      const { events, result } = await run((progress) => {
        progress(update as string)
        return "done"
      })
      assert.deepStrictEqual([result.answer, reports(events)], ["done", []])
    }
  })

  it("is in no journal and in no transcript of a run that has ended", async () => {
    const journal = memoryJournal()
    const { events, result } = await run((progress) => progress("reading"), { journal, runId: "one" })
    assert.lengthOf(reports(events), 1)
    const entries = await Effect.runPromise(journal.read("one"))
    assert.notInclude(JSON.stringify(entries), "reading")
    assert.notInclude(JSON.stringify(result.transcript), "reading")
    const recorder = Transcript.recorder()
    const until = events.findIndex(({ type }) => type === "tool-progress")
    for (const event of events.slice(0, until + 1)) recorder.listener(event)
    const [called] = recorder.transcript()!.rounds[0]!.steps[0]!.turns![0]!.tools
    assert.deepStrictEqual(called!.progress, { message: "reading" })
    const controller = new AbortController()
    const stopped = await run(
      (progress) => {
        progress("reading")
        controller.abort()
        return new Promise(() => {})
      },
      { signal: controller.signal }
    )
    assert.strictEqual(stopped.result.ending, "interrupted")
    assert.notInclude(JSON.stringify(stopped.result.transcript), "reading")
  })

  it.effect("is emitted once in 100 ms, the latest when the tool ends, and none afterwards", () =>
    Effect.gen(function* () {
      const events: Array<RunEvent> = []
      const going = yield* Deferred.make<void>()
      let late: Progress = () => {}
      const counting = {
        name: "t",
        input,
        execute: (_: unknown, { progress }: ToolCallContext) =>
          Effect.gen(function* () {
            late = progress
            for (let count = 0; count < 10_000; count++) progress({ progress: count })
            yield* Deferred.succeed(going, undefined)
            yield* Effect.sleep(100)
            for (let count = 10_000; count < 20_000; count++) progress({ progress: count })
            return "done"
          })
      }
      const conductor = Conductor.make({
        pool: WorkerPool.makeUnsafe([asking]),
        policy: Baselines.single(0),
        tools: [counting]
      })
      const fiber = yield* Effect.forkChild(conductor.run("?", { listener: (event) => void events.push(event) }))
      yield* Deferred.await(going)
      yield* TestClock.adjust(100)
      assert.strictEqual((yield* Fiber.join(fiber)).answer, "done")
      late("too late")
      assert.deepStrictEqual(
        reports(events).map(([progress]) => progress),
        [0, 10_000, 19_999]
      )
    })
  )

  it.effect("is emitted at most 1,000 times for one call", () =>
    Effect.gen(function* () {
      let nanos = 0n
      const clock = { ...(yield* Clock.Clock), monotonicTimeNanosUnsafe: () => nanos }
      let emitted = 0
      const progress = ToolProgress.make(clock, () => {
        emitted += 1
      })
      for (let count = 0; count < 5_000; count++) {
        nanos += 1_000_000_000n
        progress.report({ progress: count })
      }
      progress.end()
      assert.strictEqual(emitted, 1_000)
    })
  )
})
