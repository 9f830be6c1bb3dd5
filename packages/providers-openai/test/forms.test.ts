/** Forms of answers of Chat Completions beyond the corpus, whose rows are reports from the field. */
import { Corpus } from "@divisi/testkit/providers"
import { assert, describe, it } from "vitest"
import { openai, openaiCompatible } from "../src/index.ts"

type Reply = Corpus.Reply
type Outcome = Corpus.Outcome

const chunk = (delta: unknown, finish_reason: unknown = null, more: object = {}) => ({
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason }],
  ...more
})

const events = (...data: ReadonlyArray<unknown>): string =>
  [...data.map((one) => JSON.stringify(one)), "[DONE]"].map((one) => `data: ${one}\n\n`).join("")

const json = (body: unknown, status = 200): Reply => ({
  status,
  contentType: "application/json",
  body: JSON.stringify(body)
})

const call = (more: object) => ({ type: "function", index: 0, id: "a", ...more })

const named = (args: unknown) => ({ function: { name: "weather", arguments: args } })

const sunny: Outcome = { text: "Sunny.", finish: "stop" }

const used: Outcome = { ...sunny, usage: { inputTokens: 11, outputTokens: 7 } }

const ulm = { name: "weather", arguments: { city: "Ulm" } }

const bonn = { name: "weather", arguments: { city: "Bonn" } }

const choices = (...calls: ReadonlyArray<ReadonlyArray<object>>) => ({
  choices: calls.map((tool_calls, index) => ({ index, delta: { tool_calls } }))
})

const end = chunk({}, "tool_calls")

const first = JSON.stringify(chunk({ content: "Sunny." }))
const last = JSON.stringify(chunk({}, "stop"))

