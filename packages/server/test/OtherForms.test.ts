/**
 * Forms of other vendors, frameworks and proxies: what they say reaches the worker, and is neither refused nor lost.
 * Sources: https://ai.google.dev/api/generate-content, https://docs.aws.amazon.com/bedrock (Converse),
 * https://docs.cohere.com/v1/reference/chat, https://ai-sdk.dev/docs, https://docs.ollama.com/api/chat and
 * https://docs.langchain.com, read in November 2026.
 */
import type { Worker } from "@divisi/core"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

type Request = Worker.WorkerRequest

type Row = readonly [name: string, path: Path, body: object, seen: (request: Request) => unknown, expected: unknown]

type Path = "chat/completions" | "responses" | "messages"

const chat = "chat/completions"

const bodies = {
  [chat]: { model: "divisi", messages: [{ role: "user", content: "Hm" }] },
  responses: { model: "divisi", input: "Hm" },
  messages: { model: "divisi", max_tokens: 99, messages: [{ role: "user", content: "Hm" }] }
}

const user = (content: unknown) => ({ role: "user", content })
const schema = { type: "object", properties: { city: { type: "string" } } }
const look = { type: "function", function: { name: "look", parameters: schema } }
const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } }
const calling = (tool_calls: unknown) => ({ role: "assistant", content: null, tool_calls })
const picture = "iVBORw0KGgo="

const last = ({ messages }: Request) => messages.at(-1)?.content
const roles = ({ messages }: Request) => messages.map(({ role }) => role)
const results = ({ messages }: Request) => messages.flatMap((one) => (one.role === "tool" ? [one.content] : []))
const names = ({ tools = [] }: Request) => tools.map(({ name }) => name)
const input = ({ tools = [] }: Request) => tools[0]?.input
const choice = ({ toolChoice }: Request) => toolChoice ?? "absent"
const output = (request: Request) => request.output?.type ?? "absent"
const reasoning = (request: Request) => request.reasoning ?? "absent"
const media = ({ messages }: Request) => {
  const content = messages.at(-1)?.content
  return Array.isArray(content) ? content.map(({ mediaType, type }) => mediaType ?? type) : content
}

/** A message of a page, with the calls of tools between its texts. */
const page = {
  role: "assistant",
  parts: [
    { type: "text", text: "Let me look." },
    { type: "tool-look", toolCallId: "1", state: "output-available", input: { city: "Ulm" }, output: { celsius: 7 } },
    { type: "dynamic-tool", toolName: "look", toolCallId: "2", state: "output-error", input: {}, errorText: "gone" },
    { type: "text", text: "7 degrees." }
  ]
}

const attached = { name: "a.txt", contentType: "text/plain", url: "data:text/plain;base64,SGVsbG8=" }

const contents: ReadonlyArray<Row> = [
  ["calls in parts of a page", chat, { messages: [page, user("Hm")] }, results, ['{"celsius":7}', "gone"]],
  [
    "texts between calls of a page",
    chat,
    { messages: [page, user("Hm")] },
    roles,
    ["assistant", "tool", "tool", "assistant", "user"]
  ],
  [
    "an attachment",
    chat,
    { messages: [{ ...user("Hm"), experimental_attachments: [attached] }] },
    media,
    ["text", "text/plain"]
  ],
  ["parts without a message", "responses", { input: [{ type: "input_text", text: "Hey" }] }, last, "Hey"],
  ["parts of Gemini", chat, { messages: [{ role: "user", parts: [{ text: "Hey" }] }] }, last, "Hey"],
  ["parts of the AI SDK", chat, { messages: [{ role: "user", parts: [{ type: "text", text: "Hey" }] }] }, last, "Hey"],
  ["a text beside the role", chat, { messages: [{ role: "user", text: "Hey" }] }, last, "Hey"],
  ["a part with a content", chat, { messages: [user([{ type: "text", content: "Hey" }])] }, last, "Hey"],
  ["a type for the role", chat, { messages: [{ type: "human", content: "Hey" }] }, last, "Hey"],
  ["a role in capitals on Messages", "messages", { messages: [{ role: "USER", content: "Hey" }] }, last, "Hey"],
  ["a role of LangChain on Messages", "messages", { messages: [{ role: "human", content: "Hey" }] }, last, "Hey"],
  ["a role in capitals on Responses", "responses", { input: [{ role: "User", content: "Hey" }] }, last, "Hey"],
  [
    "a picture of the AI SDK",
    chat,
    { messages: [user([{ type: "image", image: `data:image/png;base64,${picture}` }])] },
    media,
    ["image/png"]
  ],
  [
    "a picture of the AI SDK's file",
    chat,
    { messages: [user([{ type: "file", data: picture, mediaType: "image/png" }])] },
    media,
    ["image/png"]
  ],
  [
    "a picture of Gemini",
    chat,
    { messages: [user([{ inlineData: { mimeType: "image/png", data: picture } }])] },
    media,
    ["image/png"]
  ],
  [
    "a media type in capitals",
    "messages",
    { messages: [user([{ type: "image", source: { type: "base64", media_type: "IMAGE/PNG", data: picture } }])] },
    media,
    ["image/png"]
  ]
]

