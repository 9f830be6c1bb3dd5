/** An evaluation on several machines: processes of `divisi eval --on` that share a database. */
import fs from "node:fs"
import path from "node:path"
import { Postgres } from "@divisi/cluster"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { divisi, inFolder } from "./process.ts"

const hasPostgres = PostgresServer.find() !== undefined

if (!hasPostgres) console.warn("Not tested: `divisi eval --on` needs initdb, pg_ctl and postgres.")

/** A pool whose answers follow from the question, and cost something. It writes each call into a file. */
const pool = (books: string) => `
import fs from "node:fs"
import { worker } from "@divisi/core/promise"
if (process.env.PID_FILE) fs.writeFileSync(process.env.PID_FILE, String(process.pid))
const answer = (id) => async ({ messages }) => {
  fs.appendFileSync(${JSON.stringify(books)}, id + "\\n")
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.CALL_MILLIS ?? 20)))
  const text = JSON.stringify(messages)
  return { text: "The answer is " + (text.length % 7), usage: { inputTokens: 10 + (text.length % 7), outputTokens: 5 } }
}
export default {
  pool: ["a", "b"].map((id) => worker({ id, answer: answer(id), pricing: { inputPerMillion: 1, outputPerMillion: 2 } }))
}
`

/** A report without times, which differ from run to run, and without its digest. */
const untimed = (text: string): unknown =>
  JSON.parse(text, (key, value) => (/millis|latency|duration|seconds|created|^sha256$/i.test(key) ? undefined : value))

