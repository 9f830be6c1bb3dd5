/**
 * Requests that coding agents sent in the middle of a task, recorded on 28 November 2026 by `pnpm clients`. Fields and
 * headers are unchanged. Message text is shortened and rewritten.
 */
import type { RequestRow, Source } from "./Row.ts"

interface Recorded {
  readonly agent: string
  readonly path: string
  readonly source: Source
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
  readonly expected: Partial<RequestRow["expected"]>
}

const protocols = { "/v1/responses": "responses", "/v1/messages": "messages", "/v1/chat/completions": "chat" } as const

const row = ({ agent, body, expected, headers, path, source }: Recorded): RequestRow => {
  const protocol = protocols[path.replace(/\?.*/, "") as keyof typeof protocols]
  return {
    id: `${protocol}/request/agent-${agent}`,
    protocol,
    direction: "request",
    class: "preference",
    source,
    why: "An agent sends all of these with each turn: one field that is refused ends its task.",
    request: { path, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) },
    expected: { status: 200, ...expected }
  }
}

const codex: Source = {
  repository: "https://www.npmjs.com/package/@openai/codex/v/0.171.0",
  subject: "Codex 0.171.0, after it has read a file"
}

const claudeCode: Source = {
  repository: "https://www.npmjs.com/package/@anthropic-ai/claude-code/v/2.1.332",
  subject: "Claude Code 2.1.332, after it has read a file"
}

const opencode: Source = {
  repository: "https://www.npmjs.com/package/opencode-ai/v/1.18.33",
  subject: "opencode 1.18.33, after it has read a file"
}

const draft = "https://json-schema.org/draft/2020-12/schema"