const calls: ReadonlyArray<Row> = [
  [
    "one call without its list",
    chat,
    { messages: [user("q"), calling(call), { role: "tool", tool_call_id: "c1", content: "sun" }] },
    results,
    ["sun"]
  ],
  [
    "calls of false",
    chat,
    { messages: [user("q"), calling(false), user("Hey")] },
    roles,
    ["user", "assistant", "user"]
  ],
  ["calls of an empty text", chat, { messages: [user("q"), calling(""), user("Hey")] }, last, "Hey"],
  [
    "a function call that is an empty object",
    chat,
    { messages: [user("q"), { role: "assistant", content: "x", function_call: {} }, user("Hey")] },
    last,
    "Hey"
  ],
  [
    "a call without a name",
    chat,
    {
      messages: [
        user("q"),
        calling([{ ...call, function: { name: "", arguments: "{}" } }]),
        { role: "tool", tool_call_id: "c1", content: "sun" }
      ]
    },
    ({ messages }) => messages[1]?.role === "assistant" && messages[1].toolCalls?.[0]?.name,
    "tool"
  ],
  [
    "a result that is an output",
    chat,
    { messages: [user("q"), calling([call]), { role: "tool", tool_call_id: "c1", output: "sun" }] },
    results,
    ["sun"]
  ],
  [
    "a result with a content on Responses",
    "responses",
    {
      input: [
        user("q"),
        { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", content: "sun" }
      ]
    },
    results,
    ["sun"]
  ],
  [
    "an id in camel case, and another call before it",
    chat,
    {
      messages: [
        user("q"),
        calling([{ ...call, id: "c0" }, call]),
        { role: "tool", toolCallId: "c1", content: "sun" },
        { role: "tool", toolCallId: "c0", content: "rain" }
      ]
    },
    ({ messages }) => messages.flatMap((one) => (one.role === "tool" ? [[one.callId, one.content]] : [])),
    [
      ["c1", "sun"],
      ["c0", "rain"]
    ]
  ],
  [
    "blocks of Messages without a message",
    "responses",
    {
      input: [
        user("q"),
        { type: "tool_use", id: "c1", name: "look", input: {} },
        { type: "tool_result", tool_use_id: "c1", content: "sun" }
      ]
    },
    results,
    ["sun"]
  ],
  [
    "calls and results of Gemini",
    chat,
    {
      messages: [
        user("q"),
        { role: "model", parts: [{ functionCall: { name: "look", args: { city: "Ulm" } } }] },
        { role: "user", parts: [{ functionResponse: { name: "look", response: { sky: "sun" } } }] }
      ]
    },
    results,
    ['{"sky":"sun"}']
  ],
  [
    "results without ids on Messages",
    "messages",
    {
      messages: [
        user("q"),
        { role: "assistant", content: [{ type: "tool_use", name: "look", input: {} }] },
        user([{ type: "tool_result", tool_use_id: null, content: "sun" }])
      ]
    },
    results,
    ["sun"]
  ],
  [
    "results of the role tool on Messages",
    "messages",
    {
      messages: [
        user("q"),
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input: {} }] },
        { role: "tool", content: [{ type: "tool_result", tool_use_id: "c1", content: "sun" }] }
      ]
    },
    results,
    ["sun"]
  ]
]

/** Results whose calls an agent has cut from its history. */
const lost: ReadonlyArray<Row> = [
  ["chat", chat, { messages: [user("q"), { role: "tool", tool_call_id: "zz", content: "sun" }, user("Hey")] }],
  ["Messages", "messages", { messages: [user([{ type: "tool_result", tool_use_id: "zz", content: "sun" }])] }],
  ["Responses", "responses", { input: [{ type: "function_call_output", call_id: "zz", output: "sun" }, user("Hey")] }],
  ["the role function", chat, { messages: [user("q"), { role: "function", name: "look", content: "sun" }] }]
].map(([name, path, body]) => [`a result without its call: ${name}`, path, body, results, ["sun"]] as unknown as Row)

