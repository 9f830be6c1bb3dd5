/** Tool calls on all protocols: with a variant of a tool's name, and with arguments in several chunks. */
import { bare, events, named, type Protocol, type ResponseRow, type Row, type Source } from "./Row.ts"

const from = (repository: string, number: number, subject: string): Source => ({ repository, number, subject })

const ulm = { name: "weather", arguments: { city: "Ulm" } }

const city = '{"city":"Ulm"}'

/** For each protocol, returns an answer that calls a tool by the given name. */
const bodies: { readonly [P in Protocol]: (name: string) => string } = {
  chat: (name) =>
    events(
      {
        choices: [
          {
            index: 0,
            delta: { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name, arguments: city } }] },
            finish_reason: null
          }
        ]
      },
      { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }
    ),
  responses: (name) => {
    const item = { type: "function_call", id: "fc1", call_id: "c1", name, arguments: city, status: "completed" }
    return named(
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id: "r1", status: "completed", output: [item] } }
    )
  },
  messages: (name) =>
    named(
      {
        type: "message_start",
        message: {
          id: "m1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          usage: { input_tokens: 11, output_tokens: 1 }
        }
      },
      { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "c1", name, input: {} } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: city } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 7 } },
      { type: "message_stop" }
    ),
  "generate-content": (name) =>
    bare({
      candidates: [{ content: { parts: [{ functionCall: { name, args: { city: "Ulm" } } }] }, finishReason: "STOP" }]
    })
}

/** Variants of the tool name `weather` that servers send. */
const names: ReadonlyArray<readonly [id: string, name: string, source: Source]> = [
  [
    "default-api",
    "default_api.weather",
    from("tya5/reyn", 1989, "Gemini writes the namespace of its prompt before the names of tools")
  ],
  [
    "functions",
    "functions.weather",
    from("tontinton/maki", 505, "a model calls tools with functions before their names")
  ],
  [
    "template-token",
    "weather<|channel|>commentary",
    from("vllm-project/vllm", 32587, "tokens of gpt-oss are in names of tools")
  ]
]

const protocols: ReadonlyArray<Protocol> = ["chat", "responses", "messages", "generate-content"]

const otherNames: ReadonlyArray<Row> = names.flatMap(([id, name, source]) =>
  protocols.map(
    (protocol): ResponseRow => ({
      id: `${protocol}/tools/name-${id}`,
      protocol,
      direction: "response",
      class: "tools",
      source,
      why: "The call is of no offered tool, although it is plain which one the model means.",
      replies: [{ body: bodies[protocol](name) }],
      expected: { calls: [ulm], finish: "tool-calls" }
    })
  )
)

const piece = (functionCall: object, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts: [{ functionCall }] }, ...more }],
  responseId: "r1"
})

const partial = (
  id: string,
  source: Source,
  why: string,
  chunks: ReadonlyArray<object>,
  expected: ResponseRow["expected"]
): ResponseRow => ({
  id: `generate-content/folding/partial-${id}`,
  protocol: "generate-content",
  direction: "response",
  class: "folding",
  source,
  why,
  replies: [{ body: bare(...chunks) }],
  expected
})

const pieces: ReadonlyArray<Row> = [
  partial(
    "arguments",
    from("ag-ui-protocol/ag-ui", 1117, "Gemini 3 streams the arguments of a call with their places"),
    "The first piece has a name and no arguments, and the others have no name.",
    [
      piece({ name: "weather", willContinue: true }),
      piece({ partialArgs: [{ jsonPath: "$.city", stringValue: "U", willContinue: true }], willContinue: true }),
      piece({ partialArgs: [{ jsonPath: "$.city", stringValue: "lm" }], willContinue: true }),
      piece({}, { finishReason: "STOP" })
    ],
    { calls: [ulm], finish: "tool-calls" }
  ),
  partial(
    "nested-arguments",
    from("BerriAI/litellm", 23815, "partial arguments name places within objects and lists"),
    "A place may be within objects and lists, and a value of any kind.",
    [
      piece({
        name: "weather",
        willContinue: true,
        partialArgs: [{ jsonPath: "$.days[0].name", stringValue: "Mon" }]
      }),
      piece({
        partialArgs: [
          { jsonPath: "$.days[0].isLong", boolValue: true },
          { jsonPath: "$.days[1]['full name']", stringValue: "Tuesday" },
          { jsonPath: "$.count", numberValue: 2 },
          { jsonPath: "$.city", nullValue: "NULL_VALUE" }
        ],
        willContinue: true
      }),
      piece({}),
      piece({ name: "clock", args: {} }, { finishReason: "STOP" })
    ],
    {
      calls: [
        {
          name: "weather",
          arguments: { days: [{ name: "Mon", isLong: true }, { "full name": "Tuesday" }], count: 2, city: null }
        },
        { name: "clock", arguments: {} }
      ],
      finish: "tool-calls"
    }
  ),
  partial(
    "cut",
    from("langchain-ai/langchain-google", 1752, "arguments are streamed as values with their places"),
    "A call whose last piece did not come, as the answer was cut, must not be made.",
    [
      piece({ name: "weather", willContinue: true }),
      piece(
        { partialArgs: [{ jsonPath: "$.city", stringValue: "U", willContinue: true }], willContinue: true },
        { finishReason: "MAX_TOKENS" }
      )
    ],
    { calls: [], finish: "length" }
  )
]

/** All rows with tool calls. */
export const callForms: ReadonlyArray<Row> = [...otherNames, ...pieces]
