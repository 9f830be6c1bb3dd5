/** A training on several machines: processes of `divisi train --on` that share a database. */
import fs from "node:fs"
import path from "node:path"
import { PostgresServer } from "@divisi/testkit/journals"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { divisi, inFolder } from "./process.ts"

const hasPostgres = PostgresServer.find() !== undefined

if (!hasPostgres) console.warn("Not tested: `divisi train --on` needs initdb, pg_ctl and postgres.")

/** A recipe whose workers cost something. Each call is written into a file, with its process. */
const recipe = `
import fs from "node:fs"
import { GymPool } from "@divisi/gym"
import { recipes } from "@divisi/recipes"
import { setTimeout } from "node:timers/promises"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
const priced = (worker) => ({
  ...worker,
  recovery: undefined,
  pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 0.001 },
  generate: (request) => {
    const call = Effect.promise(async () => {
      fs.appendFileSync(process.env.BOOKS, process.pid + "\\n")
      await setTimeout(50)
      return worker.generate(request)
    })
    return Stream.unwrap(call)
  }
})
export default {
  recipes: {
    paid: async (options) => {
      const training = await (await recipes.toy.load())(options)
      const concurrency = { samplingConcurrency: 1, runConcurrency: 1 }
      const phases = training.phases.map((phase) =>
        phase.type === "grpo" ? { ...phase, rollouts: { ...phase.rollouts, ...concurrency } } : phase
      )
      return { ...training, phases, pool: { workers: training.pool.workers.slice(FROM).map(priced) } }
    }
  }
}
`

describe.skipIf(!hasPostgres)("divisi train --on", () => {
  let database: PostgresServer.PostgresServer
  beforeAll(async () => {
    database = await PostgresServer.start()
  })
  afterAll(() => database.stop())

  const place = (folder: string) => {
    const { PGPASSWORD, url } = PostgresServer.withoutPassword(database.url)
    return { url, environment: { PGPASSWORD, DIVISI_OUTCOMES: "none", BOOKS: path.join(folder, "books") } }
  }

  const prepare = (folder: string) => {
    // In the package, so that the config finds the packages of this repository.
    fs.writeFileSync(path.join(folder, "divisi.config.mjs"), recipe.replace("FROM", "0"))
    fs.writeFileSync(path.join(folder, "other.config.mjs"), recipe.replace("FROM", "1"))
    fs.symlinkSync(path.resolve(import.meta.dirname, "../node_modules"), path.join(folder, "node_modules"))
    fs.writeFileSync(path.join(folder, "books"), "")
  }

  const train = ["train", "--recipe", "paid", "--iterations", "4", "--config", "divisi.config.mjs"]

  /** The metrics without times. */
  const metricsIn = (folder: string) =>
    fs
      .readFileSync(path.join(folder, "metrics.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line, (key, value) => (/^at$|^sha256$|seconds|millis/i.test(key) ? undefined : value)))

  it("gives the training of one machine, though one that has joined is killed", { timeout: 240_000 }, () =>
    inFolder(async (folder) => {
      prepare(folder)
      const { environment, url } = place(folder)
      const books = () => fs.readFileSync(path.join(folder, "books"), "utf8").trim().split("\n")
      const options = { cwd: folder, environment }
      const alone = await divisi([...train, "--out", "alone"], options)
      assert.strictEqual(alone.code, 0, alone.errors)
      const calls = books().length
      fs.writeFileSync(path.join(folder, "books"), "")
      const flags = ["train", "--on", url, "--join", "shared", "--config", "divisi.config.mjs"]
      const kills: Array<() => void> = []
      const join = () =>
        divisi(flags, { ...options, onOutput: (_, child) => void kills.push(() => void child.kill("SIGKILL")) })
      const joined = [join(), join()]
      const other = divisi([...flags.slice(0, -1), "other.config.mjs"], options)
      const watch = setInterval(() => {
        if (kills.length < 2 || books().length <= calls / 4) return
        clearInterval(watch)
        kills[0]!()
      }, 10)
      const lead = await divisi([...train, "--on", url, "--out", "shared"], options)
      clearInterval(watch)
      assert.strictEqual(lead.code, 0, lead.errors)
      const ended = await Promise.all(joined)
      assert.sameMembers(
        ended.map(({ code }) => code),
        [null, 0]
      )
      assert.deepStrictEqual(metricsIn(path.join(folder, "shared")), metricsIn(path.join(folder, "alone")))
      // A call in flight at the kill is made again.
      assert.isAtLeast(books().length, calls)
      assert.isAtMost(books().length, calls + calls / 10)
      assert.isAbove(new Set(books()).size, 1)
      const { code, errors } = await other
      assert.strictEqual(code, 2)
      assert.include(errors, "a different recipe")
    })
  )

  it("obeys one budget", { timeout: 120_000 }, () =>
    inFolder(async (folder) => {
      prepare(folder)
      const { environment, url } = place(folder)
      const options = { cwd: folder, environment }
      const joined = divisi(["train", "--on", url, "--join", "limited", "--config", "divisi.config.mjs"], options)
      const lead = await divisi([...train, "--on", url, "--out", "limited", "--max-cost", "0.0305"], options)
      assert.strictEqual(lead.code, 3, lead.errors)
      const { code, errors } = await joined
      assert.strictEqual(code, 0, errors)
      const callers = fs.readFileSync(path.join(folder, "books"), "utf8").trim().split("\n")
      // A call costs 0.001 USD.
      assert.isAtMost(callers.length, 30)
      assert.isAtLeast(callers.length, 20)
    })
  )
})
