/** Answers of gateways and servers and requests of agents, from reports of 2026. */
import { zstdCompressSync } from "node:zlib"
import { bonn, called, calls, chunk, from, piece, sunny, ulm, used } from "./chatRow.ts"
import * as G from "./generateContent.ts"
import * as M from "./messages.ts"
import { bare, events, named, type Protocol, type ResponseRow, type Row } from "./Row.ts"
import { other, request } from "./reportForms.ts"
import * as R from "./responses.ts"

interface Event {
  readonly type: string
  readonly [field: string]: unknown
}

const lost = "An answer that others read is lost."
const unread = "The vendor's words are lost, and the class with them."
const half = "Half of an answer counts as a whole one."
const refusal = "A client that no user can change gets nothing but errors."
const ends = "The history of a session is refused, and the session ends."
const bytes = "The bytes are taken for text."

const slow = { failure: ["RateLimited"], says: ["Slow down"] } as const
const cut = { failure: ["Network", "Malformed", "Overloaded"] } as const

const sunnyOfClaude = named(M.opening(), ...M.sunny, M.ending("end_turn"), M.over)

// -------------------------------------------------------------------------------------------------------------------
// Compression without a header
// -------------------------------------------------------------------------------------------------------------------

const relay = from("farion1231/cc-switch", 3901, "relays compress answers with zstd and drop the header")

const packed = (protocol: Protocol, text: string, contentType: string, more: object = {}): ResponseRow =>
  other(
    protocol,
    "encoding/zstd-without-a-label",
    relay,
    bytes,
    { contentType, body: zstdCompressSync(text) },
    { ...sunny, usage: used, ...more }
  )

const sunnyWhole = {
  id: "c1",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Sunny." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
}

