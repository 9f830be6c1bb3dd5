/** A marker in every text of requests and answers, on all wires: where it is stored, logged or exported. */
import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { config, divisi, inFolder } from "./process.ts"

const marker = "marker-7c1e"

// biome-ignore lint/suspicious/noExplicitAny: bodies of three wires are only picked apart here.
type Body = Record<string, any>

const post = async (url: string, body: Body) => {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) })
  const run = response.headers.get("x-divisi-run")
  return { status: response.status, run, body: (await response.json()) as Body }
}

const get = async (url: string) => {
  const response = await fetch(url)
  return { status: response.status, text: await response.text() }
}

const parameters = { type: "object", properties: { at: { type: "string", description: `${marker} in a schema` } } }
const tool = { name: "look", description: `${marker} in a tool` }
const system = `${marker} in instructions`
const user = `${marker} in a question`
const result = `${marker} in a tool result`

const chat = async (url: string) => {
  const base = { model: "divisi", tools: [{ type: "function", function: { ...tool, parameters } }] }
  const messages = [
    { role: "system", content: system },
    { role: "user", content: user }
  ]
  const first = await post(`${url}/chat/completions`, { ...base, messages })
  const { message } = first.body.choices[0]
  const results = message.tool_calls.map(({ id }: Body) => ({ role: "tool", tool_call_id: id, content: result }))
  return post(`${url}/chat/completions`, { ...base, messages: [...messages, message, ...results] })
}

const messages = async (url: string) => {
  const base = { model: "divisi", max_tokens: 99, system, tools: [{ ...tool, input_schema: parameters }] }
  const asked = { role: "user", content: user }
  const first = await post(`${url}/messages`, { ...base, messages: [asked] })
  const results = first.body.content
    .filter(({ type }: Body) => type === "tool_use")
    .map(({ id }: Body) => ({ type: "tool_result", tool_use_id: id, content: result }))
  const turns = [asked, { role: "assistant", content: first.body.content }, { role: "user", content: results }]
  return post(`${url}/messages`, { ...base, messages: turns })
}

const responses = async (url: string) => {
  const base = { model: "divisi", instructions: system, tools: [{ type: "function", ...tool, parameters }] }
  const asked = { role: "user", content: user }
  const first = await post(`${url}/responses`, { ...base, input: [asked] })
  const results = first.body.output
    .filter(({ type }: Body) => type === "function_call")
    .map(({ call_id }: Body) => ({ type: "function_call_output", call_id, output: result }))
  return post(`${url}/responses`, { ...base, input: [asked, ...first.body.output, ...results] })
}

/** Everything that a client does, with the answers of the server. */
const use = async (url: string) => {
  const answers = [await chat(url), await messages(url), await responses(url)]
  const response = answers[2]!.body
  const run = `${url}/runs/${answers[0]!.run}`
  const broken = await post(`${url}/chat/completions`, {
    model: "divisi",
    messages: [{ role: "user", content: `${user}: break` }]
  })
  const named = { model: `${marker} as a model`, messages: [{ role: "user", content: user }] }
  const unknown = await post(`${url}/chat/completions`, named)
  return {
    answers,
    broken,
    unknown,
    store: response.store,
    retrieved: await get(`${url}/responses/${response.id}`),
    continued: await post(`${url}/responses`, { model: "divisi", input: user, previous_response_id: response.id }),
    background: await post(`${url}/responses`, { model: "divisi", input: user, background: true }),
    listed: await get(`${url}/runs`),
    one: await get(run),
    events: await get(`${run}/events`),
    rated: await post(`${run}/rating`, { rating: "up", note: `${marker} in a note` }),
    metrics: await get(`${url.replace(/\/v1$/, "")}/metrics`)
  }
}

const filesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))

const holdsMarker = (file: string) => readFileSync(file).includes(marker)

/** Serves with its data in an empty folder; the marked files include those of the moment before it ends. */
const served = (...flags: ReadonlyArray<string>) =>
  inFolder(async (folder) => {
    let exported = ""
    const collector = createServer((request, response) => {
      request.setEncoding("utf8").on("data", (piece) => {
        exported += piece
      })
      request.on("end", () => response.end("{}"))
    })
    await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve))
    try {
      const marked = new Set<string>()
      const look = () => {
        for (const file of filesOf(folder)) if (holdsMarker(file)) marked.add(path.relative(folder, file))
      }
      let using: ReturnType<typeof use> | undefined
      const { errors, output } = await divisi(
        ["serve", "--json", "--port", "0", "--config", config("marked"), ...flags],
        {
          cwd: folder,
          environment: {
            HOME: folder,
            XDG_DATA_HOME: path.join(folder, "data"),
            XDG_CACHE_HOME: path.join(folder, "cache"),
            OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
          },
          onOutput: (text, child) => {
            const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(text)?.[0]
            if (url !== undefined) {
              using ??= use(url).finally(() => {
                look()
                child.kill("SIGTERM")
              })
            }
          }
        }
      )
      look()
      return { ...(await using!), marked: [...marked], logged: output + errors, exported }
    } finally {
      collector.closeAllConnections()
      collector.close()
    }
  })

describe("divisi serve --content", () => {
  it("none stores, logs and exports no text of requests or answers", { timeout: 120_000 }, async () => {
    const seen = await served("--content", "none")
    for (const { body, status } of seen.answers) {
      assert.strictEqual(status, 200, JSON.stringify(body))
      assert.include(JSON.stringify(body), `${marker} in an answer`)
    }
    assert.deepStrictEqual(seen.marked, [])
    assert.isAbove(seen.broken.status, 399)
    assert.strictEqual(seen.unknown.status, 404)
    assert.include(seen.logged, '"event":"request"')
    assert.include(seen.exported, "invoke_workflow")
    for (const text of [seen.logged, seen.exported, seen.metrics.text, seen.listed.text, seen.one.text]) {
      assert.notInclude(text, marker)
    }
    assert.isNotEmpty(JSON.parse(seen.listed.text).data)
    assert.strictEqual(JSON.parse(seen.one.text).question, null)
    assert.strictEqual(seen.store, false)
    const refusals = [
      [404, seen.retrieved.status, seen.retrieved.text],
      [400, seen.continued.status, seen.continued.body.error?.message],
      [400, seen.background.status, seen.background.body.error?.message],
      [404, seen.events.status, seen.events.text],
      [404, seen.rated.status, seen.rated.body.error?.message]
    ] as const
    for (const [expected, status, text] of refusals) {
      assert.strictEqual(status, expected, text)
      assert.match(text, /content\\?" is \\?"none/)
    }
  })

  it("full, the default, stores it", { timeout: 120_000 }, async () => {
    const seen = await served()
    assert.include(seen.marked.join(), "runs")
    assert.include(seen.marked.join(), "responses")
    assert.include(seen.one.text, marker)
    assert.strictEqual(seen.retrieved.status, 200)
    assert.strictEqual(seen.rated.status, 200)
  })

  it("none refuses settings that store content", { timeout: 120_000 }, async () => {
    for (const flags of [
      ["--journal", "runs.sqlite"],
      ["--cache", "answers.sqlite"]
    ]) {
      const { code, errors } = await divisi(["serve", "--config", config("marked"), "--content", "none", ...flags])
      assert.notStrictEqual(code, 0)
      assert.include(errors, "--content none")
    }
  })
})
