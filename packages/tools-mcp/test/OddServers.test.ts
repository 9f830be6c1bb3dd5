/** Servers that do not hold to the protocol: one odd tool, one odd answer, and answers that can no longer come. */
import type http from "node:http"
import path from "node:path"
import type { RunEvent } from "@divisi/core/promise"
import { type McpServer, openTools } from "@divisi/tools-mcp/promise"
import { assert, describe, it } from "@effect/vitest"
import { type Ask, asking } from "./asking.ts"
import { serve } from "./fixtures/http.ts"

const raw = (about: object, options: object = {}): McpServer => ({
  command: process.execPath,
  args: [path.join(import.meta.dirname, "fixtures/raw.mjs"), JSON.stringify(about)],
  ...options
})

const good = { name: "good", inputSchema: { type: "object", properties: { a: { type: "string" } } } }

describe("a tool with an odd definition", () => {
  const odd = {
    empty: {},
    untyped: { properties: { a: {} } },
    nullable: { type: ["object", "null"] },
    anything: true,
    none: null,
    referred: { $ref: "#/$defs/A", $defs: { A: { type: "object", properties: { b: { type: "number" } } } } },
    foreign: { $schema: "https://example.com/dialect", type: "object" }
  }
  const refused = {
    words: [{ type: "string" }, /the type "string" instead of object/],
    never: [false, /its schema is false/],
    list: [[], /its schema is \[\]/],
    astray: [{ $ref: "#/$defs/B" }, /refers to "#\/\$defs\/B", which is not in it/],
    circular: [{ $ref: "#" }, /which is not in it/],
    elsewhere: [{ $ref: "https://example.com/a" }, /which is not in it/],
    listed: [{ type: "object", properties: [1] }, /"properties" of its schema are \[1\]/],
    huge: [{ type: "object", description: "x".repeat(300_000) }, /more than 250000 characters/],
    deep: [JSON.parse(`${'{"a":'.repeat(200)}1${"}".repeat(200)}`), /nested deeper than 100 levels/],
    wide: [{ enum: Array.from({ length: 30_000 }, (_, index) => index) }, /more than 20000 values/]
  } as const

  it("is offered if it can be read, as an object", async () => {
    const tools = Object.entries(odd).map(([name, inputSchema]) => ({ name, inputSchema, description: 7 }))
    await using servers = await openTools({ t: raw({ tools: [...tools, { name: "missing" }, good] }) })
    assert.deepStrictEqual(servers.problems, [])
    assert.deepStrictEqual(
      servers.tools.map(({ name }) => name),
      [...Object.keys(odd), "missing", "good"].map((name) => `t__${name}`)
    )
    const names = servers.tools.map(({ name }): Ask => [name, { a: "x" }])
    const offered: Array<unknown> = []
    const { ending } = await asking(servers.tools, [], {
      question: `Call ${names.length} tools.`,
      onEvent: (event) => offered.push(event.type)
    })
    assert.strictEqual(ending, "answered")
  })

  it("is left out if it cannot, which is reported in words; the others are there", async () => {
    for (const [name, [inputSchema, why]] of Object.entries(refused)) {
      const about = { tools: [{ name, inputSchema }, good] }
      // A large definition does not fit the command line.
      const server = JSON.stringify(about).length < 100_000 ? undefined : await serving(about)
      await using servers = await openTools({ t: server === undefined ? raw(about) : { url: server.url } })
      assert.deepStrictEqual(
        servers.tools.map((tool) => tool.name),
        ["t__good"],
        name
      )
      const [problem, ...others] = servers.problems
      assert.strictEqual(others.length, 0)
      assert.match(problem!.detail, new RegExp(`^its tool "${name}" is left out: `))
      assert.match(problem!.detail, why)
      await servers.close()
      await server?.close()
    }
  })

  it("is left out if it runs only as a task, and fails with the reason if a call starts one", async () => {
    const tools = [
      { ...good, name: "only", execution: { taskSupport: "required" } },
      { ...good, name: "either", execution: { taskSupport: "optional" } }
    ]
    const task = { taskId: "t-1", status: "working", ttl: null, createdAt: "", lastUpdatedAt: "" }
    await using servers = await openTools({ t: raw({ tools, results: { either: { result: { task } } } }) })
    assert.deepStrictEqual(
      servers.tools.map(({ name }) => name),
      ["t__either"]
    )
    assert.match(servers.problems[0]!.detail, /"only" is left out: it runs only as an MCP task/)
    const { results } = await asking(servers.tools, [["t__either"]])
    assert.isTrue(results[0]?.isError)
    assert.match(String(results[0]!.content), /started the task "t-1" of MCP. MCP tasks are not supported/)
  })

  it("has no name, or one that another has", async () => {
    const tools = [null, "a", {}, { name: 7 }, { name: "" }, good, good, { ...good, name: "x".repeat(300) }]
    await using servers = await openTools({ t: raw({ tools }) })
    assert.deepStrictEqual(
      servers.tools.map(({ name }) => name),
      ["t__good"]
    )
    assert.deepStrictEqual(
      servers.problems.map(({ detail }) => detail),
      [
        ...[1, 2, 3, 4, 5].map((at) => `its tool ${at} is left out: it has no name`),
        'it lists the tool "good" twice; the first one is used',
        "its tool 8 is left out: its name has more than 256 characters"
      ]
    )
  })

  it("is in a list that is not a list: the server has no tools, and says why", async () => {
    await using servers = await openTools({ t: raw({ tools: "none" }) })
    assert.deepStrictEqual(servers.problems, [
      { server: "t", detail: "it returned a list of tools that is not a list" }
    ])
  })
})