const compressed: ReadonlyArray<Row> = [
  packed("chat", JSON.stringify(sunnyWhole), "application/json"),
  packed("responses", JSON.stringify(R.response([R.message("Sunny.")])), "application/json"),
  packed("messages", sunnyOfClaude, "text/event-stream"),
  packed(
    "generate-content",
    bare(G.chunk([G.text("Sunny.")], "STOP", { usageMetadata: G.usageMetadata })),
    "text/event-stream"
  ),
  other(
    "chat",
    "encoding/error-in-zstd-without-a-label",
    relay,
    unread,
    {
      status: 429,
      contentType: "application/json",
      body: zstdCompressSync(JSON.stringify({ error: { message: "Slow down." } }))
    },
    slow
  ),
  other(
    "messages",
    "encoding/zstd-in-packets-without-a-label",
    relay,
    bytes,
    { body: [zstdCompressSync(sunnyOfClaude).subarray(0, 20), zstdCompressSync(sunnyOfClaude).subarray(20)] },
    { ...sunny, usage: used }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Errors within a stream of Chat Completions
// -------------------------------------------------------------------------------------------------------------------

const inChat = (
  id: string,
  source: ResponseRow["source"],
  why: string,
  body: string,
  expected: ResponseRow["expected"]
) => other("chat", id, source, why, body, expected)

const errors: ReadonlyArray<Row> = [
  inChat(
    "error/envelope-alone",
    from("apache/rocketmq-dashboard", 2178, "a stream with status 200 has nothing but an error, then the end"),
    "An error counts as an answer without text.",
    events({ error: { message: "quota exceeded" } }),
    { failure: ["Quota", "RateLimited"], says: ["quota exceeded"] }
  ),
  inChat(
    "error/beside-empty-choices",
    from("diegosouzapw/OmniRoute", 8210, "an aggregator reports a worker's limit beside an empty list of choices"),
    "An error counts as an answer without text.",
    events({
      id: "gen-1",
      object: "chat.completion.chunk",
      model: "m",
      choices: [],
      error: { code: 502, message: "Worker local total request limit reached (33/32)" }
    }),
    { failure: ["Overloaded", "RateLimited"], says: ["request limit reached"] }
  ),
  inChat(
    "error/text-without-spaces",
    from("fox1245/NeoGraph", 124, "the error of a stream is one word"),
    "An error counts as an answer without text.",
    events({ error: "STREAM_EXPLODED" }),
    { failure: ["Overloaded", "Malformed"], says: ["STREAM_EXPLODED"] }
  ),
  inChat(
    "error/named-event-after-text",
    from("octos-org/octos", 13, "an event called error follows half of a text"),
    half,
    `${bare(chunk({ content: "Half" }))}event: error\ndata: ${JSON.stringify({ error: "Stream error: Internal Network Failure" })}\n\n`,
    { failure: ["Overloaded", "Malformed", "Network"], says: ["Internal Network Failure"] }
  ),
  inChat(
    "error/disconnect-before-the-mark",
    from(
      "Augustas11/macprovider",
      186,
      "a provider disconnects, and the gateway sends an error and the mark of the end"
    ),
    half,
    events(chunk({ content: "Half" }), {
      error: { message: "Provider disconnected during streaming", type: "server_error", code: "provider_disconnected" }
    }),
    { failure: ["Overloaded", "Network"], says: ["Provider disconnected"] }
  ),
  inChat(
    "error/within-an-unfinished-event",
    from("Wei-Shaw/sub2api", 1471, "an error is written into an event that was not finished"),
    half,
    `${bare(chunk({ content: "Half" }))}data: {"id":"c1","choices":[{"index":0,"delta":{"cont\ndata: ${JSON.stringify({
      type: "error",
      error: { type: "upstream_error", message: "stream_read_error" }
    })}\n\n`,
    { failure: ["Overloaded", "Malformed", "Network"] }
  ),
  inChat(
    "ending/cut-call-with-the-ending-of-calls",
    from("vllm-project/vllm", 58228, "a call that the limit of the output cut ends with tool_calls"),
    "The worker does not learn that its call is incomplete.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"city":' })),
      calls(piece({ index: 0, args: '"Ul' })),
      chunk({}, "tool_calls")
    ),
    { calls: [{ name: "weather", arguments: '{"city":"Ul' }], ...called }
  ),
  inChat(
    "ending/name-alone-at-the-limit",
    from("vllm-project/vllm", 46303, "the limit is reached after the name of a function"),
    "A tool runs without its arguments.",
    events(calls(piece({ index: 0, id: "a", name: "weather", args: "" })), chunk({}, "length")),
    { calls: [], finish: "length" }
  ),
  inChat(
    "ending/second-call-cut-at-the-limit",
    from("XpressAI/xaibo", 33, "the limit is reached within the second of two calls"),
    "A tool runs with half of its arguments.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"city":"Ulm"}' })),
      calls(piece({ index: 1, id: "b", name: "weather", args: '{"city":"Bo' })),
      chunk({}, "length")
    ),
    { calls: [{ name: "weather", arguments: { city: "Ulm" } }], finish: "length" }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Preferences that a server refuses
// -------------------------------------------------------------------------------------------------------------------

/** A server that refuses a setting once and then answers. */
const refused = (id: string, source: ResponseRow["source"], status: number, body: unknown): ResponseRow => ({
  ...other(
    "chat",
    `preference/${id}`,
    source,
    "A setting that the server does not have fails each request.",
    "",
    sunny
  ),
  replies: [
    { status, contentType: "application/json", body: JSON.stringify(body) },
    { body: events(chunk({ content: "Sunny." }, "stop")) }
  ],
  request: { temperature: 0.5 },
  requests: 2,
  without: ["temperature"]
})

const preferences: ReadonlyArray<Row> = [
  refused("property-of-groq", from("zed-industries/zed", 36215, "Groq calls the setting a property"), 400, {
    error: { message: "property 'temperature' is unsupported", type: "invalid_request_error" }
  }),
  refused("property-of-cerebras", from("zed-industries/zed", 36215, "Cerebras writes the place of the setting"), 422, {
    message: "body.temperature: property 'body.temperature' is unsupported",
    type: "invalid_request_error",
    param: "validation_error",
    code: "wrong_api_format"
  }),
  refused(
    "list-as-text",
    from("voideditor/void", 128, "vLLM's error is a list of pydantic's, written as a text"),
    400,
    {
      object: "error",
      message:
        "[{'type': 'extra_forbidden', 'loc': ('body', 'temperature'), 'msg': 'Extra inputs are not permitted', 'input': 0.5}]",
      type: "BadRequestError",
      param: null,
      code: 400
    }
  ),
  refused(
    "error-within-an-error",
    from("anthropics/claude-code", 51700, "a proxy puts the vendor's error into its own"),
    400,
    {
      error: {
        message: '{"message":"temperature: Extra inputs are not permitted"}No fallback model group found for original',
        type: null,
        param: null,
        code: "400"
      }
    }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Responses
// -------------------------------------------------------------------------------------------------------------------

const onResponses = (
  id: string,
  source: ResponseRow["source"],
  why: string,
  reply: ReadonlyArray<Event> | string,
  expected: ResponseRow["expected"]
): ResponseRow => other("responses", id, source, why, typeof reply === "string" ? reply : named(...reply), expected)

const created = R.created as Event
const completed = (output: unknown = [], more: object = {}) => R.completed(output, more) as Event
const delta = (text: string, more: object = {}) => R.delta(text, more) as Event
const added = (item: object, output_index: unknown = 0): Event => ({
  type: "response.output_item.added",
  output_index,
  item
})
const done = (item: object, output_index: unknown = 0): Event => ({
  type: "response.output_item.done",
  output_index,
  item
})
const emptyMessage = { type: "message", id: "m1", role: "assistant", status: "in_progress", content: [] }
const emptyPart: Event = {
  type: "response.content_part.added",
  item_id: "m1",
  output_index: 0,
  content_index: 0,
  part: { type: "output_text", text: "", annotations: [] }
}
const thinking = (delta: string): Event => ({
  type: "response.reasoning_text.delta",
  item_id: "x1",
  output_index: 0,
  content_index: 0,
  delta
})

const responses: ReadonlyArray<Row> = [
  onResponses(
    "folding/empty-output-after-items",
    from("QuantumNous/new-api", 4362, "the final response has no output, although items were streamed"),
    lost,
    [created, added(emptyMessage), emptyPart, delta("Sunny."), done(R.message("Sunny.")), completed([])],
    { ...sunny, usage: used }
  ),
  onResponses(
    "folding/empty-part-and-text-at-the-end",
    from("TanStack/ai", 937, "an empty part is added, and the text is only in the final response"),
    lost,
    [created, added(emptyMessage), emptyPart, completed([R.message("Sunny.")])],
    { ...sunny, usage: used }
  ),
  onResponses(
    "folding/three-events",
    from("Sophomoresty/gemini-web2api", 57, "a stream has three events: its begin, the whole text, its end"),
    lost,
    [
      created,
      { type: "response.output_text.done", item_id: "m1", output_index: 0, content_index: 0, text: "Sunny." },
      completed([])
    ],
    { ...sunny, usage: used }
  ),
  onResponses(
    "folding/items-done-and-no-output",
    from("BerriAI/litellm", 32724, "items come complete, and the final response has an empty list"),
    lost,
    [created, done(R.message("I look.")), done(R.call(), 1), completed([])],
    { text: "I look.", calls: [ulm], ...called }
  ),
  onResponses(
    "ending/stops-within-reasoning",
    from("ollama/ollama", 17531, "a stream ends within the reasoning, without any event of an end"),
    half,
    [
      created,
      {
        type: "response.reasoning_summary_text.delta",
        item_id: "x1",
        output_index: 0,
        summary_index: 0,
        delta: "Hm"
      }
    ],
    cut
  ),
  onResponses(
    "ending/mark-without-completed",
    from("decolua/9router", 1648, "a stream ends with the mark of Chat Completions after half of a text"),
    half,
    `${named(created, delta("Half"))}data: [DONE]\n\n`,
    cut
  ),
  onResponses(
    "folding/reasoning-parts-and-text",
    from("vllm-project/vllm", 24938, "reasoning has events for its parts"),
    lost,
    [
      created,
      added({ type: "reasoning", id: "x1", summary: [], content: [] }),
      {
        type: "response.reasoning_part.added",
        item_id: "x1",
        output_index: 0,
        content_index: 0,
        part: { type: "reasoning_text", text: "" }
      },
      thinking("Hm."),
      { type: "response.reasoning_text.done", item_id: "x1", output_index: 0, content_index: 0, text: "Hm." },
      {
        type: "response.reasoning_part.done",
        item_id: "x1",
        output_index: 0,
        content_index: 0,
        part: { type: "reasoning_text", text: "Hm." }
      },
      delta("Sunny.", { output_index: 1 }),
      completed([R.message("Sunny.")])
    ],
    { ...sunny, reasoning: "Hm." }
  ),
  onResponses(
    "folding/content-part-for-reasoning",
    from("vllm-project/vllm", 35184, "the part of a reasoning item is announced as a part of content"),
    "The reasoning counts as text.",
    [
      created,
      added({ type: "reasoning", id: "x1", summary: [], content: [] }),
      { ...emptyPart, item_id: "x1", part: { type: "reasoning_text", text: "" } },
      thinking("Hm."),
      { type: "response.reasoning_text.done", item_id: "x1", output_index: 0, content_index: 0, text: "Hm." },
      done({ type: "reasoning", id: "x1", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] }),
      delta("Sunny.", { output_index: 1 }),
      completed()
    ],
    { ...sunny, reasoning: "Hm." }
  ),
  onResponses(
    "folding/empty-message-before-the-call",
    from("vllm-project/vllm", 29947, "a message without content ends before a call begins"),
    "The empty message is the answer, and the call is lost.",
    [
      created,
      added(emptyMessage),
      done({ ...emptyMessage, status: "completed", phase: null }),
      added(R.call({ arguments: "", namespace: null, status: "in_progress" }), 1),
      { type: "response.function_call_arguments.delta", item_id: "f1", output_index: 1, delta: '{"city":' },
      { type: "response.function_call_arguments.delta", item_id: "f1", output_index: 1, delta: '"Ulm"}' },
      {
        type: "response.function_call_arguments.done",
        item_id: "f1",
        output_index: 1,
        arguments: '{"city":"Ulm"}',
        name: "weather"
      },
      completed([R.call()])
    ],
    { calls: [ulm], ...called }
  ),
  onResponses(
    "folding/other-ids-at-the-end",
    from("vllm-project/vllm", 38227, "the final response names its items and calls otherwise than the events did"),
    "A call runs twice.",
    [
      created,
      added(R.call({ arguments: "" })),
      done(R.call()),
      added(R.call({ id: "f2", call_id: "b", arguments: "" }), 1),
      done(R.call({ id: "f2", call_id: "b", arguments: '{"city":"Bonn"}' }), 1),
      completed([R.call({ id: "f9", call_id: "x" }), R.call({ id: "f8", call_id: "y", arguments: '{"city":"Bonn"}' })])
    ],
    { calls: [ulm, bonn], ...called }
  ),
  onResponses(
    "folding/message-open-in-failure",
    from("onyx-dot-app/onyx", 13624, "a failure follows a message that was never closed"),
    half,
    [
      created,
      added(emptyMessage),
      delta("Half"),
      {
        type: "response.failed",
        response: R.response([], { status: "failed", error: { code: "server_error", message: "The worker is gone." } })
      }
    ],
    { failure: ["Overloaded"], says: ["The worker is gone"] }
  ),
  onResponses(
    "error/unsupported-tool-as-json-in-json",
    from("caozhiyuan/copilot-api", 206, "the vendor's refusal is JSON in the message of a proxy's error"),
    unread,
    JSON.stringify({
      error: {
        message:
          '{"error":{"message":"The requested tool image_generation is not supported.","code":"unsupported_value","param":"tools","type":"invalid_request_error"}}\n',
        type: "error"
      }
    }),
    { failure: ["InvalidRequest", "Malformed", "Overloaded"], says: ["image_generation is not supported"] }
  ),
  onResponses(
    "folding/calls-and-reasoning-as-summary",
    from("Blaizzy/mlx-vlm", 1458, "reasoning streams as text and ends as a summary"),
    lost,
    [
      created,
      added({ type: "reasoning", id: "x1", summary: [] }),
      thinking("Hm."),
      done({ type: "reasoning", id: "x1", summary: [{ type: "summary_text", text: "Hm." }] }),
      done(R.call(), 1),
      completed([{ type: "reasoning", id: "x1", summary: [{ type: "summary_text", text: "Hm." }] }, R.call()])
    ],
    { reasoning: "Hm.", calls: [ulm], ...called }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Messages
// -------------------------------------------------------------------------------------------------------------------

const onMessages = (
  id: string,
  source: ResponseRow["source"],
  why: string,
  reply: ReadonlyArray<Event>,
  expected: ResponseRow["expected"]
): ResponseRow => other("messages", id, source, why, named(...reply), expected)

const messages: ReadonlyArray<Row> = [
  onMessages(
    "usage/output-alone-at-the-end",
    from("earendil-works/pi", 1045, "a proxy's last event has the tokens of the output alone"),
    "The tokens of the input are forgotten.",
    [M.opening(), ...M.sunny, M.ending("end_turn", { usage: { output_tokens: 7 } }), M.over],
    { ...sunny, usage: used }
  ),
  onMessages(
    "usage/input-null-at-the-end",
    from("earendil-works/pi", 1045, "the tokens of the input are null in the last event"),
    "The tokens of the input are forgotten.",
    [
      M.opening(),
      ...M.sunny,
      M.ending("end_turn", { usage: { input_tokens: null, cache_read_input_tokens: null, output_tokens: 7 } }),
      M.over
    ],
    { ...sunny, usage: used }
  ),
  onMessages(
    "usage/cache-at-the-end",
    from("jeremychone/rust-genai", 258, "DashScope reports what it read from the cache in the last event alone"),
    "Cheap tokens are charged at the full price.",
    [
      M.opening({ usage: { input_tokens: 2, output_tokens: 0 } }),
      ...M.sunny,
      M.ending("end_turn", {
        usage: { cache_creation_input_tokens: 0, cache_read_input_tokens: 9, output_tokens: 7 }
      }),
      M.over
    ],
    { ...sunny, usage: { inputTokens: 11, outputTokens: 7, cachedInputTokens: 9 } }
  ),
  onMessages(
    "usage/zeros-in-the-first-event",
    from("BerriAI/litellm", 31069, "the first event has zeros, and the figures are in the last"),
    "Usage of zeros is taken as free.",
    [
      M.opening({
        usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
      }),
      ...M.sunny,
      M.ending("end_turn", { usage: { input_tokens: 11, output_tokens: 7 } }),
      M.over
    ],
    { ...sunny, usage: used }
  ),
  onMessages(
    "usage/without-cache-fields",
    from("vllm-project/vllm", 40912, "what is unknown about the cache is left out"),
    "A good answer fails for its usage.",
    [
      M.opening({ usage: { input_tokens: 11, output_tokens: 0 } }),
      ...M.sunny,
      M.ending("end_turn", { usage: { input_tokens: 11, output_tokens: 7 } }),
      M.over
    ],
    { ...sunny, usage: used }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

const hm = { role: "user", content: "Hm" }
const schema = { type: "object", properties: { city: { type: "string" } } }
const flat = (name: string) => ({ type: "function", name, parameters: schema, strict: false })

const management = (value: unknown) => ({ max_tokens: 99, messages: [hm], context_management: value })

const requests: ReadonlyArray<Row> = [
  request(
    "messages",
    "edits-of-the-context",
    from("anthropics/claude-code", 21612, "Claude Code asks for its context to be edited"),
    refusal,
    management({ edits: [{ type: "clear_thinking_20251015", keep: "all" }] }),
    { asked: "Hm" }
  ),
  request(
    "messages",
    "context-management-of-others",
    from("Wei-Shaw/sub2api", 1968, "a client adds fields of its own to the management of the context"),
    refusal,
    management({ enabled: true, edits: [] }),
    { asked: "Hm" }
  ),
  request(
    "messages",
    "cache-hint-on-thinking",
    from("router-for-me/CLIProxyAPI", 512, "a block of thinking has a hint for the cache"),
    ends,
    {
      max_tokens: 99,
      messages: [
        { role: "user", content: "Hello" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "c2ln", cache_control: { type: "ephemeral" } },
            { type: "text", text: "Hello." }
          ]
        },
        hm
      ]
    },
    { asked: "Hm", sees: ["Hello."] }
  ),
  request(
    "messages",
    "thinking-off-with-display",
    from("anthropics/claude-code", 69618, "thinking is turned off, and has a field for its display"),
    refusal,
    { max_tokens: 99, messages: [hm], thinking: { type: "disabled", display: "omitted" } },
    { asked: "Hm" }
  ),
  request(
    "messages",
    "adaptive-thinking-with-effort",
    from("databricks/unity-gateway", 102, "newer models take adaptive thinking with an effort"),
    refusal,
    { max_tokens: 99, messages: [hm], thinking: { type: "adaptive" }, output_config: { effort: "high" } },
    { asked: "Hm" }
  ),
  request(
    "messages",
    "tool-with-examples",
    from("anthropics/claude-code", 69618, "a tool has examples of its input"),
    refusal,
    {
      max_tokens: 99,
      messages: [hm],
      tools: [{ type: "custom", name: "look", input_schema: schema, input_examples: [{ city: "Ulm" }] }]
    },
    { asked: "Hm", tools: ["look"] }
  ),
  request(
    "messages",
    "tool-that-is-loaded-later",
    from("anthropics/claude-code", 69618, "tools are deferred, and a search for tools is offered"),
    refusal,
    {
      max_tokens: 99,
      messages: [hm],
      tools: [
        { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
        { name: "look", input_schema: schema, defer_loading: true }
      ]
    },
    { asked: "Hm", tools: ["look"] }
  ),
  request(
    "responses",
    "tools-of-codex",
    from("CommandCodeAI/command-code", 885, "Codex mixes functions, free-form tools and tools of the vendor"),
    refusal,
    {
      input: "Hm",
      tools: [
        flat("shell"),
        { type: "custom", name: "apply_patch", format: { type: "grammar", syntax: "lark", definition: "start: x" } },
        { type: "web_search", external_web_access: true },
        { type: "image_generation", output_format: "png" }
      ]
    },
    { asked: "Hm", tools: ["shell", "apply_patch"] }
  ),
  request(
    "responses",
    "namespace-of-mcp",
    from("ggml-org/llama.cpp", 20156, "Codex sends the tools of an MCP server as a namespace"),
    "The tools of the client are not offered.",
    { input: "Hm", tools: [{ type: "namespace", name: "mcp__wiki", description: "Wiki", tools: [flat("look")] }] },
    { asked: "Hm", tools: ["mcp__wiki__look"] }
  ),
  request(
    "responses",
    "namespace-of-pictures",
    from("caozhiyuan/copilot-api", 312, "a namespace of the client has the name of a tool of the vendor"),
    refusal,
    { input: "Hm", tools: [{ type: "namespace", name: "image_gen", tools: [{ type: "function", name: "imagegen" }] }] },
    { asked: "Hm", tools: ["image_gen__imagegen"] }
  ),
  request(
    "responses",
    "search-for-tools-in-the-history",
    from("CommandCodeAI/command-code", 893, "the history has a search for tools and its result"),
    ends,
    {
      input: [
        { type: "message", ...hm },
        { type: "tool_search_call", call_id: "c1", execution: "client", arguments: { query: "wiki" } },
        { type: "tool_search_output", call_id: "c1", execution: "client", tools: [flat("look")] },
        { type: "message", ...hm }
      ],
      tools: [{ type: "tool_search", execution: "client", description: "Finds tools.", parameters: schema }]
    },
    { asked: "Hm" }
  ),
  request(
    "responses",
    "picture-as-a-result",
    from("ggml-org/llama.cpp", 23380, "the output of a function is a picture"),
    ends,
    {
      input: [
        { type: "message", ...hm },
        { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
        {
          type: "function_call_output",
          call_id: "c1",
          output: [{ type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" }]
        }
      ],
      tools: [flat("look")]
    },
    { sees: ['"image/png"', "iVBORw0KGgo="] }
  ),
  request(
    "responses",
    "apply-patch-as-a-type",
    from("smg-project/smg", 1339, "the tool for patches is named by its type alone"),
    "The model is not offered the tool, and answers with the patch as text.",
    { input: "Hm", tools: [{ type: "apply_patch" }], tool_choice: { type: "apply_patch" } },
    { asked: "Hm", tools: ["apply_patch"] }
  ),
  request(
    "responses",
    "local-shell-and-its-history",
    from("ericc-ch/copilot-api", 248, "a gateway maps the local shell to a function and back"),
    ends,
    {
      input: [
        { type: "message", ...hm },
        {
          type: "local_shell_call",
          id: "lsh_1",
          call_id: "c1",
          status: "completed",
          action: { type: "exec", command: ["ls"], env: {} }
        },
        {
          type: "local_shell_call_output",
          id: "lso_1",
          call_id: "c1",
          output: '{"output":"a.txt"}',
          status: "completed"
        }
      ],
      tools: [{ type: "local_shell" }]
    },
    { tools: ["local_shell"], sees: ["a.txt"] }
  ),
  request(
    "responses",
    "free-form-call-in-the-history",
    from("letta-ai/letta-code", 2559, "a free-form call is sent back with the id of its item"),
    ends,
    {
      input: [
        { type: "message", ...hm },
        {
          type: "custom_tool_call",
          id: "ctc_1",
          call_id: "c1",
          name: "patch",
          input: "*** Begin",
          status: "completed"
        },
        { type: "custom_tool_call_output", call_id: "c1", output: "Done." }
      ],
      tools: [{ type: "custom", name: "patch" }]
    },
    { tools: ["patch"], sees: ["*** Begin", "Done."] }
  ),
  request(
    "responses",
    "choice-among-allowed-tools",
    from("tenstorrent/tt-inference-server", 3498, "a choice among tools that are allowed names functions"),
    "A tool that is not allowed is called.",
    {
      input: "Hm",
      tools: [flat("look"), flat("wait")],
      tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "wait" }] }
    },
    { asked: "Hm", tools: ["wait"] }
  ),
  request(
    "chat",
    "tool-without-properties",
    from("microsoft/vscode-copilot-release", 8040, "a tool has a schema without properties"),
    refusal,
    {
      messages: [hm],
      tools: [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }],
      stream_options: { include_usage: true }
    },
    { asked: "Hm", tools: ["look"] }
  ),
  request(
    "chat",
    "broken-call-in-the-history",
    from(
      "MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark",
      55,
      "a call that was cut is sent back with half of its arguments"
    ),
    ends,
    {
      messages: [
        hm,
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: '{"city":"U' } }]
        },
        { role: "tool", tool_call_id: "c1", content: "Unterminated string" },
        hm
      ],
      tools: [{ type: "function", function: { name: "look", parameters: schema } }]
    },
    { asked: "Hm", sees: ["Unterminated string"] }
  ),
  request(
    "chat",
    "both-limits",
    from("HKUDS/nanobot", 2468, "a client sends both names of the limit of the output"),
    refusal,
    { messages: [hm], max_tokens: 50, max_completion_tokens: 50 },
    { asked: "Hm", sees: ['"maxOutputTokens":50'] }
  ),
  request(
    "chat",
    "key-of-the-cache",
    from("Soju06/codex-lb", 67, "a client writes the key of the cache in its own letters"),
    refusal,
    {
      messages: [hm],
      promptCacheKey: "a",
      prompt_cache_key: "a",
      prompt_cache_retention: "24h",
      safety_identifier: "b"
    },
    { asked: "Hm" }
  ),
  {
    ...request(
      "responses",
      "zstd-without-label",
      from("QuantumNous/new-api", 4913, "Codex's remote client compresses a request and names no encoding"),
      "The parser of JSON complains about a parenthesis.",
      {},
      { asked: "Hm" }
    ),
    class: "encoding",
    request: {
      path: "/v1/responses",
      headers: { "content-type": "application/json" },
      body: zstdCompressSync(JSON.stringify({ model: "divisi", input: "Hm" }))
    }
  },
  {
    ...request(
      "responses",
      "two-encodings-with-an-unknown-one",
      from("Anionex/agent-vision-toolkit", 30, "a request names encodings that the server does not have"),
      "The client has to learn that the encoding is the problem, and not its JSON.",
      {},
      { status: 415, says: ["lzma"] }
    ),
    class: "encoding",
    request: {
      path: "/v1/responses",
      headers: { "content-type": "application/json", "content-encoding": "lzma, gzip" },
      body: "{}"
    }
  }
]

/** The rows. */
export const gatewayReports: ReadonlyArray<Row> = [
  ...compressed,
  ...errors,
  ...preferences,
  ...responses,
  ...messages,
  ...requests
]
