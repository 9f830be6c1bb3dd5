/** Responses observed from Google and from proxies that implement `generateContent`. */
import { bare, type ResponseRow, type Row } from "./Row.ts"

const row = (one: Omit<ResponseRow, "protocol" | "direction">): ResponseRow => ({
  protocol: "generate-content",
  direction: "response",
  ...one
})

export const usageMetadata = { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 }

/** Returns an event with one candidate that has the given parts. */
export const chunk = (parts: unknown, finishReason?: string, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, ...(finishReason && { finishReason }), index: 0 }],
  modelVersion: "m",
  responseId: "r1",
  ...more
})

/** Returns an event with one candidate that has no content. */
export const empty = (finishReason: string, more: object = {}, inCandidate: object = {}) => ({
  candidates: [{ finishReason, index: 0, ...inCandidate }],
  modelVersion: "m",
  ...more
})

export const text = (value: unknown) => ({ text: value })

export const call = (name: string, more: object = {}) => ({ functionCall: { name, ...more } })

export const ulm = { name: "weather", arguments: { city: "Ulm" } }
export const bonn = { name: "weather", arguments: { city: "Bonn" } }
export const inUlm = { args: { city: "Ulm" } }
export const inBonn = { args: { city: "Bonn" } }

const refused = (status: number, body: unknown): ResponseRow["replies"] => [
  { status, contentType: "application/json", body: JSON.stringify(body) }
]