/** A server whose list has pages, the next of which a cursor names. */
const paging = (pageOf: (cursor: string | undefined) => object) =>
  serving({ tools: [] }, undefined, (params) => pageOf(params?.cursor))

describe("a list of tools without bounds", () => {
  const many = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, at) => ({ name: `t${at}`, inputSchema: { type: "object" }, ...more }))

  const opened = async (server: Awaited<ReturnType<typeof serving>>) => {
    await using servers = await openTools({ t: { url: server.url } })
    await server.close()
    return { tools: servers.tools.length, problems: servers.problems.map(({ detail }) => detail) }
  }

  it("has the first thousand tools", async () => {
    assert.deepStrictEqual(await opened(await serving({ tools: many(3_000) })), {
      tools: 1_000,
      problems: ["it has more than 1000 tools; the others are left out"]
    })
  })

  it("has as many tools as a million characters describe", async () => {
    const { problems, tools } = await opened(await serving({ tools: many(40, { description: "x".repeat(200_000) }) }))
    assert.strictEqual(tools, 4)
    assert.strictEqual(problems.length, 21)
    assert.match(problems[0]!, /"t4" is left out: with it, the server's tools exceed 1000000 characters/)
    assert.strictEqual(problems[20], "it has 16 more tools with problems")
  })

  it("reads the pages of cursors that repeat once", async () => {
    const server = await paging((cursor) => ({
      tools: [{ ...good, name: `t${cursor ?? "a"}` }],
      nextCursor: cursor === "b" ? "c" : "b"
    }))
    assert.deepStrictEqual(await opened(server), { tools: 3, problems: [] })
  })

  it("ends with an error if it has no end", async () => {
    let page = 0
    const endless = await paging(() => ({ tools: many(100), nextCursor: `${++page}` }))
    assert.deepStrictEqual(await opened(endless), { tools: 0, problems: ["it returned more than 64 pages of tools"] })
    const wide = await paging(() => ({ tools: many(6_000), nextCursor: `${++page}` }))
    const { problems, tools } = await opened(wide)
    assert.strictEqual(tools, 0)
    assert.match(problems[0]!, /more than 10000 tools/)
  })

  it("follows a chain of references only so far", async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, at) => [`d${at}`, { $ref: `#/$defs/d${at + 1}` }])
    )
    const chain = { name: "chain", inputSchema: { $ref: "#/$defs/d0", $defs } }
    const { problems, tools } = await opened(await serving({ tools: [chain, good] }))
    assert.strictEqual(tools, 1)
    assert.deepStrictEqual(problems, [
      'its tool "chain" is left out: its schema refers to more than 50 schemas in a row'
    ])
  })

  it("offers schemas that refer to themselves or double, as they are", async () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `d${at}`,
        { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] }
      ])
    )
    const inputs = [
      { type: "object", properties: { child: { $ref: "#" } } },
      { type: "object", properties: { a: { $ref: "#/$defs/d0" } }, $defs: { ...doubling, d40: { type: "number" } } },
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{}},"__proto__":{"a":1}}')
    ]
    const tools = inputs.map((inputSchema, at) => ({ name: `s${at}`, inputSchema, outputSchema: inputSchema }))
    const results: Record<string, unknown> = {}
    const server = await serving({ tools }, (name, id, response) => {
      results[name] = true
      response.writeHead(200, { "content-type": "application/json" })
      const result = { content: [{ type: "text", text: "done" }], structuredContent: { a: "no number", child: {} } }
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
    })
    await using servers = await openTools({ t: { url: server.url } })
    assert.deepStrictEqual(servers.problems, [])
    const asks = servers.tools.map(({ name }): Ask => [name, { a: 1 }])
    const { ending } = await asking(servers.tools, asks)
    assert.strictEqual(ending, "answered")
    assert.deepStrictEqual(Object.keys(results), ["s0", "s1", "s2"])
    await servers.close()
    await server.close()
  })
})

