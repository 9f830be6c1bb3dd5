/** Answers in the native formats of other vendors, received where Chat Completions or Messages are expected. */
import { called, chunk, from, json, row, sunny, ulm, usage, used } from "./chatRow.ts"
import { bare, events, named, type Outcome, type ResponseRow, type Row, type Source } from "./Row.ts"

const page = (repository: string, subject: string): Source => ({ repository, subject })

const lost = "The answer is there, and is taken for none."

const form = (name: string, source: Source, reply: ResponseRow["replies"][0] | string, expected: Outcome) =>
  row(`folding/${name}`, source, lost, reply, expected)

// -------------------------------------------------------------------------------------------------------------------
// Cohere
// -------------------------------------------------------------------------------------------------------------------

const cohere = from("ankit373/hydra", 859, "Cohere's second API has a message within the delta of each event")

const units = { billed_units: { input_tokens: 11, output_tokens: 7 }, tokens: { input_tokens: 60, output_tokens: 7 } }

const begin = { type: "message-start", id: "c", delta: { message: { role: "assistant", content: [], tool_calls: [] } } }

const says = (message: object, type = "content-delta") => ({ type, index: 0, delta: { message } })

const end = (finish_reason: string) => ({ type: "message-end", delta: { finish_reason, usage: units } })