const folding: ReadonlyArray<Row> = [
  row({
    id: "generate-content/null-and-lists/empty-block-reason",
    class: "null-and-lists",
    source: {
      repository: "BerriAI/litellm",
      number: 28847,
      subject: "a prompt that is not blocked has an empty reason"
    },
    why: "A good answer is taken for a blocked prompt.",
    replies: [{ body: bare(chunk([text("Sunny.")], "STOP", { promptFeedback: { blockReason: "" } })) }],
    expected: { text: "Sunny.", finish: "stop" }
  }),
  row({
    id: "generate-content/folding/end-without-content",
    class: "folding",
    source: {
      repository: "agentjido/req_llm",
      number: 638,
      subject: "the last event has a reason and usage, and no content"
    },
    why: "A reader that looks for parts loses the reason, and the answer counts as incomplete.",
    replies: [{ body: bare(chunk([text("Sunny.")]), empty("STOP", { usageMetadata })) }],
    expected: { text: "Sunny.", finish: "stop", usage: { inputTokens: 11, outputTokens: 7 } }
  }),
  row({
    id: "generate-content/folding/early-end",
    class: "folding",
    source: { repository: "Chevey339/kelivo", number: 1003, subject: "empty events before the text say STOP" },
    why: "A reader that stops at the first reason shows an empty answer.",
    replies: [
      {
        body: bare(chunk([], "STOP"), chunk([], "STOP"), chunk([text("Sun")]), chunk([text("ny.")]), chunk([], "STOP"))
      }
    ],
    expected: { text: "Sunny.", finish: "stop" }
  }),
  row({
    id: "generate-content/folding/reason-in-each",
    class: "folding",
    source: { repository: "songquanpeng/one-api", number: 1477, subject: "every event says STOP" },
    why: "The stream is cut after its first piece.",
    replies: [{ body: bare(chunk([text("Sun")], "STOP"), chunk([text("ny.")], "STOP")) }],
    expected: { text: "Sunny.", finish: "stop" }
  }),
  row({
    id: "generate-content/folding/call-before-end",
    class: "folding",
    source: { repository: "su-kaka/gcli2api", number: 407, subject: "the event that says STOP has no call any more" },
    why: "Calls of earlier events make the answer wait for tools, too.",
    replies: [{ body: bare(chunk([call("weather", inUlm)]), chunk([text("")], "STOP")) }],
    expected: { calls: [ulm], finish: "tool-calls" }
  }),
  row({
    id: "generate-content/folding/parallel-in-events",
    class: "folding",
    source: {
      repository: "NousResearch/hermes-agent",
      number: 102953,
      subject: "two calls of one tool come in an event each"
    },
    why: "Both are the first part of their event: a reader that keys by place makes one call of two.",
    replies: [
      {
        body: bare(
          chunk([call("weather", { id: "c1", ...inUlm })]),
          chunk([call("weather", { id: "c2", ...inBonn })]),
          empty("STOP")
        )
      }
    ],
    expected: {
      calls: [
        { ...ulm, id: "c1" },
        { ...bonn, id: "c2" }
      ],
      finish: "tool-calls"
    }
  }),
  row({
    id: "generate-content/folding/parallel-in-one",
    class: "folding",
    source: { repository: "omnigent-ai/omnigent", number: 28, subject: "two calls come in one event" },
    why: "A reader that gives both one number joins their arguments.",
    replies: [{ body: bare(chunk([call("weather", inUlm), call("clock", inBonn)], "STOP")) }],
    expected: { calls: [ulm, { name: "clock", arguments: { city: "Bonn" } }], finish: "tool-calls" }
  }),
  row({
    id: "generate-content/folding/no-ids",
    class: "folding",
    source: { repository: "apache/flink-agents", number: 947, subject: "calls have no id" },
    why: "Results of parallel calls collide under one missing id.",
    replies: [{ body: bare(chunk([call("weather", inUlm), call("weather", inBonn)], "STOP")) }],
    expected: { calls: [ulm, bonn], finish: "tool-calls" }
  }),
  row({
    id: "generate-content/folding/empty-ids",
    class: "folding",
    source: { repository: "Arize-ai/phoenix", number: 11376, subject: "the ids of calls are empty texts" },
    why: "An empty id is none: calls that share it are merged.",
    replies: [
      {
        body: bare(
          chunk([call("weather", { id: "", ...inUlm })]),
          chunk([call("weather", { id: "", ...inBonn })], "STOP")
        )
      }
    ],
    expected: { calls: [ulm, bonn], finish: "tool-calls" }
  }),
  row({
    id: "generate-content/folding/one-id",
    class: "folding",
    source: {
      repository: "cloudwego/eino-ext",
      number: 652,
      subject: "the name of the tool is the id of each of its calls"
    },
    why: "Two different calls under one id cannot be answered.",
    replies: [
      {
        body: bare(
          chunk([call("weather", { id: "weather", ...inUlm }), call("weather", { id: "weather", ...inBonn })], "STOP")
        )
      }
    ],
    expected: { calls: [ulm, bonn], finish: "tool-calls" }
  }),
  row({
    id: "generate-content/folding/sent-again",
    class: "folding",
    source: { repository: "NousResearch/hermes-agent", number: 111686, subject: "a call comes again under its id" },
    why: "The tool would run twice.",
    replies: [
      {
        body: bare(
          chunk([call("weather", { id: "c1", ...inUlm })]),
          chunk([call("weather", { id: "c2", ...inBonn })]),
          chunk([call("weather", { id: "c1", ...inUlm })], "STOP")
        )
      }
    ],
    expected: {
      calls: [
        { ...ulm, id: "c1" },
        { ...bonn, id: "c2" }
      ],
      finish: "tool-calls"
    }
  }),
  row({
    id: "generate-content/folding/no-args",
    class: "folding",
    source: { repository: "JetBrains/koog", number: 2147, subject: "a call has no arguments" },
    why: "They are optional: a reader that expects them fails.",
    replies: [{ body: bare(chunk([call("weather")], "STOP")) }],
    expected: { calls: [{ name: "weather", arguments: {} }], finish: "tool-calls" }
  }),
  row({
    id: "generate-content/folding/list-instead-of-events",
    class: "folding",
    source: { repository: "nyo16/nous", number: 26, subject: "the stream is one JSON list" },
    why: "Without alt=sse, or behind a proxy that drops the query, Google streams a list.",
    replies: [
      {
        contentType: "application/json",
        body: JSON.stringify([chunk([text("Sun")]), chunk([text("ny.")], "STOP", { usageMetadata })])
      }
    ],
    expected: { text: "Sunny.", finish: "stop", usage: { inputTokens: 11, outputTokens: 7 } }
  }),
  row({
    id: "generate-content/folding/feedback-of-nothing",
    class: "folding",
    source: { repository: "rabuckley/GeminiDotnet", number: 22, subject: "promptFeedback lacks its ratings" },
    why: "It is present and says nothing: the prompt is not blocked.",
    replies: [{ body: bare(chunk([text("Sunny.")], "STOP", { promptFeedback: {} })) }],
    expected: { text: "Sunny.", finish: "stop" }
  }),
  row({
    id: "generate-content/folding/first-without-reason",
    class: "folding",
    source: { repository: "google-gemini-php/client", number: 44, subject: "the first events have no reason" },
    why: "Only the last event must have one.",
    replies: [{ body: bare(chunk([text("Sun")], undefined, { usageMetadata: null }), chunk([text("ny.")], "STOP")) }],
    expected: { text: "Sunny.", finish: "stop" }
  })
]

