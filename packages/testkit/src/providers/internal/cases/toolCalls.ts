/** Cases for the tool calls that a model requests. */
import assert from "node:assert/strict"
import type { ToolCall } from "@divisi/core/Message"
import type { Case } from "../../ProviderContract.ts"
import * as Script from "../../Script.ts"
import { assertClosesSoon, assertFails, assertSucceeds, type CallResult, type Subject } from "../subject.ts"
import { clock, weather } from "./tools.ts"

const tools = [weather, clock]

const inUlm = { city: "Ulm", days: 2, unit: "celsius" }

const ulm = JSON.stringify(inUlm)

const ending = { ending: "tool-calls" } as const

const calling = (...deltas: ReadonlyArray<Script.Delta>) => Script.answer(deltas, ending)

const read = ({ arguments: text, name }: ToolCall) => ({ name, arguments: JSON.parse(text) })

const assertCalls = (outcome: CallResult, ...expected: ReadonlyArray<{ name: string; arguments: unknown }>) => {
  const { calls, finish, parts } = assertSucceeds(outcome)
  assert.deepEqual(calls.map(read), expected)
  for (const call of calls) {
    const pieces = parts.flatMap((part) => (part.type === "tool-call-delta" && part.id === call.id ? [part] : []))
    const whole = pieces.map((piece) => piece.arguments).join("")
    if (pieces.length > 0) assert.equal(whole, call.arguments, "The pieces of a call are not what it is.")
  }
  assert.equal(finish?.reason, "tool-calls")
}

/** Whether arguments cannot be sent because the vendor writes them as JSON. */
const isUnwritable = ({ options }: Subject) => options.dialect.argumentsAs === "json"

const asked = (id: string, name: string, run: (subject: Subject) => Promise<void>): Case => ({
  id: `tool-call/${id}`,
  name,
  needs: "tools",
  run
})

