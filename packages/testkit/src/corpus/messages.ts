/** Responses observed from Anthropic and from servers that implement its Messages protocol. */
import { named, type ResponseRow, type Row } from "./Row.ts"

const row = (one: Omit<ResponseRow, "protocol" | "direction">): ResponseRow => ({
  protocol: "messages",
  direction: "response",
  ...one
})

interface Event {
  readonly type: string
  readonly [field: string]: unknown
}

export const message = (more: object = {}) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 11, output_tokens: 1 },
  ...more
})

export const opening = (more: object = {}): Event => ({ type: "message_start", message: message(more) })

export const start = (index: unknown, content_block: object): Event => ({
  type: "content_block_start",
  index,
  content_block
})

export const delta = (index: unknown, piece: unknown): Event => ({ type: "content_block_delta", index, delta: piece })

export const text = (index: unknown, piece: string) => delta(index, { type: "text_delta", text: piece })

export const json = (index: unknown, partial_json: unknown) => delta(index, { type: "input_json_delta", partial_json })

export const stop = (index: unknown): Event => ({ type: "content_block_stop", index })

export const ending = (stop_reason: unknown, more: object = { usage: { output_tokens: 7 } }): Event => ({
  type: "message_delta",
  delta: { stop_reason, stop_sequence: null },
  ...more
})

export const over: Event = { type: "message_stop" }

export const ping: Event = { type: "ping" }

export const sunny = [start(0, { type: "text", text: "" }), text(0, "Sunny."), stop(0)]

export const tool = (more: object = {}) => ({ type: "tool_use", id: "toolu_1", name: "weather", input: {}, ...more })

const ulm = { name: "weather", arguments: { city: "Ulm" } }

const refused = (status: number, body: unknown, contentType = "application/json"): ResponseRow["replies"] => [
  { status, contentType, body: typeof body === "string" ? body : JSON.stringify(body) }
]

const error = (type: string, said: string) => ({ type: "error", error: { type, message: said }, request_id: "req_1" })

