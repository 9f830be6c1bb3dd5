/**
 * Answers that a limit cut within a tool call, and forms from reports of 2026 about streams, usage, errors and requests.
 */
import { brotliCompressSync, gzipSync } from "node:zlib"
import { bonn, called, calls, choice, chunk, from, json, piece, row, sunny, ulm, usage, used } from "./chatRow.ts"
import * as G from "./generateContent.ts"
import * as M from "./messages.ts"
import { bare, events, named, type Outcome, type Protocol, type ResponseRow, type Row } from "./Row.ts"
import { other, request } from "./reportForms.ts"
import * as R from "./responses.ts"

type Reply = Parameters<typeof other>[4]

const on =
  (protocol: Protocol) =>
  (id: string, source: ResponseRow["source"], why: string, reply: Reply, expected: Outcome): ResponseRow =>
    other(protocol, id, source, why, reply, expected)

const [onChat, onResponses, onMessages, onGemini] = [
  on("chat"),
  on("responses"),
  on("messages"),
  on("generate-content")
]

const ran = "A tool runs with half of its arguments."
const dropped = "A complete call is lost with the one behind it."
const lost = "An answer that others read is lost."
const unread = "The vendor's words are lost, and the class with them."
const figures = "The figures are there, and the answer is estimated."

const limit = { finish: "length" } as const
const cutWithin = { ...limit, notices: ['cut within a call of the tool "weather"'] }
const first = { calls: [ulm], ...cutWithin }
const nothing = { calls: [], ...cutWithin }

// -------------------------------------------------------------------------------------------------------------------
// Cut calls
// -------------------------------------------------------------------------------------------------------------------

const twoCalls = (args: unknown) => [
  { id: "a", type: "function", function: { name: "weather", arguments: '{"city":"Ulm"}' } },
  { id: "b", type: "function", function: { name: "weather", arguments: args } }
]

const whole = (message: object, finish_reason: string, more: object = {}) =>
  json({
    id: "c1",
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason }],
    usage,
    ...more
  })

const incomplete = (output: ReadonlyArray<object>) => ({
  type: "response.incomplete",
  response: R.response(output, { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } })
})

const second = (fields: object) => R.call({ id: "f2", call_id: "b", ...fields })

const messageOf = (content: ReadonlyArray<object>, stop_reason: string) =>
  json({ ...M.message({ content, stop_reason }), usage: { input_tokens: 11, output_tokens: 7 } })

