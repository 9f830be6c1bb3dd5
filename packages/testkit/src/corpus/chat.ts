/** Responses observed from servers that implement Chat Completions. */
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

const badEnding = (word: string, source: Source): ResponseRow =>
  row(
    `ending/${word}`,
    source,
    "Half an answer counts as a whole one, and no retry is made.",
    events(chunk({ content: "Half of " }), chunk({}, word), { choices: [], usage }),
    { failure: ["Overloaded", "Network", "Malformed"], says: [word], usage: used }
  )

const goodEnding = (word: string, finish: Outcome["finish"], source: Source): ResponseRow =>
  row(
    `ending/as-${word.toLowerCase()}`,
    source,
    "A good ending in another vendor's word is taken for a failure, or for none.",
    events(chunk({ content: "Sunny." }), chunk({}, word)),
    { text: "Sunny.", finish }
  )

const endings: ReadonlyArray<ResponseRow> = [
  badEnding("error", from("CherryHQ/cherry-studio", 16079, "abnormal endings were shown as whole answers")),
  badEnding(
    "error_finish",
    from("ranxianglei/billion-context-pi", 169, "a relay ends a throttled stream with a word of its own")
  ),
  badEnding("network_error", from("theopenco/llmgateway", 1901, "a provider failed in the middle of a stream")),
  badEnding("abort", from("InternLM/xtuner", 1755, "an engine gave up on a request")),
  badEnding("insufficient_system_resource", {
    repository: "https://api-docs.deepseek.com/api/create-chat-completion",
    subject: "DeepSeek names a lack of resources as an ending"
  }),
  goodEnding("max_tokens", "length", from("BerriAI/litellm", 37710, "a cut answer has to be told from a whole one")),
  goodEnding("end_turn", "stop", from("vespa-engine/vespa", 33327, "servers end answers in words of other vendors")),
  goodEnding(
    "eos",
    "stop",
    from("vespa-engine/vespa", 33327, "Together ends answers with the token that stopped them")
  ),
  goodEnding("STOP", "stop", from("su-kaka/gcli2api", 406, "a proxy of Gemini passes its endings on in capitals")),
  goodEnding("model_length", "length", {
    repository: "https://docs.mistral.ai/api",
    subject: "Mistral's word for a full context"
  }),
  goodEnding(
    "content_filter",
    "refusal",
    from("CherryHQ/cherry-studio", 16079, "a filtered answer was shown as an empty one")
  ),
  goodEnding("sensitive", "refusal", {
    repository: "https://docs.bigmodel.cn/cn/faq/api-code",
    subject: "Zhipu's word for a filtered answer"
  }),
  row(
    "ending/empty-word",
    from("ollama/ollama", 4357, "every chunk has an empty finish_reason until the last"),
    "An empty word is taken for an ending after the first chunk.",
    events(chunk({ content: "Sun" }, ""), chunk({ content: "ny." }, ""), chunk({}, "stop")),
    sunny
  ),
  row(
    "ending/null-in-words",
    {
      repository: "https://help.aliyun.com/zh/model-studio/qwen-api-reference",
      subject: 'DashScope writes "null" until the end'
    },
    "The word null is taken for an unknown ending.",
    events(chunk({ content: "Sun" }, "null"), chunk({ content: "ny." }, "null"), chunk({}, "stop")),
    sunny
  ),
  row(
    "ending/error-in-choice",
    from("theopenco/llmgateway", 1901, "an error stands in a choice of a stream that goes on"),
    "The reason is lost, and half an answer counts.",
    events(
      chunk({ content: "Half of " }),
      choice({ index: 0, delta: {}, finish_reason: "error", error: { code: 502, message: "Upstream went away" } })
    ),
    { failure: ["Overloaded", "Network"], says: ["Upstream went away"] }
  ),
  row(
    "ending/cut",
    from("vercel/ai", 19165, "a stream that is cut ends like a whole one"),
    "A cut answer counts as a whole one.",
    events(chunk({ content: "Half of " })),
    { failure: ["Network"] }
  ),
  row(
    "ending/text-of-a-proxy-after-the-cut",
    from("tetsuo-ai/agenc-core", 2492, "a proxy appends a line of plain text after a reset and closes"),
    "The clean end of the body is taken for the end of the answer.",
    `${bare(chunk({ reasoning_content: "Let me " }))}upstream error: read ECONNRESET\n`,
    { failure: ["Network", "Malformed"] }
  ),
  row(
    "ending/done-alone",
    from("anomalyco/opencode", 43882, "a gateway never says why an answer ends"),
    "A server that always ends like this cannot be used at all.",
    events(chunk({ content: "Sunny." }), chunk({})),
    sunny,
    { needs: { endsWithDone: true } }
  ),
  row(
    "ending/done-alone-with-usage",
    from("alfredapp/openai-workflow", 52, "a vendor's chunks have usage and no ending"),
    "A server that always ends like this cannot be used at all.",
    events(choice({ index: 0, delta: { content: "Sunny." } }), { choices: [], usage }),
    { ...sunny, usage: used },
    { needs: { endsWithDone: true } }
  ),
  row(
    "ending/done-alone-hint",
    from("can1357/oh-my-pi", 9433, "a stream closes before any ending was given"),
    "The user is not told that a setting exists.",
    events(chunk({ content: "Sunny." })),
    { failure: ["Network"], says: ["endsWithDone"] }
  ),
  row(
    "ending/no-done",
    from("oobabooga/textgen", 4778, "a stream ends without [DONE]"),
    "A reader waits for [DONE], or takes the answer for cut.",
    bare(chunk({ content: "Sunny." }), chunk({}, "stop")),
    sunny
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Folding
// -------------------------------------------------------------------------------------------------------------------

const folding: ReadonlyArray<ResponseRow> = [
  row(
    "folding/usage-after-end",
    from("agentscope-ai/agentscope", 2314, "usage comes in a chunk without choices"),
    "A reader that stops at the ending estimates what it could have read.",
    events(chunk({ content: "Sunny." }), chunk({}, "stop"), { choices: [], usage }),
    { ...sunny, usage: used }
  ),
  row(
    "folding/each-call-ends",
    from("BerriAI/litellm", 31634, "each of several calls has an ending of its own"),
    "All that comes after the first ending is dropped.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"city":"Ulm"}' })),
      chunk({}, "tool_calls"),
      calls(piece({ index: 1, id: "b", name: "weather", args: '{"city":"Bonn"}' })),
      chunk({}, "tool_calls"),
      { choices: [], usage }
    ),
    { calls: [ulm, bonn], ...called, usage: used }
  ),
  row(
    "folding/text-after-an-ending",
    from("BerriAI/litellm", 376, "endings come before the last text"),
    "Text after the first ending is dropped.",
    events(chunk({ content: "Sun" }, "stop"), chunk({ content: "ny." }, "stop")),
    sunny
  ),
  row(
    "folding/no-index-no-id",
    from("AstrBotDevs/AstrBot", 6692, "two calls without number and id"),
    "Two calls become one with two JSON texts.",
    events(
      calls(piece({ name: "weather", args: '{"city":"Ulm"}' })),
      calls(piece({ name: "weather", args: '{"city":"Bonn"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [ulm, bonn], ...called }
  ),
  row(
    "folding/no-index-no-id-one-chunk",
    from("comet-ml/opik", 8362, "calls of one chunk have no numbers"),
    "Two calls become one with two JSON texts.",
    events(
      calls(piece({ name: "weather", args: '{"city":"Ulm"}' }), piece({ name: "weather", args: '{"city":"Bonn"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [ulm, bonn], ...called }
  ),
  row(
    "folding/no-index-pieces",
    from("comet-ml/opik", 8362, "pieces of one call have neither number nor id after the first"),
    "Each piece becomes a call.",
    events(
      calls(piece({ id: "a", name: "weather", args: '{"ci' })),
      calls(piece({ args: 'ty":"Ulm"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [{ ...ulm, id: "a" }], ...called }
  ),
  row(
    "folding/null-index",
    from("comet-ml/opik", 8362, "the number of a call is null"),
    "Null is taken for a number, and calls are merged.",
    events(
      calls(piece({ index: null, id: "a", name: "weather", args: '{"city":"Ulm"}' })),
      calls(piece({ index: null, id: "b", name: "weather", args: '{"city":"Bonn"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [ulm, bonn], ...called }
  ),
  row(
    "folding/shared-index",
    from("apache/maka", 1976, "all calls have the number 0"),
    "The second call is added to the first.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"city":"Ulm"}' })),
      calls(piece({ index: 0, id: "b", name: "weather", args: '{"city":"Bonn"}' })),
      chunk({}, "tool_calls")
    ),
    {
      calls: [
        { ...ulm, id: "a" },
        { ...bonn, id: "b" }
      ],
      ...called
    }
  ),
  row(
    "folding/shared-index-in-pieces",
    from("LibreChat-AI/agents", 260, "calls share a number, and their arguments come in pieces"),
    "Pieces of the second call are added to the first.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: "" })),
      calls(piece({ index: 0, args: '{"city":"Ulm"}' })),
      calls(piece({ index: 0, id: "b", name: "weather", args: "" })),
      calls(piece({ index: 0, args: '{"city":"Bonn"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [ulm, bonn], ...called }
  ),
  row(
    "folding/interleaved",
    from("QwenLM/Qwen-Agent", 943, "pieces of two calls come in turns, with ids in the first alone"),
    "Pieces are added to the call that came last.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"city"' })),
      calls(piece({ index: 1, id: "b", name: "weather", args: '{"city"' })),
      calls(piece({ index: 0, args: ':"Ulm"}' })),
      calls(piece({ index: 1, args: ':"Bonn"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [ulm, bonn], ...called }
  ),
  row(
    "folding/repeated-names",
    from("maximhq/bifrost", 1829, "the name of a tool stands in each piece"),
    "Names are joined to one that no tool has.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"ci' })),
      calls(piece({ index: 0, id: "a", name: "weather", args: 'ty":"Ulm"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [ulm], ...called }
  ),
  row(
    "folding/an-id-for-each-piece",
    from("oracle/langchain-oracle", 108, "pieces of one call have an id each"),
    "The call is taken for several, and none can be read.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"ci' })),
      calls(piece({ index: 0, id: "b", args: 'ty":"Ulm"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [ulm], ...called }
  ),
  row(
    "folding/id-in-a-later-piece",
    from("QwenLM/Qwen-Agent", 943, "the id of a call comes after its first piece"),
    "The later piece is taken for another call.",
    events(
      calls(piece({ index: 0, name: "weather", args: '{"ci' })),
      calls(piece({ index: 0, id: "a", args: 'ty":"Ulm"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [ulm], ...called }
  ),
  row(
    "folding/arguments-as-object",
    from("ggml-org/llama.cpp", 20198, "arguments are an object and no text"),
    "The call is refused, or its arguments become [object Object].",
    events(calls(piece({ index: 0, id: "a", name: "weather", args: { city: "Ulm" } })), chunk({}, "tool_calls")),
    { calls: [ulm], ...called }
  ),
  row(
    "folding/no-arguments",
    from("cheshire-cat-ai/core", 1140, "a tool without arguments is called with an empty text"),
    "An empty text is no JSON, and the turn fails.",
    events(calls(piece({ index: 0, id: "a", name: "clock", args: "" })), chunk({}, "tool_calls")),
    { calls: [{ name: "clock", arguments: {} }], ...called }
  ),
  row(
    "folding/null-arguments",
    from("QwenLM/Qwen-Agent", 943, "names and arguments of later pieces are null"),
    "Null is no text, and the call fails.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: null })),
      calls(piece({ index: 0, id: null, name: null, args: '{"city":"Ulm"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [ulm], ...called }
  ),
  row(
    "folding/function-call",
    from("agent0ai/agent-zero", 1836, "servers still answer with one function_call"),
    "The call of a function is not read at all.",
    events(
      chunk({ function_call: { name: "weather", arguments: '{"ci' } }),
      chunk({ function_call: { arguments: 'ty":"Ulm"}' } }),
      chunk({}, "function_call")
    ),
    { calls: [ulm], ...called }
  ),
  row(
    "folding/calls-that-stop",
    from("apache/flink-agents", 1040, "an answer with calls ends with stop"),
    "The calls are dropped, and the answer is empty.",
    events(calls(piece({ index: 0, id: "a", name: "weather", args: '{"city":"Ulm"}' })), chunk({}, "stop")),
    { calls: [ulm], ...called }
  ),
  row(
    "folding/message-at-the-end",
    {
      repository: "https://platform.minimax.io/docs/api-reference/text-post",
      subject: "MiniMax's last chunk has the whole message"
    },
    "The text is given twice.",
    events(chunk({ content: "Sun" }), chunk({ content: "ny." }), {
      object: "chat.completion",
      model: "m",
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Sunny." } }],
      usage
    }),
    { ...sunny, usage: used }
  ),
  row(
    "folding/message-alone",
    from("Soju06/codex-lb", 504, "text comes only in the final object"),
    "The answer is empty.",
    events({
      object: "chat.completion",
      model: "m",
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Sunny." } }]
    }),
    sunny
  ),
  row(
    "folding/message-wins",
    from("earendil-works/pi", 7283, "the beginning of a text is lost on the way"),
    "The opposite of what the model wrote counts.",
    events(chunk({ content: "delete the table." }), {
      object: "chat.completion",
      choices: [{ index: 0, finish_reason: "stop", message: { content: "DO NOT delete the table." } }]
    }),
    { text: "DO NOT delete the table.", finish: "stop" }
  ),
  row(
    "folding/whole-answer-instead-of-a-stream",
    from("mnfst/llm-gateway", 2716, "a gateway answers with one object of JSON where a stream was asked for"),
    "The answer is refused because of its label.",
    {
      contentType: "application/json",
      body: JSON.stringify({
        object: "chat.completion",
        model: "m",
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Sunny." } }],
        usage
      })
    },
    { ...sunny, usage: used }
  ),
  row(
    "folding/whole-answer-with-calls",
    from("ml-explore/mlx-lm", 899, "a server gives calls of tools as one object"),
    "The calls are not read where no stream comes.",
    {
      contentType: "application/json",
      body: JSON.stringify({
        object: "chat.completion",
        choices: [
          {
            finish_reason: "tool_calls",
            message: { content: null, tool_calls: [piece({ id: "a", name: "weather", args: '{"city":"Ulm"}' })] }
          }
        ]
      })
    },
    { calls: [{ ...ulm, id: "a" }], ...called }
  ),
  row(
    "folding/reasoning-field",
    from("nhatbien/copilot-helper", 7, "reasoning stands in one of several fields"),
    "Reasoning is lost where another field was expected.",
    events(chunk({ reasoning: "Hm." }), chunk({ content: "Sunny." }), chunk({}, "stop")),
    { ...sunny, reasoning: "Hm." }
  ),
  row(
    "folding/reasoning-content-field",
    from("openclaw/openclaw", 91604, "reasoning stands in reasoning_content"),
    "Reasoning is lost where another field was expected.",
    events(chunk({ reasoning_content: "Hm." }), chunk({ content: "Sunny." }), chunk({}, "stop")),
    { ...sunny, reasoning: "Hm." }
  ),
  row(
    "folding/reasoning-twice",
    from("microsoft/agent-framework", 5734, "a chunk has its reasoning as text and as details"),
    "Reasoning is given twice.",
    events(
      chunk({ reasoning: "Hm.", reasoning_details: [{ type: "reasoning.text", text: "Hm.", index: 0 }] }),
      chunk({ content: "Sunny." }),
      chunk({}, "stop")
    ),
    { ...sunny, reasoning: "Hm." }
  ),
  row(
    "folding/reasoning-details-alone",
    from("microsoft/agent-framework", 5734, "reasoning stands in details alone"),
    "Reasoning is lost.",
    events(
      chunk({ reasoning_details: [{ type: "reasoning.summary", summary: "Hm.", index: 0 }] }),
      chunk({ content: "Sunny." }),
      chunk({}, "stop")
    ),
    { ...sunny, reasoning: "Hm." }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Usage
// -------------------------------------------------------------------------------------------------------------------

const usages: ReadonlyArray<ResponseRow> = [
  row(
    "usage/in-choice",
    from("earendil-works/pi", 2017, "Moonshot reports usage within the choice"),
    "The call is estimated although its vendor says what it used.",
    events(chunk({ content: "Sunny." }), choice({ index: 0, delta: {}, finish_reason: "stop", usage })),
    { ...sunny, usage: used }
  ),
  row(
    "usage/cached-beside",
    from("AstrBotDevs/AstrBot", 6614, "cached tokens stand beside the others"),
    "Cached tokens are charged in full.",
    events(
      chunk({ content: "Sunny." }),
      choice({ index: 0, delta: {}, finish_reason: "stop", usage: { ...usage, cached_tokens: 5 } })
    ),
    { usage: { ...used, cachedInputTokens: 5 } }
  ),
  row(
    "usage/groq",
    { repository: "https://console.groq.com/docs/api-reference", subject: "Groq reports usage in x_groq" },
    "The call is estimated although its vendor says what it used.",
    events(chunk({ content: "Sunny." }), chunk({}, "stop", { x_groq: { id: "r", usage } })),
    { ...sunny, usage: used }
  ),
  row(
    "usage/timings",
    {
      repository: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
      subject: "llama-server counts in timings"
    },
    "The call is estimated although its server says what it used.",
    events(chunk({ content: "Sunny." }), chunk({}, "stop", { timings: { prompt_n: 4, cache_n: 7, predicted_n: 7 } })),
    { ...sunny, usage: { ...used, cachedInputTokens: 7 } }
  ),
  row(
    "usage/null-then-told",
    from("langfuse/langfuse-python", 1648, "usage is null in a chunk after the one that has it"),
    "The later null erases what was reported.",
    events(chunk({ content: "Sunny." }, null, { usage }), chunk({}, "stop", { usage: null })),
    { ...sunny, usage: used }
  ),
  row(
    "usage/each-chunk",
    from("alfredapp/openai-workflow", 52, "each chunk has the usage so far"),
    "Figures are added up, or the first counts.",
    events(
      chunk({ content: "Sun" }, null, { usage: { prompt_tokens: 11, completion_tokens: 3 } }),
      chunk({ content: "ny." }, "stop", { usage })
    ),
    { ...sunny, usage: used }
  ),
  row(
    "usage/other-names",
    from("Bike4Mind/bike4mind", 1089, "usage has the names of another API"),
    "The call counts as one that reports nothing.",
    events(chunk({ content: "Sunny." }), chunk({}, "stop", { usage: { input_tokens: 11, output_tokens: 7 } })),
    { ...sunny, usage: used }
  ),
  row(
    "usage/deepseek-cache",
    {
      repository: "https://api-docs.deepseek.com/guides/kv_cache",
      subject: "DeepSeek counts cache hits in a field of its own"
    },
    "Cached tokens are charged in full.",
    events(chunk({ content: "Sunny." }), chunk({}, "stop", { usage: { ...usage, prompt_cache_hit_tokens: 4 } })),
    { usage: { ...used, cachedInputTokens: 4 } }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Null and lists
// -------------------------------------------------------------------------------------------------------------------

const nulls: ReadonlyArray<ResponseRow> = [
  row(
    "null-and-lists/delta",
    from("microsoft/agent-framework", 5734, "the delta of the last chunk is null"),
    "A whole answer is thrown away for its last chunk.",
    events(chunk({ content: "Sunny." }), choice({ index: 0, delta: null, finish_reason: "stop" })),
    sunny
  ),
  row(
    "null-and-lists/chunk",
    from("microsoft/autogen", 7711, "a chunk is null, to keep the connection open"),
    "A whole answer is thrown away for a keep-alive message.",
    events(chunk({ content: "Sun" }), null, chunk({ content: "ny." }), chunk({}, "stop")),
    sunny
  ),
  row(
    "null-and-lists/no-delta",
    from("quarkiverse/quarkus-langchain4j", 1721, "a choice has no delta"),
    "A whole answer is thrown away for a chunk about filters.",
    events(
      chunk({ content: "Sunny." }),
      choice({ index: 0, finish_reason: null, content_filter_results: {} }),
      chunk({}, "stop")
    ),
    sunny
  ),
  row(
    "null-and-lists/choices",
    from("pydantic/pydantic-ai", 797, "the first chunk has filters of the prompt and no choices"),
    "The stream is refused at its beginning.",
    events(
      { choices: [], prompt_filter_results: [] },
      { choices: null },
      { choices: [null] },
      chunk({ content: "Sunny." }),
      chunk({}, "stop")
    ),
    sunny
  ),
  row(
    "null-and-lists/content-list",
    from("microsoft/agent-framework", 6978, "content is a list with reasoning and text"),
    "The answer is refused, or its reasoning is lost.",
    events(
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm." }] }] }),
      chunk({ content: [{ type: "text", text: "Sun" }] }),
      chunk({ content: "ny." }),
      chunk({}, "stop")
    ),
    { ...sunny, reasoning: "Hm." }
  ),
  row(
    "null-and-lists/thinking-as-text",
    from("agentjido/req_llm", 742, "the thinking of a part is a list, and was read as a text"),
    "One of the two forms fails.",
    events(
      chunk({
        content: [
          { type: "thinking", thinking: "Hm." },
          { type: "text", text: "Sunny." }
        ]
      }),
      chunk({}, "stop")
    ),
    { ...sunny, reasoning: "Hm." }
  ),
  row(
    "null-and-lists/unknown-part",
    from("suitenumerique/conversations", 51, "content has parts that are references"),
    "The answer is refused for a part that nobody asked for.",
    events(
      chunk({
        content: [
          { type: "text", text: "Sunny." },
          { type: "reference", reference_ids: [1] }
        ]
      }),
      chunk({}, "stop")
    ),
    sunny
  ),
  row(
    "null-and-lists/null-fields",
    from("PostHog/posthog-python", 203, "fields of a delta are null"),
    "Null is no text, and the answer fails.",
    events(
      chunk({ role: "assistant", content: null, tool_calls: null, refusal: null, function_call: null }),
      chunk({ content: "Sunny.", reasoning_content: null }),
      chunk({}, "stop", { usage: null, error: null })
    ),
    sunny
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

const errors: ReadonlyArray<ResponseRow> = [
  row(
    "error/metadata-raw",
    from("diegosouzapw/OmniRoute", 3044, "the reason stands as JSON in a text of the metadata"),
    'The user reads "Provider returned error" and nothing else.',
    refused(400, {
      error: {
        message: "Provider returned error",
        code: 400,
        metadata: {
          raw: JSON.stringify({ error: { type: "invalid_request_error", message: "tiny-1 takes 1 image at most" } }),
          provider_name: "Acme"
        }
      },
      user_id: "u"
    }),
    { failure: ["InvalidRequest"], says: ["tiny-1 takes 1 image at most"] }
  ),
  row(
    "error/metadata-raw-text",
    from("open-webui/computer", 293, "the reason stands as words in the metadata"),
    "The user does not read that waiting helps.",
    refused(429, {
      error: {
        message: "Provider returned error",
        code: 429,
        metadata: { raw: "tiny-1 is limited upstream for a while", provider_name: "Acme" }
      }
    }),
    { failure: ["RateLimited"], says: ["limited upstream"] }
  ),
  row(
    "error/flat-metadata",
    from("NousResearch/hermes-agent", 94199, "the wrapper is flat, without an error object"),
    "The reason is not looked for where there is no error object.",
    refused(400, {
      message: "Provider returned error",
      code: 400,
      metadata: { raw: '{"message":"image is 9000 wide"}' }
    }),
    { failure: ["InvalidRequest"], says: ["image is 9000 wide"] }
  ),
  row(
    "error/detail",
    from("getkimchi/kimchi", 794, "a gateway of FastAPI wraps errors as words with JSON"),
    "An overflow is a plain bad request, and agents do not compact.",
    refused(400, {
      detail:
        'ContextError: AcmeException - {"object":"error","message":"The input (9001 tokens) is longer than the model\'s context length (8192 tokens).","code":400}'
    }),
    { failure: ["ContextTooLong"], says: ["9001"] }
  ),
  row(
    "error/detail-list",
    from("BerriAI/litellm", 14225, "a server of FastAPI names each field that is wrong"),
    "The user does not read which field it is.",
    refused(422, {
      detail: [{ type: "extra_forbidden", loc: ["body", "foo"], msg: "Extra inputs are not permitted" }]
    }),
    { failure: ["InvalidRequest"], says: ["foo", "not permitted"] }
  ),
  row(
    "error/quota-with-status-200",
    from("lmstudio-ai/lmstudio-bug-tracker", 2322, "errors come with status 200"),
    "The class is lost, and a call is retried that cannot succeed.",
    json({ error: { message: "Your balance is used up", type: "insufficient_quota", code: "insufficient_quota" } }),
    { failure: ["Quota"], says: ["balance is used up"] }
  ),
  row(
    "error/overflow-with-status-200",
    from("lmstudio-ai/lmstudio-bug-tracker", 2322, "an overflow comes with status 200 in a stream"),
    "The error is not read, and agents do not compact.",
    bare({ error: { message: "The context size of 4096 has been exceeded" } }),
    { failure: ["ContextTooLong"] }
  ),
  row(
    "error/numeric-code-in-stream",
    from("oobabooga/textgen", 7257, "an error names its status as a number, and the status is another"),
    "The number is not read, and the class is guessed.",
    bare({ error: { code: 401, message: "no entry" } }),
    { failure: ["Authentication"], says: ["no entry"] }
  ),
  row(
    "error/events-labelled-as-json",
    from("mnfst/llm-gateway", 2716, "a stream of events is labelled as JSON"),
    "The stream is refused unread.",
    { contentType: "application/json", body: events(chunk({ content: "Sunny." }), chunk({}, "stop")) },
    sunny
  ),
  row(
    "error/json-labelled-as-events",
    from("oobabooga/textgen", 7257, "an error of JSON is labelled as events"),
    "Nothing of it is read, and the stream seems cut.",
    { contentType: "text/event-stream", body: JSON.stringify({ error: { message: "no slot is free", code: 503 } }) },
    { failure: ["Overloaded"], says: ["no slot is free"] }
  ),
  row(
    "error/json-over-several-lines",
    from("reVrost/go-openrouter", 21, "an error is printed over several lines"),
    "Only the first line is read, which is no JSON.",
    { contentType: "text/event-stream", body: JSON.stringify({ error: { message: "no slot is free" } }, null, 2) },
    { failure: ["Overloaded"], says: ["no slot is free"] }
  ),
  row(
    "error/page-of-a-proxy",
    from("tetsuo-ai/agenc-core", 2492, "a proxy answers for the server behind it"),
    "The user reads mark-up, or nothing.",
    {
      status: 502,
      contentType: "text/html",
      body: "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>nginx</h1></body></html>"
    },
    { failure: ["Overloaded"], says: ["502 Bad Gateway"] }
  ),
  row(
    "error/page-with-status-200",
    from("e2b-dev/E2B", 1430, "a success is none"),
    "A page is taken for an empty answer.",
    { contentType: "text/html", body: "<html><head><title>Sign in</title></head></html>" },
    { failure: ["Malformed"], says: ["Sign in"] }
  ),
  row(
    "error/words-with-status-200",
    from("tetsuo-ai/agenc-core", 2492, "a proxy writes its error as plain words"),
    "The words are skipped as lines that are no events.",
    { contentType: "text/plain", body: "upstream connect error or disconnect before headers\n" },
    { failure: ["Malformed", "Network", "Overloaded"], says: ["upstream connect error"] }
  ),
  row(
    "error/empty-body",
    from("e2b-dev/E2B", 1430, "a refusal has an empty body"),
    "The call seems to succeed, or its error says nothing.",
    { status: 500, contentType: "application/json", body: "" },
    { failure: ["Overloaded"], says: ["500"] }
  ),
  row(
    "error/base-resp",
    {
      repository: "https://platform.minimax.io/docs/api-reference/errorcode",
      subject: "MiniMax answers errors with status 200 and base_resp"
    },
    "The error is read as an empty answer.",
    json({ id: "x", choices: null, base_resp: { status_code: 1008, status_msg: "balance is low" } }),
    { failure: ["Quota"], says: ["balance is low"] }
  ),
  row(
    "error/base-resp-good",
    {
      repository: "https://platform.minimax.io/docs/api-reference/errorcode",
      subject: "MiniMax says in each chunk that all is well"
    },
    "A status of 0 is taken for an error.",
    events(
      chunk({ content: "Sunny." }, null, { base_resp: { status_code: 0, status_msg: "" } }),
      chunk({}, "stop", { base_resp: { status_code: 0, status_msg: "success" } })
    ),
    sunny
  ),
  row(
    "error/object-error",
    from("getkimchi/kimchi", 794, "vLLM's errors are flat objects"),
    "The error has no error field, and is skipped.",
    bare(chunk({ content: "Sun" }), {
      object: "error",
      message: "engine died",
      type: "InternalServerError",
      code: 500
    }),
    { failure: ["Overloaded"], says: ["engine died"] }
  ),
  row(
    "error/in-stream-beside-usage",
    from("reVrost/go-openrouter", 21, "an error comes in the middle of a stream"),
    "The answer counts as whole, or the reason is lost.",
    bare(chunk({ content: "Sun" }), {
      choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
      error: { code: "server_error", message: "Acme went away" },
      usage
    }),
    { failure: ["Overloaded"], says: ["Acme went away"], usage: used }
  ),
  row(
    "error/azure-filter",
    {
      repository: "https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter",
      subject: "Azure's filter names itself in an inner error"
    },
    "A filtered prompt is taken for a bad request.",
    refused(400, {
      error: {
        message: "The prompt triggered a policy",
        code: "content_filter",
        status: 400,
        innererror: { code: "ResponsibleAIPolicyViolation" }
      }
    }),
    { failure: ["ContentFiltered"] }
  ),
  row(
    "error/region",
    from("crmne/ruby_llm", 431, "a region is refused within a wrapper"),
    "The user does not read why the key seems wrong.",
    refused(403, {
      error: {
        message: "Provider returned error",
        code: 403,
        metadata: { raw: '{"error":{"code":"unsupported_region","message":"Not offered in your region"}}' }
      }
    }),
    { failure: ["Authentication", "InvalidRequest"], says: ["Not offered in your region"] }
  ),
  row(
    "error/retry-after",
    { repository: "https://platform.openai.com/docs/guides/rate-limits", subject: "a header says when to retry" },
    "The call is retried too early.",
    refused(429, { error: { message: "slow down" } }, { "retry-after": "7" }),
    { failure: ["RateLimited"], retryAfterMillis: 7000 }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Overflow and rate
// -------------------------------------------------------------------------------------------------------------------

const overflow = (id: string, source: Source, message: string, status = 400, more: object = {}): ResponseRow =>
  row(
    `overflow/${id}`,
    source,
    "An overflow is a plain bad request, and agents do not compact.",
    refused(status, { error: { message, type: "invalid_request_error", code: null, ...more } }),
    { failure: ["ContextTooLong"] }
  )

const rate = (id: string, source: Source, message: string, status: number, more: object = {}): ResponseRow =>
  row(
    `overflow/${id}`,
    source,
    "A limit of tokens over time is taken for an overflow, and agents compact in vain.",
    refused(status, { error: { message, ...more } }),
    { failure: ["RateLimited"] }
  )

const overflows: ReadonlyArray<ResponseRow> = [
  overflow(
    "kimi",
    from("MoonshotAI/kimi-cli", 2011, "Kimi speaks of the model's token limit"),
    "Your request exceeded model token limit: 1000 (requested: 1200)"
  ),
  overflow(
    "kimi-bytes",
    from("MoonshotAI/kimi-code", 1862, "Kimi counts the bytes of messages"),
    "total message size 3000000 exceeds limit 2097152"
  ),
  overflow(
    "xai",
    {
      repository: "https://docs.x.ai/docs/key-information/debugging",
      subject: "xAI speaks of the maximum prompt length"
    },
    "This model's maximum prompt length is 1000 but the request contains 1200 tokens."
  ),
  overflow(
    "parenthesized",
    from("earendil-works/pi", 5677, "the sizes stand in parentheses"),
    "Input length (1200) exceeds model's maximum context length (1000)."
  ),
  overflow(
    "zhipu",
    from("open-octo/octo-agent", 2124, "Zhipu's message is Chinese, its code a number"),
    "Prompt 超长",
    400,
    { code: "1261" }
  ),
  overflow(
    "dashscope",
    from("open-octo/octo-agent", 2124, "DashScope names the range of lengths"),
    "Range of input length should be [1, 1000]"
  ),
  overflow(
    "llama-server",
    from("ggml-org/llama.cpp", 19774, "llama-server has a type of its own"),
    "request (1200 tokens) exceeds the available context size (1000 tokens)",
    400,
    { type: "exceed_context_size_error" }
  ),
  overflow(
    "llama-server-500",
    from("ggml-org/llama.cpp", 19774, "llama-server answers with status 500"),
    "Context size has been exceeded.",
    500,
    { type: "server_error", code: 500 }
  ),
  overflow(
    "shift-disabled",
    from("ikawrakow/ik_llama.cpp", 2051, "a server says that it shifts no context"),
    "context shift is disabled",
    500
  ),
  overflow(
    "lm-studio",
    from("lmstudio-ai/lmstudio-bug-tracker", 546, "LM Studio speaks of the tokens that it should keep"),
    "Trying to keep the first 1200 tokens when context overflows, but the model is loaded with context length of only 1000 tokens"
  ),
  overflow(
    "rkllm",
    from("jaylfc/taOS", 1738, "the sizes stand before the context window"),
    "Prompt is 1200 tokens but the model context window is 1000 tokens."
  ),
  overflow(
    "openrouter",
    from("MoonshotAI/kimi-code", 476, "OpenRouter speaks of the endpoint's context length"),
    "This endpoint's maximum context length is 1000 tokens. However, you requested about 1200 tokens"
  ),
  overflow(
    "code-alone",
    from("ikawrakow/ik_llama.cpp", 2051, "the code says it, and the message does not"),
    "bad request",
    400,
    { code: "context_length_exceeded" }
  ),
  rate(
    "groq-413",
    from("openclaw/openclaw", 147644, "Groq's limit per minute comes with status 413"),
    "Request too large for model `tiny-1` on tokens per minute (TPM): Limit 8000, Requested 9000",
    413,
    { type: "tokens", code: "rate_limit_exceeded" }
  ),
  rate(
    "groq-429-billing",
    from("elizaOS/eliza", 4040, "a limit per minute ends with an address about billing"),
    "Rate limit reached for model `tiny-1` on tokens per minute (TPM): Limit 6000, Used 5000, Requested 1400. Upgrade at https://example.org/settings/billing",
    429,
    { type: "tokens", code: "rate_limit_exceeded" }
  ),
  rate(
    "bedrock-day",
    from("anomalyco/opencode", 13015, "a limit per day speaks of too many tokens"),
    "Too many tokens per day, please wait before trying again.",
    400
  ),
  rate(
    "bedrock-throttle",
    from("cline/cline", 4196, "a throttled request speaks of too many tokens"),
    "Too many tokens, please wait before trying again.",
    400
  ),
  rate(
    "cerebras",
    from("anomalyco/opencode", 13015, "a limit per minute speaks of tokens processed"),
    "Tokens per minute limit exceeded - too many tokens processed",
    400
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

const thinking: ReadonlyArray<ResponseRow> = [
  thought(
    "whole",
    from("ENTERPILOT/GoModel", 1041, "MiniMax writes its reasoning into the text"),
    ["<think>Hm.</think>\n\nSunny."],
    { text: "Sunny.", reasoning: "Hm." }
  ),
  thought(
    "split",
    from("InternLM/lmdeploy", 4754, "a closing tag is split across pieces"),
    ["<thi", "nk>H", "m.</th", "ink>Sun", "ny."],
    { text: "Sunny.", reasoning: "Hm." }
  ),
  thought(
    "nested",
    from("QwenLM/qwen-code", 8818, "tags stand within tags"),
    ["<think>a<think>b</think>c</think>Sunny."],
    { text: "Sunny.", reasoning: "abc" }
  ),
  thought(
    "unopened",
    from("aula-id/koma", 63, "the opening tag is part of the prompt"),
    ["Hm.", "</think>", "Sunny."],
    { text: "Sunny." }
  ),
  thought(
    "several",
    from("nextlevelbuilder/goclaw", 1300, "tags come after the answer has begun"),
    ["<think>a</think>Sun", "<think>b</think>ny."],
    { text: "Sunny.", reasoning: "ab" }
  ),
  thought(
    "no-tag",
    from("MihaiBuilds/memory-vault", 152, "a text has a sign that is no tag"),
    ["a < b ", "and c <", " d"],
    { text: "a < b and c < d", reasoning: "" }
  ),
  thought(
    "unfinished-tag",
    from("linshenkx/prompt-optimizer", 348, "a text ends with the beginning of a tag"),
    ["Sunny", " <thi"],
    { text: "Sunny <thi", reasoning: "" }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Preferences
// -------------------------------------------------------------------------------------------------------------------

const good = { body: events(chunk({ content: "Sunny." }), chunk({}, "stop")) }

const effort = { reasoning: { type: "effort", effort: "high" } } as const

/** A server that rejects an optional setting by name. The call is expected to be repeated once without it. */
const preference = (
  id: string,
  source: Source,
  body: unknown,
  request: NonNullable<ResponseRow["request"]>,
  field: string,
  status = 400
): ResponseRow =>
  row(
    `preference/${id}`,
    source,
    "A client that says how it would like to be answered gets nothing but errors.",
    [refused(status, body), good],
    sunny,
    { request, requests: 2, without: [field] }
  )

const openAiError = (message: string, param?: string) => ({
  error: { message, type: "invalid_request_error", param: param ?? null, code: "unsupported_parameter" }
})

const preferences: ReadonlyArray<ResponseRow> = [
  preference(
    "effort-unrecognized",
    from("topoteretes/cognee", 1447, "a model without reasoning refuses an effort"),
    openAiError("Unrecognized request argument supplied: reasoning_effort"),
    effort,
    "reasoning_effort"
  ),
  preference(
    "effort-not-supported",
    from("Lazarus-AI/clearwing", 65, "many servers refuse an effort by name"),
    { error: { message: "`reasoning_effort` is not supported with this model" } },
    effort,
    "reasoning_effort"
  ),
  preference(
    "effort-forbidden",
    from("BerriAI/litellm", 14225, "a strict server permits no further fields"),
    { detail: [{ type: "extra_forbidden", loc: ["body", "reasoning_effort"], msg: "Extra inputs are not permitted" }] },
    effort,
    "reasoning_effort",
    422
  ),
  preference(
    "budget-as-effort",
    from("anomalyco/opencode", 43882, "gateways differ in the settings that they take"),
    openAiError("Unknown parameter: 'reasoning_effort'.", "reasoning_effort"),
    { reasoning: { type: "budget", tokens: 8000 } },
    "reasoning_effort"
  ),
  preference(
    "thinking-off",
    from("llm-jp/llm-jp-judge", 56, "servers refuse efforts that they do not know"),
    openAiError("reasoning_effort must be one of low, medium, high"),
    { reasoning: { type: "off" } },
    "reasoning_effort"
  ),
  preference(
    "temperature-of-one",
    from("Bike4Mind/bike4mind", 1089, "a model takes no temperature but 1"),
    { error: { message: "invalid temperature: only 1 is allowed for this model" } },
    { temperature: 0.7 },
    "temperature"
  ),
  preference(
    "temperature-as-param",
    {
      repository: "https://platform.openai.com/docs/guides/reasoning",
      subject: "reasoning models refuse a temperature by param"
    },
    openAiError("Unsupported value", "temperature"),
    { temperature: 0.7 },
    "temperature"
  ),
  preference(
    "seed",
    from("BerriAI/litellm", 14225, "a server names a field that it does not know"),
    { error: { message: "unknown field `seed`, expected one of `messages`, `model`" } },
    { seed: 7 },
    "seed"
  ),
  preference(
    "stream-options",
    from("NorthlandPositronics/Cogtrix", 2377, "usage of streams is asked for by an option"),
    { error: { message: "stream_options is not supported" } },
    {},
    "stream_options"
  ),
  row(
    "preference/other-name-of-a-limit",
    {
      repository: "https://platform.openai.com/docs/guides/reasoning",
      subject: "newer models want max_completion_tokens"
    },
    "The limit is lost, or each call fails.",
    [
      refused(
        400,
        openAiError(
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
          "max_tokens"
        )
      ),
      good
    ],
    sunny,
    { request: { maxOutputTokens: 100 }, requests: 2 }
  ),
  row(
    "preference/demands-stay",
    from("BerriAI/litellm", 10108, "parameters are dropped that the caller needs"),
    "A caller that needs tools gets an answer that was given without any.",
    [refused(400, openAiError("'tools' is not supported with this model", "tools")), good],
    { failure: ["InvalidRequest"], says: ["tools"] },
    { request: { tools: [{ name: "weather", input: { type: "object" } }] }, requests: 1 }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// All
// -------------------------------------------------------------------------------------------------------------------

export const chat: ReadonlyArray<Row> = [
  ...endings,
  ...folding,
  ...usages,
  ...nulls,
  ...errors,
  ...overflows,
  ...thinking,
  ...preferences
]
