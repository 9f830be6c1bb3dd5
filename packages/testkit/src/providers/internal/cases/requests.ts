/** Cases for the requests sent by a worker. */

import assert from "node:assert/strict"
import { WorkerStream } from "@divisi/core/streams"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Case } from "../../ProviderContract.ts"
import * as Script from "../../Script.ts"
import { assertSucceeds, hello } from "../subject.ts"

const ok = [Script.answer("ok")]

/** Returns the text of all turns with the given role, in order. */
const textOf = (messages: ReadonlyArray<{ role: string; content: string }>, role: string) =>
  messages
    .filter((message) => message.role === role)
    .map((message) => message.content)
    .join("\n\n")

const about = {
  model: "model/of-its-own.1",
  id: "own:worker",
  description: "Writes and checks code",
  pricing: { inputPerMillion: 3, outputPerMillion: 7 },
  limits: { contextTokens: 12_345, maxOutputTokens: 678 }
}

export const requests: ReadonlyArray<Case> = [
  {
    id: "request/about",
    name: "asks for the model that it is made of, and says of itself what it was given",
    run: async ({ call, options, serve, worker }) => {
      if (options.takesAbout !== true) return
      const server = await serve([Script.answer("ok")])
      const one = worker(server, { about })
      assertSucceeds(await call(one))
      const { description, id, limits, pricing } = one
      const { model, ...own } = about
      assert.equal(server.exchanges[0]?.sent.model, model)
      assert.deepEqual({ description, id, limits, pricing }, own)
    }
  },
  {
    id: "request/key",
    name: "sends the key and the model, and nothing else of the kind",
    run: async ({ apiKey, ask }) => {
      const { server } = await ask(ok)
      assert.equal(server.exchanges[0]?.sent.key, apiKey)
      assert.ok(server.exchanges[0]?.sent.model, "The request names no model.")
      assert.ok(!server.exchanges[0]?.text.includes(apiKey), "The key is in the body.")
    }
  },
  {
    id: "request/user",
    name: "sends the user's text as it is",
    run: async ({ ask }) => {
      const content = 'Zwölf Boxkämpfer: 🥊 "x" \\ <b>\n\ttab\u0000 end  '
      const { server } = await ask(ok, { messages: [{ role: "user", content }] })
      assert.deepEqual(server.exchanges[0]?.sent.messages, [{ role: "user", content }])
    }
  },
  {
    id: "request/system",
    name: "sends system text as such",
    run: async ({ ask }) => {
      const messages = [{ role: "system", content: "Be terse." } as const, ...hello().messages]
      const { server } = await ask(ok, { messages })
      assert.deepEqual(server.exchanges[0]?.sent.messages, messages)
    }
  },
  {
    id: "request/system-many",
    name: "sends all system text, also that between turns",
    run: async ({ ask }) => {
      const { server } = await ask(ok, {
        messages: [
          { role: "system", content: "First rule." },
          { role: "user", content: "Hi" },
          { role: "assistant", content: "Ho" },
          { role: "system", content: "Second rule." },
          { role: "user", content: "Go" }
        ]
      })
      const sent = server.exchanges[0]?.sent.messages ?? []
      assert.match(textOf(sent, "system"), /First rule\.[\s\S]*Second rule\./)
      assert.deepEqual(
        sent.filter(({ role }) => role !== "system").map(({ role }) => role),
        ["user", "assistant", "user"]
      )
    }
  },
  {
    id: "request/developer",
    name: "sends the application's rules as system text",
    run: async ({ ask }) => {
      const messages = [{ role: "developer", content: "Be terse." } as const, ...hello().messages]
      const { server } = await ask(ok, { messages })
      assert.equal(textOf(server.exchanges[0]?.sent.messages ?? [], "system"), "Be terse.")
    }
  },
  {
    id: "request/turns",
    name: "sends every turn of a conversation in order",
    run: async ({ ask }) => {
      const messages = ["one", "two", "three", "four", "five"].map((content, index) => ({
        role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
        content
      }))
      const { server } = await ask(ok, { messages })
      assert.deepEqual(server.exchanges[0]?.sent.messages, messages)
    }
  },
  {
    id: "request/same-role",
    name: "loses nothing of turns of one role in a row",
    run: async ({ ask }) => {
      const { server } = await ask(ok, {
        messages: [
          { role: "user", content: "question" },
          { role: "user", content: "subtask" },
          { role: "assistant", content: "answer" },
          { role: "assistant", content: "more" },
          { role: "user", content: "last" }
        ]
      })
      const sent = server.exchanges[0]?.sent.messages ?? []
      assert.match(textOf(sent, "user"), /question[\s\S]*subtask[\s\S]*last/)
      assert.match(textOf(sent, "assistant"), /answer[\s\S]*more/)
    }
  },
  {
    id: "request/lazy",
    name: "sends nothing before its stream runs, and anew each time that it runs",
    run: async ({ serve, worker }) => {
      const server = await serve(ok)
      const stream = WorkerStream.generate(worker(server), hello())
      assert.equal(server.exchanges.length, 0)
      for (const count of [1, 2]) {
        await Effect.runPromise(Stream.runDrain(stream))
        assert.equal(server.exchanges.length, count)
      }
    }
  },
  {
    id: "request/many",
    name: "keeps calls at once apart",
    run: async ({ call, serve, worker }) => {
      const server = await serve((request) => Script.answer([/call-\d+/.exec(request.text)?.[0] ?? "?", "!"]))
      const one = worker(server)
      const outcomes = await Promise.all(
        Array.from({ length: 24 }, (_, index) => call(one, { messages: [{ role: "user", content: `call-${index}` }] }))
      )
      outcomes.forEach((outcome, index) => {
        assert.equal(assertSucceeds(outcome).text, `call-${index}!`)
      })
    }
  }
]