const tools: ReadonlyArray<Row> = [
  ["Bedrock's tool", chat, { tools: [{ toolSpec: { name: "look", inputSchema: { json: schema } } }] }, input, schema],
  ["a schema in a text", chat, { tools: [{ name: "look", parameters: JSON.stringify(schema) }] }, input, schema],
  ["a description in lines", chat, { tools: [{ name: "look", description: ["a", "b"] }] }, names, ["look"]],
  ["tools by their name", chat, { tools: { look: { description: "d", parameters: schema } } }, input, schema],
  ["a schema with a title", chat, { tools: [{ title: "look", ...schema }] }, input, schema],
  ["one declaration of Gemini", chat, { tools: [{ functionDeclarations: { name: "look" } }] }, names, ["look"]],
  [
    "Cohere's definitions",
    chat,
    {
      tools: [
        { name: "look", parameter_definitions: { city: { type: "str", required: true }, at: { type: "List[int]" } } }
      ]
    },
    input,
    { type: "object", properties: { city: { type: "string" }, at: { type: "array" } }, required: ["city"] }
  ],
  ["a choice of nothing", chat, { tools: [look], tool_choice: {} }, choice, "absent"],
  ["a choice of an empty text", chat, { tools: [look], tool_choice: "" }, choice, "absent"],
  ["a mode", chat, { tools: [look], tool_choice: { mode: "required" } }, choice, "required"],
  ["Bedrock's mode", chat, { tools: [look], tool_choice: { any: {} } }, choice, "required"],
  ["Bedrock's name", chat, { tools: [look], tool_choice: { tool: { name: "look" } } }, choice, { name: "look" }]
]

const settings: ReadonlyArray<Row> = [
  ["an empty format", chat, { response_format: {} }, output, "absent"],
  ["a format of an empty text", chat, { response_format: "" }, output, "absent"],
  ["a format in capitals", chat, { response_format: { type: "JSON_OBJECT" } }, output, "json"],
  [
    "a format in camel case",
    chat,
    { response_format: { type: "jsonSchema", jsonSchema: { name: "x", schema } } },
    output,
    "json-schema"
  ],
  ["a schema as the format", chat, { response_format: schema }, output, "json-schema"],
  ["Ollama's format", chat, { format: "json" }, output, "json"],
  ["Ollama's schema", chat, { format: schema }, output, "json-schema"],
  [
    "Gemini's schema",
    chat,
    { generationConfig: { responseMimeType: "application/json", responseSchema: { type: "OBJECT", properties: {} } } },
    ({ output }) => output?.type === "json-schema" && output.schema,
    { type: "object", properties: {} }
  ],
  ["an empty effort", chat, { reasoning_effort: "" }, reasoning, "absent"],
  [
    "an effort in an object",
    chat,
    { reasoning_effort: { effort: "low" } },
    reasoning,
    { type: "effort", effort: "low" }
  ],
  ["an effort alone", "responses", { reasoning: "High" }, reasoning, { type: "effort", effort: "high" }],
  ["no reasoning", chat, { reasoning: false }, reasoning, { type: "off" }],
  ["no budget", "messages", { thinking: { type: "enabled", budget_tokens: 0 } }, reasoning, { type: "off" }],
  ["a free budget", "messages", { thinking: { type: "enabled", budget_tokens: -1 } }, reasoning, "absent"],
  ["a switch in words", chat, { enable_thinking: "false" }, reasoning, { type: "off" }],
  [
    "OpenAI's limit on Messages",
    "messages",
    { max_tokens: undefined, max_completion_tokens: 7 },
    ({ maxOutputTokens }) => maxOutputTokens,
    7
  ]
]

const given = ({ messages }: Request) =>
  messages.flatMap((one) => (one.role === "assistant" ? (one.toolCalls ?? []).map((made) => made.arguments) : []))
const most = ({ maxOutputTokens }: Request) => maxOutputTokens ?? "absent"
const turn = (content: unknown, role = "assistant") => ({ role, content })
const result = (role: string) => ({ role, tool_call_id: "c1", content: "dry" })

