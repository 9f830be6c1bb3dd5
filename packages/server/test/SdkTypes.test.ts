/** The server's answers have the types that the official SDKs declare, in every shape, whole and streamed. */

import { assert, describe, it } from "vitest"
import { chat } from "../src/chat/Chat.ts"
import { messages } from "../src/messages/Messages.ts"
import { responses } from "../src/responses/Responses.ts"
import { ApiError } from "../src/wire/ApiError.ts"
import * as Steps from "../src/wire/Steps.ts"
import type { About, Part, SegmentUsage, Wire } from "../src/wire/Wire.ts"
import * as SdkTypes from "./sdkTypes.ts"

const sdk = SdkTypes.read(
  `import type OpenAI from "openai"
import type { ErrorObject } from "openai/resources/shared"
import type Anthropic from "@anthropic-ai/sdk"`,
  {
    ChatCompletion: "OpenAI.ChatCompletion",
    ChatCompletionChunk: "OpenAI.ChatCompletionChunk",
    Response: "OpenAI.Responses.Response",
    ResponseEvent: "OpenAI.Responses.ResponseStreamEvent",
    OpenAiError: "{ error: ErrorObject }",
    Message: "Anthropic.Message",
    MessageEvent: "Anthropic.RawMessageStreamEvent",
    MessagesError: "Anthropic.ErrorResponse"
  },
  // The text of all items.
  // Anthropic leaves `citations` out of text without citations, and clients that check the form refuse `null`.
  new Set(["output_text", "citations"])
)

const usage: SegmentUsage = {
  answer: { inputTokens: 12, outputTokens: 7, cachedInputTokens: 4, reasoningTokens: 2 },
  orchestration: { inputTokens: 100, outputTokens: 20 },
  costUsd: 0.01,
  unpricedCalls: 1,
  calls: 2
}

const finish = (reason: Extract<Part, { type: "finish" }>["reason"], more: object = {}): Part => ({
  type: "finish",
  reason,
  usage,
  workers: ["acme:a"],
  durationMillis: 40,
  ...more
})

const text = (text: string): Part => ({ type: "text", text })
const call = (id: string, name: string, given: string): Part => ({ type: "tool-call", id, name, arguments: given })
const state: Part = { type: "state", state: "sealed" }
const failedSteps = [{ round: 0, step: 0, by: "step", worker: "acme:a", reason: "Overloaded" }]

/** The shapes of an answer. */
const answers: Readonly<Record<string, ReadonlyArray<Part>>> = {
  "a text": [text("Sun"), text("ny."), finish("stop")],
  "an empty answer": [finish("stop")],
  reasoning: [{ type: "note", about: "plan", text: "Two steps." }, text("Sunny."), finish("stop")],
  "a text between notes": [
    { type: "note", about: "plan", text: "Two steps." },
    text("It is "),
    { type: "note", about: "step", text: "Step 1 is done." },
    text("sunny."),
    finish("stop")
  ],
  "a call": [call("call_1", "look", '{"city":"Ulm"}'), finish("tool-calls")],
  "a text and two calls, with the state of the run": [
    text("Let me look."),
    state,
    call("call_1", "look", '{"city":"Ulm"}'),
    call("call_2", "look", "{}"),
    finish("tool-calls")
  ],
  "a call of a custom tool": [call("call_1", "shell", '{"input":"ls"}'), finish("tool-calls")],
  "a refusal": [{ type: "refusal", text: "I cannot." }, finish("refusal")],
  "a filtered answer": [text("Half of"), finish("refusal")],
  "an answer that was cut": [text("Half of"), finish("length")],
  "a stop sequence": [text("Half of"), finish("stop-sequence", { stopSequence: "END" })],
  "a heartbeat before the text": [{ type: "heartbeat" }, text("Sunny."), finish("stop")],
  "notices and failed steps": [text("Sunny."), finish("stop", { notices: ["No seed."], failedSteps })]
}

const failures: Readonly<Record<string, ReadonlyArray<Part>>> = {
  "an error before the text": [{ type: "error", error: new ApiError({ kind: "upstream", message: "Gone." }), usage }],
  "an error after a text": [
    text("Half of"),
    { type: "error", error: new ApiError({ kind: "overloaded", message: "Busy." }), usage }
  ],
  "an error after a call": [
    call("call_1", "look", "{}"),
    { type: "error", error: new ApiError({ kind: "server", message: "Broken." }) }
  ]
}

const schema = { type: "object", properties: { city: { type: "string" } } }
const question = "What is the weather?"

