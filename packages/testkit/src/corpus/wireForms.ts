/** Endings, tool calls and errors in unusual positions and formats, for all protocols. */
import {
  bonn,
  called,
  calls,
  choice,
  chunk,
  from,
  json,
  piece,
  refused,
  row,
  sunny,
  ulm,
  usage,
  used
} from "./chatRow.ts"
import {
  bare,
  events,
  named,
  type Outcome,
  type Protocol,
  type Reply,
  type ResponseRow,
  type Row,
  type Source
} from "./Row.ts"

const page = (repository: string, subject: string): Source => ({ repository, subject })

/** Returns a row for a protocol other than Chat Completions. */
const other = (
  protocol: Protocol,
  id: string,
  source: Source,
  why: string,
  reply: Reply,
  expected: Outcome
): ResponseRow => ({
  id: `${protocol}/${id}`,
  protocol,
  direction: "response",
  class: id.slice(0, id.indexOf("/")) as ResponseRow["class"],
  source,
  why,
  replies: [reply],
  expected
})

// -------------------------------------------------------------------------------------------------------------------
// Endings
// -------------------------------------------------------------------------------------------------------------------

const ends = (name: string, word: unknown, source: Source, expected: Outcome) =>
  row(
    `ending/${name}`,
    source,
    "A whole answer is thrown away for the form of its ending.",
    events(chunk({ content: "Sunny." }), choice({ index: 0, delta: {}, finish_reason: word })),
    expected
  )

const enumerations = page(
  "https://learn.microsoft.com/dotnet/api/openai.chat.chatfinishreason",
  "gateways of other languages write the names of their enumerations"
)

const endings: ReadonlyArray<Row> = [
  ends("camel-case-length", "MaxTokens", enumerations, { text: "Sunny.", finish: "length" }),
  ends("camel-case-stop", "EndTurn", enumerations, sunny),
  ends("as-an-object", { type: "stop" }, enumerations, sunny),
  ends("as-a-list", ["stop"], enumerations, sunny),
  ends(
    "stop-words",
    "stop_words",
    page("https://nvidia.github.io/TensorRT-LLM", "an answer ends with one of the stop words"),
    sunny
  ),
  ends(
    "error-limit",
    "ERROR_LIMIT",
    page("https://docs.cohere.com/reference/chat", "Cohere's word for a full context"),
    { text: "Sunny.", finish: "length" }
  ),
  ends(
    "blocked",
    "blocked",
    page("https://developers.cloudflare.com/ai-gateway/guardrails", "a gateway's guardrail has blocked the answer"),
    { finish: "refusal" }
  ),
  row(
    "ending/tool-calls-without-a-call",
    from("vllm-project/vllm", 53255, "the reason is tool_calls, and the list of calls is empty"),
    "An agent waits for results of tools that nothing has called; the text is the answer.",
    json({ choices: [{ message: { content: "Sunny.", tool_calls: [] }, finish_reason: "tool_calls" }] }),
    sunny
  ),
  row(
    "ending/calls-without-a-reason",
    from("earendil-works/pi", 6225, "a stream with calls of tools ends without finish_reason"),
    "All of the call has come, and the stream has its end: it is no answer that was cut.",
    events(calls(piece({ index: 0, id: "a", name: "weather", args: '{"city":"Ulm"}' }))),
    { calls: [ulm], ...called }
  ),
  row(
    "ending/half-a-call-without-a-reason",
    from("earendil-works/pi", 6225, "a stream with calls of tools ends without finish_reason"),
    "A call with half of its arguments was cut.",
    events(calls(piece({ index: 0, id: "a", name: "weather", args: '{"city":"U' }))),
    { failure: ["Network"], says: ["finish_reason"] }
  ),
  row(
    "ending/whole-without-a-reason",
    from("mudler/LocalAI", 788, "an answer that is not streamed has no finish_reason"),
    "The JSON is whole, so the answer is, too.",
    json({ object: "chat.completion", choices: [{ index: 0, message: { content: "Sunny." } }] }),
    sunny
  ),
  other(
    "messages",
    "ending/tool-use-without-a-call",
    from("vllm-project/vllm", 53255, "the reason is tool_calls, and the list of calls is empty"),
    "An agent waits for results of tools that nothing has called; the text is the answer.",
    {
      contentType: "application/json",
      body: JSON.stringify({
        type: "message",
        role: "assistant",
        content: [{ type: "text", text: "Sunny." }],
        stop_reason: "tool_use",
        usage: { input_tokens: 11, output_tokens: 7 }
      })
    },
    sunny
  ),
  other(
    "generate-content",
    "ending/model-armor",
    page("https://cloud.google.com/security-command-center/docs/model-armor-vertex-integration", "Model Armor filters"),
    "A filter of the account's owner is a refusal: another attempt is filtered as well.",
    { body: bare({ candidates: [{ content: { parts: [] }, finishReason: "MODEL_ARMOR" }] }) },
    { finish: "refusal" }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Folding
// -------------------------------------------------------------------------------------------------------------------

const arguments_ = (name: string, source: Source, why: string, args: unknown, expected: Outcome["calls"]) =>
  row(
    `folding/${name}`,
    source,
    why,
    events(calls(piece({ index: 0, id: "a", name: "weather", args })), chunk({}, "tool_calls")),
    { calls: expected, ...called }
  )

const lost = "The arguments cannot be read, and the tool is called with nothing or not at all."

const spelled = (field: string, source: Source) =>
  row(
    `folding/${field}-of-a-call`,
    source,
    "A reader of one field calls the tool with nothing.",
    events(
      chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "weather", [field]: { city: "Ulm" } } }] }),
      chunk({}, "tool_calls")
    ),
    { calls: [ulm], ...called }
  )

