import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import type { ContentPart } from "@divisi/core/Message"
import * as McpTools from "@divisi/tools-mcp/McpTools"
import { type McpServer, openTools } from "@divisi/tools-mcp/promise"
import { assert, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { asking, isRunning } from "./asking.ts"
import { serve } from "./fixtures/http.ts"

const script = (name: string) => path.join(import.meta.dirname, "fixtures", `${name}.ts`)

const stdio = (options: object = {}, name = "stdio"): McpServer => ({
  command: process.execPath,
  args: [script(name)],
  ...options
})

const pidIn = (content: unknown): number => Number(/of (\d+)/.exec(String(content))![1])

const rejection = (servers: object): Promise<string> =>
  openTools(servers as McpTools.McpServers).then(
    () => "nothing",
    (error: Error) => error.message
  )

describe("tools of a server", () => {
  it("have the server's name before their own, within what vendors take as a name", async () => {
    await using servers = await openTools({
      test: stdio({ args: [script("stdio"), "--odd"] }),
      other: stdio()
    })
    const names = servers.tools.map(({ name }) => name)
    expect(names).toContain("other__echo")
    assert.strictEqual(new Set(names).size, names.length)
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    const odd = servers.tools.find(({ name }) => name.startsWith("test__a_name_with_spaces_and_more"))!
    const { results } = await asking(servers.tools, [[odd.name]])
    assert.deepStrictEqual(results, [{ content: "odd", isError: false }])
  })

  it("are the allowed ones, and a missing one is reported with a suggestion", async () => {
    await using servers = await openTools({ test: stdio({ tools: ["count", "ecko"] }) })
    assert.deepStrictEqual(
      servers.tools.map(({ name }) => name),
      ["test__count"]
    )
    assert.deepStrictEqual(servers.problems, [
      { server: "test", detail: 'it has no tool "ecko"; did you mean "echo"?' }
    ])
  })

  it("need approval unless the server calls them read-only, or as its caller says", async () => {
    const asked = async (needsApproval: McpServer["needsApproval"]) => {
      await using servers = await openTools({ t: stdio({ tools: ["echo", "remove", "count"], needsApproval }) })
      return servers.tools.map((tool) => tool.needsApproval)
    }
    assert.deepStrictEqual(await asked(undefined), [false, true, true])
    assert.deepStrictEqual(await asked(true), [true, true, true])
    assert.deepStrictEqual(await asked(false), [false, false, false])
    assert.deepStrictEqual(await asked(["echo"]), [true, false, false])
  })

  it("give texts, pictures, resources and structured content; what they call an error is a failure", async () => {
    await using servers = await openTools({ t: stdio() })
    const { answer, results } = await asking(servers.tools, [
      ["t__echo", { words: "Grüße" }],
      ["t__picture"],
      ["t__structured"],
      ["t__fail", { words: "milk" }],
      ["t__throw"],
      ["t__echo", { word: "no such argument" }]
    ])
    assert.strictEqual(answer, "done")
    const picture = { type: "image", data: "iVA=", mediaType: "image/png" } as const
    const parts: ReadonlyArray<ContentPart> = [
      { type: "text", text: "A dot" },
      picture,
      { type: "text", text: "[A recording: audio/wav, 3 bytes, not shown]" },
      { type: "text", text: "file:///a.txt\nin a file" },
      picture,
      { type: "text", text: "c: file:///c.txt" }
    ]
    assert.deepStrictEqual(results.slice(0, 5), [
      { content: "Grüße", isError: false },
      { content: parts, isError: false },
      { content: '{"degrees":7}', isError: false },
      { content: "The tool failed: no milk today", isError: true },
      { content: "The tool failed: out of order", isError: true }
    ])
    expect(String(results[5]!.content)).toMatch(/must have required property 'words'/)
  })

  it("are there for Effect in a scope, with whose end the server ends", async () => {
    const program = Effect.gen(function* () {
      const { tools } = yield* McpTools.McpTools
      const { results } = yield* Effect.promise(() => asking(tools, [["t__count"]]))
      return pidIn(results[0]!.content)
    })
    const pid = await Effect.runPromise(Effect.provide(program, McpTools.layer({ t: stdio() })))
    assert.isFalse(isRunning(pid))
  })
})

describe("a server that does what it should not", () => {
  it("is killed: its calls fail, the run continues, and the next call restarts it", async () => {
    await using servers = await openTools({ t: stdio() })
    const { answer, results } = await asking(servers.tools, [["t__count"], ["t__die"], ["t__count"], ["t__count"]])
    assert.strictEqual(answer, "done")
    assert.deepStrictEqual(results[1], {
      content: 'The tool failed: the MCP server "t": Connection closed',
      isError: true
    })
    expect(results.map(({ content }) => /call \d/.exec(String(content))?.[0])).toEqual([
      "call 1",
      undefined,
      "call 1",
      "call 2"
    ])
    const pids = [0, 2, 3].map((index) => pidIn(results[index]!.content))
    assert.isFalse(isRunning(pids[0]!))
    assert.strictEqual(pids[1], pids[2])
  })

  it("is killed between two calls", async () => {
    await using servers = await openTools({ t: stdio() })
    const [before] = (await asking(servers.tools, [["t__count"]])).results
    process.kill(pidIn(before!.content), "SIGKILL")
    while (isRunning(pidIn(before!.content))) await new Promise((resolve) => setTimeout(resolve, 5))
    const { answer, results } = await asking(servers.tools, [["t__count"], ["t__count"]])
    assert.strictEqual(answer, "done")
    expect(String(results[1]!.content)).toMatch(/^call/)
  })

  it("hangs: the call is cancelled at its timeout, and others continue", async () => {
    await using servers = await openTools({ t: stdio({ timeoutMillis: 300 }) })
    const { results } = await asking(servers.tools, [["t__hang"], ["t__echo", { words: "here" }], ["t__die"]])
    assert.deepStrictEqual(results.slice(0, 2), [
      { content: 'The tool failed: the MCP server "t" did not answer within 0.3 s', isError: true },
      { content: "here", isError: false }
    ])
    // The server received the cancellation.
    expect(String(results[2]!.content)).toMatch(/\(its error output: cancelled\)/)
  })

  it("floods: the result is truncated, and the worker is notified", async () => {
    await using servers = await openTools({ t: stdio({ maxResultCharacters: 20 }) })
    const { results } = await asking(servers.tools, [["t__flood"], ["t__echo", { words: "short" }]])
    assert.deepStrictEqual(results, [
      { content: `${"x".repeat(20)}\n[Cut: the result has 10000000 characters, and 20 are shown.]`, isError: false },
      { content: "short", isError: false }
    ])
  })

  it("does not start: it has no tools and gives the reason; other servers' tools are there", async () => {
    await using servers = await openTools({
      missing: { command: "no-such-program" },
      nonsense: stdio({ startMillis: 1_500 }, "nonsense"),
      ends: { command: process.execPath, args: ["-e", "console.error('no config'); process.exit(3)"] },
      deaf: { command: "sh", args: ["-c", "exec 0<&-; echo no config >&2; sleep 0.05; exit 3"] },
      good: stdio({ tools: ["echo"] })
    })
    assert.deepStrictEqual(
      servers.tools.map(({ name }) => name),
      ["good__echo"]
    )
    const told = Object.fromEntries(servers.problems.map(({ detail, server }) => [server, detail]))
    expect(told.missing).toMatch(/^it did not start: the program "no-such-program" was not found/)
    expect(told.nonsense).toMatch(
      /^it did not start: it did not answer within 1\.5 s \(to allow more time, raise startMillis\).*\(its error output: started as \d+\)$/s
    )
    for (const ended of [told.ends, told.deaf]) {
      expect(ended).toMatch(/^it did not start: Connection closed \(its error output: no config\)$/)
    }
  })

  it("goes with the scope, even where it does not listen", { timeout: 20_000 }, async () => {
    const servers = await openTools({ nonsense: stdio({ startMillis: 1_500 }, "nonsense") })
    const pid = Number(/started as (\d+)/.exec(servers.problems[0]!.detail)![1])
    await servers.close()
    while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 10))
  })

  it("is ended, and not waited for, by a scope that ends while it starts", { timeout: 20_000 }, async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "divisi-"))
    const file = path.join(folder, "pid")
    const scope = Scope.makeUnsafe()
    const servers = { n: stdio({ args: [script("nonsense"), file] }) }
    const starting = Effect.runFork(Scope.provide(McpTools.make(servers), scope))
    const written = () => readFile(file, "utf8").catch(() => "")
    while ((await written()) === "") await new Promise((resolve) => setTimeout(resolve, 10))
    const pid = Number(await written())
    starting.interruptUnsafe()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 10))
    await rm(folder, { recursive: true })
  })

  it("is started by a wrapper: both end, however they take the end of their input", { timeout: 20_000 }, async () => {
    const server = `"${process.execPath}" "${script("stdio")}"`
    const folder = await mkdtemp(path.join(tmpdir(), "divisi-"))
    const file = path.join(folder, "helper")
    const wrappers = [
      `${server}; true`,
      // Its input stays open, and it does not listen to SIGTERM.
      `trap '' TERM; sleep 600 & echo $! > ${file}; ${server}; wait`
    ]
    for (const command of wrappers) {
      const servers = await openTools({ t: { command: "sh", args: ["-c", command] } })
      const { results } = await asking(servers.tools, [["t__count"]])
      await servers.close()
      const helper = await readFile(file, "utf8").catch(() => "0")
      for (const pid of [pidIn(results[0]!.content), Number(helper)]) {
        while (pid !== 0 && isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
    await rm(folder, { recursive: true })
  })

  it("is not started again once it was closed", async () => {
    const servers = await openTools({ t: stdio() })
    await servers.close()
    const { results } = await asking(servers.tools, [["t__count"]])
    assert.deepStrictEqual(results, [{ content: 'The tool failed: the MCP server "t" was closed', isError: true }])
  })

  it("shows no secret that it was given, sees none that it was not, and writes nothing to the terminal", async () => {
    process.env.NOT_FOR_SERVERS = "1"
    process.env.SSL_CERT_DIR ??= "/certificates"
    await using servers = await openTools({ t: stdio({ env: { SECRET: Redacted.make("hunter2-hunter2") } }) })
    const { results } = await asking(servers.tools, [["t__environment"], ["t__complain"]])
    expect(String(results[0]!.content)).toMatch(/SECRET/)
    // Its requests use the company's proxy, too.
    expect(String(results[0]!.content)).toMatch(/SSL_CERT_DIR/)
    expect(String(results[0]!.content)).not.toMatch(/NOT_FOR_SERVERS/)
    assert.deepStrictEqual(results[1], {
      content: 'The tool failed: the MCP server "t": Connection closed (its error output: [31mthe key is <redacted>)',
      isError: true
    })
  })

  it("speaks the newest protocol alone", async () => {
    await using servers = await openTools({ t: stdio({ args: [script("stdio"), "--modern"] }) })
    const { results } = await asking(servers.tools, [["t__echo", { words: "2026" }]])
    assert.deepStrictEqual([servers.problems, results], [[], [{ content: "2026", isError: false }]])
  })
})

describe("a server over HTTP", () => {
  it("is sent its headers, and its tools are called", async () => {
    const server = await serve()
    await using servers = await openTools({
      web: { url: server.url, headers: { Authorization: Redacted.make("Bearer letmein") } }
    })
    const { results } = await asking(servers.tools, [["web__echo", { words: "over HTTP" }], ["web__flood"]], {
      maxToolRounds: 3
    })
    assert.strictEqual(results[0]!.content, "over HTTP")
    expect(String(results[1]!.content)).toMatch(/^x+\n\[Cut: the result has 10000000/)
    assert.isTrue(server.headers.every(({ authorization }) => authorization === "Bearer letmein"))
    await servers.close()
    await server.close()
  })

  it("is missing, refuses, redirects, or sends nonsense: it has no tools, and no secret is shown", async () => {
    const headers = { Authorization: "Bearer letmein" }
    const other = await serve()
    const refusing = await serve((request, response) => {
      response.writeHead(401).end(`No entry for ${request.headers.authorization}`)
      return true
    })
    const elsewhere = await serve((_, response) => {
      response.writeHead(307, { location: other.url }).end()
      return true
    })
    const nonsense = await serve((_, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end("{]")
      return true
    })
    const gone = await serve()
    await gone.close()
    const urls = { refusing, elsewhere, nonsense, gone }
    await using servers = await openTools(
      Object.fromEntries(Object.entries(urls).map(([name, { url }]) => [name, { url, headers, startMillis: 2_000 }]))
    )
    assert.deepStrictEqual(
      servers.problems.map(({ server }) => server),
      Object.keys(urls)
    )
    for (const { detail } of servers.problems) expect(detail).not.toMatch(/letmein/)
    expect(servers.problems.at(-1)!.detail).toMatch(/it cannot be reached \(connect ECONNREFUSED/)
    assert.deepStrictEqual(other.headers, [])
    for (const server of [other, refusing, elsewhere, nonsense]) await server.close()
  })

  it("fails in the middle: a failed result, and the next call goes through", async () => {
    let calls = 0
    const server = await serve((_, response, body) => {
      if (!body.includes('"tools/call"')) return false
      calls += 1
      if (calls === 1) response.writeHead(500).end("out of memory")
      else if (calls === 2) response.destroy()
      else if (calls === 3) {
        response.writeHead(200, { "content-type": "application/json" })
        const more = () => {
          if (!response.destroyed) response.write("x".repeat(1_000_000), more)
        }
        more()
      } else return false
      return true
    })
    await using servers = await openTools({ web: { url: server.url } })
    const asks = [1, 2, 3, 4].map(() => ["web__echo", { words: "again" }] as const)
    const { answer, results } = await asking(servers.tools, asks)
    assert.strictEqual(answer, "done")
    assert.deepStrictEqual(
      results.map(({ isError }) => isError),
      [true, true, true, false]
    )
    expect(String(results[0]!.content)).toMatch(/500|out of memory/)
    expect(String(results[2]!.content)).toMatch(/more than 16 MB/)
    await servers.close()
    await server.close()
  })
})

describe("a server with sessions", () => {
  it("that has lost our session is initialized again, and the call is made once", async () => {
    const sessions = new Set<string>()
    let calls = 0
    const server = await serve((request, response, body) => {
      const session = request.headers["mcp-session-id"]
      if (body.includes('"initialize"')) {
        const id = `session-${sessions.size}`
        sessions.clear()
        sessions.add(id)
        response.setHeader("mcp-session-id", id)
        return false
      }
      if (session !== undefined && !sessions.has(String(session))) {
        response.writeHead(404).end("no such session")
        return true
      }
      if (body.includes('"tools/call"')) calls += 1
      return false
    })
    await using servers = await openTools({ web: { url: server.url } })
    sessions.clear()
    const { results } = await asking(servers.tools, [["web__echo", { words: "again" }]])
    assert.deepStrictEqual([results, calls], [[{ content: "again", isError: false }], 1])
    await servers.close()
    await server.close()
  })
})

describe("a server that is described wrongly", () => {
  it("is refused before anything starts, in words", async () => {
    expect(await rejection({ "a b": { command: "x" } })).toMatch(/"a b": its name must be 1 to 32 letters/)
    expect(await rejection({ a: { cmd: "x" } })).toMatch(/option "cmd" does not exist/)
    expect(await rejection({ a: {} })).toMatch(/set either "command"/)
    expect(await rejection({ a: { command: "x", url: "http://localhost" } })).toMatch(/set either "command"/)
    expect(await rejection({ a: { command: "x", headers: {} } })).toMatch(/"headers" is for a server with a "url"/)
    expect(await rejection({ a: { url: "file:///etc" } })).toMatch(/an http or https URL/)
    expect(await rejection({ a: { command: "x", env: { KEY: 1 } } })).toMatch(
      /"env\.KEY" must be a string or a Redacted, not 1/
    )
  })
})
