/** An evaluation on several machines: processes of `divisi eval --on` that share a database. */
import fs from "node:fs"
import path from "node:path"
import { Postgres } from "@divisi/cluster"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { divisi, inFolder } from "./process.ts"
import { callsIn, hasPostgres, placeOf, prepare, untimed } from "./sharedEvaluation.ts"

describe.skipIf(!hasPostgres)("divisi eval --on", () => {
  let database: PostgresServer.PostgresServer
  beforeAll(async () => {
    database = await PostgresServer.start()
  })
  afterAll(() => database.stop())

  it("gives the report of one machine, though one of three is killed", { timeout: 120_000 }, () =>
    inFolder(async (folder) => {
      const args = prepare(folder)
      const { environment, url } = placeOf(database)
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

  it("obeys one budget, and refuses a machine with other settings", { timeout: 120_000 }, () =>
    inFolder(async (folder) => {
      const args = prepare(folder)
      const { environment, url } = placeOf(database)
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
})
