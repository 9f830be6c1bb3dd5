/** Failures of an evaluation on several machines: processes of `divisi eval --on` that share a database. */
import fs from "node:fs"
import path from "node:path"
import { PostgresServer } from "@divisi/testkit/journals"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { divisi, inFolder } from "./process.ts"
import { callsIn, hasPostgres, placeOf, prepare, untimed } from "./sharedEvaluation.ts"

describe.skipIf(!hasPostgres)("divisi eval --on", () => {
  let database: PostgresServer.PostgresServer
  beforeAll(async () => {
    database = await PostgresServer.start()
  })
  afterAll(() => database.stop())

  it("gives the same report after a crash of the database and a machine that thaws", { timeout: 240_000 }, () =>
    inFolder(async (folder) => {
      const args = prepare(folder, "single:a")
      const { environment, url } = placeOf(database)
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

  it("leaves samples to other machines if a vendor rejects its key, and to a later run", { timeout: 240_000 }, () =>
    inFolder(async (folder) => {
      const args = prepare(folder, "single:a,single:b")
      const { environment, url } = placeOf(database)
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
