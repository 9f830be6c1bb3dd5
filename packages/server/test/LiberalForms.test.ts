/** Forms of requests that no wire documents and that clients send: each is read, and the worker is asked. */
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const user = (content: unknown) => ({ role: "user", content })
const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } }
const calling = (tool_calls: unknown) => ({ role: "assistant", content: "", tool_calls })

type Form = readonly [name: string, path: string, body: object, headers: Record<string, string>]

const chat = (name: string, body: object, headers: Record<string, string> = {}): Form => [
  name,
  "chat/completions",
  { model: "divisi", messages: [user("Hm")], ...body },
  headers
]
const responses = (name: string, body: object): Form => [
  name,
  "responses",
  { model: "divisi", input: "Hm", ...body },
  {}
]
const messages = (name: string, body: object): Form => [
  name,
  "messages",
  { model: "divisi", max_tokens: 99, messages: [user("Hm")], ...body },
  {}
]

const forms: ReadonlyArray<Form> = [
  chat("a stream of false in words", { stream: "false" }),
  chat("one answer in words", { n: "1" }),
  chat("null among the messages", { messages: [null, user("Hm")] }),
  chat("a role in capitals", { messages: [{ role: "User", content: "Hm" }] }),
  chat("roles of LangChain", { messages: [{ role: "human", content: "a" }, { role: "ai", content: "b" }, user("Hm")] }),
  chat("a role of Gemini", { messages: [user("a"), { role: "model", content: "b" }, user("Hm")] }),
  chat("results without ids", {
    messages: [
      user("a"),
      calling([{ function: call.function }, { function: { name: "hear", arguments: "{}" } }]),
      { role: "tool", content: "x" },
      { role: "tool", tool_call_id: null, content: "y" },
      user("Hm")
    ]
  }),
  chat("numbers as ids", {
    messages: [user("a"), calling([{ ...call, id: 5 }]), { role: "tool", tool_call_id: 5, content: "x" }, user("Hm")]
  }),
  chat("an empty object as calls", { messages: [user("a"), { ...calling({}), content: "b" }, user("Hm")] }),
  chat("an empty object as tools", { tools: {} }),
  chat("null among the tools", { tools: [null] }),
  chat("a function by its name alone", {
    tools: [{ type: "function", function: { name: "look" } }],
    tool_choice: { type: "function", function: "look" }
  }),
  chat("a charset as the encoding", {}, { "content-encoding": "UTF-8" }),
  responses("one item as the input", { input: user("Hm") }),
  responses("null among the items", { input: [null, user("Hm")] }),
  responses("a call with its own id alone", {
    input: [
      { type: "function_call", id: "c", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "x" },
      user("Hm")
    ]
  }),
  responses("no previous response in words", { previous_response_id: "" }),
  messages("a role of OpenAI", { messages: [{ role: "developer", content: "Be brief." }, user("Hm")] }),
  messages("null among the messages", { messages: [null, user("Hm")] })
]

describe("a request with", () => {
  it.each(forms)("%s is read", (_, path, body, headers) => {
    const a = worker("a", said("Fine."))
    return serving(alone(a), async ({ url }) => {
      const response = await fetch(`${url}/${path}`, { method: "POST", headers, body: JSON.stringify(body) })
      assert.strictEqual(response.status, 200, await response.text())
      assert.strictEqual(a.calls[0]?.messages.at(-1)?.content, "Hm")
    })
  })

  it("results without ids gives each to its call, in order", () => {
    const a = worker("a", said("Fine."))
    const [, path, body] = forms.find(([name]) => name === "results without ids")!
    return serving(alone(a), async ({ url }) => {
      await fetch(`${url}/${path}`, { method: "POST", body: JSON.stringify(body) })
      const results = (a.calls[0]?.messages ?? []).flatMap((message) => (message.role === "tool" ? [message] : []))
      assert.deepStrictEqual(
        results.map(({ content, name }) => [name, content]),
        [
          ["look", "x"],
          ["hear", "y"]
        ]
      )
    })
  })
})