const folding: ReadonlyArray<Row> = [
  row({
    id: "messages/folding/input-again-at-the-end",
    class: "folding",
    source: { repository: "lidge-jun/opencodex", number: 361, subject: "a last piece repeats all arguments" },
    why: "The input is no JSON, and the tool is called with nothing.",
    replies: [
      {
        body: named(
          opening(),
          start(0, tool()),
          json(0, '{"city":'),
          json(0, '"Ulm"}'),
          json(0, '{"city":"Ulm"}'),
          stop(0),
          ending("tool_use"),
          over
        )
      }
    ],
    expected: { calls: [ulm], finish: "tool-calls" }
  }),
  row({
    id: "messages/folding/input-encoded-twice",
    class: "folding",
    source: {
      repository: "tailcallhq/forgecode",
      number: 2764,
      subject: "the arguments of a call are JSON within the JSON of a text"
    },
    why: "The input is a text, and the tool is called with nothing.",
    replies: [
      {
        body: named(
          opening(),
          start(0, tool()),
          json(0, JSON.stringify('{"city":"Ulm"}')),
          stop(0),
          ending("tool_use"),
          over
        )
      }
    ],
    expected: { calls: [ulm], finish: "tool-calls" }
  }),
  row({
    id: "messages/folding/one-id",
    class: "folding",
    source: { repository: "HKUDS/nanobot", number: 4473, subject: "Kimi gives one id to calls that are made together" },
    why: "Results cannot be told apart, and the next turn is refused.",
    replies: [
      {
        body: named(
          opening(),
          start(0, tool()),
          json(0, '{"city":"Ulm"}'),
          stop(0),
          start(1, tool()),
          json(1, '{"city":"Bonn"}'),
          stop(1),
          ending("tool_use"),
          over
        )
      }
    ],
    expected: { calls: [ulm, { name: "weather", arguments: { city: "Bonn" } }], finish: "tool-calls" }
  }),
  row({
    id: "messages/encoding/raw-control-characters",
    class: "encoding",
    source: {
      repository: "openclaw/openclaw",
      number: 14321,
      subject: "texts of events have control characters as they are"
    },
    why: "One character that is not escaped fails a whole answer.",
    replies: [
      {
        body: named(
          opening(),
          start(0, { type: "text", text: "" }),
          text(0, "Sun#ny."),
          stop(0),
          ending("end_turn"),
          over
        ).replace("#", "\u001b")
      }
    ],
    expected: { text: "Sun\u001bny.", finish: "stop" }
  }),
  row({
    id: "messages/folding/text-at-start",
    class: "folding",
    source: { repository: "earendil-works/pi", number: 7283, subject: "the first words are in the block's beginning" },
    why: "A reader of deltas alone drops the first words, which may turn the meaning around.",
    replies: [
      {
        body: named(
          opening(),
          start(0, { type: "text", text: "DO NOT " }),
          text(0, "delete the table."),
          stop(0),
          ending("end_turn"),
          over
        )
      }
    ],
    expected: { text: "DO NOT delete the table.", finish: "stop" }
  }),
  row({
    id: "messages/folding/all-text-at-start",
    class: "folding",
    source: {
      repository: "langchain-ai/langchain",
      number: 38442,
      subject: "a block has its whole text at its beginning"
    },
    why: "No delta follows, so that a reader of deltas sees an empty answer.",
    replies: [
      { body: named(opening(), start(0, { type: "text", text: "Sunny." }), stop(0), ending("end_turn"), over) }
    ],
    expected: { text: "Sunny.", finish: "stop" }
  }),
  row({
    id: "messages/folding/thinking-at-start",
    class: "folding",
    source: {
      repository: "vllm-project/semantic-router",
      number: 1941,
      subject: "the beginning of a thinking block is dropped on the way"
    },
    why: "A router converts blocks as a whole: thinking has its text at the beginning and no deltas.",
    replies: [
      {
        body: named(
          opening(),
          start(0, { type: "thinking", thinking: "Hm.", signature: "s" }),
          stop(0),
          start(1, { type: "text", text: "" }),
          text(1, "Sunny."),
          stop(1),
          ending("end_turn"),
          over
        )
      }
    ],
    expected: { text: "Sunny.", reasoning: "Hm.", finish: "stop" }
  }),
  row({
    id: "messages/folding/input-at-start",
    class: "folding",
    source: {
      repository: "inflaborg/ccrelay",
      number: 119,
      subject: "the input of a tool is in the block's beginning alone"
    },
    why: "A reader of deltas alone calls the tool without arguments.",
    replies: [
      { body: named(opening(), start(0, tool({ input: { city: "Ulm" } })), stop(0), ending("tool_use"), over) }
    ],
    expected: { calls: [ulm], finish: "tool-calls" }
  }),
  row({
    id: "messages/folding/input-absent-at-start",
    class: "folding",
    source: { repository: "farion1231/cc-switch", number: 2557, subject: "a tool's block begins without an input" },
    why: "A reader that expects an object at the beginning fails before the deltas come.",
    replies: [
      {
        body: named(
          opening(),
          start(0, { type: "tool_use", id: "toolu_1", name: "weather" }),
          json(0, '{"city":'),
          json(0, '"Ulm"}'),
          stop(0),
          ending("tool_use"),
          over
        )
      }
    ],
    expected: { calls: [ulm], finish: "tool-calls" }
  }),
  row({
    id: "messages/folding/no-parameters",
    class: "folding",
    source: {
      repository: "sudoprivacy/sudocode",
      number: 318,
      subject: "a tool without parameters gets no piece of input"
    },
    why: "The empty text that is left is no JSON: the arguments are an empty object.",
    replies: [{ body: named(opening(), start(0, tool()), json(0, ""), stop(0), ending("tool_use"), over) }],
    expected: { calls: [{ name: "weather", arguments: {} }], finish: "tool-calls" }
  }),
  row({
    id: "messages/folding/no-message-stop",
    class: "folding",
    source: {
      repository: "tombii/better-ccflare",
      number: 307,
      subject: "after the reason only pings come, and no message_stop"
    },
    why: "The answer is complete once its reason has come; a strict reader waits, or throws it away.",
    replies: [{ body: named(opening(), ...sunny, ending("end_turn"), ping, ping) }],
    expected: { text: "Sunny.", finish: "stop", usage: { inputTokens: 11, outputTokens: 7 } }
  }),
  row({
    id: "messages/folding/cut",
    class: "folding",
    source: { repository: "tbphp/gpt-load", number: 736, subject: "a relay ends the stream after the deltas" },
    why: "Half an answer without a reason must not count as a whole one.",
    replies: [{ body: named(opening(), start(0, { type: "text", text: "" }), text(0, "Sun")) }],
    expected: { text: "Sun", failure: ["Network", "Malformed"] }
  }),
  row({
    id: "messages/folding/cut-in-input",
    class: "folding",
    source: {
      repository: "BerriAI/litellm",
      number: 32159,
      subject: "Bedrock's stream ends in the middle of a tool's input"
    },
    why: "A call with half of its arguments must not run.",
    replies: [{ body: named(opening(), start(0, tool()), json(0, '{"city":"U')) }],
    expected: { calls: [], failure: ["Network", "Malformed"] },
    request: { tools: [{ name: "weather", input: { type: "object" } }] }
  }),
  row({
    id: "messages/folding/no-block-end",
    class: "folding",
    source: {
      repository: "invergent-ai/surogate",
      number: 113,
      subject: "the next block begins while the one before is still open"
    },
    why: "A reader that gives a call only at its end loses it.",
    replies: [
      {
        body: named(
          opening(),
          start(0, { type: "text", text: "" }),
          text(0, "I look."),
          start(1, tool()),
          json(1, '{"city":"Ulm"}'),
          ending("tool_use"),
          over
        )
      }
    ],
    expected: { text: "I look.", calls: [ulm], finish: "tool-calls" }
  }),
  row({
    id: "messages/folding/no-beginning",
    class: "folding",
    source: { repository: "eequaled/GLM_proxy", number: 4, subject: "a proxy's stream begins with the end of a block" },
    why: "An empty answer without message_start is still an answer, as its reason says.",
    replies: [{ body: named(stop(0), ending("end_turn"), over) }],
    expected: { text: "", finish: "stop" }
  }),
  row({
    id: "messages/folding/two-beginnings",
    class: "folding",
    source: { repository: "LuthienResearch/luthien-proxy", number: 59, subject: "a proxy repeats message_start" },
    why: "A second beginning must neither empty the answer nor count its usage twice.",
    replies: [{ body: named(opening(), opening(), ...sunny, ending("end_turn"), over) }],
    expected: { text: "Sunny.", finish: "stop", usage: { inputTokens: 11, outputTokens: 7 } }
  }),
  row({
    id: "messages/folding/bare-beginning",
    class: "folding",
    source: {
      repository: "SaladDay/cc-switch-cli",
      number: 320,
      subject: "message_start lacks content and stop_reason"
    },
    why: "Anthropic's own SDK breaks at the absent content.",
    replies: [
      {
        body: named(
          { type: "message_start", message: { id: "msg_1", role: "assistant", model: "m" } },
          ...sunny,
          ending("end_turn", { usage: { input_tokens: 11, output_tokens: 7 } }),
          over
        )
      }
    ],
    expected: { text: "Sunny.", finish: "stop", usage: { inputTokens: 11, outputTokens: 7 } }
  }),
  row({
    id: "messages/folding/index-used-twice",
    class: "folding",
    source: {
      repository: "anthropics/anthropic-sdk-typescript",
      number: 879,
      subject: "a block after a web search has the index of the one before"
    },
    why: "A reader that keeps blocks by their index mixes the two.",
    replies: [
      {
        body: named(
          opening(),
          start(0, { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} }),
          json(0, '{"query":"weather"}'),
          stop(0),
          start(1, { type: "web_search_tool_result", tool_use_id: "srv_1", content: [] }),
          stop(1),
          start(1, { type: "text", text: "" }),
          text(1, "Sunny."),
          stop(1),
          ending("end_turn"),
          over
        )
      }
    ],
    expected: { text: "Sunny.", calls: [], finish: "stop" },
    request: { tools: [{ name: "weather", input: { type: "object" } }] }
  }),
  row({
    id: "messages/folding/calls-at-one-index",
    class: "folding",
    source: {
      repository: "LuthienResearch/luthien-proxy",
      number: 749,
      subject: "several blocks that replace one have its index"
    },
    why: "The pieces of the second call would be added to the first, or replace it.",
    replies: [
      {
        body: named(
          opening(),
          start(0, tool()),
          json(0, '{"city":"Ulm"}'),
          stop(0),
          start(0, tool({ id: "toolu_2", name: "clock" })),
          json(0, '{"city":"Bonn"}'),
          stop(0),
          ending("tool_use"),
          over
        )
      }
    ],
    expected: { calls: [ulm, { name: "clock", arguments: { city: "Bonn" } }], finish: "tool-calls" }
  }),
  row({
    id: "messages/folding/index-gap",
    class: "folding",
    source: { repository: "jundot/omlx", number: 1356, subject: "the index of a tool's block skips one" },
    why: "A reader that keeps blocks in a list by their index runs past its end.",
    replies: [
      {
        body: named(
          opening(),
          start(0, { type: "thinking", thinking: "", signature: "" }),
          delta(0, { type: "thinking_delta", thinking: "Hm." }),
          stop(0),
          start(2, tool()),
          json(2, '{"city":"Ulm"}'),
          stop(2),
          ending("tool_use"),
          over
        )
      }
    ],
    expected: { reasoning: "Hm.", calls: [ulm], finish: "tool-calls" }
  }),
  row({
    id: "messages/folding/text-at-another-index",
    class: "folding",
    source: {
      repository: "Oaklight/llm-rosetta",
      number: 246,
      subject: "text after thinking has the index of the thinking"
    },
    why: "The kind of the delta says what it is, not the block at its index.",
    replies: [
      {
        body: named(
          opening(),
          start(0, { type: "thinking", thinking: "", signature: "" }),
          delta(0, { type: "thinking_delta", thinking: "Hm." }),
          stop(0),
          start(1, { type: "text", text: "" }),
          text(0, "Sunny."),
          stop(1),
          ending("end_turn"),
          over
        )
      }
    ],
    expected: { text: "Sunny.", reasoning: "Hm.", finish: "stop" }
  }),
  row({
    id: "messages/folding/text-before-thinking",
    class: "folding",
    source: { repository: "looplj/axonhub", number: 1677, subject: "a relay sends a text block before the thinking" },
    why: "Thinking is not always the first block.",
    replies: [
      {
        body: named(
          opening(),
          start(0, { type: "text", text: "" }),
          text(0, "\n"),
          stop(0),
          start(1, { type: "thinking", thinking: "", signature: "" }),
          delta(1, { type: "thinking_delta", thinking: "Hm." }),
          stop(1),
          start(2, { type: "text", text: "" }),
          text(2, "Sunny."),
          stop(2),
          ending("end_turn"),
          over
        )
      }
    ],
    expected: { text: "\nSunny.", reasoning: "Hm.", finish: "stop" }
  }),
  row({
    id: "messages/folding/no-last-blank-line",
    class: "folding",
    source: { repository: "farion1231/cc-switch", number: 6541, subject: "the last event has no blank line after it" },
    why: "A reader that waits for the blank line loses the reason why the answer ended.",
    replies: [{ body: named(opening(), ...sunny, ending("end_turn")).trimEnd() }],
    expected: { text: "Sunny.", finish: "stop" }
  }),
  row({
    id: "messages/folding/event-without-data",
    class: "folding",
    source: {
      repository: "NousResearch/hermes-agent",
      number: 35418,
      subject: "a reverse proxy flushes the name of an event without its data"
    },
    why: "The SDK parses the empty data as JSON and fails.",
    replies: [
      { body: `${named(opening())}event: ping\n\nevent: ping\ndata:\n\n${named(...sunny, ending("end_turn"), over)}` }
    ],
    expected: { text: "Sunny.", finish: "stop" }
  }),
  row({
    id: "messages/folding/done-at-the-end",
    class: "folding",
    source: {
      repository: "anthropics/anthropic-sdk-csharp",
      number: 202,
      subject: "a gateway ends the stream with OpenAI's mark"
    },
    why: "The mark is not JSON: a reader fails after a complete answer.",
    replies: [{ body: `${named(opening(), ...sunny, ending("end_turn"), over)}data: [DONE]\n\n` }],
    expected: { text: "Sunny.", finish: "stop" }
  })
]

