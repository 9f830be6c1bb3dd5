/** Rows of later reports: answers and requests in forms that single servers and clients use. */
import { bonn, called, calls, choice, chunk, from, piece, refused, row, sunny, ulm, usage, used } from "./chatRow.ts"
import { bare, events, named, type Outcome, type Protocol, type RequestRow, type ResponseRow, type Row } from "./Row.ts"

const other = (
  protocol: Protocol,
  id: string,
  source: ResponseRow["source"],
  why: string,
  body: string,
  expected: Outcome
): ResponseRow => ({
  id: `${protocol}/${id}`,
  protocol,
  direction: "response",
  class: id.slice(0, id.indexOf("/")) as ResponseRow["class"],
  source,
  why,
  replies: [{ body }],
  expected
})

const failure = (tag: NonNullable<Outcome["failure"]>[number], ...says: ReadonlyArray<string>): Outcome => ({
  failure: [tag],
  says
})

// -------------------------------------------------------------------------------------------------------------------
// Choices and calls
// -------------------------------------------------------------------------------------------------------------------

const second = (delta: object, finish_reason: string | null = null) => choice({ index: 1, delta, finish_reason })
const reordered = from("openai/openai-ruby", 576, "choices of a stream arrive compact or in another order")
const joined = "The text of a choice that was not requested becomes part of the answer."

