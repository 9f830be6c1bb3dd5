/** Reading an answer takes linear time: operations are counted, so the result depends on neither load nor clock. */
import { Dialects, type VendorStream } from "@divisi/provider-kit"
import { assert, describe, it } from "vitest"

type Reader = VendorStream.Protocol<unknown, unknown>

/** Methods whose work grows with the length of the array or string that they are called on. */
const counted: ReadonlyArray<readonly [prototype: object, names: ReadonlyArray<PropertyKey>]> = [
  [
    Array.prototype,
    [
      Symbol.iterator,
      "with",
      "slice",
      "concat",
      "map",
      "flatMap",
      "filter",
      "some",
      "every",
      "find",
      "findIndex",
      "reverse",
      "join",
      "includes",
      "indexOf"
    ]
  ],
  [String.prototype, ["startsWith", "slice", "includes", "indexOf", "trim", "replace", "match"]]
]

/** Returns the number of elements and characters that the methods above, `JSON.parse` and `RegExp.test` may visit. */
const operationsOf = (run: () => void): number => {
  let count = 0
  const restore: Array<() => void> = []
  const wrap = (owner: object, name: PropertyKey, sizeOf: (self: unknown, first: unknown) => number) => {
    const described = Object.getOwnPropertyDescriptor(owner, name)!
    const original = described.value as (...given: ReadonlyArray<unknown>) => unknown
    const value = function (this: unknown, ...given: ReadonlyArray<unknown>) {
      count += sizeOf(this, given[0])
      return Reflect.apply(original, this, given)
    }
    Object.defineProperty(owner, name, { ...described, value })
    restore.push(() => Object.defineProperty(owner, name, described))
  }
  const sizeOf = (self: unknown) => (self as { readonly length: number }).length
  for (const [prototype, names] of counted) for (const name of names) wrap(prototype, name, sizeOf)
  wrap(JSON, "parse", (_, text) => sizeOf(text))
  wrap(RegExp.prototype, "test", (_, text) => String(text).length)
  try {
    run()
  } finally {
    for (const one of restore) one()
  }
  return count
}

const read = (protocol: Reader, events: ReadonlyArray<unknown>): string => {
  let { initial: state } = protocol
  let parts = 0
  for (const event of events) {
    const step = protocol.next(state, event)
    parts += step.parts.length
    state = step.state
  }
  const failed = protocol.failed?.(state)
  const finish = protocol.finishReason(state)
  const last = protocol.last?.(state) ?? []
  protocol.text?.(state)
  protocol.echo?.(state)
  return `${failed?._tag ?? finish} ${parts + last.length > 0}`
}

const range = (count: number) => Array.from({ length: count }, (_, at) => at)

const chat = Dialects.Chat.protocol({ model: "m", reasoningEcho: "reasoning_content" }) as Reader
const responses = Dialects.Responses.protocol("m") as Reader
const messages = Dialects.Messages.protocolOf("m") as Reader
const gemini = Dialects.GenerateContent.protocolOf({ model: "m", messages: [] }) as Reader

const choice = (delta: object, more: object = {}) => ({ choices: [{ index: 0, delta, ...more }] })
const called = (call: object) => choice({ tool_calls: [call] })
const ended = (reason: string) => choice({}, { finish_reason: reason })
const piece = (at: number, count: number) => (at === 0 ? '{"text":"' : at === count - 1 ? '"}' : "words ")
const opened = {
  type: "response.output_item.added",
  output_index: 0,
  item: { type: "function_call", id: "i", call_id: "c", name: "write" }
}
const completed = { type: "response.completed", response: { status: "completed", output: [] } }
const started = [
  { type: "message_start", message: { usage: { input_tokens: 1 } } },
  { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "c", name: "write", input: {} } }
]
const finished = [{ type: "message_delta", delta: { stop_reason: "tool_use" } }, { type: "message_stop" }]
const answer = (parts: ReadonlyArray<object>, finishReason?: string) => ({
  candidates: [{ content: { parts }, finishReason }]
})

