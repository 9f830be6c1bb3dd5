/**
 * How many calls one account is charged with in a second, by 1, 2 and 4 processes that share a Postgres: pairs of a
 * reservation and its settlement, 100 at once in each process. It starts the server. Only ratios within one run count.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Postgres from "../src/Postgres.ts"
import * as PostgresAccounts from "../src/PostgresAccounts.ts"

const atOnce = 100
const millis = Number(process.env.MILLIS ?? 5_000)

const open = Effect.fnUntraced(function* (url: string, schema: string) {
  const postgres = yield* Postgres.open({ url: Redacted.make(url), schema, graceMillis: 0, maxConnections: 4 })
  const accounts = yield* PostgresAccounts.make(postgres)
  return yield* accounts.open({ name: "all", limits: { costUsd: 1e9 } })
})

/** One process: charges the account from its parent's word until the time is over, and reports the number of calls. */
const charge = (url: string, schema: string) =>
  Effect.gen(function* () {
    const account = yield* open(url, schema)
    console.log("ready")
    yield* Effect.promise(() => once(process.stdin, "data"))
    const used = process.cpuUsage()
    const until = performance.now() + millis
    const waits: Array<number> = []
    const call = Effect.gen(function* () {
      const begun = performance.now()
      const reservation = yield* account.reserve({ costUsd: 0.01, tokens: 10 }, undefined, "new")
      yield* account.settle(reservation, { usage: { inputTokens: 5, outputTokens: 5 }, costUsd: 0.005 })
      waits.push(performance.now() - begun)
    })
    const loop = Effect.whileLoop({ while: () => performance.now() < until, body: () => call, step: () => {} })
    yield* Effect.all(
      Array.from({ length: atOnce }, () => loop),
      { concurrency: "unbounded", discard: true }
    )
    const { user, system } = process.cpuUsage(used)
    waits.sort((left, right) => left - right)
    console.log(JSON.stringify({ calls: waits.length, waits: waits[waits.length >> 1], cpu: user + system }))
    process.stdin.destroy()
  })

const measure = async (url: string, schema: string, processes: number) => {
  const children = Array.from({ length: processes }, () =>
    spawn(process.execPath, ["--conditions=@divisi/source", fileURLToPath(import.meta.url), url, schema], {
      stdio: ["pipe", "pipe", "inherit"]
    })
  )
  const outputs = children.map(() => "")
  for (const [at, { stdout }] of children.entries()) stdout.on("data", (data) => (outputs[at] += data))
  const ended = children.map((child) => once(child, "close"))
  await Promise.all(children.map(({ stdout }) => once(stdout, "data")))
  for (const { stdin } of children) stdin.write("go\n")
  await Promise.all(ended)
  const results = outputs.map((output) => JSON.parse(output.trim().split("\n").at(-1)!))
  const calls = results.reduce((sum, one) => sum + one.calls, 0)
  const cpu = results.reduce((sum, one) => sum + one.cpu, 0)
  const { total, open: left } = await Effect.runPromise(
    Effect.scoped(Effect.flatMap(open(url, schema), ({ standing }) => standing))
  )
  const isExact = total.calls === calls && Math.abs(total.costUsd - calls * 0.005) < 1e-6 && left === 0
  const wait = Math.max(...results.map((one) => one.waits))
  return `| ${processes} | ${Math.round((calls / millis) * 1000)} | ${wait.toFixed(1)} | ${Math.round(cpu / calls)} | ${isExact} |`
}

const [url, schema] = process.argv.slice(2)
if (url !== undefined && schema !== undefined) {
  await Effect.runPromise(Effect.scoped(charge(url, schema)))
} else {
  const server = await PostgresServer.start()
  console.log(
    "| processes | calls/s | median, ms | CPU of the processes a call, us | sums exact |\n|---|---|---|---|---|"
  )
  for (const processes of [1, 2, 4]) console.log(await measure(server.url, `bench_${processes}`, processes))
  server.stop()
}