const endings: ReadonlyArray<Row> = [
  row({
    id: "generate-content/ending/unexpected-call",
    class: "ending",
    source: {
      repository: "agentjido/req_llm",
      number: 944,
      subject: "an answer that was given up counts as an empty one"
    },
    why: "The model called a tool that it was not given: another attempt mostly ends well.",
    replies: [{ body: bare(empty("UNEXPECTED_TOOL_CALL")) }],
    expected: { failure: ["Malformed"] }
  }),
  row({
    id: "generate-content/ending/malformed-call",
    class: "ending",
    source: { repository: "BrendanGraham14/steer", number: 56, subject: "a malformed function call ends the answer" },
    why: "The answer is empty, or half of one, and not complete.",
    replies: [{ body: bare(empty("MALFORMED_FUNCTION_CALL", {}, { finishMessage: "print(weather())" })) }],
    expected: { failure: ["Malformed"], says: ["print(weather())"] }
  }),
  row({
    id: "generate-content/ending/safety",
    class: "ending",
    source: { repository: "xtekky/gpt4free", number: 2341, subject: "a filtered candidate has no content" },
    why: "A reader of its parts breaks; the caller must see a refusal.",
    replies: [{ body: bare(empty("SAFETY", {}, { safetyRatings: [] })) }],
    expected: { text: "", finish: "refusal" }
  }),
  row({
    id: "generate-content/ending/recitation",
    class: "ending",
    source: {
      repository: "gemini-api-php/client",
      number: 68,
      subject: "a copyrighted text ends the answer with RECITATION"
    },
    why: "Its parts are empty: without the reason it is an empty success.",
    replies: [{ body: bare(chunk([], "RECITATION")) }],
    expected: { text: "", finish: "refusal" }
  }),
  row({
    id: "generate-content/ending/other",
    class: "ending",
    source: { repository: "neuron-core/neuron-ai", number: 447, subject: "parts are absent, and the reason is OTHER" },
    why: "Google does not say why: it is no refusal, and an attempt later may succeed.",
    replies: [{ body: bare(empty("OTHER")) }],
    expected: { failure: ["Malformed", "Overloaded"], says: ["OTHER"] }
  }),
  row({
    id: "generate-content/ending/missing-signature",
    class: "ending",
    source: {
      repository: "BerriAI/litellm",
      number: 40864,
      subject: "candidates with a reason and no content are dropped"
    },
    why: "The conversation lacks a signature: the same request fails again.",
    replies: [{ body: bare(empty("MISSING_THOUGHT_SIGNATURE")) }],
    expected: { failure: ["InvalidRequest"] }
  }),
  row({
    id: "generate-content/ending/no-content-at-all",
    class: "ending",
    source: {
      repository: "browserbase/stagehand",
      number: 1379,
      subject: "a candidate without content breaks the agent"
    },
    why: "An empty answer that ends well is one.",
    replies: [{ body: bare(empty("STOP")) }],
    expected: { text: "", finish: "stop" }
  }),
  row({
    id: "generate-content/ending/blocked-prompt",
    class: "ending",
    source: {
      repository: "MaKTaiL/gemini-srt-translator",
      number: 133,
      subject: "users do not see why a prompt was blocked"
    },
    why: "There is no candidate: the reason is in promptFeedback alone.",
    replies: [
      { body: bare({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 11 } }) }
    ],
    expected: { failure: ["ContentFiltered"], says: ["PROHIBITED_CONTENT"] }
  })
]

