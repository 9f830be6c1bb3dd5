/** Conversations as agents send them after an interruption, or after a change of their wire. */
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, asks, said, worker } from "./teams.ts"

const schema = { type: "object", properties: { city: { type: "string" } } } as const

type Body = Readonly<Record<string, unknown>>

const user = (content: unknown): Body => ({ role: "user", content })

/** Calls and results in the form of each wire. */
const wires = {
  chat: {
    path: "chat/completions",
    field: "messages",
    tool: (name: string): Body => ({ type: "function", function: { name, parameters: schema } }),
    calls: (...calls: ReadonlyArray<readonly [id: string, name: string]>): ReadonlyArray<Body> => [
      {
        role: "assistant",
        content: null,
        tool_calls: calls.map(([id, name]) => ({ id, type: "function", function: { name, arguments: "{}" } }))
      }
    ],
    result: (id: string): Body => ({ role: "tool", tool_call_id: id, content: "sunny" })
  },
  responses: {
    path: "responses",
    field: "input",
    tool: (name: string): Body => ({ type: "function", name, parameters: schema }),
    calls: (...calls: ReadonlyArray<readonly [id: string, name: string]>): ReadonlyArray<Body> =>
      calls.map(([call_id, name]) => ({ type: "function_call", call_id, name, arguments: "{}" })),
    result: (call_id: string): Body => ({ type: "function_call_output", call_id, output: "sunny" })
  },
  messages: {
    path: "messages",
    field: "messages",
    tool: (name: string): Body => ({ name, input_schema: schema }),
    calls: (...calls: ReadonlyArray<readonly [id: string, name: string]>): ReadonlyArray<Body> => [
      { role: "assistant", content: calls.map(([id, name]) => ({ type: "tool_use", id, name, input: {} })) }
    ],
    result: (tool_use_id: string): Body => user([{ type: "tool_result", tool_use_id, content: "sunny" }])
  }
} as const

type Wire = keyof typeof wires

const all = Object.keys(wires) as ReadonlyArray<Wire>

const post = async (url: string, wire: Wire, list: ReadonlyArray<Body>, more: Body = {}) => {
  const { field, path } = wires[wire]
  const body = JSON.stringify({ model: "divisi", max_tokens: 99, [field]: list, ...more })
  const response = await fetch(`${url}/${path}`, { method: "POST", body })
  const text = await response.text()
  assert.strictEqual(response.status, 200, text)
  return { text, body: JSON.parse(text), notices: response.headers.get("x-divisi-notices") ?? "" }
}

/** The messages that the worker received: the role, and for results the call. */
const rolesOf = (messages: ReadonlyArray<object>) =>
  messages.map((message) => {
    const { callId, role } = message as { readonly role: string; readonly callId?: string }
    return callId === undefined ? role : `${role} ${callId}`
  })

