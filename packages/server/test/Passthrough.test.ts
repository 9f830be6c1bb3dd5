/** Embeddings and completions, through the server to a vendor that answers over real HTTP. */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { Budget } from "@divisi/core"
import * as ProviderGate from "@divisi/provider-kit/ProviderGate"
import { openaiCompatible } from "@divisi/providers-openai"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import OpenAI from "openai"
import { assert, describe, it } from "vitest"
import type * as NodeServer from "../src/NodeServer.ts"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const pricing = { inputPerMillion: 1_000_000, outputPerMillion: 2_000_000 }

interface Seen {
  readonly path: string | undefined
  readonly key: string | undefined
  readonly body: Readonly<Record<string, unknown>>
}

type Reply = (response: http.ServerResponse, body: Seen["body"]) => void

const json =
  (status: number, body: unknown): Reply =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))

/** A vendor, and a server in front of it whose worker costs a dollar a token. */
const through = async (
  reply: Reply,
  test: (serving: { client: OpenAI; url: string; seen: ReadonlyArray<Seen>; ledger: Budget.Ledger }) => Promise<void>,
  limits: Budget.Limits = {},
  more: Partial<NodeServer.Options> = {},
  gate?: Layer.Layer<never>
) => {
  const seen: Array<Seen> = []
  const vendor = http.createServer(async (request, response) => {
    let text = ""
    for await (const piece of request.setEncoding("utf8")) text += piece
    const body = JSON.parse(text)
    seen.push({ path: request.url, key: request.headers.authorization, body })
    reply(response, body)
  })
  await new Promise<void>((resolve) => vendor.listen(0, "127.0.0.1", resolve))
  const { port } = vendor.address() as AddressInfo
  const embedder = openaiCompatible({
    baseURL: `http://127.0.0.1:${port}/v1`,
    model: "m",
    name: "acme",
    apiKey: "sk-upstream-secret",
    pricing
  })
  const ledger = Budget.make(limits)
  try {
    const options = { ...alone(worker("chatter", said("?")), embedder), ledger, ...more }
    await serving(options, ({ client, url }) => test({ client, url, seen, ledger }), gate)
  } finally {
    vendor.closeAllConnections()
    await new Promise((resolve) => vendor.close(resolve))
  }
}

const thrown = async (promise: Promise<unknown>) => {
  try {
    await promise
  } catch (error) {
    assert.instanceOf(error, OpenAI.APIError)
    return error
  }
  throw new Error("It did not fail.")
}

const vectors = {
  object: "list",
  data: [{ index: 0, embedding: [0.5, 1] }],
  usage: { prompt_tokens: 3, total_tokens: 3 }
}

