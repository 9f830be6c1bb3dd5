/** Answers on Responses, Messages and generateContent, from reports of 2025 and 2026 about servers and clients. */
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib"
import { bonn, called, calls, chunk, from, json, piece, sunny, ulm, used } from "./chatRow.ts"
import * as G from "./generateContent.ts"
import * as M from "./messages.ts"
import { bare, events, named, type Outcome, type Protocol, type ResponseRow, type Row, type Source } from "./Row.ts"
import { other } from "./reportForms.ts"
import * as R from "./responses.ts"

interface Event {
  readonly type: string
  readonly [field: string]: unknown
}

const page = (repository: string, subject: string): Source => ({ repository, subject })

const responsesPage = "https://platform.openai.com/docs/api-reference/responses-streaming"
const messagesPage = "https://platform.claude.com/docs/en/build-with-claude/streaming"
const geminiPage = "https://ai.google.dev/api/generate-content"

/** Returns the source of a row that no report is known for. */
const probe = (repository: string, subject: string): Source => page(repository, `${subject}; a probe of ours`)

const lost = "An answer that others read is lost."
const twice = "A part of the answer counts twice."
const ran = "A tool of the vendor's is taken for one of the caller's."
const unread = "The vendor's words are lost, and the class with them."
const half = "Half of an answer counts as a whole one."
const figures = "The figures are there, and the answer is estimated."

const gone = { failure: ["Overloaded"], says: ["The worker is gone"] } as const
const slow = { failure: ["RateLimited"], says: ["Slow down"] } as const

/** Splits a text of UTF-8 within the first character that has several bytes. */
const splitWithin = (text: string): ReadonlyArray<Uint8Array> => {
  const bytes = Buffer.from(text)
  const at = bytes.findIndex((byte) => byte > 0x7f) + 1
  return [bytes.subarray(0, at), bytes.subarray(at)]
}

const rowsOf =
  (protocol: Protocol) =>
  (
    id: string,
    source: Source,
    why: string,
    reply: ReadonlyArray<Event> | string | ResponseRow["replies"][0],
    expected: Outcome
  ): ResponseRow =>
    other(
      protocol,
      id,
      source,
      why,
      Array.isArray(reply) ? named(...(reply as ReadonlyArray<Event>)) : (reply as string | ResponseRow["replies"][0]),
      expected
    )

// -------------------------------------------------------------------------------------------------------------------
// Responses
// -------------------------------------------------------------------------------------------------------------------

const onResponses = rowsOf("responses")

const added = (item: object, output_index: unknown = 0): Event => ({
  type: "response.output_item.added",
  output_index,
  item
})

const done = (item: unknown, output_index: unknown = 0): Event => ({
  type: "response.output_item.done",
  output_index,
  item
})

const completed = (output: unknown = [], more: object = {}): Event => R.completed(output, more) as Event

const created = R.created as Event

const delta = (text: unknown, more: object = {}): Event => R.delta(text as string, more) as Event

const incomplete = (output: unknown, details: unknown, more: object = {}): Event => ({
  type: "response.incomplete",
  response: R.response(output, { status: "incomplete", incomplete_details: details, ...more })
})

const args = (piece: unknown, more: object = {}): Event => ({
  type: "response.function_call_arguments.delta",
  item_id: "f1",
  output_index: 0,
  delta: piece,
  ...more
})

const thought = (delta: string, more: object = {}): Event => ({
  type: "response.reasoning_summary_text.delta",
  item_id: "x1",
  output_index: 0,
  summary_index: 0,
  delta,
  ...more
})

const failed = (error: unknown): Event => ({
  type: "response.failed",
  response: R.response([], { status: "failed", error })
})