describe.skipIf(!hasPostgres)("divisi eval --on", () => {
  let database: PostgresServer.PostgresServer
  beforeAll(async () => {
    database = await PostgresServer.start()
  })
  afterAll(() => database.stop())

  /** The URL without its password, which is in the environment. */
  const place = () => {
    const url = new URL(database.url)
    const PGPASSWORD = url.password
    url.password = ""
    return { url: url.href, environment: { PGPASSWORD, DIVISI_OUTCOMES: "none" } }
  }

  const prepare = (folder: string, policies = "single:a,lexical") => {
    const rows = Array.from({ length: 60 }, (_, at) =>
      JSON.stringify({ question: `What is ${at} plus ${at}?`, answer: `${at % 7}` })
    )
    fs.writeFileSync(path.join(folder, "rows.jsonl"), rows.join("\n"))
    fs.writeFileSync(path.join(folder, "divisi.config.mjs"), pool(path.join(folder, "books")))
    fs.writeFileSync(path.join(folder, "books"), "")
    const flags = ["--benchmark", "rows.jsonl", "--policy", policies, "--config", "divisi.config.mjs"]
    return (...more: ReadonlyArray<string>) => ["eval", ...flags, "--concurrency", "2", ...more]
  }

  const callsIn = (folder: string) => fs.readFileSync(path.join(folder, "books"), "utf8").split("\n").length - 1

  it("gives the report of one machine, though one of three is killed", { timeout: 120_000 }, () =>
    inFolder(async (folder) => {
      const args = prepare(folder)
      const { environment, url } = place()
      const alone = await divisi(args("--out", "alone", "--json"), { cwd: folder, environment })
      assert.strictEqual(alone.code, 0, alone.errors)
      const callsAlone = callsIn(folder)
      const report = (machine: string) => fs.readFileSync(path.join(folder, machine, "shared/results.json"), "utf8")
      const machine = (name: string) =>
        divisi(args("--out", `${name}/shared`, "--on", url, "--json"), {
          cwd: folder,
          environment,
          onOutput: (_, child) => {
            // It is at work by now.
            if (name === "one" && callsIn(folder) > callsAlone + 40) child.kill("SIGKILL")
          }
        })
      const [one, two, three] = await Promise.all(["one", "two", "three"].map(machine))
      assert.deepStrictEqual([two?.code, three?.code], [0, 0], `${one?.errors} ${two?.errors} ${three?.errors}`)
      assert.deepStrictEqual(untimed(report("two")), untimed(report("three")))
      const { extent: _, ...shared } = untimed(report("two")) as Record<string, unknown>
      const { extent: __, ...own } = untimed(
        fs.readFileSync(path.join(folder, "alone/results.json"), "utf8")
      ) as Record<string, unknown>
      assert.deepStrictEqual(shared, own)
      // All machines share one cache.
      const query = Effect.flatMap(Postgres.open({ url: Redacted.make(database.url) }), ({ run }) =>
        run((session) =>
          session.query(`SELECT kind, count(*)::int FROM divisi.records WHERE kind LIKE 'answers of %' GROUP BY kind`)
        )
      )
      assert.deepStrictEqual(await Effect.runPromise(Effect.scoped(query)), [["answers of shared", 60]])
      // Only calls in flight at the kill were made twice: at most as many as one process makes at once.
      assert.isAtMost(callsIn(folder) - 2 * callsAlone, 6)
    })
  )

  it("gives the same report after a crash of the database and a machine that thaws", { timeout: 240_000 }, () =>
    inFolder(async (folder) => {
      const args = prepare(folder, "single:a")
      const { environment, url } = place()
      const alone = await divisi(args("--out", "alone", "--json"), { cwd: folder, environment })
      assert.strictEqual(alone.code, 0, alone.errors)
      const callsAlone = callsIn(folder)
      const pid = path.join(folder, "pid")
      const machine = (name: string) =>
        divisi(args("--out", `${name}/thawed`, "--on", url, "--json"), {
          cwd: folder,
          environment: { ...environment, CALL_MILLIS: "300", ...(name === "one" && { PID_FILE: pid }) }
        })
      const frozen = machine("one")
      while (callsIn(folder) < callsAlone + 6) await new Promise((resolve) => setTimeout(resolve, 10))
      // Its leases expire before it thaws, and the other machine answers its samples.
      process.kill(Number(fs.readFileSync(pid, "utf8")), "SIGSTOP")
      database.restart("immediate")
      const other = await machine("two")
      process.kill(Number(fs.readFileSync(pid, "utf8")), "SIGCONT")
      for (const { code, errors } of [other, await frozen]) assert.strictEqual(code, 0, errors)
      const report = (name: string) => {
        const { extent, ...rest } = untimed(fs.readFileSync(path.join(folder, name, "results.json"), "utf8")) as Record<
          string,
          unknown
        >
        return rest
      }
      for (const name of ["one/thawed", "two/thawed"]) assert.deepStrictEqual(report(name), report("alone"))
      // Only calls in flight at the freeze were made twice.
      assert.isAtMost(callsIn(folder) - 2 * callsAlone, 2)
    })
  )

  it("obeys one budget, and refuses a machine with other settings", { timeout: 120_000 }, () =>
    inFolder(async (folder) => {
      const args = prepare(folder)
      const { environment, url } = place()
      const machine = (name: string, ...more: ReadonlyArray<string>) =>
        divisi(
          args(
            ...["--out", `${name}/limited`, "--on", url, "--max-cost", "0.001", "--max-output-tokens", "5", "--json"],
            ...more
          ),
          { cwd: folder, environment }
        )
      const ended = await Promise.all(["one", "two"].map((name) => machine(name)))
      for (const { code, errors } of ended) assert.strictEqual(code, 3, errors)
      // A call costs 20 to 26 millionths of a USD, and less than 150 of them are reserved for it.
      assert.isAtMost(callsIn(folder) * 20e-6, 0.001)
      assert.isAtLeast(callsIn(folder) * 26e-6, 0.001 - 4 * 150e-6)
      const other = await machine("three", "--temperature", "0.5")
      assert.strictEqual(other.code, 2)
      assert.match(other.errors, /temperature/)
      const alone = await machine("four", "--transcripts")
      assert.match(alone.errors, /--transcripts cannot be combined with --on/)
      assert.notInclude(ended.map(({ errors }) => errors).join(), environment.PGPASSWORD)
    })
  )

  it("leaves samples to other machines if a vendor rejects its key, and to a later run", { timeout: 240_000 }, () =>
    inFolder(async (folder) => {
      const args = prepare(folder, "single:a,single:b")
      const { environment, url } = place()
      const books = path.join(folder, "books")
      fs.writeFileSync(
        path.join(folder, "divisi.config.mjs"),
        `
import fs from "node:fs"
import { worker } from "@divisi/core/promise"
import { WorkerError } from "@divisi/core/Worker"
const answer = (id) => async () => {
  fs.appendFileSync(${JSON.stringify(books)}, id + " " + process.env.KEY + "\\n")
  await new Promise((resolve) => setTimeout(resolve, 20))
  if (id === "b" && process.env.KEY === "wrong") {
    throw new WorkerError({ worker: id, reason: { _tag: "Authentication", detail: "the key is wrong" } })
  }
  return { text: "The answer is 3", usage: { inputTokens: 10, outputTokens: 5 } }
}
export default {
  pool: ["a", "b"].map((id) => worker({ id, answer: answer(id), pricing: { inputPerMillion: 1, outputPerMillion: 2 } }))
}
`
      )
      const machine = (name: string, evaluation: string, KEY: string) =>
        divisi(args("--out", `${name}/${evaluation}`, "--on", url, "--json"), {
          cwd: folder,
          environment: { ...environment, KEY }
        })
      const samples = (name: string, evaluation: string) =>
        fs
          .readFileSync(path.join(folder, name, evaluation, "samples.jsonl"), "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
      const calls = (line: string) =>
        fs
          .readFileSync(books, "utf8")
          .split("\n")
          .filter((one) => one === line).length

      // A machine with a wrong key next to one with a valid key: no sample is missing.
      const [wrong, right] = await Promise.all([machine("one", "mixed", "wrong"), machine("two", "mixed", "valid")])
      assert.strictEqual(right?.code, 0, right?.errors)
      const all = samples("two", "mixed")
      assert.deepStrictEqual([all.length, all.filter(({ missing }) => missing !== undefined).length], [120, 0])
      // It stops after three, and has two samples in progress.
      assert.isAtMost(calls("b wrong"), 4)
      assert.include([0, 1], wrong?.code)
      fs.writeFileSync(books, "")

      // All keys are wrong: the samples of the other policy are measured, and the others once there is a valid key.
      const refused = await machine("one", "alone", "wrong")
      assert.strictEqual(refused.code, 1)
      assert.match(refused.errors, /rejected the key or account of this machine .*the key is wrong/)
      assert.match(refused.errors, /60 samples are left to other machines/)
      assert.deepStrictEqual([samples("one", "alone").length, calls("a wrong")], [60, 60])
      const later = await machine("one", "alone", "valid")
      assert.strictEqual(later.code, 0, later.errors)
      assert.deepStrictEqual([samples("one", "alone").length, calls("a valid"), calls("b valid")], [120, 0, 60])
    })
  )
})
