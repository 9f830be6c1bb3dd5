/**
 * Requests in the formats of other vendors, SDKs and frameworks. The question and the tools must still reach the
 * worker.
 */
import type { RequestRow, Source } from "./Row.ts"

const page = (repository: string, subject: string): Source => ({ repository, subject })
const from = (repository: string, number: number, subject: string): Source => ({ repository, number, subject })

const paths = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses"
} as const

const request = (
  name: string,
  source: Source,
  why: string,
  body: object,
  expected: Partial<RequestRow["expected"]>,
  protocol: keyof typeof paths = "chat"
): RequestRow => ({
  id: `${protocol}/request/${name}`,
  protocol,
  direction: "request",
  class: name.startsWith("tool") ? "tools" : "null-and-lists",
  source,
  why,
  request: {
    path: paths[protocol],
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "divisi", ...body })
  },
  expected: { status: 200, ...expected }
})

const refused = "A 400 of a client that no user can change."
const lost = "What the user has said is lost."

const hm = { asked: "Hm" }
const user = (content: unknown) => ({ role: "user", content })
const declared = [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }]
const offered = { ...hm, tools: ["look"] }

const openai = page("https://developers.openai.com/api/reference/resources/completions", "the field of the older API")
const gemini = page("https://ai.google.dev/api/generate-content", "the fields of generateContent")
const cohere = page("https://docs.cohere.com/v1/reference/chat", "the fields of Cohere's first API")
const huggingFace = page("https://huggingface.co/docs/api-inference", "the fields of the Inference API")
const dashscope = page("https://help.aliyun.com/zh/model-studio/qwen-api-via-dashscope", "the fields of DashScope")
const bedrock = page(
  "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html",
  "the request of Converse"
)
const shareGpt = page("https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered", "its conversations")
const springAi = page("https://docs.spring.io/spring-ai/reference/api/chat-memory.html", "messages as they are stored")
const langChain4j = page("https://docs.langchain4j.dev/tutorials/chat-memory", "messages as they are stored")
const langChain = page("https://docs.langchain.com/oss/python/langchain/messages", "messages as dumpd writes them")
const kernel: Source = {
  repository: "microsoft/semantic-kernel",
  number: 5131,
  subject: "the items of a message name their type"
}
const extensions = page("https://learn.microsoft.com/dotnet/ai/microsoft-extensions-ai", "contents name their type")
const chatGpt = page("https://help.openai.com/en/articles/7260999", "the messages of an export")
const haystack = page("https://docs.haystack.deepset.ai/docs/chatmessage", "a message as it is stored")
const autoGen = page("https://microsoft.github.io/autogen/stable/reference", "messages have a source, not a role")
const php = page("https://www.php.net/manual/en/function.json-encode.php", "a list with gaps becomes an object")
const extraBody: Source = {
  repository: "spring-projects/spring-ai",
  number: 5734,
  subject: "extra_body is sent as it is, not merged into the body"
}