describe("an odd result", () => {
  const text = (of: string) => ({ type: "text", text: of })
  const output = { type: "object", properties: { degrees: { type: "number" } }, required: ["degrees"] }
  const read: ReadonlyArray<readonly [string, object, unknown]> = [
    ["text_alone", { content: "seven" }, "seven"],
    ["one_block", { content: text("seven") }, "seven"],
    ["structured", { structuredContent: { degrees: 7 } }, '{"degrees":7}'],
    ["old", { toolResult: { degrees: 7 } }, '{"degrees":7}'],
    ["nothing", { content: [] }, "(nothing)"],
    ["unknown", { content: [{ type: "hologram", data: "x" }] }, '[Content of the type "hologram", not shown]'],
    ["blank", { content: [null] }, "[Content that is null, not shown]"],
    ["dataless", { content: [{ type: "image" }] }, "[A picture without readable data, not shown]"],
    [
      "no_base64",
      { content: [{ type: "image", data: "<>", mimeType: "image/png" }] },
      "[A picture without readable data, not shown]"
    ],
    [
      "sound",
      { content: [{ type: "audio", data: "AAAA" }] },
      "[A recording: application/octet-stream, 3 bytes, not shown]"
    ],
    ["bare_resource", { content: [{ type: "resource" }] }, "[A resource without content, not shown]"],
    ["bare_link", { content: [{ type: "resource_link", uri: "file:///a" }] }, "file:///a"],
    [
      "declared",
      { content: [text("cold")] },
      [text("cold"), text("[The result does not match the output schema of its tool: it has no structured content]")]
    ]
  ]

  it("is read piece by piece", async () => {
    const tools = read.map(([name]) => ({ ...good, name, ...(name === "declared" && { outputSchema: output }) }))
    const results = Object.fromEntries(read.map(([name, result]) => [name, { result }]))
    await using servers = await openTools({ t: raw({ tools, results }) })
    const { results: given } = await asking(
      servers.tools,
      read.map(([name]): Ask => [`t__${name}`])
    )
    assert.deepStrictEqual(
      given,
      read.map(([, , content]) => ({ content, isError: false }))
    )
  })

  it("keeps its text where it does not match the output schema", async () => {
    const results = { good: { result: { content: [text("7")], structuredContent: { degrees: "seven" } } } }
    await using servers = await openTools({ t: raw({ tools: [{ ...good, outputSchema: output }], results }) })
    const { results: given } = await asking(servers.tools, [["t__good"]])
    assert.match(JSON.stringify(given[0]), /"text":"7".*does not match the output schema of its tool: .*number/)
  })

  it("is read by itself, whatever output schema its tool declares", async () => {
    const number = { type: "object", properties: { degrees: { type: "number" } }, required: ["degrees"] }
    const items = { type: "array", uniqueItems: true }
    const schemas: Readonly<Record<string, unknown>> = {
      absent: undefined,
      empty: {},
      text: "object",
      list: [],
      null: null,
      unknown: { type: "nonsense" },
      wrong: { type: "object", properties: 5 },
      dangling: { $ref: "#/$defs/none" },
      slow: { type: "object", properties: { degrees: items } },
      number
    }
    const long = Array.from({ length: 50_000 }, (_, at) => ({ at }))
    const structured: Readonly<Record<string, unknown>> = {
      none: undefined,
      right: { degrees: 7 },
      other: { degrees: "warm" },
      null: null,
      list: [7],
      text: "warm",
      long: { degrees: long }
    }
    const cases = Object.entries(schemas).flatMap(([schema, outputSchema]) =>
      Object.entries(structured).map(([value, structuredContent]) => ({
        name: `${schema}_${value}`,
        outputSchema,
        result: { content: [text("7")], structuredContent }
      }))
    )
    const tools = cases.map(({ name, outputSchema }) => ({ ...good, name, outputSchema }))
    const server = await serving({ tools }, (name, id, response) => {
      const { result } = cases.find((one) => one.name === name)!
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
    })
    await using servers = await openTools({ t: { url: server.url } })
    assert.deepStrictEqual([servers.problems, servers.tools.length], [[], cases.length])
    const asked = cases.map(({ name }): Ask => [`t__${name}`])
    const { results } = await asking(servers.tools, asked, { maxToolRounds: asked.length })
    const noted: Array<string> = []
    for (const [at, { content, isError }] of results.entries()) {
      const { name } = cases[at]!
      assert.isFalse(isError, name)
      assert.include(JSON.stringify(content), "7", name)
      if (/does not match the output schema/.test(JSON.stringify(content))) noted.push(name)
    }
    assert.strictEqual(results.length, cases.length)
    // If a value is too large for a check, nothing is reported; an invalid schema is ignored.
    assert.deepStrictEqual(
      noted.filter((name) => name.startsWith("number_")),
      ["number_none", "number_other", "number_null", "number_list", "number_text", "number_long"]
    )
    assert.deepStrictEqual(
      noted.filter((name) => /^(?:absent|empty_right|text|list|null)_/.test(name) || name === "empty_right"),
      []
    )
    await server.close()
  })

  it("is an error if it is marked as one, or if it is invalid", async () => {
    const results = {
      a: { result: { content: [text("no")], isError: true } },
      b: { result: {} },
      c: { result: { isError: true } }
    }
    const tools = ["a", "b", "c"].map((name) => ({ ...good, name }))
    await using servers = await openTools({ t: raw({ tools, results }) })
    const { results: given } = await asking(servers.tools, [["t__a"], ["t__b"], ["t__c"]])
    assert.deepStrictEqual(given, [
      { content: "The tool failed: no", isError: true },
      { content: 'The tool failed: the MCP server "t" returned a result without content', isError: true },
      { content: "The tool failed: (nothing)", isError: true }
    ])
  })
})

