import { assert, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { TestClock } from "effect/testing"
import type { RunEvent } from "../src/events/RunEvent.ts"
import { loadAll } from "../src/OnDemand.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import * as Policy from "../src/policy/Policy.ts"
import * as Promises from "../src/promise.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as Task from "../src/task/Task.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import * as Telemetry from "../src/telemetry/Telemetry.ts"

// A virtual clock does not wait until modules are loaded on demand.
beforeAll(loadAll)

const collector = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const named = (name: string) => {
    const span = spans.find((span) => span.name === name)
    assert.isDefined(span, `no span is called ${name}`)
    return span!
  }
  return { tracer, spans, named }
}

const parentOf = (span: Tracer.Span) => Option.getOrUndefined(span.parent)
const attributesOf = (span: Tracer.Span) => Object.fromEntries(span.attributes)

/** How a span ended: well, with an error, interrupted; or that it has not. */
const endOf = (span: Tracer.Span) => {
  if (span.status._tag === "Started") return "open"
  const { endTime, exit, startTime } = span.status
  assert.isTrue(endTime >= startTime)
  return exit._tag === "Success" ? "well" : exit.cause.reasons.map((reason) => reason._tag).join()
}

const plan = Policy.fixed("two steps", () => ({
  steps: [
    { worker: 0, subtask: "First.", access: [] },
    { worker: 1, subtask: "Then.", access: "all" }
  ]
}))

const pricing = { inputPerMillion: 1_000_000, outputPerMillion: 1_000_000 }

