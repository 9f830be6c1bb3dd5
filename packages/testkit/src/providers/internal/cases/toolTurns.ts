/** Cases for tool turns in a request: the model's own turn and the tool results. */
import assert from "node:assert/strict"
import type { AssistantMessage, ContentPart, Message, ToolCall, ToolMessage } from "@divisi/core/Message"
import { parsed, type SentMessage } from "../../Dialect.ts"
import type { Case } from "../../ProviderContract.ts"
import * as Script from "../../Script.ts"
import { assertAccepts, assertFails, assertSucceeds, type Setting, type Subject } from "../subject.ts"
import { clock, weather } from "./tools.ts"

const tools = [weather, clock]

const question: Message = { role: "user", content: "Weather in Ulm?" }

const asking: ToolCall = { id: "call_1", name: weather.name, arguments: '{"city":"Ulm","days":2}' }

const assistant = (toolCalls: ReadonlyArray<ToolCall>, content = ""): AssistantMessage => ({
  role: "assistant",
  content,
  toolCalls
})

const result = ({ id, name }: ToolCall, content: ToolMessage["content"], isError?: boolean): ToolMessage => ({
  role: "tool",
  callId: id,
  name,
  content,
  ...(isError === undefined ? {} : { isError })
})

const sentOf = async (
  { ask }: Subject,
  messages: ReadonlyArray<Message>,
  setting?: Setting
): Promise<ReadonlyArray<SentMessage>> => {
  const outcome = await ask([Script.answer("Sunny.")], { messages, tools })
  if (setting === undefined) assertSucceeds(outcome)
  else assertAccepts(outcome, setting)
  return outcome.server.exchanges[0]?.sent.messages ?? []
}

const calls = (sent: ReadonlyArray<SentMessage>): ReadonlyArray<ToolCall> =>
  sent.flatMap(({ toolCalls }) => toolCalls ?? [])

const read = (sent: ReadonlyArray<SentMessage>) =>
  calls(sent).map(({ arguments: text, name }) => ({ name, arguments: parsed(text) }))

const results = (sent: ReadonlyArray<SentMessage>) => sent.filter(({ role }) => role === "tool")

/** Checks that each result belongs to a call, in the order of the calls. */
const assertPaired = (sent: ReadonlyArray<SentMessage>) => {
  assert.deepEqual(
    results(sent).map(({ callId }) => callId),
    calls(sent).map(({ id }) => id)
  )
}

const turned = (id: string, name: string, run: (subject: Subject) => Promise<void>): Case => ({
  id: `tool-turn/${id}`,
  name,
  needs: "tools",
  run
})

const picture: ContentPart = { type: "image", data: "iVBORw0KGgo=", mediaType: "image/png" }

/** A tool result that is an image, in the result turn or in a user turn after it. */
const withPicture = async (subject: Subject) => {
  const content = [{ type: "text", text: "The map:" }, picture] as const
  const messages = [question, assistant([asking]), result(asking, content)]
  const expectation = subject.options.settings?.toolImages ?? "passed"
  if (expectation !== "passed" && expectation.type === "rejected") {
    const outcome = await subject.ask([Script.answer("ok")], { messages, tools })
    assert.match(assertFails(outcome, "InvalidRequest").message, /image|picture/i)
    assert.equal(outcome.server.exchanges.length, 0, "A rejected request must not be sent.")
    return
  }
  const sent = await sentOf(subject, messages, "toolImages")
  assertPaired(sent)
  const at = sent.findIndex(({ role }) => role === "tool")
  const after = sent.slice(at).flatMap(({ parts = [] }) => parts)
  assert.deepEqual(
    after.filter(({ type }) => type === "image"),
    [picture]
  )
  const text = sent.slice(at).map((message) => message.content)
  assert.match(text.join("\n"), /The map:/)
}

/** The vendor's signature is sent back with its turn. */
const echoed = async ({ call, options, serve, worker }: Subject) => {
  if (options.dialect.signs !== true) return
  const signature = "c2lnbmF0dXJlIG9mIHRoZSB2ZW5kb3I="
  const deltas = [Script.reasoning("I must look."), ...Script.call("call_1", weather.name, '{"city":"Ulm"}')]
  const server = await serve([Script.answer(deltas, { ending: "tool-calls", signature }), Script.answer("Sunny.")])
  const one = worker(server)
  const first = assertSucceeds(await call(one, { messages: [question], tools }))
  assert.notEqual(first.finish?.echo, undefined, "What the vendor wants back was not given.")
  // After serialization.
  const echo: unknown = JSON.parse(JSON.stringify(first.finish?.echo))
  const toolCalls = first.calls.map(({ arguments: text, id, name }) => ({ id, name, arguments: text }))
  const [asked] = toolCalls
  assert.ok(asked)
  const messages: ReadonlyArray<Message> = [
    question,
    { role: "assistant", content: first.text, toolCalls, echo },
    result(asked, "sunny")
  ]
  assertSucceeds(await call(one, { messages, tools }))
  const sent = server.exchanges[1]?.sent
  assert.deepEqual(sent?.signatures, [signature])
  assertPaired(sent?.messages ?? [])
  assert.deepEqual(read(sent?.messages ?? []), [{ name: weather.name, arguments: { city: "Ulm" } }])
}