const conversations: ReadonlyArray<RequestRow> = [
  request("prompt", openai, refused, { prompt: "Hm" }, hm),
  request("prompt-on-messages", openai, refused, { prompt: "Hm", max_tokens: 9 }, hm, "messages"),
  request("prompt-of-messages", openai, refused, { prompt: [user("Hm")] }, hm),
  request(
    "several-prompts",
    openai,
    "Two questions have two answers.",
    { prompt: ["a", "b"] },
    {
      status: 400,
      says: ["messages is missing", "prompt"]
    }
  ),
  request(
    "query",
    openai,
    "The error must name the field to use.",
    { query: "Hm" },
    {
      status: 400,
      says: ["messages is missing", "query"]
    }
  ),
  request(
    "contents",
    gemini,
    refused,
    {
      contents: [
        { role: "user", parts: [{ text: "a" }] },
        { role: "model", parts: [{ text: "b" }] },
        { role: "user", parts: [{ text: "Hm" }] }
      ]
    },
    hm
  ),
  request("contents-without-roles", gemini, refused, { contents: [{ parts: [{ text: "Hm" }] }] }, hm),
  request("contents-as-a-text", gemini, refused, { contents: "Hm" }, hm),
  request("contents-on-responses", gemini, refused, { contents: [{ parts: [{ text: "Hm" }] }] }, hm, "responses"),
  request("message", cohere, refused, { message: "Hm", chat_history: [{ role: "USER", message: "a" }] }, hm),
  request("one-message", cohere, refused, { message: user("Hm") }, hm),
  request("inputs", huggingFace, refused, { inputs: "Hm", parameters: { max_new_tokens: 9 } }, hm),
  request("input-with-messages", dashscope, refused, { input: { messages: [user("Hm")] }, parameters: {} }, hm),
  request("input-with-a-prompt", dashscope, refused, { input: { prompt: "Hm" } }, hm),
  request("messages-on-responses", openai, refused, { messages: [user("Hm")] }, hm, "responses"),
  request("nested-messages", langChain, refused, { messages: [[user("a"), user("Hm")]] }, hm),
  request(
    "two-conversations",
    langChain,
    "Two conversations have two answers.",
    {
      messages: [[user("a")], [user("b")]]
    },
    { status: 400, says: ["messages must be a single list"] }
  ),
  request(
    "pairs",
    langChain,
    refused,
    {
      messages: [
        ["system", "Be brief."],
        ["human", "Hm"]
      ]
    },
    hm
  ),
  request("messages-as-json", php, lost, { messages: JSON.stringify([user("Hm")]) }, hm),
  request("numbered-messages", php, refused, { messages: { "0": user("a"), "1": user("Hm") } }, hm),
  request(
    "conversations",
    shareGpt,
    refused,
    {
      conversations: [
        { from: "system", value: "Be brief." },
        { from: "human", value: "a" },
        { from: "gpt", value: "b" },
        { from: "human", value: "Hm" }
      ]
    },
    hm
  ),
  request(
    "no-max-tokens",
    {
      repository: "envoyproxy/ai-gateway",
      number: 893,
      subject: "max_tokens is left out where another API is spoken"
    },
    refused,
    { messages: [user("Hm")] },
    hm,
    "messages"
  ),
  request("model-in-another-case", openai, refused, { model: "Divisi", messages: [user("Hm")] }, hm),
  request("modalities-in-capitals", gemini, refused, { modalities: ["TEXT"], messages: [user("Hm")] }, hm),
  request(
    "modalities-of-audio",
    openai,
    "The caller waits for sound.",
    {
      modalities: "audio",
      messages: [user("Hm")]
    },
    { status: 400, says: ["modalities"] }
  ),
  request("extra-body", extraBody, lost, { extra_body: { tools: declared }, messages: [user("Hm")] }, offered)
]

const framework = (name: string, source: Source, ...messages: ReadonlyArray<object>) =>
  request(name, source, refused, { messages }, hm)

