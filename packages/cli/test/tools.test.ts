import fs from "node:fs"
import path from "node:path"
import { assert, describe, expect, it } from "@effect/vitest"
import { config, divisi, inFolder, without } from "./process.ts"
import * as PseudoTerminal from "./pseudoTerminal.ts"

const run = (question: string, ...flags: ReadonlyArray<string>) =>
  divisi(["run", "--config", config("tools"), ...flags, question])

const offered = async (...flags: ReadonlyArray<string>) => (await run("?", ...flags)).output.trim()

const server = path.join(import.meta.dirname, "fixtures/mcpServer.ts")

describe("tools of a run", () => {
  it("are those of the config and of its MCP servers, or those that are named", async () => {
    assert.strictEqual(await offered(), "weather order total files__read files__remove")
    assert.strictEqual(await offered("--tool", "weather,files__remove"), "weather files__remove")
    assert.strictEqual(await offered("--tool", "files"), "files__read files__remove")
    assert.strictEqual(await offered("--tool-access", "every-step", "--tool", "total"), "total")
    for (const flags of [["--no-tools"], ["--tool-access", "none"]]) {
      assert.strictEqual(await offered(...flags), "I have no tools.")
    }
  })

  it("are those of a server that the command line names, too", async () => {
    const command = `${process.execPath} "${server}"`
    assert.strictEqual(await offered("--mcp", command, "--tool", "mcp"), "mcp__read mcp__remove")
    assert.strictEqual(await offered("--mcp", `mine=${command}`, "--tool", "mine__read"), "mine__read")
  })

  it("that do not exist are refused with a suggestion", async () => {
    const { code, errors } = await run("?", "--tool", "wether")
    assert.strictEqual(code, 2)
    assert.match(errors, /--tool: unknown tool "wether"\. Did you mean weather\?/)
    const approving = await run("?", "--approve", "files__remov")
    assert.strictEqual(approving.code, 2)
    assert.match(approving.errors, /--approve: unknown tool "files__remov"\. Did you mean files__remove\?/)
  })

  it("of a server that does not start are missing, which is reported, and the run continues", async () => {
    const { code, errors, output } = await run("?", "--mcp", "gone=no-such-program", "--tool", "weather,gone")
    assert.deepStrictEqual([code, output], [2, ""])
    assert.match(errors, /The MCP server "gone" did not start: the program "no-such-program" was not found/)
    assert.strictEqual(await offered("--mcp", "gone=no-such-program"), "weather order total files__read files__remove")
  })

  it("of MCP servers need their package, and report it", async () => {
    const { code, errors } = await divisi(["run", "--config", config("tools"), "?"], {
      environment: { NODE_OPTIONS: without("@divisi/tools-mcp").NODE_OPTIONS! }
    })
    assert.strictEqual(code, 2)
    assert.match(errors, /Cannot use MCP servers\. The package @divisi\/tools-mcp \(MCP tools\) is not installed\./)
  })
})

describe("what tools are asked and give", () => {
  const question =
    'weather {"city":"Ulm"}\nfiles__read {"name":"a\\u001b]0;owned\\u0007.txt"}\nweather {"town":1}\nno\u009bsuch'
  const told = [
    'asker calls weather({"city":"Ulm"})',
    "weather returned (N ms): sunny in Ulm",
    'asker calls files__read({"name":"a\\u001b]0;owned\\u0007.txt"})',
    "files__read returned (N ms): the text of a.txt",
    'asker calls weather({"town":1})',
    'weather failed (N ms): The arguments do not match the tool\'s schema. Missing key at ["city"]'
  ]
  const steps = (text: string) =>
    text
      .split("\n")
      .filter((line) => line.startsWith("step 0"))
      .map((line) => line.slice(9).replace(/\d+(?:\.\d)? m?s/, "N ms"))

  it("is shown as it happens and again, as text that does not act, and is in the events", () =>
    inFolder(async (cwd) => {
      const file = path.join(cwd, "run.json")
      const { code, errors } = await run(question, "--transcript", file)
      assert.strictEqual(code, 0)
      expect(steps(errors)).toEqual(expect.arrayContaining(told))
      const replayed = await divisi(["replay", file])
      expect(steps(replayed.output)).toEqual(expect.arrayContaining(told))
      for (const text of [errors, replayed.output]) {
        assert.notMatch(text.replaceAll("\n", ""), /\p{Cc}|hunter2|the server speaks/u)
      }
      const events = (await run(question, "--json")).output
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
      const results = events.filter(({ type }) => type === "tool-finished")
      assert.deepStrictEqual(
        results.map(({ isError, name }) => [name, isError]),
        [
          ["weather", false],
          ["files__read", false],
          ["weather", true],
          ["no\u009bsuch", true]
        ]
      )
    }))
})