const forms: ReadonlyArray<readonly [name: string, reply: Reply, expected: Outcome]> = [
  [
    "None in the place of an ending",
    { body: events(chunk({ content: "Sunny." }), chunk({}, "None")) },
    { failure: ["Network"] }
  ],
  [
    "an ending within the delta",
    { body: events(chunk({ content: "Sunny." }), chunk({ finish_reason: "stop" })) },
    sunny
  ],
  [
    "one choice and one call that are no lists",
    {
      body: events(
        { choices: chunk({ tool_calls: call(named('{"city":"Ulm"}')) }).choices[0] },
        chunk({}, "tool_calls")
      )
    },
    { calls: [ulm], finish: "tool-calls" }
  ],
  [
    "a number as the id of a call",
    { body: events(chunk({ tool_calls: [call({ id: 17, ...named('{"city":"Ulm"}') })] }), chunk({}, "tool_calls")) },
    { calls: [{ ...ulm, id: "17" }] }
  ],
  ["an empty list as a delta", { body: events(chunk([]), chunk({ content: "Sunny." }), chunk([], "stop")) }, sunny],
  [
    "an empty object as calls",
    { body: events(chunk({ content: "Sunny.", tool_calls: {} }), chunk({}, "stop")) },
    sunny
  ],
  ["a text as a delta", { body: events(chunk("Sunny."), chunk({}, "stop")) }, sunny],
  ["a text as a message", json({ choices: [{ finish_reason: "stop", message: "Sunny." }] }), sunny],
  [
    "figures of usage in texts",
    {
      body: events(
        chunk({ content: "Sunny." }),
        chunk({}, "stop", { usage: { prompt_tokens: "11", completion_tokens: "7" } })
      )
    },
    { ...sunny, usage: { inputTokens: 11, outputTokens: 7 } }
  ],
  [
    "a call as a block of the content",
    {
      body: events(
        chunk({ content: [{ type: "tool_use", id: "x", name: "weather", input: { city: "Ulm" } }] }),
        chunk({}, "tool_calls")
      )
    },
    { calls: [{ ...ulm, id: "x" }], finish: "tool-calls" }
  ],
  [
    "a name without its prefix, in another case",
    {
      body: events(
        chunk({ tool_calls: [call({ function: { name: "Weather", arguments: '{"city":"Ulm"}' } })] }),
        chunk({}, "tool_calls")
      )
    },
    { calls: [ulm] }
  ],
  [
    "a name of no tool",
    {
      body: events(
        chunk({ tool_calls: [call({ function: { name: "functions.search", arguments: "{}" } })] }),
        chunk({}, "tool_calls")
      )
    },
    { calls: [{ name: "functions.search", arguments: {} }] }
  ],
  ["spaces before data", { body: ` data: ${first}\n\n data: ${last}\n\n` }, sunny],
  ["objects one after the other", { contentType: "application/json", body: first + last }, sunny],
  [
    "a field that says when to retry",
    json({ error: { message: "slow down", retry_after: 7 } }, 429),
    { failure: ["RateLimited"], retryAfterMillis: 7000 }
  ],
  [
    "an event with words alone",
    { body: events({ message: "engine went away" }) },
    { failure: ["Overloaded"], says: ["engine went away"] }
  ],
  ["an empty refusal", { body: events(chunk({ content: "Sunny.", refusal: {} }, "stop")) }, sunny],
  [
    "a refusal in parts",
    { body: events(chunk({ content: null, refusal: [{ type: "refusal", refusal: "No." }] }, "stop")) },
    { text: "No.", finish: "refusal" }
  ],
  [
    "a call in each of two choices",
    { body: events(choices([call(named('{"city":"Ulm"}'))], [call({ id: "b", ...named('{"city":"Bonn"}') })]), end) },
    { calls: [ulm, bonn], finish: "tool-calls" }
  ],
  [
    "a call in the second choice, in pieces",
    {
      body: events(
        choices([call(named('{"city":"Ulm"}'))], [call({ id: "b", ...named('{"ci') })]),
        choices([], [{ index: 0, function: { arguments: 'ty":"Bonn"}' } }]),
        end
      )
    },
    { calls: [ulm, bonn], finish: "tool-calls" }
  ],
  [
    "two choices with the same call",
    { body: events(choices([call(named('{"city":"Ulm"}'))], [call({ id: "b", ...named('{"city":"Ulm"}') })]), end) },
    { calls: [ulm], finish: "tool-calls" }
  ],
  ...["toolCalls", "function_calls"].map(
    (name) =>
      [
        `calls in ${name}`,
        { body: events(chunk({ [name]: [call(named('{"city":"Ulm"}'))] }), end) },
        { calls: [ulm], finish: "tool-calls" }
      ] as const
  ),
  [
    "a call as a part of the AI SDK",
    json({
      choices: [
        {
          message: { content: [{ type: "tool-call", toolCallId: "x", toolName: "weather", input: { city: "Ulm" } }] },
          finish_reason: "tool-calls"
        }
      ]
    }),
    { calls: [{ ...ulm, id: "x" }], finish: "tool-calls" }
  ],
  ...["gzip", "zstd"].map(
    (encoding) =>
      [
        `${encoding} as the label of a plain body`,
        { headers: { "content-encoding": encoding }, body: events(chunk({ content: "Sunny." }, "stop")) },
        sunny
      ] as const
  ),
  ...[
    ["Ollama at the chunk", { prompt_eval_count: 11, eval_count: 7 }],
    ["Cohere in tokens", { usage: { tokens: { input_tokens: 11, output_tokens: 7 } } }],
    ["Cohere in meta.tokens", { meta: { tokens: { input_tokens: 11, output_tokens: 7 } } }],
    ["Cohere in token_count", { token_count: { prompt_tokens: 11, response_tokens: 7, total_tokens: 18 } }],
    ["Bedrock in its metrics", { "amazon-bedrock-invocationMetrics": { inputTokenCount: 11, outputTokenCount: 7 } }],
    ["watsonx", { usage: { input_token_count: 11, generated_token_count: 7 } }],
    ["Vertex in snake case", { usage_metadata: { prompt_token_count: 11, candidates_token_count: 7 } }]
  ].map(
    ([vendor, usage]) =>
      [
        `figures of ${vendor as string}`,
        { body: events(chunk({ content: "Sunny." }), chunk({}, "stop", usage as object)) },
        used
      ] as const
  ),
  [
    "lines of Ollama",
    {
      contentType: "application/x-ndjson",
      body: [
        { message: { role: "assistant", content: "Sun" }, done: false },
        { message: { content: "ny." }, done: false },
        {
          message: { role: "assistant", content: "" },
          done: true,
          done_reason: "stop",
          prompt_eval_count: 11,
          eval_count: 7
        }
      ]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join("")
    },
    used
  ],
  [
    "a call of Ollama",
    json({ message: { role: "assistant", tool_calls: [named({ city: "Ulm" })] }, done: true, done_reason: "stop" }),
    { calls: [ulm], finish: "tool-calls" }
  ],
  [
    "a message of Cohere",
    json({
      finish_reason: "COMPLETE",
      message: { role: "assistant", content: [{ type: "text", text: "Sunny." }] },
      usage: { billed_units: { input_tokens: 11, output_tokens: 7 } }
    }),
    used
  ],
  [
    "a message of Bedrock",
    json({
      output: { message: { role: "assistant", content: [{ text: "Sunny." }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 11, outputTokens: 7 }
    }),
    used
  ],
  [
    "a call of a custom tool",
    {
      body: events(
        chunk({ tool_calls: [{ index: 0, id: "a", custom: { name: "weather", input: '{"city":"Ulm"}' } }] }),
        end
      )
    },
    { calls: [ulm], finish: "tool-calls" }
  ],
  [
    "an empty call behind another",
    {
      body: events(
        chunk({ tool_calls: [call(named('{"city":"Ulm"}'))] }),
        chunk({ tool_calls: [{ index: 1, id: "", function: { name: "", arguments: "" } }] }),
        end
      )
    },
    { calls: [ulm], finish: "tool-calls" }
  ],
  [
    "figures that are no numbers",
    { body: `data: ${first.replace("}]", ',"logprobs":{"content":[-Infinity,NaN,"NaN"]}}]')}\n\ndata: ${last}\n\n` },
    sunny
  ],
  ["NUL behind each event", { body: `data: ${first}\0\n\ndata: ${last}\0\n\ndata: [DONE]\0\n\n` }, sunny],
  ["records of JSON", { contentType: "application/json-seq", body: `\x1e${first}\n\x1e${last}\n` }, sunny],
  [
    "thoughts in a field of their own",
    { body: events(chunk({ thoughts: "Hm." }), chunk({ content: "Sunny." }, "stop")) },
    { ...sunny, reasoning: "Hm." }
  ],
  ["broken JSON", { body: `data: ${first.slice(0, -9)}\n\n` }, { failure: ["Malformed"] }]
]

describe("an answer of Chat Completions with", () => {
  it.each(forms)("%s is read", async (_, reply, expected) => {
    await using server = await Corpus.serve([reply])
    const worker = openaiCompatible({ baseURL: `${server.url}/v1`, model: "m", apiKey: "sk-corpus-key" })
    const row = {
      id: "chat/form",
      protocol: "chat",
      direction: "response",
      class: "folding",
      source: { repository: "", subject: "" },
      why: "",
      replies: [reply],
      expected
    } as const
    Corpus.hold(row, await Corpus.ask(worker, row))
    assert.lengthOf(server.bodies, 1)
  })
})

const completed = (output: unknown): string => {
  const event = { type: "response.completed", response: { id: "r", status: "completed", output } }
  return `event: response.completed\ndata: ${JSON.stringify(event)}\n\n`
}

const message = (tool_calls: unknown) => ({ type: "message", role: "assistant", content: [], tool_calls })

const responses: ReadonlyArray<readonly [name: string, output: ReadonlyArray<object>, calls: Outcome["calls"]]> = [
  ["calls of Chat Completions in a message", [message([call(named('{"city":"Ulm"}'))])], [{ ...ulm, id: "a" }]],
  ["calls in a message without ids", [message([named({ city: "Ulm" }), named({ city: "Bonn" })])], [ulm, bonn]],
  ["a call without a type", [{ call_id: "a", name: "weather", arguments: '{"city":"Ulm"}' }], [ulm]],
  ["a call of Anthropic", [{ type: "tool_use", id: "a", name: "weather", input: { city: "Ulm" } }], [ulm]],
  [
    "a call with parameters",
    [{ type: "function_call", call_id: "a", name: "weather", parameters: ulm.arguments }],
    [ulm]
  ]
]

describe("an answer of Responses with", () => {
  it.each(responses)("%s is read", async (_, output, calls) => {
    const reply: Reply = { body: completed(output) }
    await using server = await Corpus.serve([reply])
    const worker = openai("m", { baseURL: `${server.url}/v1`, apiKey: "sk-corpus-key" })
    const row = {
      id: "responses/form",
      protocol: "responses",
      direction: "response",
      class: "folding",
      source: { repository: "", subject: "" },
      why: "",
      replies: [reply],
      expected: { calls: calls ?? [], finish: "tool-calls" }
    } as const
    Corpus.hold(row, await Corpus.ask(worker, row))
  })
})