describe("recorder", () => {
  it.effect("makes a span of each run, round and step, one in the other", () =>
    Effect.gen(function* () {
      const { named, spans, tracer } = collector()
      const pool = WorkerPool.makeUnsafe([
        ScriptedWorker.make({ id: "a", replies: ["one two"], pricing, latencyMillis: 50 }),
        ScriptedWorker.make({ id: "b", replies: ["three"], latencyMillis: 70 })
      ])
      const recorder = Telemetry.recorder(tracer, { provider: (worker) => (worker === "a" ? "openai" : undefined) })
      const conductor = Conductor.make({ policy: plan, pool })
      const fiber = yield* Effect.forkChild(
        conductor.run("Why?", { runId: "run-1", seed: 3, listener: recorder.listener }),
        { startImmediately: true }
      )
      expect(recorder.open()).toBe(4)
      yield* TestClock.adjust(120)
      yield* Fiber.join(fiber)

      expect(spans.map((span) => [span.name, endOf(span)])).toEqual([
        ["invoke_workflow two steps", "well"],
        ["round 0", "well"],
        ["invoke_agent a", "well"],
        ["chat a", "well"],
        ["invoke_agent b", "well"],
        ["chat b", "well"]
      ])
      const [run, round, stepA, first, stepB, second] = spans
      expect(parentOf(run!)).toBeUndefined()
      expect([parentOf(round!), parentOf(stepA!), parentOf(stepB!)]).toEqual([run, round, round])
      expect([parentOf(first!), parentOf(second!)]).toEqual([stepA, stepB])
      expect(attributesOf(stepA!)).toMatchObject({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a" })
      expect(attributesOf(stepA!)).not.toHaveProperty("gen_ai.usage.output_tokens")
      expect(attributesOf(run!)).toMatchObject({
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": "two steps",
        "divisi.run.id": "run-1",
        "divisi.ending": "answered",
        "divisi.spend.calls": 2
      })
      expect(first!.kind).toBe("client")
      expect(attributesOf(first!)).toMatchObject({
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "a",
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.response.finish_reasons": ["stop"],
        "divisi.cached": false
      })
      const { "gen_ai.usage.input_tokens": inputTokens, "divisi.cost_usd": costUsd } = attributesOf(first!)
      expect(costUsd).toBe(Number(inputTokens) + 2)
      expect(attributesOf(second!)).not.toHaveProperty("gen_ai.provider.name")
      expect(second!.status).toMatchObject({ startTime: 50_000_000n, endTime: 120_000_000n })
      expect(named("round 0").status).toMatchObject({ startTime: 0n, endTime: 120_000_000n })
      expect(recorder.open()).toBe(0)
    })
  )

  it.effect("tells nothing of what people and models wrote unless asked to", () =>
    Effect.gen(function* () {
      const secrets = ["What is the secret?", "First.", "Then.", "the secret answer"]
      const told = Effect.fnUntraced(function* (content: boolean) {
        const { spans, tracer } = collector()
        const pool = WorkerPool.makeUnsafe([
          ScriptedWorker.make({ id: "a", replies: [{ fail: { _tag: "Quota", detail: "the secret answer" } }] }),
          ScriptedWorker.make({ id: "b", replies: ["the secret answer"] })
        ])
        const conductor = Conductor.make({ policy: plan, pool })
        yield* conductor.run(secrets[0]!, { listener: Telemetry.recorder(tracer, { content }).listener })
        return JSON.stringify(
          spans.map(({ attributes, events, name, status }) => [
            name,
            [...attributes],
            events.map(([name, _, attributes]) => [name, attributes]),
            status._tag === "Ended" && status.exit
          ])
        )
      })
      const silent = yield* told(false)
      for (const secret of secrets) expect(silent).not.toContain(secret)
      const open = yield* told(true)
      for (const secret of secrets) expect(open).toContain(secret)
    })
  )

  it.effect("ends spans as what they stand for ended", () =>
    Effect.gen(function* () {
      const { named, spans, tracer } = collector()
      const recorder = Telemetry.recorder(tracer)
      const pool = WorkerPool.makeUnsafe([
        ScriptedWorker.make({ id: "a", replies: [{ fail: { _tag: "Overloaded" } }, { fail: { _tag: "Quota" } }] }),
        ScriptedWorker.make({ id: "b", replies: [{ hang: true }] })
      ])
      const conductor = Conductor.make({ policy: plan, pool, reassign: "never" })
      const fiber = yield* Effect.forkChild(conductor.run("Why?", { listener: recorder.listener }))
      yield* TestClock.adjust("10 seconds")
      expect(recorder.open()).toBe(4)
      yield* Fiber.interrupt(fiber)
      expect(spans.map((span) => [span.name, endOf(span)])).toEqual([
        ["invoke_workflow two steps", "Interrupt"],
        ["round 0", "Interrupt"],
        ["invoke_agent a", "Fail"],
        ["chat a", "Fail"],
        ["chat a", "Fail"],
        ["invoke_agent b", "Interrupt"],
        ["chat b", "Interrupt"]
      ])
      expect(attributesOf(named("invoke_agent a"))).toMatchObject({ "error.type": "Quota" })
      const failed = spans.filter(({ name }) => name === "chat a")
      expect(failed.map((span) => attributesOf(span)["error.type"])).toEqual(["Overloaded", "Quota"])
      expect(attributesOf(named("invoke_workflow two steps"))).toMatchObject({ "divisi.ending": "interrupted" })
      expect(recorder.open()).toBe(0)
    })
  )

  it.effect("marks a run that failed or ran out of budget", () =>
    Effect.gen(function* () {
      const pool = WorkerPool.makeUnsafe([
        ScriptedWorker.make({ id: "a", replies: [{ fail: { _tag: "Quota" } }] }),
        ScriptedWorker.make({ id: "b", replies: [{ fail: { _tag: "Quota" } }] })
      ])
      for (const [budget, ending] of [
        [{}, "failed"],
        [{ calls: 1 }, "budget"]
      ] as const) {
        const { spans, tracer } = collector()
        const recorder = Telemetry.recorder(tracer)
        yield* Conductor.make({ policy: plan, pool, budget }).run("Why?", { listener: recorder.listener })
        expect(endOf(spans[0]!)).toBe("Fail")
        expect(attributesOf(spans[0]!)).toMatchObject({ "error.type": ending, "divisi.ending": ending })
        expect(recorder.open()).toBe(0)
      }
    })
  )

  it("spans completions from where the policy began to write them, and says which could not be read", () => {
    const { spans, tracer } = collector()
    const { listener } = Telemetry.recorder(tracer)
    const base = { runId: "r" }
    const usage = { inputTokens: 9, outputTokens: 5, cachedInputTokens: 4, reasoningTokens: 2 }
    const completion = { type: "completion-finished", round: 0, cached: false, usage, costUsd: undefined } as const
    const events: ReadonlyArray<RunEvent> = [
      {
        ...base,
        type: "run-started",
        at: 10,
        version: 1,
        task: { id: "t", messages: [{ role: "user", content: "Why?" }] },
        pool: [{ id: "a" }],
        policy: "p",
        seed: 0
      },
      { ...base, type: "round-started", at: 20, round: 0 },
      { ...base, ...completion, at: 30, attempt: 0, completion: "nonsense", error: "no lists" },
      { ...base, ...completion, at: 45, attempt: 1, completion: "lists" }
    ]
    for (const event of events) listener(event)
    const planned: RunEvent = {
      ...base,
      type: "workflow-proposed",
      at: 50,
      round: 0,
      policy: "p",
      workflow: { steps: [] },
      notes: [],
      durationMillis: 30
    }
    const [, round, plan, first, second] = spans
    expect([first!.name, endOf(first!), second!.name, endOf(second!)]).toEqual(["chat", "Fail", "chat", "well"])
    expect([parentOf(plan!), parentOf(first!), parentOf(second!)]).toEqual([round, plan, plan])
    expect([plan!.name, plan!.kind, first!.kind, endOf(plan!)]).toEqual(["plan p", "internal", "client", "open"])
    listener(planned)
    expect(plan!.status).toMatchObject({ startTime: 20_000_000n, endTime: 50_000_000n })
    expect(attributesOf(plan!)).toEqual({ "gen_ai.operation.name": "plan", "gen_ai.agent.name": "p" })
    expect(first!.status).toMatchObject({ startTime: 20_000_000n, endTime: 30_000_000n })
    expect(second!.status).toMatchObject({ startTime: 30_000_000n, endTime: 45_000_000n })
    expect(attributesOf(second!)).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.usage.input_tokens": 9,
      "gen_ai.usage.output_tokens": 5,
      "gen_ai.usage.cache_read.input_tokens": 4,
      "gen_ai.usage.reasoning.output_tokens": 2,
      "divisi.attempt": 1,
      "divisi.cached": false
    })
  })

  it("has no call for an answer of the caller, and names the origin of a reused one", () => {
    const { named, spans, tracer } = collector()
    const { listener } = Telemetry.recorder(tracer)
    const base = { runId: "r", round: 0 }
    const answer = { answer: "42", finishReason: "stop", durationMillis: 0, cached: false } as const
    const paid = { usage: { inputTokens: 0, outputTokens: 0 }, costUsd: 0 }
    const run = { runId: "r", at: 10, version: 1, task: Task.make("Why?"), pool: [{ id: "a" }], policy: "p", seed: 0 }
    const events: ReadonlyArray<RunEvent> = [
      { type: "run-started", ...run, version: 1 },
      { ...base, type: "round-started", at: 20 },
      { ...base, type: "step-started", at: 21, step: 0, worker: "a" },
      { ...base, type: "step-finished", at: 22, step: 0, worker: "a", ...answer, ...paid, origin: "caller" },
      { ...base, type: "step-started", at: 23, step: 1, worker: "b" },
      { ...base, type: "step-finished", at: 24, step: 1, worker: "b", ...answer, ...paid, origin: "forked-run" }
    ]
    for (const event of events) listener(event)
    expect(spans.map(({ name }) => name)).not.toContain("chat a")
    expect(attributesOf(named("chat b"))).toMatchObject({ "divisi.cached": false, "divisi.origin": "forked-run" })
    expect(attributesOf(named("chat b"))).not.toHaveProperty("divisi.cost_usd")
    expect(attributesOf(named("invoke_agent a"))).toMatchObject({ "divisi.origin": "caller" })
  })

  it("names the call of a tool, and its arguments only with content", () => {
    for (const content of [false, true]) {
      const { named, tracer } = collector()
      const { listener } = Telemetry.recorder(tracer, { content, provider: () => "openai" })
      const base = { runId: "r", round: 0 }
      const step = { step: 0, turn: 0, worker: "a" }
      const used = { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 0, durationMillis: 1, cached: false }
      const toolCalls = [{ id: "call-1", name: "look", arguments: '{"at":1}' }]
      const place = { step: 0, turn: 0, index: 0, name: "look" }
      const task = Task.make({ id: "t", question: "Why?" })
      const pool = [{ id: "a" }]
      const events: ReadonlyArray<RunEvent> = [
        { type: "run-started", runId: "r", at: 10, version: 1, task, pool, policy: "p", seed: 0 },
        { ...base, type: "round-started", at: 20 },
        { ...base, type: "step-started", at: 21, step: 0, worker: "a" },
        { ...base, type: "turn-finished", at: 22, ...step, text: "", toolCalls, ...used },
        { ...base, type: "tool-started", at: 23, ...place },
        { ...base, type: "tool-finished", at: 24, ...place, content: "seen", isError: false, durationMillis: 1 }
      ]
      for (const event of events) listener(event)
      expect(attributesOf(named("execute_tool look"))).toEqual({
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call-1",
        ...(content ? { "gen_ai.tool.call.arguments": '{"at":1}', "gen_ai.tool.call.result": "seen" } : {})
      })
      expect(attributesOf(named("invoke_agent a"))["gen_ai.provider.name"]).toBe("openai")
    }
  })

  it.effect("hangs a nested run under its step", () =>
    Effect.gen(function* () {
      const { named, spans, tracer } = collector()
      const recorder = Telemetry.recorder(tracer)
      const policy = Policy.fixed("self", (pool) => ({
        steps: [{ worker: WorkerPool.size(pool), subtask: "Do it.", access: [] }]
      }))
      const outerThenInner: Policy.Policy = {
        name: "outer",
        propose: (context) => (context.self ? policy.propose(context) : Baselines.single(0).propose(context))
      }
      const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["done"] })])
      const conductor = Conductor.make({ policy: outerThenInner, pool, self: { maxDepth: 1 } })
      yield* conductor.run("Why?", { runId: "r", listener: recorder.listener })
      const runs = spans.filter((span) => span.name === "invoke_workflow outer")
      expect(runs.length).toBe(2)
      const step = spans.find((span) => span.attributes.get("divisi.step") === 0)!
      expect(parentOf(runs[1]!)).toBe(step)
      expect(endOf(named("chat a"))).toBe("well")
      expect(recorder.open()).toBe(0)
    })
  )

  it.effect("keeps apart what runs at once, and keeps nothing after the end", () =>
    Effect.gen(function* () {
      const { spans, tracer } = collector()
      const recorder = Telemetry.recorder(tracer)
      const pool = WorkerPool.makeUnsafe(
        ["a", "b"].map((id) => ScriptedWorker.make({ id, replies: ["x"], latencyMillis: 10 }))
      )
      const conductor = Conductor.make({ policy: plan, pool })
      const run = (index: number) =>
        Effect.delay(conductor.run("Why?", { runId: `run-${index}`, listener: recorder.listener }), index % 7)
      const fiber = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: 200 }, (_, index) => index),
          run,
          { concurrency: "unbounded" }
        )
      )
      yield* TestClock.adjust(8)
      expect(recorder.open()).toBe(800)
      yield* TestClock.adjust(100)
      yield* Fiber.join(fiber)
      expect(recorder.open()).toBe(0)
      expect(spans.length).toBe(1_200)
      expect(spans.every((span) => endOf(span) === "well")).toBe(true)
      const roundsOf = new Set(spans.filter((span) => span.name === "round 0").map(parentOf))
      expect(roundsOf.size).toBe(200)
    })
  )

  it.each([
    [100, 100, 0],
    [101, 0, 101]
  ])("of a map of %i items makes %i spans and %i events", async (count, spansOfItems, eventsOfItems) => {
    const { named, spans, tracer } = collector()
    const list = JSON.stringify(Array.from({ length: count }, (_, item) => `file ${item}`))
    const worker = Promises.worker({
      id: "a",
      answer: ({ messages }) => (messages.some(({ content }) => String(content).includes("List.")) ? list : "fine")
    })
    const policy = Promises.policy("map", () => ({
      steps: [
        { worker: 0, subtask: "List.", access: [], gives: { list: 200 } },
        { worker: 0, subtask: "Review {item}.", access: [], each: 0 },
        { worker: 0, subtask: "Sum up.", access: [1] }
      ]
    }))
    await Promises.conduct({ question: "?", pool: [worker], policy, telemetry: Telemetry.recorder(tracer) })
    const items = spans.filter((span) => attributesOf(span)["divisi.item"] !== undefined)
    expect(items.filter(({ name }) => name.startsWith("invoke_agent"))).toHaveLength(spansOfItems)
    expect(named("round 0").events.filter(([name]) => name === "item_finished")).toHaveLength(eventsOfItems)
    // The run, its round, two steps with their calls, the items, and a call for each item.
    expect(spans).toHaveLength(2 + 4 + spansOfItems + count)
  })

  it("ignores runs whose start it has not received", () => {
    const { spans, tracer } = collector()
    const recorder = Telemetry.recorder(tracer)
    recorder.listener({ type: "round-started", runId: "r", at: 0, round: 0 })
    recorder.listener({ type: "step-started", runId: "r", at: 0, round: 0, step: 0, worker: "a" })
    expect([spans.length, recorder.open()]).toEqual([0, 0])
  })
})

describe("listener", () => {
  const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["x"] })])
  const run = Effect.gen(function* () {
    const listener = yield* Telemetry.listener()
    yield* Conductor.make({ policy: Baselines.single(0), pool }).run("Why?", { listener })
  })

  it.effect("uses the current tracer and the current span", () =>
    Effect.gen(function* () {
      const { spans, tracer } = collector()
      yield* run.pipe(Effect.withSpan("request"), Effect.withTracer(tracer))
      const request = spans.find((span) => span.name === "request")!
      const workflow = spans.find((span) => span.name.startsWith("invoke_workflow"))!
      expect(parentOf(workflow)).toBe(request)
      expect(workflow.traceId).toBe(request.traceId)
    })
  )

  it.effect("makes nothing where tracing is off", () =>
    Effect.gen(function* () {
      const { spans, tracer } = collector()
      yield* run.pipe(Effect.withTracer(tracer), Effect.provideService(References.TracerEnabled, false))
      expect(spans).toEqual([])
    })
  )
})