const cut: ReadonlyArray<Row> = [
  onChat(
    "ending/second-call-cut-in-a-whole-answer",
    from("jaseci-labs/jac", 6766, "arguments that the limit cut are repaired to an empty object, and the tool runs"),
    dropped,
    whole({ content: null, tool_calls: twoCalls('{"city":"Bo') }, "length"),
    first
  ),
  onChat(
    "ending/second-call-without-arguments-at-the-limit",
    from("mattmezza/humux", 77, "a cut call arrives with an empty input, and runs again and again"),
    ran,
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"city":"Ulm"}' })),
      calls(piece({ index: 1, id: "b", name: "weather", args: "{}" })),
      chunk({}, "length")
    ),
    first
  ),
  onChat(
    "ending/whole-calls-at-the-limit",
    from("OpenRouterTeam/typescript-agent", 125, "calls of an answer that the limit ended are run or dropped as one"),
    dropped,
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"city":"Ulm"}' })),
      calls(piece({ index: 1, id: "b", name: "weather", args: '{"city":"Bonn"}' })),
      chunk({}, "length")
    ),
    { calls: [ulm, bonn], ...limit }
  ),
  onChat(
    "ending/object-within-cut-arguments",
    from("LibreChat-AI/agents", 280, "a parser completes the arguments that the limit cut"),
    "The last piece looks like arguments, and a tool runs with them.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"places":[' })),
      calls(piece({ index: 0, args: '{"city":"Ulm"}' })),
      chunk({}, "length")
    ),
    nothing
  ),
  onResponses(
    "ending/second-call-cut-at-the-limit",
    from("OpenRouterTeam/typescript-agent", 125, "the last call of an incomplete response has half of its arguments"),
    dropped,
    named(
      { type: "response.output_item.done", output_index: 0, item: R.call({ call_id: "a" }) },
      { type: "response.output_item.added", output_index: 1, item: second({ arguments: "" }) },
      { type: "response.function_call_arguments.delta", item_id: "f2", output_index: 1, delta: '{"city":"Bo' },
      incomplete([R.call({ call_id: "a" }), second({ arguments: '{"city":"Bo', status: "incomplete" })])
    ),
    first
  ),
  onResponses(
    "ending/second-call-cut-in-a-whole-answer",
    from("OpenRouterTeam/typescript-agent", 125, "the last call of an incomplete response has half of its arguments"),
    dropped,
    json(incomplete([R.call({ call_id: "a" }), second({ arguments: '{"city":"Bo', status: "incomplete" })]).response),
    first
  ),
  onResponses(
    "ending/call-without-arguments-at-the-limit",
    from("mattmezza/humux", 77, "a cut call arrives with an empty input, and runs again and again"),
    ran,
    named(R.created, incomplete([R.call({ arguments: "" })])),
    nothing
  ),
  onMessages(
    "ending/second-call-cut-at-the-limit",
    from("Ultimate-Multisite/superdav-ai-agent", 1388, "the limit is reached within the input of a tool"),
    dropped,
    named(
      M.opening(),
      M.start(0, M.tool()),
      M.json(0, '{"city":"Ulm"}'),
      M.stop(0),
      M.start(1, M.tool({ id: "toolu_2" })),
      M.json(1, '{"city":"Bo'),
      M.ending("max_tokens"),
      M.over
    ),
    first
  ),
  onMessages(
    "ending/second-call-cut-and-ended",
    from("Ultimate-Multisite/superdav-ai-agent", 1388, "a block that the limit cut has an end event"),
    dropped,
    named(
      M.opening(),
      M.start(0, M.tool()),
      M.json(0, '{"city":"Ulm"}'),
      M.stop(0),
      M.start(1, M.tool({ id: "toolu_2" })),
      M.stop(1),
      M.ending("max_tokens"),
      M.over
    ),
    first
  ),
  onMessages(
    "ending/input-of-a-whole-answer-at-the-limit",
    from("mattmezza/humux", 77, "Anthropic returns an empty input for a block that the limit cut"),
    ran,
    messageOf([M.tool({ input: { city: "Ulm" } }), M.tool({ id: "toolu_2", input: {} })], "max_tokens"),
    first
  ),
  onMessages(
    "ending/text-behind-a-call-at-the-limit",
    from("kekzl/imp", 755, "a small limit ends an answer in the middle"),
    dropped,
    messageOf([M.tool({ input: { city: "Ulm" } }), { type: "text", text: "And now" }], "max_tokens"),
    { calls: [ulm], ...limit, text: "And now" }
  ),
  onGemini(
    "ending/second-call-cut-at-the-limit",
    from("LibreChat-AI/agents", 280, "Google reports the limit in its own field"),
    dropped,
    bare(
      G.chunk([G.call("weather", G.inUlm)]),
      G.chunk([G.call("weather", { willContinue: true })]),
      G.chunk(
        [G.call("weather", { partialArgs: [{ jsonPath: "$.city", stringValue: "B" }], willContinue: true })],
        "MAX_TOKENS"
      )
    ),
    first
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Answers
// -------------------------------------------------------------------------------------------------------------------

const html = (status: number, title: string) => ({
  status,
  contentType: "text/html; charset=UTF-8",
  body: `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1><hr>nginx</body></html>`
})

const wholeText = events(chunk({ role: "assistant", content: "Sun" }), chunk({ content: "ny." }, "stop"))

const chat: ReadonlyArray<Row> = [
  onChat(
    "folding/cost-behind-the-usage",
    from("anomalyco/opencode", 43379, "a gateway sends many chunks without choices, and its cost at the end"),
    lost,
    bare(
      { id: "c1", choices: [] },
      chunk({ content: "Sunny." }, "stop"),
      { id: "c1", object: "chat.completion.chunk", model: "m", choices: [], usage },
      { choices: [], cost: "0" },
      "[DONE]"
    ),
    { ...sunny, usage: used }
  ),
  row(
    "error/page-of-520",
    from("earendil-works/pi", 6677, "Cloudflare answers 520 with a page"),
    unread,
    html(520, "Web server is returning an unknown error"),
    { failure: ["Overloaded"] }
  ),
  row(
    "error/page-of-504",
    from("Arsucar/RikkaRs", 118, "a gateway answers 504 with a page"),
    unread,
    html(504, "504 Gateway Time-out"),
    { failure: ["Overloaded", "Timeout"] }
  ),
  onChat(
    "usage/cache-figures-null",
    from("zed-industries/zed", 62983, "the figures of the cache are null"),
    figures,
    events(chunk({ content: "Sunny." }, "stop"), {
      ...chunk({}),
      choices: [],
      usage: { ...usage, prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: null } }
    }),
    { ...sunny, usage: { ...used, cachedInputTokens: 3 } }
  ),
  onChat(
    "usage/one-figure-null",
    from("livekit/agents", 6596, "a figure of the usage is null"),
    lost,
    events(chunk({ content: "Sunny." }, "stop", { usage: { prompt_tokens: 11, completion_tokens: null } })),
    sunny
  ),
  onChat(
    "usage/not-on-the-last-chunk",
    from("openai/openai-agents-js", 1474, "a chunk without usage follows the one with it"),
    figures,
    events(chunk({ content: "Sunny." }, null, { usage }), chunk({}, "stop"), { ...chunk({}), choices: [] }),
    { ...sunny, usage: used }
  ),
  onChat(
    "usage/null-at-the-end-and-then-real",
    from("jeremychone/rust-genai", 242, "the chunk with the ending has an empty usage, and the next one the real one"),
    figures,
    events(chunk({ content: "Sunny." }, "stop", { usage: {} }), { ...chunk({}), choices: [], usage }),
    { ...sunny, usage: used }
  ),
  onChat(
    "folding/two-calls-of-one-index",
    from("google-deepmind/amplio", 3, "two calls have one index and two ids, and pieces without an id follow"),
    "The arguments of two calls become one text.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"city":' })),
      calls(piece({ index: 0, args: '"Ulm"}' })),
      calls(piece({ index: 0, id: "b", name: "weather", args: '{"city":' })),
      calls(piece({ index: 0, args: '"Bonn"}' })),
      chunk({}, "tool_calls")
    ),
    { calls: [ulm, bonn], ...called }
  ),
  onChat(
    "encoding/keep-alive-as-data",
    from("anomalyco/opencode", 50871, "a proxy sends its comments as data"),
    lost,
    `data: : keepalive\n\n${wholeText}`,
    sunny
  ),
  onChat(
    "encoding/colon-alone",
    from("coder/coder", 28185, "llama.cpp sends a colon to keep the connection"),
    lost,
    `:\n\n${wholeText.replace("\n\n", "\n\n:\n\n")}`,
    sunny
  ),
  onChat(
    "encoding/blank-data",
    from("Growth-Circle/cadis", 2329, "intermediaries send blank data to keep the connection"),
    lost,
    `data:\n\ndata: \n\n${wholeText}`,
    sunny
  ),
  onChat(
    "encoding/comment-without-an-empty-line",
    from("theopenco/llmgateway", 2334, "a comment stands between the lines of an event"),
    lost,
    wholeText.replaceAll("data: {", ": ping\nid: 1\ndata: {"),
    sunny
  ),
  onChat(
    "null-and-lists/parts-with-references",
    from("meilisearch/meilisearch", 6327, "Mistral's delta is a list with references and texts"),
    lost,
    events(
      chunk({
        content: [
          { type: "reference", reference_ids: [1] },
          { type: "text", text: "Sun" }
        ]
      }),
      chunk({ content: [{ type: "text", text: "ny." }] }, "stop")
    ),
    sunny
  ),
  onChat(
    "thinking/parts-in-a-whole-answer",
    from("vercel/ai", 17784, "the content of a whole answer has thoughts, texts and unknown parts"),
    lost,
    whole(
      {
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "Hm" }] },
          { type: "novel", data: 1 },
          { type: "text", text: "Sunny." }
        ]
      },
      "stop"
    ),
    { ...sunny, reasoning: "Hm" }
  ),
  onChat(
    "ending/capacity",
    from("kekzl/imp", 1590, "a server ends with capacity when its cache is full"),
    "Half of an answer counts as a whole one.",
    events(chunk({ content: "Half" }), chunk({}, "capacity")),
    { failure: ["Malformed", "Overloaded"], says: ["capacity"] }
  ),
  onChat(
    "ending/cancelled",
    from("kekzl/imp", 1590, "a server ends with cancelled when it swaps its model"),
    "Half of an answer counts as a whole one.",
    events(chunk({ content: "Half" }), chunk({}, "cancelled")),
    { failure: ["Overloaded"], says: ["cancelled"] }
  ),
  onChat(
    "ending/malformed-function-call",
    from("BerriAI/litellm", 21348, "a reason of Google passes through a proxy unchanged"),
    "The whole answer is lost without a reason.",
    events(chunk({ content: "Half" }), chunk({}, "malformed_function_call")),
    { failure: ["Malformed", "Overloaded"], says: ["malformed_function_call"] }
  ),
  onChat(
    "encoding/mark-before-the-stream",
    from("elizaOS/eliza", 19260, "a mark of the byte order stands before the first event, in two packets"),
    "The first piece of an answer is lost.",
    { body: [Buffer.from([0xef, 0xbb]), Buffer.concat([Buffer.from([0xbf]), Buffer.from(wholeText)])] },
    sunny
  ),
  onChat(
    "encoding/carriage-returns",
    from("miruamel/xuan", 194, "a proxy ends its lines with CR and LF"),
    lost,
    wholeText.replaceAll("\n", "\r\n"),
    sunny
  ),
  onChat(
    "encoding/brotli-without-a-label",
    from("qualixar/superlocalmemory", 79, "a proxy drops or keeps the label of an encoding wrongly"),
    lost,
    { contentType: "text/event-stream", headers: { "content-encoding": "br" }, body: brotliCompressSync(wholeText) },
    sunny
  ),
  onChat(
    "encoding/label-without-encoding",
    from("qualixar/superlocalmemory", 79, "a proxy unpacks an answer and keeps the label gzip"),
    lost,
    { contentType: "text/event-stream", headers: { "content-encoding": "gzip" }, body: gzipSync(wholeText) },
    sunny
  ),
  onChat(
    "folding/role-alone-and-role-again",
    from("microsoft/foundry-local", 423, "each delta repeats the role, and the first has nothing else"),
    lost,
    events(
      chunk({ role: "assistant" }),
      chunk({ role: "assistant", content: null }),
      chunk({ role: "assistant", content: "Sunny." }),
      choice({ index: 0, delta: { role: "assistant" }, finish_reason: "stop" })
    ),
    sunny
  )
]

