import { Budget } from "@divisi/core"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import { assert, describe, it } from "vitest"
import * as Keys from "../src/Keys.ts"
import type * as NodeServer from "../src/NodeServer.ts"
import { serving } from "./serving.ts"
import { alone, asks, said, team, worker } from "./teams.ts"

/** Keys in memory, each with an account of its total. */
const keeping = () => {
  const keys = new Map<string, Keys.Key>()
  const ledgers = new Map<string, Budget.Ledger>()
  const authenticate = Keys.authenticate({
    find: (id) => Effect.sync(() => keys.get(id)),
    ledger: ({ id }) => Effect.sync(() => ledgers.get(id))
  })
  const make = (allowed: Partial<Keys.Allowed> = {}): string => {
    const { key, secret } = Keys.make({ name: "test", limits: {}, ...allowed }, Date.now())
    keys.set(key.id, key)
    if (key.limits.totalUsd !== undefined) ledgers.set(key.id, Budget.make({ costUsd: key.limits.totalUsd }))
    return secret
  }
  return { authenticate, keys, ledgers, make }
}

const request = { model: "divisi", messages: [{ role: "user" as const, content: "Who?" }] }

const clientOf = ({ url }: NodeServer.NodeServer, apiKey: string) => new OpenAI({ apiKey, baseURL: url, maxRetries: 0 })

/** The status of an answer, and its text or the message of its error. */
const outcome = async (asking: Promise<OpenAI.ChatCompletion>): Promise<readonly [number, string]> =>
  asking.then(
    ({ choices }) => [200, choices[0]!.message.content ?? ""],
    (error: InstanceType<typeof OpenAI.APIError>) => [error.status ?? 0, error.message]
  )

