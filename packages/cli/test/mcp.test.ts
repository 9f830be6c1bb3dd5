import { assert, describe, expect, it } from "@effect/vitest"
import { type CallToolResult, Client, type Progress } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { command } from "./command.ts"
import { config, divisi } from "./process.ts"

/** The SDK's own client, and `divisi mcp` as the process that it starts. */
const connected = async (name: string, ...flags: ReadonlyArray<string>) => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...command, "mcp", "--config", config(name), ...flags],
    stderr: "pipe"
  })
  let errors = ""
  transport.stderr?.on("data", (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const client = new Client({ name: "test", version: "1.0.0" })
  await client.connect(transport)
  return {
    client,
    errors: () => errors,
    tools: async () => (await client.listTools()).tools,
    ask: (question: string, options: Parameters<Client["callTool"]>[1] = {}) =>
      client.callTool({ name: "ask", arguments: { question } }, options),
    [Symbol.asyncDispose]: () => client.close()
  }
}

const textOf = ({ content }: CallToolResult): string => (content[0]?.type === "text" ? content[0].text : "")

describe("divisi mcp", () => {
  it("offers the team to a client, answers, and reports progress", async () => {
    await using team = await connected("quick", "--description", "Counts")
    assert.deepStrictEqual(
      (await team.tools()).map(({ description, name }) => [name, description]),
      [["ask", "Counts"]]
    )
    // The SDK drops notifications right before an answer if it reads both at once, but not for a custom handler.
    const told: Array<Progress> = []
    team.client.setNotificationHandler("notifications/progress", ({ params }) => {
      told.push(params)
    })
    const result = await team.ask("Count!", { onprogress: () => {} })
    assert.deepStrictEqual([result.isError ?? false, textOf(result)], [false, "one"])
    expect(told.map(({ message }) => message)).toContain("Step 1: first has answered.")
  })

  it("keeps the limits of each question, and of all", async () => {
    await using poor = await connected("quick", "--max-cost", "0.001")
    const stopped = await poor.ask("Count!")
    assert.isTrue(stopped.isError)
    expect(textOf(stopped)).toMatch(/^The budget stopped the run/)

    await using frugal = await connected("quick", "--max-total-cost", "0.015")
    assert.strictEqual(textOf(await frugal.ask("Count!")), "one")
    expect(textOf(await frugal.ask("Count on!"))).toMatch(/^The budget stopped the run/)
  })

  it("stops a run that is cancelled, and answers the next", async () => {
    await using team = await connected("talking")
    const controller = new AbortController()
    const asked = team.ask("Talk!", { signal: controller.signal })
    while (!team.errors().includes("asked")) await new Promise((resolve) => setTimeout(resolve, 10))
    controller.abort("enough")
    await expect(asked).rejects.toThrow()
    assert.strictEqual((await team.tools()).length, 1)
  })

  it("lets workers use tools, and reports pending calls if no person can be asked", async () => {
    await using team = await connected("tools")
    assert.strictEqual(textOf(await team.ask('files__read {"name":"a"}')), "the text\u001b]0;owned\u0007 of a")
    const waiting = await team.ask('order {"city":"Ulm"}')
    assert.isTrue(waiting.isError)
    expect(textOf(waiting)).toMatch(/order\(\{"city":"Ulm"\}\) waits for an approval/)
  })

  it("ends with its input, and writes only protocol messages", async () => {
    const { code, output } = await divisi(["mcp", "--config", config("quick")], { input: "no message\n" })
    assert.deepStrictEqual([code, output], [0, ""])
  })
})
