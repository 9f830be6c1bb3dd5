/** Values that a server takes in a field are learned from its refusals, and not the field alone. */

import { WorkerStream } from "@divisi/core/streams"
import type { WorkerRequest } from "@divisi/core/Worker"
import { Corpus } from "@divisi/testkit/providers"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { assert, describe, it } from "vitest"
import { openai, openaiCompatible } from "../src/index.ts"

const good = {
  body: [
    { choices: [{ index: 0, delta: { content: "ok" }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }
  ]
    .map((one) => `data: ${JSON.stringify(one)}\n\n`)
    .join("")
}

const refused = (message: string) => ({
  status: 400,
  contentType: "application/json",
  body: JSON.stringify({ error: { message, type: "invalid_request_error" } })
})

type Request = Partial<WorkerRequest>

/** Makes calls one after the other against a server that refuses the first; the bodies, and the notices of each call. */
const calls = async (message: string, requests: ReadonlyArray<Request>, body?: Readonly<Record<string, unknown>>) => {
  await using server = await Corpus.serve([refused(message), good])
  const worker = openaiCompatible({
    baseURL: `${server.url}/v1`,
    model: "m",
    unsupported: "omit",
    ...(body === undefined ? {} : { body })
  })
  const notices: Array<ReadonlyArray<string>> = []
  for (const request of requests) {
    const parts = await Effect.runPromise(
      Stream.runCollect(WorkerStream.generate(worker, { messages: [{ role: "user", content: "Hi" }], ...request }))
    )
    notices.push(parts.flatMap((part) => (part.type === "notice" ? [part.notice] : [])))
  }
  return { bodies: server.bodies, notices }
}

const ranges: ReadonlyArray<readonly [words: string, sent: number, instead: number, taken: number]> = [
  ["temperature must be between 0 and 1", 1.5, 1, 0.7],
  ["Invalid 'temperature': decimal above maximum value. Expected a value <= 1, but got 1.5 instead.", 1.5, 1, 0.7],
  ["temperature: Input should be less than or equal to 1", 1.5, 1, 1],
  ["Invalid params: temperature must be in range (0, +inf)", 0, 0.01, 0.5],
  ["Range of temperature should be [0.0, 2.0)", 2, 1.99, 1],
  ["temperature: range: 0..1", 1.2, 1, 0.1],
  ["`temperature` must be strictly positive", 0, 0.01, 0.2],
  ["The value of temperature must be at least 0.1", 0, 0.1, 0.2],
  ["invalid request: temperature should be greater than 0 and no more than 1", 2, 1, 0.4]
]

describe("what a server has refused", () => {
  it("is remembered for the same model on it by other workers, as after a reload, and not for another model", async () => {
    await using server = await Corpus.serve([refused("temperature is not supported"), good])
    const ask = (model: string) => {
      const worker = openaiCompatible({ baseURL: `${server.url}/v1`, model, unsupported: "omit" })
      const request = { messages: [{ role: "user" as const, content: "Hi" }], temperature: 0.5 }
      return Effect.runPromise(Stream.runDrain(WorkerStream.generate(worker, request)))
    }
    for (const model of ["m", "m", "other"]) await ask(model)
    assert.deepStrictEqual(
      server.bodies.map(({ model, temperature }) => [model, temperature]),
      [
        ["m", 0.5],
        ["m", undefined],
        ["m", undefined],
        ["other", 0.5]
      ]
    )
  })
})

describe("two fields that a server does not take together", () => {
  it("are reduced to the first, and each is sent alone", async () => {
    const words = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    const requests = [{ temperature: 0.5 }, {}, { temperature: 0.5 }]
    const { bodies, notices } = await calls(words, requests, { top_p: 0.9 })
    assert.deepStrictEqual(
      bodies.map(({ temperature, top_p }) => [temperature, top_p]),
      [
        [0.5, 0.9],
        [0.5, undefined],
        [undefined, 0.9],
        [0.5, undefined]
      ]
    )
    assert.deepStrictEqual(notices[1], [])
    assert.match(notices[2]?.[0] ?? "", /^top_p: /)
  })
})

describe("a value that a server does not take", () => {
  it.each(ranges)("is replaced by the nearest one (%s)", async (words, sent, instead, taken) => {
    const { bodies, notices } = await calls(words, [
      { temperature: sent },
      { temperature: taken },
      { temperature: sent }
    ])
    assert.deepStrictEqual(
      bodies.map(({ temperature }) => temperature),
      [sent, instead, taken, instead]
    )
    assert.match(notices[0]?.[0] ?? "", /^temperature: the server accepts .* so it was (?:lowered|raised)$/)
    assert.deepStrictEqual(notices[1], [])
    assert.deepStrictEqual(notices[2], notices[0])
  })

  it.each([
    "invalid temperature: only 1 is allowed for this model",
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    "temperature must be 1"
  ])("is left out where the server takes its default alone (%s)", async (words) => {
    const { bodies, notices } = await calls(words, [{ temperature: 0.2 }, { temperature: 1 }, { temperature: 0.2 }])
    assert.deepStrictEqual(
      bodies.map(({ temperature }) => temperature),
      [0.2, undefined, 1, undefined]
    )
    assert.deepStrictEqual(
      notices.map(({ length }) => length),
      [1, 0, 1]
    )
  })

  it("is an effort that becomes the nearest one, and others are sent", async () => {
    const effort = (effort: "minimal" | "low" | "high"): Request => ({ reasoning: { type: "effort", effort } })
    const words =
      "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'low', 'medium', and 'high'."
    const { bodies, notices } = await calls(words, [effort("minimal"), effort("high"), effort("minimal")])
    assert.deepStrictEqual(
      bodies.map(({ reasoning_effort }) => reasoning_effort),
      ["minimal", "low", "high", "low"]
    )
    assert.include(notices[0]?.[0] ?? "", 'replaced by "low"')
  })

  it("is a number of answers, of which there is one", async () => {
    const { bodies, notices } = await calls("n must be 1", [{}, {}], { n: 2 })
    assert.deepStrictEqual(
      bodies.map(({ n }) => n),
      [2, undefined, undefined]
    )
    assert.include(notices[1]?.[0] ?? "", "n: the server accepts only 1")
  })

  it.each([
    ["max_tokens must be at most 8192", 8192],
    ["max_tokens must be between 1 and 4096", 4096],
    ["Invalid 'max_tokens': integer above maximum value. Expected a value <= 16384, but got 32000 instead.", 16_384],
    ["max_tokens (32000) exceeds the maximum of 8000 for this model", 8000]
  ] as const)("is a limit of the output (%s)", async (words, most) => {
    const { bodies, notices } = await calls(words, [
      { maxOutputTokens: 32_000 },
      { maxOutputTokens: 500 },
      { maxOutputTokens: 32_000 }
    ])
    assert.deepStrictEqual(
      bodies.map(({ max_tokens }) => max_tokens),
      [32_000, most, 500, most]
    )
    assert.deepStrictEqual(notices[2], [`max_tokens: the server accepts at most ${most}, so it was lowered`])
  })

  it("is sent again where it was refused in a combination", async () => {
    const words = "`temperature` may only be set to 1 when thinking is enabled"
    const { bodies } = await calls(words, [{ temperature: 0.2 }, { temperature: 0.2 }])
    assert.deepStrictEqual(
      bodies.map(({ temperature }) => temperature),
      [0.2, undefined, 0.2]
    )
  })

  it("fails the call where preferences may not be changed", async () => {
    await using server = await Corpus.serve([refused("temperature must be between 0 and 1"), good])
    const worker = openaiCompatible({ baseURL: `${server.url}/v1`, model: "m" })
    const asked = WorkerStream.generate(worker, { messages: [{ role: "user", content: "Hi" }], temperature: 1.5 })
    const failed = await Effect.runPromise(Effect.result(Stream.runCollect(asked)))
    assert.strictEqual(failed._tag, "Failure")
    assert.lengthOf(server.bodies, 1)
  })

  it("is an effort within an object on Responses", async () => {
    const done = {
      body: `data: ${JSON.stringify({
        type: "response.completed",
        response: { status: "completed", output: [{ type: "message", content: [{ type: "output_text", text: "ok" }] }] }
      })}\n\n`
    }
    const words =
      "Unsupported value: 'minimal' is not supported with the 'reasoning.effort' parameter. Supported values are: 'low', 'high'."
    await using server = await Corpus.serve([refused(words), done])
    const worker = openai("o9", {
      baseURL: `${server.url}/v1`,
      apiKey: "sk-test-key",
      unsupported: "omit",
      capabilities: { efforts: ["minimal", "low", "medium", "high"] }
    })
    const reasoning = { type: "effort", effort: "minimal" } as const
    await Effect.runPromise(
      Stream.runCollect(WorkerStream.generate(worker, { messages: [{ role: "user", content: "Hi" }], reasoning }))
    )
    assert.deepInclude(server.bodies[1]?.reasoning as object, { effort: "low" })
  })
})