const responses: ReadonlyArray<Row> = [
  onResponses(
    "folding/response-as-the-event",
    from("pjq/sap-ai-core-llm-proxy", 35, "the data of an event is the response itself, without a type"),
    lost,
    `event: response.created\ndata: ${JSON.stringify(R.response([], { status: "in_progress" }))}\n\n` +
      `event: response.completed\ndata: ${JSON.stringify(R.response([R.message("Sunny.")]))}\n\n`,
    { ...sunny, usage: used }
  ),
  onResponses(
    "folding/text-and-call-at-one-index",
    from("teabranch/open-responses-server", 63, "a message and a call have the same index of the output"),
    "The call replaces the text, or the text the call.",
    [
      created,
      added({ type: "message", id: "m1", role: "assistant", content: [] }),
      delta("Sunny."),
      added(R.call({ arguments: "" })),
      args('{"city":"Ulm"}'),
      done(R.call()),
      completed()
    ],
    { text: "Sunny.", calls: [ulm], ...called }
  ),
  onResponses(
    "folding/items-without-status",
    from("diegosouzapw/OmniRoute", 13964, "items and responses have no status, and the first response has no output"),
    lost,
    [
      { type: "response.in_progress", response: { id: "r1" } },
      added({ type: "message", id: "m1", role: "assistant" }),
      delta("Sunny."),
      done({ type: "message", id: "m1", role: "assistant", content: [{ type: "output_text", text: "Sunny." }] }),
      { type: "response.completed", response: { id: "r1", output: [], usage: R.usage } }
    ],
    { ...sunny, usage: used }
  ),
  onResponses(
    "error/frame-after-early-keepalives",
    from("diegosouzapw/OmniRoute", 13964, "an error follows a keepalive that began the stream, as a bare frame"),
    unread,
    `: keepalive\n\n: keepalive\n\nevent: error\ndata: ${JSON.stringify({
      error: { message: "Slow down.", type: "rate_limit_error", code: "rate_limit_exceeded" }
    })}\n\n`,
    slow
  ),
  onResponses(
    "folding/reasoning-before-any-item",
    from("Wei-Shaw/sub2api", 2875, "reasoning comes first, and the event that adds a part is missing"),
    lost,
    [created, thought("Hm."), delta("Sunny.", { output_index: 1 }), completed([R.message("Sunny.")])],
    { ...sunny, reasoning: "Hm." }
  ),
  onResponses(
    "folding/replay-of-a-cache",
    from("NVIDIA/NeMo-Relay", 404, "a cache replays an answer as items that are done, without deltas"),
    lost,
    [created, done(R.message("I look.")), done(R.call(), 1), completed([R.message("I look."), R.call()])],
    { text: "I look.", calls: [ulm], ...called }
  ),
  onResponses(
    "ending/cut-in-reasoning",
    from("jundot/omlx", 2817, "the limit is reached in the reasoning, and the message is empty"),
    half,
    [
      created,
      thought("Hm"),
      incomplete(
        [
          { type: "reasoning", id: "x1", summary: [{ type: "summary_text", text: "Hm" }] },
          { type: "message", id: "m1", role: "assistant", content: [] }
        ],
        { reason: "max_output_tokens" }
      )
    ],
    { text: "", reasoning: "Hm", finish: "length" }
  ),
  onResponses(
    "ending/half-a-call-at-the-limit",
    from("14790897/MiqroForge-Desktop", 1100, "the limit of the output is reached within the input of a call"),
    "A tool runs with half of its arguments.",
    [
      created,
      args('{"city":"U'),
      done(R.call({ arguments: '{"city":"U', status: "incomplete" })),
      incomplete([R.call({ arguments: '{"city":"U', status: "incomplete" })], { reason: "max_output_tokens" })
    ],
    { calls: [], finish: "length" }
  ),
  onResponses(
    "folding/sections-at-their-end",
    from("justrach/codegraff2", 94, "a summary has sections that begin with an event of their own"),
    "All sections but the first are lost.",
    [
      created,
      {
        type: "response.reasoning_summary_part.done",
        item_id: "x1",
        output_index: 0,
        summary_index: 0,
        part: { type: "summary_text", text: "One" }
      },
      {
        type: "response.reasoning_summary_part.done",
        item_id: "x1",
        output_index: 0,
        summary_index: 1,
        part: { type: "summary_text", text: "Two" }
      },
      delta("Sunny.", { output_index: 1 }),
      completed()
    ],
    { ...sunny, reasoning: "One\n\nTwo" }
  ),
  onResponses(
    "ending/incomplete-in-completed",
    from("jundot/omlx", 2817, "a server says completed for an answer that its response calls incomplete"),
    half,
    [
      created,
      delta("Half"),
      completed([R.message("Half")], { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } })
    ],
    { text: "Half", finish: "length" }
  ),
  onResponses(
    "ending/incomplete-without-a-reason",
    from("BerriAI/litellm", 34352, "an incomplete answer gives no reason"),
    half,
    [created, delta("Half"), incomplete([R.message("Half")], null)],
    { text: "Half", finish: "length" }
  ),
  onResponses(
    "ending/incomplete-for-a-filter",
    from("HKUDS/LightRAG", 3701, "a filter ends an answer after some text"),
    half,
    [created, delta("Half"), incomplete([R.message("Half")], { reason: "content_filter" })],
    { finish: "refusal", usage: used }
  ),
  onResponses(
    "ending/cancelled",
    from("BerriAI/litellm", 27266, "a response is cancelled in the middle"),
    half,
    [
      created,
      delta("Half"),
      { type: "response.cancelled", response: R.response([R.message("Half")], { status: "cancelled" }) }
    ],
    { failure: ["Overloaded", "Network", "Malformed"], says: ["cancelled"] }
  ),
  onResponses(
    "ending/response-done",
    from("jlcodes99/cockpit-tools", 2328, "the last event is called response.done"),
    lost,
    [created, delta("Sunny."), { type: "response.done", response: R.response([R.message("Sunny.")]) }],
    { ...sunny, usage: used }
  ),
  onResponses(
    "ending/no-done-mark",
    from("router-for-me/CLIProxyAPI", 5028, "a stream ends after response.completed, without [DONE]"),
    "A complete answer is refused for a mark that the API does not have.",
    [created, delta("Sunny."), completed([R.message("Sunny.")])],
    { ...sunny, usage: used }
  ),
  onResponses(
    "ending/done-mark-alone",
    from("router-for-me/CLIProxyAPI", 4905, "a stream ends with [DONE], and no event says that it is complete"),
    half,
    `${named(created, delta("Half"))}data: [DONE]\n\n`,
    { failure: ["Network", "Malformed"] }
  ),
  onResponses(
    "ending/whole-response-that-failed",
    page("https://platform.openai.com/docs/api-reference/responses/object", "the status of a response may be failed"),
    "A failed answer counts as an empty one.",
    json(R.response([], { status: "failed", error: { code: "rate_limit_exceeded", message: "Slow down." } })),
    slow
  ),
  onResponses(
    "ending/whole-response-in-progress",
    page("https://platform.openai.com/docs/guides/background", "a background response is queued or in progress"),
    "An answer that has not begun counts as an empty one.",
    json(R.response([], { status: "in_progress", usage: null })),
    { failure: ["Malformed", "Network", "Overloaded"] }
  ),
  onResponses(
    "folding/tools-of-mcp",
    from("enricoros/big-AGI", 1171, "the vendor lists and calls tools of MCP before its answer"),
    ran,
    [
      created,
      added({ type: "mcp_list_tools", id: "l1", server_label: "wiki", tools: [{ name: "weather" }] }),
      { type: "response.mcp_list_tools.completed", item_id: "l1", output_index: 0 },
      added({ type: "mcp_call", id: "c1", server_label: "wiki", name: "weather", arguments: "" }, 1),
      { type: "response.mcp_call_arguments.delta", item_id: "c1", output_index: 1, delta: '{"city":"Ulm"}' },
      { type: "response.mcp_call_arguments.done", item_id: "c1", output_index: 1, arguments: '{"city":"Ulm"}' },
      { type: "response.mcp_call.completed", item_id: "c1", output_index: 1 },
      done({ type: "mcp_call", id: "c1", name: "weather", arguments: '{"city":"Ulm"}', output: "sunny" }, 1),
      delta("Sunny.", { output_index: 2 }),
      completed()
    ],
    { text: "Sunny.", calls: [], finish: "stop" }
  ),
  onResponses(
    "folding/mcp-call-within-reasoning",
    from("vllm-project/vllm", 30192, "parts of reasoning have the index -1 and come between calls of MCP"),
    lost,
    [
      created,
      { type: "response.reasoning_text.delta", item_id: "x1", output_index: 0, content_index: -1, delta: "Hm." },
      {
        type: "response.reasoning_part.done",
        item_id: "x1",
        output_index: 0,
        content_index: -1,
        part: { type: "reasoning_text", text: "Hm." }
      },
      done({ type: "reasoning", id: "x1", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] }),
      done({ type: "mcp_call", id: "c1", name: "python", server_label: "code", arguments: "1+1", output: "2" }, 1),
      delta("Sunny.", { output_index: 2 }),
      completed()
    ],
    { text: "Sunny.", reasoning: "Hm.", calls: [], finish: "stop" }
  ),
  onResponses(
    "folding/code-and-search-before-text",
    from("stanford-crfm/helm", 3722, "a search and a run of code come before the message, which has citations"),
    ran,
    [
      created,
      added({ type: "web_search_call", id: "s1", status: "in_progress" }),
      { type: "response.web_search_call.searching", item_id: "s1", output_index: 0 },
      done({ type: "web_search_call", id: "s1", status: "completed", action: { type: "search", query: "Ulm" } }),
      { type: "response.code_interpreter_call_code.delta", item_id: "k1", output_index: 1, delta: "print(1)" },
      done({ type: "code_interpreter_call", id: "k1", code: "print(1)", outputs: null, status: "completed" }, 1),
      delta("Sunny.", { output_index: 2 }),
      {
        type: "response.output_text.annotation.added",
        item_id: "m1",
        output_index: 2,
        content_index: 0,
        annotation_index: 0,
        annotation: { type: "url_citation", url: "https://a.test", start_index: 0, end_index: 5, title: "A" }
      },
      completed()
    ],
    { text: "Sunny.", calls: [], finish: "stop" }
  ),
  onResponses(
    "folding/picture-in-the-output",
    from("170-carry/codex-tools", 111, "a generated picture comes in pieces and as an item"),
    lost,
    [
      created,
      added({ type: "image_generation_call", id: "i1", status: "in_progress" }),
      {
        type: "response.image_generation_call.partial_image",
        item_id: "i1",
        output_index: 0,
        partial_image_index: 0,
        partial_image_b64: "aGk="
      },
      done({ type: "image_generation_call", id: "i1", status: "completed", result: "aGk=" }),
      delta("Sunny.", { output_index: 1 }),
      completed()
    ],
    sunny
  ),
  onResponses(
    "folding/reasoning-in-two-parts",
    from("can1357/oh-my-pi", 750, "reasoning is in two parts of the content, and the summary is empty"),
    "The second part of the reasoning is lost.",
    [
      created,
      done({
        type: "reasoning",
        id: "x1",
        summary: [],
        content: [
          { type: "reasoning_text", text: "Hm. " },
          { type: "reasoning_text", text: "Yes." }
        ]
      }),
      delta("Sunny.", { output_index: 1 }),
      completed()
    ],
    { ...sunny, reasoning: "Hm. Yes." }
  ),
  onResponses(
    "folding/sections-of-a-summary",
    from("justrach/codegraff2", 94, "a summary has sections that begin with an event of their own"),
    "The sections run into each other.",
    [
      created,
      { type: "response.reasoning_summary_part.added", item_id: "x1", output_index: 0, summary_index: 0, part: {} },
      thought("One"),
      { type: "response.reasoning_summary_part.added", item_id: "x1", output_index: 0, summary_index: 1, part: {} },
      thought("Two", { summary_index: 1 }),
      delta("Sunny.", { output_index: 1 }),
      completed()
    ],
    { ...sunny, reasoning: "One\n\nTwo" }
  ),
  onResponses(
    "folding/encrypted-reasoning-alone",
    from("NVIDIA-NeMo/Switchyard", 639, "reasoning is encrypted, and a part of its summary is never closed"),
    lost,
    [
      created,
      added({ type: "reasoning", id: "x1", summary: [], encrypted_content: null }),
      {
        type: "response.reasoning_summary_part.added",
        item_id: "x1",
        output_index: 0,
        summary_index: 0,
        part: { type: "summary_text", text: "" }
      },
      done({ type: "reasoning", id: "x1", summary: [], encrypted_content: "gAAA" }),
      delta("Sunny.", { output_index: 1 }),
      completed()
    ],
    { ...sunny, reasoning: "" }
  ),
  onResponses(
    "null-and-lists/details-of-usage",
    from("openai/openai-agents-python", 2141, "the details of the usage are null"),
    figures,
    [
      created,
      delta("Sunny."),
      completed([R.message("Sunny.")], {
        usage: { ...R.usage, input_tokens_details: null, output_tokens_details: null }
      })
    ],
    { ...sunny, usage: used }
  ),
  onResponses(
    "null-and-lists/lists-of-items",
    from("openai/gpt-oss", 300, "null comes where the lists of items are expected"),
    lost,
    [
      created,
      done({ type: "reasoning", id: "x1", summary: null, content: null }),
      { type: "response.content_part.added", item_id: "m1", output_index: 1, content_index: 0, part: null },
      { ...delta("Sunny.", { output_index: 1 }), logprobs: null },
      completed(null, { tools: null, metadata: null })
    ],
    sunny
  ),
  onResponses(
    "null-and-lists/deltas",
    from("microsoft/agent-framework", 5734, "deltas are null where nothing is new"),
    lost,
    [created, delta(null), delta("Sunny."), args(null), completed()],
    sunny
  ),
  onResponses(
    "usage/texts",
    from("Arize-ai/openinference", 1183, "the counts of tokens are texts"),
    figures,
    [
      created,
      delta("Sunny."),
      completed([R.message("Sunny.")], { usage: { input_tokens: "11", output_tokens: "7", total_tokens: "18" } })
    ],
    { ...sunny, usage: used }
  ),
  onResponses(
    "usage/nulls",
    from("openai/openai-agents-python", 1179, "all figures of the usage are null"),
    "A good answer fails for its usage.",
    [
      created,
      delta("Sunny."),
      completed([R.message("Sunny.")], { usage: { input_tokens: null, output_tokens: null, total_tokens: null } })
    ],
    sunny
  ),
  onResponses(
    "folding/indexes-as-texts",
    probe(responsesPage, "the indexes of a stream are texts"),
    "The pieces of a call find no call.",
    [
      created,
      added(R.call({ arguments: "" }), "0"),
      args('{"city":"Ulm"}', { output_index: "0", item_id: null }),
      done(R.call({ id: "f2", call_id: "b", arguments: '{"city":"Bonn"}' }), "1"),
      completed()
    ],
    { ...called, calls: [ulm, bonn] }
  ),
  onResponses(
    "folding/each-event-twice",
    from("librefang/librefang", 2626, "a relay sends the same piece of a text twice"),
    twice,
    [
      created,
      delta("Sun", { sequence_number: 1 }),
      delta("Sun", { sequence_number: 1 }),
      delta("ny.", { sequence_number: 2 }),
      delta("ny.", { sequence_number: 2 }),
      completed([R.message("Sunny.")])
    ],
    sunny
  ),
  onResponses(
    "folding/deltas-in-another-order",
    from("onyx-dot-app/onyx", 13624, "events have numbers for their order, which is another one"),
    "The words are in another order.",
    [
      created,
      delta("ny.", { sequence_number: 3 }),
      delta("Sun", { sequence_number: 2 }),
      completed([R.message("Sunny.")])
    ],
    sunny
  ),
  onResponses(
    "folding/completed-twice",
    probe(responsesPage, "the last event comes twice"),
    twice,
    [created, delta("Sunny."), completed([R.message("Sunny.")]), completed([R.message("Sunny.")])],
    { ...sunny, usage: used }
  ),
  onResponses(
    "folding/free-form-call-in-deltas",
    probe(responsesPage, "the input of a free-form tool comes in deltas alone"),
    lost,
    [
      created,
      added({ type: "custom_tool_call", id: "k1", call_id: "a", name: "weather", input: "" }),
      { type: "response.custom_tool_call_input.delta", item_id: "k1", output_index: 0, delta: '{"city":' },
      { type: "response.custom_tool_call_input.delta", item_id: "k1", output_index: 0, delta: '"Ulm"}' },
      completed()
    ],
    { ...called, calls: [{ ...ulm, id: "a" }] }
  ),
  onResponses(
    "folding/arguments-null-at-the-end",
    from("lidge-jun/opencodex", 4652, "the item that ends a call has null for its arguments"),
    "The tool is called with nothing.",
    [
      created,
      added(R.call({ arguments: null })),
      args('{"city":"Ulm"}'),
      done(R.call({ arguments: null })),
      completed([R.call({ arguments: null })])
    ],
    { ...called, calls: [ulm] }
  ),
  onResponses(
    "folding/calls-without-ids",
    probe(responsesPage, "calls of the final response have no ids"),
    "Two calls become one, or their results cannot be told apart.",
    json(
      R.response([
        { type: "function_call", name: "weather", arguments: '{"city":"Ulm"}' },
        { type: "function_call", name: "weather", arguments: '{"city":"Bonn"}' }
      ])
    ),
    { ...called, calls: [ulm, bonn] }
  ),
  onResponses(
    "folding/refusal-in-a-message",
    page("https://platform.openai.com/docs/guides/structured-outputs", "a refusal is a part of the message"),
    "A refusal counts as an answer, or as an empty one.",
    json(
      R.response([
        {
          type: "message",
          id: "m1",
          role: "assistant",
          content: [{ type: "refusal", refusal: "No." }],
          status: "completed"
        }
      ])
    ),
    { text: "No.", finish: "refusal" }
  ),
  onResponses(
    "folding/text-with-the-mark",
    from("rahilp/second-brain-cloudflare", 353, "the text of an answer has the mark [DONE] in it"),
    "The line is taken for the end.",
    [created, delta("Keep [DONE] here."), completed([R.message("Keep [DONE] here.")])],
    { text: "Keep [DONE] here.", finish: "stop" }
  ),
  onResponses(
    "encoding/bytes-behind-the-end",
    probe(responsesPage, "bytes come after the last event"),
    "A complete answer fails for what comes behind it.",
    `${named(created, delta("Sunny."), completed([R.message("Sunny.")]))}data: [DONE]\n\n\u0000\u0000<!-- cached -->\nupstream closed`,
    sunny
  ),
  onResponses(
    "encoding/split-character",
    from("librefang/librefang", 3448, "a packet ends within a character"),
    "Characters become replacement marks.",
    { body: splitWithin(named(created, delta("北京 sunny."), completed([R.message("北京 sunny.")]))) },
    { text: "北京 sunny.", finish: "stop" }
  ),
  onResponses(
    "encoding/carriage-returns-and-mark",
    page(
      "https://html.spec.whatwg.org/multipage/server-sent-events.html",
      "a mark of the byte order, and CR as line ends"
    ),
    "The first event is lost, or all of them.",
    `\uFEFF${named(created, delta("Sunny."), completed([R.message("Sunny.")])).replaceAll("\n", "\r")}`,
    sunny
  ),
  onResponses(
    "encoding/brotli",
    from("go-via/via", 66, "a stream of events is compressed with brotli"),
    lost,
    {
      headers: { "content-encoding": "br" },
      body: brotliCompressSync(named(created, delta("Sunny."), completed([R.message("Sunny.")])))
    },
    sunny
  ),
  onResponses(
    "encoding/label-of-gzip-on-plain-text",
    from("diegosouzapw/OmniRoute", 2291, "a relay labels text as gzip that it has decompressed"),
    "The failure says nothing that helps.",
    {
      headers: { "content-encoding": "gzip" },
      body: named(created, delta("Sunny."), completed([R.message("Sunny.")]))
    },
    { failure: ["Network", "Malformed"] }
  ),
  onResponses(
    "error/text-as-the-error",
    from("lemonade-sdk/lemonade", 2975, "an error in a stream is a text"),
    unread,
    [created, delta("Half"), { type: "error", error: "The worker is gone." }],
    { failure: ["Overloaded", "Malformed"], says: ["The worker is gone"] }
  ),
  onResponses(
    "error/field-of-its-own",
    from("ggml-org/llama.cpp", 16109, "a line of a stream is called error where data is expected"),
    unread,
    `${named(created, delta("Half"))}error: ${JSON.stringify({ code: 503, message: "The worker is gone." })}\n\n`,
    gone
  ),
  onResponses(
    "error/failed-without-an-error",
    from("icebear0828/codex-proxy", 466, "a failed response has no error"),
    half,
    [created, delta("Half"), failed(null)],
    { failure: ["Overloaded", "Malformed", "Network"] }
  ),
  onResponses(
    "error/incomplete-after-an-error-in-words",
    from("Soju06/codex-lb", 2364, "the reason of a failure is in the details of an incomplete response"),
    unread,
    [
      created,
      delta("Half"),
      incomplete([], { reason: "stream_incomplete" }, { error: { message: "The worker is gone.", code: 503 } })
    ],
    gone
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Messages
// -------------------------------------------------------------------------------------------------------------------

const onMessages = rowsOf("messages")

const { ending, opening, over, start, stop } = M

const signed = (index: number, text: string, signature: string): ReadonlyArray<Event> => [
  start(index, { type: "thinking", thinking: "", signature: "" }),
  M.delta(index, { type: "thinking_delta", thinking: text }),
  M.delta(index, { type: "signature_delta", signature }),
  stop(index)
]

const cites = (index: number): Event =>
  M.delta(index, {
    type: "citations_delta",
    citation: { type: "web_search_result_location", url: "https://a.test", title: "A", cited_text: "sun" }
  })

const sunnyAt = (index: number): ReadonlyArray<Event> => [
  start(index, { type: "text", text: "" }),
  M.text(index, "Sunny."),
  stop(index)
]

const ulmCall = [start(0, M.tool()), M.json(0, '{"city":"Ulm"}'), stop(0)]

const whole = (content: unknown, more: object = {}) =>
  json(M.message({ content, stop_reason: "end_turn", usage: { input_tokens: 11, output_tokens: 7 }, ...more }))

const complete = [opening(), ...M.sunny, ending("end_turn"), over]

const messages: ReadonlyArray<Row> = [
  onMessages(
    "folding/redacted-thinking",
    from("pacifio/cersei", 36, "a redacted block has its data at the start and no deltas"),
    "The block becomes an empty text.",
    [
      opening(),
      start(0, { type: "redacted_thinking", data: "gAAA" }),
      stop(0),
      ...sunnyAt(1),
      ending("end_turn"),
      over
    ],
    { ...sunny, reasoning: "", usage: used }
  ),
  onMessages(
    "folding/several-signed-blocks",
    from(
      "openai/openai-agents-python",
      4175,
      "a turn has two signed blocks of thinking and a redacted one between them"
    ),
    "The blocks become one, with the last signature.",
    [
      opening(),
      ...signed(0, "One", "s1"),
      start(1, { type: "redacted_thinking", data: "gAAA" }),
      stop(1),
      ...signed(2, "Two", "s2"),
      start(3, M.tool()),
      M.json(3, '{"city":"Ulm"}'),
      stop(3),
      ending("tool_use"),
      over
    ],
    { ...called, calls: [ulm], reasoning: "OneTwo" }
  ),
  onMessages(
    "folding/thinking-without-a-signature",
    from("kekzl/imp", 1555, "blocks of thinking have no signature, neither at the start nor as a delta"),
    lost,
    [
      opening(),
      start(0, { type: "thinking", thinking: "" }),
      M.delta(0, { type: "thinking_delta", thinking: "Hm" }),
      stop(0),
      ...sunnyAt(1),
      ending("end_turn"),
      over
    ],
    { ...sunny, reasoning: "Hm" }
  ),
  onMessages(
    "folding/citations",
    from("langchain-ai/langchainjs", 10953, "citations are deltas of their own"),
    "An unknown delta fails the answer.",
    [
      opening(),
      start(0, { type: "text", text: "", citations: [] }),
      cites(0),
      M.text(0, "Sunny."),
      cites(0),
      stop(0),
      ending("end_turn"),
      over
    ],
    { ...sunny, usage: used }
  ),
  onMessages(
    "folding/citations-without-text",
    from("LibreChat-AI/agents", 407, "a block has citations and no text"),
    lost,
    [
      opening(),
      start(0, { type: "text", text: "", citations: null }),
      cites(0),
      stop(0),
      ...sunnyAt(1),
      ending("end_turn"),
      over
    ],
    sunny
  ),
  onMessages(
    "folding/code-and-mcp-before-text",
    from("UKGovernmentBEIS/inspect_ai", 2354, "the vendor runs code and calls MCP within the answer"),
    ran,
    [
      opening(),
      start(0, { type: "server_tool_use", id: "srv_1", name: "bash_code_execution", input: {} }),
      M.json(0, '{"command":"date"}'),
      stop(0),
      start(1, { type: "bash_code_execution_tool_result", tool_use_id: "srv_1", content: { stdout: "x" } }),
      stop(1),
      start(2, { type: "mcp_tool_use", id: "mcp_1", name: "weather", server_name: "wiki", input: {} }),
      M.json(2, '{"city":"Ulm"}'),
      stop(2),
      start(3, {
        type: "mcp_tool_result",
        tool_use_id: "mcp_1",
        is_error: false,
        content: [{ type: "text", text: "sun" }]
      }),
      stop(3),
      ...sunnyAt(4),
      ending("end_turn", { usage: { output_tokens: 7, server_tool_use: { web_search_requests: 1 } } }),
      over
    ],
    { text: "Sunny.", calls: [], finish: "stop", usage: used }
  ),
  onMessages(
    "folding/whole-answer-with-blocks-of-the-vendor",
    from(
      "UKGovernmentBEIS/inspect_ai",
      2354,
      "an answer in one piece has the blocks of a search, with an error in one"
    ),
    ran,
    whole([
      { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "Ulm" } },
      {
        type: "web_search_tool_result",
        tool_use_id: "srv_1",
        content: { type: "web_search_tool_result_error", error_code: "x" }
      },
      { type: "text", text: "Sunny.", citations: null },
      { type: "container_upload", file_id: "file_1" }
    ]),
    { text: "Sunny.", calls: [], finish: "stop", usage: used }
  ),
  onMessages(
    "folding/search-that-fails-midway",
    probe(messagesPage, "events and deltas have unknown types"),
    lost,
    [
      opening(),
      start(0, { type: "web_search_tool_result", tool_use_id: "srv_9", content: null }),
      M.delta(0, { type: "unheard_of_delta", data: 1 }),
      stop(0),
      { type: "unheard_of_event", index: 7 },
      ...sunnyAt(1),
      ending("end_turn"),
      over
    ],
    sunny
  ),
  onMessages(
    "encoding/pings-without-a-type",
    probe(messagesPage, "signs of life have no type, or no data"),
    "A sign of life fails the answer.",
    `event: ping\ndata: {}\n\n${named(opening(), ...M.sunny)}event: ping\n\nevent: ping\ndata:\n\n${named(ending("end_turn"), over)}`,
    { ...sunny, usage: used }
  ),
  onMessages(
    "error/no-type-and-a-number",
    from("farzaa/clicky", 132, "an error in the stream was taken for the end of a good answer"),
    unread,
    `${named(opening(), start(0, { type: "text", text: "" }), M.text(0, "Half"))}data: ${JSON.stringify({
      error: { code: 429, message: "Slow down." }
    })}\n\n`,
    slow
  ),
  onMessages(
    "error/flat",
    from("farzaa/clicky", 132, "an error in the stream has its message outside of an object"),
    unread,
    [
      opening(),
      start(0, { type: "text", text: "" }),
      M.text(0, "Half"),
      { type: "error", message: "Overloaded: The worker is gone." }
    ],
    gone
  ),
  onMessages(
    "error/plain-words-under-the-name",
    from("router-for-me/CLIProxyAPI", 3055, "an event called error has words and no JSON"),
    unread,
    `${named(opening(), start(0, { type: "text", text: "" }), M.text(0, "Half"))}event: error\ndata: The worker is gone.\n\n`,
    { failure: ["Overloaded", "Malformed"], says: ["The worker is gone"] }
  ),
  onMessages(
    "error/field-of-its-own",
    from("ggml-org/llama.cpp", 16109, "a line of a stream is called error where data is expected"),
    unread,
    `${named(opening())}error: ${JSON.stringify({ code: 503, message: "The worker is gone." })}\n\n`,
    gone
  ),
  onMessages(
    "error/body-without-framing",
    from("lemonade-sdk/lemonade", 2975, "the body of an error follows in the stream as it is"),
    unread,
    `${named(opening())}${JSON.stringify({
      error: {
        code: 400,
        message: "request (6009 tokens) exceeds the available context size (4096 tokens)",
        type: "exceed_context_size_error"
      }
    })}`,
    { failure: ["ContextTooLong"], says: ["6009"] }
  ),
  onMessages(
    "usage/texts",
    from("Arize-ai/openinference", 1183, "the counts of tokens are texts"),
    figures,
    [
      opening({ usage: { input_tokens: "11", output_tokens: "1" } }),
      ...M.sunny,
      ending("end_turn", { usage: { output_tokens: "7" } }),
      over
    ],
    { ...sunny, usage: used }
  ),
  onMessages(
    "usage/nulls",
    from("sherifkozman/the-llm-council", 23, "the figures of the usage are null"),
    "A good answer fails for its usage.",
    [
      opening({
        usage: { input_tokens: 11, output_tokens: null, cache_read_input_tokens: null, cache_creation: null }
      }),
      ...M.sunny,
      ending("end_turn", { usage: { output_tokens: 7, input_tokens: null } }),
      over
    ],
    { ...sunny, usage: used }
  ),
  onMessages(
    "usage/of-bedrock-at-the-end",
    page(
      "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html",
      "the figures of Bedrock are in message_stop"
    ),
    figures,
    [
      opening({ usage: null }),
      ...M.sunny,
      ending("end_turn", {}),
      { ...over, "amazon-bedrock-invocationMetrics": { inputTokenCount: 11, outputTokenCount: 7 } }
    ],
    { ...sunny, usage: used }
  ),
  onMessages(
    "usage/cumulative-with-cache",
    from(
      "LibreChat-AI/agents",
      308,
      "the usage at the start is zero, and the end has all figures with those of the cache"
    ),
    figures,
    [
      opening({ usage: { input_tokens: 0, output_tokens: 0 } }),
      ...M.sunny,
      ending("end_turn", { usage: { input_tokens: 4, cache_read_input_tokens: 7, output_tokens: 7 } }),
      over
    ],
    { ...sunny, usage: { inputTokens: 11, outputTokens: 7, cachedInputTokens: 7 } }
  ),
  onMessages(
    "usage/within-the-delta",
    probe(messagesPage, "the usage of the end is within its delta"),
    figures,
    [
      opening({ usage: {} }),
      ...M.sunny,
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn", usage: { input_tokens: 11, output_tokens: 7 } }
      },
      over
    ],
    { ...sunny, usage: used }
  ),
  onMessages(
    "usage/end-twice",
    probe(messagesPage, "the events of the end come twice"),
    twice,
    [opening(), ...M.sunny, ending("end_turn"), ending("end_turn"), over, over],
    { ...sunny, usage: used }
  ),
  onMessages(
    "ending/words-of-chat",
    from("can1357/oh-my-pi", 12224, "the reason of the end has a word of Chat Completions"),
    "The turn counts as failed.",
    [opening(), ...M.sunny, ending("stop"), over],
    sunny
  ),
  onMessages(
    "ending/calls-in-words-of-chat",
    from("can1357/oh-my-pi", 12224, "the turn ends with stop, and has a call"),
    "An agent never runs the tool.",
    [opening(), ...ulmCall, ending("tool_calls"), over],
    { ...called, calls: [ulm] }
  ),
  onMessages(
    "ending/length-in-words-of-chat",
    probe(messagesPage, "the limit of the output has the word of Chat Completions"),
    half,
    [opening(), ...M.sunny, ending("length"), over],
    { text: "Sunny.", finish: "length" }
  ),
  onMessages(
    "ending/half-a-call-at-the-limit",
    from("14790897/MiqroForge-Desktop", 1100, "the limit of the output is reached within the input of a call"),
    "A tool runs with half of its arguments.",
    [opening(), start(0, M.tool()), M.json(0, '{"city":"U'), stop(0), ending("max_tokens"), over],
    { calls: [], finish: "length" }
  ),
  onMessages(
    "ending/reason-beside-the-delta",
    probe(messagesPage, "the delta of the end is null, and the reason is next to it"),
    half,
    [
      opening(),
      ...M.sunny,
      { type: "message_delta", delta: null, stop_reason: "end_turn", usage: { output_tokens: 7 } },
      over
    ],
    { ...sunny, usage: used }
  ),
  onMessages(
    "ending/stop-without-a-reason",
    probe(messagesPage, "message_stop comes, and no event had a reason"),
    "A whole answer is thrown away.",
    [opening(), ...M.sunny, over],
    sunny
  ),
  onMessages(
    "folding/content-as-text",
    probe(messagesPage, "the content of an answer in one piece is a text"),
    lost,
    whole("Sunny."),
    { ...sunny, usage: used }
  ),
  onMessages(
    "folding/deltas-alone",
    from("Sophomoresty/gemini-web2api", 57, "a converter sends deltas without the events that open them"),
    lost,
    [
      M.delta(undefined, { type: "text_delta", text: "Sun" }),
      M.delta(undefined, { type: "text_delta", text: "ny." }),
      ending("end_turn"),
      over
    ],
    sunny
  ),
  onMessages(
    "folding/indexes-as-texts",
    probe(messagesPage, "the indexes of blocks are texts"),
    lost,
    [
      opening(),
      start("0", M.tool()),
      M.json("0", '{"city":"Ulm"}'),
      stop("0"),
      start("1", M.tool({ id: "toolu_2" })),
      M.json("1", '{"city":"Bonn"}'),
      stop("1"),
      ending("tool_use"),
      over
    ],
    { ...called, calls: [ulm, bonn] }
  ),
  onMessages(
    "folding/input-as-an-object",
    from("ggml-org/llama.cpp", 20198, "a piece of the input is an object"),
    "The tool is called with nothing.",
    [
      opening(),
      start(0, M.tool({ input: null })),
      M.json(0, { city: "Ulm" }),
      M.json(0, null),
      stop(0),
      ending("tool_use"),
      over
    ],
    { ...called, calls: [ulm] }
  ),
  onMessages(
    "folding/calls-without-ids",
    from("HKUDS/nanobot", 4473, "blocks of calls have null for an id"),
    "Two calls have one id.",
    [
      opening(),
      start(0, M.tool({ id: null })),
      M.json(0, '{"city":"Ulm"}'),
      stop(0),
      start(1, M.tool({ id: null })),
      M.json(1, '{"city":"Bonn"}'),
      stop(1),
      ending("tool_use"),
      over
    ],
    { ...called, calls: [ulm, bonn] }
  ),
  onMessages(
    "null-and-lists/texts",
    from("microsoft/agent-framework", 5734, "deltas are null where nothing is new"),
    lost,
    [
      opening({ content: null, usage: null }),
      start(0, { type: "text", text: null }),
      M.text(0, null as never),
      M.text(0, "Sunny."),
      stop(0),
      ending("end_turn"),
      over
    ],
    sunny
  ),
  onMessages(
    "folding/types-in-names-alone",
    from("tashfeenahmed/freellmapi", 1087, "the type of an event is in its name, without a space behind the colon"),
    lost,
    complete.map(({ type, ...data }) => `event:${type}\ndata:${JSON.stringify(data)}\n\n`).join(""),
    { ...sunny, usage: used }
  ),
  onMessages(
    "encoding/name-behind-the-data",
    page("https://html.spec.whatwg.org/multipage/server-sent-events.html", "the fields of an event have no order"),
    lost,
    complete
      .map((event, at) => `id: ${at}\nretry: 100\ndata: ${JSON.stringify(event)}\nevent: ${event.type}\n\n`)
      .join(""),
    { ...sunny, usage: used }
  ),
  onMessages(
    "encoding/lines-of-json",
    from("stacklok/mecatl", 878, "events are lines of JSON without the field data"),
    lost,
    { contentType: "application/x-ndjson", body: complete.map((event) => JSON.stringify(event)).join("\n") },
    { ...sunny, usage: used }
  ),
  onMessages(
    "encoding/split-character",
    from("farion1231/cc-switch", 1923, "a packet ends within a character"),
    "Characters become replacement marks.",
    {
      body: splitWithin(
        named(
          opening(),
          start(0, { type: "text", text: "" }),
          M.text(0, "🌍 sunny."),
          stop(0),
          ending("end_turn"),
          over
        )
      )
    },
    { text: "🌍 sunny.", finish: "stop" }
  ),
  onMessages(
    "encoding/gzip",
    from("Wei-Shaw/claude-relay-service", 1027, "a stream of events is compressed with gzip"),
    lost,
    { headers: { "content-encoding": "gzip" }, body: gzipSync(named(...complete)) },
    { ...sunny, usage: used }
  ),
  onMessages(
    "encoding/gzip-without-a-label",
    from("Wei-Shaw/claude-relay-service", 1027, "a relay drops the label of compressed bytes"),
    "The bytes are taken for text.",
    { body: gzipSync(named(...complete)) },
    { ...sunny, usage: used }
  ),
  onMessages(
    "encoding/zstd",
    probe(messagesPage, "a stream is compressed with zstd"),
    lost,
    { headers: { "content-encoding": "zstd" }, body: zstdCompressSync(named(...complete)) },
    { ...sunny, usage: used }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// generateContent
// -------------------------------------------------------------------------------------------------------------------

const onGenerate = rowsOf("generate-content")

const { text, usageMetadata } = G

const sunnyChunk = G.chunk([text("Sunny.")], "STOP", { usageMetadata })

const generated: ReadonlyArray<Row> = [
  onGenerate(
    "folding/code-of-the-vendor",
    from("BerriAI/litellm", 34802, "parts have code that the vendor ran, and its result"),
    ran,
    bare(
      G.chunk([{ executableCode: { language: "PYTHON", code: "print(1)" } }]),
      G.chunk([{ codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } }]),
      sunnyChunk
    ),
    { ...sunny, usage: used }
  ),
  onGenerate(
    "folding/two-results-of-one-code",
    from("vercel/ai", 17399, "one part of code has two results"),
    lost,
    bare(
      G.chunk(
        [
          { executableCode: { language: "PYTHON", code: "print(1)" } },
          { codeExecutionResult: { outcome: "OUTCOME_FAILED", output: "x" } },
          { codeExecutionResult: { outcome: "OUTCOME_OK" } },
          text("Sunny.")
        ],
        "STOP"
      )
    ),
    sunny
  ),
  onGenerate(
    "folding/sources-in-an-event-of-their-own",
    from("langchain4j/langchain4j", 6231, "the sources of an answer come in the last event, without content"),
    lost,
    bare(
      G.chunk([text("Sunny.")]),
      G.empty(
        "STOP",
        { usageMetadata },
        {
          groundingMetadata: {
            groundingChunks: [{ web: { uri: "https://a.test", title: "A" } }],
            webSearchQueries: ["Ulm"]
          },
          urlContextMetadata: { urlMetadata: null }
        }
      )
    ),
    { ...sunny, usage: used }
  ),
  onGenerate(
    "folding/picture-between-texts",
    from("BerriAI/litellm", 34802, "a chart comes as inline data between two texts"),
    lost,
    bare(G.chunk([text("Sun"), { inlineData: { mimeType: "image/png", data: "aGk=" } }, text("ny.")], "STOP")),
    sunny
  ),
  onGenerate(
    "null-and-lists/empty-parts",
    from("GoogleCloudPlatform/kubectl-ai", 611, "parts are empty, and so are lists of parts"),
    lost,
    bare(
      G.chunk([{}]),
      G.chunk(null),
      { candidates: [{ content: null }] },
      { candidates: null },
      G.chunk([null, text("Sunny.")], "STOP")
    ),
    sunny
  ),
  onGenerate(
    "ending/small-letters",
    from("higress-group/higress", 2408, "a proxy writes the reason of the end in small letters"),
    half,
    bare(G.chunk([text("Sunny.")], "stop", { usageMetadata })),
    { ...sunny, usage: used }
  ),
  onGenerate(
    "ending/prefix-and-unspecified",
    from("googleapis/google-cloud-dotnet", 15173, "the reason is unspecified until the last event"),
    half,
    bare(
      G.chunk([text("Sun")], "FINISH_REASON_UNSPECIFIED"),
      G.chunk([text("ny.")], "FINISH_REASON_UNSPECIFIED"),
      G.chunk([], "FINISH_REASON_STOP")
    ),
    sunny
  ),
  onGenerate(
    "ending/tool-calls",
    from("cita-777/metapi", 581, "the reason of the end is a word for calls"),
    "The turn counts as failed.",
    bare(G.chunk([G.call("weather", G.inUlm)], "TOOL_CALLS")),
    { ...called, calls: [ulm] }
  ),
  onGenerate(
    "ending/length",
    from("cita-777/metapi", 581, "the limit of the output is called length"),
    half,
    bare(G.chunk([text("Half")], "LENGTH")),
    { text: "Half", finish: "length" }
  ),
  onGenerate(
    "ending/blocklist",
    from("decolua/9router", 3214, "rarer reasons of the end fell through to a clean stop"),
    half,
    bare(G.chunk([text("Half")], "BLOCKLIST")),
    { finish: "refusal" }
  ),
  onGenerate(
    "ending/picture-was-filtered",
    from("OpenSenseNova/SenseNova-Skills", 139, "a picture was filtered, and the reason is next to the content"),
    half,
    bare(G.empty("IMAGE_SAFETY")),
    { finish: "refusal" }
  ),
  onGenerate(
    "ending/too-many-calls",
    from("decolua/9router", 3214, "an aborted answer ends for too many calls"),
    half,
    bare(G.empty("TOO_MANY_TOOL_CALLS")),
    { failure: ["Malformed", "Overloaded"], says: ["TOO_MANY_TOOL_CALLS"] }
  ),
  onGenerate(
    "ending/cut",
    from("decolua/9router", 3214, "a stream ends without a reason after some text"),
    half,
    bare(G.chunk([text("Half")])),
    { failure: ["Network", "Malformed"] }
  ),
  onGenerate(
    "ending/list-that-is-cut",
    from("avante-corp/avante.nvim", 432, "the JSON of a stream is cut in the middle"),
    half,
    { contentType: "application/json", body: JSON.stringify([G.chunk([text("Half")]), sunnyChunk]).slice(0, -60) },
    { failure: ["Network", "Malformed"] }
  ),
  onGenerate(
    "folding/fields-with-underscores",
    from("mozilla-ai/any-llm", 824, "a proxy of a Python client writes all fields with underscores"),
    lost,
    bare({
      candidates: [{ content: { parts: [{ text: "Sunny." }] }, finish_reason: "STOP" }],
      usage_metadata: { prompt_token_count: 11, candidates_token_count: 7, total_token_count: 18 }
    }),
    { ...sunny, usage: used }
  ),
  onGenerate(
    "folding/call-with-underscores",
    from("mozilla-ai/any-llm", 675, "a call has underscores in its fields, and a signature next to it"),
    lost,
    bare({
      candidates: [
        {
          content: {
            parts: [{ function_call: { name: "weather", args: { city: "Ulm" } }, thought_signature: "c2ln" }]
          },
          finish_reason: "STOP"
        }
      ]
    }),
    { ...called, calls: [ulm] }
  ),
  onGenerate(
    "usage/running-totals",
    from("ankit373/hydra", 858, "each event has the totals so far, and the last event has none"),
    twice,
    bare(
      G.chunk([text("Sun")], undefined, { usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 2 } }),
      G.chunk([text("ny.")], undefined, { usageMetadata }),
      G.empty("STOP")
    ),
    { ...sunny, usage: used }
  ),
  onGenerate(
    "usage/nulls-at-the-end",
    from("mozilla-ai/any-llm", 824, "the figures of the usage are null"),
    figures,
    bare(
      G.chunk([text("Sunny.")], undefined, { usageMetadata }),
      G.empty("STOP", {
        usageMetadata: {
          promptTokenCount: null,
          candidatesTokenCount: null,
          totalTokenCount: null,
          promptTokensDetails: null
        }
      })
    ),
    { ...sunny, usage: used }
  ),
  onGenerate(
    "usage/texts",
    from("Arize-ai/openinference", 1183, "the counts of tokens are texts"),
    figures,
    bare(
      G.chunk([text("Sunny.")], "STOP", {
        usageMetadata: { promptTokenCount: "11", candidatesTokenCount: "7", totalTokenCount: "18" }
      })
    ),
    { ...sunny, usage: used }
  ),
  onGenerate(
    "folding/within-a-response",
    from("decolua/9router", 3214, "each event of Code Assist has the answer within a response"),
    lost,
    bare(
      { response: G.chunk([text("Sun")]), traceId: "t" },
      { response: G.chunk([text("ny.")], "STOP", { usageMetadata }) }
    ),
    { ...sunny, usage: used }
  ),
  onGenerate(
    "folding/two-candidates",
    from("ankit373/hydra", 855, "an event has two candidates"),
    "Two answers are spliced into one.",
    bare({
      candidates: [
        { content: { parts: [{ text: "Sunny." }] }, finishReason: "STOP", index: 0 },
        { content: { parts: [{ text: "Rain." }] }, finishReason: "STOP", index: 1 }
      ]
    }),
    sunny
  ),
  onGenerate(
    "folding/keepalives-and-usage-alone",
    from("decolua/9router", 3214, "events without candidates come before the answer"),
    lost,
    bare({}, { usageMetadata: { promptTokenCount: 11 } }, { candidates: [] }, sunnyChunk),
    { ...sunny, usage: used }
  ),
  onGenerate(
    "folding/arguments-as-a-text",
    probe(geminiPage, "the arguments of a call are a text of JSON"),
    "The tool is called with a text.",
    bare(G.chunk([G.call("weather", { args: '{"city":"Ulm"}' })], "STOP")),
    { ...called, calls: [ulm] }
  ),
  onGenerate(
    "folding/signature-in-a-part-of-its-own",
    from("mozilla-ai/any-llm", 675, "the signature of a thought comes in a part without text"),
    lost,
    bare(
      G.chunk([{ text: "Hm", thought: true }]),
      G.chunk([text("Sunny."), { thoughtSignature: "c2ln" }]),
      G.chunk([{ thoughtSignature: "c2ln", text: "" }], "STOP")
    ),
    { ...sunny, reasoning: "Hm" }
  ),
  onGenerate(
    "folding/content-as-text",
    probe(geminiPage, "the content of a candidate is a text"),
    lost,
    json({ candidates: [{ content: "Sunny.", finishReason: "STOP" }], usageMetadata }),
    { ...sunny, usage: used }
  ),
  onGenerate(
    "null-and-lists/one-part-without-a-list",
    probe(geminiPage, "the parts of a candidate are one object"),
    lost,
    bare(G.chunk(text("Sunny."), "STOP")),
    sunny
  ),
  onGenerate(
    "null-and-lists/ratings",
    from("rabuckley/GeminiDotnet", 22, "ratings and citations are null"),
    lost,
    bare({
      candidates: [
        {
          content: { parts: [{ text: "Sunny.", thought: null, functionCall: null }], role: null },
          finishReason: "STOP",
          safetyRatings: null,
          citationMetadata: null,
          index: null
        }
      ],
      promptFeedback: null,
      error: null
    }),
    sunny
  ),
  onGenerate(
    "encoding/mark-of-openai",
    probe(geminiPage, "a stream ends with OpenAI's mark, without a space"),
    "A complete answer fails for its mark.",
    `${bare(sunnyChunk)}data:[DONE]\n\n`,
    { ...sunny, usage: used }
  ),
  onGenerate(
    "encoding/split-character",
    from("api7/aisix", 111, "a packet ends within a character"),
    "Characters become replacement marks.",
    { body: splitWithin(bare(G.chunk([text("北京 sunny.")], "STOP"))) },
    { text: "北京 sunny.", finish: "stop" }
  ),
  onGenerate(
    "encoding/lines-of-json",
    from("stacklok/mecatl", 878, "events are lines of JSON without the field data"),
    lost,
    {
      contentType: "application/x-ndjson",
      body: [G.chunk([text("Sun")]), G.chunk([text("ny.")], "STOP")].map((one) => JSON.stringify(one)).join("\n")
    },
    sunny
  ),
  onGenerate(
    "encoding/gzip-without-a-label",
    from("Wei-Shaw/claude-relay-service", 1027, "a relay drops the label of compressed bytes"),
    "The bytes are taken for text.",
    { contentType: "application/json", body: gzipSync(JSON.stringify([sunnyChunk])) },
    { ...sunny, usage: used }
  ),
  onGenerate(
    "error/text-as-the-error",
    probe(geminiPage, "the error of a stream is a text"),
    unread,
    bare(G.chunk([text("Half")]), { error: "The worker is gone." }),
    { failure: ["Overloaded", "Malformed"], says: ["The worker is gone"] }
  ),
  onGenerate(
    "error/beside-a-candidate",
    from("decolua/9router", 3214, "an error is embedded in an event"),
    unread,
    bare({ ...G.chunk([text("Half")]), error: { code: 429, message: "Slow down.", status: "RESOURCE_EXHAUSTED" } }),
    slow
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Chat Completions
// -------------------------------------------------------------------------------------------------------------------

const onChat = rowsOf("chat")

const chat: ReadonlyArray<Row> = [
  onChat(
    "encoding/split-character",
    from("anomalyco/opencode", 39694, "a packet ends within a character"),
    "Characters become replacement marks.",
    { body: splitWithin(events(chunk({ content: "修复 sunny." }, "stop"))) },
    { text: "修复 sunny.", finish: "stop" }
  ),
  onChat(
    "encoding/field-of-an-error",
    from("ggml-org/llama.cpp", 16109, "a line of a stream is called error where data is expected"),
    unread,
    `${bare(chunk({ content: "Half" }))}error: ${JSON.stringify({ code: 503, message: "The worker is gone." })}\n\n`,
    gone
  ),
  onChat(
    "encoding/mark-within-the-text",
    from("rahilp/second-brain-cloudflare", 353, "the text of an answer has the mark [DONE] in it"),
    "The line is taken for the end.",
    events(chunk({ content: "Keep [DONE] here." }), chunk({}, "stop")),
    { text: "Keep [DONE] here.", finish: "stop" }
  ),
  onChat(
    "encoding/gzip-without-a-label",
    from("Wei-Shaw/claude-relay-service", 1027, "a relay drops the label of compressed bytes"),
    "The bytes are taken for text.",
    { body: gzipSync(events(chunk({ content: "Sunny." }, "stop"))) },
    sunny
  ),
  onChat(
    "encoding/error-in-gzip-without-a-label",
    from("Wei-Shaw/claude-relay-service", 1027, "a relay drops the label of compressed bytes"),
    unread,
    {
      status: 429,
      contentType: "application/json",
      body: gzipSync(JSON.stringify({ error: { message: "Slow down." } }))
    },
    slow
  ),
  onChat(
    "ending/half-a-call-at-the-limit",
    from("14790897/MiqroForge-Desktop", 1100, "the limit of the output is reached within the input of a call"),
    "A tool runs with half of its arguments.",
    events(
      calls(piece({ index: 0, id: "a", name: "weather", args: '{"city":' })),
      calls(piece({ index: 0, args: '"Ul' })),
      chunk({}, "length")
    ),
    { calls: [], finish: "length" }
  ),
  onChat(
    "usage/texts",
    from("Arize-ai/openinference", 1183, "the counts of tokens are texts"),
    figures,
    events(chunk({ content: "Sunny." }, "stop"), {
      choices: [],
      usage: { prompt_tokens: "11", completion_tokens: "7", total_tokens: "18" }
    }),
    { ...sunny, usage: used }
  ),
  onChat(
    "usage/nulls",
    from("run-llama/llama_index", 22832, "the figures of the usage are null, and so are their details"),
    "A good answer fails for its usage.",
    events(chunk({ content: "Sunny." }, "stop"), {
      choices: null,
      usage: { prompt_tokens: null, completion_tokens: null, prompt_tokens_details: null }
    }),
    sunny
  )
]

/** The rows. */
export const vendorStreams: ReadonlyArray<Row> = [...responses, ...messages, ...generated, ...chat]
