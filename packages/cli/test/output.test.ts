/** The output is ours alone: answers, JSON and protocols, whatever the code of users and packages prints. */
import { spawn } from "node:child_process"
import path from "node:path"
import { createInterface } from "node:readline"
import { assert, describe, it } from "vitest"
import { command } from "./command.ts"
import { config, divisi, inFolder, valuesOf } from "./process.ts"

const noisy = ["--config", config("noisy")]

describe("the output of a command with a config that prints", () => {
  it("is JSON and nothing else", { timeout: 120_000 }, () =>
    inFolder(async (cwd) => {
      const environment = { DIVISI_RUNS: path.join(cwd, "runs.sqlite") }
      const commands = [
        ["run", "--json", "--durable", "--run-id", "noisy", "--approve", "all", "?", ...noisy],
        ["run", "--json", "?", ...noisy],
        ["pool", "list", "--json", ...noisy],
        ["gym", "solve", "--json", "--tasks", "2", "--max-missing", "1", ...noisy],
        ["runs", "--json"],
        ["runs", "show", "noisy", "--json"],
        ["runs", "resume", "noisy", "--json", ...noisy]
      ]
      for (const args of commands) {
        const { code, errors, output } = await divisi(args, { cwd, environment })
        assert.include([0, 5], code, `${args.join(" ")}: ${errors}`)
        assert.notInclude(output, "NOISE of", args.join(" "))
        if (args[1] === "--json" && args[0] === "runs") JSON.parse(output)
        else assert.isAbove(valuesOf(output).length, 0, args.join(" "))
        if (args.includes("run")) assert.include(errors, "NOISE of the output")
      }
    })
  )

  it("is the answer alone", async () => {
    const { errors, output } = await divisi(["run", "?", "--approve", "all", ...noisy])
    assert.strictEqual(output, "done\n")
    assert.include(errors, "NOISE of the console")
  })

  it("is what was asked for: the version and the help", async () => {
    assert.match((await divisi(["--version"])).output, /^divisi \d/)
    assert.match((await divisi(["--help"])).output, /divisi run/)
    assert.match((await divisi(["--completions", "bash"])).output, /divisi/)
  })

  it("is the protocol: divisi mcp", { timeout: 30_000 }, async () => {
    const child = spawn(process.execPath, [...command, "mcp", ...noisy, "--approve", "all"], {
      stdio: ["pipe", "pipe", "ignore"]
    })
    const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    const clientInfo = { name: "test", version: "1" }
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } })
    for await (const line of createInterface({ input: child.stdout })) {
      const message = JSON.parse(line) as { readonly jsonrpc: string; readonly id?: number; readonly result: unknown }
      assert.strictEqual(message.jsonrpc, "2.0")
      if (message.id === 1) {
        send({ method: "notifications/initialized" })
        send({ id: 2, method: "tools/call", params: { name: "ask", arguments: { question: "?" } } })
      } else if (message.id === 2) {
        assert.include(JSON.stringify(message.result), '"text":"done"')
        child.stdin.end()
      }
    }
  })
})