const usage: ReadonlyArray<Row> = [
  row({
    id: "generate-content/usage/thoughts",
    class: "usage",
    source: { repository: "Wei-Shaw/sub2api", number: 554, subject: "thoughts are not charged" },
    why: "They are counted apart from the candidates, and paid as output.",
    replies: [
      {
        body: bare(
          chunk([text("Sunny.")], "STOP", {
            usageMetadata: {
              promptTokenCount: 55_021,
              candidatesTokenCount: 923,
              thoughtsTokenCount: 785,
              totalTokenCount: 56_729
            }
          })
        )
      }
    ],
    expected: { usage: { inputTokens: 55_021, outputTokens: 1708, reasoningTokens: 785 } }
  }),
  row({
    id: "generate-content/usage/thoughts-within-output",
    class: "usage",
    source: { repository: "vercel/ai", number: 6082, subject: "thoughts are missing in the output of an answer" },
    why: "Budgets count output with its reasoning.",
    replies: [
      {
        body: bare(
          chunk([{ text: "Hm.", thought: true }]),
          chunk([text("Sunny.")], "STOP", {
            usageMetadata: {
              promptTokenCount: 7477,
              candidatesTokenCount: 2060,
              thoughtsTokenCount: 1939,
              totalTokenCount: 11_476
            }
          })
        )
      }
    ],
    expected: {
      text: "Sunny.",
      reasoning: "Hm.",
      usage: { inputTokens: 7477, outputTokens: 3999, reasoningTokens: 1939 }
    }
  }),
  row({
    id: "generate-content/usage/last-event",
    class: "usage",
    source: {
      repository: "agentjido/req_llm",
      number: 639,
      subject: "the event of the usage has hardly anything else"
    },
    why: "Usage without a candidate after the reason must still be read.",
    replies: [{ body: bare(chunk([text("Sunny.")], "STOP"), { usageMetadata }) }],
    expected: { text: "Sunny.", finish: "stop", usage: { inputTokens: 11, outputTokens: 7 } }
  })
]

