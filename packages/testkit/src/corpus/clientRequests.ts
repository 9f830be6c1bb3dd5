/** Requests of clients on all three wires, in every documented form of their parts, tools, choices and settings. */
import { from } from "./chatRow.ts"
import type { RequestRow, Row, Source } from "./Row.ts"
import { request } from "./reportForms.ts"

const page = (repository: string, subject: string): Source => ({ repository, subject })

const blind = "The model does not see what the user has sent."
const refusal = "A client that no user can change gets nothing but errors."
const ends = "The history of a session is refused, and the session ends."
const ignored = "The client's demand is dropped, and the answer is of another kind."

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
const pdf = "JVBERi0xLjQKJSVFT0Y="

const hm = { role: "user", content: "Hm" }
const user = (content: unknown) => ({ role: "user", content })
const schema = { type: "object", properties: { city: { type: "string" } } }
const look = { type: "function", function: { name: "look", parameters: schema } }
const wait = { type: "function", function: { name: "wait", parameters: schema } }
const flat = (name: string) => ({ type: "function", name, parameters: schema, strict: null })
const offers = (...names: ReadonlyArray<string>) => names.map((name) => ({ name, input_schema: schema }))

type Expected = Partial<RequestRow["expected"]>

const onChat = (name: string, source: Source, why: string, body: object, expected?: Expected) =>
  request("chat", name, source, why, body, expected)

const onResponses = (name: string, source: Source, why: string, body: object, expected?: Expected) =>
  request("responses", name, source, why, body, expected)

const onMessages = (name: string, source: Source, why: string, body: object, expected?: Expected) =>
  request("messages", name, source, why, { max_tokens: 99, ...body }, expected)

// -------------------------------------------------------------------------------------------------------------------
// Parts
// -------------------------------------------------------------------------------------------------------------------

const openAiFiles = page("https://platform.openai.com/docs/guides/pdf-files", "files as parts of a message")
const anthropicFiles = page("https://platform.claude.com/docs/en/build-with-claude/pdf-support", "documents as blocks")

