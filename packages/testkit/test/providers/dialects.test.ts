import { assert, describe, it } from "@effect/vitest"
import {
  AnthropicMessages,
  type Dialect,
  GoogleGenerateContent,
  OpenAiChat,
  OpenAiResponses,
  Script,
  WireServer
} from "../../src/providers.ts"

const answer = Script.answer([Script.reasoning("hm"), "Hel", "lo"], {
  usage: { inputTokens: 100, cachedInputTokens: 40, outputTokens: 30, reasoningTokens: 20 }
})

interface Asked {
  readonly dialect: Dialect.Dialect
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: unknown
}

const bearer = { authorization: "Bearer sk-1" }

const vendors: ReadonlyArray<Asked> = [
  {
    dialect: OpenAiResponses.dialect,
    path: "/v1/responses",
    headers: bearer,
    body: {
      model: "m",
      instructions: "Be terse.",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hi" }] }],
      max_output_tokens: 9,
      reasoning: { effort: "low" },
      stream: true
    }
  },
  {
    dialect: OpenAiChat.dialect,
    path: "/v1/chat/completions",
    headers: bearer,
    body: {
      model: "m",
      messages: [
        { role: "developer", content: "Be terse." },
        { role: "user", content: "Hi" }
      ],
      max_completion_tokens: 9,
      reasoning_effort: "low",
      stream: true
    }
  },
  {
    dialect: AnthropicMessages.dialect,
    path: "/v1/messages",
    headers: { "x-api-key": "sk-1" },
    body: {
      model: "m",
      system: [{ type: "text", text: "Be terse." }],
      messages: [{ role: "user", content: "Hi" }],
      max_tokens: 9,
      output_config: { effort: "low" },
      stream: true
    }
  },
  {
    dialect: GoogleGenerateContent.dialect,
    path: "/v1beta/models/m:streamGenerateContent?alt=sse",
    headers: { "x-goog-api-key": "sk-1" },
    body: {
      systemInstruction: { parts: [{ text: "Be terse." }] },
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      generationConfig: { maxOutputTokens: 9, thinkingConfig: { thinkingLevel: "LOW" } }
    }
  }
]

const ask = async ({ body, headers, path }: Asked, server: WireServer.WireServer) =>
  fetch(`${server.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })

/** The data of all events, however lines end. */
const eventsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^data: (.*?)\r?$/gm)].map(([, data]) => data ?? "").filter((data) => data !== "[DONE]")

describe.each(vendors)("$dialect.name", (vendor) => {
  const { dialect } = vendor

  it("reads what a request asks for in the vendor's words", async () => {
    await using server = await WireServer.start(dialect, [answer])
    await (await ask(vendor, server)).text()
    assert.deepStrictEqual(server.exchanges[0]?.sent, {
      isStream: true,
      key: "sk-1",
      model: "m",
      messages: [
        { role: "system", content: "Be terse." },
        { role: "user", content: "Hi" }
      ],
      maxOutputTokens: 9,
      reasoning: { type: "effort", effort: "low" }
    })
  })

  it("streams events that are JSON, with every delta in order", async () => {
    await using server = await WireServer.start(dialect, [answer])
    const response = await ask(vendor, server)
    assert.strictEqual(response.headers.get("content-type"), dialect.contentType)
    const events = eventsOf(await response.text())
    for (const event of events) assert.isObject(JSON.parse(event))
    const first = events.findIndex((event) => event.includes('"Hel"'))
    const second = events.findIndex((event) => event.includes('"lo"'))
    assert.isTrue(first >= 0 && second > first)
  })

  it("has a refusal of every kind, with the request's words in it", async () => {
    const kinds = [
      "rate-limited",
      "overloaded",
      "authentication",
      "quota",
      "context-too-long",
      "unknown-model"
    ] as const
    for (const kind of kinds) {
      await using server = await WireServer.start(dialect, [Script.refusal(kind, { echo: "marker" })])
      const response = await ask(vendor, server)
      assert.isAtLeast(response.status, 400)
      assert.include(await response.text(), "marker")
    }
  })

  it("sends an event that is not JSON where it should", async () => {
    await using server = await WireServer.start(dialect, [{ type: "malformed", answer, after: 1 }])
    const events = eventsOf(await (await ask(vendor, server)).text())
    assert.throws(() => JSON.parse(events.at(-1) ?? ""))
    assert.isObject(JSON.parse(events.at(-2) ?? ""))
  })

  it("names the pages that it follows", () => {
    assert.isTrue(dialect.sources.some((source) => source.startsWith("https://")))
  })
})

describe("a wire server", () => {
  const [, chat] = vendors as [Asked, Asked]

  it("plays its scripts in order, and the last one from then on", async () => {
    await using server = await WireServer.start(chat.dialect, [Script.refusal("overloaded"), answer])
    const statuses = []
    for (let call = 0; call < 3; call++) {
      const response = await ask(chat, server)
      statuses.push(response.status)
      await response.text()
    }
    assert.deepStrictEqual(statuses, [503, 200, 200])
  })

  it("says whether an answer was read to its end, or given up", async () => {
    await using server = await WireServer.start(chat.dialect, [answer, { type: "hang", answer, after: 1 }])
    await (await ask(chat, server)).text()
    assert.deepStrictEqual(await server.exchanges[0]?.closed, { isWhole: true })
    const controller = new AbortController()
    const response = await fetch(`${server.url}/`, { method: "POST", body: "{}", signal: controller.signal })
    assert.strictEqual(server.open(), 1)
    controller.abort()
    assert.deepStrictEqual(await server.exchanges[1]?.closed, { isWhole: false })
    assert.strictEqual(server.open(), 0)
    await response.text().catch(() => undefined)
  })

  it("tells a mistake in a script instead of hanging", async () => {
    await using server = await WireServer.start(chat.dialect, () => {
      throw new Error("no script for this")
    })
    const response = await ask(chat, server)
    assert.strictEqual(response.status, 599)
    assert.include(await response.text(), "no script for this")
  })
})