describe("an answer that can no longer come", () => {
  it("fails at once, of a process", async () => {
    const answers = {
      text: { result: "sunny" },
      null: { result: null },
      list: { result: [1] },
      without: {},
      complaint: { error: "out of order" },
      vague: { error: { code: "E7" } }
    }
    const names = [...Object.keys(answers), "exit", "mute"]
    const tools = names.map((name) => ({ ...good, name }))
    await using servers = await openTools({ t: raw({ tools, results: answers }) })
    const { results } = await asking(
      servers.tools,
      names.map((name): Ask => [`t__${name}`])
    )
    const failed = (why: string) => ({ content: `The tool failed: the MCP server "t"${why}`, isError: true })
    assert.deepStrictEqual(
      results,
      [
        ' sent a result that is not an object: the text "sunny"',
        " sent a result that is not an object: null",
        " sent a result that is not an object: a list",
        " sent a response without a result",
        ": out of order",
        " returned an error without a message",
        ": Connection closed",
        ": Connection closed"
      ].map(failed)
    )
  })

  it("fails at once over HTTP, with the status and the server's words", async () => {
    type Answer = (response: http.ServerResponse, id: unknown) => void
    const stream = (response: http.ServerResponse, ...events: ReadonlyArray<string>) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      for (const event of events) response.write(event)
      return response
    }
    const json = (response: http.ServerResponse, body: unknown) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
    const answers: Readonly<Record<string, readonly [Answer, RegExp]>> = {
      ended: [(response) => stream(response).end(), /ended the stream without a response/],
      // It may be resumed by the id of its event; this server does not offer that.
      resumable: [(response) => stream(response, "id: 7\ndata:\n\n").end(), /ended the stream without a response/],
      cut: [
        (response) => stream(response, ": hello\n\n").write("data: {", () => response.destroy()),
        /ended the stream/
      ],
      odd: [
        (response, id) => stream(response, `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: "x" })}\n\n`),
        /sent a result that is not an object: the text "x"/
      ],
      accepted: [(response) => response.writeHead(202).end(), /no response to this request \(HTTP 202\)/],
      other: [
        (response) => json(response, { jsonrpc: "2.0", id: 999, result: {} }),
        /sent no response to this request/
      ],
      nothing: [(response) => json(response, null), / sent null/],
      page: [
        (response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Welcome"),
        /content type: text\/html/
      ],
      failing: [
        (response) => response.writeHead(503).end("<style>p{}</style><h1>Over   capacity</h1>"),
        /HTTP 503: Over capacity/
      ],
      silent: [(response) => response.writeHead(500).end(), /HTTP 500: Internal Server Error/],
      unknown: [(response) => response.writeHead(404).end("no such session"), /HTTP 404: no such session/],
      unnamed: [
        (response) => json(response, { jsonrpc: "2.0", id: null, error: { code: -32_700, message: "cannot parse" } }),
        /cannot parse/
      ]
    }
    const server = await serving(
      { tools: Object.keys(answers).map((name) => ({ ...good, name })) },
      (name, id, response) => answers[name]![0](response, id)
    )
    await using servers = await openTools({ web: { url: server.url } })
    const { results } = await asking(
      servers.tools,
      Object.keys(answers).map((name): Ask => [`web__${name}`]),
      { maxToolRounds: 20 }
    )
    for (const [index, [name, [, why]]] of Object.entries(answers).entries()) {
      assert.isTrue(results[index]?.isError, name)
      assert.match(String(results[index]!.content), why, name)
    }
    await servers.close()
    await server.close()
  })
})

