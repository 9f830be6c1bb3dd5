/** Requests of coding agents, sent to a server with an unknown name. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { openaiCompatible } from "@divisi/providers-openai"
import { Corpus } from "@divisi/testkit/providers"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone } from "./teams.ts"

const answer = [
  { choices: [{ index: 0, delta: { content: "It is sunny." }, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }
]

/** A server that refuses some fields by name. */
const strict = async <A>(
  isRefused: (field: string) => boolean,
  test: (url: string, bodies: ReadonlyArray<Record<string, unknown>>) => Promise<A>
): Promise<A> => {
  const bodies: Array<Record<string, unknown>> = []
  const server = createServer(async (request, response) => {
    let text = ""
    for await (const piece of request.setEncoding("utf8")) text += piece
    const body = JSON.parse(text)
    bodies.push(body)
    const field = Object.keys(body).find(isRefused)
    if (field === undefined) {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.end(`${answer.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`)
    } else {
      response.writeHead(400, { "content-type": "application/json" })
      response.end(JSON.stringify({ error: { message: `Unrecognized request argument supplied: ${field}` } }))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    return await test(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, bodies)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const among =
  (...names: ReadonlyArray<string>) =>
  (field: string): boolean =>
    names.includes(field)

const known = new Set(["model", "messages", "stream", "tools", "tool_choice", "max_tokens", "stop"])

const recorded = Corpus.requestRows.filter(({ id }) => id.includes("/agent-"))

const offered = (baseURL: string) => alone(openaiCompatible({ baseURL, model: "a" }))

describe("a server in front of one that nothing is known of", () => {
  it("answers requests with efforts on every wire, and asks for one only once", () =>
    strict(among("reasoning_effort"), (url, bodies) =>
      serving(offered(url), async ({ anthropic, client }) => {
        const response = await client.responses.create({ model: "divisi", input: "Hi", reasoning: { effort: "high" } })
        assert.strictEqual(response.output_text, "It is sunny.")
        assert.lengthOf(bodies, 2)
        const chat = await client.chat.completions.create({
          model: "divisi",
          messages: [{ role: "user", content: "Hi" }],
          reasoning_effort: "high"
        })
        assert.strictEqual(chat.choices[0]?.message.content, "It is sunny.")
        const message = await anthropic.messages.create({
          model: "divisi",
          max_tokens: 5000,
          thinking: { type: "enabled", budget_tokens: 4000 },
          messages: [{ role: "user", content: "Hi" }]
        })
        assert.deepStrictEqual(
          message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])),
          ["It is sunny."]
        )
        assert.lengthOf(bodies, 4)
        assert.isTrue(bodies.slice(1).every((body) => !("reasoning_effort" in body)))
      })
    ))

  it("leaves out several preferences that are refused one at a time", () =>
    strict(among("stream_options", "reasoning_effort", "temperature"), (url, bodies) =>
      serving(offered(url), async ({ client }) => {
        const ask = () =>
          client.chat.completions.create({
            model: "divisi",
            messages: [{ role: "user", content: "Hi" }],
            reasoning_effort: "high",
            temperature: 0.5
          })
        assert.strictEqual((await ask()).choices[0]?.message.content, "It is sunny.")
        assert.lengthOf(bodies, 4)
        await ask()
        assert.lengthOf(bodies, 5)
      })
    ))

  it("passes an effort on where it is taken, and a budget as an effort", () =>
    strict(among(), (url, bodies) =>
      serving(offered(url), async ({ anthropic, client }) => {
        await client.responses.create({ model: "divisi", input: "Hi", reasoning: { effort: "low" } })
        await anthropic.messages.create({
          model: "divisi",
          max_tokens: 20_000,
          thinking: { type: "enabled", budget_tokens: 18_000 },
          messages: [{ role: "user", content: "Hi" }]
        })
        assert.deepStrictEqual(
          bodies.map((body) => body.reasoning_effort),
          ["low", "high"]
        )
      })
    ))

  it("refuses what the caller needs", () =>
    strict(among("tools"), (url) =>
      serving(offered(url), async ({ client }) => {
        const tools = [{ type: "function" as const, function: { name: "look", parameters: { type: "object" } } }]
        const refused = await client.chat.completions
          .create({ model: "divisi", messages: [{ role: "user", content: "Hi" }], tools })
          .then(
            () => undefined,
            (error) => error
          )
        assert.strictEqual(refused?.status, 400)
      })
    ))

  it.each(recorded.map((row) => [row.source.subject, row] as const))("answers %s", (_, { expected, request }) =>
    strict(
      (field) => !known.has(field),
      (baseURL, bodies) =>
        serving(offered(baseURL), async ({ url }) => {
          const ask = async () => {
            const { body, headers, path } = request
            const sent = { method: "POST", headers: { ...headers }, body: String(body) }
            const response = await fetch(new URL(path, url), sent)
            const text = await response.text()
            assert.strictEqual(response.status, 200, text)
            assert.include(text, "It is sunny.")
          }
          await ask()
          const learned = bodies.length
          const [tool] = bodies.at(-1)!.tools as ReadonlyArray<{ readonly function: { readonly name: string } }>
          assert.strictEqual(tool?.function.name, expected.tools?.[0])
          assert.include(JSON.stringify(bodies.at(-1)!.messages), JSON.stringify(expected.asked))
          await ask()
          assert.lengthOf(bodies, learned + 1)
        })
    )
  )
})