describe("approval", () => {
  it("suspends the run if no person can be asked, and reports its pending calls and how to resume it", async () => {
    const { code, errors, output } = await run('order {"city":"Ulm"}\nfiles__remove {"name":"b"}')
    assert.deepStrictEqual([code, output], [5, ""])
    assert.match(errors, /step 0 +waits for approval of order\(\{"city":"Ulm"\}\)/)
    assert.match(errors, /total +suspended in/)
    assert.match(errors, /These tools need approval: order\. Run in a terminal, or use --approve order\.\n$/)
    const json = await run('order {"city":"Ulm"}', "--json")
    assert.strictEqual(json.code, 5)
    assert.strictEqual(JSON.parse(json.output.trim().split("\n").at(-1)!).ending, "suspended")
  })

  it("is given beforehand, for tools, for a server, or for all", async () => {
    for (const names of ["order,files", "order,files__remove", "all"]) {
      const { code, output } = await run('order {"city":"Ulm"}\nfiles__remove {"name":"b"}', "--approve", names)
      assert.deepStrictEqual([code, output.trim()], [0, "ordered for Ulm | removed b"], names)
    }
  })

  it("is given to a durable run when it resumes, for one call or for tools", () =>
    inFolder(async (cwd) => {
      const environment = { DIVISI_RUNS: path.join(cwd, "runs.sqlite") }
      const kept = (args: ReadonlyArray<string>) => divisi([...args, "--config", config("tools")], { cwd, environment })
      const asked = await kept(["run", "--run-id", "kept", 'order {"city":"Ulm"}\nfiles__remove {"name":"b"}'])
      assert.strictEqual(asked.code, 5)
      const first = await kept(["runs", "resume", "kept", "--approve", "0.0.0.0"])
      assert.strictEqual(first.code, 5)
      assert.match(first.errors, /order returned .*: ordered for Ulm/)
      const second = await kept(["runs", "resume", "kept", "--approve", "files"])
      assert.deepStrictEqual([second.code, second.output.trim()], [0, "ordered for Ulm | removed b"])
    }))

  it("is given to a run whose MCP server lists other tools by then", () =>
    inFolder(async (cwd) => {
      const environment = { DIVISI_RUNS: path.join(cwd, "runs.sqlite") }
      const started = (args: ReadonlyArray<string>, more = "") => {
        const mcp = ["--mcp", `mine=${process.execPath} "${server}" ${more}`.trim()]
        return divisi([...args, "--config", config("tools"), ...mcp], { cwd, environment })
      }
      const asked = await started(["run", "--run-id", "kept", 'mine__remove {"name":"b"}'])
      assert.strictEqual(asked.code, 5, asked.errors)
      const without = ["runs", "resume", "kept", "--approve", "0.0.0.0", "--config", config("tools")]
      const gone = await divisi(without, { cwd, environment })
      assert.match(gone.errors, /asked for the tool "mine__remove", which is no longer among the tools of the run/)
      const resumed = await started(["runs", "resume", "kept", "--approve", "0.0.0.0"], "newer")
      assert.deepStrictEqual([resumed.code, resumed.output.trim()], [0, "removed b"], resumed.errors)
    }))

  it("does not help a tool that has no function here", async () => {
    const { code, errors } = await run("total", "--approve", "all")
    assert.strictEqual(code, 5)
    assert.match(errors, /The config has no function for total/)
  })

  describe.runIf(PseudoTerminal.isThere)("on a terminal", () => {
    const question = 'order {"city":"Ulm"}\norder {"city":"Bonn"}\nfiles__remove {"name":"b"}'

    const asked = (question: string, steps: ReadonlyArray<PseudoTerminal.Step>) =>
      inFolder(async (cwd) => {
        const file = path.join(cwd, "question.txt")
        fs.writeFileSync(file, question)
        return PseudoTerminal.play(["run", "--config", config("tools"), "--file", file], steps, cwd)
      })

    it("is a question: yes, no, or always for this tool; what is neither is asked again", async () => {
      const screen = await asked(question, [
        ["asker requests the tool order:", ""],
        ['"city": "Ulm"', ""],
        ["(a)lways for this tool: ", "maybe\r"],
        ["(a)lways for this tool: ", "a\r"],
        ["asker requests the tool files__remove:", ""],
        ["(a)lways for this tool: ", "n\r"],
        ["ordered for Ulm", ""]
      ])
      const answer = screen.slice(screen.lastIndexOf("Answer"))
      assert.match(answer, /ordered for Ulm \| ordered for Bonn \| The user rejected this call\./)
      assert.notInclude(screen, "hunter2")
    })

    it("is not given by the end of the input", async () => {
      const screen = await asked('order {"city":"Ulm"}', [
        ["(a)lways for this tool: ", "\u0004"],
        ["rejected this call", ""]
      ])
      assert.match(screen, /answered in/)
    })

    it("stops with the run", async () => {
      const screen = await asked('order {"city":"Ulm"}', [["(a)lways for this tool: ", "\u0003"]])
      assert.match(screen, /interrupted in/)
    })
  })
})