const endings: ReadonlyArray<Row> = [
  row({
    id: "messages/ending/context-window",
    class: "ending",
    source: {
      repository: "turnstonelabs/turnstone",
      number: 1162,
      subject: "an answer that filled the context is taken for a complete one"
    },
    why: "The answer was cut by the context: it is one of its length.",
    replies: [{ body: named(opening(), ...sunny, ending("model_context_window_exceeded"), over) }],
    expected: { text: "Sunny.", finish: "length" }
  }),
  row({
    id: "messages/ending/pause-turn",
    class: "ending",
    source: {
      repository: "tetsuo-ai/agenc-core",
      number: 2111,
      subject: "a paused turn is finished as if it were complete"
    },
    why: "The vendor waits to be asked to continue: what came is paid for, and is not whole.",
    replies: [{ body: named(opening(), ...sunny, ending("pause_turn"), over) }],
    expected: { text: "Sunny.", finish: "length" }
  }),
  row({
    id: "messages/ending/refusal",
    class: "ending",
    source: { repository: "laravel/ai", number: 881, subject: "a refusal is an unknown ending, and the turn empty" },
    why: "The model stopped for safety: the caller must see a refusal.",
    replies: [{ body: named(opening(), start(0, { type: "text", text: "" }), stop(0), ending("refusal"), over) }],
    expected: { text: "", finish: "refusal" }
  }),
  row({
    id: "messages/ending/unknown",
    class: "ending",
    source: {
      repository: "vybestack/llxprt-code",
      number: 1731,
      subject: "every unknown reason counts as a normal end"
    },
    why: "A server that breaks off with a word of its own must not end a turn as if all were well.",
    replies: [
      { body: named(opening(), start(0, { type: "text", text: "" }), text(0, "Half of "), ending("error"), over) }
    ],
    expected: { text: "Half of ", failure: ["Overloaded", "Malformed"], says: ['"error"'] }
  }),
  row({
    id: "messages/ending/calls-with-end-turn",
    class: "ending",
    source: {
      repository: "1Panel-dev/MaxKB",
      number: 6683,
      subject: "the end of a turn that called tools is not taken for one"
    },
    why: "A turn that calls tools waits for their results, whatever its reason says.",
    replies: [
      { body: named(opening(), start(0, tool()), json(0, '{"city":"Ulm"}'), stop(0), ending("end_turn"), over) }
    ],
    expected: { calls: [ulm], finish: "tool-calls" }
  })
]