const further: ReadonlyArray<Row> = [
  [
    "a call of LangChain in the history",
    chat,
    { messages: [user("a"), calling([{ id: "c1", name: "look", args: { city: "Ulm" } }]), result("tool")] },
    given,
    ['{"city":"Ulm"}']
  ],
  [
    "a call and a result as parts of the AI SDK",
    chat,
    {
      messages: [
        user("a"),
        turn([{ type: "tool-call", toolCallId: "c1", toolName: "look", input: { city: "Ulm" } }]),
        turn(
          [{ type: "tool-result", toolCallId: "c1", toolName: "look", output: { type: "text", value: "dry" } }],
          "tool"
        )
      ]
    },
    (request) => [given(request), results(request)],
    [['{"city":"Ulm"}'], ["dry"]]
  ],
  [
    "a call and a result of Bedrock",
    chat,
    {
      messages: [
        user("a"),
        turn([{ toolUse: { toolUseId: "c1", name: "look", input: { city: "Ulm" } } }]),
        user([{ toolResult: { toolUseId: "c1", content: [{ text: "dry" }] } }])
      ]
    },
    (request) => [given(request), results(request)],
    [['{"city":"Ulm"}'], ["dry"]]
  ],
  [
    "a result of Gemini with its own role",
    chat,
    {
      messages: [
        user("a"),
        { role: "model", parts: [{ functionCall: { name: "look", args: {} } }] },
        { role: "function", parts: [{ functionResponse: { name: "look", response: { sky: "dry" } } }] }
      ]
    },
    results,
    ['{"sky":"dry"}']
  ],
  ...["ipython", "observation", "tool_result"].map(
    (role): Row => [
      `a result of the role ${role}`,
      chat,
      { messages: [user("a"), calling([call]), result(role)] },
      results,
      ["dry"]
    ]
  ),
  ["the data of LangChain", chat, { messages: [{ type: "human", data: { content: "Hey" } }] }, last, "Hey"],
  [
    "blocks of LlamaIndex",
    chat,
    { messages: [{ role: "user", blocks: [{ block_type: "text", text: "Hey" }] }] },
    last,
    "Hey"
  ],
  ["pictures of Ollama", chat, { messages: [{ ...user("Hey"), images: [picture] }] }, media, ["text", "image/png"]],
  ...[
    { data: picture, mime_type: "image/png" },
    { base64: picture, mime_type: "image/png" },
    { image: `data:image/png;base64,${picture}` },
    { imageUrl: { url: `data:image/png;base64,${picture}` } }
  ].map(
    (part): Row => [
      `a picture in ${Object.keys(part)[0]}`,
      chat,
      { messages: [user([{ type: "image", ...part }])] },
      media,
      ["image/png"]
    ]
  ),
  ...[
    { maxTokens: 50 },
    { max_new_tokens: 50 },
    { n_predict: 50 },
    { generationConfig: { maxOutputTokens: 50 } },
    { inferenceConfig: { maxTokens: 50 } },
    { options: { num_predict: 50 } }
  ].map((body): Row => [`the limit ${JSON.stringify(body)}`, chat, body, most, 50]),
  ...["", "inf", "none"].map(
    (max_tokens): Row => [`"${max_tokens}" for no limit`, chat, { max_tokens }, most, "absent"]
  ),
  ["thinking turned off for Ollama", chat, { think: false }, reasoning, { type: "off" }],
  [
    "a choice of the AI SDK",
    chat,
    { tools: [look], tool_choice: { type: "tool", toolName: "look" } },
    choice,
    { name: "look" }
  ]
]

const rules = ({ messages }: Request) =>
  messages.flatMap(({ content, role }) => (role === "system" || role === "developer" ? [content] : []))
const heat = ({ temperature }: Request) => temperature ?? "absent"
const thinkConfig = { thinking_config: { thinking_budget: 0 } }