describe("a key", () => {
  it("admits only its owner, and the stored data contains no secret", async () => {
    const { authenticate, keys, make } = keeping()
    const secret = make()
    await serving({ ...alone(worker("a", said("me"))), authenticate }, async (server) => {
      const ask = (key: string) => outcome(clientOf(server, key).chat.completions.create(request))
      assert.deepStrictEqual(await ask(secret), [200, "me"])
      assert.strictEqual((await ask("none"))[0], 401)
      assert.strictEqual((await ask(`${secret.slice(0, -1)}${secret.endsWith("x") ? "y" : "x"}`))[0], 401)
      assert.strictEqual((await fetch(`${server.url}/models`)).status, 401)
      const asAnthropic = await fetch(`${server.url}/models`, { headers: { "x-api-key": secret } })
      assert.strictEqual(asAnthropic.status, 200)
    })
    assert.notInclude(JSON.stringify([...keys.values()]), secret.slice(-44))
  })

  it("that is revoked or has expired is refused at once", async () => {
    const { authenticate, keys, make } = keeping()
    const [revoked, expired] = [make(), make({ expiresAt: Date.now() - 1 })]
    await serving({ ...alone(worker("a", said("me"))), authenticate }, async (server) => {
      const ask = (key: string) => outcome(clientOf(server, key).chat.completions.create(request))
      assert.strictEqual((await ask(revoked))[0], 200)
      const [id, key] = [...keys][0]!
      keys.set(id, { ...key, revokedAt: Date.now() })
      assert.match((await ask(revoked))[1], /revoked/)
      assert.match((await ask(expired))[1], /expired/)
    })
  })

  it("has the workers and models that it is given alone", async () => {
    const { authenticate, make } = keeping()
    const secret = make({ workers: ["b"], models: ["divisi", "worker/a", "worker/b"] })
    await serving({ ...alone(worker("a", said("a")), worker("b", said("b"))), authenticate }, async (server) => {
      const client = clientOf(server, secret)
      const ask = (model: string) => outcome(client.chat.completions.create({ ...request, model }))
      assert.deepStrictEqual(await ask("divisi"), [200, "b"])
      assert.deepStrictEqual(await ask("worker/b"), [200, "b"])
      assert.strictEqual((await ask("worker/a"))[0], 404)
      assert.strictEqual((await ask("divisi-fast"))[0], 403)
      assert.deepStrictEqual(
        (await client.models.list()).data.map(({ id }) => id),
        ["divisi", "worker/b"]
      )
    })
  })

  it("spends no more than it may, however many ask at once", async () => {
    const { authenticate, ledgers, make } = keeping()
    // One answer costs 0.037 USD, and at most 0.1 USD is set aside for it.
    const secret = make({ limits: { totalUsd: 0.4 } })
    const a = worker("a", said("me"))
    await serving({ ...alone(a), authenticate, settings: { worker: { maxOutputTokens: 5 } } }, async (server) => {
      const client = clientOf(server, secret)
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, (_, at) => outcome(client.chat.completions.create({ ...request, user: `${at}` })))
      )
      const answered = outcomes.filter(([status]) => status === 200).length
      assert.strictEqual(a.calls.length, answered)
      assert.isAtMost([...ledgers.values()][0]!.spent().costUsd, 0.4)
      assert.isAbove(answered, 5)
      assert.isTrue(outcomes.every(([status]) => status === 200 || status === 429))
    })
  })

  it("is one of 32 that ask at once, each within its own budget to the cent", async () => {
    const { authenticate, ledgers, make } = keeping()
    // Streams and bodies on three wires, each answer at 0.037 USD.
    const secrets = Array.from({ length: 32 }, (_, at) => make({ limits: { totalUsd: 0.15 + at / 100 } }))
    const a = worker("a", said("me"))
    await serving({ ...alone(a), authenticate, settings: { worker: { maxOutputTokens: 5 } } }, async ({ url }) => {
      const messages = [{ role: "user", content: "Who?" }]
      const paths = ["chat/completions", "messages", "responses"]
      const asked = secrets.flatMap((secret) => Array.from({ length: 12 }, (_, at) => [secret, at] as const))
      const statuses = await Promise.all(
        asked.map(async ([secret, at]) => {
          const headers = { authorization: `Bearer ${secret}`, "idempotency-key": `${at}` }
          const body = { model: "divisi", messages, input: "Who?", max_tokens: 5, stream: at % 2 === 0 }
          const response = await fetch(`${url}/${paths[at % 3]}`, {
            method: "POST",
            headers,
            body: JSON.stringify(body)
          })
          await response.text()
          return response.status
        })
      )
      assert.isTrue(statuses.every((status) => status === 200 || status === 429))
      assert.isAbove(statuses.filter((status) => status === 200).length, 32)
      for (const ledger of ledgers.values()) {
        assert.isAtMost(ledger.spent().costUsd, ledger.limits.costUsd!)
      }
      const spent = [...ledgers.values()].reduce((sum, ledger) => sum + ledger.spent().costUsd, 0)
      assert.closeTo(spent, 0.037 * a.calls.length, 1e-9)
    })
  })

  it("is rate limited, and the error says when to retry", async () => {
    const { authenticate, make } = keeping()
    const [slow, thrifty] = [make({ requestsPerMinute: 2 }), make({ tokensPerMinute: 5 })]
    await serving({ ...alone(worker("a", said("me"))), authenticate }, async (server) => {
      const ask = (key: string, user: string) => clientOf(server, key).chat.completions.create({ ...request, user })
      await ask(slow, "1")
      await ask(slow, "2")
      const error: unknown = await ask(slow, "3").catch((error: unknown) => error)
      assert.instanceOf(error, OpenAI.RateLimitError)
      const wait = Number((error as InstanceType<typeof OpenAI.APIError>).headers?.get("retry-after"))
      assert.isTrue(wait > 20 && wait <= 30)
      assert.strictEqual((await outcome(ask(thrifty, "1")))[0], 200)
      assert.strictEqual((await outcome(ask(thrifty, "2")))[0], 429)
    })
  })

  it("pays with its tokens of a minute for what gives no answer, too", async () => {
    const { authenticate, make } = keeping()
    const secret = make({ tokensPerMinute: 10 })
    const refuses = { fail: { _tag: "InvalidRequest", message: "No." } } as const
    const c = worker("c", refuses)
    const options = team(worker("a", said("one"), refuses), worker("b", said("two"), refuses), c)
    await serving({ ...options, authenticate }, async (server) => {
      const ask = () => outcome(clientOf(server, secret).chat.completions.create(request))
      assert.strictEqual((await ask())[0], 400)
      assert.strictEqual((await ask())[0], 429)
      assert.lengthOf(c.calls, 1)
    })
  })

  it("does not lead to another's run", async () => {
    const { authenticate, make } = keeping()
    const [mine, other] = [make(), make()]
    const a = worker("a", asks(["look", {}]), said("fresh"), said("mine"))
    await serving({ ...alone(a), authenticate }, async (server) => {
      const tools = [{ type: "function" as const, function: { name: "look" } }]
      const asked = (await clientOf(server, mine).chat.completions.create({ ...request, tools })).choices[0]!.message
      const result = { role: "tool" as const, tool_call_id: asked.tool_calls![0]!.id, content: "seen" }
      const messages = [...request.messages, asked, result]
      const ask = (key: string) =>
        outcome(clientOf(server, key).chat.completions.create({ ...request, tools, messages }))
      assert.deepStrictEqual(await ask(other), [200, "fresh"])
      assert.strictEqual(a.calls[1]?.messages.length, 3, "all that it knows is what it was sent")
      assert.deepStrictEqual(await ask(mine), [200, "mine"])
    })
  })
})
