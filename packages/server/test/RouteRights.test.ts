/** The rights of every route: a new route fails here until its rights are listed. */
import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import { assert, describe, it } from "vitest"
import * as Pages from "../src/http/Pages.ts"
import * as Keys from "../src/Keys.ts"
import { serving } from "./serving.ts"
import { said, team, worker } from "./teams.ts"

const source = path.join(import.meta.dirname, "../src")

/** The routes in the code, such as `GET /v1/models/*`. */
const routes = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .flatMap((file) => [...readFileSync(path.join(source, file), "utf8").matchAll(/HttpRouter\.route\(\s*([^)]*)/g)])
  .map(([, start = ""]) => {
    const [, method, at] = /^"([A-Z]+)",\s*["`]([^"`]+)["`]/.exec(start) ?? assert.fail(`${start} is not literal`)
    return `${method} ${at!.replace(/\$\{root\}/, Pages.root)}`
  })

const keyless = ["none", "wrong", "revoked", "expired"] as const

/** All callers. The run and the response of a request belong to `owner`. */
const callers = [...keyless, "other", "rate", "admin", "both", "owner"] as const

type Name = (typeof callers)[number]

const noIds = { run: "", response: "" }

interface Probe {
  /** The statuses of a client without a valid key, and of the keys from `other` on. */
  readonly statuses: string
  readonly path?: (ids: typeof noIds) => string
  readonly body?: object
}

const messages = [{ role: "user", content: "Who?" }]

/**
 * Requests by route, some routes with several. If a key may not see a run or a response, it gets 404. A request that
 * is allowed may fail for another reason: 400 (there is nothing to resume), 404 (no such model), 426 (no WebSocket).
 */
const probes: Record<string, Probe> = {
  "POST /v1/chat/completions": { statuses: "401 200 200 200 200 200", body: { model: "divisi", messages } },
  "POST /v1/responses": { statuses: "401 200 200 200 200 200", body: { model: "divisi", input: "Who?" } },
  "GET /v1/responses": { statuses: "401 426 426 426 426 426" },
  "POST /v1/responses/compact": { statuses: "401 200 200 200 200 200", body: { model: "divisi", input: "Who?" } },
  "POST /v1/responses/input_tokens": { statuses: "401 200 200 200 200 200", body: { model: "divisi", input: "Who?" } },
  "GET /v1/responses/:id": { statuses: "401 404 404 404 404 200", path: ({ response }) => `/v1/responses/${response}` },
  "DELETE /v1/responses/:id": {
    statuses: "401 404 404 404 404 200",
    path: ({ response }) => `/v1/responses/${response}`
  },
  "POST /v1/responses/:id/cancel": {
    statuses: "401 404 404 404 404 400",
    path: ({ response }) => `/v1/responses/${response}/cancel`
  },
  "GET /v1/responses/:id/input_items": {
    statuses: "401 404 404 404 404 200",
    path: ({ response }) => `/v1/responses/${response}/input_items`
  },
  "POST /v1/messages": { statuses: "401 200 200 200 200 200", body: { model: "divisi", max_tokens: 9, messages } },
  "POST /v1/messages/count_tokens": { statuses: "401 200 200 200 200 200", body: { model: "divisi", messages } },
  "POST /v1/embeddings": { statuses: "401 404 404 404 404 404", body: { model: "divisi", input: "Who?" } },
  "POST /v1/completions": { statuses: "401 404 404 404 404 404", body: { model: "divisi", prompt: "Who?" } },
  "GET /v1/models/*": { statuses: "401 200 200 200 200 200", path: () => "/v1/models" },
  "GET /v1/runs/*": { statuses: "401 404 404 200 200 200", path: ({ run }) => `/v1/runs/${run}` },
  "GET /v1/runs/* items": { statuses: "401 404 404 400 400 400", path: ({ run }) => `/v1/runs/${run}/items` },
  "GET /v1/runs/* events": { statuses: "401 404 404 200 200 200", path: ({ run }) => `/v1/runs/${run}/events` },
  "GET /v1/runs/* all": { statuses: "401 403 403 200 200 403", path: () => "/v1/runs?owner=all" },
  "POST /v1/runs/:id/rating": {
    statuses: "401 404 404 200 200 200",
    path: ({ run }) => `/v1/runs/${run}/rating`,
    body: { score: 1 }
  },
  "POST /v1/runs/:id/rating grader": {
    statuses: "401 403 404 403 200 403",
    path: ({ run }) => `/v1/runs/${run}/rating`,
    body: { score: 1, source: "grader" }
  },
  "POST /v1/runs/:id/fork": {
    statuses: "401 404 404 200 200 200",
    path: ({ run }) => `/v1/runs/${run}/fork`,
    body: { at: "0.2" }
  },
  "POST /v1/runs/:id/resume": {
    statuses: "401 404 404 403 403 400",
    path: ({ run }) => `/v1/runs/${run}/resume`,
    body: {}
  },
  "POST /v1/runs/:id/price": {
    statuses: "401 404 404 200 200 200",
    path: ({ run }) => `/v1/runs/${run}/price`,
    body: { at: "0.2" }
  },
  "POST /v1/runs/:id/cancel": {
    statuses: "401 404 404 200 200 200",
    path: ({ run }) => `/v1/runs/${run}/cancel`,
    body: {}
  },
  "GET /studio/*": { statuses: "200 200 200 200 200 200", path: () => "/studio/app.js" },
  "HEAD /": { statuses: "200 200 200 200 200 200" },
  "HEAD /api/hello": { statuses: "200 200 200 200 200 200" },
  "GET /": { statuses: "404 404 404 404 404 404", path: () => "/" },
  "GET /v1/operations": { statuses: "401 403 403 200 200 403" },
  "GET /metrics": { statuses: "401 200 200 200 200 200" },
  "GET /openapi.json": { statuses: "200 200 200 200 200 200" },
  "GET /health/live": { statuses: "200 200 200 200 200 200" },
  "GET /health/ready": { statuses: "200 200 200 200 200 200" }
}

