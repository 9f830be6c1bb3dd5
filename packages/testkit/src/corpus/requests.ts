/** Requests that clients were observed to send to servers that implement a vendor protocol. */
import { gzipSync, zstdCompressSync } from "node:zlib"
import type { Protocol, RequestRow, Row, Source } from "./Row.ts"

/** Fields shared by the requests of each protocol. */
const bodies = {
  chat: { model: "divisi", messages: [{ role: "user", content: "Hm" }] },
  responses: { model: "divisi", input: "Hm" },
  messages: { model: "divisi", max_tokens: 99, messages: [{ role: "user", content: "Hm" }] }
} as const

const paths = { chat: "/v1/chat/completions", responses: "/v1/responses", messages: "/v1/messages" } as const

type Wire = keyof typeof bodies & Protocol

interface Sent extends Pick<RequestRow, "class" | "source" | "why"> {
  readonly name: string
  readonly wire: Wire
  readonly body: object
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly encode?: ((text: string) => Uint8Array) | undefined
  readonly expected?: Partial<RequestRow["expected"]> | undefined
}

const row = ({ body, class: kind, encode, expected, headers, name, source, why, wire }: Sent): Row => {
  const text = JSON.stringify({ ...bodies[wire], ...body })
  return {
    id: `${wire}/request/${name}`,
    protocol: wire,
    direction: "request",
    class: kind,
    source,
    why,
    request: { path: paths[wire], headers, body: encode === undefined ? text : encode(text) },
    expected: { status: 200, ...expected }
  }
}

const from = (repository: string, number: number, subject: string): Source => ({ repository, number, subject })

const schema = { type: "object", properties: { city: { type: "string" } } }

const call = { id: "c1", type: "function", function: { name: "look", arguments: '{"city":"Rome"}' } }

const look = { type: "function", function: { name: "look", parameters: schema } }

/**
 * Returns a body preceded by 80 MiB of spaces, compressed as consecutive gzip members. Only 1 MiB is compressed, and
 * its result is repeated.
 */
const bomb = (text: string): Uint8Array => {
  const spaces = gzipSync(" ".repeat(2 ** 20))
  return Buffer.concat([...Array.from({ length: 80 }, () => spaces), gzipSync(text)])
}

const compressed = from(
  "agentgateway/agentgateway",
  2402,
  "the reader of requests takes compressed bodies for broken JSON"
)