const usage: ReadonlyArray<Row> = [
  row({
    id: "messages/usage/zero-at-start",
    class: "usage",
    source: { repository: "zai-org/GLM-5", number: 139, subject: "message_start reports an input of zero" },
    why: "The real figures come in message_delta; a reader of the beginning alone counts nothing.",
    replies: [
      {
        body: named(
          opening({ usage: { input_tokens: 0, output_tokens: 0 } }),
          ...sunny,
          ending("end_turn", { usage: { input_tokens: 14, cache_read_input_tokens: 100, output_tokens: 7 } }),
          over
        )
      }
    ],
    expected: { usage: { inputTokens: 114, cachedInputTokens: 100, outputTokens: 7 } }
  }),
  row({
    id: "messages/usage/zero-at-end",
    class: "usage",
    source: { repository: "sgl-project/sglang", number: 20830, subject: "message_delta reports an input of zero" },
    why: "The input stands in message_start: a later zero must not erase it.",
    replies: [
      {
        body: named(
          opening({ usage: { input_tokens: 123, output_tokens: 0 } }),
          ...sunny,
          ending("end_turn", { usage: { input_tokens: 0, output_tokens: 45 } }),
          over
        )
      }
    ],
    expected: { usage: { inputTokens: 123, outputTokens: 45 } }
  }),
  row({
    id: "messages/usage/cumulative",
    class: "usage",
    source: { repository: "envoyproxy/ai-gateway", number: 2239, subject: "the input of both events is added up" },
    why: "The figures are cumulative: a sum counts the prompt twice.",
    replies: [
      {
        body: named(
          opening({ usage: { input_tokens: 123, output_tokens: 1 } }),
          ...sunny,
          ending("end_turn", { usage: { input_tokens: 123, output_tokens: 45 } }),
          over
        )
      }
    ],
    expected: { usage: { inputTokens: 123, outputTokens: 45 } }
  }),
  row({
    id: "messages/usage/output-only-at-end",
    class: "usage",
    source: { repository: "AMAP-ML/SkillClaw", number: 21, subject: "message_delta has the output alone" },
    why: "A client that compares the absent input with a number breaks.",
    replies: [{ body: named(opening(), ...sunny, ending("end_turn", { usage: { output_tokens: 45 } }), over) }],
    expected: { usage: { inputTokens: 11, outputTokens: 45 } }
  }),
  row({
    id: "messages/usage/cache",
    class: "usage",
    source: { repository: "stakpak/agent", number: 365, subject: "tokens of the cache are missing in the total" },
    why: "This protocol counts cached tokens apart from the input: the input is the sum.",
    replies: [
      {
        body: named(
          opening({
            usage: {
              input_tokens: 3,
              cache_creation_input_tokens: 200,
              cache_read_input_tokens: 1000,
              output_tokens: 1
            }
          }),
          ...sunny,
          ending("end_turn"),
          over
        )
      }
    ],
    expected: { usage: { inputTokens: 1203, cachedInputTokens: 1000, outputTokens: 7 } }
  }),
  row({
    id: "messages/null-and-lists/usage",
    class: "null-and-lists",
    source: {
      repository: "ai-dynamo/aiperf",
      number: 1054,
      subject: "the usage of the input gets lost in streams that leave fields out"
    },
    why: "Null figures in the last event must not erase those of the first.",
    replies: [
      {
        body: named(
          opening(),
          ...sunny,
          ending("end_turn", { usage: { input_tokens: null, cache_read_input_tokens: null, output_tokens: 7 } }),
          over
        )
      }
    ],
    expected: { usage: { inputTokens: 11, outputTokens: 7 } }
  })
]

