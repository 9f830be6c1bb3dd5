/** Background responses of several `divisi serve` on one database: any server streams them, and takes them over. */
import fs from "node:fs"
import path from "node:path"
import { PostgresServer } from "@divisi/testkit/journals"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { config, divisi, type Ended, inFolder } from "./process.ts"

const hasPostgres = PostgresServer.find() !== undefined

if (!hasPostgres) console.warn("Not tested: shared responses need initdb, pg_ctl and postgres.")

interface Server {
  readonly url: string
  readonly kill: (signal: NodeJS.Signals) => Promise<Ended>
}

interface Event {
  readonly type: string
  readonly sequence_number: number
  readonly delta?: string
  readonly response?: { readonly status: string; readonly output: ReadonlyArray<object> }
}

/** Reads server-sent events into a list until the stream ends or breaks off. */
const readInto = async <A>(events: Array<A>, response: Promise<Response>): Promise<void> => {
  try {
    let text = ""
    for await (const bytes of (await response).body!.pipeThrough(new TextDecoderStream())) {
      text += bytes
      const whole = text.split("\n\n")
      text = whole.pop() ?? ""
      for (const one of whole) {
        const data = /^data: (\{.*)$/m.exec(one)?.[1]
        if (data !== undefined) events.push(JSON.parse(data))
      }
    }
  } catch {
    // The server was killed.
  }
}

describe.skipIf(!hasPostgres)("responses that servers share", () => {
  let database: PostgresServer.PostgresServer
  beforeAll(async () => {
    database = await PostgresServer.start()
  })
  afterAll(() => database.stop())

  const serve = (environment: Readonly<Record<string, string>>, file: string): Promise<Server> =>
    new Promise((resolve, reject) => {
      const flags = ["--port", "0", "--keys", "none", "--config", config(file)]
      const ended = divisi(["serve", ...flags], {
        environment,
        onOutput: (output, child) => {
          const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output)?.[0]
          const kill: Server["kill"] = (signal) => {
            child.kill(signal)
            return ended
          }
          if (url !== undefined) resolve({ url, kill })
        }
      })
      ended.then(({ errors, output }) => reject(new Error(`${output}${errors}`)))
    })

  /** Runs a test with servers on one database, a gate for each worker, and the book of their calls. */
  const sharing = (
    count: number,
    test: (shared: {
      readonly servers: ReadonlyArray<Server>
      readonly open: (worker: string) => void
      readonly calls: () => ReadonlyArray<string>
    }) => Promise<void>,
    file = "paced"
  ) =>
    inFolder(async (folder) => {
      const [gate, book] = [path.join(folder, "gate"), path.join(folder, "book")]
      fs.writeFileSync(book, "")
      const { PGPASSWORD, url } = PostgresServer.withoutPassword(database.url)
      const environment = { DIVISI_DATABASE: url, PGPASSWORD, DIVISI_OUTCOMES: "none", GATE: gate, BOOK: book }
      const servers = await Promise.all(Array.from({ length: count }, () => serve(environment, file)))
      try {
        await test({
          servers,
          open: (worker) => fs.writeFileSync(`${gate}.${worker}`, ""),
          calls: () => fs.readFileSync(book, "utf8").trim().split("\n")
        })
      } finally {
        await Promise.all(servers.map(({ kill }) => kill("SIGKILL")))
      }
    })

  const until = async (holds: () => boolean | Promise<boolean>) => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const create = (url: string, more: object = {}) =>
    fetch(`${url}/responses`, {
      method: "POST",
      body: JSON.stringify({ model: "divisi", input: "Where?", background: true, ...more })
    })
  const streamOf = (url: string, id: string, query = "", headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${url}/responses/${id}?stream=true${query}`, { headers })
  const textOf = (events: ReadonlyArray<Event>) =>
    events.map(({ delta = "", type }) => (type === "response.output_text.delta" ? delta : "")).join("")
  const answerOf = async (url: string, id: string) => {
    const body = await (await fetch(`${url}/responses/${id}`)).json()
    return body.output.findLast(({ type }: { type: string }) => type === "message")?.content[0].text
  }
  const withoutHeartbeats = (events: ReadonlyArray<Event>) =>
    events.filter(({ sequence_number }, at) => sequence_number !== events[at - 1]?.sequence_number)
  const assertWhole = (events: ReadonlyArray<Event>, from = 0) => {
    // Heartbeats repeat the last number.
    const numbers = events.map(({ sequence_number }) => sequence_number)
    assert.deepStrictEqual(
      [...new Set(numbers)],
      Array.from({ length: events.at(-1)!.sequence_number - from + 1 }, (_, at) => from + at)
    )
    assert.strictEqual(events.at(-1)!.type, "response.completed")
  }

  it("streams from any server, and is taken over after kill -9 without a gap", { timeout: 240_000 }, () =>
    sharing(3, async ({ calls, open, servers: [one, two, three] }) => {
      const { id } = await (await create(one!.url)).json()
      const [ofOwner, ofOther]: [Array<Event>, Array<Event>] = [[], []]
      const cut = readInto(ofOwner, streamOf(one!.url, id))
      const whole = readInto(ofOther, streamOf(two!.url, id))
      await until(() => calls().length === 1)
      open("a")
      await until(() => calls().includes("b"))
      // The note of the first step has arrived at both.
      await until(() => [ofOwner, ofOther].every((events) => events.some(({ type }) => type.includes("summary"))))
      const run = (await (await fetch(`${two!.url}/runs?limit=1`)).json()).data[0].id
      const entries: Array<{ readonly type: string }> = []
      const journal = readInto(entries, fetch(`${three!.url}/runs/${run}/events`))
      await one!.kill("SIGKILL")
      await cut
      const rest: Array<Event> = []
      const after = ofOwner.at(-1)!.sequence_number
      const resumed = readInto(rest, streamOf(three!.url, id, "", { "last-event-id": `${after}` }))
      open("b")
      open("c")
      await Promise.all([whole, resumed, journal])
      assertWhole(ofOther)
      assertWhole(rest, after + 1)
      // The owner, and then another server, gave the same events.
      assert.deepStrictEqual(withoutHeartbeats([...ofOwner, ...rest]), withoutHeartbeats(ofOther))
      const answer = await answerOf(two!.url, id)
      assert.match(answer, /^c says \d$/)
      assert.strictEqual(textOf(ofOther), answer)
      // The call that was in flight is made twice, all others once.
      assert.deepStrictEqual([...calls()].sort(), ["a", "b", "b", "c"])
      assert.strictEqual(entries[0]?.type, "run-started")
      assert.lengthOf(
        entries.filter(({ type }) => type === "run-started" || type === "run-finished"),
        2
      )
      const late: Array<Event> = []
      await readInto(late, streamOf(three!.url, id, `&starting_after=${after}`))
      assert.deepStrictEqual(late, withoutHeartbeats(rest))
    })
  )

  it("is handed over by a server that drains, and no call is made twice", { timeout: 240_000 }, () =>
    sharing(2, async ({ calls, open, servers: [one, two] }) => {
      const events: Array<Event> = []
      const created = readInto(events, create(two!.url, { stream: true }))
      await until(() => calls().length === 1)
      const { id } = await (await create(one!.url)).json()
      await until(() => calls().length === 2)
      const ended = one!.kill("SIGTERM")
      // Until it has noticed the signal it begins further calls.
      const ready = new URL("/health/ready", one!.url)
      await until(() =>
        fetch(ready).then(
          ({ ok }) => !ok,
          () => true
        )
      )
      open("a")
      assert.strictEqual((await ended).code, 143)
      open("b")
      open("c")
      await until(async () => (await answerOf(two!.url, id)) !== undefined)
      await created
      assertWhole(events)
      assert.deepStrictEqual([...calls()].sort(), ["a", "a", "b", "b", "c", "c"])
    })
  )

  it("is cancelled by any server, and its run makes no further call", { timeout: 240_000 }, () =>
    sharing(2, async ({ calls, open, servers: [one, two] }) => {
      const { id } = await (await create(one!.url)).json()
      await until(() => calls().length === 1)
      const events: Array<Event> = []
      const streamed = readInto(events, streamOf(one!.url, id))
      const cancelled = await (await fetch(`${two!.url}/responses/${id}/cancel`, { method: "POST" })).json()
      assert.strictEqual(cancelled.status, "cancelled")
      for (const gate of ["a", "b", "c"]) open(gate)
      await streamed
      assert.strictEqual((await (await fetch(`${one!.url}/responses/${id}`)).json()).status, "cancelled")
      await one!.kill("SIGTERM")
      assert.deepStrictEqual(calls(), ["a"])
    })
  )

  it("makes as many calls at the same time as a vendor allows for all servers together", { timeout: 240_000 }, () =>
    sharing(
      2,
      async ({ calls, open, servers: [one, two] }) => {
        const { id } = await (await create(one!.url)).json()
        await until(() => calls().length === 1 && calls()[0] !== "")
        const other = await (await create(two!.url)).json()
        const runs = async () => (await (await fetch(`${two!.url}/runs?limit=2`)).json()).data
        await until(async () => (await runs()).length === 2)
        const [run] = await runs()
        assert.deepStrictEqual([other.status, run.state, run.calls], ["queued", "running", 0])
        assert.deepStrictEqual(calls(), ["a"])
        open("a")
        await until(async () => (await answerOf(one!.url, id)) !== undefined)
        await until(async () => (await answerOf(two!.url, other.id)) !== undefined)
        assert.deepStrictEqual(calls(), ["a", "a"])
      },
      "oneCallAtATime"
    )
  )

  it("waits for limits of a vendor that apply to all servers together", { timeout: 240_000 }, () =>
    sharing(
      2,
      async ({ calls, open, servers: [one, two] }) => {
        open("a")
        const { id } = await (await create(one!.url)).json()
        await until(async () => (await answerOf(one!.url, id)) !== undefined)
        // The one call of this minute has been made, so the run of the other server waits before its call.
        const other = await (await create(two!.url)).json()
        const [run] = (await (await fetch(`${one!.url}/runs?limit=1`)).json()).data
        assert.deepStrictEqual([other.status, run.state, run.calls], ["queued", "running", 0])
        assert.deepStrictEqual(calls(), ["a"])
      },
      "oneCallPerMinute"
    )
  )
})
