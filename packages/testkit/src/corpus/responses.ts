/** Responses observed from servers that implement the Responses API. */
import { named, type Outcome, type ResponseRow, type Row, type Source } from "./Row.ts"

const from = (repository: string, number: number, subject: string): Source => ({ repository, number, subject })

export const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 }

export const used = { inputTokens: 11, outputTokens: 7 }

type Event = { readonly type: string }

export const created: Event & object = {
  type: "response.created",
  response: { id: "r1", status: "in_progress", output: [] }
} as never

export const message = (text: string) => ({
  type: "message",
  id: "m1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }]
})

export const call = (fields: object = {}) => ({
  type: "function_call",
  id: "f1",
  call_id: "a",
  name: "weather",
  arguments: '{"city":"Ulm"}',
  ...fields
})

export const response = (output: unknown, more: object = {}) => ({
  id: "r1",
  object: "response",
  model: "m",
  status: "completed",
  output,
  usage,
  ...more
})

export const completed = (output: unknown = [], more: object = {}) => ({
  type: "response.completed",
  response: response(output, more)
})

export const delta = (text: string, more: object = {}) => ({
  type: "response.output_text.delta",
  item_id: "m1",
  output_index: 0,
  content_index: 0,
  delta: text,
  ...more
})

const row = (
  id: string,
  source: Source,
  why: string,
  reply: ReadonlyArray<Event> | ResponseRow["replies"][0],
  expected: Outcome,
  more: Partial<ResponseRow> = {}
): ResponseRow => ({
  id: `responses/${id}`,
  protocol: "responses",
  direction: "response",
  class: id.slice(0, id.indexOf("/")) as ResponseRow["class"],
  source,
  why,
  replies: [Array.isArray(reply) ? { body: named(...reply) } : (reply as ResponseRow["replies"][0])],
  expected,
  ...more
})

const sunny = { text: "Sunny.", finish: "stop", usage: used } as const

const ulm = { name: "weather", arguments: { city: "Ulm" }, id: "a" }

const called = { calls: [ulm], finish: "tool-calls" } as const

const lost = "The answer is empty, and is paid for again."