export const toolCalls: ReadonlyArray<Case> = [
  asked("whole", "gives the call of a tool, and says that it waits for its result", async ({ ask }) => {
    const outcome = await ask([calling(...Script.call("call_1", weather.name, ulm))], { tools })
    assertCalls(outcome, { name: weather.name, arguments: inUlm })
    assert.equal(outcome.text, "")
  }),
  asked("pieces", "gives a call whose arguments come in pieces", async ({ ask }) => {
    const pieces = ['{"ci', 'ty":"U', "lm", '","days":2,', '"unit":"celsius"', "}"]
    assertCalls(await ask([calling(...Script.call("call_1", weather.name, ...pieces))], { tools }), {
      name: weather.name,
      arguments: inUlm
    })
  }),
  {
    ...asked("as-it-comes", "gives each piece of a call as it comes", async ({ options, serve, start, worker }) => {
      if (options.dialect.argumentsAs === "json") return
      const answer = calling(...Script.call("call_1", weather.name, '{"city":"Ulm",', '"days":2,', '"unit":"celsius"}'))
      const server = await serve([{ type: "hang", answer, after: 2 }])
      const call = start(worker(server), { tools })
      await call.received(2)
      const pieces = call.parts.flatMap((part) => (part.type === "tool-call-delta" ? [part] : []))
      assert.equal(pieces.map((piece) => piece.arguments).join(""), '{"city":"Ulm","days":2,')
      assert.ok(pieces.every(({ id, name }) => id === pieces[0]?.id && name === weather.name))
      await call.interrupt()
      const [exchange] = server.exchanges
      assert.ok(exchange)
      await assertClosesSoon(exchange)
    }),
    needsStream: true
  },
  asked("drip", "gives a call that comes byte by byte", async ({ ask }) => {
    const answer = { ...calling(...Script.call("call_1", weather.name, '{"city":"Kö', 'ln 🌍"}')), noise: false }
    assertCalls(await ask([{ type: "drip", answer }], { tools }), {
      name: weather.name,
      arguments: { city: "Köln 🌍" }
    })
  }),
  asked("parallel", "gives several calls of one answer in order", async ({ ask }) => {
    const answer = calling(
      ...Script.call("call_1", weather.name, '{"city":', '"Ulm"}'),
      ...Script.call("call_2", weather.name, '{"city":"Bonn"}'),
      ...Script.call("call_3", clock.name, "{}")
    )
    assertCalls(
      await ask([answer], { tools }),
      { name: weather.name, arguments: { city: "Ulm" } },
      { name: weather.name, arguments: { city: "Bonn" } },
      { name: clock.name, arguments: {} }
    )
  }),
  asked("same", "keeps two calls apart that say the same", async ({ ask }) => {
    const answer = calling(...Script.call("call_1", clock.name, "{}"), ...Script.call("call_2", clock.name, "{}"))
    assertCalls(
      await ask([answer], { tools }),
      { name: clock.name, arguments: {} },
      { name: clock.name, arguments: {} }
    )
  }),
  asked("after-text", "gives what the model says before it asks for a tool", async ({ ask }) => {
    const answer = calling(
      { type: "text", text: "Let me " },
      { type: "text", text: "look." },
      ...Script.call("call_1", weather.name, ulm)
    )
    const outcome = await ask([answer], { tools })
    assertCalls(outcome, { name: weather.name, arguments: inUlm })
    assert.equal(outcome.text, "Let me look.")
  }),
  asked("after-reasoning", "keeps a call apart from the reasoning before it", async ({ ask }) => {
    const answer = calling(Script.reasoning("The city is Ulm."), ...Script.call("call_1", weather.name, ulm))
    const outcome = await ask([answer], { tools })
    assertCalls(outcome, { name: weather.name, arguments: inUlm })
    assert.equal(outcome.text, "")
  }),
  asked("no-arguments", "gives a call without arguments as one with an empty object", async ({ ask }) => {
    for (const empty of ["{}", ""]) {
      assertCalls(await ask([calling(...Script.call("call_1", clock.name, empty))], { tools }), {
        name: clock.name,
        arguments: {}
      })
    }
  }),
  asked("characters", "gives arguments with every character as it is", async ({ ask }) => {
    const odd = { city: 'a"b\\c\n\t\u0000 \u2028 data: x 🌍', deep: [{ a: [null, true, -1.5e3] }] }
    assertCalls(await ask([calling(...Script.call("call_1", weather.name, JSON.stringify(odd)))], { tools }), {
      name: weather.name,
      arguments: odd
    })
  }),
  asked("megabyte", "gives arguments of a megabyte in many pieces", async ({ ask }) => {
    const city = "0123456789abcdef".repeat(4096)
    const pieces = ['{"city":"', ...Array.from({ length: 16 }, () => city), '"}']
    assertCalls(await ask([calling(...Script.call("call_1", weather.name, ...pieces))], { tools }), {
      name: weather.name,
      arguments: { city: city.repeat(16) }
    })
  }),
  asked("no-json", "gives arguments that are no JSON as the model wrote them", async (subject) => {
    if (isUnwritable(subject)) return
    for (const text of ['{"city":"Ulm"', "city: Ulm", "[1", '{"a":1}{"b"', "7"]) {
      const { calls, finish } = assertSucceeds(
        await subject.ask([calling(...Script.call("call_1", weather.name, text))], { tools })
      )
      assert.deepEqual(
        calls.map((call) => call.arguments),
        [text]
      )
      assert.equal(finish?.reason, "tool-calls")
    }
  }),
  asked("unknown", "gives the call of a tool that nobody has told of", async ({ ask }) => {
    assertCalls(await ask([calling(...Script.call("call_1", "moon_phase", '{"a":1}'))], { tools }), {
      name: "moon_phase",
      arguments: { a: 1 }
    })
  }),
  asked("ended-by-itself", "waits for tools also where the vendor says that the answer is over", async ({ ask }) => {
    const answer = Script.answer([...Script.call("call_1", clock.name, "{}")], { ending: "stop" })
    assertCalls(await ask([answer], { tools }), { name: clock.name, arguments: {} })
  }),
  asked("none", "ends an answer in which no tool is asked for as any other", async ({ ask }) => {
    const { calls, finish, text } = assertSucceeds(await ask([Script.answer("It is sunny.")], { tools }))
    assert.deepEqual([calls, finish?.reason, text], [[], "stop", "It is sunny."])
  }),
  asked("length", "ends at the limit where that is in the middle of a call", async (subject) => {
    if (isUnwritable(subject)) return
    const answer = Script.answer([...Script.call("call_1", weather.name, '{"city":"U')], { ending: "length" })
    const { finish } = assertSucceeds(await subject.ask([answer], { tools }))
    assert.equal(finish?.reason, "length")
  }),
  asked("usage", "reports what was used", async ({ ask }) => {
    const usage = { inputTokens: 321, outputTokens: 54 }
    const answer = Script.answer([...Script.call("call_1", weather.name, ulm)], { ...ending, usage })
    const { finish } = assertSucceeds(await ask([answer], { tools }))
    assert.equal(finish?.usage.inputTokens, 321)
    assert.equal(finish?.usage.outputTokens, 54)
  }),
  asked("cut", "fails where the answer breaks off in the middle of a call", async ({ ask }) => {
    const answer = calling(...Script.call("call_1", weather.name, '{"city":', '"Ulm"}'))
    for (const how of ["end", "half-event", "reset"] as const) {
      const outcome = await ask([{ type: "cut", answer, after: 1, how }], { tools })
      assertFails(outcome, "Network", "Malformed")
      assert.deepEqual(outcome.calls, [], "A call that was cut off must not be made.")
    }
  })
]
