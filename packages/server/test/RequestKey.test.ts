/** Equality of requests: a retry is attached to the run that it started; another client's request is not. */
import type * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { chat } from "../src/chat/Chat.ts"
import * as RequestKey from "../src/http/RequestKey.ts"
import { messages } from "../src/messages/Messages.ts"
import type * as RequestLog from "../src/RequestLog.ts"
import { responses } from "../src/responses/Responses.ts"
import type { Headers } from "../src/wire/Choice.ts"
import type { JsonObject } from "../src/wire/Json.ts"
import * as Steps from "../src/wire/Steps.ts"
import type { Wire } from "../src/wire/Wire.ts"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const schema = (...names: ReadonlyArray<string>) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }]))
})

const format = (...names: ReadonlyArray<string>) => ({
  type: "json_schema",
  json_schema: { name: "answer", schema: schema(...names) }
})

const keyOf =
  <State>(wire: Wire<State>, of: JsonObject) =>
  (more: JsonObject, headers: Headers = {}, owner = "alice"): string => {
    const body = { ...of, ...more }
    return RequestKey.make(owner, wire, headers, Steps.all(wire.read(body, headers)), body, JSON.stringify(body).length)
  }

const ofChat = keyOf(chat, { model: "divisi", messages: [{ role: "user", content: "Greet" }] })
const ofMessages = keyOf(messages, { model: "divisi", max_tokens: 9, messages: [{ role: "user", content: "Greet" }] })
const ofResponses = keyOf(responses, { model: "divisi", input: "Greet" })

type Pair = readonly [what: string, one: string, other: string]

const same: ReadonlyArray<Pair> = [
  [
    "keys in another order",
    ofChat({ temperature: 1, stream_options: { a: 1, b: 2 } }),
    ofChat({ stream_options: { b: 2, a: 1 }, messages: [{ content: "Greet", role: "user" }], temperature: 1 })
  ],
  ["null, which is none", ofChat({ temperature: null }), ofChat({})],
  [
    "a text as a list of one block",
    ofChat({}),
    ofChat({ messages: [{ role: "user", content: [{ type: "text", text: "Greet" }] }] })
  ],
  ["a text as a list of one message", ofResponses({}), ofResponses({ input: [{ role: "user", content: "Greet" }] })],
  [
    "a hint of where to cache",
    ofMessages({ system: "Be kind.", tools: [{ name: "look", input_schema: schema("a") }] }),
    ofMessages({
      system: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }],
      tools: [{ name: "look", cache_control: { type: "ephemeral" }, input_schema: schema("a") }],
      cache_control: { type: "ephemeral" },
      messages: [
        { role: "user", content: [{ type: "text", text: "Greet", cache_control: { ttl: "5m", type: "ephemeral" } }] }
      ]
    })
  ]
]

const different: ReadonlyArray<Pair> = [
  ["of another owner", ofChat({}), ofChat({}, {}, "bob")],
  [
    "on another wire",
    ofChat({}),
    keyOf({ ...chat, name: "compact" }, { model: "divisi" })({ messages: [{ role: "user", content: "Greet" }] })
  ],
  ["for another user of a shared key", ofChat({ user: "alice" }), ofChat({ user: "bob" })],
  ["with other metadata", ofMessages({ metadata: { user_id: "1" } }), ofMessages({ metadata: { user_id: "2" } })],
  ["of another model", ofChat({}), ofChat({ model: "divisi-fast" })],
  ["with somebody left out", ofChat({}), ofChat({}, { "x-divisi-exclude": "a" })],
  ["with another limit of cost", ofChat({}, { "x-divisi-max-cost": "1" }), ofChat({}, { "x-divisi-max-cost": "2" })],
  [
    "by another id of its client",
    ofChat({}, { "x-client-request-id": "1" }),
    ofChat({}, { "x-client-request-id": "2" })
  ],
  ["streamed, and not", ofChat({}), ofChat({ stream: true })],
  ["with another word", ofChat({}), ofChat({ messages: [{ role: "user", content: "greet" }] })],
  [
    "whose schema is written in another order",
    ofChat({ response_format: format("a", "b") }),
    ofChat({ response_format: format("b", "a") })
  ],
  [
    "with another tool",
    ofMessages({ tools: [{ name: "look", input_schema: schema("a") }] }),
    ofMessages({ tools: [{ name: "look", input_schema: schema("b") }] })
  ],
  [
    "with a tool of any text for a function",
    ofResponses({ tools: [{ type: "custom", name: "look" }] }),
    ofResponses({ tools: [{ type: "function", name: "look" }] })
  ],
  [
    "after another response",
    ofResponses({ previous_response_id: "resp_1" }),
    ofResponses({ previous_response_id: "resp_2" })
  ]
]

