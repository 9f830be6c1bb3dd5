/** Further forms of answer chunks and refusals observed from servers that implement Chat Completions. */
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
import { bare, events, type Outcome, type ResponseRow, type Row, type Source } from "./Row.ts"

// -------------------------------------------------------------------------------------------------------------------
// Endings
// -------------------------------------------------------------------------------------------------------------------

const ends = (name: string, word: string, source: Source, expected: Outcome): ResponseRow =>
  row(
    `ending/${name}`,
    source,
    "The same ending in another spelling is taken for a failure.",
    events(chunk({ content: "Sunny." }), chunk({}, word)),
    expected
  )

const endsApart = (name: string, source: Source, fields: object): ResponseRow =>
  row(
    `ending/${name}`,
    source,
    "A whole answer counts as cut, since its ending has another place.",
    events(chunk({ content: "Sunny." }), choice({ index: 0, delta: {}, ...fields })),
    sunny
  )

const gemini = from("HKUDS/Vibe-Trading", 308, "Gemini's endpoint of Chat Completions gives its own words in capitals")

const endings: ReadonlyArray<ResponseRow> = [
  ends("with-word-of-gemini", "content_filter: PROHIBITED_CONTENT", gemini, { finish: "refusal" }),
  ends("capitals-of-gemini", "SAFETY", gemini, { finish: "refusal" }),
  ends(
    "enumeration",
    "FINISH_REASON_STOP",
    from("mozilla-ai/any-llm", 1202, "the name of an enumeration is passed on as the ending"),
    sunny
  ),
  ends(
    "error-toxic",
    "ERROR_TOXIC",
    { repository: "https://docs.cohere.com/reference/chat", subject: "Cohere's word for a filtered answer" },
    {
      finish: "refusal"
    }
  ),
  ends(
    "limit",
    "limit",
    {
      repository: "https://github.com/ggml-org/llama.cpp/tree/master/tools/server",
      subject: "llama.cpp's own word for a full output"
    },
    {
      text: "Sunny.",
      finish: "length"
    }
  ),
  ends(
    "time-limit",
    "time_limit",
    { repository: "https://cloud.ibm.com/apidocs/watsonx-ai", subject: "watsonx stops an answer for its time" },
    {
      failure: ["Timeout"],
      says: ["time_limit"]
    }
  ),
  endsApart(
    "in-details",
    {
      repository: "https://platform.openai.com/docs/guides/vision",
      subject: "finish_details instead of finish_reason"
    },
    { finish_details: { type: "stop" } }
  ),
  endsApart(
    "native-alone",
    {
      repository: "https://openrouter.ai/docs/api-reference/overview",
      subject: "native_finish_reason alongside finish_reason"
    },
    { finish_reason: null, native_finish_reason: "stop" }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Folding
// -------------------------------------------------------------------------------------------------------------------

/** A tool call whose arguments arrive in the given chunks. */
const inPieces = (name: string, args: ReadonlyArray<unknown>, source: Source, arguments_: unknown, tool = "weather") =>
  row(
    `folding/${name}`,
    source,
    "The arguments cannot be read, and the tool is called with nothing or not at all.",
    events(
      ...args.map((one, at) =>
        calls(at === 0 ? piece({ index: 0, id: "a", name: tool, args: one }) : piece({ index: 0, args: one }))
      ),
      chunk({}, "tool_calls")
    ),
    { calls: [{ name: tool, arguments: arguments_, id: "a" }], ...called }
  )

const copilot = from("HKUDS/nanobot", 1555, "GitHub Copilot gives the text in one choice and the calls in another")
const apart = [
  { finish_reason: "tool_calls", message: { role: "assistant", content: "Let me look." } },
  {
    finish_reason: "tool_calls",
    message: { tool_calls: [piece({ id: "a", name: "weather", args: '{"city":"Ulm"}' })] }
  }
]

const inUlm = { city: "Ulm" }

const folding: ReadonlyArray<ResponseRow> = [
  row(
    "folding/spoken-words",
    from("assistant-ui/assistant-ui", 5503, "the words of a spoken answer are in its transcript"),
    "An answer that is spoken is empty.",
    events(chunk({ audio: { id: "a", data: "AAAA", transcript: "Sunny." } }), chunk({}, "stop", { usage })),
    sunny
  ),
  row(
    "folding/choices-apart",
    copilot,
    "The calls are lost with the second choice.",
    json({ object: "chat.completion", choices: apart, usage }),
    {
      text: "Let me look.",
      calls: [ulm],
      ...called
    }
  ),
  row(
    "folding/choices-apart-in-stream",
    copilot,
    "The calls are lost with the second choice.",
    events(
      {
        choices: [
          { index: 0, delta: { content: "Let me look." } },
          { index: 1, delta: { tool_calls: [piece({ index: 0, id: "a", name: "weather", args: '{"city":"Ulm"}' })] } }
        ]
      },
      chunk({}, "tool_calls")
    ),
    { text: "Let me look.", calls: [ulm], ...called }
  ),
  inPieces(
    "arguments-encoded-twice",
    [JSON.stringify('{"city":"Ulm"}')],
    from("oracle/langchain-oracle", 70, "arguments are JSON within the JSON of a text"),
    inUlm
  ),
  inPieces(
    "arguments-again-at-the-end",
    ['{"city":', '"Ulm"}', '{"city":"Ulm"}'],
    from("lidge-jun/opencodex", 361, "a last piece repeats all arguments"),
    inUlm
  ),
  inPieces(
    "arguments-so-far-in-each-piece",
    ['{"ci', '{"city":"U', '{"city":"Ulm"}'],
    from("NousResearch/hermes-agent", 35718, "each piece has all arguments so far"),
    inUlm
  ),
  inPieces(
    "empty-object-before-the-arguments",
    ["{}", '{"city":', '"Ulm"}'],
    from("openai/openai-agents-js", 712, "Bedrock sends an empty object before the arguments"),
    inUlm
  ),
  inPieces(
    "empty-object-within-the-arguments",
    ['{"city":"a ', "{}", ' b"}'],
    from("mcowger/plexus", 759, "a piece of a text that is JSON by itself"),
    { city: "a {} b" }
  ),
  inPieces(
    "arguments-null-in-words",
    ["null"],
    from("supermemoryai/supermemory", 1612, "a tool without parameters is called with null in words"),
    {},
    "clock"
  ),
  inPieces(
    "arguments-as-empty-list",
    [[]],
    from("neuron-core/neuron-ai", 317, "PHP writes empty arguments as a list"),
    {},
    "clock"
  ),
  row(
    "folding/whole-call-again",
    from("elizaOS/eliza", 16973, "a call comes in pieces and once more as a whole"),
    "The tool is called twice.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"city":' })),
      calls(piece({ index: 0, args: '"Ulm"}' })),
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"city":"Ulm"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [{ ...ulm, id: "a" }], ...called }
  ),
  row(
    "folding/other-number-in-each-piece",
    from("cubist38/mlx-openai-server", 216, "each piece of a call has another number"),
    "Pieces become calls without a name, and the answer fails.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: "" })),
      calls(piece({ index: 1, id: "a", args: '{"ci' })),
      calls(piece({ index: 2, args: 'ty":"Ulm"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [{ ...ulm, id: "a" }], ...called }
  ),
  row(
    "folding/two-ids-of-one-call",
    from("poolsideai/pool", 9, "the first piece of a call has another id than all others"),
    "The call is taken for two, and none can be read.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"ci' })),
      calls(piece({ index: 0, id: "b", args: 'ty":' })),
      calls(piece({ index: 0, id: "b", args: '"Ulm"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [ulm], ...called }
  ),
  row(
    "folding/number-as-text",
    from("anvia-hq/anvia", 262, "the numbers of calls are texts in some pieces"),
    "The pieces are taken for two calls, and none can be read.",
    events(
      calls(piece({ index: "0", id: "a", name: "weather", args: '{"ci' })),
      calls(piece({ index: 0, args: 'ty":"Ulm"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [{ ...ulm, id: "a" }], ...called }
  ),
  row(
    "folding/one-id-for-two-numbers",
    from("HKUDS/nanobot", 3943, "calls that are made together share an id"),
    "Results cannot be told apart.",
    events(
      calls(
        piece({ index: 0, id: "a", name: "weather", args: '{"city":"Ulm"}' }),
        piece({ index: 1, id: "a", name: "weather", args: '{"city":"Bonn"}' })
      ),
      chunk({}, "tool_calls")
    ),
    { calls: [ulm, bonn], ...called }
  ),
  row(
    "folding/reasoning-text",
    from("caozhiyuan/copilot-api", 230, "GitHub Copilot gives reasoning in reasoning_text"),
    "Reasoning is lost where another field was expected.",
    events(chunk({ reasoning_text: "Hm." }), chunk({ content: "Sunny." }), chunk({}, "stop")),
    { ...sunny, reasoning: "Hm." }
  ),
  row(
    "folding/thought-marked-beside-content",
    {
      repository: "https://ai.google.dev/gemini-api/docs/openai",
      subject: "Gemini marks content as thought in extra_content"
    },
    "Reasoning is shown as the answer.",
    events(
      chunk({ content: "<thought>Hm.", extra_content: { google: { thought: true } } }),
      chunk({ content: "</thought>", extra_content: { google: { thought: true } } }),
      chunk({ content: "Sunny." }),
      chunk({}, "stop")
    ),
    { ...sunny, reasoning: "Hm." }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Null and lists
// -------------------------------------------------------------------------------------------------------------------

const blank = (name: string, more: object): ResponseRow =>
  row(
    `null-and-lists/${name}`,
    from("BerriAI/litellm", 18407, "good answers have an error whose fields are empty"),
    "An error that says nothing fails a good answer.",
    events(chunk({ content: "Sunny." }, null, more), chunk({}, "stop", more)),
    sunny
  )

const nulls: ReadonlyArray<ResponseRow> = [
  blank("error-as-empty-object", { error: {} }),
  blank("error-as-empty-list", { error: [] }),
  blank("error-with-empty-fields", { error: { message: "", type: "", param: null, code: 0 } })
]

// -------------------------------------------------------------------------------------------------------------------
// Usage
// -------------------------------------------------------------------------------------------------------------------

const reports = (name: string, source: Source, report: object, expected: Outcome["usage"], more: object = {}) =>
  row(
    `usage/${name}`,
    source,
    "Tokens that were paid for are not counted.",
    events(chunk({ content: "Sunny." }), chunk({}, "stop", { usage: report, ...more })),
    { ...sunny, usage: expected }
  )

const usages: ReadonlyArray<ResponseRow> = [
  reports(
    "cached-under-mistrals-name",
    from("vercel/ai", 14382, "Mistral reports cached tokens under another name"),
    { prompt_tokens: 11, completion_tokens: 7, num_cached_tokens: 4 },
    { inputTokens: 11, outputTokens: 7, cachedInputTokens: 4 }
  ),
  reports(
    "reasoning-apart",
    from("UKGovernmentBEIS/inspect_ai", 5528, "xAI counts reasoning apart from the completion, and charges for it"),
    {
      prompt_tokens: 11,
      completion_tokens: 2,
      total_tokens: 313,
      completion_tokens_details: { reasoning_tokens: 300 }
    },
    { inputTokens: 11, outputTokens: 302, reasoningTokens: 300 }
  ),
  reports(
    "thoughts-in-the-total-alone",
    from("CultivateLabs/raif", 470, "thoughts of Gemini are in the total alone"),
    { prompt_tokens: 11, completion_tokens: 2, total_tokens: 313 },
    { inputTokens: 11, outputTokens: 302 }
  ),
  reports(
    "caches-in-anthropics-names",
    from("ericc-ch/copilot-api", 88, "Anthropic counts cached tokens apart from the input"),
    { input_tokens: 11, output_tokens: 7, cache_read_input_tokens: 100, cache_creation_input_tokens: 5 },
    { inputTokens: 116, outputTokens: 7, cachedInputTokens: 100 }
  ),
  reports(
    "caches-beside-a-whole-prompt",
    from("larsderidder/context-lens", 51, "LiteLLM counts cached tokens in the prompt and once more beside it"),
    { prompt_tokens: 116, completion_tokens: 7, total_tokens: 123, cache_read_input_tokens: 100 },
    { inputTokens: 116, outputTokens: 7, cachedInputTokens: 100 }
  ),
  reports(
    "billed-units",
    { repository: "https://docs.cohere.com/reference/chat", subject: "Cohere reports billed units within the usage" },
    { billed_units: { input_tokens: 11, output_tokens: 7 }, tokens: { input_tokens: 71, output_tokens: 7 } },
    used
  ),
  row(
    "usage/zeros-at-the-end",
    from("sgl-project/sglang", 20678, "a later event reports zeros for what an earlier one counted"),
    "The call counts as free.",
    events(
      chunk({ content: "Sunny." }, null, { usage }),
      chunk({}, "stop", { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } })
    ),
    { ...sunny, usage: used }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Encodings
// -------------------------------------------------------------------------------------------------------------------

const first = JSON.stringify(chunk({ content: "Sun" }))
const second = JSON.stringify(chunk({ content: "ny." }))
const last = JSON.stringify(chunk({}, "stop"))

const written = (name: string, body: string, source: Source): ResponseRow =>
  row(`encoding/${name}`, source, "One event that cannot be read fails a whole answer.", { body }, sunny)

const encodings: ReadonlyArray<ResponseRow> = [
  written(
    "data-twice",
    `data: data: ${first}\n\ndata: data: ${second}\n\ndata: data: ${last}\n\ndata: data: [DONE]\n\n`,
    from("paiml/aprender", 2015, "each event has its prefix twice")
  ),
  written(
    "no-empty-lines",
    `data: ${first}\ndata: ${second}\ndata: ${last}\ndata: [DONE]\n`,
    from("anomalyco/opencode", 27365, "events are joined without an empty line between them")
  ),
  written(
    "two-in-one-line",
    `data: ${first}data: ${second}\n\ndata: ${last}\n\ndata: [DONE]\n\n`,
    from("anomalyco/opencode", 27365, "events are joined within a line")
  ),
  written(
    "heartbeat-as-data",
    `data: [HEARTBEAT]\n\ndata: ${first}\n\ndata: ping\n\ndata: ${second}\n\ndata: ${last}\n\ndata: [DONE]\n\n`,
    from("QuantumNous/new-api", 1276, "a gateway sends signs of life as data")
  ),
  written(
    "time-as-data",
    `data: 2024-04-27 01:35:43.686476\n\ndata: ${first}\n\ndata: ${second}\n\ndata: ${last}\n\n`,
    from("lanqian528/chat2api", 25, "a gateway sends the time as a keep-alive message")
  ),
  written(
    "empty-data",
    `data: \n\ndata: ${first}\n\ndata:\n\ndata: ${second}\n\ndata: ${last}\n\n`,
    from("caozhiyuan/copilot-api", 88, "a ping has empty data")
  ),
  row(
    "encoding/raw-control-characters",
    from("earendil-works/pi", 4446, "control characters stand as they are in texts of events"),
    "One character that is not escaped fails a whole answer.",
    `data: {"choices":[{"index":0,"delta":{"content":"Sun\tny."}}]}\n\ndata: ${last}\n\n`,
    { text: "Sun\tny.", finish: "stop" }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

const groq = from("pydantic/pydantic-ai", 2774, "Groq refuses what its own model wrote with status 400")

const waits = (name: string, source: Source, error: object, retryAfterMillis: number, more: object = {}): ResponseRow =>
  row(
    `error/${name}`,
    source,
    "The call is retried too early, since a gateway has dropped the header.",
    refused(429, { error, ...more }),
    { failure: ["RateLimited"], retryAfterMillis }
  )

const flat = (name: string, source: Source, body: object, expected: Outcome): ResponseRow =>
  row(`error/${name}`, source, "The error comes with status 200 and is read as an empty answer.", json(body), expected)

const errors: ReadonlyArray<ResponseRow> = [
  row(
    "error/flat-data-inspection",
    {
      repository: "https://help.aliyun.com/zh/dashscope/return-status-code-description",
      subject: "the codes of DashScope's filters"
    },
    "A filter is taken for an overload, and the call is repeated.",
    bare({ code: "DataInspectionFailed", message: "Output data may contain inappropriate content.", request_id: "q" }),
    { failure: ["ContentFiltered"], says: ["inappropriate content"] }
  ),
  row(
    "error/tool-use-failed",
    groq,
    "A fault of the model is taken for one of the request, and no retry is made.",
    refused(400, {
      error: {
        message: "Failed to call a function",
        type: "invalid_request_error",
        code: "tool_use_failed",
        failed_generation: "<f>"
      }
    }),
    { failure: ["Malformed"], says: ["Failed to call a function"] }
  ),
  row(
    "error/json-validate-failed",
    from("glibsonoran/Plush-for-ComfyUI", 135, "Groq's model wrote no JSON, and the request is refused"),
    "A fault of the model is taken for one of the request, and no retry is made.",
    refused(400, {
      error: { message: "Failed to generate JSON", type: "invalid_request_error", code: "json_validate_failed" }
    }),
    { failure: ["Malformed"] }
  ),
  row(
    "error/status-498",
    { repository: "https://console.groq.com/docs/errors", subject: "Groq's status 498 for a capacity that is used up" },
    "A status that no standard has is taken for a bad request.",
    refused(498, { error: { message: "over capacity", type: "capacity_exceeded" } }),
    { failure: ["Overloaded"] }
  ),
  row(
    "error/status-424",
    {
      repository: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html",
      subject: "Bedrock's status 424 for a model that failed"
    },
    "A fault of the model is taken for one of the request, and no retry is made.",
    refused(424, { message: "the model failed" }),
    { failure: ["Overloaded"] }
  ),
  row(
    "error/rate-with-status-403",
    {
      repository: "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api",
      subject: "GitHub refuses for its secondary limits with 403"
    },
    "A key is taken for a wrong one.",
    refused(403, { message: "You have exceeded a secondary rate limit. Please wait a few minutes." }),
    { failure: ["RateLimited"] }
  ),
  waits(
    "retry-in-words",
    {
      repository: "https://learn.microsoft.com/azure/ai-services/openai/how-to/quota",
      subject: "Azure says in words when to retry"
    },
    { code: "429", message: "Requests have exceeded the token rate limit of your tier. Please retry after 7 seconds." },
    7000
  ),
  waits(
    "retry-in-minutes",
    from("praveenjuge/teak", 254, "Groq says in words when its window is reset"),
    {
      code: "rate_limit_exceeded",
      message: "Rate limit reached on tokens per minute (TPM). Please try again in 1m2.5s."
    },
    62_500
  ),
  row(
    "error/loading",
    from("huggingface/huggingface_hub", 2763, "a model is loading, and its error says for how long"),
    "The call is retried too early.",
    refused(503, { error: "Model tiny is currently loading", estimated_time: 20.5 }),
    { failure: ["Overloaded"], retryAfterMillis: 20_500 }
  ),
  flat(
    "code-and-msg",
    { repository: "https://docs.siliconflow.cn/faqs/error-code", subject: "errors are a code and msg" },
    { code: 401, msg: "no entry", data: null },
    { failure: ["Authentication"], says: ["no entry"] }
  ),
  flat(
    "error-code-and-error-msg",
    {
      repository: "https://cloud.baidu.com/doc/WENXINWORKSHOP/s/tlmyncueh",
      subject: "Baidu's errors are error_code and error_msg"
    },
    { error_code: 18, error_msg: "request limit reached" },
    { failure: ["Overloaded", "RateLimited"], says: ["request limit reached"] }
  ),
  flat(
    "no-success",
    {
      repository: "https://developers.cloudflare.com/workers-ai/platform/errors",
      subject: "Cloudflare's answers have success and a list of errors"
    },
    { success: false, errors: [{ code: 7009, message: "Upstream went away" }], result: null },
    { failure: ["Overloaded"], says: ["Upstream went away"] }
  ),
  flat(
    "capitals",
    {
      repository: "https://cloud.tencent.com/document/api/1729/101836",
      subject: "Tencent's errors are in Response.Error"
    },
    { Response: { Error: { Code: "LimitExceeded", Message: "the rate limit is reached" }, RequestId: "x" } },
    { failure: ["RateLimited"], says: ["the rate limit is reached"] }
  ),
  row(
    "error/fault",
    {
      repository: "https://cloud.google.com/apigee/docs/api-platform/reference/policies/reference-overview-policy",
      subject: "Apigee's errors are in fault"
    },
    "The user does not read why.",
    refused(429, {
      fault: {
        faultstring: "The quota of this hour is used up",
        detail: { errorcode: "policies.ratelimit.QuotaViolation" }
      }
    }),
    { failure: ["RateLimited"], says: ["The quota of this hour is used up"] }
  ),
  row(
    "error/words-after-the-beginning",
    from("tetsuo-ai/agenc-core", 2492, "an event of a proxy has words and no code"),
    "The user reads that a stream ended, and not why.",
    bare(chunk({ content: "Half of " }), { message: "engine went away" }),
    { failure: ["Overloaded"], says: ["engine went away"] }
  ),
  row(
    "error/usage-limit-of-an-account",
    {
      repository: "https://platform.claude.com/docs/en/api/errors",
      subject: "an account has reached the limit that its owner has set"
    },
    "A call is retried that cannot succeed for days.",
    refused(400, {
      error: { message: "You have reached your specified API usage limits. You will regain access on 2026-12-01." }
    }),
    { failure: ["Quota"] }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Overflow
// -------------------------------------------------------------------------------------------------------------------

const overflow = (id: string, source: Source, message: string, status = 400, more: object = {}): ResponseRow =>
  row(
    `overflow/${id}`,
    source,
    "An overflow is a plain bad request, and agents do not compact.",
    refused(status, { error: { message, type: "invalid_request_error", code: null, ...more } }),
    { failure: ["ContextTooLong"] }
  )

const overflows: ReadonlyArray<ResponseRow> = [
  overflow(
    "copilot",
    from("jjleng/copilot-more", 35, "GitHub Copilot speaks of the prompt's token count"),
    "prompt token count of 1200 exceeds the limit of 1000"
  ),
  overflow("copilot-code", from("microsoft/vscode", 289514, "GitHub Copilot has a code of its own"), "refused", 400, {
    code: "model_max_prompt_tokens_exceeded"
  }),
  overflow(
    "sglang-allowed-length",
    from("NVIDIA-NeMo/Switchyard", 426, "SGLang speaks of the maximum allowed length"),
    "Input length (1200 tokens) exceeds the maximum allowed length (1000 tokens). Use a shorter input or enable --allow-auto-truncate."
  ),
  overflow(
    "text-generation-inference",
    from("web-infra-dev/midscene", 315, "text-generation-inference adds inputs and new tokens"),
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1000. Given: 1200 `inputs` tokens and 100 `max_new_tokens`",
    422
  ),
  overflow(
    "volcengine-messages",
    from("bytedance/deer-flow", 583, "Volcengine speaks of message tokens"),
    "Total tokens of image and text exceed max message tokens."
  ),
  overflow(
    "volcengine-length",
    from("langgenius/dify", 32221, "Volcengine names both lengths"),
    "Input length 1200 exceeds the maximum length 1000"
  ),
  overflow(
    "watsonx",
    { repository: "https://cloud.ibm.com/apidocs/watsonx-ai", subject: "watsonx speaks of a total tokens limit" },
    "the number of input tokens 1200 cannot exceed the total tokens limit 1000 for this model"
  ),
  overflow(
    "baidu",
    { repository: "https://cloud.baidu.com/doc/WENXINWORKSHOP/s/tlmyncueh", subject: "Baidu speaks of prompt tokens" },
    "Prompt tokens too long"
  ),
  overflow(
    "chinese",
    { repository: "https://docs.bigmodel.cn/cn/faq/api-code", subject: "an overflow in Chinese words" },
    "输入 tokens 超过模型最大长度"
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Thinking
// -------------------------------------------------------------------------------------------------------------------

const thought = (id: string, source: Source, pieces: ReadonlyArray<string>, expected: Outcome): ResponseRow =>
  row(
    `thinking/${id}`,
    source,
    "Reasoning is shown as the answer, and breaks a shape that the answer must have.",
    events(...pieces.map((content) => chunk({ content })), chunk({}, "stop")),
    expected,
    { needs: { thinkTags: true } }
  )

const hm = { text: "Sunny.", reasoning: "Hm." }

const thinking: ReadonlyArray<ResponseRow> = [
  thought(
    "brackets",
    from("RooCodeInc/Roo-Code", 8522, "Magistral writes its tags in brackets"),
    ["[THI", "NK]Hm.[/THINK]", "Sunny."],
    hm
  ),
  thought(
    "minimax",
    from("isaiah-harville/Primer", 109, "MiniMax's tags have a name of their own"),
    ["<mm:think>Hm.</mm:think>Sunny."],
    hm
  ),
  thought(
    "seed",
    {
      repository: "https://huggingface.co/ByteDance-Seed/Seed-OSS-36B-Instruct",
      subject: "Seed's tags have a name of their own"
    },
    ["<seed:", "think>Hm.</seed:think>Sunny."],
    hm
  ),
  thought(
    "kimi-vl",
    {
      repository: "https://huggingface.co/moonshotai/Kimi-VL-A3B-Thinking",
      subject: "Kimi-VL writes its tags with triangles"
    },
    ["◁thi", "nk▷Hm.◁/think▷Sunny."],
    hm
  ),
  thought(
    "cohere",
    {
      repository: "https://docs.cohere.com/docs/reasoning",
      subject: "Command A's reasoning is between special tokens"
    },
    ["<|START_THIN", "KING|>Hm.<|END_THINKING|>Sunny."],
    hm
  ),
  thought(
    "no-tag-in-brackets",
    from("MihaiBuilds/memory-vault", 152, "a text has a sign that is no tag"),
    ["a [", "b] c [", "1]"],
    {
      text: "a [b] c [1]",
      reasoning: ""
    }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Preferences
// -------------------------------------------------------------------------------------------------------------------

const good = { body: events(chunk({ content: "Sunny." }), chunk({}, "stop")) }
const effort = { reasoning: { type: "effort", effort: "high" } } as const

const preference = (
  id: string,
  source: Source,
  body: unknown,
  request: NonNullable<ResponseRow["request"]>,
  field: string,
  answer: ResponseRow["replies"][0] = good
): ResponseRow =>
  row(
    `preference/${id}`,
    source,
    "A client that says how it would like to be answered gets nothing but errors.",
    [refused(400, body), answer],
    sunny,
    { request, requests: 2, without: [field] }
  )

/**
 * A server that requires a lower output limit. The limit is lowered, because it is an upper bound and not a
 * requirement.
 */
const lowered = (id: string, source: Source, message: string): ResponseRow =>
  row(
    `preference/limit-${id}`,
    source,
    "An agent's limit of the output fails each request, though an answer may be shorter.",
    [refused(400, { error: { message, type: "invalid_request_error" } }), good],
    sunny,
    { request: { maxOutputTokens: 32_000 }, requests: 2 }
  )

/** A server that rejects the value of a setting. The nearest accepted value is sent instead. */
const valued = (
  id: string,
  source: Source,
  message: string,
  request: NonNullable<ResponseRow["request"]>,
  sends: ResponseRow["sends"]
): ResponseRow =>
  row(
    `preference/value-${id}`,
    source,
    "A reader that remembers the field alone leaves it out for ever, also with values that are taken.",
    [refused(400, { error: { message, type: "invalid_request_error" } }), good],
    sunny,
    { request, requests: 2, sends }
  )

const whole = json({ object: "chat.completion", choices: [{ finish_reason: "stop", message: { content: "Sunny." } }] })

const preferences: ReadonlyArray<ResponseRow> = [
  preference(
    "no-thinking",
    from("Gitlawb/openclaude", 1371, "Ollama names no field where a model does not think"),
    { error: { message: '"tiny" does not support thinking', type: "invalid_request_error" } },
    effort,
    "reasoning_effort"
  ),
  preference(
    "think-value",
    from("ollama/ollama", 12561, "Ollama speaks of a think value"),
    { error: { message: 'think value "high" is not supported for this model', type: "api_error" } },
    effort,
    "reasoning_effort"
  ),
  preference(
    "thinking-not-enabled",
    from("lobehub/lobehub", 7686, "Google says that a model's thinking is not enabled"),
    { error: { message: "Thinking is not enabled for models/tiny", code: 400 } },
    effort,
    "reasoning_effort"
  ),
  preference(
    "effort-in-camel-case",
    from("BerriAI/litellm", 16265, "xAI spells the field in another way than it is sent"),
    { code: "Client specified an invalid argument", error: "Model tiny does not support parameter reasoningEffort." },
    effort,
    "reasoning_effort"
  ),
  valued(
    "above-a-range",
    from("WolframResearch/Chatbook", 47, "servers differ in the range of the temperature"),
    "Invalid 'temperature': decimal above maximum value. Expected a value <= 1, but got 1.5 instead.",
    { temperature: 1.5 },
    { temperature: 1 }
  ),
  valued(
    "at-an-open-end",
    from("ai-forever/gigachain", 237, "GigaChat takes any temperature above 0, and not 0"),
    "Invalid params: temperature must be in range (0, +inf)",
    { temperature: 0 },
    { temperature: 0.01 }
  ),
  valued(
    "two-dots",
    from("anthropics/anthropic-sdk-python", 893, "a range is written with two dots"),
    "temperature: range: 0..1",
    { temperature: 1.2 },
    { temperature: 1 }
  ),
  valued(
    "in-words",
    from("Marker-Inc-Korea/AutoRAG", 1100, "a server names the range of the temperature in words"),
    "The temperature hyperparameter is out of range. The valid range for the temperature hyperparameter should be between 0 and 1.",
    { temperature: 1.5 },
    { temperature: 1 }
  ),
  preference(
    "only-one-value",
    from("arcsin1/oh-my-ppt", 45, "Kimi takes no temperature but 0.6 where a model does not think"),
    { error: { message: "invalid temperature: only 0.6 is allowed for this model", type: "invalid_request_error" } },
    { temperature: 0.3 },
    "temperature"
  ),
  preference(
    "seed-in-brackets",
    {
      repository: "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html",
      subject: "Bedrock names a key in brackets"
    },
    { message: "Malformed input request: #: extraneous key [seed] is not permitted, please reformat your input." },
    { seed: 7 },
    "seed"
  ),
  preference(
    "stream-of-verified-accounts",
    from("charmbracelet/crush", 422, "OpenAI streams some models to verified organizations alone"),
    {
      error: {
        message: "Your organization must be verified to stream this model.",
        param: "stream",
        code: "unsupported_value"
      }
    },
    {},
    "stream",
    whole
  ),
  lowered(
    "vllm",
    from("farion1231/cc-switch", 1022, "vLLM refuses a limit that does not fit beside the prompt"),
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 17459 input tokens (32000 > 32768 - 17459)."
  ),
  lowered(
    "in-the-completion",
    from("vllm-project/vllm", 20409, "prompt and completion do not fit together"),
    "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens (8000 in the messages, 32000 in the completion)."
  ),
  lowered(
    "sglang",
    from("NousResearch/hermes-agent", 83521, "SGLang adds the prompt and the completion"),
    "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 40000 tokens: 8000 tokens from the input messages and 32000 tokens for the completion."
  ),
  lowered(
    "range",
    from("Gitlawb/openclaude", 35, "DeepSeek names the range of the limit"),
    "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"
  ),
  lowered(
    "less-or-equal",
    from("langgenius/dify", 13451, "Volcengine names the most that it takes"),
    "Model Parameter max_tokens should be less than or equal to 12288."
  )
]

// -------------------------------------------------------------------------------------------------------------------
// All
// -------------------------------------------------------------------------------------------------------------------

export const chatForms: ReadonlyArray<Row> = [
  ...endings,
  ...folding,
  ...nulls,
  ...usages,
  ...encodings,
  ...errors,
  ...overflows,
  ...thinking,
  ...preferences
]