/** The requests of a wire, whose fields its responses repeat. */
const requests: Readonly<Record<string, ReadonlyArray<object>>> = {
  chat: [
    { messages: [{ role: "user", content: question }], stream_options: { include_usage: true } },
    {
      messages: [{ role: "user", content: question }],
      tools: [
        { type: "function", function: { name: "look", parameters: schema } },
        { type: "custom", custom: { name: "shell" } }
      ]
    },
    { messages: [{ role: "user", content: question }], functions: [{ name: "look", parameters: schema }] }
  ],
  responses: [
    { input: question },
    {
      input: question,
      instructions: "Be brief.",
      tools: [
        { type: "function", name: "look", parameters: schema },
        { type: "custom", name: "shell" },
        { type: "namespace", name: "files", description: "Files", tools: [{ type: "function", name: "read" }] }
      ],
      tool_choice: "auto",
      reasoning: { effort: "low", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      text: { format: { type: "json_schema", name: "weather", schema }, verbosity: "low" },
      temperature: 0.5,
      max_output_tokens: 100,
      metadata: { a: "b" }
    }
  ],
  messages: [
    { max_tokens: 100, messages: [{ role: "user", content: question }] },
    {
      max_tokens: 2_000,
      messages: [{ role: "user", content: question }],
      tools: [{ name: "look", input_schema: schema }],
      thinking: { type: "enabled", budget_tokens: 1_024 }
    }
  ]
}

const aboutOf = (wire: Pick<Wire<unknown>, "read">, given: object): About => {
  const body = { model: "divisi", ...given }
  return { id: "abc", runId: "run-1", createdAt: 1_790_000_000, request: Steps.all(wire.read(body, {})), body }
}

/** The data of server-sent events. OpenAI sends `usage: null` in events before the last, which its types do not have. */
const dataOf = (events: string): ReadonlyArray<unknown> =>
  events
    .split("\n\n")
    .flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? [])
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data, (name, value) => (name === "usage" && value === null ? undefined : value)))

const streamed = <State>(wire: Wire<State>, about: About, parts: ReadonlyArray<Part>): ReadonlyArray<unknown> => {
  let [state, events] = wire.begin(about)
  for (const part of parts) {
    const [next, more] = wire.write(state, part)
    state = next
    events += more
  }
  return dataOf(events)
}

const wires = [
  { wire: chat, answer: "ChatCompletion", event: "ChatCompletionChunk", error: "OpenAiError" },
  { wire: responses, answer: "Response", event: "ResponseEvent", error: "OpenAiError" },
  { wire: messages, answer: "Message", event: "MessageEvent", error: "MessagesError" }
] as const

/** Events that the SDKs read by themselves, and that are in no type of theirs: keep-alives and errors. */
const isOutside = (event: unknown): boolean => {
  const { choices, error, type } = event as Partial<Record<string, unknown>>
  return type === "ping" || (error !== undefined && (type === "error" || choices !== undefined))
}

describe.each(wires)("the types of the SDK of $wire.name", ({ answer, error, event, wire }) => {
  const abouts = requests[wire.name]!.map((given) => aboutOf(wire, given))

  it.each(Object.entries(answers))("%s", (_, parts) => {
    for (const about of abouts) {
      assert.isUndefined(sdk.problemOf(answer, JSON.parse(JSON.stringify(wire.whole(about, parts)))))
      for (const one of streamed(wire as Wire<unknown>, about, parts)) {
        if (!isOutside(one)) assert.isUndefined(sdk.problemOf(event, one), JSON.stringify(one))
      }
    }
  })

  it.each(Object.entries(failures))("%s", (_, parts) => {
    for (const about of abouts) {
      for (const one of streamed(wire as Wire<unknown>, about, parts)) {
        if (!isOutside(one)) assert.isUndefined(sdk.problemOf(event, one), JSON.stringify(one))
      }
    }
    const last = parts.at(-1)
    if (last?.type !== "error") return
    assert.isUndefined(sdk.problemOf(error, JSON.parse(JSON.stringify(wire.error(last.error)))))
  })
})

it("the comparison finds a missing field, a wrong word and a wrong type", () => {
  const chunk = { id: "a", object: "chat.completion.chunk", created: 1, model: "m", choices: [] }
  const choice = (more: object) => ({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: null, ...more }] })
  assert.deepStrictEqual(
    [
      sdk.problemOf("ChatCompletionChunk", choice({})),
      sdk.problemOf("ChatCompletionChunk", { ...chunk, model: undefined }),
      sdk.problemOf("ChatCompletionChunk", choice({ finish_reason: "done" })),
      sdk.problemOf("ChatCompletionChunk", choice({ delta: { content: 3 } }))
    ],
    [
      undefined,
      "ChatCompletionChunk.model is missing",
      'ChatCompletionChunk.choices[0].finish_reason is "done"',
      "ChatCompletionChunk.choices[0].delta.content is 3"
    ]
  )
})