export const requests: ReadonlyArray<Row> = [
  row({
    name: "null-content-with-calls",
    wire: "chat",
    class: "null-and-lists",
    source: from("mistralai/mistral-common", 324, "a turn that only calls tools has a content of null, and is refused"),
    why: "A turn that only calls tools has no content: null is how OpenAI's own clients write it.",
    body: {
      messages: [
        { role: "user", content: "Weather?" },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c1", content: "sunny" },
        { role: "user", content: "And now?" }
      ]
    },
    expected: { asked: "And now?" }
  }),
  row({
    name: "empty-assistant-turn",
    wire: "chat",
    class: "null-and-lists",
    source: from("tashfeenahmed/freellmapi", 165, "turns of the assistant without content and calls are refused"),
    why: "Clients send back turns that came out empty; OpenAI takes them.",
    body: {
      messages: [
        { role: "assistant", content: null },
        { role: "user", content: "Still there?" }
      ]
    },
    expected: { asked: "Still there?" }
  }),
  row({
    name: "null-fields",
    wire: "chat",
    class: "null-and-lists",
    source: from(
      "tashfeenahmed/freellmapi",
      232,
      "an explicit null for the calls of a turn is refused on session replay"
    ),
    why: "A client that serializes all fields of its types sends null for those without a value.",
    body: {
      tools: null,
      tool_choice: null,
      parallel_tool_calls: null,
      temperature: null,
      stop: null,
      messages: [
        { role: "assistant", content: "Hello.", tool_calls: null, function_call: null },
        { role: "user", content: "Hm", name: null }
      ]
    },
    expected: { asked: "Hm" }
  }),
  row({
    name: "tool-content-as-parts",
    wire: "chat",
    class: "null-and-lists",
    source: from("Neroued/ninfer", 56, "results of tools that come as a list of parts are refused"),
    why: "Agents send results of tools as parts, which OpenAI's specification allows.",
    body: {
      messages: [
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "sunny" }] },
        { role: "user", content: "Well?" }
      ]
    },
    expected: { asked: "Well?" }
  }),
  row({
    name: "tool-content-as-bytes",
    wire: "chat",
    class: "null-and-lists",
    source: from("justrach/codegraff", 99, "a resumed session sends the result of a tool as a list of numbers"),
    why: "A result of any form is passed on: a session that was saved so cannot be repaired by its user.",
    body: {
      messages: [
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c1", content: [61, 61] },
        { role: "user", content: "Well?" }
      ]
    },
    expected: { asked: "Well?" }
  }),
  row({
    name: "user-content-as-parts",
    wire: "chat",
    class: "null-and-lists",
    source: from("penta2himajin/qwisp", 83, "a coding agent always sends lists of parts and is refused"),
    why: "Some agents never send a content as a text.",
    body: {
      messages: [
        { role: "system", content: [{ type: "text", text: "Be brief." }] },
        { role: "user", content: [{ type: "text", text: "Hm" }] }
      ]
    },
    expected: { asked: "Hm" }
  }),
  row({
    name: "null-content",
    wire: "responses",
    class: "null-and-lists",
    source: from("can1357/oh-my-pi", 10956, "messages with a content of null"),
    why: "Codex sends messages without content back.",
    body: {
      input: [
        { type: "message", role: "assistant", content: null },
        { type: "message", role: "user", content: [{ type: "input_text", text: "Hm" }] }
      ]
    },
    expected: { asked: "Hm" }
  }),
  row({
    name: "compaction-trigger",
    wire: "responses",
    class: "folding",
    source: from("Soju06/codex-lb", 971, "a trigger of compaction is passed on as a message, and Codex gets no item"),
    why: "Codex asks for a summary by an item of the input, and fails without exactly one `compaction` in the output.",
    body: { input: [{ role: "user", content: "Hm" }, { type: "compaction_trigger" }] },
    expected: { says: ['"type":"compaction"', '"encrypted_content":'] }
  }),
  row({
    name: "additional-tools",
    wire: "responses",
    class: "tools",
    source: from("mxyhi/token_proxy", 307, "Codex sends tools as an item of the input, and is refused"),
    why: "Without the tools of this item, Codex can run no command.",
    body: {
      input: [
        {
          type: "additional_tools",
          role: "developer",
          tools: [{ type: "namespace", name: "functions", tools: [{ type: "custom", name: "exec" }] }]
        },
        { role: "user", content: "Hm" }
      ]
    },
    expected: { asked: "Hm", tools: ["functions__exec"] }
  }),
  row({
    name: "additional-tools-empty",
    wire: "responses",
    class: "tools",
    source: from("10/chatgpt-codex-proxy", 9, "the item of additional tools is taken for a message without content"),
    why: "The item has a role, but it is no message.",
    body: {
      input: [
        {
          type: "additional_tools",
          role: "developer",
          id: "at_1",
          tools: [{ type: "namespace", name: "collaboration", tools: [] }]
        },
        { role: "user", content: "Hm" }
      ]
    },
    expected: { asked: "Hm", tools: [] }
  }),
  row({
    name: "local-shell-in-history",
    wire: "responses",
    class: "tools",
    source: from("ericc-ch/copilot-api", 248, "an endpoint of Responses for Codex, with its local shell"),
    why: "Calls of the local shell stand in the history in a form of their own.",
    body: {
      input: [
        { type: "local_shell_call", call_id: "c1", status: "completed", action: { type: "exec", command: ["ls"] } },
        { type: "local_shell_call_output", call_id: "c1", output: "a.txt" },
        { role: "user", content: "What did you see?" }
      ]
    },
    expected: { asked: "What did you see?" }
  }),
  row({
    name: "shell-in-history",
    wire: "responses",
    class: "tools",
    source: from("maximhq/bifrost", 2648, "the shell tool of Responses, its calls and outputs"),
    why: "Outputs of the shell are a list of runs, and no text.",
    body: {
      input: [
        { type: "shell_call", call_id: "c1", action: { commands: ["ls"] } },
        {
          type: "shell_call_output",
          call_id: "c1",
          output: [{ stdout: "a.txt", stderr: "", outcome: { type: "exit", exit_code: 0 } }]
        },
        { role: "user", content: "What did you see?" }
      ]
    },
    expected: { asked: "What did you see?" }
  }),
  row({
    name: "unknown-item",
    wire: "responses",
    class: "null-and-lists",
    source: from("mxyhi/token_proxy", 307, "strict checks of item types refuse a newer client"),
    why: "A newer client sends items that an older server does not know.",
    body: {
      input: [
        { type: "hologram", id: "h1" },
        { role: "user", content: "Hm" }
      ]
    },
    expected: { asked: "Hm" }
  }),
  row({
    name: "flat-custom-tool",
    wire: "chat",
    class: "tools",
    source: from("icebear0828/codex-proxy", 707, "Cursor sends a tool with a grammar in the flat form of Responses"),
    why: "Cursor speaks Chat Completions with tools as Responses writes them.",
    body: {
      tools: [
        { type: "custom", name: "ApplyPatch", format: { type: "grammar", syntax: "lark", definition: "start: x" } }
      ]
    },
    expected: { tools: ["ApplyPatch"] }
  }),
  row({
    name: "nested-custom-tool",
    wire: "chat",
    class: "tools",
    source: from("BerriAI/litellm", 34029, "custom tools of Chat Completions for Cursor's agent mode"),
    why: "The nested form is the one that OpenAI documents for this protocol.",
    body: { tools: [look, { type: "custom", custom: { name: "ApplyPatch" } }], tool_choice: "required" },
    expected: { tools: ["look", "ApplyPatch"] }
  }),
  row({
    name: "custom-tool",
    wire: "responses",
    class: "tools",
    source: from("router-for-me/CLIProxyAPI", 3790, "the patch tool of Codex takes text and no JSON"),
    why: "A custom tool that is dropped leaves an agent that can edit nothing, without any error.",
    body: {
      tools: [
        { type: "custom", name: "apply_patch", format: { type: "grammar", syntax: "lark", definition: "start: x" } }
      ]
    },
    expected: { tools: ["apply_patch"] }
  }),
  row({
    name: "tool-choice-none",
    wire: "messages",
    class: "tools",
    source: from("BerriAI/litellm", 24443, "a tool choice of none on Messages is answered with 500"),
    why: "Both vendors know `none`.",
    body: { tools: [{ name: "look", input_schema: schema }], tool_choice: { type: "none" } }
  }),
  row({
    name: "tool-choice-any",
    wire: "chat",
    class: "tools",
    source: from("langchain-ai/langchain", 28198, "a tool choice of any reaches a server that knows required"),
    why: "Clients that were written for another vendor keep its word.",
    body: { tools: [look], tool_choice: "any" },
    expected: { tools: ["look"] }
  }),
  row({
    name: "tool-choice-of-messages",
    wire: "chat",
    class: "tools",
    source: from("BerriAI/litellm", 3752, "how OpenAI and Anthropic write the choice of a tool"),
    why: "The choice is written as the other vendor writes it.",
    body: { tools: [look], tool_choice: { type: "tool", name: "look" } },
    expected: { tools: ["look"] }
  }),
  row({
    name: "adaptive-thinking",
    wire: "messages",
    class: "preference",
    source: from(
      "routatic/proxy",
      171,
      "Claude Code sends adaptive thinking with a budget of 0, and every model fails"
    ),
    why: "How much to think is a preference: it must not fail the request.",
    body: { thinking: { type: "adaptive", budget_tokens: 0 } }
  }),
  row({
    name: "small-thinking-budget",
    wire: "messages",
    class: "preference",
    source: from("lbjlaq/Antigravity-Manager", 1418, "a thinking budget below the vendor's minimum is refused"),
    why: "A budget that no worker takes becomes the nearest that it has, or is left out.",
    body: { max_tokens: 500, thinking: { type: "enabled", budget_tokens: 499 } }
  }),
  row({
    name: "thinking-without-budget",
    wire: "messages",
    class: "preference",
    source: from("Chevey339/kelivo", 144, "thinking without a budget is refused"),
    why: "A client that leaves the amount to the server sends none.",
    body: { thinking: { type: "enabled" } }
  }),
  row({
    name: "thinking-on-chat",
    wire: "chat",
    class: "preference",
    source: from(
      "higress-group/higress",
      4107,
      "an explicit thinking budget in a request of Chat Completions is dropped"
    ),
    why: "Clients pass Anthropic's field through OpenAI's protocol.",
    body: { max_tokens: 16_384, reasoning_effort: "high", thinking: { type: "enabled", budget_tokens: 8_192 } }
  }),
  row({
    name: "negative-token-limit",
    wire: "chat",
    class: "preference",
    source: from("open-webui/open-webui", 3121, "the maximum of tokens as a user sets it reaches the vendor"),
    why: "-1 stands for no limit in servers that came before.",
    body: { max_tokens: -1 }
  }),
  row({
    name: "gzip",
    wire: "messages",
    class: "encoding",
    source: from("agentgateway/agentgateway", 2404, "Claude Code compresses bodies above a size"),
    why: "Small requests pass and large ones fail, which looks like chance.",
    body: {},
    headers: { "content-encoding": "gzip" },
    encode: (text) => gzipSync(text)
  }),
  row({
    name: "zstd",
    wire: "responses",
    class: "encoding",
    source: from("BYK/loreai", 1049, "Codex compresses its requests with zstd by default"),
    why: "Every request of Codex fails where the body is read as it came.",
    body: {},
    headers: { "content-encoding": "zstd" },
    encode: (text) => zstdCompressSync(text)
  }),
  row({
    name: "x-gzip",
    wire: "chat",
    class: "encoding",
    source: from("fawney19/Aether", 513, "bodies in zstd, gzip, x-gzip and deflate"),
    why: "`x-gzip` is an older name of gzip.",
    body: {},
    headers: { "content-encoding": "x-gzip" },
    encode: (text) => gzipSync(text)
  }),
  row({
    name: "unknown-encoding",
    wire: "chat",
    class: "encoding",
    source: compressed,
    why: "The client has to learn that the encoding is the problem, and not its JSON.",
    body: {},
    headers: { "content-encoding": "snappy" },
    expected: { status: 415, says: ["snappy"] }
  }),
  row({
    name: "gzip-without-label",
    wire: "chat",
    class: "encoding",
    source: from("prebid/prebid-server", 4474, "a browser's client compresses bodies and names no encoding"),
    why: "A header for the encoding costs browsers a preflight request, and proxies drop it.",
    body: {},
    encode: (text) => gzipSync(text),
    expected: { asked: "Hm" }
  }),
  row({
    name: "zstd-without-label",
    wire: "messages",
    class: "encoding",
    source: from("prebid/prebid-server", 4474, "a browser's client compresses bodies and names no encoding"),
    why: "The first bytes show each format that has a magic number.",
    body: {},
    encode: (text) => zstdCompressSync(text),
    expected: { asked: "Hm" }
  }),
  row({
    name: "zstd-labelled-gzip",
    wire: "responses",
    class: "encoding",
    source: compressed,
    why: "A wrong label must not fail a body that shows what it is.",
    body: {},
    headers: { "content-encoding": "gzip" },
    encode: (text) => zstdCompressSync(text),
    expected: { asked: "Hm" }
  }),
  row({
    name: "utf-16-with-mark",
    wire: "chat",
    class: "encoding",
    source: from("PowerShell/PowerShell", 7618, "a body with Cyrillic letters is sent in another encoding than UTF-8"),
    why: "Windows writes files in UTF-16, and its shells send them as they are.",
    body: { messages: [{ role: "user", content: "Grüße, ∢ 世界" }] },
    encode: (text) => Buffer.from(`\ufeff${text}`, "utf16le"),
    expected: { asked: "Grüße, ∢ 世界" }
  }),
  row({
    name: "utf-16-without-mark",
    wire: "responses",
    class: "encoding",
    source: from("PowerShell/PowerShell", 7618, "a body with Cyrillic letters is sent in another encoding than UTF-8"),
    why: "Encoders write no byte order mark unless they are asked for one.",
    body: { input: "Grüße, ∢ 世界" },
    encode: (text) => Buffer.from(text, "utf16le"),
    expected: { asked: "Grüße, ∢ 世界" }
  }),
  row({
    name: "utf-16-big-endian",
    wire: "messages",
    class: "encoding",
    source: from("PowerShell/PowerShell", 7618, "a body with Cyrillic letters is sent in another encoding than UTF-8"),
    why: "Java's UTF-16 is big-endian.",
    body: { messages: [{ role: "user", content: "Grüße, ∢ 世界" }] },
    encode: (text) => Buffer.from(`\ufeff${text}`, "utf16le").swap16(),
    expected: { asked: "Grüße, ∢ 世界" }
  }),
  row({
    name: "latin-1",
    wire: "chat",
    class: "encoding",
    source: from("yzwijsen/chatgpt-powershell", 4, "a question with an accent is refused as invalid UTF-8"),
    why: "Windows PowerShell 5 sends each letter as a byte; read as UTF-8, the letters are lost without an error.",
    body: { messages: [{ role: "user", content: "Perché?" }] },
    encode: (text) => Buffer.from(text, "latin1"),
    expected: { asked: "Perché?" }
  }),
  row({
    name: "nul-at-the-end",
    wire: "chat",
    class: "encoding",
    source: from("langchain-ai/langsmith-sdk", 1332, "a serializer adds the NUL of a C string to its JSON"),
    why: "A byte that says nothing fails the whole request.",
    body: {},
    encode: (text) => Buffer.from(`${text}\0`),
    expected: { asked: "Hm" }
  }),
  row({
    name: "marks-around",
    wire: "responses",
    class: "encoding",
    source: from("langchain-ai/langsmith-sdk", 1332, "a serializer adds the NUL of a C string to its JSON"),
    why: "Records of JSON texts begin with a separator (RFC 7464), and blocks of a fixed size end with many NULs.",
    body: {},
    encode: (text) => Buffer.from(`\x1e${text}\r\n\0\0\0`),
    expected: { asked: "Hm" }
  }),
  row({
    name: "provider-before-the-model",
    wire: "chat",
    class: "path",
    source: from("open-webui/open-webui", 28574, "the prefix of a connection reaches the provider with the model"),
    why: "Clients name their provider before the model: it says nothing to the server.",
    body: { model: "openai/divisi" },
    expected: { asked: "Hm" }
  }),
  row({
    name: "providers-before-the-model",
    wire: "responses",
    class: "path",
    source: from("OpenHands/OpenHands", 16365, "of two prefixes before a model, a client removes one or both"),
    why: "A gateway adds its own name to that of the client.",
    body: { model: "litellm_proxy/openai/divisi-fast" },
    expected: { asked: "Hm" }
  }),
  row({
    name: "worker-behind-a-provider",
    wire: "messages",
    class: "path",
    source: from("open-webui/open-webui", 28574, "the prefix of a connection reaches the provider with the model"),
    why: "The names of workers have a slash of their own.",
    body: { model: "divisi/worker/a" },
    expected: { asked: "Hm" }
  }),
  row({
    name: "version-behind-the-model",
    wire: "chat",
    class: "path",
    source: {
      repository: "https://docs.ollama.com/api/chat",
      subject: "a model without a version is its `latest` one"
    },
    why: "Clients of Ollama write the version out.",
    body: { model: "divisi:latest" },
    expected: { asked: "Hm" }
  }),
  row({
    name: "no-model-behind-a-provider",
    wire: "chat",
    class: "path",
    source: from("open-webui/open-webui", 28574, "the prefix of a connection reaches the provider with the model"),
    why: "A worker that does not exist is never replaced by the Conductor.",
    body: { model: "worker/nobody/divisi" },
    expected: { status: 404, says: ["worker/nobody/divisi"] }
  }),
  row({
    name: "bomb",
    wire: "chat",
    class: "encoding",
    source: from("mlflow/mlflow", 24784, "a few thousand bytes of zstd grow to hundreds of megabytes"),
    why: "The size that counts is the one after decompression.",
    body: {},
    headers: { "content-encoding": "gzip" },
    encode: bomb,
    expected: { status: 413 }
  }),
  row({
    name: "bomb-without-label",
    wire: "responses",
    class: "encoding",
    source: from("mlflow/mlflow", 24784, "a few thousand bytes of zstd grow to hundreds of megabytes"),
    why: "What a body without a label grows to is bounded, too.",
    body: {},
    encode: bomb,
    expected: { status: 413 }
  })
]
