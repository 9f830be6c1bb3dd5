/** Rows of reports about servers, gateways and agents, most of them from 2026. */
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
import { bare, events, named, type ResponseRow, type Row } from "./Row.ts"
import { other, request } from "./reportForms.ts"

const stop = chunk({}, "stop")

const lost = "An answer that others read is lost."

const unusable = "A client that others serve gets nothing but errors."

// -------------------------------------------------------------------------------------------------------------------
// Chat Completions: endings, folding, tools
// -------------------------------------------------------------------------------------------------------------------

const fullCall = (city: string, fields: object = {}) =>
  piece({ index: 0, id: "a", name: "weather", args: JSON.stringify({ city }), ...fields })

const folding: ReadonlyArray<Row> = [
  row(
    "ending/text-beside-length",
    from("vllm-project/vllm", 35705, "the chunk with the finish reason length also has the last text"),
    "The last text is lost.",
    events(chunk({ role: "assistant", content: "" }), chunk({ content: "Sun" }), chunk({ content: "ny." }, "length")),
    { text: "Sunny.", finish: "length" }
  ),
  row(
    "ending/no-finish-reason-until-the-end",
    from("vllm-project/vllm", 19650, "chunks have an empty list of calls and no field for the finish reason"),
    lost,
    events(
      choice({ index: 0, delta: { role: "assistant", content: "" } }),
      choice({ index: 0, delta: { content: "Sun", tool_calls: [] } }),
      choice({ index: 0, delta: { content: "ny.", tool_calls: [] } }),
      choice({ index: 0, delta: { content: "" }, finish_reason: "stop", stop_reason: null })
    ),
    sunny
  ),
  row(
    "folding/nameless-call-with-broken-arguments",
    from(
      "sgl-project/sglang",
      23071,
      "a second call has no name, and its arguments are two objects, one of them broken"
    ),
    "A tool is called without the arguments that its model wrote.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: "" })),
      calls(piece({ index: 1, id: null, name: null, args: '{"city": "Ulm"{"city": "Ulm", "day": "today"}' })),
      chunk({}, "tool_calls")
    ),
    { ...called, calls: [{ name: "weather", arguments: { city: "Ulm", day: "today" } }] }
  ),
  row(
    "folding/name-and-arguments-again",
    from("open-webui/open-webui", 22235, "a later piece of a call repeats its name and all its arguments"),
    "The name is doubled, and no such tool exists.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: "" })),
      calls(piece({ index: 0, args: '{"city":' })),
      calls(piece({ index: 0, args: '"Ulm"}' })),
      calls(piece({ index: 0, name: "weather", args: '{"city":"Ulm"}' })),
      chunk({}, "tool_calls")
    ),
    { ...called, calls: [ulm] }
  ),
  row(
    "folding/two-objects-at-one-index",
    from("open-webui/open-webui", 22235, "one call gets the complete arguments of two"),
    "The arguments are no JSON, and both calls are lost.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"city":"Ulm"}' })),
      calls(piece({ index: 0, args: '{"city":"Bonn"}' })),
      chunk({}, "tool_calls")
    ),
    { ...called, calls: [ulm, bonn] }
  ),
  row(
    "folding/second-call-without-arguments",
    from("sgl-project/sglang", 37634, "of two calls in one step of the engine, the second has no arguments"),
    "Both calls are lost, or the second gets the arguments of the first.",
    events(calls(fullCall("Ulm"), piece({ index: 1, id: "b", name: "clock", args: "" })), chunk({}, "tool_calls")),
    { ...called, calls: [ulm, { name: "clock", arguments: {} }] }
  ),
  row(
    "folding/empty-role",
    from("Th0rgal/sandboxed.sh", 142, "MiniMax's deltas have an empty text as their role"),
    lost,
    events(chunk({ role: "", content: "Sun" }), chunk({ role: "", content: "ny." }), chunk({ role: "" }, "stop")),
    sunny
  ),
  row(
    "tools/metadata-in-a-delta-of-its-own",
    from("open-webui/computer", 224, "Gemini's calls have no index, and their metadata comes in a delta of its own"),
    "The metadata counts as a second call, without a name.",
    events(
      calls(piece({ id: "f1", name: "weather", args: '{"city":' })),
      calls({ function: { arguments: '"Ulm"}' } }),
      calls({ extra_content: { google: { thought_signature: "c2ln" } } }),
      stop
    ),
    { ...called, calls: [ulm] }
  ),
  row(
    "tools/signature-of-vertex",
    from("earendil-works/pi", 6733, "Vertex puts a signature on each call, under its own name"),
    lost,
    events(
      calls({ ...fullCall("Ulm"), extra_content: { vertex: { thought_signature: "c2ln" } } }),
      chunk({}, "tool_calls")
    ),
    { ...called, calls: [ulm] }
  ),
  row(
    "tools/arguments-of-many-calls-at-once",
    from("sgl-project/sglang", 32167, "all calls are complete in the last chunk, next to its finish reason"),
    "Calls in the last chunk lose their arguments.",
    events(
      chunk({ role: "assistant", content: null }),
      chunk(
        {
          tool_calls: [fullCall("Ulm"), piece({ index: 1, id: "b", name: "weather", args: '{"city":"Bonn"}' })]
        },
        "tool_calls"
      )
    ),
    { ...called, calls: [ulm, bonn] }
  ),
  row(
    "null-and-lists/thinking-within-thinking",
    from("BerriAI/litellm", 16272, "Magistral streams its reasoning as a list within a list"),
    "The reasoning is lost, or becomes part of the answer.",
    events(
      chunk({ role: "assistant", content: "" }),
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "H" }] }] }),
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "m" }], closed: true }] }),
      chunk({ content: [{ type: "text", text: "Sun" }] }),
      chunk({ content: "ny." }),
      stop
    ),
    { ...sunny, reasoning: "Hm" }
  ),
  row(
    "usage/null-until-the-end-and-none-there",
    from("QuantumNous/new-api", 6212, "Volcengine's chunks have a usage of null, and the last one has none"),
    "An answer is refused because it has no usage, or counts as free.",
    events(chunk({ content: "Sunny." }, null, { usage: null }), stop),
    sunny
  ),
  row(
    "usage/cost-in-the-last-chunk",
    from("Effect-TS/effect", 6117, "OpenRouter's last chunk has usage with a price and no choices"),
    "The answer fails at its very end, though all of it was read.",
    events(chunk({ content: "Sunny." }), stop, {
      choices: [],
      usage: { ...usage, cost: 0.000093, is_byok: false, cost_details: { upstream_inference_cost: 0.00008 } }
    }),
    { ...sunny, usage: used }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Chat Completions: thinking
// -------------------------------------------------------------------------------------------------------------------

const thought = (
  id: string,
  source: ResponseRow["source"],
  pieces: ReadonlyArray<string>,
  reasoning = "Hm"
): ResponseRow =>
  row(
    `thinking/${id}`,
    source,
    "The reasoning becomes part of the answer.",
    events(...pieces.map((content) => chunk({ content })), stop),
    { ...sunny, reasoning },
    { needs: { thinkTags: true } }
  )

const thinking: ReadonlyArray<Row> = [
  thought(
    "gemma-channel",
    from("Blaizzy/mlx-vlm", 899, "Gemma 4 writes its reasoning between channel tokens"),
    ["<|channel>\nHm\n<channel|>\nSunny."],
    "\nHm\n"
  ),
  thought(
    "gemma-channel-of-thought",
    from("NousResearch/hermes-agent", 43873, "Gemma 4 names its channel thought, and the tokens come in pieces"),
    ["<|chan", "nel>thou", "ght\nHm", "<chan", "nel|>", "Sunny."],
    "\nHm"
  ),
  thought("harmony", from("InternLM/lmdeploy", 3954, "gpt-oss writes its channels into the content"), [
    "<|channel|>analysis<|message|>Hm<|end|>",
    "<|start|>assistant<|channel|>final<|message|>",
    "Sunny."
  ]),
  thought("space-before-the-tag", from("nesquena/hermes-webui", 327, "space comes before the opening tag"), [
    "\n\n",
    "<think>",
    "Hm",
    "</think>",
    "\n\nSunny."
  ])
]

// -------------------------------------------------------------------------------------------------------------------
// Chat Completions: errors
// -------------------------------------------------------------------------------------------------------------------

/** An account without credit. Another worker must take over, and the key is not at fault. */
const spent = (id: string, source: ResponseRow["source"], status: number, body: unknown, says: string): ResponseRow =>
  row(
    `error/${id}`,
    source,
    "The user is told to replace a key that works, or an account without credit is called again and again.",
    refused(status, body),
    { failure: ["Quota"], says: [says] }
  )

const errors: ReadonlyArray<Row> = [
  spent(
    "user-quota-with-403",
    from("Alishahryar1/free-claude-code", 1543, "a quota of a user is exceeded, with status 403"),
    403,
    { message: "User's credit limit is insufficient", type: "api_error", code: "insufficient_user_quota" },
    "credit limit"
  ),
  spent(
    "credits-in-detail",
    from("diegosouzapw/OmniRoute", 13040, "FriendliAI's credits are exhausted, with status 403 and a detail"),
    403,
    { detail: "You've exhausted all your credits. Add a payment method to continue." },
    "exhausted all your credits"
  ),
  spent(
    "spending-limit-as-code",
    from("gptme/gptme-contrib", 1678, "xAI's code names a spending limit, with status 403"),
    403,
    { code: "personal-team-blocked:spending-limit", error: "You have run out of credits or need a subscription." },
    "run out of credits"
  ),
  spent(
    "credits-in-a-bare-text",
    from("continuedev/continue", 10740, "xAI's body is a text in quotes, with status 429"),
    429,
    JSON.stringify("Your team x has either used all available credits or reached its monthly spending limit."),
    "used all available credits"
  ),
  spent(
    "no-credits-yet",
    from("continuedev/continue", 12670, "a new team at xAI has no credits, with status 403"),
    403,
    JSON.stringify("Your newly created team doesn't have any credits or licenses yet."),
    "credits or licenses"
  ),
  spent(
    "permission-denied-for-credits",
    from("Anantys-oss/koan", 2412, "xAI denies permission because credits are used up"),
    403,
    {
      code: "permission-denied",
      error: "Your team x has either used all available credits or reached its monthly spending limit."
    },
    "monthly spending limit"
  ),
  spent(
    "window-of-a-subscription",
    from("openclaw/openclaw", 142524, "the window of a subscription at Kimi is used up, with status 403"),
    403,
    {
      error: {
        message: "You've reached your usage limit for this period. Your quota will be refreshed in the next period.",
        type: "access_terminated_error"
      }
    },
    "usage limit"
  ),
  spent(
    "service-quota-of-bedrock",
    from("bagofwords1/bagofwords", 784, "Bedrock names an exception of its quotas, with status 400"),
    400,
    { __type: "ServiceQuotaExceededException", message: "You have exceeded your service quota for this operation." },
    "service quota"
  ),
  row(
    "error/quota-of-an-hour",
    from("diegosouzapw/OmniRoute", 2119, "the quota of an hour is exceeded, with status 429"),
    "A worker that answers again within an hour counts as one with a wrong key.",
    refused(429, { error: { message: "Coding Plan hour quota has been exceeded", code: "1308" } }),
    { failure: ["Quota", "RateLimited"], says: ["hour quota"] }
  ),
  row(
    "error/epoch-as-retry-after",
    from("openclaw/clawhub", 407, "retry-after is the time of the reset and no delay"),
    "A worker rests for 56 years.",
    refused(429, { error: { message: "Rate limit exceeded" } }, { "retry-after": "1771404540" }),
    { failure: ["RateLimited"] }
  ),
  row(
    "error/disconnect-within-a-call",
    from("damianvtran/local-operator", 223, "OpenRouter reports a lost provider within the arguments of a call"),
    "A call with half of its arguments counts, or no reason is given.",
    events(calls(piece({ index: 0, id: "a", name: "weather", args: '{"ci' })), {
      ...chunk({ content: "" }, "error"),
      error: { code: 502, message: "Provider disconnected", metadata: { error_type: "provider_unavailable" } }
    }),
    { failure: ["Overloaded", "Network"], says: ["Provider disconnected"] }
  ),
  row(
    "error/reasoning-must-be-passed-back",
    from("danny-avila/LibreChat", 13366, "OpenRouter wraps DeepSeek's reason as JSON in its metadata"),
    "The reason is lost.",
    refused(400, {
      error: {
        message: "Provider returned error",
        code: 400,
        metadata: {
          provider_name: "DeepSeek",
          is_byok: false,
          raw: JSON.stringify({
            error: {
              message: "The `reasoning_content` in the thinking mode must be passed back to the API.",
              type: "invalid_request_error"
            }
          })
        }
      }
    }),
    { failure: ["InvalidRequest"], says: ["must be passed back"] }
  ),
  row(
    "error/role-behind-a-prefix",
    from("decolua/9router", 773, "a router puts its model and the status before the JSON of an error"),
    "The reason is lost.",
    refused(400, {
      error: {
        message: `[d/v4] [400]: ${JSON.stringify({
          error: {
            message: "Failed to deserialize the JSON body: messages[1].role: unknown variant `developer`",
            type: "invalid_request_error"
          }
        })} (reset after 30s)`
      }
    }),
    { failure: ["InvalidRequest"], says: ["unknown variant `developer`"] }
  ),
  row(
    "error/keyword-of-a-schema",
    from("anomalyco/opencode", 43371, "a gateway refuses keywords in the schema of a tool"),
    "The reason is lost.",
    refused(400, {
      error: { type: "invalid_request_error", code: "unsupported_keyword", message: "Tool schema is not supported." }
    }),
    { failure: ["InvalidRequest"], says: ["Tool schema is not supported"] }
  ),
  row(
    "error/reference-in-a-schema",
    from("CommandCodeAI/command-code", 566, "Moonshot names the place in the schema of a tool that it refuses"),
    "The place is lost.",
    refused(400, {
      error: {
        message:
          "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.external.$ref': $defs not found>",
        type: "invalid_request_error"
      }
    }),
    { failure: ["InvalidRequest"], says: ["properties.external.$ref"] }
  ),
  row(
    "error/model-without-this-api",
    from("enricoros/big-AGI", 1167, "a model has the Responses API alone"),
    "The reason is lost.",
    refused(400, {
      error: {
        message: "The model 'm' does not support the '/v1/chat/completions' API",
        type: "invalid_request_error",
        param: null,
        code: "validation_error"
      }
    }),
    { failure: ["InvalidRequest"], says: ["does not support the '/v1/chat/completions' API"] }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Chat Completions: overflow
// -------------------------------------------------------------------------------------------------------------------

const overflow = (id: string, source: ResponseRow["source"], body: unknown): ResponseRow =>
  row(`overflow/${id}`, source, "An agent does not compact its conversation.", refused(400, body), {
    failure: ["ContextTooLong"]
  })

const overflows: ReadonlyArray<Row> = [
  overflow("poolside", from("earendil-works/pi", 4943, "Poolside speaks of the maximum allowed input length"), {
    error: { message: "Input length 131393 exceeds the maximum allowed input length of 131040 tokens." }
  }),
  overflow("vllm-without-output", from("earendil-works/pi", 5929, "vLLM counts a prompt that leaves no output"), {
    error: {
      message:
        "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=262145)",
      type: "BadRequestError",
      code: 400
    }
  }),
  overflow("atlas", from("0xBakeer/inference-atlas", 186, "an engine names its setting of the longest sequence"), {
    error: { message: "Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)" }
  }),
  overflow("zai", from("earendil-works/pi", 9805, "Z.ai's error is flat, and its code a number in a text"), {
    code: "1261",
    message: "Prompt too long"
  })
]

// -------------------------------------------------------------------------------------------------------------------
// Chat Completions: preferences
// -------------------------------------------------------------------------------------------------------------------

const good = { body: events(chunk({ content: "Sunny." }), stop) }

const preference = (
  id: string,
  source: ResponseRow["source"],
  body: unknown,
  asked: NonNullable<ResponseRow["request"]>,
  more: Pick<ResponseRow, "without" | "sends">,
  status = 400
): ResponseRow =>
  row(
    `preference/${id}`,
    source,
    "A client that says how it would like to be answered gets nothing but errors.",
    [refused(status, body), good],
    sunny,
    { request: asked, requests: 2, ...more }
  )

const onlyDefault =
  "Unsupported value: 'temperature' does not support 0.1 with this model. Only the default (1) value is supported."

const preferences: ReadonlyArray<Row> = [
  preference(
    "temperature-in-a-cause",
    from("nashsu/llm_wiki", 670, "a gateway puts the vendor's error into its cause"),
    {
      error: {
        cause: JSON.stringify({ error: { message: onlyDefault, type: "invalid_request_error", param: "temperature" } }),
        code: 400,
        message: "The call of the model failed",
        status: "FAILED_RESPONSE"
      },
      result: null
    },
    { temperature: 0.1 },
    {}
  ),
  preference(
    "temperature-in-details",
    from("pollinations/pollinations", 4310, "a gateway's error is its status, and the vendor's is in its details"),
    {
      error: "400 Bad Request",
      status: 400,
      details: {
        error: {
          message: "azure-openai error: Unsupported parameter: 'temperature' is not supported with this model.",
          type: "invalid_request_error",
          param: "temperature",
          code: "unsupported_parameter"
        },
        provider: "azure-openai"
      }
    },
    { temperature: 0.95 },
    { without: ["temperature"] }
  ),
  preference(
    "level",
    from("nguyenphutrong/quotio", 287, "a router speaks of levels and names those that it takes"),
    { error: { message: 'level "minimal" not supported, valid levels: low, medium, high, xhigh' } },
    { reasoning: { type: "effort", effort: "minimal" } },
    {}
  ),
  preference(
    "effort-in-nested-detail",
    from("router-for-me/CLIProxyAPI", 1307, "the efforts that a server takes are in JSON within a detail"),
    {
      detail: `Invalid request: ${JSON.stringify({
        detail: {
          error: {
            message:
              "1 validation error: `reasoning_effort`: expected one of 'low' | 'medium' | 'high', received 'minimal'"
          }
        }
      })}`
    },
    { reasoning: { type: "effort", effort: "minimal" } },
    {}
  ),
  preference(
    "effort-of-none",
    from("NousResearch/hermes-agent", 114461, "the value comes after the field, and the refusal after both"),
    { error: { message: "reasoning_effort 'none' unsupported" } },
    { reasoning: { type: "off" } },
    { without: ["reasoning_effort"] }
  ),
  preference(
    "field-from-a-provider",
    from("decolua/9router", 1442, "a gateway names the field that its provider does not permit"),
    {
      error: {
        object: "error",
        type: "invalid_request_error",
        code: "invalid_request_error",
        message: "Error from provider: Extra inputs are not permitted, field: 'seed'"
      }
    },
    { seed: 7 },
    { without: ["seed"] }
  ),
  preference(
    "limit-in-param",
    from("AQBot-Desktop/AQBot", 93, "the reason is in the field for the parameter"),
    {
      error: {
        message: "Param Incorrect",
        type: "upstream_error",
        param:
          "max_tokens is too large: 1048576. This model supports at most 131072 completion tokens, whereas you provided 1048576.",
        code: "400"
      }
    },
    { maxOutputTokens: 1_048_576 },
    {}
  ),
  preference(
    "limit-beside-text-and-tools",
    from("openclaw/openclaw", 85921, "OpenRouter adds text, tools and the limit of the output"),
    {
      error: {
        message:
          "This endpoint's maximum context length is 262144 tokens. However, you requested about 284283 tokens (8963 of text input, 13176 of tool input, 262144 in the output). Please reduce the length of either one.",
        code: 400
      }
    },
    { maxOutputTokens: 262_144 },
    {}
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Messages
// -------------------------------------------------------------------------------------------------------------------

const started = {
  type: "message_start",
  message: { id: "m1", type: "message", role: "assistant", content: [], model: "m", usage: { input_tokens: 11 } }
}
const block = (content_block: object, index = 0) => ({ type: "content_block_start", index, content_block })
const part = (delta: object, index = 0) => ({ type: "content_block_delta", index, delta })
const said = (text: string, index = 0) => part({ type: "text_delta", text }, index)
const input = (partial_json: string, index = 0) => part({ type: "input_json_delta", partial_json }, index)
const closed = (index = 0) => ({ type: "content_block_stop", index })
const ended = (stop_reason: string) => ({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 7 } })
const over = { type: "message_stop" }
const text = (index = 0) => block({ type: "text", text: "" }, index)
const weather = (index = 0, input: unknown = {}) =>
  block({ type: "tool_use", id: `t${index}`, name: "weather", input }, index)

const messages: ReadonlyArray<Row> = [
  other(
    "messages",
    "folding/blocks-interleaved",
    from("anthropics/anthropic-sdk-typescript", 1080, "deltas arrive for a block that is not the last one"),
    "A delta is added to the wrong block.",
    named(
      started,
      text(),
      weather(1),
      said("Sun"),
      input('{"city":', 1),
      said("ny."),
      input('"Ulm"}', 1),
      closed(1),
      closed(),
      ended("tool_use"),
      over
    ),
    { ...called, text: "Sunny.", calls: [ulm] }
  ),
  other(
    "messages",
    "folding/two-inputs-in-one-block",
    from("sgl-project/sglang", 39782, "the inputs of several calls are in one block"),
    "The input is no JSON, and all calls are lost.",
    named(started, weather(), input('{"city":"Ulm"}'), input('{"city":"Bonn"}'), closed(), ended("tool_use"), over),
    { ...called, calls: [ulm, bonn] }
  ),
  other(
    "messages",
    "folding/empty-text-before-thinking",
    from("BerriAI/litellm", 34701, "an empty block of text comes before the thinking"),
    "The thinking becomes part of the answer.",
    named(
      started,
      text(),
      closed(),
      block({ type: "thinking", thinking: "", signature: "" }, 1),
      part({ type: "thinking_delta", thinking: "Hm" }, 1),
      closed(1),
      text(2),
      said("Sunny.", 2),
      closed(2),
      ended("end_turn"),
      over
    ),
    { ...sunny, reasoning: "Hm" }
  ),
  other(
    "messages",
    "folding/input-as-text-in-a-whole-answer",
    from("anomalyco/opencode", 20650, "Kimi's input of a tool is sometimes a text of JSON"),
    "The tool is called with nothing.",
    json({
      id: "m1",
      type: "message",
      role: "assistant",
      content: [{ type: "tool_use", id: "t", name: "weather", input: '{"city":"Ulm"}' }],
      stop_reason: "tool_use",
      usage: { input_tokens: 11, output_tokens: 7 }
    }),
    { ...called, calls: [ulm] }
  ),
  other(
    "messages",
    "error/overloaded-at-once",
    from("Wei-Shaw/sub2api", 5563, "the only event of a stream with status 200 is an error"),
    "An overloaded vendor counts as one that answers nothing.",
    named({
      type: "error",
      error: { details: null, type: "overloaded_error", message: "Overloaded" },
      request_id: "r"
    }),
    { failure: ["Overloaded"] }
  ),
  other(
    "messages",
    "error/literal-of-a-role",
    from("Alishahryar1/free-claude-code", 1041, "a server of FastAPI refuses a role with status 422"),
    "The reason is lost.",
    refused(422, {
      detail: [
        {
          type: "literal_error",
          loc: ["body", "messages", 1, "role"],
          msg: "Input should be 'user' or 'assistant'",
          input: "system"
        }
      ]
    }),
    { failure: ["InvalidRequest"], says: ["Input should be 'user' or 'assistant'"] }
  ),
  other(
    "messages",
    "error/usage-limit-as-permission",
    from("NanmiCoder/cc-haha", 1208, "a usage limit of Kimi is a permission error with status 403"),
    "The user is told to log in again.",
    refused(403, {
      error: {
        type: "permission_error",
        message:
          "You've reached your usage limit for this billing cycle. Your quota will be refreshed in the next cycle."
      },
      type: "error"
    }),
    { failure: ["Quota"], says: ["usage limit"] }
  ),
  other(
    "messages",
    "error/credit-balance",
    from("bagofwords1/bagofwords", 784, "Anthropic's credit balance is too low, with status 400"),
    "The request counts as wrong.",
    refused(400, {
      type: "error",
      error: { type: "invalid_request_error", message: "Your credit balance is too low to access the Anthropic API." }
    }),
    { failure: ["Quota"], says: ["credit balance"] }
  ),
  other(
    "messages",
    "error/billing-error",
    from("use-agent-os/agent-os", 907, "Anthropic has a type of its own for billing"),
    "The reason is lost, and the call is repeated.",
    refused(402, { type: "error", error: { type: "billing_error", message: "Check your plan." } }),
    { failure: ["Quota"], says: ["Check your plan"] }
  ),
  {
    ...other(
      "messages",
      "preference/limit-of-a-model",
      from("coolcline/CoolCline", 23, "Anthropic names both limits of the output"),
      "An agent's limit of the output fails each request, though an answer may be shorter.",
      refused(400, {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for m"
        }
      }),
      sunny
    ),
    replies: [
      refused(400, {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for m"
        }
      }),
      { body: named(started, text(), said("Sunny."), closed(), ended("end_turn"), over) }
    ],
    request: { maxOutputTokens: 128_000, preferences: "omit" },
    requests: 2,
    sends: { max_tokens: 64_000 }
  }
]

// -------------------------------------------------------------------------------------------------------------------
// Responses
// -------------------------------------------------------------------------------------------------------------------

const created = { type: "response.created", response: { id: "r1", status: "in_progress", output: [] } }
const message = (text: string, id = "m1") => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }]
})
const call = { type: "function_call", id: "f1", call_id: "a", name: "weather", arguments: '{"city":"Ulm"}' }
const done = (item: object, output_index = 0) => ({ type: "response.output_item.done", output_index, item })
const added = (item: object, output_index = 0) => ({ type: "response.output_item.added", output_index, item })
const completed = (fields: object = {}) => ({
  type: "response.completed",
  response: { id: "r1", object: "response", status: "completed", ...fields }
})
const tokens = { input_tokens: 11, output_tokens: 7, total_tokens: 18 }