const parts: ReadonlyArray<Row> = [
  onChat(
    "image-with-detail",
    page("https://platform.openai.com/docs/guides/images-vision", "an image has a detail"),
    blind,
    {
      messages: [
        user([
          { type: "text", text: "Hm" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${png}`, detail: "low" } }
        ])
      ]
    },
    { sees: ['"image/png"', png] }
  ),
  onChat(
    "image-url-as-text",
    from("BoundaryML/baml", 3223, "the URL of an image is a text where Chat Completions has an object"),
    blind,
    {
      messages: [
        user([
          { type: "text", text: "Hm" },
          { type: "input_image", image_url: "https://a.test/b.png", detail: "auto" }
        ])
      ]
    },
    { sees: ["https://a.test/b.png"] }
  ),
  onChat(
    "file-as-data",
    openAiFiles,
    blind,
    {
      messages: [
        user([
          { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` } },
          { type: "text", text: "Hm" }
        ])
      ]
    },
    { sees: ["a.pdf", "application/pdf", pdf] }
  ),
  onChat(
    "file-by-url",
    from("Portkey-AI/gateway", 1074, "a file has a URL and a type of its own"),
    blind,
    {
      messages: [
        user([
          { type: "text", text: "Hm" },
          { type: "file", file: { file_url: "https://a.test/b.pdf", mime_type: "application/pdf" } }
        ])
      ]
    },
    { sees: ["https://a.test/b.pdf"] }
  ),
  onChat(
    "pdf-as-an-image",
    from("BerriAI/litellm", 39977, "a PDF comes as the data of an image, with a hint for the cache"),
    blind,
    {
      messages: [
        user([
          { type: "text", text: "Hm" },
          {
            type: "image_url",
            image_url: { url: `data:application/pdf;base64,${pdf}` },
            cache_control: { type: "ephemeral" }
          }
        ])
      ]
    },
    { sees: ["application/pdf", pdf] }
  ),
  onChat(
    "uploaded-file",
    openAiFiles,
    "A file that the server does not have is left out, and the model guesses.",
    {
      messages: [
        user([
          { type: "file", file: { file_id: "file-1" } },
          { type: "text", text: "Hm" }
        ])
      ]
    },
    { status: 400, says: ["file"], asked: undefined }
  ),
  onChat(
    "audio",
    from("mozilla-ai/any-llm", 1390, "audio as a part of a message"),
    "Audio is dropped without a word, and the model answers what it did not hear.",
    {
      messages: [
        user([
          { type: "text", text: "Hm" },
          { type: "input_audio", input_audio: { data: "aGk=", format: "wav" } }
        ])
      ]
    },
    { status: 400, says: ["audio"], asked: undefined }
  ),
  onChat(
    "video",
    from("openclaw/openclaw", 68435, "parts of audio and video were dropped without a word"),
    "A video is dropped without a word.",
    {
      messages: [
        user([
          { type: "text", text: "Hm" },
          { type: "video_url", video_url: { url: "https://a.test/b.mp4" } }
        ])
      ]
    },
    { status: 400, says: ["video"], asked: undefined }
  ),
  onResponses(
    "image-as-part",
    page("https://platform.openai.com/docs/guides/images-vision", "images on Responses"),
    blind,
    {
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "Hm" },
            { type: "input_image", image_url: `data:image/png;base64,${png}`, detail: "high" }
          ]
        }
      ]
    },
    { sees: ['"image/png"', png] }
  ),
  onResponses(
    "file-as-part",
    openAiFiles,
    blind,
    {
      input: [
        {
          role: "user",
          content: [
            { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` },
            { type: "input_text", text: "Hm" }
          ]
        }
      ]
    },
    { sees: ["a.pdf", pdf] }
  ),
  onResponses(
    "file-by-url",
    from("vercel/ai", 8185, "a file has a URL"),
    blind,
    {
      input: [
        {
          role: "user",
          content: [
            { type: "input_file", file_url: "https://a.test/b.pdf" },
            { type: "input_text", text: "Hm" }
          ]
        }
      ]
    },
    { sees: ["https://a.test/b.pdf"] }
  ),
  onResponses(
    "file-data-without-a-type",
    from("vercel/ai", 7776, "the data of a file is base64 without the type before it"),
    blind,
    {
      input: [
        {
          role: "user",
          content: [
            { type: "input_file", filename: "a.pdf", file_data: pdf },
            { type: "input_text", text: "Hm" }
          ]
        }
      ]
    },
    { sees: ["a.pdf", pdf] }
  ),
  onResponses(
    "picture-as-an-output",
    from("openai/openai-agents-python", 1850, "the output of a function is a list with a picture"),
    blind,
    {
      input: [
        hm,
        { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
        {
          type: "function_call_output",
          call_id: "c1",
          output: [
            { type: "input_text", text: "See:" },
            { type: "input_image", image_url: `data:image/png;base64,${png}` },
            { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` }
          ]
        },
        user("Go on.")
      ],
      tools: [flat("look")]
    },
    { asked: "Go on.", sees: [png, pdf] }
  ),
  onMessages(
    "image-as-block",
    page("https://platform.claude.com/docs/en/build-with-claude/vision", "images as blocks"),
    blind,
    {
      messages: [
        user([
          { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
          { type: "text", text: "Hm" }
        ])
      ]
    },
    { sees: ['"image/png"', png] }
  ),
  onMessages(
    "document-with-title",
    anthropicFiles,
    blind,
    {
      messages: [
        user([
          {
            type: "document",
            source: { type: "base64", media_type: "application/pdf", data: pdf },
            title: "a.pdf",
            context: "From the mail.",
            citations: { enabled: true },
            cache_control: { type: "ephemeral", ttl: "1h" }
          },
          { type: "text", text: "Hm" }
        ])
      ]
    },
    { sees: ["a.pdf", pdf] }
  ),
  onMessages(
    "document-of-blocks",
    anthropicFiles,
    blind,
    {
      messages: [
        user([
          { type: "document", source: { type: "content", content: [{ type: "text", text: "It is sunny in Ulm." }] } },
          { type: "text", text: "Hm" }
        ])
      ]
    },
    { sees: ["It is sunny in Ulm."] }
  ),
  onMessages(
    "document-of-text",
    anthropicFiles,
    blind,
    {
      messages: [
        user([
          {
            type: "document",
            source: { type: "text", media_type: "text/plain", data: "It is sunny in Ulm." },
            title: "a.txt"
          },
          { type: "text", text: "Hm" }
        ])
      ]
    },
    { sees: [Buffer.from("It is sunny in Ulm.").toString("base64")] }
  ),
  onMessages(
    "document-in-a-result",
    from("jwadow/kiro-gateway", 165, "the result of reading a PDF is a document"),
    blind,
    {
      messages: [
        hm,
        { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "Read", input: {} }] },
        user([
          {
            type: "tool_result",
            tool_use_id: "t1",
            content: [
              { type: "text", text: "PDF read." },
              { type: "document", source: { type: "base64", media_type: "application/pdf", data: pdf } }
            ]
          }
        ]),
        user("Go on.")
      ],
      tools: offers("Read")
    },
    { asked: "Go on.", sees: ["PDF read.", pdf] }
  ),
  onMessages(
    "search-result-as-block",
    page("https://platform.claude.com/docs/en/build-with-claude/search-results", "results of a search as blocks"),
    blind,
    {
      messages: [
        user([
          {
            type: "search_result",
            source: "https://a.test",
            title: "Ulm",
            content: [{ type: "text", text: "It is sunny in Ulm." }],
            citations: { enabled: true }
          },
          { type: "text", text: "Hm" }
        ])
      ]
    },
    { sees: ["It is sunny in Ulm."] }
  ),
  onMessages(
    "empty-blocks-with-cache-hints",
    from("anthropics/claude-code", 54039, "an empty block has a hint for the cache"),
    ends,
    {
      messages: [
        user([
          { type: "text", text: "", cache_control: { type: "ephemeral" } },
          { type: "text", text: "Hm" }
        ])
      ]
    }
  ),
  onMessages(
    "hints-with-a-scope",
    from("raine/claude-code-proxy", 56, "Claude Code sends a scope, diagnostics and hints for streams of tools"),
    refusal,
    {
      system: [
        { type: "text", text: "You are an agent.", cache_control: { type: "ephemeral", scope: "global", ttl: "1h" } },
        { type: "text", text: "Be brief." }
      ],
      diagnostics: { previous_message_id: null },
      messages: [hm],
      tools: [{ ...offers("look")[0], eager_input_streaming: true, cache_control: { type: "ephemeral" } }]
    },
    { asked: "Hm", tools: ["look"], sees: ["You are an agent.", "Be brief."] }
  ),
  onMessages(
    "cache-hint-of-the-request",
    from("Wei-Shaw/sub2api", 2013, "the request itself has a hint for the cache"),
    refusal,
    { cache_control: { type: "ephemeral" }, messages: [user("Hi"), user("Hi"), hm] }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Histories
// -------------------------------------------------------------------------------------------------------------------

const histories: ReadonlyArray<Row> = [
  onMessages(
    "signed-thinking-in-history",
    from("bitrouter/bitrouter", 592, "blocks of thinking come back with the signature of another vendor"),
    ends,
    {
      thinking: { type: "enabled", budget_tokens: 2048 },
      messages: [
        user("Weather?"),
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm", signature: "c2ln" },
            { type: "redacted_thinking", data: "gAAA" },
            { type: "tool_use", id: "t1", name: "look", input: { city: "Ulm" } }
          ]
        },
        user([{ type: "tool_result", tool_use_id: "t1", content: "sunny" }]),
        hm
      ],
      tools: offers("look")
    },
    { asked: "Hm", tools: ["look"], sees: ["sunny"] }
  ),
  onMessages(
    "thinking-alone-in-a-turn",
    from("dev2k6/command-code-proxy-server", 10, "a cancelled turn has reasoning and nothing else"),
    ends,
    {
      messages: [
        user("Weather?"),
        { role: "assistant", content: [{ type: "thinking", thinking: "Hm", signature: "" }] },
        hm
      ]
    }
  ),
  onMessages(
    "empty-turn-of-the-assistant",
    from("envoyproxy/ai-gateway", 2208, "turns of the assistant have an empty list"),
    ends,
    { messages: [user("Weather?"), { role: "assistant", content: [] }, hm] }
  ),
  onMessages(
    "prefilled-answer",
    page(
      "https://platform.claude.com/docs/en/build-with-claude/prompt-engineering/prefill-claudes-response",
      "a prefilled answer"
    ),
    refusal,
    { messages: [user("Weather?"), { role: "assistant", content: "It is" }] },
    { asked: undefined, sees: ["Weather?", "It is"] }
  ),
  onMessages(
    "search-of-the-vendor-in-history",
    from("BasedHardware/omi", 10616, "a turn that was paused has a search of the vendor"),
    ends,
    {
      messages: [
        user("Weather?"),
        {
          role: "assistant",
          content: [
            { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "Ulm" } },
            {
              type: "web_search_tool_result",
              tool_use_id: "srv_1",
              content: [{ type: "web_search_result", title: "Ulm", url: "https://a.test", encrypted_content: "x" }]
            },
            { type: "text", text: "Sunny.", citations: [{ type: "web_search_result_location", url: "https://a.test" }] }
          ]
        },
        hm
      ]
    },
    { asked: "Hm", sees: ["Sunny."] }
  ),
  onMessages(
    "mcp-of-the-vendor-in-history",
    from("UKGovernmentBEIS/inspect_ai", 2354, "blocks of MCP come back in the history"),
    ends,
    {
      mcp_servers: [{ type: "url", url: "https://a.test/mcp", name: "wiki" }],
      messages: [
        user("Weather?"),
        {
          role: "assistant",
          content: [
            { type: "mcp_tool_use", id: "mcp_1", name: "weather", server_name: "wiki", input: {} },
            {
              type: "mcp_tool_result",
              tool_use_id: "mcp_1",
              is_error: false,
              content: [{ type: "text", text: "sun" }]
            },
            { type: "text", text: "Sunny." }
          ]
        },
        hm
      ]
    }
  ),
  onMessages(
    "failed-result-without-content",
    page(
      "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
      "a result may have no content"
    ),
    ends,
    {
      messages: [
        user("Weather?"),
        { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "look", input: {} }] },
        user([{ type: "tool_result", tool_use_id: "t1", is_error: true }]),
        hm
      ]
    },
    { asked: "Hm", sees: ['"isError":true'] }
  ),
  onChat(
    "function-role",
    from("Continuum-AI-Corp/OrcaRouter-Lite", 131, "agents use functions, function_call and the role function"),
    refusal,
    {
      messages: [
        user("Weather?"),
        { role: "assistant", content: null, function_call: { name: "look", arguments: '{"city":"Ulm"}' } },
        { role: "function", name: "look", content: "sunny" },
        hm
      ],
      functions: [{ name: "look", description: "Looks.", parameters: schema }],
      function_call: { name: "look" }
    },
    { asked: "Hm", tools: ["look"], sees: ["sunny", '"toolChoice"'] }
  ),
  onChat(
    "function-call-auto",
    page("https://platform.openai.com/docs/api-reference/chat/create", "function_call may be auto or none"),
    refusal,
    { messages: [hm], functions: [{ name: "look", parameters: schema }], function_call: "none" },
    { asked: "Hm" }
  ),
  onChat(
    "empty-text-with-calls",
    from("router-for-me/CLIProxyAPI", 749, "a turn with calls has an empty text"),
    ends,
    {
      messages: [
        user("Weather?"),
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "" } }]
        },
        { role: "tool", tool_call_id: "c1", content: "" },
        hm
      ],
      tools: [look]
    },
    { asked: "Hm", tools: ["look"] }
  ),
  onChat(
    "fields-within-messages",
    from("danny-avila/LibreChat", 4866, "messages have names, and the instructions have one, too"),
    refusal,
    {
      messages: [
        { role: "system", name: "instructions", content: "Be brief." },
        {
          role: "user",
          name: "Max Müller",
          id: 1_947_269_257,
          opts: { visible: false },
          content: "Hm",
          refusal: null,
          annotations: [],
          audio: null
        }
      ]
    },
    { asked: "Hm", sees: ["Be brief."] }
  ),
  onChat(
    "answer-with-all-fields",
    from("vllm-project/vllm", 10463, "clients send fields of answers back with their history"),
    ends,
    {
      messages: [
        user("Weather?"),
        {
          role: "assistant",
          content: "Sunny.",
          refusal: null,
          annotations: [
            { type: "url_citation", url_citation: { url: "https://a.test", title: "A", start_index: 0, end_index: 1 } }
          ],
          audio: { id: "audio_1" },
          reasoning: "Hm",
          reasoning_details: [{ type: "reasoning.encrypted", data: "x" }],
          tool_calls: null,
          function_call: null
        },
        hm
      ]
    },
    { asked: "Hm", sees: ["Sunny."] }
  ),
  onChat(
    "several-results-and-parts",
    from("leookun/cursor-byok", 307, "a text comes between the calls and their results"),
    ends,
    {
      messages: [
        user("Weather?"),
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "c1", type: "function", function: { name: "look", arguments: "{}" } },
            { id: "c2", type: "function", function: { name: "wait", arguments: "{}" } }
          ]
        },
        { role: "assistant", content: "I look." },
        { role: "tool", tool_call_id: "c2", content: [{ type: "text", text: "waited" }] },
        { role: "tool", tool_call_id: "c1", name: "look", content: "sunny" },
        hm
      ],
      tools: [look, wait]
    },
    { asked: "Hm", sees: ["waited", "sunny"] }
  ),
  onChat(
    "responses-body",
    from("Soju06/codex-lb", 833, "Cursor sends the body of Responses to Chat Completions"),
    refusal,
    {
      messages: [],
      input: [
        { role: "system", content: "You are an agent." },
        { type: "message", role: "user", content: [{ type: "input_text", text: "Weather?" }] },
        { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "sunny" },
        { role: "user", content: [{ type: "input_text", text: "Hm" }] }
      ],
      tools: [flat("look")],
      reasoning: { effort: "medium", summary: "auto" },
      text: { verbosity: "low" },
      store: false,
      include: ["reasoning.encrypted_content"],
      stream_options: { include_usage: true }
    },
    { asked: "Hm", tools: ["look"], sees: ["sunny"] }
  ),
  onResponses(
    "items-of-the-vendor-in-history",
    from("automazeio/vibeproxy", 456, "calls of pictures, with an action of their own, come back in the input"),
    ends,
    {
      input: [
        user("Weather?"),
        { type: "image_generation_call", id: "i1", status: "completed", result: "aGk=", action: "generate" },
        { type: "mcp_list_tools", id: "l1", server_label: "wiki", tools: [] },
        {
          type: "mcp_call",
          id: "m1",
          server_label: "wiki",
          name: "weather",
          arguments: "{}",
          output: "sun",
          error: null
        },
        { type: "mcp_approval_request", id: "a1", server_label: "wiki", name: "weather", arguments: "{}" },
        { type: "mcp_approval_response", approval_request_id: "a1", approve: true },
        { type: "file_search_call", id: "fs1", queries: ["Ulm"], status: "completed", results: null },
        {
          type: "computer_call",
          id: "cc1",
          call_id: "c9",
          action: { type: "wait" },
          pending_safety_checks: [],
          status: "completed"
        },
        {
          type: "computer_call_output",
          call_id: "c9",
          output: { type: "computer_screenshot", image_url: `data:image/png;base64,${png}` }
        },
        hm
      ]
    }
  ),
  onResponses(
    "answer-with-refusal-and-phases",
    page("https://platform.openai.com/docs/api-reference/responses/create", "messages have phases and refusals"),
    ends,
    {
      input: [
        user("Weather?"),
        {
          type: "message",
          role: "assistant",
          phase: "commentary",
          content: [{ type: "output_text", text: "I look.", annotations: [], logprobs: [] }]
        },
        { type: "message", role: "assistant", phase: "final_answer", content: [{ type: "refusal", refusal: "No." }] },
        hm
      ]
    },
    { asked: "Hm", sees: ["I look.", "No."] }
  ),
  onResponses(
    "parallel-calls-with-reasoning",
    from("vercel/ai", 14842, "two messages have reasoning with the same id"),
    ends,
    {
      store: false,
      input: [
        user("Weather?"),
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" },
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm" }], encrypted_content: null },
        { type: "function_call", id: "fc_1", call_id: "c1", name: "look", arguments: "{}", status: "completed" },
        { type: "function_call", id: "fc_2", call_id: "c2", name: "wait", arguments: "{}", status: "completed" },
        { type: "function_call_output", id: null, call_id: "c1", output: "sunny", status: null },
        { type: "function_call_output", call_id: "c2", output: { text: "waited" } },
        hm
      ],
      tools: [flat("look"), flat("wait")]
    },
    { asked: "Hm", tools: ["look", "wait"], sees: ["sunny", "waited"] }
  ),
  onResponses(
    "numbers-and-null-as-output",
    page(
      "https://platform.openai.com/docs/guides/function-calling",
      "the output of a function is a text; a probe of ours"
    ),
    ends,
    {
      input: [
        user("Weather?"),
        { type: "function_call", call_id: "c1", name: "look", arguments: { city: "Ulm" } },
        { type: "function_call_output", call_id: "c1", output: 21 },
        { type: "function_call", call_id: "c2", name: "look", arguments: null },
        { type: "function_call_output", call_id: "c2", output: null },
        hm
      ],
      tools: [flat("look")]
    },
    { asked: "Hm", tools: ["look"], sees: ["21"] }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Tools and choices
// -------------------------------------------------------------------------------------------------------------------

const choicePage = page("https://platform.openai.com/docs/guides/function-calling", "the forms of a choice")

const toolForms: ReadonlyArray<Row> = [
  onChat(
    "tool-choice-of-allowed-tools",
    choicePage,
    ignored,
    {
      messages: [hm],
      tools: [look, wait],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "look" } }] }
      }
    },
    { asked: "Hm", tools: ["look"], sees: ['"required"'] }
  ),
  onResponses(
    "tool-choice-of-allowed-tools",
    choicePage,
    ignored,
    {
      input: "Hm",
      tools: [flat("look"), flat("wait")],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "wait" }] }
    },
    { asked: "Hm", tools: ["wait"] }
  ),
  onResponses(
    "tool-choice-as-an-object",
    from("MiXaiLL76/auto_ai_router", 191, "required is the type of an object"),
    refusal,
    { input: "Hm", tools: [flat("look")], tool_choice: { type: "required" } },
    { asked: "Hm", tools: ["look"], sees: ['"required"'] }
  ),
  onResponses(
    "tool-choice-by-name",
    choicePage,
    ignored,
    { input: "Hm", tools: [flat("look"), flat("wait")], tool_choice: { type: "function", name: "look" } },
    { asked: "Hm", sees: ['"toolChoice":{', '"look"'] }
  ),
  onResponses(
    "tool-choice-of-a-vendors-tool",
    from("NousResearch/hermes-agent", 19505, "a picture tool of the vendor is chosen, and is not in the tools"),
    "The model is not bound to what the client demands.",
    { input: "Hm", tools: [flat("look")], tool_choice: { type: "image_generation" } },
    { status: 400, says: ["tool_choice"], asked: undefined }
  ),
  onMessages(
    "tool-choice-by-name",
    page("https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use", "the forms of a choice"),
    ignored,
    {
      messages: [hm],
      tools: offers("look", "wait"),
      tool_choice: { type: "tool", name: "wait", disable_parallel_tool_use: true }
    },
    { asked: "Hm", sees: ['"wait"', '"parallelToolCalls":false'] }
  ),
  onMessages(
    "tool-choice-as-text",
    from("Alishahryar1/free-claude-code", 1203, "an unknown choice became auto without a word"),
    ignored,
    { messages: [hm], tools: offers("look"), tool_choice: "required" },
    { asked: "Hm", sees: ['"required"'] }
  ),
  onMessages(
    "tool-choice-of-an-unknown-word",
    from("Alishahryar1/free-claude-code", 1203, "an unknown choice became auto without a word"),
    ignored,
    { messages: [hm], tools: offers("look"), tool_choice: { type: "sometimes" } },
    { status: 400, says: ["tool_choice"], asked: undefined }
  ),
  onMessages(
    "tool-with-a-type",
    page(
      "https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview",
      "tools of the client and of the vendor"
    ),
    refusal,
    {
      messages: [hm],
      tools: [
        {
          type: "custom",
          ...offers("look")[0],
          strict: true,
          allowed_callers: ["direct"],
          input_examples: [{ city: "Ulm" }]
        },
        { type: "web_search_20250305", name: "web_search", max_uses: 5, allowed_domains: ["a.test"] },
        { type: "code_execution_20250825", name: "code_execution" },
        { type: "memory_20250818", name: "memory" }
      ]
    },
    { asked: "Hm" }
  ),
  onMessages(
    "tool-of-a-shell",
    page(
      "https://platform.claude.com/docs/en/agents-and-tools/tool-use/bash-tool",
      "bash and the editor run at the client"
    ),
    "The client offers tools that it runs, and the model hears of none.",
    {
      messages: [hm],
      tools: [
        { type: "bash_20250124", name: "bash" },
        { type: "text_editor_20250728", name: "str_replace_based_edit_tool", max_characters: 10_000 }
      ]
    },
    { asked: "Hm", tools: ["bash", "str_replace_based_edit_tool"] }
  ),
  onResponses(
    "tool-with-a-grammar",
    page("https://platform.openai.com/docs/guides/function-calling#custom-tools", "a free-form tool has a grammar"),
    "The model does not hear of the grammar.",
    {
      input: "Hm",
      tools: [
        {
          type: "custom",
          name: "patch",
          description: "Patches.",
          format: { type: "grammar", syntax: "lark", definition: 'start: "x"' }
        },
        { type: "custom", name: "note", format: { type: "text" } }
      ]
    },
    { asked: "Hm", tools: ["patch", "note"], sees: ["start:"] }
  ),
  onChat(
    "tool-with-a-grammar",
    page(
      "https://platform.openai.com/docs/api-reference/chat/create",
      "a free-form tool of Chat Completions has a grammar"
    ),
    "The model does not hear of the grammar.",
    {
      messages: [hm],
      tools: [
        {
          type: "custom",
          custom: { name: "patch", format: { type: "grammar", grammar: { syntax: "regex", definition: "x+" } } }
        }
      ],
      tool_choice: { type: "custom", custom: { name: "patch" } }
    },
    { asked: "Hm", tools: ["patch"], sees: ["x+"] }
  ),
  onResponses(
    "tools-of-the-vendor",
    page("https://platform.openai.com/docs/guides/tools", "the tools that OpenAI runs"),
    refusal,
    {
      input: "Hm",
      tools: [
        { type: "web_search", filters: { allowed_domains: ["a.test"] }, search_context_size: "low" },
        { type: "file_search", vector_store_ids: ["vs_1"] },
        { type: "code_interpreter", container: { type: "auto" } },
        { type: "image_generation" },
        { type: "mcp", server_label: "wiki", server_url: "https://a.test/mcp", require_approval: "never" },
        flat("look")
      ],
      tool_choice: "auto",
      parallel_tool_calls: null
    },
    { asked: "Hm", tools: ["look"] }
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Settings
// -------------------------------------------------------------------------------------------------------------------

const chatPage = page("https://platform.openai.com/docs/api-reference/chat/create", "the settings of a request")
const responsesPage = page(
  "https://platform.openai.com/docs/api-reference/responses/create",
  "the settings of a request"
)

const answered = (answer: string, row: RequestRow): RequestRow => ({ ...row, answer })

const answer = {
  type: "object",
  properties: { ok: { type: "boolean" } },
  required: ["ok"],
  additionalProperties: false
}

const settings: ReadonlyArray<Row> = [
  onChat(
    "all-preferences",
    chatPage,
    refusal,
    {
      messages: [{ role: "developer", content: "Be brief." }, hm],
      frequency_penalty: 0,
      presence_penalty: 0,
      logit_bias: null,
      logprobs: false,
      top_logprobs: null,
      max_completion_tokens: 99,
      n: 1,
      seed: 7,
      service_tier: "auto",
      stop: ["END", "STOP"],
      store: false,
      temperature: 0.5,
      top_p: 1,
      user: "u1",
      safety_identifier: "s1",
      prompt_cache_key: "k1",
      prompt_cache_retention: "24h",
      verbosity: "low",
      reasoning_effort: "minimal",
      metadata: { a: "b" },
      modalities: ["text"],
      prediction: null,
      parallel_tool_calls: true,
      stream: false,
      stream_options: null,
      web_search_options: null
    },
    { asked: "Hm", sees: ["Be brief.", '"temperature":0.5', '"maxOutputTokens":99'] }
  ),
  onChat(
    "prompt-cache-key-of-true",
    from("bestruirui/octopus", 167, "a key of the cache has a type that a gateway does not expect"),
    refusal,
    { messages: [hm], prompt_cache_key: true, parallel_tool_calls: "true" }
  ),
  onChat(
    "numbers-as-texts",
    page(
      "https://platform.openai.com/docs/api-reference/chat/create",
      "clients of forms send numbers as texts; a probe of ours"
    ),
    refusal,
    { messages: [hm], temperature: "0.5", max_tokens: "99", stream: "false", seed: "7" },
    { asked: "Hm", sees: ['"temperature":0.5', '"maxOutputTokens":99'] }
  ),
  onChat("many-stops", chatPage, refusal, { messages: [hm], stop: ["1", "2", "3", "4", "5", "6"] }, { asked: "Hm" }),
  onChat(
    "several-answers",
    chatPage,
    "The client gets fewer answers than it has asked for.",
    { messages: [hm], n: 2 },
    { status: 400, says: ["n "], asked: undefined }
  ),
  onChat(
    "probabilities",
    chatPage,
    "The client gets an answer without the probabilities that it needs.",
    { messages: [hm], logprobs: true, top_logprobs: 5 },
    { status: 400, says: ["logprobs"], asked: undefined }
  ),
  answered(
    '{"ok":true}',
    onChat(
      "json-object",
      chatPage,
      ignored,
      { messages: [user("Hm, as JSON")], response_format: { type: "json_object" } },
      { asked: undefined, sees: ['"output"'] }
    )
  ),
  answered(
    '{"ok":true}',
    onChat(
      "json-schema-of-null-strict",
      from("diegosouzapw/OmniRoute", 5933, "a schema of the answer comes in the form of Chat Completions"),
      ignored,
      {
        messages: [hm],
        response_format: {
          type: "json_schema",
          json_schema: { name: "answer", strict: null, description: null, schema: answer }
        }
      },
      { asked: undefined, sees: ['"ok"'] }
    )
  ),
  answered(
    '{"ok":true}',
    onResponses(
      "json-schema-without-a-name",
      from("jamesrochabrun/SwiftOpenAI", 151, "the format of the text has no name"),
      refusal,
      { input: "Hm", text: { format: { type: "json_schema", schema: answer }, verbosity: "low" } },
      { asked: undefined, sees: ['"ok"'] }
    )
  ),
  onResponses(
    "format-as-text",
    from("openai/openai-agents-python", 2017, "the format of the text is a word"),
    refusal,
    { input: "Hm", text: { format: "text", verbosity: "low" } }
  ),
  answered(
    '{"ok":true}',
    onResponses(
      "json-object",
      from("justlovemaki/AIClient2API", 460, "the format of json_object crashes a converter"),
      ignored,
      { input: "Hm, as JSON", text: { format: { type: "json_object" } } },
      { asked: undefined, sees: ['"output"'] }
    )
  ),
  onResponses("nulls-everywhere", from("openai/gpt-oss", 300, "optional fields are null"), refusal, {
    input: "Hm",
    instructions: null,
    tools: null,
    tool_choice: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: null,
    parallel_tool_calls: null,
    previous_response_id: null,
    prompt: null,
    reasoning: null,
    service_tier: null,
    store: null,
    stream: null,
    stream_options: null,
    temperature: null,
    text: null,
    top_logprobs: null,
    top_p: null,
    truncation: null,
    user: null,
    background: null,
    conversation: null,
    include: null
  }),
  onResponses(
    "all-preferences",
    responsesPage,
    refusal,
    {
      input: "Hm",
      instructions: "Be brief.",
      include: [
        "reasoning.encrypted_content",
        "web_search_call.action.sources",
        "computer_call_output.output.image_url"
      ],
      max_tool_calls: 5,
      prompt_cache_key: "k1",
      prompt_cache_retention: "24h",
      safety_identifier: "s1",
      service_tier: "flex",
      store: true,
      truncation: "auto",
      top_p: 0.9,
      stream_options: { include_obfuscation: false },
      reasoning: { effort: "xhigh", summary: "detailed", generate_summary: null },
      context_management: [{ type: "compaction", compact_threshold: 100_000 }],
      metadata: { a: "b" }
    },
    { asked: "Hm", sees: ["Be brief."] }
  ),
  onResponses(
    "instructions-as-messages",
    page(
      "https://github.com/openai/openai-openapi",
      "the instructions of a response are given back as a list of messages"
    ),
    refusal,
    {
      input: "Hm",
      instructions: [{ type: "message", role: "developer", content: [{ type: "input_text", text: "Be brief." }] }]
    },
    { asked: "Hm", sees: ["Be brief."] }
  ),
  onResponses(
    "unknown-previous-response",
    responsesPage,
    "A client that cannot tell that a response is gone never sends the whole conversation.",
    { input: "Hm", previous_response_id: "resp_0123456789abcdef" },
    { status: 400, says: ["previous_response_not_found"], asked: undefined }
  ),
  onResponses(
    "stored-prompt",
    page("https://platform.openai.com/docs/guides/prompting", "a prompt that is stored at the vendor"),
    "The instructions of the prompt are lost without a word.",
    { input: "Hm", prompt: { id: "pmpt_1", version: "2", variables: { city: "Ulm" } } },
    { status: 400, says: ["prompt"], asked: undefined }
  ),
  onMessages(
    "all-preferences",
    page("https://platform.claude.com/docs/en/api/messages", "the settings of a request"),
    refusal,
    {
      system: "Be brief.",
      messages: [hm],
      temperature: 1,
      top_p: 0.9,
      top_k: 40,
      stop_sequences: ["END"],
      service_tier: "standard_only",
      metadata: { user_id: null },
      container: null,
      inference_geo: "eu",
      speed: "fast",
      stream: false,
      context_management: null,
      output_config: { effort: "medium" }
    },
    { asked: "Hm", sees: ["Be brief."] }
  ),
  answered(
    '{"ok":true}',
    onMessages(
      "json-schema",
      page("https://platform.claude.com/docs/en/build-with-claude/structured-outputs", "the format of an answer"),
      ignored,
      { messages: [hm], output_format: { type: "json_schema", schema: answer } },
      { asked: undefined, sees: ['"ok"'] }
    )
  )
]

// -------------------------------------------------------------------------------------------------------------------
// Paths and headers
// -------------------------------------------------------------------------------------------------------------------

interface Sent {
  readonly name: string
  readonly source: Source
  readonly why: string
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
  readonly expected: RequestRow["expected"]
}

const sent = (
  wire: "chat" | "messages" | "responses",
  { body, expected, headers, method, name, path, source, why }: Sent
): RequestRow => ({
  id: `${wire}/request/${name}`,
  protocol: wire,
  direction: "request",
  class: "path",
  source,
  why,
  request: {
    path,
    ...(method !== undefined && { method }),
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) })
  },
  expected
})

