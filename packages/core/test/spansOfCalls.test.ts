/**
 * Spans of calls by OpenTelemetry's own API, with a context manager over AsyncLocalStorage as its SDK has it: sums, parents
 * of spans that user code makes, resumed legs, retries, failures, cached answers, steps at once and nested runs.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import * as api from "@opentelemetry/api"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Baselines from "../src/policy/Baselines.ts"
import type { ConductOptions } from "../src/promise.ts"
import {
  conduct,
  memoryCache,
  memoryJournal,
  openTelemetry,
  policy,
  resume,
  single,
  tool,
  worker
} from "../src/promise.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import * as Telemetry from "../src/telemetry/Telemetry.ts"

interface Recorded {
  readonly id: string
  readonly name: string
  readonly parent: string | undefined
  readonly attributes: Record<string, unknown>
  isEnded: boolean
  isError: boolean
}

const spans: Array<Recorded> = []

const startSpan = (name: string, _: api.SpanOptions = {}, context = api.context.active()): api.Span => {
  const id = `${spans.length + 1}`.padStart(16, "0")
  const parent = api.trace.getSpan(context)?.spanContext().spanId
  const span: Recorded = { id, name, parent, attributes: {}, isEnded: false, isError: false }
  spans.push(span)
  const made = {
    spanContext: () => ({ spanId: id, traceId: "1".repeat(32), traceFlags: 1 }),
    setAttribute: (key: string, value: unknown) => {
      span.attributes[key] = value
      return made
    },
    addEvent: () => made,
    setStatus: () => {
      span.isError = true
      return made
    },
    end: () => {
      span.isEnded = true
    }
  }
  return made as unknown as api.Span
}

const storage = new AsyncLocalStorage<api.Context>()

const manager: api.ContextManager = {
  active: () => storage.getStore() ?? api.ROOT_CONTEXT,
  with: (context, run, self, ...rest) => storage.run(context, () => run.call(self as never, ...rest)),
  bind: (_, target) => target,
  enable: () => manager,
  disable: () => manager
}

beforeAll(() => {
  api.context.setGlobalContextManager(manager)
  api.trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as unknown as api.Tracer })
})
afterAll(() => {
  api.context.disable()
  api.trace.disable()
})

/** Typical user code: makes a span of its own, also after an await. */
const mine = async (name: string) => {
  startSpan(`${name} at once`).end()
  await new Promise((resolve) => setImmediate(resolve))
  startSpan(`${name} later`).end()
}

/** Runs with a recorder of its own; gives the spans of the run. */
const traced = async <A>(run: (telemetry: Telemetry.SpanRecorder) => Promise<A>) => {
  const first = spans.length
  const telemetry = openTelemetry(api)
  const result = await run(telemetry)
  const all = spans.slice(first)
  assert.strictEqual(telemetry.open(), 0)
  for (const span of all) assert.isTrue(span.isEnded, span.name)
  const nameOf = (id: string | undefined) => all.find((span) => span.id === id)?.name
  const sum = (key: string) => all.reduce((sum, { attributes }) => sum + Number(attributes[key] ?? 0), 0)
  const named = (name: string) => all.filter((span) => span.name === name)
  return { result, all, nameOf, sum, named, parentOf: (name: string) => nameOf(named(name)[0]?.parent) }
}

const input = "gen_ai.usage.input_tokens"
const cost = "divisi.cost_usd"
const pricing = { inputPerMillion: 1, outputPerMillion: 1 }
const usage = { inputTokens: 1_000, outputTokens: 10 }

const askTool = (id: string) => ({ id, name: "look", arguments: {} })

/** A worker that asks for a tool so many times before it answers: each call reads 1,000 tokens. */
const clerk = (turns: number) =>
  worker({
    id: "clerk",
    pricing,
    capabilities: { tools: true },
    answer: ({ messages }) => {
      const turn = messages.filter(({ role }) => role === "tool").length
      return turn < turns ? { toolCalls: [askTool(`${turn}`)], usage } : { text: "done", usage }
    }
  })

const look = tool({ name: "look", input: { type: "object" }, execute: () => "seen" })

/** A tracer of Effect's own, and the spans that it made. */
const nativeTracer = () => {
  const seen: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (asked) => {
      const span = new Tracer.NativeSpan(asked)
      seen.push(span)
      return span
    }
  })
  return { seen, tracer }
}

