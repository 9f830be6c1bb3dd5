/** Several processes of `divisi serve` on one database: any of them goes on with what another has begun. */
import fs from "node:fs"
import path from "node:path"
import { PostgresServer } from "@divisi/testkit/journals"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { config, divisi, type Ended, inFolder } from "./process.ts"

const hasPostgres = PostgresServer.find() !== undefined

if (!hasPostgres) console.warn("Not tested: `divisi serve --database` needs initdb, pg_ctl and postgres.")

interface Server {
  readonly url: string
  readonly kill: (signal: NodeJS.Signals) => Promise<Ended>
}

const question = { role: "user", content: "Where?" }
const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }]

describe.skipIf(!hasPostgres)("divisi serve --database", () => {
  let database: PostgresServer.PostgresServer
  beforeAll(async () => {
    database = await PostgresServer.start()
  })
  afterAll(() => database.stop())

  /** The URL without its password, which stands in the environment. */
  const place = () => {
    const url = new URL(database.url)
    const PGPASSWORD = url.password
    url.password = ""
    return { DIVISI_DATABASE: url.href, PGPASSWORD, DIVISI_OUTCOMES: "none" }
  }

  const serve = (name: string, environment: Readonly<Record<string, string>>): Promise<Server> =>
    new Promise((resolve, reject) => {
      let isUp = false
      const ended = divisi(["serve", "--port", "0", "--config", config(name)], {
        environment,
        onOutput: (output, child) => {
          const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output)?.[0]
          if (url === undefined || isUp) return
          isUp = true
          const kill: Server["kill"] = (signal) => {
            child.kill(signal)
            return ended
          }
          resolve({ url, kill })
        }
      })
      ended.then(({ errors, output }) => reject(new Error(`${output}${errors}`)))
    })

  const post = (url: string, to: string, body: object, key?: string) =>
    fetch(`${url}/${to}`, {
      method: "POST",
      body: JSON.stringify({ model: "divisi", ...body }),
      headers: key === undefined ? {} : { "x-api-key": key }
    })

  it("holds a key's budget on two servers, refuses a revoked key on both at once, and tells its password nowhere", () =>
    inFolder(async (folder) => {
      const environment = { ...place(), BOOK: path.join(folder, "book") }
      const made = await divisi(["key", "make", "alice", "--max-cost", "0.07", "--json"], { environment })
      const { id, secret } = JSON.parse(made.output)
      const servers = await Promise.all([serve("quick", environment), serve("quick", environment)])
      const messages = [{ role: "user", content: "?" }]
      const ask = (at: number) => post(servers[at % 2]!.url, "chat/completions", { messages }, secret)
      const statuses = await Promise.all(Array.from({ length: 200 }, async (_, at) => (await ask(at)).status))
      expect(statuses.filter((status) => status === 200)).toHaveLength(7)
      expect(statuses.filter((status) => status === 429)).toHaveLength(193)
      const listed = await divisi(["key", "list", "--json"], { environment })
      expect(JSON.parse(listed.output)[0].spentUsd).toBeCloseTo(0.07, 9)
      await divisi(["key", "revoke", id], { environment })
      for (const at of [0, 1]) expect((await ask(at)).status).toBe(401)
      const ended = await Promise.all(servers.map(({ kill }) => kill("SIGTERM")))
      for (const { errors, output } of [...ended, made, listed]) {
        expect(`${output}${errors}`).not.toContain(PostgresServer.password)
      }
      const wrong = { ...environment, PGPASSWORD: "a-wrong-password" }
      const refused = await divisi(["key", "list"], { environment: wrong })
      expect(refused.code).toBe(1)
      expect(refused.errors).toContain("does not allow it")
      expect(refused.errors).not.toContain("a-wrong-password")
    }))

  it("goes on with a run that waits, and from a response, of a server that was killed with SIGKILL", () =>
    inFolder(async (folder) => {
      const book = path.join(folder, "book")
      const environment = { ...place(), BOOK: book }
      const { secret } = JSON.parse((await divisi(["key", "make", "carol", "--json"], { environment })).output)
      const [one, two] = await Promise.all([serve("served", environment), serve("served", environment)])
      const first = await (await post(one.url, "chat/completions", { messages: [question], tools }, secret)).json()
      const { message } = first.choices[0]
      const response = await (await post(one.url, "responses", { input: "Where?", tools: [] }, secret)).json()
      await one.kill("SIGKILL")
      const result = { role: "tool", tool_call_id: message.tool_calls[0].id, content: "left" }
      const history = [question, message, result]
      const before = fs.readFileSync(book, "utf8").trim().split("\n").length
      const answer = await (await post(two.url, "chat/completions", { messages: history, tools }, secret)).json()
      expect(answer.choices[0].message.content).toBe("done")
      // Who answers with the result is asked, and nobody else again.
      expect(fs.readFileSync(book, "utf8").trim().split("\n")).toHaveLength(before + 1)
      const found = await fetch(`${two.url}/responses/${response.id}`, { headers: { "x-api-key": secret } })
      expect(found.status).toBe(200)
      expect((await found.json()).id).toBe(response.id)
      const next = await post(two.url, "responses", { input: "And?", previous_response_id: response.id }, secret)
      expect(next.status).toBe(200)
      await two.kill("SIGTERM")
    }))
})