describe.each(all)("a conversation on the wire of %s", (wire) => {
  const { calls, result } = wires[wire]

  it.each([
    ["none is answered", [user("?"), ...calls(["c1", "look"]), user("Go on.")], ["c1"]],
    ["one of two is answered", [user("?"), ...calls(["c1", "look"], ["c2", "look"]), result("c2"), user("?")], ["c1"]],
    ["it ends with the call", [user("?"), ...calls(["c1", "look"])], ["c1"]],
    [
      "the call is far back",
      [user("?"), ...calls(["c1", "look"]), user("?"), ...calls(["c2", "look"]), result("c2"), user("?")],
      ["c1"]
    ]
  ] as const)("gets a note for a call without a result where %s", (_, list, open) => {
    const a = worker("a", said("Fine."))
    return serving(alone(a), async ({ url }) => {
      const { notices } = await post(url, wire, list)
      for (const id of open) assert.include(notices, id)
      const messages = a.calls[0]?.messages ?? []
      const noted = messages.filter((message) => message.role === "tool" && message.isError === true)
      assert.deepStrictEqual(
        noted.map((message) => message.role === "tool" && message.callId),
        [...open]
      )
      // Each turn with calls is followed by all of their results.
      for (const [at, message] of messages.entries()) {
        if (message.role !== "assistant" || message.toolCalls === undefined) continue
        const after = messages.slice(at + 1, at + 1 + message.toolCalls.length)
        assert.sameMembers(
          after.map((one) => one.role === "tool" && one.callId),
          message.toolCalls.map(({ id }) => id)
        )
      }
    })
  })

  it("has each result behind its call, wherever it came", () => {
    const a = worker("a", said("Fine."))
    return serving(alone(a), async ({ url }) => {
      await post(url, wire, [user("?"), ...calls(["c1", "look"]), user("Wait."), result("c1"), user("Now?")])
      const roles = rolesOf(a.calls[0]?.messages ?? [])
      assert.deepStrictEqual(roles, ["user", "assistant", "tool c1", "user", "user"])
    })
  })

  it("resumes a run if only some of its calls were answered", () => {
    const a = worker("a", asks(["look", {}], ["look", {}]), said("Fine."))
    return serving(alone(a), async ({ url }) => {
      const tools = [wires[wire].tool("look")]
      const first = await post(url, wire, [user("?")], { tools })
      const ids = [...new Set(first.text.match(/call_[0-9A-Za-z]{22}_[0-9A-Za-z]{6}/g))]
      assert.lengthOf(ids, 2)
      const [one = "", two = ""] = ids
      const list = [user("?"), ...calls([one, "look"], [two, "look"]), result(two)]
      const { text } = await post(url, wire, list, { tools })
      assert.include(text, "Fine.")
      assert.lengthOf(a.calls, 2)
      assert.include(JSON.stringify(a.calls[1]?.messages), "No result: the call")
    })
  })

  it("may hold messages of the other wires", () => {
    const others = all.filter((one) => one !== wire)
    const a = worker("a", ...others.map(() => said("Fine.")))
    return serving(alone(a), async ({ url }) => {
      for (const [at, other] of others.entries()) {
        const list = [user("?"), ...wires[other].calls(["c1", "look"]), wires[other].result("c1"), user("So?")]
        await post(url, wire, list)
        const messages = a.calls[at]?.messages ?? []
        assert.deepStrictEqual(rolesOf(messages), ["user", "assistant", "tool c1", "user"], other)
        assert.include(JSON.stringify(messages), "sunny")
      }
    })
  })

  it("has tools of any name, which workers know by another", () => {
    const names = ["fs.read", "fs/read", "Create Share", "読む", "x".repeat(90)]
    const known = ["fs_read", "fs_read_2", "Create_Share", "__"]
    const a = worker("a", asks(["fs_read_2", {}], ["__", {}]), said("Fine."))
    return serving(alone(a), async ({ url }) => {
      const tools = names.map((name) => wires[wire].tool(name))
      const { text } = await post(url, wire, [user("?")], { tools })
      const offered = a.calls[0]?.tools?.map(({ name }) => name) ?? []
      assert.deepStrictEqual(offered.slice(0, 4), known)
      for (const name of offered) assert.match(name, /^[\w-]{1,64}$/)
      assert.include(text, '"name":"fs/read"')
      assert.include(text, '"name":"読む"')
      // In the history, they have the client's names; a tool that is not offered any more gets one, too.
      const list = [user("?"), ...calls(["c1", "fs/read"], ["c2", "old.tool"]), result("c1"), result("c2"), user("So?")]
      await post(url, wire, list, { tools })
      const history = a.calls[1]?.messages.flatMap((message) =>
        message.role === "assistant" ? (message.toolCalls ?? []).map(({ name }) => name) : []
      )
      assert.deepStrictEqual(history, ["fs_read_2", "old_tool"])
    })
  })

  it("streams calls under the client's names", () => {
    const a = worker("a", asks(["fs_read", {}]))
    return serving(alone(a), async ({ url }) => {
      const { field, path, tool } = wires[wire]
      const response = await fetch(`${url}/${path}`, {
        method: "POST",
        body: JSON.stringify({
          model: "divisi",
          max_tokens: 99,
          [field]: [user("?")],
          tools: [tool("fs.read")],
          stream: true
        })
      })
      const text = await response.text()
      assert.include(text, '"name":"fs.read"')
      assert.notInclude(text, '"name":"fs_read"')
    })
  })

  it("offers the first of two tools with one name", () => {
    const a = worker("a", said("Fine."))
    return serving(alone(a), async ({ url }) => {
      const tools = [wires[wire].tool("look"), wires[wire].tool("look")]
      const { notices } = await post(url, wire, [user("?")], { tools })
      assert.include(notices, "look")
      assert.lengthOf(a.calls[0]?.tools ?? [], 1)
    })
  })
})

describe("a summary of what came before", () => {
  const summed = async (item: Body) => {
    const a = worker("a", said("Fine."))
    return serving(alone(a), async ({ url }) => {
      const { notices } = await post(url, "responses", [item, user("So?")])
      return { notices, messages: JSON.stringify(a.calls[0]?.messages) }
    })
  }

  it.each(["compaction", "compaction_summary", "context_compaction"])(
    "that another server encrypted (%s) is left out with a notice",
    async (type) => {
      const { messages, notices } = await summed({ type, encrypted_content: "gAAAAABo-of-another-server" })
      assert.include(notices, "input[0] was omitted")
      assert.notInclude(messages, "gAAAA")
    }
  )

  it.each([
    { type: "compaction", encrypted_content: {}, summary: "We spoke of Rome." },
    { type: "compaction", summary: [{ type: "summary_text", text: "We spoke of Rome." }] },
    { type: "context_compaction", encrypted_content: "gAAAA", content: "We spoke of Rome." }
  ])("in the open is read: %o", async (item) => {
    const { messages, notices } = await summed(item)
    assert.include(messages, "We spoke of Rome.")
    assert.strictEqual(notices, "")
  })

  it("is read as a block of Messages", () => {
    const a = worker("a", said("Fine."))
    return serving(alone(a), async ({ url }) => {
      const summary = { role: "assistant", content: [{ type: "compaction", content: "We spoke of Rome." }] }
      await post(url, "messages", [user("?"), summary, user("So?")])
      assert.include(JSON.stringify(a.calls[0]?.messages), "We spoke of Rome.")
    })
  })
})
