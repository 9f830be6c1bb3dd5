/** Rows of reports about gateways and agents from February to September 2026, and of older ones that they refer to. */
import { called, choice, chunk, from, json, piece, refused, row, sunny, ulm, usage, used } from "./chatRow.ts"
import { bare, events, named, type Outcome, type Protocol, type RequestRow, type ResponseRow, type Row } from "./Row.ts"

const stop = chunk({}, "stop")

const lost = "An answer that others read is lost."

const chat: ReadonlyArray<Row> = [
  row(
    "folding/filter-offsets-without-delta",
    from("microsoft/autogen", 6465, "Azure sends a choice with filter offsets and without a delta"),
    lost,
    events(
      chunk({ content: "Sun" }),
      choice({ index: 0, finish_reason: null, content_filter_offsets: { check_offset: 44 } }),
      chunk({ content: "ny." }),
      stop
    ),
    sunny
  ),
  row(
    "folding/deltas-without-content",
    from("cline/cline", 12132, "a server omits the content of deltas that have only a role or reasoning"),
    lost,
    events(chunk({ role: "assistant" }), chunk({ reasoning_content: "Hm" }), chunk({ content: "Sunny." }), stop),
    { ...sunny, reasoning: "Hm" }
  ),
  row(
    "folding/answer-within-data",
    from("cline/cline", 12647, "a gateway wraps its complete answers in data, next to success"),
    lost,
    json({
      success: true,
      data: {
        object: "chat.completion",
        choices: [{ index: 0, message: { content: "Sunny." }, finish_reason: "stop" }],
        usage
      }
    }),
    { ...sunny, usage: used }
  ),
  row(
    "folding/reasoning-summary-in-content",
    from("tidyverse/ellmer", 822, "Databricks sends reasoning as a summary within a part of the content"),
    "The reasoning is lost or becomes part of the answer.",
    events(
      chunk({ content: [{ type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }] }] }),
      chunk({ content: [{ type: "text", text: "Sunny." }] }),
      stop
    ),
    { ...sunny, reasoning: "Hm" }
  ),
  row(
    "error/reset-in-quoted-headers",
    from("songquanpeng/one-api", 2148, "OpenRouter answers 200 with an error and the headers of the limit in its body"),
    "A limit counts as an empty answer, and no other worker takes over.",
    json({
      id: null,
      choices: null,
      error: {
        message: "Rate limit exceeded: free-models-per-day",
        code: 429,
        metadata: { headers: { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1740614400000" } }
      }
    }),
    { failure: ["RateLimited"], says: ["free-models-per-day"] }
  ),
  row(
    "error/beside-an-empty-answer",
    from("BerriAI/litellm", 8448, "OpenRouter sends an error next to an answer without content that ends with stop"),
    "A limit counts as an empty answer, and is not retried.",
    json({
      choices: [{ index: 0, message: { role: "assistant", content: null }, finish_reason: "stop" }],
      error: {
        message: "Provider returned error",
        code: 429,
        metadata: { raw: "error code: 1015", provider_name: "K" }
      }
    }),
    { failure: ["RateLimited"], says: ["1015"] }
  ),
  row(
    "error/plain-text-event",
    from("EricLBuehler/mistral.rs", 1874, "an error in a stream is an event of plain text"),
    "The reason is lost.",
    "data: Number of choices must be greater than 0.\n\n",
    { failure: ["Malformed", "InvalidRequest", "Overloaded"], says: ["Number of choices"] }
  ),
  row(
    "error/subscription-quota",
    from("diegosouzapw/OmniRoute", 1772, "a quota of a subscription is exceeded, with status 429"),
    "A worker that cannot answer for days is called again and again.",
    refused(429, { error: { message: "Subscription quota exceeded. You can continue using free models." } }),
    { failure: ["Quota"] }
  ),
  row(
    "error/reset-in-days",
    from("diegosouzapw/OmniRoute", 6731, "the text of a 429 says in how many days the limit resets"),
    "A call is repeated after seconds.",
    refused(429, { error: { message: "Too many requests. Your quota will reset in 3 days." } }),
    { failure: ["RateLimited"], retryAfterMillis: 259_200_000 }
  ),
  row(
    "usage/cumulative-in-each-chunk",
    from("databricks/databricks-ai-bridge", 176, "each chunk has the usage up to there"),
    "Tokens are counted several times.",
    events(
      chunk({ content: "Sun" }, null, { usage: { prompt_tokens: 11, completion_tokens: 1, total_tokens: 12 } }),
      chunk({ content: "ny." }, null, { usage: { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15 } }),
      chunk({}, "stop", { usage })
    ),
    { ...sunny, usage: used }
  ),
  row(
    "usage/zero-hits-beside-details",
    from("xorbitsai/xagent", 922, "a proxy reports no cache hits in one field and the cached tokens in another"),
    "Cached tokens are charged as new ones.",
    events(
      chunk({ content: "Sunny." }, "stop", {
        usage: { ...usage, prompt_cache_hit_tokens: 0, prompt_tokens_details: { cached_tokens: 5 } }
      })
    ),
    { ...sunny, usage: { cachedInputTokens: 5 } }
  ),
  row(
    "ending/load",
    from("can1357/oh-my-pi", 7465, "Ollama ends with the reason load and generates nothing"),
    "A model that was only loaded counts as an empty answer.",
    json({ model: "m", message: { role: "assistant", content: "" }, done: true, done_reason: "load" }),
    { failure: ["Malformed", "Overloaded", "Network"] }
  ),
  row(
    "ending/stop-with-a-call",
    from("googleapis/python-genai", 2868, "the same answer ends with stop in a stream and with tool_calls otherwise"),
    "An agent stops instead of running the tool.",
    events(chunk({ tool_calls: [piece({ index: 0, id: "a", name: "weather", args: '{"city":"Ulm"}' })] }), stop),
    { ...called, calls: [ulm] }
  ),
  row(
    "ending/twice",
    from("sgl-project/sglang", 8417, "the last chunk of text and an empty one both have a finish reason"),
    "The usage after the first ending is lost.",
    events(chunk({ content: "Sunny." }, "stop"), stop, { choices: [], usage }),
    { ...sunny, usage: used }
  ),
  row(
    "ending/empty-text-until-the-last-chunk",
    from("sgl-project/sglang", 3912, "chunks before the last one have an empty finish_reason instead of null"),
    "An answer that continues is taken for a failed one.",
    events(chunk({ role: null, content: "Sun", tool_calls: null }, ""), chunk({ content: "ny." }, ""), stop),
    sunny
  ),
  row(
    "overflow/request-size",
    from("anthropics/claude-code", 6362, "status 413 says that the request size exceeds the context window"),
    "An agent does not shorten its conversation.",
    refused(413, { error: { type: "invalid_request_error", message: "Request size exceeds model context window" } }),
    { failure: ["ContextTooLong"] }
  ),
  row(
    "error/delay-beside-the-message",
    from("BerriAI/litellm", 25507, "Gemini's delay is in the body of the error, not in a header"),
    "A caller retries too early, or not at all.",
    refused(429, { error: { message: "Please retry in 52.5s.", retryDelay: "52s" } }),
    { failure: ["RateLimited"] }
  ),
  row(
    "tools/null-in-text-as-arguments",
    from("use-agent-os/agent-os", 2042, "a call without parameters has the text null as arguments"),
    "A tool is called with an argument that it does not have.",
    events(chunk({ tool_calls: [piece({ index: 0, id: "a", name: "clock", args: "null" })] }, "tool_calls")),
    { ...called, calls: [{ name: "clock", arguments: {} }] }
  ),
  row(
    "overflow/json-in-a-databricks-message",
    from("aaif-goose/goose", 3635, "Databricks quotes Anthropic's overflow as JSON within its message"),
    "An agent does not compact its conversation.",
    refused(400, {
      error_code: "BAD_REQUEST",
      message: JSON.stringify({
        external_model_provider: "anthropic",
        external_model_error: {
          type: "error",
          error: {
            type: "invalid_request_error",
            message: "input length and `max_tokens` exceed context limit: 196758 + 8192 > 200000, decrease either"
          }
        }
      })
    }),
    { failure: ["ContextTooLong"] }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Other protocols
// -------------------------------------------------------------------------------------------------------------------

export const other = (
  protocol: Protocol,
  id: string,
  source: ResponseRow["source"],
  why: string,
  reply: string | ResponseRow["replies"][0],
  expected: Outcome
): ResponseRow => ({
  id: `${protocol}/${id}`,
  protocol,
  direction: "response",
  class: id.slice(0, id.indexOf("/")) as ResponseRow["class"],
  source,
  why,
  replies: [typeof reply === "string" ? { body: reply } : reply],
  expected
})

const started = {
  type: "message_start",
  message: { id: "m1", type: "message", role: "assistant", content: [], model: "m", usage: { input_tokens: 11 } }
}
const block = (content_block: object, index = 0) => ({ type: "content_block_start", index, content_block })
const said = (text: string, index = 0) => ({ type: "content_block_delta", index, delta: { type: "text_delta", text } })
const input = (partial_json: string) => ({
  type: "content_block_delta",
  index: 0,
  delta: { type: "input_json_delta", partial_json }
})
const closed = (index = 0) => ({ type: "content_block_stop", index })
const ended = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 7 } }
const over = { type: "message_stop" }
const text = block({ type: "text", text: "" })

const messages: ReadonlyArray<Row> = [
  other(
    "messages",
    "ending/last-frame-cut",
    from("sudoprivacy/sudocode", 576, "a proxy cuts the connection within the frame of message_stop"),
    "A complete answer is paid for again.",
    `${named(started, text, said("Sunny."), closed(), ended)}event: message_stop\ndata: {"type":"m`,
    sunny
  ),
  other(
    "messages",
    "error/overloaded-after-text",
    from("farzaa/clicky", 132, "an error event follows the first text of a stream with status 200"),
    "A part of an answer counts as a whole one.",
    named(started, text, said("Sun"), { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
    { failure: ["Overloaded"] }
  ),
  other(
    "messages",
    "ending/cut-within-a-call",
    from("BerriAI/litellm", 32159, "a stream stops in the middle of a call's input"),
    "A call runs with incomplete arguments, or an agent waits.",
    named(started, block({ type: "tool_use", id: "t", name: "weather", input: {} }), input('{"city":"U')),
    { failure: ["Network", "Malformed"] }
  ),
  other(
    "messages",
    "folding/start-without-content",
    from("SaladDay/cc-switch-cli", 320, "the start of a message has no content and no stop reason"),
    lost,
    named(
      { type: "message_start", message: { id: "m1", role: "assistant", usage: { input_tokens: 11 } } },
      text,
      said("Sunny."),
      closed(),
      ended,
      over
    ),
    { ...sunny, usage: used }
  ),
  other(
    "messages",
    "usage/only-cached-input",
    from("RESMP-DEV/ccr-rust", 28, "all input is read from the cache, so its own figure is 0"),
    "An answer counts as free.",
    named(
      { type: "message_start", message: { usage: { input_tokens: 0, cache_read_input_tokens: 50 } } },
      text,
      said("Sunny."),
      closed(),
      ended,
      over
    ),
    { ...sunny, usage: { inputTokens: 50, cachedInputTokens: 50, outputTokens: 7 } }
  ),
  other(
    "messages",
    "folding/hosted-search-before-text",
    from("raine/claude-code-proxy", 107, "a hosted search comes as two blocks before the text"),
    "The search counts as a call that the client must run.",
    named(
      started,
      block({ type: "server_tool_use", id: "s", name: "web_search", input: {} }),
      input('{"query":"x"}'),
      closed(),
      block({ type: "web_search_tool_result", tool_use_id: "s", content: [] }, 1),
      closed(1),
      block({ type: "text", text: "" }, 2),
      said("Sunny.", 2),
      closed(2),
      ended,
      over
    ),
    sunny
  )
]

const created = { type: "response.created", response: { id: "r", status: "in_progress" } }
const delta = { type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "i", delta: "Sunny." }
const whole = { type: "response.completed", response: { id: "r", status: "completed", output: [] } }

const others: ReadonlyArray<Row> = [
  other(
    "responses",
    "folding/keepalive",
    from("dcdpr/jp", 566, "events that keep the connection open have types of their own"),
    "An answer ends at an event that means nothing.",
    named(created, { type: "keepalive", sequence_number: 1 }, delta, { type: "ping" }, whole),
    sunny
  ),
  other(
    "responses",
    "ending/incomplete-event",
    from("bitrouter/bitrouter", 432, "a truncated answer ends with response.incomplete"),
    "A truncated answer counts as a failure, or as a whole one.",
    named(created, delta, {
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, output: [] }
    }),
    { text: "Sunny.", finish: "length" }
  ),
  other(
    "responses",
    "overflow/error-event",
    from("anomalyco/opencode", 8089, "an overflow comes as an error event of the stream"),
    "An agent does not compact its conversation.",
    named(created, {
      type: "error",
      sequence_number: 2,
      error: {
        type: "invalid_request_error",
        code: "context_length_exceeded",
        message: "Your input is too long.",
        param: "input"
      }
    }),
    { failure: ["ContextTooLong"] }
  ),
  other(
    "responses",
    "error/failed-after-text",
    from("langchain-ai/langchain", 39041, "response.failed follows a part of the answer"),
    "A part of an answer counts as a whole one.",
    named(created, delta, {
      type: "response.failed",
      response: { status: "failed", error: { code: "server_error", message: "It broke." } }
    }),
    { failure: ["Overloaded"], says: ["It broke"] }
  ),
  other(
    "generate-content",
    "ending/unexpected-call-without-content",
    from("agentjido/req_llm", 944, "a candidate has only the finish reason UNEXPECTED_TOOL_CALL"),
    "An abort counts as an empty answer.",
    bare({ candidates: [{ finishReason: "UNEXPECTED_TOOL_CALL", index: 0 }] }),
    { failure: ["Malformed", "Overloaded"], says: ["UNEXPECTED_TOOL_CALL"] }
  ),
  other(
    "generate-content",
    "ending/malformed-beside-a-call",
    from("NousResearch/hermes-agent", 83886, "an answer that Gemini marks as malformed also has a parsed call"),
    "A tool runs with a call that its vendor has rejected.",
    bare({
      candidates: [
        {
          content: { role: "model", parts: [{ functionCall: { name: "weather", args: { city: "Ulm" } } }] },
          finishReason: "MALFORMED_FUNCTION_CALL",
          index: 0
        }
      ]
    }),
    { failure: ["Malformed", "Overloaded"], says: ["MALFORMED_FUNCTION_CALL"] }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

export const request = (
  protocol: "chat" | "messages" | "responses",
  id: string,
  source: RequestRow["source"],
  why: string,
  body: object,
  expected: Partial<RequestRow["expected"]> = { asked: "Hm" }
): RequestRow => ({
  id: `${protocol}/request/${id}`,
  protocol,
  direction: "request",
  class: "tools",
  source,
  why,
  request: {
    path: `/v1/${protocol === "chat" ? "chat/completions" : protocol}`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "divisi", ...body })
  },
  expected: { status: 200, ...expected }
})

const user = { role: "user", content: "Hm" }
const unusable = "An agent cannot be used at all, because one field or item of each request is refused."

const requests: ReadonlyArray<Row> = [
  request(
    "chat",
    "messages-as-text",
    from("dtzp555-max/ocp", 110, "messages that are a text leave the client without an answer"),
    "A client waits until its time limit.",
    { messages: "Hm" },
    { asked: "Hm" }
  ),
  request(
    "chat",
    "developer-and-parts",
    from("ayunis-core/ayunis-core", 719, "clients send the role developer, lists of parts, and empty turns"),
    unusable,
    {
      messages: [
        { role: "developer", content: [{ type: "text", text: "Be brief." }] },
        { role: "user", content: "" },
        { role: "assistant", content: null },
        { role: "user", content: [{ type: "text", text: "Hm" }] }
      ]
    },
    {}
  ),
  request(
    "messages",
    "choice-without-tools",
    from("apache/apisix", 13583, "a tool choice comes without tools, because all of them were left out"),
    unusable,
    { max_tokens: 50, tool_choice: { type: "auto", disable_parallel_tool_use: true }, messages: [user] }
  ),
  request(
    "messages",
    "system-role",
    from("sgasser/pasteguard", 139, "Claude Code sends a message with the role system"),
    unusable,
    { max_tokens: 50, messages: [{ role: "system", content: "Be brief." }, user] }
  ),
  request(
    "responses",
    "tool-search",
    from("CommandCodeAI/command-code", 893, "Codex keeps its searches for tools in the history"),
    unusable,
    {
      input: [
        { type: "tool_search_call", call_id: "c", execution: "client", arguments: { query: "x" }, status: "completed" },
        { type: "tool_search_output", call_id: "c", execution: "client", status: "completed", tools: [] },
        user
      ]
    }
  ),
  request(
    "responses",
    "mixed-tools",
    from("CommandCodeAI/command-code", 885, "Codex offers functions, free-form tools and hosted ones together"),
    unusable,
    {
      tools: [
        { type: "function", name: "look", parameters: { type: "object" } },
        { type: "custom", name: "apply_patch" },
        { type: "web_search" },
        { type: "image_generation" }
      ],
      input: [user]
    },
    { tools: ["look", "apply_patch"] }
  ),
  request(
    "responses",
    "call-without-arguments",
    from("CommandCodeAI/command-code", 745, "a call in the history has no arguments"),
    unusable,
    {
      input: [
        { type: "function_call", call_id: "c", name: "tool_search" },
        { type: "function_call_output", call_id: "c", output: "None." },
        user
      ]
    }
  ),
  request(
    "responses",
    "assistant-without-id",
    from("anomalyco/opencode", 42613, "an earlier answer has neither an id nor a status"),
    unusable,
    { input: [user, { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hm?" }] }, user] }
  )
]

/** The rows. */
export const reportForms: ReadonlyArray<Row> = [...chat, ...messages, ...others, ...requests]
