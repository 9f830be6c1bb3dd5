/**
 * Requests with conversations that were interrupted, tools with unusual names, and summaries created by another server.
 */
import type { Protocol, RequestRow, Row, Source } from "./Row.ts"

const from = (repository: string, number: number, subject: string): Source => ({ repository, number, subject })

const paths = { chat: "/v1/chat/completions", responses: "/v1/responses", messages: "/v1/messages" } as const

const row = (
  wire: keyof typeof paths & Protocol,
  name: string,
  source: Source,
  why: string,
  body: object,
  expected: Partial<RequestRow["expected"]>,
  kind: RequestRow["class"] = "tools"
): Row => ({
  id: `${wire}/request/${name}`,
  protocol: wire,
  direction: "request",
  class: kind,
  source,
  why,
  request: { path: paths[wire], body: JSON.stringify({ model: "divisi", ...body }) },
  expected: { status: 200, ...expected }
})

const schema = { type: "object", properties: { city: { type: "string" } } }

const hm = { role: "user", content: "Hm" }
const goOn = { role: "user", content: "Go on." }
const asked = { asked: "Go on." }

const call = (id: string) => ({ id, type: "function", function: { name: "look", arguments: "{}" } })

const tool = (name: string) => ({ type: "function", function: { name, parameters: schema } })

const why = "A call without a result fails the whole conversation for ever: the agent sends it again each time."

/** All rows with interrupted conversations. */
export const interrupted: ReadonlyArray<Row> = [
  row(
    "chat",
    "call-without-result",
    from("charmbracelet/crush", 862, "an interrupted agent sends the call of a tool and no result"),
    why,
    { messages: [hm, { role: "assistant", content: null, tool_calls: [call("c1")] }, goOn] },
    asked
  ),
  row(
    "chat",
    "one-of-two-results",
    from("LionSR/TeXRA", 7163, "a round that is interrupted has fewer results than calls"),
    why,
    {
      messages: [
        hm,
        { role: "assistant", content: null, tool_calls: [call("c1"), call("c2")] },
        { role: "tool", tool_call_id: "c1", content: "sunny" },
        goOn
      ]
    },
    asked
  ),
  row(
    "responses",
    "call-without-result",
    from("openai/codex", 394, "an interruption breaks the session, as the call has no output"),
    why,
    { input: [hm, { type: "function_call", call_id: "c1", name: "look", arguments: "{}" }, goOn] },
    asked
  ),
  row(
    "responses",
    "custom-call-without-result",
    from("Soju06/codex-lb", 1168, "the call of a custom tool has no output after an interruption"),
    why,
    { input: [hm, { type: "custom_tool_call", call_id: "c1", name: "exec", input: "ls" }, goOn] },
    asked
  ),
  row(
    "messages",
    "call-without-result",
    from("anthropics/claude-code", 1776, "after an interruption, a block of a call has no block of its result"),
    why,
    {
      max_tokens: 99,
      messages: [hm, { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input: {} }] }, goOn]
    },
    asked
  ),
  row(
    "messages",
    "late-result",
    from("anomalyco/opencode", 5750, "a result is not in the message behind its call"),
    "Vendors want each result right behind its call.",
    {
      max_tokens: 99,
      messages: [
        hm,
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input: {} }] },
        { role: "assistant", content: "Looking." },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "sunny" }] },
        goOn
      ]
    },
    asked
  ),
  row(
    "chat",
    "name-with-dots",
    from("openai/codex", 8174, "a server of MCP has names with dots, which the specification allows"),
    "One tool whose name a vendor does not take fails all requests of a session.",
    { messages: [hm], tools: [tool("calendar.respondToEvent"), tool("calendar_respondToEvent")] },
    { asked: "Hm", tools: ["calendar_respondToEvent", "calendar_respondToEvent_2"] }
  ),
  row(
    "responses",
    "name-with-dots",
    from("github/copilot-cli", 2581, "tools of MCP with dots in their names fail each request"),
    "One tool whose name a vendor does not take fails all requests of a session.",
    { input: "Hm", tools: [{ type: "function", name: "catalog.get-entity-facets", parameters: schema }] },
    { asked: "Hm", tools: ["catalog_get-entity-facets"] }
  ),
  row(
    "messages",
    "name-with-spaces",
    from("IlyaGulya/gradle-mcp-server", 2, "tools of MCP have spaces in their names"),
    "One tool whose name a vendor does not take fails all requests of a session.",
    { max_tokens: 99, messages: [hm], tools: [{ name: "Run Gradle task", input_schema: schema }] },
    { asked: "Hm", tools: ["Run_Gradle_task"] }
  ),
  row(
    "messages",
    "two-tools-of-one-name",
    from("cloudwego/eino", 632, "two servers of MCP offer a tool of the same name"),
    "Vendors refuse the request, and the agent cannot rename the tools of others.",
    {
      max_tokens: 99,
      messages: [hm],
      tools: ["create_pull_request", "create_pull_request"].map((name) => ({ name, input_schema: schema }))
    },
    { asked: "Hm", tools: ["create_pull_request"] }
  ),
  row(
    "responses",
    "compaction-of-another-server",
    from("lidge-jun/opencodex", 2228, "a compaction goes to a server that did not encrypt it, and ends the session"),
    "The item stays in the history of the client: a refusal would end its session.",
    { input: [{ type: "compaction", encrypted_content: "gAAAAABo-not-ours" }, hm] },
    { asked: "Hm" },
    "null-and-lists"
  ),
  row(
    "responses",
    "compaction-in-the-open",
    from("Soju06/codex-lb", 1720, "a compaction has its summary as a plain text"),
    "A proxy writes the summary in the open.",
    { input: [{ type: "compaction", summary: "We spoke of Rome." }, hm] },
    { asked: "Hm" },
    "null-and-lists"
  ),
  row(
    "responses",
    "compaction-that-is-an-object",
    from("Yeachan-Heo/gajae-code", 1207, "the encrypted content of a compaction is an object"),
    "A history that was stored as JSON may have an object in the place of the text.",
    { input: [{ type: "compaction_summary", encrypted_content: { data: "x" } }, hm] },
    { asked: "Hm" },
    "null-and-lists"
  )
]