describe("a request", () => {
  for (const [what, one, other] of same) it(`is the same with ${what}`, () => assert.strictEqual(one, other))
  for (const [what, one, other] of different) it(`is another one ${what}`, () => assert.notStrictEqual(one, other))

  it("that is written otherwise attaches to what its client has left", () => {
    const reply = { delayMillis: 50, ...(said("Hel", "lo") as object) } as ScriptedWorker.Reply
    const hanging = worker("a", reply, said("other"))
    return serving(alone(hanging), async ({ url }) => {
      const ask = (body: object, signal?: AbortSignal) =>
        fetch(`${url}/messages`, { method: "POST", body: JSON.stringify(body), signal: signal ?? null })
      const about = { model: "divisi", max_tokens: 100, stream: true }
      const left = new AbortController()
      const first = await ask({ ...about, messages: [{ role: "user", content: "Greet" }] }, left.signal)
      await first.body!.getReader().read()
      left.abort()
      const content = [{ text: "Greet", type: "text", cache_control: { type: "ephemeral" } }]
      const again = await (await ask({ messages: [{ content, role: "user" }], ...about })).text()
      assert.match(again, /"text":"Hel".*"text":"lo"/s)
      assert.strictEqual(hanging.calls.length, 1)
    })
  })
})

describe("a client that says that it repeats itself", () => {
  const reply = { delayMillis: 50, ...(said("Hel", "lo") as object) } as ScriptedWorker.Reply
  const body = JSON.stringify({ model: "divisi", stream: true, messages: [{ role: "user", content: "Greet" }] })

  for (const [name, first, second] of [
    // Codex sends the same again, with all its headers, when a stream breaks off.
    ["x-client-request-id", { "x-client-request-id": "r1" }, { "x-client-request-id": "r1" }],
    ["Idempotency-Key", { "idempotency-key": "r1" }, { "idempotency-key": "r1" }],
    ["x-stainless-retry-count", { "x-stainless-retry-count": "0" }, { "x-stainless-retry-count": "1" }]
  ] as ReadonlyArray<readonly [string, Record<string, string>, Record<string, string>]>) {
    it(`by ${name} gets what goes on, and later what it came to; it is paid once`, () => {
      const a = worker("a", reply, said("other"))
      const lines: Array<RequestLog.Entry> = []
      return serving({ ...alone(a), log: (entry) => lines.push(entry) }, async ({ url }) => {
        const ask = async (headers: Record<string, string>) => {
          const response = await fetch(`${url}/chat/completions`, { method: "POST", body, headers })
          return { run: response.headers.get("x-divisi-run"), text: await response.text() }
        }
        const going = ask(first)
        while (a.running() === 0) await new Promise((resolve) => setTimeout(resolve, 5))
        const answers = [await ask(second), await going, await ask(second)]
        for (const { text } of answers) assert.match(text, /"content":"Hel".*"content":"lo".*\[DONE\]/s)
        assert.strictEqual(new Set(answers.map(({ run }) => run)).size, 1)
        assert.strictEqual(a.calls.length, 1)
        assert.closeTo(
          lines.reduce((sum, { costUsd }) => sum + costUsd, 0),
          0.037,
          1e-9
        )
      })
    })
  }

  it("gets nothing of another key's, whatever it calls its request", () => {
    const a = worker("a", reply, reply)
    const authenticate = (headers: Readonly<Record<string, string | undefined>>) =>
      Effect.succeed({ owner: headers.authorization ?? "" })
    return serving({ ...alone(a), authenticate }, async ({ url }) => {
      const ask = (authorization: string) => {
        const headers = { authorization, "idempotency-key": "r1" }
        return fetch(`${url}/chat/completions`, { method: "POST", body, headers })
      }
      const [mine, theirs] = await Promise.all([ask("Bearer mine"), ask("Bearer theirs")])
      await Promise.all([mine.text(), theirs.text()])
      assert.notStrictEqual(mine.headers.get("x-divisi-run"), theirs.headers.get("x-divisi-run"))
      assert.strictEqual(a.calls.length, 2)
    })
  })
})