/** All rows with requests of coding agents. */
export const agentRequests: ReadonlyArray<RequestRow> = [
  row({
    agent: "codex",
    path: "/v1/responses",
    source: codex,
    headers: {
      "x-codex-beta-features": "remote_compaction_v2",
      "x-codex-window-id": "w-1:0",
      "x-codex-turn-metadata": '{"session_id":"s-1","request_kind":"turn"}',
      "session-id": "s-1",
      accept: "text/event-stream",
      authorization: "Bearer none",
      originator: "codex_exec",
      "user-agent": "codex_exec/0.171.0"
    },
    body: {
      model: "divisi",
      stream: true,
      input: [
        {
          type: "message",
          id: "msg_1",
          role: "developer",
          content: [{ type: "input_text", text: "Work in this folder." }]
        },
        { type: "message", id: "msg_2", role: "user", content: [{ type: "input_text", text: "The folder is /tmp." }] },
        { type: "message", id: "msg_3", role: "user", content: [{ type: "input_text", text: "Fix add.mjs." }] },
        {
          type: "reasoning",
          id: "rs_1",
          summary: [{ type: "summary_text", text: "The file first." }],
          content: null,
          encrypted_content: "gAAAAABo"
        },
        {
          type: "function_call",
          status: "completed",
          id: "fc_1",
          name: "exec_command",
          arguments: '{"cmd":"cat add.mjs"}',
          call_id: "call_1"
        },
        { type: "function_call_output", id: "fco_1", call_id: "call_1", output: "a - b" }
      ],
      tools: [
        {
          type: "function",
          name: "exec_command",
          description: "Runs a command.",
          strict: false,
          parameters: {
            type: "object",
            properties: { cmd: { type: "string" } },
            required: ["cmd"],
            additionalProperties: false
          }
        },
        {
          type: "namespace",
          name: "multi_agent_v1",
          description: "Other agents.",
          tools: [
            {
              type: "function",
              name: "close_agent",
              description: "Ends an agent.",
              strict: false,
              parameters: {
                type: "object",
                properties: { target: { type: "string" } },
                required: ["target"],
                additionalProperties: false
              }
            }
          ]
        },
        { type: "web_search", external_web_access: true }
      ],
      tool_choice: "auto",
      parallel_tool_calls: true,
      reasoning: { summary: "auto" },
      store: false,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "s-1",
      client_metadata: { turn_id: "t-1", session_id: "s-1" }
    },
    expected: { asked: "a - b", tools: ["exec_command", "multi_agent_v1__close_agent"] }
  }),
  row({
    agent: "claude-code",
    path: "/v1/messages?beta=true",
    source: claudeCode,
    headers: {
      accept: "application/json",
      authorization: "Bearer none",
      "user-agent": "claude-cli/2.1.332 (external, sdk-cli)",
      "x-claude-code-session-id": "s-1",
      "x-stainless-lang": "js",
      "x-stainless-retry-count": "0",
      "x-stainless-timeout": "600",
      "anthropic-beta":
        "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,mid-conversation-tool-changes-2026-07-01,thinking-token-count-2026-05-13,advanced-tool-use-2025-11-20,effort-2025-11-24",
      "anthropic-dangerous-direct-browser-access": "true",
      "anthropic-version": "2023-06-01",
      "x-app": "cli"
    },
    body: {
      model: "divisi",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "The folder is /tmp." },
            { type: "text", text: "Fix add.mjs." }
          ]
        },
        { role: "system", content: "Further tools can be searched for." },
        {
          role: "assistant",
          content: [
            { type: "redacted_thinking", data: "gAAAAABo" },
            {
              type: "tool_use",
              id: "call_1",
              name: "Read",
              input: { file_path: "/tmp/add.mjs" },
              caller: { type: "direct" }
            }
          ]
        },
        {
          role: "user",
          content: [
            {
              tool_use_id: "call_1",
              type: "tool_result",
              content: "1\ta - b",
              cache_control: { type: "ephemeral" }
            }
          ]
        }
      ],
      system: [
        { type: "text", text: "version=2.1.332" },
        { type: "text", text: "You are an agent.", cache_control: { type: "ephemeral" } }
      ],
      tools: [
        {
          name: "Read",
          description: "Reads a file.",
          input_schema: {
            $schema: draft,
            type: "object",
            properties: { file_path: { type: "string" } },
            required: ["file_path"],
            additionalProperties: false
          }
        },
        {
          name: "DeferredToolPlaceholder",
          description: "Holds the place of tools that are loaded later.",
          input_schema: { type: "object", properties: {} },
          defer_loading: true
        }
      ],
      metadata: { user_id: "user_1" },
      max_tokens: 32_000,
      thinking: { type: "adaptive", display: "omitted" },
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
      output_config: { effort: "high" },
      stream: true
    },
    expected: { asked: "1\ta - b", tools: ["Read", "DeferredToolPlaceholder"] }
  }),
  row({
    agent: "opencode",
    path: "/v1/chat/completions",
    source: opencode,
    headers: {
      accept: "*/*",
      authorization: "Bearer none",
      "user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14",
      "x-session-affinity": "s-1",
      "x-session-id": "s-1"
    },
    body: {
      model: "divisi",
      max_tokens: 32_000,
      messages: [
        { role: "system", content: "You are an agent." },
        { role: "user", content: "Fix add.mjs." },
        {
          role: "assistant",
          content: "",
          reasoning_content: "The file first.",
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "read", arguments: '{"filePath":"/tmp/add.mjs"}' } }
          ]
        },
        { role: "tool", tool_call_id: "call_1", content: "a - b" }
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "bash",
            description: "Runs a command.",
            parameters: {
              $schema: draft,
              type: "object",
              properties: {
                command: { type: "string" },
                timeout: {
                  type: "integer",
                  minimum: -9_007_199_254_740_991,
                  exclusiveMinimum: 0,
                  maximum: 9_007_199_254_740_991
                }
              },
              required: ["command"]
            }
          }
        }
      ],
      tool_choice: "auto",
      stream: true,
      stream_options: { include_usage: true }
    },
    expected: { asked: "a - b", tools: ["bash"] }
  })
]