/** Settings and rules in the fields and objects of other vendors. */
const placed: ReadonlyArray<Row> = [
  ...["system", "instructions", "systemInstruction", "system_instruction", "system_prompt", "preamble"].map(
    (field): Row => [`rules in ${field}`, chat, { [field]: "Be brief." }, rules, ["Be brief."]]
  ),
  ["rules of Gemini", chat, { systemInstruction: { parts: [{ text: "Be brief." }] } }, rules, ["Be brief."]],
  ["rules of OpenAI on Messages", "messages", { instructions: "Be brief." }, rules, ["Be brief."]],
  [
    "rules of Messages on Responses",
    "responses",
    { system: [{ type: "text", text: "Be brief." }] },
    rules,
    ["Be brief."]
  ],
  ...["generation_config", "config", "parameters", "options", "extra_body", "additionalModelRequestFields"].map(
    (name): Row => [
      `settings within ${name}`,
      chat,
      { [name]: { temperature: 0.5, max_output_tokens: 50 } },
      (request) => [heat(request), most(request)],
      [0.5, 50]
    ]
  ),
  ["a field beside a container", chat, { temperature: 0.1, generationConfig: { temperature: 0.5 } }, heat, 0.1],
  ["a field beside extra_body", chat, { temperature: 0.1, extra_body: { temperature: 0.5 } }, heat, 0.5],
  ["thinking_config", chat, thinkConfig, reasoning, { type: "off" }],
  ["thinking_config in generation_config", chat, { generation_config: thinkConfig }, reasoning, { type: "off" }],
  [
    "a level of Gemini",
    chat,
    { generationConfig: { thinkingConfig: { thinkingLevel: "LOW" } } },
    reasoning,
    { type: "effort", effort: "low" }
  ],
  [
    "a schema of Gemini in snake case",
    chat,
    { generation_config: { response_mime_type: "application/json", response_schema: schema } },
    output,
    "json-schema"
  ],
  [
    "media of Bedrock",
    chat,
    {
      messages: [
        user([
          { image: { format: "png", source: { bytes: picture } } },
          { document: { format: "pdf", name: "n", source: { bytes: picture } } }
        ])
      ]
    },
    media,
    ["image/png", "application/pdf"]
  ],
  ["a choice of true", chat, { tools: [look], tool_choice: true }, choice, "required"],
  ["a choice of false", chat, { tools: [look], tool_choice: false }, choice, "absent"],
  [
    "Bedrock's choice",
    chat,
    { toolConfig: { tools: [{ toolSpec: { name: "look" } }], toolChoice: { any: {} } } },
    choice,
    "required"
  ],
  ["no limit on Messages", "messages", { max_tokens: undefined }, most, "absent"]
]

describe("a request with", () => {
  it.each([...contents, ...calls, ...lost, ...tools, ...settings, ...further, ...placed])(
    "%s",
    (_, path, body, seen, expected) => {
      const a = worker("a", said('{"city":"Ulm"}'))
      return serving(alone(a), async ({ url }) => {
        const sent = JSON.stringify({ ...bodies[path], ...body })
        const response = await fetch(`${url}/${path}`, { method: "POST", body: sent })
        const text = await response.text()
        assert.strictEqual(response.status, 200, text)
        assert.deepStrictEqual(seen(a.calls[0]!), expected)
      })
    }
  )

  it("a result without its call, which a notice reports", () => {
    const a = worker("a", said("Fine."))
    return serving(alone(a), async ({ url }) => {
      const messages = [user("q"), { role: "tool", tool_call_id: "zz", content: "sun" }]
      const body = JSON.stringify({ model: "divisi", messages })
      const response = await fetch(`${url}/${chat}`, { method: "POST", body })
      assert.match(response.headers.get("x-divisi-notices") ?? "", /messages\[1\] is the result of tool call zz/)
    })
  })

  it("a field that it does not know, which a notice reports", () => {
    const a = worker("a", said("Fine."))
    return serving(alone(a), async ({ url }) => {
      const body = JSON.stringify({ ...bodies[chat], documents: ["The sky is green."], nothing: null, off: false })
      const response = await fetch(`${url}/${chat}`, { method: "POST", body })
      assert.strictEqual(response.headers.get("x-divisi-notices"), "documents is not known and was ignored.")
    })
  })

  it("a search of the web, which a notice reports", () => {
    const a = worker("a", said("Fine."))
    return serving(alone(a), async ({ url }) => {
      const body = JSON.stringify({ ...bodies[chat], web_search_options: {} })
      const response = await fetch(`${url}/${chat}`, { method: "POST", body })
      assert.match(response.headers.get("x-divisi-notices") ?? "", /web_search_options/)
    })
  })

  it("a body that a proxy has decompressed, and whose header it left", () => {
    const a = worker("a", said("Fine."))
    return serving(alone(a), async ({ url }) => {
      for (const encoding of ["gzip", "x-gzip", "zstd"]) {
        const headers = { "content-encoding": encoding }
        const response = await fetch(`${url}/${chat}`, { method: "POST", headers, body: JSON.stringify(bodies[chat]) })
        assert.strictEqual(response.status, 200, await response.text())
      }
    })
  })
})