const errors: ReadonlyArray<Row> = [
  row({
    id: "generate-content/error/list",
    class: "error",
    source: {
      repository: "google-gemini/gemini-cli",
      number: 10925,
      subject: "a quota of the day is refused in a list"
    },
    why: "The error is within a list, and waiting does not help before midnight.",
    replies: refused(429, [
      {
        error: {
          code: 429,
          message: "Quota exceeded for quota metric 'Pro Requests' and limit 'Pro Requests per day per user per tier'.",
          status: "RESOURCE_EXHAUSTED",
          details: [
            {
              "@type": "type.googleapis.com/google.rpc.ErrorInfo",
              reason: "RATE_LIMIT_EXCEEDED",
              metadata: { quota_limit: "ProRequestsPerDay" }
            }
          ]
        }
      }
    ]),
    expected: { failure: ["Quota"], says: ["Quota exceeded"] }
  }),
  row({
    id: "generate-content/error/retry-info",
    class: "error",
    source: {
      repository: "letterstory/lettertrace",
      number: 34,
      subject: "the time to wait is in the details of a 429"
    },
    why: "Retries within the first seconds all meet the same closed window.",
    replies: refused(429, {
      error: {
        code: 429,
        message: "Slow down.",
        status: "RESOURCE_EXHAUSTED",
        details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "38s" }]
      }
    }),
    expected: { failure: ["RateLimited"], retryAfterMillis: 38_000 }
  }),
  row({
    id: "generate-content/error/json-in-message",
    class: "error",
    source: {
      repository: "google-gemini/gemini-cli",
      number: 14811,
      subject: "Google's error is JSON within the message"
    },
    why: "The reader shows braces and escapes instead of the reason.",
    replies: refused(429, {
      error: {
        message: JSON.stringify({
          error: { code: 429, message: "Resource has been exhausted (e.g. check quota).", status: "RESOURCE_EXHAUSTED" }
        }),
        code: 429,
        status: "Too Many Requests"
      }
    }),
    expected: { failure: ["RateLimited"], says: ["Resource has been exhausted (e.g. check quota)"] }
  }),
  row({
    id: "generate-content/error/in-stream",
    class: "error",
    source: {
      repository: "googleapis/python-genai",
      number: 1162,
      subject: "an error comes as an event of the stream"
    },
    why: "The status was 200: the event alone says that the answer failed.",
    replies: [
      {
        body: bare(chunk([text("Half")]), {
          error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" }
        })
      }
    ],
    expected: { text: "Half", failure: ["Overloaded"], says: ["The model is overloaded"] }
  }),
  row({
    id: "generate-content/error/event-is-a-list",
    class: "error",
    source: { repository: "maximhq/bifrost", number: 5188, subject: "an event is a list or a text, not an object" },
    why: "A reader of objects fails with words about its own types.",
    replies: [
      {
        body: bare([{ error: { code: 500, message: "Internal error encountered.", status: "INTERNAL" } }])
      }
    ],
    expected: { failure: ["Overloaded"], says: ["Internal error encountered"] }
  }),
  row({
    id: "generate-content/error/status-200",
    class: "error",
    source: {
      repository: "snailyp/gemini-balance",
      number: 347,
      subject: "after all retries the stream is JSON of an error"
    },
    why: "With status 200 and no event the client sees an empty message.",
    replies: [{ body: JSON.stringify({ error: { code: 503, message: "All keys failed." } }) }],
    expected: { failure: ["Overloaded"], says: ["All keys failed"] }
  }),
  row({
    id: "generate-content/overflow/tokens",
    class: "overflow",
    source: {
      repository: "use-agent-os/agent-os",
      number: 647,
      subject: "Google's words of an overflow match no pattern"
    },
    why: "Agents compact only if the overflow is recognised.",
    replies: refused(400, {
      error: {
        code: 400,
        message: "The input token count (1054016) exceeds the maximum number of tokens allowed (1048576).",
        status: "INVALID_ARGUMENT"
      }
    }),
    expected: { failure: ["ContextTooLong"], says: ["1054016"] }
  }),
  row({
    id: "generate-content/overflow/tokens-in-a-list",
    class: "overflow",
    source: {
      repository: "google-gemini/gemini-cli",
      number: 11916,
      subject: "an overflow is refused in a list, with a second form"
    },
    why: "The proxy's limit is lower than the model's, and the words are in an inner list as well.",
    replies: refused(400, [
      {
        error: {
          code: 400,
          message: "The input token count (218152) exceeds the maximum number of tokens allowed (65536).",
          errors: [
            {
              message: "The input token count (218152) exceeds the maximum number of tokens allowed (65536).",
              domain: "global",
              reason: "badRequest"
            }
          ],
          status: "INVALID_ARGUMENT"
        }
      }
    ]),
    expected: { failure: ["ContextTooLong"], says: ["65536"] }
  })
]

/** All rows for `generateContent`. */
export const generateContent: ReadonlyArray<Row> = [...folding, ...endings, ...usage, ...errors]
