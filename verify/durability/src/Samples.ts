/**
 * An evaluation on one machine, on several, and on several of which one is killed and one is frozen. The worker waits
 * before it answers, so speed depends only on the number of concurrent samples. Each call is written to a file that
 * represents the vendor's records.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { Seed } from "@divisi/core"
import { PostgresServer } from "@divisi/testkit/journals"

/** A measurement. */
export interface Options {
  readonly seed: number
  readonly samples: number
  /** Default: 4. */
  readonly machines?: number | undefined
  /** The time that a call waits, in milliseconds. Default: 2,000. */
  readonly callMillis?: number | undefined
  /** The samples in flight on each machine. Default: 16. */
  readonly concurrency?: number | undefined
}

/** The times in seconds, and the violated conditions. */
export interface Found {
  readonly seed: number
  readonly samples: number
  readonly machines: number
  readonly aloneSeconds: number
  readonly togetherSeconds: number
  readonly faultySeconds: number
  /**
   * Calls made twice because of a killed or a frozen machine, and the largest number that can have been in flight
   * there.
   */
  readonly twice: number
  readonly inFlight: number
  readonly problems: ReadonlyArray<string>
}

/** A question, and whether the worker answers it correctly: three of four. */
const rows = (seed: number, samples: number): string => {
  const draw = Seed.draw(seed)
  return Array.from({ length: samples }, (_, at) => {
    const answer = at % 97
    const question = `${at}: reply with ${Seed.below(draw, 4) === 0 ? answer + 1 : answer}.`
    return JSON.stringify({ question, answer: `${answer}`, grader: "integer" })
  }).join("\n")
}

const config = (books: string, callMillis: number) => `
import fs from "node:fs"
import { worker } from "@divisi/core/promise"
const answer = async ({ messages }) => {
  const [, number, text] = /(\\d+): reply with (\\d+)\\./.exec(JSON.stringify(messages))
  fs.appendFileSync(${JSON.stringify(books)}, number + "\\n")
  await new Promise((resolve) => setTimeout(resolve, ${callMillis}))
  return { text, usage: { inputTokens: 10, outputTokens: 5 } }
}
export default { pool: [worker({ id: "a", answer, pricing: { inputPerMillion: 1, outputPerMillion: 2 } })] }
`

/** A report without times, number of machines and digest. */
const untimed = (file: string): unknown =>
  JSON.parse(fs.readFileSync(file, "utf8"), (key, value) =>
    /millis|latency|duration|seconds|created|^sha256$|^extent$/i.test(key) ? undefined : value
  )

const main = fileURLToPath(new URL("src/main.ts", import.meta.resolve("@divisi/cli/package.json")))

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** How long a machine is frozen, in milliseconds. Its samples are leased for 10 s. */
const frozenMillis = 20_000

/** Measures the three evaluations. */
export const run = async (options: Options, onPart: (text: string) => void): Promise<Found> => {
  const { callMillis = 2_000, concurrency = 16, machines = 4, samples, seed } = options
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-samples-"))
  const books = path.join(root, "books")
  fs.writeFileSync(path.join(root, "rows.jsonl"), rows(seed, samples))
  fs.writeFileSync(path.join(root, "divisi.config.mjs"), config(books, callMillis))
  const database = await PostgresServer.start()
  const { PGPASSWORD, url } = PostgresServer.withoutPassword(database.url)
  const children: Array<ChildProcess> = []
  const problems: Array<string> = []
  const start = (out: string, ...more: ReadonlyArray<string>): ChildProcess => {
    const asked = ["--benchmark", "rows.jsonl", "--policy", "single:a", "--config", "divisi.config.mjs"]
    const args = ["eval", ...asked, "--concurrency", `${concurrency}`, "--out", out, "--json", ...more]
    const child = spawn(process.execPath, ["--conditions=@divisi/source", main, ...args], {
      cwd: root,
      env: { ...process.env, HOME: root, NO_COLOR: "1", DIVISI_OUTCOMES: "none", PGPASSWORD },
      stdio: ["ignore", "ignore", "pipe"]
    })
    children.push(child)
    let errors = ""
    child.stderr!.setEncoding("utf8").on("data", (text: string) => (errors += text))
    child.once("close", (code) => code === 0 || code === null || problems.push(`${out}: ${errors}`))
    return child
  }
  const startAll = (name: string) =>
    Array.from({ length: machines }, (_, at) => start(`machine-${at}/${name}`, "--on", url))
  const ended = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode === null) await once(child, "close")
  }
  const reportOf = (out: string) => path.join(root, out, "results.json")
  /** The calls of one evaluation, by their samples. */
  const calls = () => fs.readFileSync(books, "utf8").split("\n").slice(0, -1)
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    fs.writeFileSync(books, "")
    const since = performance.now()
    await work()
    const missing = samples - new Set(calls()).size
    if (missing > 0) problems.push(`${missing} samples were never asked`)
    return Math.round((performance.now() - since) / 100) / 10
  }
  const compare = (out: string) => {
    if (!isDeepStrictEqual(untimed(reportOf(out)), untimed(reportOf("alone")))) {
      problems.push(`the report of ${out} differs from that of one machine`)
    }
  }
  try {
    const aloneSeconds = await timed(() => ended(start("alone")))
    onPart(`one machine: ${aloneSeconds} s`)
    const togetherSeconds = await timed(() => Promise.all(startAll("together").map(ended)))
    onPart(`${machines} machines: ${togetherSeconds} s`)
    if (calls().length !== samples) problems.push(`without a fault, ${calls().length} calls were made`)
    for (let at = 0; at < machines; at++) compare(`machine-${at}/together`)

    const faultySeconds = await timed(async () => {
      const [killed, frozen, ...others] = startAll("faulty") as [ChildProcess, ChildProcess, ...Array<ChildProcess>]
      const until = async (share: number) => {
        while (calls().length < samples * share) await sleep(20)
      }
      const harm = async () => {
        await until(0.2)
        killed.kill("SIGKILL")
        await until(0.4)
        frozen.kill("SIGSTOP")
        await sleep(frozenMillis)
        frozen.kill("SIGCONT")
      }
      await Promise.all([harm(), ...[frozen, ...others].map(ended)])
    })
    onPart(`${machines} machines, one killed, one frozen: ${faultySeconds} s`)
    for (let at = 1; at < machines; at++) compare(`machine-${at}/faulty`)
    const [twice, inFlight] = [calls().length - samples, 2 * concurrency]
    if (twice > inFlight) problems.push(`${twice} calls were made twice, at most ${inFlight} were in flight`)
    return { seed, samples, machines, aloneSeconds, togetherSeconds, faultySeconds, twice, inFlight, problems }
  } finally {
    for (const child of children) child.kill("SIGKILL")
    database.stop()
    fs.rmSync(root, { recursive: true, force: true })
  }
}

/** The result as lines. */
export const format = (found: Found): string =>
  [
    ...found.problems,
    `seed ${found.seed}: ${found.samples} samples; ${found.machines} machines are ${(found.aloneSeconds / found.togetherSeconds).toFixed(2)} times as fast as one`,
    `with faults: ${found.twice} calls made twice, at most ${found.inFlight} in flight at the kill and the freeze; ${found.problems.length} problems`
  ].join("\n")