const frameworks: ReadonlyArray<RequestRow> = [
  framework(
    "spring-ai",
    springAi,
    { messageType: "SYSTEM", text: "Be brief." },
    { messageType: "USER", text: "Hm", media: [], metadata: { messageType: "USER" } }
  ),
  request(
    "spring-ai-prompt",
    springAi,
    refused,
    {
      instructions: [{ messageType: "USER", text: "Hm" }],
      options: { maxTokens: 9 }
    },
    hm
  ),
  framework(
    "spring-ai-calls",
    springAi,
    { messageType: "USER", text: "a" },
    { messageType: "ASSISTANT", text: "", toolCalls: [{ id: "c", type: "function", name: "look", arguments: "{}" }] },
    { messageType: "TOOL", text: "", responses: [{ id: "c", name: "look", responseData: "Hm" }] }
  ),
  framework(
    "langchain4j",
    langChain4j,
    { type: "SYSTEM", text: "Be brief." },
    { type: "USER", contents: [{ type: "TEXT", text: "Hm" }] }
  ),
  framework(
    "langchain4j-calls",
    langChain4j,
    { type: "USER", text: "a" },
    { type: "AI", toolExecutionRequests: [{ id: "c", name: "look", arguments: "{}" }] },
    { type: "TOOL_EXECUTION_RESULT", id: "c", toolName: "look", text: "Hm" }
  ),
  framework("langchain-constructor", langChain, {
    lc: 1,
    type: "constructor",
    id: ["langchain", "schema", "messages", "HumanMessage"],
    kwargs: { content: "Hm" }
  }),
  framework("semantic-kernel-author", kernel, {
    author: { role: "user" },
    items: [{ $type: "TextContent", text: "Hm" }]
  }),
  framework("semantic-kernel-net", kernel, {
    Role: { Label: "user" },
    Items: [{ $type: "TextContent", Text: "Hm" }]
  }),
  framework("semantic-kernel-python", kernel, { role: "user", items: [{ content_type: "text", text: "Hm" }] }),
  framework(
    "semantic-kernel-calls",
    kernel,
    { role: "user", items: [{ content_type: "text", text: "a" }] },
    {
      role: "assistant",
      items: [{ content_type: "function_call", id: "c", name: "sky-look", arguments: "{}" }]
    },
    { role: "tool", items: [{ content_type: "function_result", id: "c", name: "sky-look", result: "Hm" }] }
  ),
  framework(
    "extensions-ai",
    extensions,
    { role: "user", contents: [{ $type: "text", text: "a" }] },
    { role: "assistant", contents: [{ $type: "functionCall", callId: "c", name: "look", arguments: {} }] },
    { role: "tool", contents: [{ $type: "functionResult", callId: "c", result: "Hm" }] }
  ),
  framework("chatgpt-export", chatGpt, {
    author: { role: "user" },
    content: { content_type: "text", parts: ["Hm"] }
  }),
  framework("haystack", haystack, { _role: "user", _content: [{ text: "Hm" }], _name: null, _meta: {} }),
  framework(
    "autogen",
    autoGen,
    { type: "TextMessage", source: "planner", content: "a" },
    {
      type: "UserMessage",
      source: "user",
      content: "Hm"
    }
  )
]

const pydantic = page("https://ai.pydantic.dev/message-history", "messages as they are stored")

const later: ReadonlyArray<RequestRow> = [
  framework(
    "pydantic-ai",
    pydantic,
    { kind: "request", parts: [{ part_kind: "user-prompt", content: "a" }] },
    { kind: "response", parts: [{ part_kind: "tool-call", tool_name: "look", args: "{}", tool_call_id: "c" }] },
    { kind: "request", parts: [{ part_kind: "tool-return", tool_name: "look", tool_call_id: "c", content: "Hm" }] }
  ),
  framework("lines-of-a-text", openai, user([{ type: "text", text: ["Hm"] }])),
  request("model-with-spaces", openai, refused, { model: " divisi ", messages: [user("Hm")] }, hm),
  request(
    "tools-of-mcp",
    page("https://modelcontextprotocol.io/specification", "the result of tools/list"),
    refused,
    { tools: { tools: [{ name: "look", inputSchema: { type: "object" } }] }, messages: [user("Hm")] },
    offered
  ),
  request(
    "tools-with-json-within",
    php,
    refused,
    { tools: [{ type: "function", function: '{"name":"look"}' }], messages: [user("Hm")] },
    offered
  ),
  request("tools-as-declarations", gemini, lost, { functionDeclarations: [{ name: "look" }], contents: "Hm" }, offered),
  request(
    "rules-as-a-message",
    openai,
    refused,
    { system: { role: "system", content: "Be brief." }, messages: [user("Hm")] },
    hm,
    "messages"
  )
]