/** The statuses of all routes for all callers, each with a run and a response of its own. */
const answers = async (): Promise<Record<string, string>> => {
  const keys = new Map<string, Keys.Key>()
  const make = (allowed: Partial<Keys.Key> = {}): string => {
    const { key, secret } = Keys.make({ name: "test", limits: {}, ...allowed }, Date.now())
    keys.set(key.id, { ...key, ...allowed })
    return secret
  }
  const secrets: Record<Name, string | undefined> = {
    none: undefined,
    wrong: `divisi_00000000_${"0".repeat(44)}`,
    revoked: make({ revokedAt: 1 }),
    expired: make({ expiresAt: 1 }),
    other: make(),
    rate: make({ rights: ["rate"] }),
    admin: make({ rights: ["admin"] }),
    both: make({ rights: ["rate", "admin"] }),
    owner: make()
  }
  const workers = [worker("a", said("one")), worker("b", said("two")), worker("c", said("three"))]
  const options = {
    ...team(...workers),
    authenticate: Keys.authenticate({
      find: (id) => Effect.sync(() => keys.get(id)),
      ledger: () => Effect.succeed(undefined)
    }),
    isKeyless: () => false,
    keepRating: () => Effect.void,
    pages: () => ({ status: 200, headers: {}, body: new Uint8Array() })
  }
  return serving(options, async ({ port, url }) => {
    const client = new OpenAI({ apiKey: secrets.owner!, baseURL: url, maxRetries: 0 })
    const begin = async (input: string) => {
      const { data, response } = await client.responses.create({ model: "divisi", input }).withResponse()
      return { run: response.headers.get("x-divisi-run")!, response: data.id }
    }
    const seen: Record<string, string> = {}
    for (const [route, { body, path }] of Object.entries(probes)) {
      const [method = "", at = ""] = route.split(" ")
      const statuses: Array<string> = []
      for (const caller of callers) {
        const ids = path === undefined || path.length === 0 ? noIds : await begin(`${route} ${caller}`)
        const secret = secrets[caller]
        const request = await fetch(`http://127.0.0.1:${port}${path?.(ids) ?? at}`, {
          method,
          headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
        statuses.push(String(request.status))
        await request.body?.cancel()
      }
      const refused = new Set(statuses.splice(0, keyless.length))
      seen[route] = [[...refused].join(), ...statuses].join(" ")
    }
    return seen
  })
}

describe("the rights of a key", () => {
  it("hold at every route", async () => {
    assert.sameMembers([...new Set(Object.keys(probes).map((route) => route.split(" ", 2).join(" ")))], routes)
    const expected = Object.entries(probes).map(([route, { statuses }]) => [route, statuses])
    assert.deepStrictEqual(await answers(), Object.fromEntries(expected))
  })
})