const errors: ReadonlyArray<Row> = [
  row({
    id: "messages/error/in-stream",
    class: "error",
    source: {
      repository: "karthink/gptel",
      number: 1512,
      subject: "an overload in the middle of a stream is swallowed"
    },
    why: "The status was 200: only the event says that the answer failed.",
    replies: [
      {
        body: named(opening(), start(0, { type: "text", text: "" }), text(0, "Half"), {
          type: "error",
          error: { details: null, type: "overloaded_error", message: "Overloaded" },
          request_id: "req_1"
        })
      }
    ],
    expected: { text: "Half", failure: ["Overloaded"], says: ["Overloaded"] }
  }),
  row({
    id: "messages/error/empty-stream",
    class: "error",
    source: {
      repository: "BerriAI/litellm",
      number: 20361,
      subject: "a stream that ends after its beginning counts as an empty answer"
    },
    why: "An upstream error cut the stream: an empty answer would be a success that never was.",
    replies: [{ body: named(opening()) }],
    expected: { failure: ["Network", "Malformed"] }
  }),
  row({
    id: "messages/error/openai-form",
    class: "error",
    source: { repository: "BerriAI/litellm", number: 39037, subject: "refusals of /v1/messages have OpenAI's form" },
    why: "The vendor's words are lost for a reader of Anthropic's form alone.",
    replies: refused(400, {
      error: { message: "Invalid model name passed in model=m.", type: "None", param: "None", code: "400" }
    }),
    expected: { failure: ["InvalidRequest"], says: ["Invalid model name"] }
  }),
  row({
    id: "messages/error/openai-form-in-stream",
    class: "error",
    source: { repository: "BerriAI/litellm", number: 41826, subject: "a failed stream sends an error without a type" },
    why: "Without the type of an event a reader skips it, and the answer just ends.",
    replies: [
      {
        body: `${named(opening(), start(0, { type: "text", text: "" }), text(0, "Half"))}data: ${JSON.stringify({
          error: { message: "Upstream connection lost", type: "None", param: "None", code: "503" }
        })}\n\n`
      }
    ],
    expected: { text: "Half", failure: ["Overloaded"], says: ["Upstream connection lost"] }
  }),
  row({
    id: "messages/error/raw-of-a-proxy",
    class: "error",
    source: {
      repository: "charmbracelet/crush",
      number: 910,
      subject: "the reason is JSON within the proxy's metadata"
    },
    why: "Without the inner error a user reads that the provider returned an error, and nothing else.",
    replies: refused(400, {
      error: {
        message: "Provider returned error",
        code: 400,
        metadata: {
          raw: JSON.stringify(error("invalid_request_error", "messages.1: Input should be a valid string")),
          provider_name: "Google"
        }
      }
    }),
    expected: { failure: ["InvalidRequest"], says: ["Input should be a valid string"] }
  }),
  row({
    id: "messages/error/dictionary-in-words",
    class: "error",
    source: { repository: "mito-ds/mito", number: 1842, subject: "a proxy puts the error's text into a flat field" },
    why: "The kind of the error is in the words alone.",
    replies: refused(500, { error: "There was an error accessing the Anthropic API: overloaded_error: Overloaded" }),
    expected: { failure: ["Overloaded"], says: ["overloaded_error"] }
  })
]

