/** Gemini's additions to tool calls in its Chat Completions endpoint go back to it, and to no other model. */

import type { Tool } from "@divisi/core"
import type { AssistantMessage, Message } from "@divisi/core/Message"
import { WorkerStream } from "@divisi/core/streams"
import type { Worker, WorkerPart } from "@divisi/core/Worker"
import { Corpus } from "@divisi/testkit/providers"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { assert, describe, it } from "vitest"
import { openaiCompatible } from "../src/index.ts"

const tools: ReadonlyArray<Tool.ToolDefinition> = [{ name: "weather", input: { type: "object", properties: {} } }]

const question: Message = { role: "user", content: "Weather in Ulm and Bonn?" }

const events = (...data: ReadonlyArray<unknown>): string =>
  [...data.map((one) => JSON.stringify(one)), "[DONE]"].map((one) => `data: ${one}\n\n`).join("")

const delta = (delta: unknown, finish_reason: unknown = null) => ({ choices: [{ index: 0, delta, finish_reason }] })

const call = (index: number, more: object = {}) => ({
  index,
  id: `c${index}`,
  type: "function",
  function: { name: "weather", arguments: "{}" },
  ...more
})

const signature = { google: { thought_signature: "c2ln" } }

const done = { body: events(delta({ content: "Sunny." }), delta({}, "stop")) }

const asked = async (worker: Worker, messages: ReadonlyArray<Message>): Promise<ReadonlyArray<WorkerPart>> =>
  Effect.runPromise(Stream.runCollect(WorkerStream.generate(worker, { messages: messages as [Message], tools })))

/** The turn of a worker's answer, with the results of its calls. */
const turnOf = (parts: ReadonlyArray<WorkerPart>): ReadonlyArray<Message> => {
  const calls = parts.filter((part) => part.type === "tool-call")
  const finish = parts.find((part) => part.type === "finish")
  const turn: AssistantMessage = { role: "assistant", content: "", toolCalls: calls, echo: finish?.echo }
  return [turn, ...calls.map(({ id, name }): Message => ({ role: "tool", callId: id, name, content: "sunny" }))]
}

const sent = async (first: string, next: (url: string) => Worker): Promise<Record<string, unknown>> => {
  await using server = await Corpus.serve([{ body: first }, done])
  const url = `${server.url}/v1`
  const parts = await asked(openaiCompatible({ baseURL: url, model: "gemini-3-pro" }), [question])
  await asked(next(url), [question, ...turnOf(parts)])
  const messages = server.bodies.at(-1)?.messages as ReadonlyArray<Record<string, unknown>>
  return messages[1] ?? {}
}

const same = (url: string) => openaiCompatible({ baseURL: url, model: "gemini-3-pro" })

const forms: ReadonlyArray<readonly [name: string, first: string]> = [
  [
    "with its call",
    events(delta({ tool_calls: [call(0, { extra_content: signature }), call(1)] }), delta({}, "tool_calls"))
  ],
  [
    "in a piece of its own",
    events(
      delta({ tool_calls: [call(0)] }),
      delta({ tool_calls: [{ extra_content: signature }] }),
      delta({ tool_calls: [call(1)] }),
      delta({}, "tool_calls")
    )
  ],
  [
    "in a whole message",
    JSON.stringify({
      object: "chat.completion",
      choices: [
        { finish_reason: "tool_calls", message: { tool_calls: [call(0, { extra_content: signature }), call(1)] } }
      ]
    })
  ]
]

describe("what a server adds to a call", () => {
  it.each(forms)("goes back where it came %s", async (_, first) => {
    const { tool_calls: calls } = await sent(first, same)
    const [signed, other] = calls as ReadonlyArray<Record<string, unknown>>
    assert.deepStrictEqual(signed?.extra_content, signature)
    assert.notProperty(other, "extra_content")
  })

  it("goes to no other model", async () => {
    const { tool_calls: calls } = await sent(forms[0]![1], (url) => openaiCompatible({ baseURL: url, model: "qwen3" }))
    for (const one of calls as ReadonlyArray<object>) assert.notProperty(one, "extra_content")
  })

  it("goes back with its message", async () => {
    const first = events(
      delta({ tool_calls: [call(0)] }),
      delta({ content: "", extra_content: signature }),
      delta({}, "tool_calls")
    )
    assert.deepStrictEqual((await sent(first, same)).extra_content, signature)
  })
})