const choices: ReadonlyArray<Row> = [
  row(
    "folding/second-choice-first",
    reordered,
    joined,
    events(second({ content: "Rainy." }), second({}, "stop"), chunk({ content: "Sunny." }), chunk({}, "stop")),
    sunny
  ),
  row(
    "folding/choices-interleaved",
    reordered,
    joined,
    events(
      chunk({ content: "Sun" }),
      second({ content: "Rainy." }),
      chunk({ content: "ny." }),
      second({}, "length"),
      chunk({}, "stop")
    ),
    sunny
  ),
  row(
    "folding/choices-swapped-in-a-chunk",
    reordered,
    joined,
    events({
      ...chunk({}),
      choices: [1, 0].map((index) => ({
        index,
        delta: { content: index === 0 ? "Sunny." : "Rainy." },
        finish_reason: "stop"
      }))
    }),
    sunny
  ),
  row(
    "folding/only-a-second-choice",
    reordered,
    "An answer is empty because its only choice is not numbered 0.",
    events(second({ content: "Sun" }), second({ content: "ny." }), second({}, "stop")),
    sunny
  ),
  row(
    "folding/call-in-chunks-of-a-second-choice",
    reordered,
    "The call of a tool is lost because it has its own choice and chunk.",
    events(
      chunk({ content: "Let me look." }),
      second({ tool_calls: [piece({ index: 0, id: "a", name: "weather", args: '{"city":' })] }),
      second({ tool_calls: [piece({ index: 0, args: '"Ulm"}' })] }),
      chunk({}, "tool_calls")
    ),
    { ...called, text: "Let me look.", calls: [ulm] }
  ),
  row(
    "tools/one-index-with-empty-ids",
    from("InternLM/lmdeploy", 3412, "vLLM's second call has the index of the first, and its pieces an empty id"),
    "Two calls become one with two objects as its arguments.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: "" })),
      calls(piece({ index: 0, id: "", name: null, args: '{"city":"Ulm"}' })),
      calls(piece({ index: 0, id: "b", name: "weather", args: "" })),
      calls(piece({ index: 0, id: "", name: null, args: '{"city":"Bonn"}' })),
      chunk({}, "tool_calls")
    ),
    { ...called, calls: [ulm, bonn] }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Endings, usage and errors
// -------------------------------------------------------------------------------------------------------------------

const message = { id: "m", type: "message", role: "assistant", model: "x", content: [], stop_reason: null }
const unknownUsage = { prompt_tokens: null, completion_tokens: null, total_tokens: null }

const replies: ReadonlyArray<Row> = [
  row(
    "ending/guardrail-intervened",
    from("pydantic/pydantic-ai", 7816, "Bedrock's guardrail ends an answer with its own word"),
    "The whole answer is thrown away because of its last word.",
    events(chunk({ content: "I cannot." }), chunk({}, "guardrail_intervened")),
    { text: "I cannot.", finish: "refusal" }
  ),
  row(
    "usage/null-before-figures",
    from("run-llama/llama_index", 22812, "the counts of an answer are null"),
    "A call that was paid for fails while its tokens are counted.",
    events({ ...chunk({ content: "Sunny." }), usage: null }, chunk({}, "stop", { usage: unknownUsage }), {
      id: "c1",
      choices: [],
      usage
    }),
    { ...sunny, usage: used }
  ),
  row(
    "error/only-a-string",
    from("fox1245/NeoGraph", 124, "the error of a stream is a string"),
    "A failure counts as an empty answer.",
    events({ error: "STREAM_EXPLODED" }),
    { failure: ["Overloaded", "Malformed", "Network"], says: ["STREAM_EXPLODED"] }
  ),
  row(
    "error/message-beside-error",
    from("zendev-sh/goai", 110, "LM Studio repeats the message of an error next to it"),
    "A failure counts as the end of an answer.",
    bare(chunk({ content: "Sun" }), { error: { message: "Compute error." }, message: "Compute error." }),
    { failure: ["Overloaded", "Malformed", "Network"], says: ["Compute error"] }
  ),
  row(
    "error/retry-after-with-units",
    from("anomalyco/opencode", 48185, "retry-after is a duration with units"),
    "A client waits two seconds instead of three minutes.",
    refused(429, { error: { message: "Slow down." } }, { "retry-after": "2m59.56s" }),
    { ...failure("RateLimited"), retryAfterMillis: 179_560 }
  ),
  row(
    "error/retry-after-in-milliseconds",
    from("anomalyco/opencode", 48185, "retry-after is a number of milliseconds with its unit"),
    "A client waits six minutes for a limit of less than a second.",
    refused(429, { error: { message: "Slow down." } }, { "retry-after": "370ms" }),
    { ...failure("RateLimited"), retryAfterMillis: 370 }
  ),
  row(
    "overflow/nested-in-a-message",
    from("aaif-goose/goose", 3635, "Databricks puts Anthropic's error into its message as JSON"),
    "An agent does not compact its conversation because it does not see the reason.",
    refused(400, {
      error_code: "BAD_REQUEST",
      message: JSON.stringify({
        external_model_provider: "anthropic",
        external_model_error: {
          type: "error",
          error: { type: "invalid_request_error", message: "input length and `max_tokens` exceed context limit" }
        }
      })
    }),
    failure("ContextTooLong", "exceed context limit")
  ),
  row(
    "encoding/comment-as-data",
    from("mnfst/llm-gateway", 2053, "a proxy sends comments as data"),
    "A keep-alive breaks the answer.",
    `data: : OPENROUTER PROCESSING\n\n${events(chunk({ content: "Sunny." }), chunk({}, "stop"))}`,
    sunny
  ),
  other(
    "messages",
    "usage/zeros-until-the-end",
    from("MiXaiLL76/auto_ai_router", 142, "the usage at the start of an answer is zero and is corrected at its end"),
    "A request is charged with no input.",
    named(
      { type: "message_start", message: { ...message, usage: { input_tokens: 0, output_tokens: 0 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Sunny." } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { input_tokens: 11, output_tokens: 7 } },
      { type: "message_stop" }
    ),
    { ...sunny, usage: used }
  ),
  other(
    "generate-content",
    "ending/malformed-call-without-content",
    from("0xPlaygrounds/rig", 1030, "an answer with an invalid call has no content, only a message"),
    "The vendor's reason is lost.",
    bare({
      candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: "Malformed function call: x", index: 0 }],
      usageMetadata: { promptTokenCount: 11, totalTokenCount: 11 }
    }),
    failure("Malformed", "MALFORMED_FUNCTION_CALL")
  ),
  other(
    "generate-content",
    "ending/malformed-call-with-a-signature",
    from("Wei-Shaw/sub2api", 7081, "an answer with an invalid call has only a signature"),
    "A failure counts as an empty answer.",
    bare({
      candidates: [
        {
          content: { role: "model", parts: [{ thoughtSignature: "c2ln" }] },
          finishReason: "MALFORMED_FUNCTION_CALL",
          index: 0
        }
      ]
    }),
    failure("Malformed", "MALFORMED_FUNCTION_CALL")
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

const request = (
  path: "/v1/chat/completions" | "/v1/messages" | "/v1/responses",
  id: `${Protocol}/request/${string}`,
  source: RequestRow["source"],
  why: string,
  body: object,
  expected: Partial<RequestRow["expected"]>
): RequestRow => ({
  id,
  protocol: path.endsWith("messages") ? "messages" : path.endsWith("responses") ? "responses" : "chat",
  direction: "request",
  class: "tools",
  source,
  why,
  request: {
    path,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "divisi", ...body })
  },
  expected: { status: 200, ...expected }
})

const hm = { asked: "Hm" }
const user = { role: "user", content: "Hm" }
const stuck = "A session cannot continue, because its history has a block of a type that is not known."

const search = { type: "tool_use", id: "t1", name: "ToolSearch", input: {} }
const found = { type: "tool_result", tool_use_id: "t1", content: [{ type: "tool_reference", tool_name: "look" }] }

const requests: ReadonlyArray<Row> = [
  request(
    "/v1/messages",
    "messages/request/tool-addition",
    from("KarpelesLab/teamclaude", 451, "Claude Code announces a later tool in a block of its own type"),
    stuck,
    {
      max_tokens: 50,
      messages: [
        {
          role: "system",
          content: [
            { type: "text", text: "Be brief." },
            { type: "tool_addition", tool: { name: "look" } }
          ]
        },
        user
      ]
    },
    hm
  ),
  request(
    "/v1/messages",
    "messages/request/tool-reference",
    from("jwadow/kiro-gateway", 82, "the result of Claude Code's search for tools has references"),
    stuck,
    {
      max_tokens: 50,
      messages: [
        { role: "user", content: "Look." },
        { role: "assistant", content: [search] },
        { role: "user", content: [found, { type: "text", text: "Hm" }] }
      ]
    },
    hm
  ),
  request(
    "/v1/responses",
    "responses/request/other-web-search",
    from("openai/codex", 7073, "a search in Codex's history has an action of the type other"),
    stuck,
    { input: [{ type: "web_search_call", status: "completed", action: { type: "other" } }, user] },
    hm
  ),
  request(
    "/v1/responses",
    "responses/request/reasoning-without-content",
    from("zhushanwen321/llm-simple-router", 149, "Codex sends messages without a type and reasoning without content"),
    "A 400 of a client that no user can change.",
    { input: [{ type: "reasoning", summary: [], content: null, encrypted_content: "e" }, user] },
    hm
  ),
  request(
    "/v1/chat/completions",
    "chat/request/required-without-tools",
    from("raullenchai/Rapid-MLX", 744, "a tool is required, but none is offered"),
    "A client that needs a call gets a text and a success.",
    { tools: [], tool_choice: "required", messages: [user] },
    { status: 400, says: ["tool_choice"] }
  )
]

/** The rows. */
export const fieldForms: ReadonlyArray<Row> = [...choices, ...replies, ...requests]