const asksHm = { model: "divisi", messages: [hm] }
const asksClaude = { ...asksHm, max_tokens: 99 }
const hears = { status: 200, asked: "Hm" }
const says = (status: number, ...words: ReadonlyArray<string>) => ({ status, says: words, isLocal: true })

const discovery = from("raine/claude-code-proxy", 60, "Claude Code asks for the models of a gateway")

const pathForms: ReadonlyArray<Row> = [
  sent("messages", {
    name: "path-with-beta",
    source: from("Mesh-LLM/mesh-llm", 1906, "Claude Code adds beta to the query of each request"),
    why: refusal,
    path: "/v1/messages?beta=true",
    headers: {
      "anthropic-beta": "claude-code-20250219,oauth-2025-04-20,unheard-of-2030-01-01",
      "anthropic-version": "2023-06-01"
    },
    body: asksClaude,
    expected: hears
  }),
  sent("messages", {
    name: "path-without-version-header",
    source: from("kekzl/imp", 1562, "a request has no header of the version"),
    why: "A client that leaves the header out gets nothing but errors.",
    path: "/v1/messages",
    body: asksClaude,
    expected: hears
  }),
  sent("messages", {
    name: "path-with-an-unknown-version",
    source: from("sseshachala/conductai", 2179, "the header of the version has a date that Anthropic does not know"),
    why: "A date that changes nothing fails each request.",
    path: "/v1/messages",
    headers: { "anthropic-version": "2024-10-22" },
    body: asksClaude,
    expected: hears
  }),
  sent("messages", {
    name: "path-twice",
    source: from("MCPJam/inspector", 2992, "the path of a request has the version twice"),
    why: "The user does not learn which part of the URL is wrong.",
    path: "/v1/v1/messages?beta=true",
    body: asksClaude,
    expected: says(404, "/v1/messages", "must not end in /v1")
  }),
  sent("messages", {
    name: "path-within-a-path",
    source: from("justlovemaki/AIClient2API", 336, "the whole path is in the base URL, and comes twice"),
    why: "The user does not learn which part of the URL is wrong.",
    path: "/v1/messages/v1/messages",
    body: asksClaude,
    expected: says(404, "/v1/messages")
  }),
  sent("messages", {
    name: "path-without-version",
    source: from("anthropics/anthropic-sdk-typescript", 336, "a client sends messages to a path without a version"),
    why: "The user does not learn which part of the URL is wrong.",
    path: "/messages",
    body: asksClaude,
    expected: says(404, "/v1/messages")
  }),
  sent("chat", {
    name: "path-with-a-slash-at-the-end",
    source: from("langchain-ai/langserve", 304, "a path ends with a slash"),
    why: "A redirect makes a GET of the request, or the body is lost.",
    path: "/v1/chat/completions/",
    body: asksHm,
    expected: hears
  }),
  sent("chat", {
    name: "path-with-two-slashes",
    source: from("BerriAI/litellm", 8350, "the base URL ends with a slash, and the path begins with one"),
    why: "A slash too many fails each request.",
    path: "/v1//chat/completions",
    body: asksHm,
    expected: hears
  }),
  sent("chat", {
    name: "path-with-slashes-in-front",
    source: from("open-webui/open-webui", 16749, "a slash at the end of a base URL is not removed"),
    why: "A slash too many fails each request.",
    path: "//v1/chat/completions",
    body: asksHm,
    expected: hears
  }),
  sent("chat", {
    name: "path-without-version",
    source: from(
      "ITSpecialist111/ai_automation_suggester",
      122,
      "a client has the version fixed in its URL, or leaves it out"
    ),
    why: "The user does not learn which part of the URL is wrong.",
    path: "/chat/completions",
    body: asksHm,
    expected: says(404, "/v1/chat/completions")
  }),
  sent("chat", {
    name: "path-with-version-twice",
    source: from("AgentsKit-io/agentskit", 1009, "adapters add a version to a URL that has one"),
    why: "The user does not learn which part of the URL is wrong.",
    path: "/v1/v1/chat/completions",
    body: asksHm,
    expected: says(404, "/v1/chat/completions")
  }),
  sent("responses", {
    name: "path-within-chat",
    source: from("cloudflare/cloudflare-docs", 22907, "the path of Chat Completions is in the base URL"),
    why: "The user does not learn which part of the URL is wrong.",
    path: "/v1/chat/completions/responses",
    body: { model: "divisi", input: "Hm" },
    expected: says(404, "/v1/")
  }),
  sent("messages", {
    name: "count-tokens-with-beta",
    source: from("BerriAI/litellm", 13252, "Claude Code counts tokens with beta in the query"),
    why: "The client cannot see how full its context is.",
    path: "/v1/messages/count_tokens?beta=true",
    body: { model: "divisi", system: [{ type: "text", text: "Be brief." }], messages: [hm], tools: offers("look") },
    expected: says(200, "input_tokens")
  }),
  sent("messages", {
    name: "count-tokens-with-all-fields",
    source: from("ding113/claude-code-hub", 1364, "requests to count tokens have other fields than messages"),
    why: refusal,
    path: "/v1/messages/count_tokens",
    body: {
      ...asksHm,
      thinking: { type: "adaptive" },
      tool_choice: { type: "auto" },
      context_management: { edits: [] },
      mcp_servers: [],
      output_config: { effort: "high" },
      betas: ["token-counting-2024-11-01"]
    },
    expected: says(200, "input_tokens")
  }),
  sent("messages", {
    name: "count-tokens-of-no-messages",
    source: from("Wei-Shaw/claude-relay-service", 731, "an extension counts tools one by one when it starts"),
    why: "Dozens of requests fail when the editor starts.",
    path: "/v1/messages/count_tokens",
    body: { model: "divisi", messages: [{ role: "user", content: "" }], tools: offers("look") },
    expected: says(200, "input_tokens")
  }),
  sent("chat", {
    name: "models-of-openai",
    source: page("https://platform.openai.com/docs/api-reference/models/list", "the list of models"),
    why: "A client cannot offer a choice.",
    path: "/v1/models",
    method: "GET",
    expected: says(200, '"object":"list"', '"id":"divisi"')
  }),
  sent("messages", {
    name: "models-of-anthropic",
    source: from("BerriAI/litellm", 35455, "Anthropic's clients read the names and pages of the models"),
    why: "A client cannot offer a choice.",
    path: "/v1/models?limit=1000",
    method: "GET",
    headers: { "anthropic-version": "2023-06-01", "x-api-key": "none" },
    expected: says(200, '"display_name"', '"has_more"', '"first_id"', '"type":"model"')
  }),
  sent("messages", {
    name: "models-by-name",
    source: discovery,
    why: "A client that checks its model finds none.",
    path: "/v1/models/divisi",
    method: "GET",
    headers: { "anthropic-version": "2023-06-01" },
    expected: says(200, '"id":"divisi"', '"display_name"')
  }),
  sent("chat", {
    name: "models-with-a-slash",
    source: from("sigoden/aichat", 767, "a base URL ends with a slash"),
    why: "A client cannot offer a choice.",
    path: "/v1/models/",
    method: "GET",
    expected: says(200, '"id":"divisi"')
  }),
  sent("chat", {
    name: "models-of-google",
    source: page("https://ai.google.dev/api/models", "the list of Google's models"),
    why: "The user does not learn which API this is.",
    path: "/v1beta/models?key=none",
    method: "GET",
    headers: { "x-goog-api-key": "none" },
    expected: says(404, "Gemini")
  }),
  sent("chat", {
    name: "path-of-google",
    source: from("google-gemini/gemini-cli", 10086, "the base URL of a Gemini client is another server"),
    why: "The user does not learn which API this is.",
    path: "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse&key=none",
    body: { contents: [{ parts: [{ text: "Hm" }] }] },
    expected: says(404, "Gemini")
  }),
  sent("messages", {
    name: "head-of-the-root",
    source: from("headroomlabs-ai/headroom", 2032, "Claude Code checks that the base URL answers HEAD"),
    why: "The client takes the server for one that is down.",
    path: "/",
    method: "HEAD",
    expected: { status: 200, isLocal: true }
  }),
  sent("messages", {
    name: "head-of-hello",
    source: from("router-for-me/CLIProxyAPI", 5905, "Claude Code checks /api/hello before it connects"),
    why: "The client takes the server for one that is down, and logs fill with errors.",
    path: "/api/hello",
    method: "HEAD",
    expected: { status: 200, isLocal: true }
  }),
  sent("messages", {
    name: "head-of-models",
    source: from("headroomlabs-ai/headroom", 2035, "clients ask for heads of paths that are read"),
    why: "The client takes the server for one that is down.",
    path: "/v1/models",
    method: "HEAD",
    expected: { status: 200, isLocal: true }
  }),
  sent("messages", {
    name: "get-of-messages",
    source: from("Alishahryar1/free-claude-code", 113, "a path is read that takes POST alone"),
    why: "The client does not learn which method the path takes.",
    path: "/v1/messages",
    method: "GET",
    expected: says(405, "POST")
  }),
  sent("chat", {
    name: "options-of-chat",
    source: page("https://www.rfc-editor.org/rfc/rfc9110#name-options", "OPTIONS gives the methods of a path"),
    why: "The client does not learn which method the path takes.",
    path: "/v1/chat/completions",
    method: "OPTIONS",
    expected: says(405, "POST")
  })
]

/** The rows. */
export const clientRequests: ReadonlyArray<Row> = [...parts, ...histories, ...toolForms, ...settings, ...pathForms]