export const toolTurns: ReadonlyArray<Case> = [
  turned("result", "sends a call and its result, and that they belong together", async (subject) => {
    const sent = await sentOf(subject, [question, assistant([asking]), result(asking, "sunny, 21 °C")])
    assert.deepEqual(read(sent), [{ name: weather.name, arguments: { city: "Ulm", days: 2 } }])
    assertPaired(sent)
    assert.deepEqual(
      results(sent).map(({ content }) => parsed(content)),
      ["sunny, 21 °C"]
    )
    assert.deepEqual(
      sent.map(({ role }) => role),
      ["user", "assistant", "tool"]
    )
  }),
  turned("results", "sends the results of several calls, each with its own", async (subject) => {
    const other = { id: "call_2", name: clock.name, arguments: "{}" }
    const messages = [question, assistant([asking, other]), result(asking, "sunny"), result(other, "noon")]
    const sent = await sentOf(subject, messages)
    assertPaired(sent)
    assert.deepEqual(
      results(sent).map(({ content }) => content),
      ["sunny", "noon"]
    )
  }),
  turned("text", "sends what the model said beside its calls", async (subject) => {
    const sent = await sentOf(subject, [question, assistant([asking], "Let me look."), result(asking, "sunny")])
    const said = sent.filter(({ role }) => role === "assistant").map(({ content }) => content)
    assert.equal(said.join(""), "Let me look.")
    assertPaired(sent)
  }),
  turned("rounds", "sends several rounds of calls, and the turns after them", async (subject) => {
    const other = { id: "call_2", name: clock.name, arguments: "{}" }
    const sent = await sentOf(subject, [
      { role: "system", content: "Be terse." },
      question,
      assistant([asking]),
      result(asking, "sunny"),
      assistant([other]),
      result(other, "noon"),
      { role: "assistant", content: "Sunny at noon." },
      { role: "user", content: "And tomorrow?" }
    ])
    assertPaired(sent)
    assert.deepEqual(
      sent.map(({ role }) => role),
      ["system", "user", "assistant", "tool", "assistant", "tool", "assistant", "user"]
    )
    assert.equal(sent.at(-1)?.content, "And tomorrow?")
  }),
  turned("error", "sends that a tool failed, and why", async (subject) => {
    const sent = await sentOf(subject, [question, assistant([asking]), result(asking, "no such city", true)])
    const [failed] = results(sent)
    assert.match(failed?.content ?? "", /no such city/)
    assert.ok(failed?.isError === true || /error|fail/i.test(failed?.content ?? ""), "Nothing says that it failed.")
  }),
  turned("parts", "sends a result that is several texts", async (subject) => {
    const texts = [
      { type: "text", text: "sunny" },
      { type: "text", text: "21 °C" }
    ] as const
    const sent = await sentOf(subject, [question, assistant([asking]), result(asking, texts)])
    assert.match(results(sent)[0]?.content ?? "", /sunny[\s\S]*21 °C/)
  }),
  turned("empty", "sends a result that is empty", async (subject) => {
    const sent = await sentOf(subject, [question, assistant([asking]), result(asking, "")])
    assertPaired(sent)
    assert.equal(results(sent).length, 1)
  }),
  { ...turned("picture", "sends a result that is a picture", withPicture), needs: "images" },
  turned("no-json", "sends a turn whose arguments were no JSON", async (subject) => {
    const odd = { ...asking, arguments: '{"city":"U' }
    const sent = await sentOf(subject, [question, assistant([odd]), result(odd, "these arguments are no JSON", true)])
    assert.deepEqual(
      calls(sent).map(({ name }) => name),
      [weather.name]
    )
    assertPaired(sent)
  }),
  turned("no-tools", "sends the turns of tools where there are none any more", async ({ ask }) => {
    const messages = [question, assistant([asking]), result(asking, "sunny")]
    const outcome = await ask([Script.answer("Sunny.")], { messages })
    assertSucceeds(outcome)
    assert.equal(outcome.server.exchanges[0]?.text.includes("sunny"), true)
  }),
  turned("echo", "sends what the vendor signed back with the turn that it signed", echoed),
  turned("echo-of-another", "leaves out what another vendor wanted back", async ({ ask }) => {
    for (const echo of ["theirs-0815", { theirs: "theirs-0815" }, [{ type: "theirs-0815" }], null, 7, [null, 7, []]]) {
      const messages = [question, { ...assistant([asking]), echo }, result(asking, "sunny")]
      const outcome = await ask([Script.answer("Sunny.")], { messages, tools })
      assertSucceeds(outcome)
      assert.equal(outcome.server.exchanges[0]?.text.includes("theirs-0815"), false)
    }
  })
]
