import { PassThrough } from "node:stream"
import { Baselines } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import { tool, worker } from "@divisi/core/promise"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as ConductorServer from "@divisi/tools-mcp/ConductorServer"
import { assert, describe, expect, it } from "@effect/vitest"
import { type CallToolResult, Client, InMemoryTransport, type Progress } from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

type Answer = Parameters<typeof worker>[0]["answer"]

const conductor = (answer: Answer, options: Partial<Conductor.Options> = {}) =>
  Conductor.make({
    pool: WorkerPool.makeUnsafe([
      worker({
        id: "a",
        capabilities: { tools: true },
        pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 },
        answer
      })
    ]),
    policy: Baselines.single(0),
    ...options
  })

/** The SDK's own client, connected to a server of the Conductor. */
const connected = async (served: Conductor.Conductor["Service"]) => {
  const server = await Effect.runPromise(ConductorServer.make({ conductor: served }))
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await server.connect(theirs)
  const client = new Client({ name: "test", version: "1.0.0" })
  await client.connect(ours)
  return client
}

const ask = (client: Client, question: unknown, options: Parameters<Client["callTool"]>[1] = {}) =>
  client.callTool({ name: "ask", arguments: { question } }, options)

const textOf = ({ content }: CallToolResult): string => (content[0]?.type === "text" ? content[0].text : "")

describe("a Conductor as an MCP server", () => {
  it("offers one tool, which answers a question", async () => {
    const client = await connected(conductor(({ messages }) => `To "${messages.at(-1)!.content}": 42`))
    const { tools } = await client.listTools()
    assert.deepStrictEqual(
      tools.map(({ inputSchema, name }) => [name, inputSchema.required]),
      [["ask", ["question"]]]
    )
    const result = await ask(client, "What is 6 times 7?")
    assert.deepStrictEqual([result.isError ?? false, textOf(result)], [false, 'To "What is 6 times 7?": 42'])
  })

  it("reports the progress of the run to a client that requests it", async () => {
    const client = await connected(conductor(() => "42"))
    const told: Array<Progress> = []
    await ask(client, "What is 6 times 7?", { onprogress: (progress) => told.push(progress) })
    assert.deepStrictEqual(
      told.map(({ message, progress }) => [progress, message]),
      [
        [1, "Plan by single:0:\n  1. worker 0: the question"],
        [2, "Step 1: a starts."],
        [3, "Step 1: a has answered."]
      ]
    )
  })

  it("tells a client how far a tool is", async () => {
    const steps = tool({
      name: "steps",
      input: { type: "object" },
      execute: (_, { progress }) => progress({ progress: 1, total: 3, message: "counting" })
    })
    const answer: Answer = ({ messages }) =>
      messages.at(-1)!.role === "tool" ? "42" : { toolCalls: [{ name: "steps", arguments: {} }] }
    const client = await connected(conductor(answer, { tools: [steps] }))
    const told: Array<Progress> = []
    await ask(client, "What is 6 times 7?", { onprogress: (progress) => told.push(progress) })
    assert.include(
      told.map(({ message }) => message),
      "Step 1: the tool steps: 1 of 3, counting"
    )
  })

  it("stops a run that is cancelled", async () => {
    const stopping = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const client = await connected(
      conductor((_, { signal }) => {
        signal.addEventListener("abort", () => stopping.resolve())
        started.resolve()
        return new Promise(() => {})
      })
    )
    const controller = new AbortController()
    const asked = ask(client, "For ever?", { signal: controller.signal })
    await started.promise
    controller.abort("enough")
    await expect(asked).rejects.toThrow(/enough/)
    await stopping.promise
  })

  it("runs what several ask at once, each by itself", async () => {
    const client = await connected(conductor(({ messages }) => String(messages.at(-1)!.content).toUpperCase()))
    const results = await Promise.all(["a", "b", "c"].map((question) => ask(client, question)))
    assert.deepStrictEqual(results.map(textOf), ["A", "B", "C"])
  })

  it("says why there is no answer, as a tool's error that a model can read", async () => {
    const failing = await connected(
      conductor(
        () => {
          throw new Error("out of order")
        },
        { retry: { maxAttempts: 1 } }
      )
    )
    const failed = await ask(failing, "Why?")
    assert.isTrue(failed.isError)
    expect(textOf(failed)).toMatch(/^The run failed: .*out of order/)

    const poor = await connected(conductor(() => "42", { budget: { costUsd: 0.5 } }))
    const stopped = await ask(poor, "Why?")
    assert.isTrue(stopped.isError)
    expect(textOf(stopped)).toMatch(/^The budget stopped the run: /)

    const careful = tool({ name: "write", input: { type: "object" }, needsApproval: true, execute: () => "written" })
    const waiting = await connected(
      conductor(() => ({ toolCalls: [{ name: "write", arguments: { to: "disk" } }] }), { tools: [careful] })
    )
    const suspended = await ask(waiting, "Why?")
    assert.isTrue(suspended.isError)
    expect(textOf(suspended)).toMatch(/write\(\{"to":"disk"\}\) waits for an approval/)
  })

  it("refuses invalid arguments and unknown tools", async () => {
    const client = await connected(conductor(() => "42"))
    for (const question of [undefined, 3, ""]) {
      const result = await ask(client, question).catch((error: Error) => error)
      assert.isTrue(result instanceof Error || result.isError === true, String(question))
    }
    const unknown = await client.callTool({ name: "tell", arguments: {} }).catch((error: Error) => error)
    assert.isTrue(unknown instanceof Error || unknown.isError === true)
  })
})

describe("over streams", () => {
  it("serves until its input ends, and stops active runs", async () => {
    const input = new PassThrough()
    const output = new PassThrough()
    const stopping = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const served = conductor((_, { signal }) => {
      signal.addEventListener("abort", () => stopping.resolve())
      started.resolve()
      return new Promise(() => {})
    })
    const serving = Effect.runFork(ConductorServer.stdio({ conductor: served }, { input, output }))
    const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    const clientInfo = { name: "test", version: "1.0.0" }
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } })
    send({ method: "notifications/initialized" })
    send({ id: 2, method: "tools/call", params: { name: "ask", arguments: { question: "For ever?" } } })
    await started.promise
    input.end()
    await Effect.runPromise(Fiber.join(serving))
    await stopping.promise
    const [first] = String(output.read()).split("\n")
    assert.strictEqual(JSON.parse(first!).result.serverInfo.name, "divisi")
  })
})