describe("progress", () => {
  const tools = ["progress", "endless"].map((name) => ({ ...good, name }))

  it("extends the time of a call, up to a maximum", { timeout: 20_000 }, async () => {
    const env = { RAW_TOKEN: "secret-12345" }
    await using servers = await openTools({ t: raw({ tools }, { timeoutMillis: 1_000, maxTimeoutMillis: 3_000, env }) })
    const events: Array<RunEvent> = []
    const onEvent = (event: RunEvent) => void events.push(event)
    const { results } = await asking(servers.tools, [["t__progress"], ["t__endless"]], { onEvent })
    assert.deepStrictEqual(results, [
      { content: "at last", isError: false },
      { content: "The tool failed: it did not finish within 3 s", isError: true }
    ])
    const reports = events.filter((event) => event.type === "tool-progress")
    const { at: _, runId: __, ...first } = reports[0]!
    const place = { round: 0, step: 0, turn: 0, index: 0, name: "t__progress" }
    assert.deepStrictEqual(first, {
      type: "tool-progress",
      ...place,
      progress: 0,
      total: 15,
      message: "with <redacted>"
    })
    assert.isAtMost(reports.filter(({ turn }) => turn === 0).length, 15)
  })
})

/** A server over HTTP without an SDK. */
const serving = (
  { tools }: { readonly tools: ReadonlyArray<unknown> },
  call: (name: string, id: unknown, response: http.ServerResponse) => void = () => {},
  list: (params: { readonly cursor?: string } | undefined) => object = () => ({ tools })
) =>
  serve((_, response, body) => {
    if (body === "") {
      response.writeHead(405).end()
      return true
    }
    const { id, method, params } = JSON.parse(body)
    const answer = (result: unknown) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
    }
    if (id === undefined) response.writeHead(202).end()
    else if (method === "initialize") {
      const { protocolVersion } = params
      answer({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "raw", version: "1" } })
    } else if (method === "tools/list") answer(list(params))
    else call(params.name, id, response)
    return true
  })