const cohereRows: ReadonlyArray<Row> = [
  form(
    "cohere-events",
    cohere,
    bare(
      begin,
      says({ content: { type: "text", text: "" } }, "content-start"),
      says({ content: { text: "Sun" } }),
      says({ content: { text: "ny." } }),
      { type: "content-end", index: 0 },
      end("COMPLETE")
    ),
    { ...sunny, usage: used }
  ),
  form(
    "cohere-calls",
    cohere,
    bare(
      begin,
      { type: "tool-plan-delta", delta: { message: { tool_plan: "I look." } } },
      says(
        { tool_calls: { id: "a", type: "function", function: { name: "weather", arguments: "" } } },
        "tool-call-start"
      ),
      says({ tool_calls: { function: { arguments: '{"city":' } } }, "tool-call-delta"),
      says({ tool_calls: { function: { arguments: '"Ulm"}' } } }, "tool-call-delta"),
      { type: "tool-call-end", index: 0 },
      end("TOOL_CALL")
    ),
    { calls: [{ ...ulm, id: "a" }], reasoning: "I look.", ...called }
  ),
  form("cohere-events-cut", cohere, bare(begin, says({ content: { text: "Sun" } })), { failure: ["Network"] }),
  form(
    "cohere-first-events",
    from("infiniflow/ragflow", 17455, "Cohere's first API ends with an event that repeats the answer"),
    bare(
      { event_type: "stream-start", generation_id: "g" },
      { event_type: "text-generation", text: "Sunny." },
      { event_type: "stream-end", finish_reason: "COMPLETE", response: { text: "Sunny.", meta: units } }
    ),
    { ...sunny, usage: used }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Others
// -------------------------------------------------------------------------------------------------------------------

const cloudflare = page("https://developers.cloudflare.com/workers-ai/features/prompting", "Workers AI's own answers")
const bedrock = page(
  "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html",
  "the events of Converse"
)
const gemini = page("https://ai.google.dev/api/generate-content", "an answer of generateContent")

const others: ReadonlyArray<Row> = [
  form(
    "cloudflare-result",
    cloudflare,
    json({ result: { response: "Sunny.", usage }, success: true, errors: [], messages: [] }),
    { ...sunny, usage: used }
  ),
  form("cloudflare-response", cloudflare, json({ response: "Sunny." }), sunny),
  form(
    "cloudflare-stream",
    cloudflare,
    events({ response: "Sun", p: "abc" }, { response: "ny." }, { response: "", usage }),
    { ...sunny, usage: used }
  ),
  form("cloudflare-stream-cut", cloudflare, bare({ response: "Sun" }), { failure: ["Network"] }),
  form(
    "cloudflare-calls",
    cloudflare,
    json({ result: { response: null, tool_calls: [{ name: "weather", arguments: { city: "Ulm" } }] }, success: true }),
    { calls: [ulm], ...called }
  ),
  form(
    "ollama-generate",
    page("https://docs.ollama.com/api/generate", "lines of Ollama's other API"),
    {
      contentType: "application/x-ndjson",
      body: [
        { model: "m", response: "Sun", done: false },
        { model: "m", response: "ny.", done: true, prompt_eval_count: 11, eval_count: 7 }
      ]
        .map((line) => JSON.stringify(line))
        .join("\n")
    },
    { ...sunny, usage: used }
  ),
  form(
    "bedrock-events",
    bedrock,
    bare(
      { messageStart: { role: "assistant" } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Sunny." } } },
      { contentBlockStop: { contentBlockIndex: 0 } },
      { messageStop: { stopReason: "end_turn" } },
      { metadata: { usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18 } } }
    ),
    { ...sunny, usage: used }
  ),
  form(
    "bedrock-flat-events",
    bedrock,
    bare({ contentBlockIndex: 0, delta: { text: "Sunny." } }, { stopReason: "end_turn" }),
    sunny
  ),
  form(
    "bedrock-calls",
    bedrock,
    bare(
      { contentBlockStart: { contentBlockIndex: 1, start: { toolUse: { toolUseId: "a", name: "weather" } } } },
      { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: '{"city":"Ulm"}' } } } },
      { messageStop: { stopReason: "tool_use" } }
    ),
    { calls: [{ ...ulm, id: "a" }], ...called }
  ),
  form(
    "bedrock-whole-calls",
    bedrock,
    json({
      output: {
        message: {
          role: "assistant",
          content: [
            { reasoningContent: { reasoningText: { text: "Hm" } } },
            { toolUse: { toolUseId: "a", name: "weather", input: { city: "Ulm" } } }
          ]
        }
      },
      stopReason: "tool_use"
    }),
    { calls: [{ ...ulm, id: "a" }], reasoning: "Hm", ...called }
  ),
  form(
    "candidates",
    gemini,
    json({
      candidates: [
        { content: { role: "model", parts: [{ text: "Hm", thought: true }, { text: "Sunny." }] }, finishReason: "STOP" }
      ],
      usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7 }
    }),
    { ...sunny, reasoning: "Hm", usage: used }
  ),
  form(
    "candidates-with-calls",
    gemini,
    events({
      candidates: [
        { content: { parts: [{ functionCall: { name: "weather", args: { city: "Ulm" } } }] }, finishReason: "STOP" }
      ]
    }),
    { calls: [ulm], ...called }
  ),
  form(
    "generated-text",
    page("https://huggingface.co/docs/text-generation-inference", "tokens of text-generation-inference"),
    bare(
      { index: 1, token: { id: 1, text: "Sunny.", special: false }, generated_text: null, details: null },
      {
        index: 2,
        token: { id: 2, text: "</s>", special: true },
        generated_text: "Sunny.",
        details: { finish_reason: "eos_token", generated_tokens: 2 }
      }
    ),
    sunny
  ),
  form(
    "watsonx-results",
    page("https://cloud.ibm.com/apidocs/watsonx-ai#text-generation", "watsonx has a list of results"),
    json({
      model_id: "m",
      results: [{ generated_text: "Sunny.", generated_token_count: 7, input_token_count: 11, stop_reason: "eos_token" }]
    }),
    sunny
  ),
  form(
    "generation-of-llama",
    page(
      "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html",
      "Llama's own answer on Bedrock"
    ),
    json({ generation: "Sunny.", prompt_token_count: 11, generation_token_count: 7, stop_reason: "stop" }),
    sunny
  ),
  form(
    "text-of-dashscope",
    page("https://help.aliyun.com/zh/model-studio/qwen-api-via-dashscope", "DashScope's older form of an answer"),
    json({ output: { text: "Sunny.", finish_reason: "stop" }, usage: { input_tokens: 11, output_tokens: 7 } }),
    { ...sunny, usage: used }
  ),
  form(
    "message-of-anthropic",
    page("https://platform.claude.com/docs/en/api/messages", "a proxy passes on a message as it is"),
    json({
      type: "message",
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "a", name: "weather", input: { city: "Ulm" } }
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 11, output_tokens: 7 }
    }),
    { text: "I look.", calls: [{ ...ulm, id: "a" }], usage: used, ...called }
  ),
  form(
    "numbered-choices",
    page(
      "https://www.php.net/manual/en/function.json-encode.php",
      "PHP writes a list with gaps as an object with numbers as names"
    ),
    json({
      object: "chat.completion",
      choices: { "0": { index: 0, message: { content: "Sunny." }, finish_reason: "stop" } },
      usage
    }),
    { ...sunny, usage: used }
  ),
  row(
    "null-and-lists/parts-in-an-object",
    gemini,
    "A bridge leaves Gemini's content as it is, and the text is lost.",
    events(chunk({ content: { role: "model", parts: [{ text: "Sun" }, { text: "ny." }] } }, "stop")),
    sunny
  ),
  row(
    "usage/in-a-list",
    page(
      "https://developers.openai.com/api/reference/resources/chat",
      "usage is one object; a probe of ours wrote it as a list of one"
    ),
    "The figures are there, and the answer is estimated.",
    events(chunk({ content: "Sunny." }, "stop"), { choices: [], usage: [usage] }),
    { ...sunny, usage: used }
  ),
  row(
    "encoding/fields-in-capitals",
    page("https://html.spec.whatwg.org/multipage/server-sent-events.html", "names of fields in another case"),
    "The whole stream is skipped.",
    { body: `DATA: ${JSON.stringify(chunk({ content: "Sunny." }, "stop"))}\n\nData : [DONE]\n\n` },
    sunny
  ),
  row(
    "ending/repetition",
    from("Aleph-Alpha-Research/eval-framework", 838, "vLLM aborts answers that repeat themselves"),
    "An answer that was cut is thrown away, and paid for again.",
    events(chunk({ content: "Sunny." }, "repetition_truncation" as never)),
    { text: "Sunny.", finish: "length" }
  ),
  {
    id: "messages/encoding/fields-in-capitals",
    protocol: "messages",
    direction: "response",
    class: "encoding",
    source: page("https://html.spec.whatwg.org/multipage/server-sent-events.html", "names of fields in another case"),
    why: "The whole stream is skipped.",
    replies: [
      {
        body: named(
          { type: "message_start", message: { id: "m", content: [], usage: [{ input_tokens: 11, output_tokens: 1 }] } },
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Sunny." } },
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: [{ output_tokens: 7 }] },
          { type: "message_stop" }
        )
          .replaceAll("event:", "EVENT:")
          .replaceAll("data:", "Data:")
      }
    ],
    expected: { ...sunny, usage: used }
  }
]

/** All rows with native formats of other vendors. */
export const vendorForms: ReadonlyArray<Row> = [...cohereRows, ...others]