const toolForms: ReadonlyArray<RequestRow> = [
  request("tools-as-json", php, refused, { tools: JSON.stringify(declared), messages: [user("Hm")] }, offered),
  request(
    "tools-each-as-json",
    php,
    refused,
    { tools: declared.map((one) => JSON.stringify(one)), messages: [user("Hm")] },
    offered
  ),
  request("tools-numbered", php, refused, { tools: { ...declared }, messages: [user("Hm")] }, offered),
  request(
    "tools-that-are-no-json",
    php,
    "The model would never hear of them.",
    {
      tools: "look",
      messages: [user("Hm")]
    },
    { status: 400, says: ["tools must be a list"] }
  ),
  request(
    "tools-of-converse",
    bedrock,
    lost,
    {
      messages: [user([{ text: "Hm" }])],
      toolConfig: {
        tools: [{ toolSpec: { name: "look", inputSchema: { json: { type: "object" } } } }],
        toolChoice: { any: {} }
      }
    },
    offered
  ),
  request(
    "tools-of-gemini",
    gemini,
    lost,
    {
      contents: [{ parts: [{ text: "Hm" }] }],
      tools: [{ function_declarations: [{ name: "look" }] }],
      tool_config: { function_calling_config: { mode: "ANY" } }
    },
    offered
  ),
  request(
    "tool-choice-of-true",
    langChain,
    refused,
    { tools: declared, tool_choice: true, messages: [user("Hm")] },
    offered
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Contents outside of the content
// -------------------------------------------------------------------------------------------------------------------

const uiMessage = page("https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message", "the parts of a message of a page")
const uiMessage4 = from("mastra-ai/mastra", 9590, "invocations of AI SDK 4 nest their fields")
const attachments = from("vercel/chatbot", 1024, "messages have attachments next to their content")
const sdkOptions = from("mastra-ai/mastra", 11794, "provider options do not reach a gateway")
const batchLine = page(
  "https://docs.rs/openai-struct/latest/src/openai_struct/models/batch_request_input.rs.html",
  "the lines of a batch file, after OpenAI's specification"
)
const openApi = from("matthewhand/mcp-openapi-proxy", 16, "the parameters of an operation become those of a tool")
const items = from("lmstudio-ai/docs", 141, "an input is a list of parts")
const documents = page("https://docs.cohere.com/reference/chat", "the documents next to the messages")
const plugins = page("https://openrouter.ai/docs/guides/features/plugins", "the plugins of a request")

const ui = (parts: ReadonlyArray<unknown>) => ({
  messages: [{ role: "user", parts: [{ type: "text", text: "Weather?" }] }, { role: "assistant", parts }, user("Hm")],
  tools: declared
})

const silent = "Nobody hears that a field was ignored."

const losses: ReadonlyArray<RequestRow> = [
  request(
    "parts-of-a-page-with-a-tool",
    uiMessage,
    lost,
    ui([
      { type: "step-start" },
      { type: "tool-look", toolCallId: "t", state: "output-available", input: {}, output: { celsius: 7 } },
      { type: "text", text: "7 degrees." }
    ]),
    offered
  ),
  request(
    "parts-of-a-page-with-an-invocation",
    uiMessage4,
    lost,
    ui([
      {
        type: "tool-invocation",
        toolInvocation: { state: "result", toolCallId: "t", toolName: "look", args: {}, result: 7 }
      }
    ]),
    offered
  ),
  request(
    "attachments-as-text",
    attachments,
    lost,
    { messages: [{ ...user("Hm"), attachments: [{ name: "a.txt", text: "Hello" }] }] },
    { ...hm, says: ["messages[0].attachments"] }
  ),
  request(
    "options-of-providers",
    sdkOptions,
    silent,
    { messages: [user("Hm")], providerOptions: { a: { b: 1 } } },
    {
      ...hm,
      says: ["providerOptions is not known"]
    }
  ),
  request(
    "documents",
    documents,
    silent,
    { messages: [user("Hm")], documents: ["The sky is green."] },
    {
      ...hm,
      says: ["documents is not known"]
    }
  ),
  request(
    "plugins",
    plugins,
    silent,
    { messages: [user("Hm")], plugins: [{ id: "web" }] },
    {
      ...hm,
      says: ["plugins is not known"]
    }
  ),
  request(
    "line-of-a-batch",
    batchLine,
    refused,
    { custom_id: "1", method: "POST", url: "/v1/chat/completions", body: { messages: [user("Hm")] } },
    { status: 400, says: ["line of a batch file"] }
  ),
  request("bare-part", items, lost, { input: [{ type: "input_text", text: "Hm" }] }, hm, "responses"),
  request(
    "tools-with-parameters-of-an-operation",
    openApi,
    refused,
    {
      tools: [
        { type: "function", function: { name: "look", parameters: [{ name: "city", in: "query", schema: {} }] } }
      ],
      messages: [user("Hm")]
    },
    offered
  ),
  request(
    "tool-choice-as-a-list",
    langChain,
    refused,
    { tools: declared, tool_choice: ["look"], messages: [user("Hm")] },
    offered
  )
]

/** All rows with requests in other formats. */
export const requestForms: ReadonlyArray<RequestRow> = [
  ...conversations,
  ...frameworks,
  ...later,
  ...toolForms,
  ...losses
]