describe("spans of calls", () => {
  it("have their own usage and cost, which sum up to that of the run, by both APIs", async () => {
    const pool = [clerk(4)]
    const options = { question: "What?", pool, policy: single(0), tools: [look] }
    const { all, named, nameOf, result, sum } = await traced((telemetry) => conduct({ ...options, telemetry }))
    assert.deepStrictEqual([result.ending, result.spend.calls], ["answered", 5])
    assert.deepStrictEqual(
      named("chat clerk").map(({ attributes }) => attributes[input]),
      [1_000, 1_000, 1_000, 1_000, 1_000]
    )
    assert.deepStrictEqual([sum(input), sum("gen_ai.usage.output_tokens")], [5_000, 50])
    assert.closeTo(sum(cost), result.spend.costUsd, 1e-12)
    assert.lengthOf(named("execute_tool look"), 4)
    for (const { name, parent } of all) {
      if (/^chat|^execute_tool/.test(name)) assert.strictEqual(nameOf(parent), "invoke_agent clerk")
    }

    const { seen, tracer } = nativeTracer()
    const conductor = Conductor.make({ pool: WorkerPool.makeUnsafe(pool), policy: single(0), tools: [look] })
    const program = Effect.flatMap(Telemetry.listener(), (listener) => conductor.run("What?", { listener }))
    await Effect.runPromise(Effect.withTracer(program, tracer))
    assert.strictEqual(
      seen.reduce((total, { attributes }) => total + Number(attributes.get(input) ?? 0), 0),
      5_000
    )
  })

  it("that a resumed leg takes from its record are marked and free, from a transcript and from a journal", async () => {
    const given = tool({ name: "look", input: { type: "object" } })
    for (const journal of [undefined, memoryJournal()]) {
      const options: Omit<ConductOptions, "question"> = { pool: [clerk(3)], policy: single(0), tools: [given], journal }
      const legs = [await traced((telemetry) => conduct({ ...options, question: "What?", runId: "r", telemetry }))]
      for (let { result } = legs[0]!; result.ending === "suspended"; ) {
        const { transcript, waitingFor } = result
        const from = journal === undefined ? { transcript } : { runId: "r" }
        const results = { [waitingFor[0]!.id]: "seen" }
        const leg = await traced((telemetry) => resume({ ...options, ...from, results, telemetry } as never))
        legs.push(leg)
        result = leg.result
      }
      assert.lengthOf(legs, 4)
      for (const [at, { named, sum }] of legs.entries()) {
        assert.strictEqual(sum(input), 1_000, `leg ${at}`)
        const isReplayed = ({ attributes }: Recorded) => attributes["divisi.replayed"] === true
        assert.lengthOf(named("chat clerk").filter(isReplayed), at)
        assert.isTrue(named("execute_tool look").every(isReplayed))
        for (const span of named("chat clerk").filter(isReplayed)) assert.notProperty(span.attributes, cost)
      }
      const paid = legs.reduce((total, { sum }) => total + sum(cost), 0)
      assert.closeTo(paid, legs.at(-1)!.result.spend.costUsd, 1e-12)
    }
  })

  it("are those of each attempt where calls are retried, fail and are handed over", async () => {
    const retry = { maxAttempts: 2, baseDelayMillis: 0, maxDelayMillis: 0 }
    const failing = ScriptedWorker.make({ id: "failing", replies: [{ fail: { _tag: "Overloaded" } }] })
    const options = {
      question: "What?",
      pool: [failing, clerk(0)],
      policy: single(0),
      retry,
      reassign: "next"
    } as const
    const { named, sum } = await traced((telemetry) => conduct({ ...options, telemetry }))
    const attempts = named("chat failing")
    assert.deepStrictEqual(
      attempts.map(({ attributes, isError }) => [attributes["error.type"], isError]),
      [
        ["Overloaded", true],
        ["Overloaded", true]
      ]
    )
    assert.lengthOf(named("chat clerk"), 1)
    assert.strictEqual(sum(input), 1_000)
  })

  it("of cached answers are marked and free", async () => {
    const cache = memoryCache({ maxEntries: 10 })
    const shared = { question: "What?", pool: [clerk(0)], policy: single(0), cache }
    const run = () => traced((telemetry) => conduct({ ...shared, telemetry, worker: { temperature: 0 }, seed: 1 }))
    const [first, second] = [await run(), await run()]
    assert.deepStrictEqual([first.sum(input), second.sum(input), second.sum(cost)], [1_000, 0, 0])
    assert.deepStrictEqual(
      second.named("chat clerk").map(({ attributes }) => [attributes["divisi.cached"], attributes["divisi.replayed"]]),
      [[true, undefined]]
    )
  })
})

