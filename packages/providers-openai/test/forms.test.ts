/** Forms of answers of Chat Completions beyond the corpus, whose rows are reports from the field. */
import { Corpus } from "@divisi/testkit/providers"
import { assert, describe, it } from "vitest"
import { openaiCompatible } from "../src/index.ts"

type Reply = Corpus.Reply
type Outcome = Corpus.Outcome

const chunk = (delta: unknown, finish_reason: unknown = null, more: object = {}) => ({
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason }],
  ...more
})

const events = (...data: ReadonlyArray<unknown>): string =>
  [...data.map((one) => JSON.stringify(one)), "[DONE]"].map((one) => `data: ${one}\n\n`).join("")

const json = (body: unknown, status = 200): Reply => ({
  status,
  contentType: "application/json",
  body: JSON.stringify(body)
})

const call = (more: object) => ({ type: "function", index: 0, id: "a", ...more })

const named = (args: unknown) => ({ function: { name: "weather", arguments: args } })

const sunny: Outcome = { text: "Sunny.", finish: "stop" }

const ulm = { name: "weather", arguments: { city: "Ulm" } }

const first = JSON.stringify(chunk({ content: "Sunny." }))
const last = JSON.stringify(chunk({}, "stop"))

const forms: ReadonlyArray<readonly [name: string, reply: Reply, expected: Outcome]> = [
  [
    "None in the place of an ending",
    { body: events(chunk({ content: "Sunny." }), chunk({}, "None")) },
    { failure: ["Network"] }
  ],
  [
    "an ending within the delta",
    { body: events(chunk({ content: "Sunny." }), chunk({ finish_reason: "stop" })) },
    sunny
  ],
  [
    "one choice and one call that are no lists",
    {
      body: events(
        { choices: chunk({ tool_calls: call(named('{"city":"Ulm"}')) }).choices[0] },
        chunk({}, "tool_calls")
      )
    },
    { calls: [ulm], finish: "tool-calls" }
  ],
  [
    "a number as the id of a call",
    { body: events(chunk({ tool_calls: [call({ id: 17, ...named('{"city":"Ulm"}') })] }), chunk({}, "tool_calls")) },
    { calls: [{ ...ulm, id: "17" }] }
  ],
  ["an empty list as a delta", { body: events(chunk([]), chunk({ content: "Sunny." }), chunk([], "stop")) }, sunny],
  [
    "an empty object as calls",
    { body: events(chunk({ content: "Sunny.", tool_calls: {} }), chunk({}, "stop")) },
    sunny
  ],
  ["a text as a delta", { body: events(chunk("Sunny."), chunk({}, "stop")) }, sunny],
  ["a text as a message", json({ choices: [{ finish_reason: "stop", message: "Sunny." }] }), sunny],
  [
    "figures of usage in texts",
    {
      body: events(
        chunk({ content: "Sunny." }),
        chunk({}, "stop", { usage: { prompt_tokens: "11", completion_tokens: "7" } })
      )
    },
    { ...sunny, usage: { inputTokens: 11, outputTokens: 7 } }
  ],
  [
    "a call as a block of the content",
    {
      body: events(
        chunk({ content: [{ type: "tool_use", id: "x", name: "weather", input: { city: "Ulm" } }] }),
        chunk({}, "tool_calls")
      )
    },
    { calls: [{ ...ulm, id: "x" }], finish: "tool-calls" }
  ],
  [
    "a name without its prefix, in another case",
    {
      body: events(
        chunk({ tool_calls: [call({ function: { name: "Weather", arguments: '{"city":"Ulm"}' } })] }),
        chunk({}, "tool_calls")
      )
    },
    { calls: [ulm] }
  ],
  [
    "a name of no tool",
    {
      body: events(
        chunk({ tool_calls: [call({ function: { name: "functions.search", arguments: "{}" } })] }),
        chunk({}, "tool_calls")
      )
    },
    { calls: [{ name: "functions.search", arguments: {} }] }
  ],
  ["spaces before data", { body: ` data: ${first}\n\n data: ${last}\n\n` }, sunny],
  ["objects one after the other", { contentType: "application/json", body: first + last }, sunny],
  [
    "a field that says when to retry",
    json({ error: { message: "slow down", retry_after: 7 } }, 429),
    { failure: ["RateLimited"], retryAfterMillis: 7000 }
  ],
  [
    "an event with words alone",
    { body: events({ message: "engine went away" }) },
    { failure: ["Overloaded"], says: ["engine went away"] }
  ],
  ["broken JSON", { body: `data: ${first.slice(0, -9)}\n\n` }, { failure: ["Malformed"] }]
]

describe("an answer of Chat Completions with", () => {
  it.each(forms)("%s is read", async (_, reply, expected) => {
    await using server = await Corpus.serve([reply])
    const worker = openaiCompatible({ baseURL: `${server.url}/v1`, model: "m", apiKey: "sk-corpus-key" })
    const row = {
      id: "chat/form",
      protocol: "chat",
      direction: "response",
      class: "folding",
      source: { repository: "", subject: "" },
      why: "",
      replies: [reply],
      expected
    } as const
    Corpus.hold(row, await Corpus.ask(worker, row))
    assert.lengthOf(server.bodies, 1)
  })
})