const responses: ReadonlyArray<Row> = [
  other(
    "responses",
    "folding/completed-without-output",
    from("decolua/9router", 705, "the final response has neither output nor usage"),
    "A client fails at the end of a good answer.",
    named(created, done(message("Sunny.")), completed({ background: false, error: null })),
    sunny
  ),
  other(
    "responses",
    "folding/arguments-in-deltas-alone",
    from("jeremychone/rust-genai", 236, "arguments come in deltas, and the final response has no output"),
    "The call is lost.",
    named(
      created,
      added({ ...call, arguments: "" }),
      { type: "response.function_call_arguments.delta", item_id: "f1", output_index: 0, delta: '{"city":' },
      { type: "response.function_call_arguments.delta", item_id: "f1", output_index: 0, delta: '"Ulm"}' },
      completed({ usage: tokens })
    ),
    { ...called, calls: [ulm] }
  ),
  other(
    "responses",
    "folding/reasoning-before-its-item",
    from("Wei-Shaw/sub2api", 2875, "reasoning comes before the item that it belongs to"),
    "The reasoning is lost, or the answer with it.",
    named(
      created,
      { type: "response.reasoning_summary_text.delta", item_id: "s1", output_index: 0, summary_index: 0, delta: "Hm" },
      added({ ...message(""), content: [] }, 1),
      { type: "response.output_text.delta", item_id: "m1", output_index: 1, content_index: 0, delta: "Sunny." },
      done(message("Sunny."), 1),
      completed({ usage: tokens })
    ),
    { ...sunny, reasoning: "Hm" }
  ),
  other(
    "responses",
    "folding/empty-message-instead-of-the-call",
    from("sgl-project/sglang", 12652, "the final response has an empty message instead of the call in the stream"),
    "The call is lost.",
    named(
      created,
      added({ ...call, arguments: "" }),
      { type: "response.function_call_arguments.delta", item_id: "f1", output_index: 0, delta: '{"city":"Ulm"}' },
      { type: "response.function_call_arguments.done", item_id: "f1", output_index: 0, arguments: '{"city":"Ulm"}' },
      completed({
        output: [{ id: "m1", type: "message", role: "assistant", content: [{ type: "text", text: "" }] }],
        usage: tokens
      })
    ),
    { ...called, calls: [ulm] }
  ),
  other(
    "responses",
    "folding/blank-message-before-the-call",
    from("vllm-project/vllm", 36445, "a message of two line feeds comes before the call"),
    "The call is lost, or its item merged with the message.",
    named(
      created,
      added({ ...message(""), content: [] }),
      { type: "response.output_text.delta", item_id: "m1", output_index: 0, content_index: 0, delta: "\n\n" },
      { type: "response.output_text.done", item_id: "m1", output_index: 0, content_index: 0, text: "\n\n" },
      done(message("\n\n")),
      added({ ...call, arguments: "" }, 1),
      { type: "response.function_call_arguments.done", item_id: "f1", output_index: 1, arguments: '{"city":"Ulm"}' },
      done(call, 1),
      completed({ output: [message("\n\n"), call], usage: tokens })
    ),
    { ...called, calls: [ulm] }
  ),
  other(
    "responses",
    "folding/other-ids-in-the-final-response",
    from("vllm-project/vllm", 47916, "the final response gives a streamed call other ids"),
    "One call counts as two.",
    named(
      created,
      added({ ...call, arguments: "" }),
      { type: "response.function_call_arguments.delta", item_id: "f1", output_index: 0, delta: '{"city":"Ulm"}' },
      done(call),
      completed({ output: [{ ...call, id: "f9", call_id: "z" }], usage: tokens })
    ),
    { ...called, calls: [ulm] }
  ),
  other(
    "responses",
    "folding/call-named-at-the-end-of-its-arguments",
    from("Sophomoresty/gemini-web2api", 42, "the event that ends the arguments names the call, and no item was added"),
    "The call is lost, or counts twice.",
    named(
      created,
      {
        type: "response.function_call_arguments.done",
        item_id: "f1",
        call_id: "a",
        name: "weather",
        arguments: '{"city":"Ulm"}'
      },
      completed({ output: [call], usage: tokens })
    ),
    { ...called, calls: [ulm] }
  ),
  other(
    "responses",
    "folding/events-without-indexes",
    from("ggml-org/llama.cpp", 19720, "llama-server's events have no index and no id of an item"),
    lost,
    named(
      created,
      added({ ...message(""), content: [] }),
      { type: "response.output_text.delta", delta: "Sun" },
      { type: "response.output_text.delta", delta: "ny." },
      { type: "response.output_text.done", text: "Sunny." },
      done(message("Sunny.")),
      completed({ output: [message("Sunny.")], usage: tokens })
    ),
    { ...sunny, usage: used }
  ),
  other(
    "responses",
    "folding/search-between-two-messages",
    from("farion1231/cc-switch", 6509, "the final response alone has two messages with a search between them"),
    "A message is lost, or both change places.",
    named(
      completed({
        output: [
          message("Sun"),
          { type: "web_search_call", id: "w", status: "completed", action: { type: "search", query: "x" } },
          message("ny.", "m2")
        ],
        usage: tokens
      })
    ),
    { ...sunny, usage: used }
  ),
  other(
    "responses",
    "error/usage-limit-reached",
    from("NousResearch/hermes-agent", 89401, "the limit of a plan is reached, and resets in a day and a half"),
    "The user is told to replace a key that works.",
    refused(429, {
      error: {
        type: "usage_limit_reached",
        message: "The usage limit has been reached",
        plan_type: "plus",
        resets_in_seconds: 116_168
      }
    }),
    { failure: ["Quota", "RateLimited"], says: ["usage limit"] }
  ),
  other(
    "responses",
    "error/item-that-was-not-stored",
    from("router-for-me/CLIProxyAPI", 999, "an item in the input was not stored, with status 404"),
    "The worker counts as one without the model.",
    refused(404, {
      error: {
        message: "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
        type: "invalid_request_error",
        param: "input",
        code: null
      }
    }),
    { failure: ["InvalidRequest"], says: ["Items are not persisted"] }
  ),
  other(
    "responses",
    "error/credits-with-403",
    from("Anantys-oss/koan", 2412, "xAI denies permission because credits are used up"),
    "The user is told to replace a key that works.",
    refused(403, {
      code: "permission-denied",
      error: "Your team x has either used all available credits or reached its monthly spending limit."
    }),
    { failure: ["Quota"], says: ["monthly spending limit"] }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// generateContent
// -------------------------------------------------------------------------------------------------------------------

const candidate = (parts: ReadonlyArray<object>, finishReason?: string, more: object = {}) => ({
  candidates: [
    { content: { role: "model", parts }, ...(finishReason === undefined ? {} : { finishReason }), index: 0 }
  ],
  ...more
})

const generated: ReadonlyArray<Row> = [
  other(
    "generate-content",
    "folding/stop-with-empty-content",
    from("AstrBotDevs/AstrBot", 6735, "an answer that ends with STOP has an empty content"),
    "A reader fails because there are no parts.",
    bare({ candidates: [{ content: {}, finishReason: "STOP", index: 0, safetyRatings: [] }] }),
    { text: "", finish: "stop" }
  ),
  other(
    "generate-content",
    "folding/call-without-a-name",
    from("SystemSculpt/obsidian-systemsculpt-ai", 242, "a call has an empty name"),
    "A tool without a name is called.",
    bare(candidate([{ functionCall: { name: "", args: { city: "Ulm" } } }], "STOP")),
    { failure: ["Malformed"] }
  ),
  other(
    "generate-content",
    "folding/empty-text-after-the-call",
    from("googleapis/python-genai", 1982, "an empty text with STOP comes after the call"),
    "The call is lost, and the answer empty.",
    bare(
      candidate([{ functionCall: { name: "weather", args: { city: "Ulm" } } }]),
      candidate([{ text: "" }], "STOP", { usageMetadata: { promptTokenCount: 11, totalTokenCount: 11 } })
    ),
    { ...called, calls: [ulm] }
  ),
  other(
    "generate-content",
    "folding/signed-text",
    from("aaif-goose/goose", 6890, "the first text of Gemini 2.5 has a signature and is no thought"),
    "The first text is hidden.",
    bare(candidate([{ text: "Sun", thoughtSignature: "c2ln" }]), candidate([{ text: "ny." }], "STOP")),
    { ...sunny, reasoning: "" }
  ),
  other(
    "generate-content",
    "usage/thoughts-apart",
    from("simonw/llm-gemini", 97, "thoughts are counted apart from the candidates, and in the total"),
    "Thoughts are not charged.",
    bare(
      candidate([{ text: "Sunny." }], "STOP", {
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 44, totalTokenCount: 235, thoughtsTokenCount: 186 }
      })
    ),
    { ...sunny, usage: { inputTokens: 5, outputTokens: 230, reasoningTokens: 186 } }
  ),
  other(
    "generate-content",
    "error/json-after-stop",
    from("vercel/ai", 5217, "an error of JSON comes outside of the events, after one with STOP"),
    "A part of an answer counts as a whole one.",
    `${bare(candidate([{ text: "Okay" }]), candidate([{ text: "" }], "STOP"))}{\n  "error": {\n    "code": 503,\n    "message": "The model is overloaded. Please try again later.",\n    "status": "UNAVAILABLE"\n  }\n}\n`,
    { failure: ["Overloaded"], says: ["overloaded"] }
  ),
  other(
    "generate-content",
    "error/json-within-the-message",
    from("google-gemini/gemini-cli", 14811, "an error is JSON within the message of another one"),
    "The reason is lost.",
    refused(429, {
      error: {
        message: JSON.stringify({
          error: { code: 429, message: "Resource has been exhausted (e.g. check quota).", status: "RESOURCE_EXHAUSTED" }
        }),
        code: 429,
        status: "Too Many Requests"
      }
    }),
    { failure: ["RateLimited", "Quota"], says: ["Resource has been exhausted"] }
  ),
  other(
    "generate-content",
    "error/list-of-one",
    from("google-gemini/gemini-cli", 6454, "an error is a list of one, with status 429"),
    "The reason is lost.",
    refused(429, [
      { error: { code: 429, message: "Resource exhausted. Please try again later.", status: "RESOURCE_EXHAUSTED" } }
    ]),
    { failure: ["RateLimited"], says: ["Resource exhausted"] }
  ),
  other(
    "generate-content",
    "error/unknown-names",
    from("lbjlaq/Antigravity-Manager", 3148, "Google names each field that it does not know, in one message"),
    "The fields are lost.",
    refused(400, {
      error: {
        code: 400,
        message:
          "Invalid JSON payload received. Unknown name \"tools\" at 'request.tools[0].function_declarations[8]': Cannot find field.\nInvalid JSON payload received. Unknown name \"tools\" at 'request.tools[0].function_declarations[9]': Cannot find field.",
        status: "INVALID_ARGUMENT",
        details: [{ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [] }]
      }
    }),
    { failure: ["InvalidRequest"], says: ["function_declarations[8]"] }
  ),
  other(
    "generate-content",
    "folding/whole-answer-instead-of-a-stream",
    from("nyroway/nyro", 182, "a stream was asked for, and one object of JSON comes"),
    lost,
    json(candidate([{ text: "Sunny." }], "STOP", { usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7 } })),
    { ...sunny, usage: used }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

const user = { role: "user", content: "Hm" }
const picture =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
const withTool = (parameters: object) => ({
  messages: [user],
  tools: [{ type: "function", function: { name: "look", parameters } }]
})

const requests: ReadonlyArray<Row> = [
  request(
    "responses",
    "items-with-status",
    from("zyycn/codex-proxy-rs", 194, "OpenAI's library sends the status of items back"),
    unusable,
    {
      input: [
        user,
        { type: "function_call", id: "f", call_id: "c", name: "look", arguments: "{}", status: "completed" },
        { type: "function_call_output", call_id: "c", output: "None.", status: "completed" },
        user
      ]
    }
  ),
  request(
    "responses",
    "reasoning-with-content",
    from("zyycn/codex-proxy-rs", 200, "a compacted history has reasoning with content"),
    unusable,
    {
      input: [
        user,
        {
          type: "reasoning",
          id: "rs",
          summary: [],
          content: [{ type: "reasoning_text", text: "Hm" }],
          encrypted_content: "Zm9yZWlnbg=="
        },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hm?" }] },
        user
      ]
    }
  ),
  request(
    "responses",
    "response-format",
    from("router-for-me/CLIProxyAPI", 2608, "a client sends the field for schemas of Chat Completions"),
    unusable,
    { input: "Hm", response_format: { type: "text" } }
  ),
  request(
    "responses",
    "metadata",
    from("router-for-me/CLIProxyAPI", 3296, "LiteLLM sends metadata with each request"),
    unusable,
    { input: "Hm", metadata: { trace_id: "abc" } }
  ),
  request(
    "responses",
    "name-of-a-message",
    from("diegosouzapw/OmniRoute", 291, "messages have names, some of them empty"),
    unusable,
    {
      input: [
        { role: "user", name: "bob", content: "Hello." },
        { role: "assistant", name: "", content: "Hm?" },
        { role: "user", name: "", content: "Hm" }
      ]
    }
  ),
  request(
    "chat",
    "store-and-new-limit",
    from("BasedHardware/omi", 11975, "pi sends store and the newer limit of the output with each request"),
    unusable,
    {
      messages: [{ role: "developer", content: "Be brief." }, user],
      store: false,
      max_completion_tokens: 16_384,
      stream_options: { include_usage: true }
    }
  ),
  request(
    "messages",
    "image-in-a-result",
    from("CommandCodeAI/command-code", 850, "the result of a tool is a picture next to a text"),
    unusable,
    {
      max_tokens: 50,
      tools: [{ name: "look", input_schema: { type: "object" } }],
      messages: [
        user,
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "look", input: {} }] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "t",
              content: [
                { type: "text", text: "Here." },
                { type: "image", source: { type: "base64", media_type: "image/png", data: picture.slice(22) } }
              ]
            }
          ]
        }
      ]
    },
    { tools: ["look"] }
  ),
  request(
    "responses",
    "images-as-output",
    from("CommandCodeAI/command-code", 795, "the output of Codex's tool is a list of pictures"),
    unusable,
    {
      input: [
        user,
        { type: "function_call", call_id: "c", name: "view_image", arguments: '{"path":"a.png"}' },
        {
          type: "function_call_output",
          call_id: "c",
          output: [{ type: "input_image", image_url: picture, detail: "high" }]
        }
      ],
      tools: [{ type: "function", name: "view_image", parameters: { type: "object" } }]
    },
    { tools: ["view_image"] }
  ),
  request(
    "messages",
    "result-without-its-call",
    from("github/copilot-cli", 1159, "a result has an id that no earlier call has"),
    unusable,
    {
      max_tokens: 50,
      messages: [
        user,
        { role: "assistant", content: "Hm?" },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_x", content: "None." },
            { type: "text", text: "Hm" }
          ]
        }
      ]
    }
  ),
  request(
    "chat",
    "choice-of-a-tool-that-is-not-offered",
    from("onyx-dot-app/onyx", 13650, "a named choice of a tool was dropped without a word"),
    "A client takes an answer for the call that it demanded.",
    {
      messages: [user],
      tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
      tool_choice: { type: "function", function: { name: "find" } }
    },
    { status: 400, says: ["find"] }
  ),
  request(
    "messages",
    "deferred-tools",
    from("BerriAI/litellm-docs", 993, "Claude Code defers its tools and adds a search for them"),
    unusable,
    {
      max_tokens: 50,
      messages: [user],
      tools: [
        { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
        { name: "look", input_schema: { type: "object" }, defer_loading: true }
      ]
    },
    { tools: ["look"] }
  ),
  request(
    "messages",
    "context-management",
    from("BerriAI/litellm", 28868, "a client asks for compaction on the server"),
    unusable,
    { max_tokens: 50, messages: [user], context_management: { edits: [{ type: "compact_20260112" }] } }
  ),
  request(
    "messages",
    "compaction-in-history",
    from("maximhq/bifrost", 1565, "a compaction is a block of the history"),
    unusable,
    {
      max_tokens: 50,
      messages: [user, { role: "assistant", content: [{ type: "compaction", content: "They said hello." }] }, user]
    }
  ),
  request(
    "messages",
    "tool-removal",
    from("KarpelesLab/teamclaude", 451, "Claude Code announces that a tool is gone in a block of its own type"),
    unusable,
    {
      max_tokens: 50,
      messages: [
        user,
        { role: "assistant", content: "Hm?" },
        {
          role: "system",
          content: [
            { type: "text", text: "A tool is gone." },
            { type: "tool_removal", tool: { type: "tool_reference", name: "look" } }
          ]
        },
        user
      ]
    }
  ),
  request(
    "messages",
    "effort-of-max",
    from("icebear0828/codex-proxy", 744, "an agent asks for the effort max"),
    unusable,
    { max_tokens: 50, messages: [user], thinking: { type: "adaptive" }, output_config: { effort: "max" } }
  ),
  request(
    "chat",
    "effort-of-a-providers-own",
    from("antongulin/robin", 88, "an effort is a word of a provider, and its text is excluded"),
    unusable,
    { messages: [user], reasoning: { effort: "provider-custom", exclude: true } }
  ),
  request(
    "chat",
    "signature-of-a-call",
    from("ServiceNow/eva", 206, "a call in the history has Gemini's signature next to its function"),
    unusable,
    {
      messages: [
        user,
        {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              id: "c",
              type: "function",
              function: { name: "look", arguments: "{}" },
              extra_content: { google: { thought_signature: "c2ln" } }
            }
          ]
        },
        { role: "tool", tool_call_id: "c", content: "None." },
        user
      ]
    }
  ),
  request(
    "chat",
    "tool-without-parameters",
    from("heshengtao/super-agent-party", 810, "a tool has no parameters, and the request is refused with 422"),
    unusable,
    { messages: [user], tools: [{ type: "function", function: { name: "look", description: "Takes a picture." } }] },
    { tools: ["look"] }
  ),
  request(
    "chat",
    "schema-that-refers-to-itself",
    from("HKUDS/nanobot", 5040, "a schema of a tool refers to one of its own properties"),
    "One tool makes a model unusable.",
    withTool({
      type: "object",
      properties: {
        filter: {
          anyOf: [{ type: "object", properties: { and: { $ref: "#/properties/filter" } } }, { type: "string" }]
        }
      }
    }),
    { tools: ["look"] }
  ),
  request(
    "chat",
    "schema-with-not",
    from("moltis-org/moltis", 694, "a schema of a tool has not without a type"),
    "One tool makes a model unusable.",
    withTool({
      type: "object",
      properties: { query: { anyOf: [{ anyOf: [{ not: { const: "" } }, { type: "string" }] }, { type: "null" }] } }
    }),
    { tools: ["look"] }
  ),
  request(
    "chat",
    "schema-with-conditions",
    from("nicobailon/pi-subagents", 248, "a schema of a tool has conditions"),
    "One tool makes a model unusable.",
    withTool({
      type: "object",
      properties: { a: { type: "string" } },
      allOf: [{ if: { required: ["a"] }, else: { not: { required: ["b"] } } }]
    }),
    { tools: ["look"] }
  ),
  request(
    "responses",
    "code-in-history",
    from("vllm-project/vllm", 23409, "the history has code that a vendor ran"),
    unusable,
    {
      input: [
        user,
        {
          type: "code_interpreter_call",
          id: "ci",
          status: "completed",
          code: "print(1)",
          container_id: "x",
          outputs: null
        },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hm?" }] },
        user
      ]
    }
  ),
  {
    ...request(
      "responses",
      "content-type-of-curl",
      from("inferencerlabs/inferencer-feedback", 42, "curl sends JSON with the content type of a form"),
      "The first try of a user fails.",
      { input: "Hm", stream: false }
    ),
    request: {
      path: "/v1/responses",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: JSON.stringify({ model: "divisi", input: "Hm", stream: false })
    }
  }
]

/** The rows. */
export const fieldReports: ReadonlyArray<Row> = [
  ...folding,
  ...thinking,
  ...errors,
  ...overflows,
  ...preferences,
  ...messages,
  ...responses,
  ...generated,
  ...requests
]
