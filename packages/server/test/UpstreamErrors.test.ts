import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { Baselines, type Tool } from "@divisi/core"
import { policy } from "@divisi/core/promise"
import { WorkerError } from "@divisi/core/Worker"
import { openaiCompatible } from "@divisi/providers-openai"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import { assert, describe, it } from "vitest"
import type * as RequestLog from "../src/RequestLog.ts"
import { serving } from "./serving.ts"
import { alone, asks, said, team, worker } from "./teams.ts"

/** An upstream that answers every request with one error. */
const upstream = async <A>(
  { body, headers = {}, status }: Pick<Class, "status" | "body" | "headers">,
  test: (baseURL: string) => Promise<A>
): Promise<A> => {
  const server = createServer((request, response) => {
    request.resume()
    if (status === 0) return void response.destroy()
    if (status === 1) return
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(typeof body === "string" ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    return await test(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const says = (message: string, code?: string, type?: string) => ({ error: { message, code, type } })

/** An error of an upstream, and the response that each client gets. 0 cuts the connection, 1 never answers. */
interface Class {
  readonly status: number
  readonly body?: object | string
  readonly headers?: IncomingHttpHeaders
  readonly expected: number
  readonly openai: string
  readonly anthropic: string
  /** Whether the vendor's words reach the client. */
  readonly isQuoted?: boolean
  readonly retryAfter?: string
  /** Whether a header tells clients not to retry. */
  readonly isFinal?: boolean
}

const account = { expected: 502, openai: "upstream_unavailable", anthropic: "api_error" } as const

const classes: Readonly<Record<string, Class>> = {
  "a wrong key (401)": {
    status: 401,
    body: says("Incorrect API key provided: sk-ab*cd. Find your key at example.com.", "invalid_api_key"),
    ...account
  },
  "a forbidden key (403)": { status: 403, body: says("Project does not have access to it."), ...account },
  "a wrong key (400)": { status: 400, body: says("Incorrect API key provided: ab***cd."), ...account },
  "another wrong key (400)": { status: 400, body: says("API key not valid. Please pass a valid API key."), ...account },
  "no credit (402)": { status: 402, body: says("Insufficient Balance"), ...account },
  "no quota (429)": {
    status: 429,
    body: says("You exceeded your current quota, check your plan and billing.", "insufficient_quota"),
    headers: { "retry-after": "20" },
    ...account
  },
  "no balance (429)": { status: 429, body: says("Insufficient balance, please recharge.", "1113"), ...account },
  "no credit (400)": { status: 400, body: says("Your credit balance is too low to access the API."), ...account },
  "no credit (403)": { status: 403, body: says("Your team doesn't have any credits yet."), ...account },
  "an unknown model (404)": {
    status: 404,
    body: says("The model `model-1` does not exist or you do not have access to it.", "model_not_found"),
    ...account
  },
  "a rate limit (429)": {
    status: 429,
    body: says("Rate limit reached for org-secret.", "rate_limit_exceeded"),
    headers: { "retry-after": "7" },
    expected: 429,
    openai: "rate_limit_exceeded",
    anthropic: "rate_limit_error",
    retryAfter: "7"
  },
  "an overload (503)": {
    status: 503,
    body: says("Engine 10.0.0.7 is overloaded"),
    expected: 503,
    openai: "overloaded",
    anthropic: "overloaded_error",
    retryAfter: "1"
  },
  "a mistake of its own (500)": {
    status: 500,
    body: says("CUDA out of memory"),
    expected: 503,
    openai: "overloaded",
    anthropic: "overloaded_error",
    retryAfter: "1"
  },
  "a timeout (504)": {
    status: 504,
    body: says("gateway host-9 timed out"),
    expected: 504,
    openai: "timeout",
    anthropic: "timeout_error"
  },
  "no answer at all": { status: 1, expected: 504, openai: "timeout", anthropic: "timeout_error" },
  "a cut connection": { status: 0, expected: 502, openai: "upstream_error", anthropic: "api_error" },
  "an answer that is no answer": {
    status: 200,
    body: { hello: "secret-host" },
    expected: 502,
    openai: "upstream_error",
    anthropic: "api_error"
  },
  "a page instead of an answer": {
    status: 200,
    body: "<html><title>secret-host</title></html>",
    expected: 502,
    openai: "upstream_error",
    anthropic: "api_error",
    isFinal: true
  },
  "a redirect": {
    status: 308,
    headers: { location: "https://secret-host.example/v1" },
    expected: 502,
    openai: "upstream_error",
    anthropic: "api_error",
    isFinal: true
  },
  "a conversation that is too long (400)": {
    status: 400,
    body: says("This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
    expected: 400,
    openai: "context_length_exceeded",
    anthropic: "invalid_request_error",
    isQuoted: true
  },
  "a request that it does not take (400)": {
    status: 400,
    body: says("Invalid image in message 0."),
    expected: 400,
    openai: "null",
    anthropic: "invalid_request_error",
    isQuoted: true
  }
}

const question = [{ role: "user", content: "Who?" }]

const wires = [
  ["chat/completions", { messages: question }],
  ["responses", { input: "Who?" }],
  ["messages", { messages: question, max_tokens: 100 }]
] as const

const settings = { reassign: "never", retry: { maxAttempts: 1 } } as const

/** Only an upstream that never answers has to be given up. */
const settingsFor = ({ status }: Pick<(typeof classes)[string], "status">) =>
  status === 1 ? { ...settings, worker: { timeoutMillis: 300 } } : settings

const workerAt = (baseURL: string) =>
  openaiCompatible({ baseURL, model: "model-1", apiKey: "none", pricing: { inputPerMillion: 1, outputPerMillion: 1 } })

describe("of an upstream that answers with", () => {
  for (const [name, one] of Object.entries(classes)) {
    it(`${name}, each wire says its own ${one.expected}, and the log says why`, () =>
      upstream(one, async (baseURL) => {
        const log: Array<RequestLog.Entry> = []
        const options = {
          ...alone(workerAt(baseURL)),
          settings: settingsFor(one),
          log: (entry: RequestLog.Entry) => void log.push(entry)
        }
        await serving(options, async ({ url }) => {
          for (const [path, body] of wires) {
            for (const stream of [false, true]) {
              const response = await fetch(`${url}/${path}`, {
                method: "POST",
                body: JSON.stringify({ model: "divisi", stream, ...body })
              })
              const where = `${path} ${stream}`
              const { error } = await response.json()
              assert.strictEqual(response.status, one.expected, where)
              const isAnthropic = path === "messages"
              assert.strictEqual(isAnthropic ? error.type : `${error.code}`, isAnthropic ? one.anthropic : one.openai)
              const words = (one.body as ReturnType<typeof says> | undefined)?.error?.message
              if (words !== undefined)
                assert.strictEqual(error.message.includes(words.slice(0, 20)), one.isQuoted === true, where)
              assert.notMatch(error.message, /API key|billing|secret-host/)
              assert.strictEqual(response.headers.get("retry-after") ?? undefined, one.retryAfter, where)
              const isFinal = one.isFinal ?? one.openai === account.openai
              assert.strictEqual(response.headers.get("x-should-retry"), isFinal ? "false" : null, where)
            }
          }
        })
        const words = (one.body as ReturnType<typeof says> | undefined)?.error?.message
        for (const { ending, providerMessage } of log) {
          if (one.isQuoted) assert.isUndefined(providerMessage)
          else assert.include(providerMessage, words?.slice(0, 20) ?? "", ending)
        }
        assert.lengthOf(log, 6)
      }))
  }

  it("a limit of the request that is too small, each wire says that a retry cannot help", () =>
    serving({ ...alone(workerAt("http://127.0.0.1:1/v1")), settings }, async ({ url }) => {
      for (const [path, body] of wires) {
        const sent = JSON.stringify({ model: "divisi", ...body })
        const headers = { "x-divisi-max-cost": "0.000000001" }
        const response = await fetch(`${url}/${path}`, { method: "POST", headers, body: sent })
        assert.deepStrictEqual([response.status, response.headers.get("x-should-retry")], [429, "false"], path)
        await response.text()
      }
    }))

  it("a wrong key of a model that only the policy asks, each wire says 502 in its own words", () => {
    const refused = (): never => {
      throw new Error("embedder: 401 Incorrect API key provided: ab***cd")
    }
    const options = { ...alone(worker("a", said("one"))), policy: policy("embedding", refused), settings }
    return serving(options, async ({ url }) => {
      for (const [path, body] of wires) {
        const sent = JSON.stringify({ model: "divisi", ...body })
        const response = await fetch(`${url}/${path}`, { method: "POST", body: sent })
        assert.strictEqual(response.status, 502)
        assert.notInclude(await response.text(), "API key")
      }
    })
  })

  it("a request of the policy's model that is refused, each wire says 502 in its own words", () => {
    const refused = (): never => {
      throw new WorkerError({ worker: "planner", reason: { _tag: "InvalidRequest", detail: "top_k: secret-host" } })
    }
    const options = { ...alone(worker("a", said("one"))), policy: policy("planning", refused), settings }
    return serving(options, async ({ url }) => {
      for (const [path, body] of wires) {
        const sent = JSON.stringify({ model: "divisi", ...body })
        const response = await fetch(`${url}/${path}`, { method: "POST", body: sent })
        assert.strictEqual(response.status, 502, path)
        assert.notInclude(await response.text(), "secret-host")
      }
    })
  })

  it("a wrong key, an SDK asks once and blames no key of its own", () =>
    upstream(classes["a wrong key (401)"]!, (baseURL) => {
      let asked = 0
      const options = { ...alone(workerAt(baseURL)), settings, log: () => void asked++ }
      return serving(options, async ({ url }) => {
        const client = new OpenAI({ apiKey: "mine", baseURL: url, maxRetries: 2 })
        const failed = await client.chat.completions
          .create({ model: "divisi", messages: [{ role: "user", content: "Who?" }] })
          .then(
            () => undefined,
            (error: unknown) => error
          )
        assert.instanceOf(failed, OpenAI.InternalServerError)
        assert.strictEqual(asked, 1)
      })
    }))
})

describe("a worker that does not do what a valid request asks for", () => {
  const format = { type: "json_schema", name: "count", schema: { type: "object", required: ["count"] } }
  const shaped = [
    { response_format: { type: "json_schema", json_schema: format } },
    { text: { format } },
    { output_config: { format } }
  ]

  it("and answers outside of the schema, each wire says 502 and why", () =>
    serving({ ...alone(worker("a", said("Five."))), settings }, async ({ url }) => {
      for (const [at, [path, body]] of wires.entries()) {
        const sent = JSON.stringify({ model: "divisi", ...body, ...shaped[at] })
        const response = await fetch(`${url}/${path}`, { method: "POST", body: sent })
        assert.deepStrictEqual([response.status, response.headers.get("x-should-retry")], [502, "false"], path)
        assert.include((await response.json()).error.message, "does not match the output schema: it is not JSON")
      }
    }))

  it("and never stops requesting tools, each wire says 502 and why", () => {
    const look: Tool.Tool = {
      name: "look",
      input: { type: "object" },
      execute: () => Effect.succeed("Nothing.")
    }
    const looping = worker("a", asks(["look", {}]))
    const options = { ...alone(looping), settings: { ...settings, tools: [look], maxToolRounds: 1 } }
    return serving(options, async ({ url }) => {
      for (const [path, body] of wires) {
        const sent = JSON.stringify({ model: "divisi", ...body })
        const response = await fetch(`${url}/${path}`, { method: "POST", body: sent })
        assert.strictEqual(response.status, 502, path)
        assert.include((await response.json()).error.message, "still requested tools after 1 rounds")
      }
    })
  })
})

describe("a team of which a worker fails", () => {
  it("answers, and each wire, the log and the metrics say which step failed and why", async () => {
    const refuses = { fail: { _tag: "Authentication", detail: "Incorrect API key provided." } } as const
    const log: Array<RequestLog.Entry> = []
    const failing = team(worker("a", refuses), worker("b", said("two")), worker("c", said("three")))
    const options = { ...failing, settings, log: (entry: RequestLog.Entry) => void log.push(entry) }
    await serving(options, async ({ url }) => {
      const failed = [{ round: 0, step: 0, worker: "a", reason: "Authentication" as const }]
      for (const [path, body] of wires) {
        for (const stream of [false, true]) {
          const sent = JSON.stringify({ model: "divisi", stream, ...body })
          const response = await fetch(`${url}/${path}`, { method: "POST", body: sent })
          const text = await response.text()
          assert.strictEqual(response.status, 200)
          assert.include(text, `"failed_steps":${JSON.stringify(failed)}`, `${path} ${stream}`)
          assert.notInclude(text, "API key")
          if (!stream) assert.strictEqual(response.headers.get("x-divisi-failed-steps"), "1")
        }
      }
      for (const { failedSteps } of log) assert.deepStrictEqual(failedSteps, failed)
      const metrics = await (await fetch(`${url.replace(/\/v1$/, "")}/metrics`)).text()
      assert.match(metrics, /divisi_failed_steps_total\{[^}]*reason="Authentication"[^}]*\} 6/)
    })
  })

  it("without an answer, still counts and lists the failed steps of each worker", async () => {
    const refuses = { fail: { _tag: "Authentication", detail: "Incorrect API key provided." } } as const
    const log: Array<RequestLog.Entry> = []
    const pool = alone(worker("a", refuses), worker("b", refuses))
    const failover = { ...pool, policy: Baselines.single(0, { failover: true }) }
    const { retry } = settings
    await serving({ ...failover, settings: { retry }, log: (entry) => void log.push(entry) }, async ({ url }) => {
      for (const [path, body] of wires) {
        for (const stream of [false, true]) {
          const sent = JSON.stringify({ model: "divisi", stream, ...body })
          const { headers, status } = await fetch(`${url}/${path}`, { method: "POST", body: sent })
          assert.strictEqual(status, 502)
          assert.strictEqual(headers.get("x-divisi-failed-steps"), "2", `${path} ${stream}`)
          assert.include(headers.get("x-divisi-notices"), "b took over")
        }
      }
      for (const { failedSteps = [] } of log) {
        assert.deepStrictEqual(
          failedSteps.map(({ reassignedTo, worker }) => [worker, reassignedTo]),
          [
            ["a", "b"],
            ["b", undefined]
          ]
        )
      }
      const metrics = await (await fetch(`${url.replace(/\/v1$/, "")}/metrics`)).text()
      for (const id of ["a", "b"]) {
        assert.match(metrics, new RegExp(`divisi_failed_steps_total\\{[^}]*worker="${id}"[^}]*\\} 6`))
      }
    })
  })

  it("shows the provider's words about this server's account to keys with the right admin alone", () => {
    const words = "Incorrect API key provided: ab***cd of org-secret."
    const refuses = { fail: { _tag: "Authentication", detail: words } } as const
    const options = {
      ...team(worker("a", refuses), worker("b", said("two")), worker("c", said("three"))),
      settings,
      authenticate: ({ authorization = "" }) =>
        Effect.succeed({ owner: "team", rights: authorization === "Bearer boss" ? ["admin"] : ["rate"] })
    }
    return serving(options, async ({ url }) => {
      const as = async (name: string, path: string, init: RequestInit = {}) => {
        const response = await fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${name}` } })
        return { text: await response.text(), run: response.headers.get("x-divisi-run") }
      }
      const sent = { model: "divisi", stream: true, messages: question }
      const asked = await as("user", "/chat/completions", { method: "POST", body: JSON.stringify(sent) })
      assert.notInclude(asked.text, "org-secret")
      const [{ id }] = JSON.parse((await as("user", "/runs")).text).data
      for (const path of [`/runs/${id}`, `/runs/${id}/events`]) {
        const seen = (await as("user", path)).text
        assert.notInclude(seen, "org-secret", path)
        assert.include(seen, "a ", path)
        assert.include((await as("boss", path)).text, "org-secret", path)
      }
    })
  })
})