const folding: ReadonlyArray<Row> = [
  arguments_(
    "fenced-arguments",
    from("earendil-works/pi", 8858, "the arguments are within a fence of Markdown"),
    lost,
    '```json\n{"city":"Ulm"}\n```',
    [ulm]
  ),
  arguments_(
    "arguments-several-times",
    from("NousResearch/hermes-agent", 35718, "the whole arguments come again and again"),
    lost,
    '{"city":"Ulm"}{"city":"Ulm"} {"city":"Ulm"}',
    [ulm]
  ),
  arguments_(
    "two-calls-in-one",
    from("NousResearch/hermes-agent", 26053, "the arguments of two calls are in one text"),
    "Both calls are lost, or the second is.",
    '{"city":"Ulm"}{"city":"Bonn"}',
    [ulm, bonn]
  ),
  spelled(
    "input",
    page("https://platform.claude.com/docs/en/agents-and-tools/tool-use", "Anthropic's name of the arguments of a call")
  ),
  spelled(
    "parameters",
    page(
      "https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1",
      "Llama's name of the arguments of a call"
    )
  ),
  row(
    "folding/name-in-pieces",
    from("continuedev/continue", 5849, "the name of a tool comes in pieces"),
    "Each piece of the name becomes a call of its own.",
    events(
      calls(piece({ index: 0, id: "a", name: "wea", args: "" })),
      calls(piece({ index: 0, name: "ther" })),
      calls(piece({ index: 0, args: '{"city":"Ulm"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [ulm], ...called }
  ),
  row(
    "folding/message-next-to-an-empty-delta",
    from("Portkey-AI/gateway", 858, "chunks have a message instead of a delta"),
    "The text is in the message alone.",
    events(choice({ index: 0, delta: {}, message: { content: "Sunny." } }), chunk({}, "stop")),
    sunny
  ),
  row(
    "folding/within-output",
    page("https://help.aliyun.com/zh/model-studio/qwen-api-via-dashscope", "DashScope's own form of an answer"),
    "The choices are within `output`, and the usage is not.",
    json({
      output: { choices: [{ message: { role: "assistant", content: "Sunny." }, finish_reason: "stop" }] },
      usage: { input_tokens: 11, output_tokens: 7 }
    }),
    { ...sunny, usage: used }
  ),
  row(
    "folding/list-of-chunks",
    from("maximhq/bifrost", 5262, "a stream outside of the framing of events"),
    "All chunks come as one list.",
    json([chunk({ content: "Sun" }), chunk({ content: "ny." }, "stop")]),
    sunny
  ),
  row(
    "folding/thinking-blocks",
    page("https://docs.litellm.ai/docs/reasoning_content", "LiteLLM passes blocks of thinking on"),
    "The reasoning is lost.",
    events(chunk({ thinking_blocks: [{ type: "thinking", thinking: "Hm" }] }), chunk({ content: "Sunny." }, "stop")),
    { ...sunny, reasoning: "Hm" }
  ),
  other(
    "responses",
    "folding/types-in-names-alone",
    from("openai/openai-openapi", 489, "the type of an event is in its name"),
    "Without the type in its data an event is skipped, and the answer is empty.",
    {
      body: [
        { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "Sunny." },
        { type: "response.completed", response: { status: "completed", output: [] } }
      ]
        .map(({ type, ...data }) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
        .join("")
    },
    sunny
  ),
  other(
    "responses",
    "folding/custom-call",
    from("jjang-ai/vmlx", 219, "calls of tools come in forms that were not asked for"),
    "A call as one of a custom tool is lost, and the turn ends without it.",
    {
      body: named({
        type: "response.completed",
        response: {
          status: "completed",
          output: [{ type: "custom_tool_call", call_id: "a", name: "weather", input: '{"city":"Ulm"}' }]
        }
      })
    },
    { calls: [{ ...ulm, id: "a" }], ...called }
  ),
  other(
    "messages",
    "folding/arguments-after-the-end",
    from("PostHog/posthog", 72287, "a bridge writes the events of blocks in another order"),
    "The call has ended without arguments: a tool must not run with nothing.",
    {
      body: named(
        { type: "message_start", message: { id: "m", content: [], usage: { input_tokens: 11, output_tokens: 1 } } },
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "tool_use", id: "a", name: "weather", input: {} }
        },
        { type: "content_block_stop", index: 0 },
        { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"city":"Ulm"}' } },
        { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 7 } },
        { type: "message_stop" }
      )
    },
    { failure: ["Malformed"], says: ["after its end"] }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Usage
// -------------------------------------------------------------------------------------------------------------------

const uses = (name: string, source: Source, reported: object, expected: Outcome["usage"] = used) =>
  row(
    `usage/${name}`,
    source,
    "The figures are there, and the answer is estimated.",
    events(chunk({ content: "Sunny." }, "stop"), { choices: [], usage: reported }),
    { ...sunny, usage: expected }
  )

const usages: ReadonlyArray<Row> = [
  uses("without-output", from("Clarifai/clarifai-python", 978, "the total has more than the output that is reported"), {
    prompt_tokens: 11,
    total_tokens: 18
  }),
  uses("without-input", from("Portkey-AI/gateway", 858, "the usage has the output alone"), {
    completion_tokens: 7,
    total_tokens: 18
  }),
  uses(
    "names-of-bedrock",
    page("https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html", "Bedrock's names of figures"),
    { inputTokenCount: 11, outputTokenCount: 7 }
  ),
  row(
    "usage/behind-the-end",
    from("PaddlePaddle/FastDeploy", 3247, "the usage comes last"),
    "A reader that stops at [DONE] loses the figures.",
    `${events(chunk({ content: "Sunny." }, "stop"))}${bare({ choices: [], usage })}`,
    { ...sunny, usage: used }
  ),
  other(
    "responses",
    "usage/beside-the-response",
    from("openai/openai-agents-python", 4901, "usage of the last event is dropped"),
    "The figures are in the event, not in its response.",
    {
      body: named({
        type: "response.completed",
        response: { status: "completed", output: [{ type: "message", content: "Sunny." }] },
        usage: { input_tokens: 11, output_tokens: 7 }
      })
    },
    { ...sunny, usage: used }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

const half = bare(chunk({ content: "Half" }))

const pretty = JSON.stringify({ error: { code: 429, message: "Slow down.", status: "RESOURCE_EXHAUSTED" } }, null, 2)

const says = (
  name: string,
  source: Source,
  status: number,
  body: unknown,
  failure: Outcome["failure"],
  words: string
) =>
  row(`error/${name}`, source, "The vendor's words are lost.", refused(status, body), {
    failure,
    says: [words]
  })

const errors: ReadonlyArray<Row> = [
  row(
    "error/within-the-delta",
    from("diegosouzapw/OmniRoute", 8210, "a chunk of an aggregator has an error, and the answer counts as empty"),
    "An answer that failed counts as whole.",
    events(chunk({ content: "Half" }), chunk({ error: { message: "The worker is gone.", code: 502 } }, "stop")),
    { failure: ["Overloaded"], says: ["The worker is gone"] }
  ),
  row(
    "error/within-the-message",
    from("UKGovernmentBEIS/inspect_ai", 1536, "an answer has an error and nothing else"),
    "An empty answer counts as one.",
    json({
      choices: [
        { message: { content: "", error: { message: "The worker is gone.", code: 502 } }, finish_reason: "stop" }
      ]
    }),
    { failure: ["Overloaded"], says: ["The worker is gone"] }
  ),
  row(
    "error/json-between-events",
    from("maximhq/bifrost", 5262, "an error comes as JSON of several lines within a stream of events"),
    "A line that is no field is skipped, and the reason is lost.",
    { body: `${half}${pretty}\n` },
    { failure: ["RateLimited"], says: ["Slow down"] }
  ),
  row(
    "error/json-line-between-events",
    from("Wei-Shaw/sub2api", 1471, "an error is injected into a stream"),
    "A line that is no field is skipped, and the reason is lost.",
    { body: `${half}{"error":{"message":"The worker is gone.","code":503}}\n\n` },
    { failure: ["Overloaded"], says: ["The worker is gone"] }
  ),
  row(
    "error/named-event",
    from("openai/openai-python", 2943, "an event is an error by its name alone"),
    "Without `error` in its data the event is taken for nothing.",
    { body: `${half}event: error\ndata: {"reason":"The worker is gone."}\n\n` },
    { failure: ["Overloaded", "Malformed"], says: ["The worker is gone"] }
  ),
  other(
    "generate-content",
    "error/json-between-events",
    from("maximhq/bifrost", 5262, "an error comes as JSON of several lines within a stream of events"),
    "A line that is no field is skipped, and the reason is lost.",
    { body: `${bare({ candidates: [{ content: { parts: [{ text: "Half" }] } }] })}${pretty}\n` },
    { failure: ["RateLimited"], says: ["Slow down"] }
  ),
  says(
    "asp-net",
    page("https://learn.microsoft.com/aspnet/core/web-api/handle-errors", "ASP.NET's errors by the name of the field"),
    400,
    {
      title: "One or more validation errors occurred.",
      status: 400,
      errors: { "$.messages": ["It must not be empty."] }
    },
    ["InvalidRequest"],
    "$.messages: It must not be empty"
  ),
  says(
    "graphql",
    page("https://spec.graphql.org/October2021/#sec-Errors", "the code of an error is within its extensions"),
    200,
    { errors: [{ message: "Slow down.", extensions: { code: "rate_limit_exceeded" } }] },
    ["RateLimited"],
    "Slow down"
  ),
  says(
    "header-of-spark",
    page("https://www.xfyun.cn/doc/spark/Web.html", "Spark has the error in a header within the body"),
    200,
    { header: { code: 10013, message: "The input was blocked." } },
    ["Malformed", "Overloaded", "ContentFiltered", "InvalidRequest"],
    "The input was blocked"
  ),
  says(
    "errmsg",
    page("https://cloud.baidu.com/doc/WENXINWORKSHOP/s/tlmyncueh", "short names of the fields of an error"),
    400,
    { errcode: 5, errmsg: "The field is wrong." },
    ["InvalidRequest"],
    "The field is wrong"
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Overflow
// -------------------------------------------------------------------------------------------------------------------

const overflows = (name: string, source: Source, message: string) =>
  row(
    `overflow/${name}`,
    source,
    "An agent that does not recognise the overflow never compacts its conversation.",
    refused(400, { error: { message } }),
    { failure: ["ContextTooLong"] }
  )

const limits = (name: string, source: Source, message: string) =>
  row(
    `overflow/${name}`,
    source,
    "It is a limit of the rate: an agent that compacts its conversation does so in vain.",
    refused(400, { error: { message } }),
    { failure: ["RateLimited"] }
  )

const overflow: ReadonlyArray<Row> = [
  overflows(
    "body-too-large",
    from("cline/cline", 995, "GitHub Models gives its limit in tokens and calls it one of the body"),
    "Request body too large for m model. Max size: 8000 tokens."
  ),
  overflows(
    "supports-up-to",
    from("googleapis/python-genai", 2050, "Vertex refuses a prompt for its number of tokens"),
    "The input token count is 40000 but the model only supports up to 32768."
  ),
  overflows(
    "exceeding",
    from("refly-ai/refly", 1177, "the window of a model is exceeded"),
    "The prompt has 9000 tokens, exceeding the limit of 8192."
  ),
  overflows(
    "n-ctx",
    page("https://github.com/ggml-org/llama.cpp/tree/master/tools/server", "llama.cpp names its own setting"),
    "prompt tokens (9000) + max tokens (1000) > n_ctx (8192)"
  ),
  limits(
    "of-the-last-minute",
    from("cline/cline", 4196, "Bedrock's limit of tokens"),
    "You have used too many tokens in the last minute."
  ),
  limits(
    "rate-in-chinese",
    page("https://docs.bigmodel.cn/cn/faq/api-code", "Zhipu's words for a rate limit"),
    "您的账户已达到速率限制"
  )
]

/** All rows with unusual formats. */
export const wireForms: ReadonlyArray<Row> = [...endings, ...folding, ...usages, ...errors, ...overflow]