const overflows: ReadonlyArray<Row> = [
  row({
    id: "messages/overflow/within-bedrock",
    class: "overflow",
    source: {
      repository: "archestra-ai/archestra",
      number: 7011,
      subject: "Bedrock wraps Anthropic's words of an overflow"
    },
    why: "Agents compact only if the overflow is recognised.",
    replies: refused(400, {
      message: "The model returned the following errors: prompt is too long: 1000034 tokens > 1000000 maximum"
    }),
    expected: { failure: ["ContextTooLong"], says: ["1000034"] }
  }),
  row({
    id: "messages/overflow/input-too-long",
    class: "overflow",
    source: { repository: "anthropics/claude-code", number: 760, subject: "Bedrock's own words of an overflow" },
    why: "They name neither tokens nor a context.",
    replies: refused(400, error("invalid_request_error", "Input is too long for requested model.")),
    expected: { failure: ["ContextTooLong"] }
  }),
  row({
    id: "messages/overflow/input-and-output",
    class: "overflow",
    source: {
      repository: "anthropics/claude-code",
      number: 8017,
      subject: "input and max_tokens together exceed the context"
    },
    why: "The prompt alone would fit: it is an overflow all the same.",
    replies: refused(
      400,
      error(
        "invalid_request_error",
        "input length and `max_tokens` exceed context limit: 199211 + 20000 > 200000, decrease input length or `max_tokens` and try again"
      )
    ),
    expected: { failure: ["ContextTooLong"] }
  }),
  row({
    id: "messages/overflow/rate-limit",
    class: "overflow",
    source: { repository: "cline/cline", number: 4196, subject: "Bedrock asks to wait because of too many tokens" },
    why: "It is a rate limit: a client that compacts its conversation does so in vain.",
    replies: refused(429, { message: "Too many tokens, please wait before trying again." }),
    expected: { failure: ["RateLimited"] }
  })
]

/** All rows for Messages. */
export const messages: ReadonlyArray<Row> = [...folding, ...endings, ...usage, ...errors, ...overflows]