const others: ReadonlyArray<Row> = [
  onResponses(
    "folding/text-in-done-events-alone",
    from("bubbuild/republic", 37, "the last event has an empty output"),
    lost,
    named(
      R.created,
      { type: "response.output_item.done", output_index: 0, item: R.message("Sunny.") },
      R.completed([]) as { type: string }
    ),
    { ...sunny, usage: R.used }
  ),
  onResponses(
    "folding/output-null-at-the-end",
    from("bubbuild/republic", 37, "the last event has no output at all"),
    lost,
    named(R.created, R.delta("Sunny.") as { type: string }, R.completed(null) as { type: string }),
    { ...sunny, usage: R.used }
  ),
  onMessages(
    "folding/delta-after-the-end",
    from("anthropics/claude-code", 67809, "pieces follow the end of a message"),
    "Stale data changes an answer that is complete.",
    named(M.opening(), ...M.sunny, M.ending("end_turn"), M.over, M.text(0, " Stale")),
    sunny
  ),
  onMessages(
    "usage/in-the-delta-alone",
    from("rashidrazak/opencode-cmd-provider", 174, "the usage precedes an end without one"),
    figures,
    named(
      { type: "message_start", message: { id: "m1", type: "message", role: "assistant", content: [], model: "m" } },
      ...M.sunny,
      M.ending("end_turn", { usage: { input_tokens: 11, output_tokens: 7, cache_read_input_tokens: 0 } }),
      M.over
    ),
    { ...sunny, usage: used }
  ),
  onMessages(
    "ending/error-after-the-start",
    from("NIyueeE/ds-free-api", 63, "an upstream fails after the first event"),
    unread,
    named(M.opening(), { type: "error", error: { type: "api_error", message: "The worker is gone." } }),
    { failure: ["Overloaded"], says: ["The worker is gone"] }
  ),
  onGemini(
    "ending/malformed-call-without-parts",
    from("Wei-Shaw/sub2api", 7098, "a malformed call ends an answer that has a signature only"),
    "An agent gets an empty answer, and asks again for ever.",
    bare(G.chunk([{ text: "", thoughtSignature: "s" }], "MALFORMED_FUNCTION_CALL")),
    { failure: ["Malformed"], says: ["MALFORMED_FUNCTION_CALL"] }
  ),
  onGemini(
    "folding/parallel-calls-in-chunks-with-ids",
    from("brainlid/langchain", 620, "each call has a chunk of its own, and ids are Google's"),
    "Two calls of one tool become one.",
    bare(
      G.chunk([G.call("weather", { id: "call_1", ...G.inUlm })]),
      G.chunk([G.call("weather", { id: "call_2", ...G.inBonn })], "STOP")
    ),
    {
      calls: [
        { ...ulm, id: "call_1" },
        { ...bonn, id: "call_2" }
      ],
      ...called
    }
  ),
  onGemini(
    "null-and-lists/candidates-null",
    from("googleapis/python-genai", 226, "the first chunks have no candidates"),
    lost,
    bare({ candidates: null, responseId: "r" }, G.chunk([G.text("Sunny.")], "STOP")),
    sunny
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

const hm = { role: "user", content: "Hm" }
const unusable = "An agent cannot be used at all, because one item of each request is refused."

const requests: ReadonlyArray<Row> = [
  request(
    "responses",
    "additional-tools-without-tools",
    from("envoyproxy/ai-gateway", 2586, "Codex sends an item with additional tools, which may be empty"),
    unusable,
    {
      input: [
        { type: "additional_tools", role: "developer", tools: [] },
        { type: "message", ...hm }
      ]
    }
  ),
  request(
    "responses",
    "additional-tools-with-an-id",
    from("10/chatgpt-codex-proxy", 9, "an item with additional tools has an id and a namespace"),
    unusable,
    {
      input: [
        {
          type: "additional_tools",
          role: "developer",
          id: "at_1",
          tools: [{ type: "namespace", name: "functions", tools: [{ type: "function", name: "look", parameters: {} }] }]
        },
        hm
      ]
    }
  ),
  request(
    "responses",
    "status-of-items",
    from("zyycn/codex-proxy-rs", 194, "an SDK sends items back with their status"),
    unusable,
    {
      input: [
        hm,
        { type: "function_call", id: "f1", call_id: "c1", name: "look", arguments: "{}", status: "completed" },
        { type: "function_call_output", call_id: "c1", output: "sunny", status: "completed" },
        { ...hm, status: "completed", id: "m1" }
      ]
    }
  ),
  request(
    "messages",
    "query-of-beta",
    from("icebear0828/codex-proxy", 612, "an SDK counts tokens with a query parameter"),
    unusable,
    { max_tokens: 99, messages: [hm], betas: ["token-counting-2024-11-01"] }
  )
]

/** All rows of cut calls, and of reports that were collected with them. */
export const cutCalls: ReadonlyArray<Row> = [...cut, ...chat, ...others, ...requests]
