/** OpenAI's tools that the client runs, whose calls are items of their own type: `shell`, `local_shell` and `apply_patch`. */
import { assert, describe, it } from "vitest"
import { streamed } from "./responses.ts"
import { serving } from "./serving.ts"
import { alone, asks, said, worker } from "./teams.ts"

interface Row {
  readonly tool: object
  readonly name: string
  readonly input: object
  readonly output: object
  readonly seen: string
}

const rows: ReadonlyArray<Row> = [
  {
    tool: { type: "shell" },
    name: "shell",
    input: { action: { commands: ["ls"], timeout_ms: 1_000 } },
    output: { output: [{ stdout: "a.txt", stderr: "", outcome: { type: "exit", exit_code: 0 } }] },
    seen: "a.txt"
  },
  {
    tool: { type: "shell", environment: { type: "local" } },
    name: "shell",
    input: { action: { commands: ["ls", "pwd"] } },
    output: { output: [{ stdout: "", stderr: "not found", outcome: { type: "timeout" } }] },
    seen: "not found"
  },
  {
    tool: { type: "local_shell" },
    name: "local_shell",
    input: { action: { type: "exec", command: ["ls"], env: {} } },
    output: { output: "a.txt" },
    seen: "a.txt"
  },
  {
    tool: { type: "apply_patch" },
    name: "apply_patch",
    input: { operation: { type: "create_file", path: "a.txt", diff: "+x" } },
    output: { status: "failed", output: "It exists." },
    seen: "It exists."
  }
]

describe("a tool whose calls are items of their own type", () => {
  for (const { input, name, output, seen, tool } of rows) {
    it(`is called and answered: ${JSON.stringify(tool)}`, () => {
      const a = worker("a", asks([name, input]), said("Done."))
      return serving(alone(a), async ({ client }) => {
        const body = { model: "divisi", tools: [tool as never], tool_choice: { type: name } as never }
        const first = await client.responses.create({ ...body, input: "Look" })
        const call = first.output.at(-1)!
        assert.deepInclude(call as object, { type: `${name}_call`, status: "completed", ...input })
        const [request] = a.calls
        assert.deepEqual(
          request?.tools?.map(({ name }) => name),
          [name]
        )
        assert.deepEqual(request?.toolChoice, { name })
        const { call_id } = call as unknown as { readonly call_id: string }
        const result = { type: `${name}_call_output`, call_id, ...output } as never
        const last = await client.responses.create({ ...body, previous_response_id: first.id, input: [result] })
        assert.strictEqual(last.output_text, "Done.")
        assert.include(JSON.stringify(a.calls.at(-1)?.messages.at(-1)), seen)
      })
    })
  }

  it("is an item of a stream", () => {
    const input = { action: { commands: ["ls"] } }
    return serving(alone(worker("a", asks(["shell", input]))), async ({ url }) => {
      const { events } = await streamed(url, { model: "divisi", input: "Look", tools: [{ type: "shell" }] })
      const items = events.flatMap((event) => ("item" in event ? [event.item] : []))
      assert.deepEqual(
        items.map((item) => [item.type, (item as { readonly status?: string }).status]),
        [
          ["shell_call", "in_progress"],
          ["shell_call", "completed"]
        ]
      )
    })
  })

  it("is left out with a notice if its vendor runs it", () =>
    serving(alone(worker("a", said("Done."))), async ({ url }) => {
      const tools = [{ type: "shell", environment: { type: "container_auto" } }, { type: "computer" }]
      const body = JSON.stringify({ model: "divisi", input: "Look", tools })
      const response = await fetch(`${url}/responses`, { method: "POST", body })
      assert.strictEqual(response.status, 200)
      const notices: ReadonlyArray<string> = (await response.json()).divisi.notices
      for (const type of ["shell", "computer"]) assert.include(notices.join(" "), `tools of type "${type}"`)
    }))
})