describe("spans that user code makes", () => {
  it("are children of the span of the part that runs it: workers, tools, policies, checks, approvals, listeners", async () => {
    const writer = worker({
      id: "writer",
      capabilities: { tools: true },
      answer: async ({ messages }) => {
        await mine("worker")
        return messages.some(({ role }) => role === "tool") ? "done" : { toolCalls: [askTool("0")] }
      }
    })
    const looking = tool({
      name: "look",
      input: { type: "object" },
      needsApproval: true,
      execute: async () => {
        await mine("tool")
        return "seen"
      }
    })
    const planning = policy(
      "planning",
      async () => {
        await mine("policy")
        return {
          steps: [{ worker: 0, subtask: "", access: [], check: { by: "good", onFailure: "continue" as const } }]
        }
      },
      {
        checks: {
          good: async () => {
            await mine("check")
            return true
          }
        }
      }
    )
    const { parentOf, result } = await traced((telemetry) =>
      conduct({
        question: "What?",
        pool: [writer],
        policy: planning,
        tools: [looking],
        telemetry,
        approve: async () => {
          await mine("approval")
          return true
        },
        onEvent: ({ type }) => void (type === "tool-finished" && startSpan("listener").end())
      })
    )
    assert.strictEqual(result.ending, "answered")
    const parents = {
      "worker at once": "chat writer",
      "worker later": "chat writer",
      "tool at once": "execute_tool look",
      "tool later": "execute_tool look",
      "policy at once": "round 0",
      "policy later": "round 0",
      "check at once": "invoke_agent writer",
      "check later": "invoke_agent writer",
      "approval at once": "invoke_agent writer",
      "approval later": "invoke_agent writer",
      listener: "invoke_agent writer"
    }
    for (const [name, parent] of Object.entries(parents)) assert.strictEqual(parentOf(name), parent, name)
  })

  it("do not mix where steps run at once, and are those of nested runs in these", async () => {
    const pool = ["a", "b"].map((id) =>
      worker({
        id,
        answer: async () => {
          await mine(id)
          return id
        }
      })
    )
    let depth = 0
    const both = policy("both", ({ pool, self }) => ({
      steps:
        self && depth++ === 0
          ? [{ worker: pool.workers.length, subtask: "", access: [] }]
          : [
              { worker: 0, subtask: "", access: [] },
              { worker: 1, subtask: "", access: [] }
            ],
      answer: "majority" as const
    }))
    const { named, nameOf } = await traced((telemetry) =>
      conduct({ question: "What?", pool, policy: both, self: { maxDepth: 1 }, telemetry })
    )
    for (const id of ["a", "b"]) {
      for (const name of [`${id} at once`, `${id} later`]) {
        assert.deepStrictEqual(
          named(name).map(({ parent }) => nameOf(parent)),
          [`chat ${id}`]
        )
      }
    }
    const [outer, inner] = named("invoke_workflow both")
    assert.isUndefined(nameOf(outer?.parent))
    assert.match(nameOf(inner?.parent) ?? "", /^invoke_agent/)
  })

  it("are one of each item of a map, in its own context, with attributes of bounded length", async () => {
    const items = Array.from({ length: 200 }, (_, at) => `item ${at} ${"x".repeat(2_000)}`)
    const mapper = worker({
      id: "mapper",
      pricing,
      capabilities: { jsonSchema: true },
      answer: async ({ messages }) => {
        const asked = String(messages.at(-1)?.content)
        if (asked.endsWith("List.")) return { text: JSON.stringify(items), usage }
        await mine(/item \d+/.exec(asked)?.[0] ?? "the sum")
        return { text: asked, usage }
      }
    })
    const steps = [
      { worker: 0, subtask: "List.", access: [], gives: { list: items.length } },
      { worker: 0, subtask: "Read {item}.", access: [], each: 0 },
      { worker: 0, subtask: "Sum up.", access: [1] }
    ]
    const { all, named, result, sum } = await traced((telemetry) =>
      conduct({ question: "What?", pool: [mapper], policy: policy("map", () => ({ steps })), telemetry })
    )
    assert.strictEqual(result.ending, "answered")
    const calls = named("chat mapper")
    assert.deepStrictEqual([calls.length, sum(input)], [items.length + 2, 1_000 * (items.length + 2)])
    const parents = [...items.keys()].map((at) => {
      const [atOnce, later] = [named(`item ${at} at once`), named(`item ${at} later`)]
      assert.deepStrictEqual([atOnce.length, later.length], [1, 1])
      assert.strictEqual(atOnce[0]!.parent, later[0]!.parent)
      return atOnce[0]!.parent
    })
    assert.strictEqual(new Set(parents).size, items.length, "a span of its own for each item")
    assert.isTrue(parents.every((parent) => calls.some(({ id }) => id === parent)))
    for (const { attributes, name } of all) {
      for (const [key, value] of Object.entries(attributes))
        assert.isAtMost(String(value).length, 1_000, `${name} ${key}`)
    }
  })

  it("are children of the caller's span, and of ours in Effect's tracer", async () => {
    const outer = startSpan("request")
    await api.context.with(api.trace.setSpan(api.context.active(), outer), async () => {
      const { all } = await traced((telemetry) =>
        conduct({ question: "What?", pool: [clerk(0)], policy: single(0), telemetry })
      )
      assert.strictEqual(all[0]?.parent, outer.spanContext().spanId)
    })

    const { seen, tracer } = nativeTracer()
    const scripted = ScriptedWorker.make({ id: "a", replies: ["42"] })
    const generate = (request: Parameters<typeof scripted.generate>[0]) =>
      Effect.withSpan(
        Effect.sync(() => [
          { type: "text" as const, text: `${request.messages.length}` },
          { type: "finish" as const, reason: "stop" as const, usage }
        ]),
        "mine"
      )
    const pool = WorkerPool.makeUnsafe([{ ...scripted, generate }])
    const conductor = Conductor.make({ pool, policy: Baselines.single(0) })
    const program = Effect.flatMap(Telemetry.listener(), (listener) => conductor.run("What?", { listener }))
    await Effect.runPromise(Effect.withTracer(program, tracer))
    const inner = seen.find(({ name }) => name === "mine")
    const parent = inner && Option.getOrUndefined(inner.parent)
    assert.strictEqual(parent?._tag === "Span" ? parent.name : undefined, "chat a")
  })
})
