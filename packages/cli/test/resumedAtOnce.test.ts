/** One suspended run that many clients resume at once, on two servers: it is continued once, and paid for once. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Postgres, PostgresAccounts, PostgresJournal } from "@divisi/cluster"
import { Baselines, Budget, Journal } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { DiskAccounts, DiskJournal } from "@divisi/files"
import { NodeServer } from "@divisi/server"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { assert, it } from "vitest"

/** The stores of one process: a journal, and the account of the client. */
interface Stores {
  readonly journal: Journal.Journal
  readonly ledger: Budget.Ledger
}

type Opened = Effect.Effect<Stores, unknown, Scope.Scope>

/** Opens the stores of one process after another. */
const places: Readonly<Record<string, Effect.Effect<Opened, unknown, Scope.Scope>>> = {
  "in memory": Effect.sync(() => {
    const memory = Journal.memory()
    const ledger = Budget.make({ calls: 100 })
    return Effect.sync(() => ({ journal: Journal.makeMemory(memory), ledger }))
  }),
  "on disk": Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-resumed-"))),
      (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true }))
    )
    return Effect.gen(function* () {
      const journal = yield* DiskJournal.make({ file: path.join(folder, "runs.sqlite") })
      const accounts = yield* DiskAccounts.make({ file: path.join(folder, "accounts.sqlite") })
      return { journal, ledger: yield* accounts.open({ name: "client", limits: { calls: 100 } }) }
    })
  }),
  ...(PostgresServer.find() !== undefined && {
    "in Postgres": Effect.map(
      Effect.acquireRelease(
        Effect.promise(() => PostgresServer.start()),
        (server) => Effect.promise(async () => server.stop())
      ),
      ({ url }) =>
        Effect.gen(function* () {
          const postgres = yield* Postgres.open({ url: Redacted.make(url), graceMillis: 0 })
          const accounts = yield* PostgresAccounts.make(postgres)
          const ledger = yield* accounts.open({ name: "client", limits: { calls: 100 } })
          return { journal: yield* PostgresJournal.make(postgres), ledger }
        })
    )
  })
}

const usage = { inputTokens: 7, outputTokens: 3 }

/** Calls the client's tool, and answers with its result. */
const clerk = () => {
  const scripted = ScriptedWorker.make({
    id: "clerk",
    replies: ({ messages }) => {
      const last = messages.at(-1)!
      return last.role === "tool"
        ? {
            parts: [
              { type: "text", text: `heard ${JSON.stringify(last)}` },
              { type: "finish", reason: "stop", usage }
            ]
          }
        : {
            parts: [
              { type: "tool-call", id: "own", name: "price", arguments: "{}" },
              { type: "finish", reason: "tool-calls", usage }
            ]
          }
    }
  })
  const made: Worker = { ...scripted, capabilities: { tools: true } }
  return { made, calls: scripted.calls }
}

const post = async (place: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(place, { method: "POST", body: JSON.stringify(body), headers })
  return { status: response.status, run: response.headers.get("x-divisi-run"), body: await response.json() }
}

const contentOf = ({ body, status }: Awaited<ReturnType<typeof post>>): string => {
  assert.strictEqual(status, 200, JSON.stringify(body))
  return body.choices[0].message.content
}

const clients = Array.from({ length: 50 }, (_, at) => at)
const tools = [{ type: "function", function: { name: "price", parameters: { type: "object" } } }]

for (const [name, opening] of Object.entries(places)) {
  it(
    `a suspended run that 50 clients of two servers resume at once is continued once, ${name}`,
    () =>
      Effect.gen(function* () {
        const opened = yield* opening
        const { calls, made } = clerk()
        const serve = Effect.flatMap(opened, ({ journal, ledger }) =>
          NodeServer.make({
            pool: WorkerPool.makeUnsafe([made]),
            policy: Baselines.single(0),
            journal,
            ledger,
            port: 0
          })
        )
        const servers = [yield* serve, yield* serve]
        const urlOf = (client: number) => servers[client % 2]!.url
        const suspended = async (question: string) => {
          const messages = [{ role: "user", content: question }]
          const { body, run } = await post(`${urlOf(0)}/chat/completions`, { model: "divisi", messages, tools })
          const { transcript } = await (await fetch(`${urlOf(0)}/runs/${run}`)).json()
          const [{ id }] = transcript.rounds[0].steps[0].waitingFor
          return { messages, message: body.choices[0].message, run, id }
        }
        const made50 = (place: string, bodyOf: (client: number) => object) =>
          Promise.all(clients.map((client) => post(`${urlOf(client)}${place}`, bodyOf(client))))

        yield* Effect.promise(async () => {
          const first = await suspended("one")
          const resume = `/runs/${first.run}/resume`
          const same = { results: { [first.id]: "12 EUR" } }
          const resumed = await made50(resume, () => same)
          const [answer = ""] = resumed.map(contentOf)
          assert.include(answer, "12 EUR")
          assert.deepStrictEqual([...new Set(resumed.map(contentOf))], [answer])
          assert.strictEqual(calls.length, 2)
          assert.strictEqual(contentOf(await post(`${urlOf(1)}${resume}`, same)), answer)

          const second = await suspended("two")
          const differing = await made50(`/runs/${second.run}/resume`, (client) => ({
            results: { [second.id]: `${client} EUR` }
          }))
          const accepted = differing.flatMap((one, client) => (one.status === 200 ? [{ one, client }] : []))
          assert.lengthOf(accepted, 1)
          assert.include(contentOf(accepted[0]!.one), `"${accepted[0]!.client} EUR"`)
          for (const { body, status } of differing) {
            if (status === 200) continue
            assert.strictEqual(status, 400, JSON.stringify(body))
            assert.include(body.error.message, "already has a different result")
          }
          assert.strictEqual(calls.length, 4)

          const { id: _, message, messages } = await suspended("three")
          const result = { role: "tool", tool_call_id: message.tool_calls[0].id, content: "9 EUR" }
          const conversation = { model: "divisi", messages: [...messages, message, result], tools }
          const answered = await made50("/chat/completions", () => conversation)
          assert.lengthOf(new Set(answered.map(contentOf)), 1)
          assert.strictEqual(calls.length, 6)

          const fourth = await suspended("four")
          const steered = await Promise.all(
            clients.map((client) => {
              const isCancel = client % 4 > 1
              const body = isCancel ? {} : { results: { [fourth.id]: "4 EUR" } }
              return post(`${urlOf(client)}/runs/${fourth.run}/${isCancel ? "cancel" : "resume"}`, body)
            })
          )
          for (const { body, status } of steered) assert.oneOf(status, [200, 400, 503], JSON.stringify(body))
          assert.notMatch(JSON.stringify(steered), /postgres:|sqlite/)

          const before = calls.length
          const headers = { "idempotency-key": "one" }
          const keyed = await Promise.all(
            clients.map((client) => {
              const messages = [{ role: "user", content: `five ${client % 5}` }]
              return post(`${urlOf(client)}/chat/completions`, { model: "divisi", messages, tools }, headers)
            })
          )
          const questions = keyed.flatMap(({ status }, client) => (status === 200 ? [client % 5] : []))
          assert.lengthOf(new Set(questions), 1)
          for (const { body, status } of keyed) {
            if (status !== 200) assert.deepInclude(body.error, { param: "Idempotency-Key" }, JSON.stringify(body))
          }
          assert.strictEqual(calls.length, before + 1)
        })
        const { ledger } = yield* opened
        assert.strictEqual(ledger.spent().calls, calls.length)
      }).pipe(Effect.scoped, Effect.runPromise),
    120_000
  )
}
