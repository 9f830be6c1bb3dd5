/** Several processes of `divisi serve` on one database: each can resume the work of another. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { PostgresServer } from "@divisi/testkit/journals"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { config, divisi, type Ended, inFolder } from "./process.ts"

const hasPostgres = PostgresServer.find() !== undefined

if (!hasPostgres) console.warn("Not tested: `divisi serve --database` needs initdb, pg_ctl and postgres.")

interface Server {
  readonly url: string
  /** All that it has written. */
  readonly said: () => string
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

  /** The URL without its password, which is in the environment. */
  const place = () => {
    const { PGPASSWORD, url } = PostgresServer.withoutPassword(database.url)
    return { DIVISI_DATABASE: url, PGPASSWORD, DIVISI_OUTCOMES: "none" }
  }

  const serve = (
    name: string,
    environment: Readonly<Record<string, string>>,
    flags: ReadonlyArray<string> = []
  ): Promise<Server> =>
    new Promise((resolve, reject) => {
      let isUp = false
      let written = ""
      const ended = divisi(["serve", "--port", "0", "--config", config(name), ...flags], {
        environment,
        onOutput: (output, child) => {
          written = output
          const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output)?.[0]
          if (url === undefined || isUp) return
          isUp = true
          const kill: Server["kill"] = (signal) => {
            child.kill(signal)
            return ended
          }
          resolve({ url, kill, said: () => written })
        }
      })
      ended.then(({ errors, output }) => reject(new Error(`${output}${errors}`)))
    })

  const post = (url: string, to: string, body: object, key?: string) =>
    fetch(`${url}/${to}`, {
      method: "POST",
      body: JSON.stringify(to.endsWith("rating") ? body : { model: "divisi", ...body }),
      headers: key === undefined ? {} : { "x-api-key": key }
    })

  describe("on two servers", () => {
    const make = async (...flags: ReadonlyArray<string>): Promise<{ readonly id: string; readonly secret: string }> =>
      JSON.parse((await divisi(["key", "make", "alice", "--json", ...flags], { environment: place() })).output)
    const own = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-"))
    const rating = () => ({
      ...place(),
      DIVISI_OUTCOMES: path.join(own, "outcomes.jsonl"),
      DIVISI_ROUTER: path.join(own, "router.json")
    })
    let servers: ReadonlyArray<Server> = []
    beforeAll(async () => {
      // From the first key on, only those are let in who have one.
      await make()
      servers = await Promise.all([serve("quick", rating()), serve("quick", rating())])
    })
    afterAll(async () => {
      await Promise.all(servers.map(({ kill }) => kill("SIGTERM")))
      fs.rmSync(own, { recursive: true })
    })

    /** The statuses of requests at once, one to this server, and one to that. */
    const ask = async (secret: string, times = 1, from = 0): Promise<ReadonlyArray<number>> =>
      Promise.all(
        Array.from({ length: times }, async (_, at) => {
          const messages = [{ role: "user", content: `${at}` }]
          const response = await post(servers[(from + at) % 2]!.url, "chat/completions", { messages }, secret)
          await response.text()
          return response.status
        })
      )

    it("holds a key's budget, refuses a revoked key on both at once, and tells its password nowhere", async () => {
      const environment = place()
      const { id, secret } = await make("--max-cost", "0.07")
      const statuses = await ask(secret, 200)
      expect(statuses.filter((status) => status === 200)).toHaveLength(7)
      expect(statuses.filter((status) => status === 429)).toHaveLength(193)
      const listed = await divisi(["key", "list", "--json"], { environment })
      const mine = JSON.parse(listed.output).find((key: { readonly id: string }) => key.id === id)
      expect(mine.spentUsd).toBeCloseTo(0.07, 9)
      await divisi(["key", "change", id, "--max-cost", "0.09"], { environment })
      expect((await ask(secret, 20)).filter((status) => status === 200)).toHaveLength(2)
      await divisi(["key", "revoke", id], { environment })
      expect(await ask(secret, 2)).toEqual([401, 401])
      const wrong = { ...environment, PGPASSWORD: "a-wrong-password" }
      const refused = await divisi(["key", "list"], { environment: wrong })
      expect(refused.code).toBe(1)
      expect(refused.errors).toContain("rejects this user")
      expect(refused.errors).not.toContain("a-wrong-password")
      for (const said of [...servers.map(({ said }) => said()), listed.output, listed.errors]) {
        expect(said).not.toContain(PostgresServer.password)
      }
    })

    it("learns from what was rated on either, which is in no file", async () => {
      const { secret } = await make()
      const learn = () => divisi(["learn", "--config", "none"], { environment: rating() })
      expect((await learn()).errors).toContain("No rated runs yet")
      for (const [at, { url }] of servers.entries()) {
        const messages = [{ role: "user", content: `Rate ${at}` }]
        const run = (await post(url, "chat/completions", { messages }, secret)).headers.get("x-divisi-run")
        // The other server knows the run, too.
        const rated = await post(servers[1 - at]!.url, `runs/${run}/rating`, { rating: "up" }, secret)
        expect(rated.status).toBe(200)
      }
      const learned = await learn()
      expect(`${learned.output}${learned.errors}`).not.toContain("No rated runs yet")
      expect(fs.existsSync(rating().DIVISI_OUTCOMES)).toBe(false)
    })

    it("lets a key ask no faster than on one, also 1,000 times at once", async () => {
      const [slow, thrifty] = [await make("--requests-per-minute", "7"), await make("--tokens-per-minute", "1")]
      const begun = performance.now()
      const statuses = await ask(slow.secret, 1_000)
      const answered = statuses.filter((status) => status === 200).length
      expect(answered).toBeGreaterThanOrEqual(7)
      expect(answered).toBeLessThanOrEqual(7 + Math.ceil(((performance.now() - begun) * 7) / 60_000))
      expect(statuses.filter((status) => status === 429)).toHaveLength(1_000 - answered)
      expect(await ask(thrifty.secret)).toEqual([200])
      // Usage is written after the answer.
      await expect.poll(() => ask(thrifty.secret, 1, 1), { timeout: 20_000 }).toEqual([429])
    })
  })

  it("spends no more in all than --max-total-cost allows, on two servers and on one of the config's database after both were killed", async () => {
    const { DIVISI_DATABASE, ...others } = place()
    const flags = ["--keys", "none", "--max-total-cost", "0.05"]
    const round = async (count: number, environment: Readonly<Record<string, string>>) => {
      const servers = await Promise.all(Array.from({ length: count }, () => serve("quick", environment, flags)))
      const statuses = await Promise.all(
        Array.from({ length: 100 }, async (_, at) => {
          const messages = [{ role: "user", content: `${at}` }]
          return (await post(servers[at % count]!.url, "chat/completions", { messages })).status
        })
      )
      await Promise.all(servers.map(({ kill }) => kill("SIGKILL")))
      return statuses.filter((status) => status === 200).length
    }
    expect(await round(2, place())).toBe(5)
    expect(await round(1, { ...others, CONFIGURED_DATABASE: DIVISI_DATABASE })).toBe(0)
  })

  it("waits for a database that starts after it, and ends at once on Ctrl-C meanwhile", async () => {
    const environment = place()
    database.halt()
    const args = ["serve", "--port", "0", "--config", config("served"), "--keys", "none"]
    const stopped = await divisi(args, {
      environment,
      onOutput: (output, child) => {
        if (output.includes("Waiting up to 30 s")) child.kill("SIGINT")
      }
    })
    expect(stopped.code).toBe(130)
    expect(stopped.errors).toMatch(
      /^divisi: The database postgres:\/\/127\.0\.0\.1:\d+\/postgres cannot be reached .* Waiting/
    )
    expect(stopped.errors).not.toContain(PostgresServer.password)
    let isBegun = false
    const served = await divisi(args, {
      environment,
      onOutput: (output, child) => {
        if (output.includes("/v1")) child.kill("SIGTERM")
        else if (!isBegun && output.includes("Waiting up to 30 s")) {
          isBegun = true
          database.begin()
        }
      }
    })
    expect(isBegun).toBe(true)
    expect(served.output).toContain("/v1")
    const wrong = await divisi(args, { environment: { ...environment, PGPASSWORD: "wrong" } })
    expect(wrong.code).toBe(1)
    expect(wrong.errors).toContain("Check the user, the password and its permissions")
    expect(wrong.errors).not.toContain("Waiting")
  })

  it("waits for an unreachable database, reports that it is not ready, and pays nothing twice afterwards", () =>
    inFolder(async (folder) => {
      const book = path.join(folder, "book")
      const environment = { ...place(), BOOK: book }
      const made = await divisi(["key", "make", "dora", "--json"], { environment })
      const { id, secret } = JSON.parse(made.output)
      const server = await serve("served", environment)
      const ready = async () => (await fetch(server.url.replace(/v1$/, "health/ready"))).status
      const ask = (messages: ReadonlyArray<object>, tools?: ReadonlyArray<object>) =>
        post(server.url, "chat/completions", { messages, tools }, secret)
      const { message } = (await (await ask([question], tools)).json()).choices[0]
      const result = { role: "tool", tool_call_id: message.tool_calls[0].id, content: "left" }
      // In the middle of what is asked, as after a crash.
      const many = Array.from({ length: 40 }, (_, at) => ask([{ role: "user", content: `${at}` }]))
      await Promise.any(many)
      database.restart("immediate")
      for (const response of await Promise.all(many)) expect(response.status).toBe(200)
      database.halt()
      await expect.poll(ready, { timeout: 20_000 }).toBe(503)
      const resumed = ask([question, message, result], tools)
      const asked = ask([{ role: "user", content: "And?" }])
      database.begin()
      expect((await (await resumed).json()).choices[0].message.content).toBe("done")
      expect((await asked).status).toBe(200)
      await expect.poll(ready, { timeout: 20_000 }).toBe(200)
      // Three workers each, of the run that waited the third twice.
      const calls = fs.readFileSync(book, "utf8").trim().split("\n").length
      expect(calls).toBe(4 + 3 * 41)
      const listed = JSON.parse((await divisi(["key", "list", "--json"], { environment })).output)
      const { spentUsd } = listed.find((key: { readonly id: string }) => key.id === id)
      await server.kill("SIGTERM")
      expect(spentUsd).toBeGreaterThan(0)
      const again = JSON.parse((await divisi(["key", "list", "--json"], { environment })).output)
      expect(again.find((key: { readonly id: string }) => key.id === id).spentUsd).toBe(spentUsd)
    }))

  it("resumes a suspended run, and continues from a response, of a server that was killed with SIGKILL", () =>
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
      // Only the worker that answers with the result is called.
      expect(fs.readFileSync(book, "utf8").trim().split("\n")).toHaveLength(before + 1)
      const { DIVISI_DATABASE, ...others } = environment
      const runs = await divisi(["runs", "--database", DIVISI_DATABASE, "--json"], { environment: others })
      const [run] = JSON.parse(runs.output).filter(({ state }: { readonly state: string }) => state === "answered")
      const shown = await divisi(["runs", "show", run.run, "--database", DIVISI_DATABASE], { environment: others })
      expect(shown.output).toContain("Where?")
      const found = await fetch(`${two.url}/responses/${response.id}`, { headers: { "x-api-key": secret } })
      expect(found.status).toBe(200)
      expect((await found.json()).id).toBe(response.id)
      const next = await post(two.url, "responses", { input: "And?", previous_response_id: response.id }, secret)
      expect(next.status).toBe(200)
      await two.kill("SIGTERM")
    }))
})