describe("embeddings", () => {
  it("are the vendor's, and are charged as it reports them", () =>
    through(json(200, vectors), async ({ client, ledger, seen }) => {
      for (const model of ["worker/acme:m", "acme:m", "m"]) {
        const { data } = await client.embeddings.create({ model, input: ["a violin"], encoding_format: "float" })
        assert.deepEqual(data[0]?.embedding, [0.5, 1])
      }
      assert.deepEqual(
        seen.map(({ body, key, path }) => [path, key, body.model, body.input]),
        Array(3).fill(["/v1/embeddings", "Bearer sk-upstream-secret", "m", ["a violin"]])
      )
      assert.deepInclude(ledger.spent(), { costUsd: 9, calls: 3 })
    }))

  it("are refused in words where no worker has them, or none is called so", () =>
    through(json(200, vectors), async ({ client }) => {
      const unknown = await thrown(client.embeddings.create({ model: "text-embedding-3-small", input: "a" }))
      assert.strictEqual(unknown.status, 404)
      assert.include(unknown.message, "Models: acme:m.")
      await serving(alone(worker("chatter", said("?"))), async ({ client }) => {
        const none = await thrown(client.embeddings.create({ model: "divisi", input: "a" }))
        assert.strictEqual(none.status, 404)
        assert.include(none.message, "No worker of this server supports embeddings")
      })
    }))

  it("are not sent where their worst case does not fit the account", () =>
    through(
      json(200, vectors),
      async ({ client, ledger, seen }) => {
        const refused = await thrown(client.embeddings.create({ model: "m", input: "a violin" }))
        assert.strictEqual(refused.status, 429)
        assert.deepEqual([seen.length, ledger.spent().calls], [0, 0])
      },
      { costUsd: 5 }
    ))

  it("without credible usage are charged at their worst case", async () => {
    for (const usage of [undefined, { prompt_tokens: 9_007_199_254_740_991 }]) {
      await through(json(200, { ...vectors, usage }), async ({ client, ledger, seen }) => {
        await client.embeddings.create({ model: "m", input: "a violin", encoding_format: "float" })
        const { costUsd } = ledger.spent()
        assert.isAbove(costUsd, 8)
        assert.isBelow(costUsd, 2 * JSON.stringify(seen[0]?.body).length)
      })
    }
  })

  it("close their provider where it asks to wait, also for chats, as the health report shows", () => {
    const refused: Reply = (response) => response.writeHead(429, { "retry-after": "86400" }).end("{}")
    return through(
      refused,
      async ({ client, ledger, seen, url }) => {
        for (let count = 0; count < 3; count++) {
          assert.strictEqual((await thrown(client.embeddings.create({ model: "m", input: "a" }))).status, 429)
        }
        const messages = [{ role: "user" as const, content: "Hm" }]
        const chat = await thrown(client.chat.completions.create({ model: "worker/acme:m", messages }))
        assert.strictEqual(chat.status, 429)
        assert.isAtMost(Number(chat.headers?.get("retry-after")), 300)
        assert.lengthOf(seen, 1)
        assert.strictEqual(ledger.spent().calls, 0)
        const health = (await (await fetch(new URL("/health/ready", url))).json()) as {
          readonly closed?: ReadonlyArray<object>
        }
        assert.lengthOf(health.closed ?? [], 1)
        assert.deepInclude(health.closed?.[0], { provider: "acme", because: "rate-limited" })
      },
      {},
      {},
      ProviderGate.layer({})
    )
  })

  it("that fail upstream cost nothing, and show no secret", async () => {
    const rows: ReadonlyArray<readonly [upstream: number, status: number]> = [
      [401, 502],
      [402, 502],
      [429, 429],
      [500, 503],
      [400, 400]
    ]
    for (const [upstream, status] of rows) {
      await through(
        json(upstream, { error: { message: "the key sk-upstream-secret is bad" } }),
        async ({ client, ledger }) => {
          const failed = await thrown(client.embeddings.create({ model: "m", input: "a" }))
          assert.strictEqual(failed.status, status, String(upstream))
          assert.notInclude(failed.message, "sk-upstream-secret")
          assert.deepInclude(ledger.spent(), { costUsd: 0, calls: 0 })
        }
      )
    }
  })

  it("are for keys that may name the model and use the worker", () => {
    const authenticate = () => Effect.succeed({ owner: "k", models: ["divisi"], workers: ["chatter"] })
    return through(
      json(200, vectors),
      async ({ client, seen }) => {
        assert.strictEqual((await thrown(client.embeddings.create({ model: "m", input: "a" }))).status, 403)
        assert.strictEqual((await thrown(client.embeddings.create({ model: "divisi", input: "a" }))).status, 404)
        assert.strictEqual(seen.length, 0)
      },
      {},
      { authenticate }
    )
  })
})

describe("completions", () => {
  const piece = (text: string) => `data: ${JSON.stringify({ choices: [{ index: 0, text }] })}\n\n`
  const last = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 2, completion_tokens: 4 } })}\n\ndata: [DONE]\n\n`

  it("stream as they come, with the fields that the client sent", () =>
    through(
      (response) =>
        response.writeHead(200, { "content-type": "text/event-stream" }).end(piece("a") + piece("b") + last),
      async ({ client, ledger, seen }) => {
        const stream = await client.completions.create({
          model: "m",
          prompt: "fun",
          suffix: "}",
          stream: true,
          max_tokens: 8
        })
        let text = ""
        for await (const { choices } of stream) text += choices[0]?.text ?? ""
        assert.strictEqual(text, "ab")
        assert.deepInclude(seen[0], { path: "/v1/completions" })
        assert.deepInclude(seen[0]?.body, { model: "m", prompt: "fun", suffix: "}", max_tokens: 8 })
        assert.deepInclude(ledger.spent(), { costUsd: 2 + 2 * 4, calls: 1 })
      }
    ))

  it("that break off are charged at their worst case, once", () =>
    through(
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(piece("a"), () => response.destroy())
      },
      async ({ client, ledger }) => {
        const stream = await client.completions.create({ model: "m", prompt: "fun", stream: true, max_tokens: 8 })
        let isCut = false
        try {
          for await (const _ of stream);
        } catch {
          isCut = true
        }
        assert.isTrue(isCut)
        const { calls, costUsd } = ledger.spent()
        assert.strictEqual(calls, 1)
        assert.isAbove(costUsd, 2 * 8)
      }
    ))
})