const rows: ReadonlyArray<ResponseRow> = [
  row(
    "folding/other-id-in-each-event",
    from("anomalyco/opencode", 9124, "GitHub Copilot gives an item another id in each of its events"),
    "Pieces belong to no item, and are dropped or given twice.",
    [
      created,
      { type: "response.output_item.added", output_index: 0, item: call({ id: "x1", arguments: "" }) } as never,
      {
        type: "response.function_call_arguments.delta",
        item_id: "x2",
        output_index: 0,
        delta: '{"city":"Ulm"}'
      } as never,
      {
        type: "response.function_call_arguments.done",
        item_id: "x3",
        output_index: 0,
        arguments: '{"city":"Ulm"}'
      } as never,
      { type: "response.output_item.done", output_index: 0, item: call({ id: "x4" }) } as never,
      completed([call({ id: "x5" })])
    ],
    called
  ),
  row(
    "folding/arguments-encoded-twice",
    from("vllm-project/vllm", 54964, "the arguments of a call are JSON within the JSON of a text"),
    "The arguments are a text, and the tool is called with nothing.",
    [created, completed([call({ arguments: JSON.stringify('{"city":"Ulm"}') })])],
    called
  ),
  row(
    "null-and-lists/empty-error",
    from("BerriAI/litellm", 18407, "good answers have an error whose fields are empty"),
    "An error that says nothing fails a good answer.",
    [created, delta("Sunny."), completed([message("Sunny.")], { error: { code: "", message: "" } })],
    sunny
  ),
  row(
    "encoding/raw-control-characters",
    from("earendil-works/pi", 4446, "control characters stand as they are in texts of events"),
    "One character that is not escaped fails a whole answer.",
    { body: named(created, delta("Sun#ny."), completed([message("Sun#ny.")])).replaceAll("#", "\u001b") },
    { text: "Sun\u001bny.", finish: "stop" }
  ),
  row(
    "folding/text-done",
    from("pipecat-ai/pipecat", 5309, "text comes only at the end of a part"),
    lost,
    [
      created,
      { type: "response.output_text.done", item_id: "m1", output_index: 0, content_index: 0, text: "Sunny." } as Event,
      completed()
    ],
    sunny
  ),
  row(
    "folding/item-done",
    from("Soju06/codex-lb", 504, "text comes only at the end of an item"),
    lost,
    [created, { type: "response.output_item.done", output_index: 0, item: message("Sunny.") } as Event, completed()],
    sunny
  ),
  row(
    "folding/completed-alone",
    from("Soju06/codex-lb", 504, "text comes only in the final response"),
    lost,
    [created, completed([message("Sunny.")])],
    sunny
  ),
  row(
    "folding/part-done",
    from("agentgateway/agentgateway", 2281, "of the ends, some are empty and one has the text"),
    lost,
    [
      created,
      { type: "response.output_text.done", item_id: "m1", output_index: 0, content_index: 0, text: "" } as Event,
      {
        type: "response.content_part.done",
        item_id: "m1",
        output_index: 0,
        content_index: 0,
        part: { type: "output_text", text: "Sunny." }
      } as Event,
      completed()
    ],
    sunny
  ),
  row(
    "folding/no-final-output",
    from("QuantumNous/new-api", 4362, "the final response has no output"),
    "The empty output wins over the text that was streamed.",
    [created, delta("Sun"), delta("ny."), completed([])],
    sunny
  ),
  row(
    "folding/empty-ends",
    from("KochC/opencode-llm-proxy", 48, "the end of a text is empty after its pieces"),
    "The empty end wins over the text that was streamed.",
    [
      created,
      delta("Sunny."),
      { type: "response.output_text.done", item_id: "m1", output_index: 0, content_index: 0, text: "" } as Event,
      completed()
    ],
    sunny
  ),
  row(
    "folding/early-done",
    from("diegosouzapw/OmniRoute", 13693, "a text ends after its first piece, and more pieces follow"),
    "What comes after the end is dropped.",
    [
      created,
      delta("Sun"),
      { type: "response.output_text.done", item_id: "m1", output_index: 0, content_index: 0, text: "Sun" } as Event,
      { type: "response.output_item.done", output_index: 0, item: message("Sun") } as Event,
      delta("ny."),
      completed([message("Sunny.")])
    ],
    sunny
  ),
  row(
    "folding/deltas-alone",
    from("mnfst/llm-gateway", 2066, "a converter sends pieces without the items that they are of"),
    "Pieces without an item are dropped.",
    [
      { type: "response.output_text.delta", delta: "Sun" } as Event,
      { type: "response.output_text.delta", delta: "ny." } as Event,
      completed()
    ],
    sunny
  ),
  row(
    "folding/text-at-the-start",
    from("earendil-works/pi", 7283, "the beginning of a text comes with the start of its block"),
    "The opposite of what the model wrote counts.",
    [
      created,
      {
        type: "response.content_part.added",
        item_id: "m1",
        output_index: 0,
        content_index: 0,
        part: { type: "output_text", text: "DO NOT " }
      } as Event,
      delta("delete the table."),
      completed()
    ],
    { text: "DO NOT delete the table.", finish: "stop" }
  ),
  row(
    "folding/final-wins",
    from("agentgateway/agentgateway", 3326, "the text of the final response is another than the streamed one"),
    "A piece that was lost on the way is missing in the answer.",
    [created, delta("delete the table."), completed([message("DO NOT delete the table.")])],
    { text: "DO NOT delete the table.", finish: "stop" }
  ),
  row(
    "folding/whole-response",
    from("QuantumNous/new-api", 4362, "a response comes as one object of JSON"),
    "The answer is refused because it is no stream.",
    { contentType: "application/json", body: JSON.stringify(response([message("Sunny.")])) },
    sunny
  ),
  row(
    "folding/arguments-done",
    from("lidge-jun/opencodex", 4652, "arguments come only at their end"),
    "The tool is called with an empty object.",
    [
      created,
      { type: "response.output_item.added", output_index: 0, item: call({ arguments: "" }) } as Event,
      {
        type: "response.function_call_arguments.done",
        item_id: "f1",
        output_index: 0,
        arguments: '{"city":"Ulm"}'
      } as Event,
      { type: "response.output_item.done", output_index: 0, item: call({ arguments: "" }) } as Event,
      completed()
    ],
    called
  ),
  row(
    "folding/call-in-completed",
    from("BerriAI/litellm", 32724, "items come only in the final response"),
    "The call is lost, and the answer is empty.",
    [created, completed([call()])],
    called
  ),
  row(
    "folding/call-without-added",
    from("Soju06/codex-lb", 504, "a call comes only at its end"),
    "The call is lost, and the answer is empty.",
    [created, { type: "response.output_item.done", output_index: 0, item: call() } as Event, completed()],
    called
  ),
  row(
    "folding/pieces-before-the-call",
    from("mcowger/plexus", 691, "calls of a stream lose what tells them apart"),
    "Pieces without a beginning fail the whole answer.",
    [
      created,
      { type: "response.function_call_arguments.delta", item_id: "f1", output_index: 0, delta: '{"city":' } as Event,
      { type: "response.function_call_arguments.delta", item_id: "f1", output_index: 0, delta: '"Ulm"}' } as Event,
      { type: "response.output_item.done", output_index: 0, item: call() } as Event,
      completed()
    ],
    called
  ),
  row(
    "folding/call-twice",
    from("BerriAI/litellm", 32724, "an item comes in the stream and in the final response"),
    "The tool is called twice.",
    [created, { type: "response.output_item.done", output_index: 0, item: call() } as Event, completed([call()])],
    called
  ),
  row(
    "folding/shared-output-index",
    from("mcowger/plexus", 691, "all calls have the number 0"),
    "Two calls become one with two JSON texts.",
    [
      created,
      { type: "response.output_item.added", output_index: 0, item: call({ arguments: "" }) } as Event,
      {
        type: "response.function_call_arguments.delta",
        item_id: "f1",
        output_index: 0,
        delta: '{"city":"Ulm"}'
      } as Event,
      {
        type: "response.output_item.added",
        output_index: 0,
        item: call({ id: "f2", call_id: "b", arguments: "" })
      } as Event,
      {
        type: "response.function_call_arguments.delta",
        item_id: "f2",
        output_index: 0,
        delta: '{"city":"Bonn"}'
      } as Event,
      { type: "response.output_item.done", output_index: 0, item: call() } as Event,
      {
        type: "response.output_item.done",
        output_index: 0,
        item: call({ id: "f2", call_id: "b", arguments: '{"city":"Bonn"}' })
      } as Event,
      completed()
    ],
    { calls: [ulm, { name: "weather", arguments: { city: "Bonn" }, id: "b" }], finish: "tool-calls" }
  ),
  row(
    "folding/arguments-as-object",
    from("ggml-org/llama.cpp", 20198, "arguments are an object and no text"),
    "The call is refused, or its arguments become [object Object].",
    [
      created,
      { type: "response.output_item.done", output_index: 0, item: call({ arguments: { city: "Ulm" } }) } as Event,
      completed()
    ],
    called
  ),
  row(
    "folding/refusal-done",
    {
      repository: "https://platform.openai.com/docs/api-reference/responses-streaming",
      subject: "a refusal may come only at its end"
    },
    "A refusal is an empty answer.",
    [
      created,
      { type: "response.refusal.done", item_id: "m1", output_index: 0, content_index: 0, refusal: "No." } as Event,
      completed()
    ],
    { text: "No.", finish: "refusal" }
  ),
  row(
    "folding/reasoning-in-item",
    {
      repository: "https://platform.openai.com/docs/api-reference/responses-streaming",
      subject: "reasoning may come only in its item"
    },
    "Reasoning is lost.",
    [
      created,
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { type: "reasoning", id: "x", summary: [{ type: "summary_text", text: "Hm." }] }
      } as Event,
      delta("Sunny.", { output_index: 1 }),
      completed()
    ],
    { ...sunny, reasoning: "Hm." }
  ),
  row(
    "ending/incomplete-for-an-unknown-reason",
    from("BerriAI/litellm", 37710, "incomplete answers were taken for whole ones"),
    "A cut answer counts as a whole one.",
    [
      created,
      delta("Half of "),
      {
        type: "response.incomplete",
        response: response([], { status: "incomplete", incomplete_details: { reason: "server_error" } })
      } as Event
    ],
    { failure: ["Overloaded", "Malformed", "Network"], says: ["server_error"], usage: used }
  ),
  row(
    "ending/incomplete-for-length",
    from("BerriAI/litellm", 37710, "an answer that is too long is incomplete"),
    "An answer that ran out of tokens is an error.",
    [
      created,
      delta("Half of "),
      {
        type: "response.incomplete",
        response: response([], { status: "incomplete", incomplete_details: { reason: "max_tokens" } })
      } as Event
    ],
    { text: "Half of ", finish: "length", usage: used }
  ),
  row(
    "ending/cut",
    from("griffinwork40/agent-afk", 635, "a stream that is cut was taken for a whole one"),
    "A cut answer counts as a whole one.",
    [created, delta("Half of ")],
    { failure: ["Network"] }
  ),
  row(
    "ending/failed-status-in-completed",
    from("BerriAI/litellm", 32724, "the final event says completed, its response does not"),
    "A failed answer counts as a whole one.",
    [
      created,
      delta("Half of "),
      completed([], { status: "failed", error: { code: "server_error", message: "engine died" } })
    ],
    { failure: ["Overloaded"], says: ["engine died"], usage: used }
  ),
  row(
    "error/flat-event",
    {
      repository: "https://platform.openai.com/docs/api-reference/responses-streaming",
      subject: "the error event is flat"
    },
    "The reason is not looked for where there is no error object.",
    [created, { type: "error", code: "rate_limit_exceeded", message: "slow down", param: null } as Event],
    { failure: ["RateLimited"], says: ["slow down"] }
  ),
  row(
    "error/nested-event",
    from("theopenco/llmgateway", 1901, "the error event wraps an error object"),
    "The reason is not read, and the answer seems cut.",
    [
      created,
      {
        type: "error",
        error: { type: "invalid_request_error", code: "context_length_exceeded", message: "too much" }
      } as Event
    ],
    { failure: ["ContextTooLong"], says: ["too much"] }
  ),
  row(
    "error/quota-with-status-200",
    from("lmstudio-ai/lmstudio-bug-tracker", 2322, "errors come with status 200"),
    "The class is lost, and a call is retried that cannot succeed.",
    {
      contentType: "application/json",
      body: JSON.stringify({ error: { message: "balance is used up", code: "insufficient_quota" } })
    },
    { failure: ["Quota"], says: ["balance is used up"] }
  ),
  row(
    "null-and-lists/null-fields",
    from("microsoft/autogen", 7711, "signs of life and absent fields are null"),
    "A whole answer is thrown away for a keep-alive message.",
    {
      body: `data: null\n\n${named(created, delta("Sunny."), completed([{ ...message("Sunny."), content: null }], { error: null, incomplete_details: null }))}`
    },
    sunny
  ),
  row(
    "null-and-lists/content-as-text",
    from("BerriAI/litellm", 32724, "the content of a final message is a text"),
    "The answer is empty, or it is refused.",
    [created, completed([{ type: "message", id: "m1", role: "assistant", content: "Sunny." }])],
    sunny
  ),
  {
    id: "responses/preference/effort",
    protocol: "responses",
    direction: "response",
    class: "preference",
    source: from("BerriAI/litellm", 13569, "a model refuses an effort by name"),
    why: "A client that says how it would like to be answered gets nothing but errors.",
    replies: [
      {
        status: 400,
        contentType: "application/json",
        body: JSON.stringify({
          error: { message: "Unsupported parameter: 'reasoning.effort'", param: "reasoning.effort" }
        })
      },
      { body: named(created, delta("Sunny."), completed() as Event) }
    ],
    request: { reasoning: { type: "effort", effort: "high" } },
    expected: sunny,
    requests: 2,
    without: ["reasoning"]
  },
  row(
    "usage/chat-names",
    from("Bike4Mind/bike4mind", 1089, "usage has the names of another API"),
    "The call counts as one that reports nothing.",
    [created, delta("Sunny."), completed([], { usage: { prompt_tokens: 11, completion_tokens: 7 } })],
    sunny
  )
]

export const responses: ReadonlyArray<Row> = rows
