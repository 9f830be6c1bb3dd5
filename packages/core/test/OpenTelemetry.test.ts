import * as api from "@opentelemetry/api"
import { assert, describe, it } from "vitest"
import * as promise from "../src/promise.ts"

interface Recorded {
  readonly name: string
  readonly kind: number | undefined
  readonly parent: string | undefined
  readonly attributes: Record<string, unknown>
  readonly events: Array<string>
  status?: number
  endedAt?: number
  readonly startedAt: number
}

/** OpenTelemetry as a program sets it up: a tracer provider, here one that stores spans. */
const collect = () => {
  const spans: Array<Recorded> = []
  const startSpan = (name: string, options: api.SpanOptions = {}, context = api.context.active()): api.Span => {
    const parent = api.trace.getSpan(context)?.spanContext().spanId
    const startedAt = options.startTime as number
    const span: Recorded = { name, kind: options.kind, parent, attributes: {}, events: [], startedAt }
    spans.push(span)
    const spanId = `${spans.length}`.padStart(16, "0")
    const made = {
      spanContext: () => ({ spanId, traceId: "1".repeat(32), traceFlags: 1 }),
      setAttribute: (key: string, value: unknown) => {
        span.attributes[key] = value
        return made
      },
      addEvent: (event: string) => {
        span.events.push(event)
        return made
      },
      setStatus: ({ code }: api.SpanStatus) => {
        span.status = code
        return made
      },
      end: (at: number) => {
        span.endedAt = at
      }
    }
    return made as unknown as api.Span
  }
  const tracer = { startSpan } as unknown as api.Tracer
  return { spans, api: { ...api, trace: Object.assign(Object.create(api.trace), { getTracer: () => tracer }) } }
}

const ask = { question: "What is 6 times 7?", policy: promise.single(0) }

describe("openTelemetry", () => {
  it("makes a span of each run, round and step, one in the other, with tokens and times", async () => {
    const { api, spans } = collect()
    const pool = [promise.worker({ id: "calculator", answer: () => "42" })]
    await promise.conduct({ ...ask, pool, telemetry: promise.openTelemetry(api) })
    assert.deepStrictEqual(
      spans.map(({ kind, name, parent }) => [name, kind, parent]),
      [
        ["invoke_workflow single:0", 0, undefined],
        ["round 0", 0, "1".padStart(16, "0")],
        ["invoke_agent calculator", 0, "2".padStart(16, "0")],
        ["chat calculator", 2, "3".padStart(16, "0")]
      ]
    )
    assert.strictEqual(spans[3]?.attributes["gen_ai.usage.output_tokens"], 1)
    for (const { endedAt, startedAt, status } of spans) {
      assert.isUndefined(status)
      assert.isAtLeast(endedAt!, startedAt)
      assert.isBelow(Math.abs(Date.now() - startedAt), 60_000)
    }
  })

  it("works alongside onEvent, reports errors, and leaves texts out", async () => {
    const { api, spans } = collect()
    const answer = () => {
      throw new Error("a secret of mine")
    }
    const heard: Array<string> = []
    const { ending } = await promise.conduct({
      ...ask,
      pool: [promise.worker({ id: "broken", answer })],
      telemetry: promise.openTelemetry(api),
      onEvent: ({ type }) => heard.push(type)
    })
    assert.strictEqual(ending, "failed")
    assert.strictEqual(heard.at(-1), "run-finished")
    assert.strictEqual(spans[0]?.status, 2)
    assert.strictEqual(spans[3]?.attributes["error.type"], "Defect")
    assert.notInclude(JSON.stringify(spans), "secret")
  })
})
