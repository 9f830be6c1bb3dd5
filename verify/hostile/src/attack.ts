/**
 * Attacks a local server with requests from one client, and measures the effect on another client.
 *
 *     pnpm attack [--seconds 4] [--only gzip]... [--part 1/3] [--json] [--short]
 *
 * The server, the attacking client and the other client have separate event loops. For each attack and wire, the other
 * client sends small requests during the attack and, for comparison, after it. The exit code is 1 if a result is
 * unexpected, if a small request is not answered, if the p99 of small requests is at least ten times its quiet value, or
 * if the server's event loop was delayed by more than 200 ms. The quiet value is the median p99 of the last nine quiet
 * periods, because the p99 of a single second depends on two requests. On a busy machine, the delay includes the time of
 * other processes, but the column "its CPU" does not. The short form sends each attack once on one wire, and does not
 * evaluate times.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import os from "node:os"
import path from "node:path"
import { parseArgs } from "node:util"
import { Worker } from "node:worker_threads"
import * as Attack from "./attacks/Attack.ts"
import type { Work } from "./attacks/attacker.ts"

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "4" },
    only: { type: "string", multiple: true, default: [""] },
    part: { type: "string", default: "1/1" },
    json: { type: "boolean", default: false },
    short: { type: "boolean", default: false }
  }
})

const maxSeconds = 60
const maxRounds = 10_000
const maxRatio = 10
const maxDelayMillis = 200

const seconds = Number(values.seconds)
if (!(seconds > 0 && seconds <= maxSeconds)) throw new Error(`--seconds must be above 0, and ${maxSeconds} at most.`)

const file = (name: string) => path.join(import.meta.dirname, "attacks", name)
const body = JSON.stringify({ model: "divisi", messages: [{ role: "user", content: "Greet" }] })

/** Milliseconds of each small request, and how many were not answered with 200. */
interface Small {
  readonly millis: Array<number>
  failures: number
}