const answers: Readonly<Record<string, readonly [Reader, (count: number) => ReadonlyArray<unknown>]>> = {
  "chat: text": [chat, (count) => [...range(count).map(() => choice({ content: "word " })), ended("stop")]],
  "chat: a second choice": [
    chat,
    (count) => [
      ...range(count).map(() => ({ choices: [{ index: 1, delta: { content: "word " } }] })),
      { choices: [{ index: 1, delta: {}, finish_reason: "stop" }] }
    ]
  ],
  "chat: a second choice beside the first": [
    chat,
    (count) => [
      ...range(count).flatMap(() => [choice({ content: "a " }), { choices: [{ index: 1, delta: { content: "b " } }] }]),
      ended("stop")
    ]
  ],
  "chat: arguments of a call": [
    chat,
    (count) => [
      called({ index: 0, id: "c", function: { name: "write", arguments: "" } }),
      ...range(count).map((at) => called({ index: 0, function: { arguments: piece(at, count) } })),
      ended("tool_calls")
    ]
  ],
  "chat: arguments with the name in each piece": [
    chat,
    (count) => [
      ...range(count).map((at) => called({ index: 0, function: { name: "write", arguments: piece(at, count) } })),
      ended("tool_calls")
    ]
  ],
  "chat: arguments with another index in each piece": [
    chat,
    (count) => [
      called({ index: 0, id: "c", function: { name: "write", arguments: "" } }),
      ...range(count).map((at) => called({ index: at + 1, function: { arguments: piece(at, count) } })),
      ended("tool_calls")
    ]
  ],
  "chat: all pieces of a call in one chunk": [
    chat,
    (count) => [
      choice({
        tool_calls: range(count).map((at) => ({
          index: 0,
          id: "c",
          function: { arguments: piece(at, count), ...(at === 0 && { name: "write" }) }
        }))
      }),
      ended("tool_calls")
    ]
  ],
  "chat: all chunks in one list": [
    chat,
    (count) => [[...range(count).map(() => choice({ content: "word " })), ended("stop")]]
  ],
  "responses: text": [
    responses,
    (count) => [
      ...range(count).map(() => ({ type: "response.output_text.delta", output_index: 0, delta: "word " })),
      completed
    ]
  ],
  "responses: arguments of a call": [
    responses,
    (count) => [
      opened,
      ...range(count).map((at) => ({
        type: "response.function_call_arguments.delta",
        output_index: 0,
        item_id: "i",
        delta: piece(at, count)
      })),
      completed
    ]
  ],
  "responses: items in the last event": [
    responses,
    (count) => [
      {
        type: "response.completed",
        response: {
          status: "completed",
          output: [
            { type: "message", content: "Sunny." },
            ...range(count).map(() => ({ type: "image_generation_call" }))
          ]
        }
      }
    ]
  ],
  "messages: arguments of a call": [
    messages,
    (count) => [
      ...started,
      ...range(count).map((at) => ({
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: piece(at, count) }
      })),
      { type: "content_block_stop", index: 0 },
      ...finished
    ]
  ],
  "generateContent: parts of one chunk": [
    gemini,
    (count) => [
      answer(
        range(count).map(() => ({ text: "word " })),
        "STOP"
      )
    ]
  ],
  "generateContent: chunks in one list": [
    gemini,
    (count) => [[...range(count).map(() => answer([{ text: "word " }])), answer([], "STOP")]]
  ],
  "generateContent: pictures": [
    gemini,
    (count) => [
      answer([{ text: "Look." }, ...range(count).map(() => ({ inlineData: { mimeType: "image/png" } }))], "STOP")
    ]
  ]
}

describe("an answer with ten times as many pieces", () => {
  it.each(Object.entries(answers))("takes about ten times as many operations: %s", (_, [protocol, eventsOf]) => {
    const [few, many] = [100, 1000].map((count) => {
      const events = eventsOf(count)
      return operationsOf(() => assert.match(read(protocol, events), /^(?:stop|tool-calls) true$/))
    })
    assert.isBelow(many! / few!, 15)
  })
})

describe("an answer with too many", () => {
  it("blocks, calls or items is refused", () => {
    const block = { type: "content_block_start", content_block: { type: "text", text: "" } }
    assert.throws(() =>
      range(5000).reduce<unknown>((state, index) => messages.next(state, { ...block, index }).state, messages.initial)
    )
    const call = { functionCall: { name: "look", args: {} } }
    assert.throws(() =>
      gemini.next(
        gemini.initial,
        answer(range(2000).map((id) => ({ ...call, functionCall: { ...call.functionCall, id: `${id}` } })))
      )
    )
    const part = { type: "response.reasoning_summary_text.delta", delta: "a" }
    assert.throws(() =>
      range(5000).reduce<unknown>(
        (state, at) => responses.next(state, { ...part, item_id: `${at}` }).state,
        responses.initial
      )
    )
  })
})