/** Sends small requests in sequence while `isOn` returns true, at least ten. */
const smallRequests = async (port: number, isOn: () => boolean): Promise<Small> => {
  const small: Small = { millis: [], failures: 0 }
  while (small.millis.length < 10 || isOn()) {
    const start = performance.now()
    const status = await Attack.post({ port, key: "small" }, "/v1/chat/completions", body)
    small.millis.push(performance.now() - start)
    if (status !== "200") small.failures += 1
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return small
}

const quantile = (millis: ReadonlyArray<number>, q: number): number =>
  millis.toSorted((a, b) => a - b)[Math.ceil(q * millis.length) - 1]!

const rounded = (value: number): number => Math.round(value * 10) / 10

/** As in `divisi serve`, the young generation of the heap does not grow. */
const garbage = new URL("../../../packages/cli/bin/garbage.js", import.meta.url).href
const server = fork(file("target.ts"), ["serve"], {
  execArgv: ["--conditions=@divisi/source", `--import=${garbage}`]
})
const [{ port }] = (await once(server, "message")) as [{ readonly port: number }]

/** The largest delay of the server's event loop, and the largest CPU time of one turn, since they were last read. */
interface Delay {
  readonly delayMillis: number
  readonly busyMillis: number
}

const readDelay = async (): Promise<Delay> => {
  server.send("read")
  const [delay] = (await once(server, "message")) as [Delay]
  return delay
}

/** Number of quiet periods whose median is the quiet value. */
const comparedPeriods = 9

/** The p99 of small requests in each quiet period, in milliseconds. */
const quietPeriods: Array<number> = []

const quietRequests = async (): Promise<Small> => {
  const small = await smallRequests(port, during(values.short ? 0 : 1_000))
  quietPeriods.push(quantile(small.millis, 0.99))
  return small
}

const during = (millis: number): (() => boolean) => {
  const end = performance.now() + millis
  return () => performance.now() < end
}

const measure = async ({ expected, name }: Attack.Attack, wire: Attack.Wire) => {
  const [millis, rounds] = values.short ? [0, 1] : [seconds * 1_000, maxRounds]
  const work: Work = { target: { port, key: "attacker" }, name, wire, millis, rounds }
  const attacker = new Worker(file("attacker.ts"), { workerData: work })
  const ended = once(attacker, "exit")
  await once(attacker, "message")
  await readDelay()
  let statuses: Readonly<Record<string, number>> | undefined
  attacker.once("message", (counts) => {
    statuses = counts
    void attacker.terminate()
  })
  let isOn = true
  void ended.then(() => (isOn = false))
  const under = await smallRequests(port, () => isOn)
  await ended
  const { busyMillis, delayMillis } = await readDelay()
  const quiet = await quietRequests()
  const results = statuses ?? {}
  const ratio = quantile(under.millis, 0.99) / quantile(quietPeriods.slice(-comparedPeriods), 0.5)
  const problems = [
    ...Object.keys(results)
      .filter((result) => !expected.includes(result))
      .map((result) => `unexpected: ${result}`),
    ...(statuses === undefined ? ["the attack did not end"] : []),
    ...(under.failures + quiet.failures > 0 ? ["small requests failed"] : []),
    ...(!values.short && ratio >= maxRatio ? [`ratio of ${maxRatio} or more`] : []),
    ...(!values.short && delayMillis > maxDelayMillis ? [`delay over ${maxDelayMillis} ms`] : [])
  ]
  return {
    attack: name,
    wire,
    statuses: results,
    requests: under.millis.length,
    quietP50: rounded(quantile(quiet.millis, 0.5)),
    quietP99: rounded(quantile(quiet.millis, 0.99)),
    p99: rounded(quantile(under.millis, 0.99)),
    ratio: rounded(ratio),
    delayMillis: rounded(delayMillis),
    busyMillis: rounded(busyMillis),
    problems
  }
}

const chosen = Attack.all.filter(({ name }) => values.only.some((text) => name.includes(text)))
if (chosen.length === 0) throw new Error(`--only ${values.only.join(" ")}: no attack has this in its name.`)

const [part = 0, parts = 0] = values.part.split("/").map(Number)
if (!(Number.isInteger(part) && Number.isInteger(parts) && part >= 1 && part <= parts)) {
  throw new Error("--part must be a part and the number of parts, as in 2/3.")
}

/** The attacks with their wires: every third one for a part of three. */
const pairs = chosen
  .flatMap((attack, index) => {
    const wires = attack.wires ?? Attack.wires
    return (values.short ? [wires[index % wires.length]!] : wires).map((wire) => ({ attack, wire }))
  })
  .filter((_, index) => index % parts === part - 1)

await smallRequests(port, during(values.short ? 0 : 2_000))
if (!values.short) for (let period = 1; period < comparedPeriods; period++) await quietRequests()
const rows: Array<Awaited<ReturnType<typeof measure>>> = []
if (!values.json) {
  console.log("| attack | wire | results | quiet p50 | quiet p99 | p99 | ratio | largest delay | its CPU | |")
  console.log("|---|---|---|---:|---:|---:|---:|---:|---:|---|")
}
for (const { attack, wire } of pairs) {
  const row = await measure(attack, wire)
  rows.push(row)
  if (values.json) continue
  const results = Object.entries(row.statuses).map(([result, count]) => `${result} × ${count}`)
  const times = [row.quietP50, row.quietP99, row.p99].map((millis) => `${millis} ms`)
  const cells = [
    row.attack,
    row.wire,
    results.join(", "),
    ...times,
    row.ratio,
    `${row.delayMillis} ms`,
    `${row.busyMillis} ms`
  ]
  console.log(`| ${[...cells, row.problems.join("; ")].join(" | ")} |`)
}
if (!values.json) {
  const failed = rows.filter(({ problems }) => problems.length > 0).length
  const load = os.loadavg()[0]!.toFixed(1)
  console.log(`\n${failed} of ${rows.length} rows with a problem; load average of the last minute: ${load}`)
}
if (values.json) console.log(JSON.stringify(rows, null, 2))
server.disconnect()
process.exitCode = rows.every(({ problems }) => problems.length === 0) ? 0 : 1
process.exit()
