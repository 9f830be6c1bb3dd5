import { assert, describe, it } from "vitest"
import { inFolder } from "./survivingRuns.ts"

describe("divisi run --durable", () => {
  it("is stopped by Ctrl-C, says how to resume it, and is shown and deleted", async () => {
    await inFolder(async ({ asked, killed, run }) => {
      const stopped = await killed("SIGINT")
      assert.strictEqual(stopped.code, 130)
      assert.include(stopped.errors, "divisi runs resume run-1")
      const resumed = await run(["run", "Which?", "--run-id", "run-1", "--json"])
      assert.strictEqual(resumed.code, 0, resumed.errors)
      assert.deepStrictEqual(asked(), ["quick", "last", "last"])
      const events = resumed.output
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).type)
      assert.deepStrictEqual([events[0], events.at(-1)], ["run-started", "run-finished"])
      const shown = await run(["runs", "show", "run-1"])
      assert.include(shown.output, "It is done.")
      assert.match((await run(["runs", "--worker", "quick", "--min-cost", "0.01"])).output, /run-1 +answered/)
      assert.include((await run(["runs", "--state", "failed"])).output, "No run matches the filters")
      assert.include((await run(["runs", "delete", "run-1"])).output, "Deleted: run-1")
      assert.deepStrictEqual(JSON.parse((await run(["runs", "--json"])).output), [])
      const { output } = await run(["runs"], { DIVISI_DATABASE: "postgres://divisi@127.0.0.1:1/divisi" })
      assert.match(output, /^No runs found\. .*\n.* in DIVISI_DATABASE, pass --database\.\n$/)
      const gone = await run(["runs", "resume", "run-1"])
      assert.strictEqual(gone.code, 2)
      assert.include(gone.errors, "Run run-1 not found")
    })
  })

  it("is listed with its pending calls, and resumes with their results in another process", async () => {
    await inFolder(async ({ asked, run }) => {
      const tool = { TOOL: "1" }
      const suspended = await run(["run", "Which?", "--durable", "--run-id", "run-1"], tool)
      assert.strictEqual(suspended.code, 5, suspended.errors)
      assert.match((await run(["runs"], tool)).output, /run-1 +waiting .* weather \(0\.1\.0\.0\)/)
      const wrong = await run(["runs", "resume", "run-1", "--result", "sunny"], tool)
      assert.strictEqual(wrong.code, 2)
      const { code, errors, output } = await run(["runs", "resume", "run-1", "--result", "0.1.0.0=sunny"], tool)
      assert.strictEqual(code, 0, errors)
      assert.strictEqual(output, "It is sunny.\n")
      assert.deepStrictEqual(asked(), ["quick", "last", "last"])
    })
  })

  it("does not resume as another run, and reports the difference", async () => {
    await inFolder(async ({ asked, killed, run }) => {
      await killed("SIGKILL")
      const { code, errors } = await run(["runs", "resume", "run-1", "--policy", "single:quick"])
      assert.strictEqual(code, 1)
      assert.match(errors, /has the policy single:quick instead of half/)
      const asksElse = await run(["run", "What?", "--run-id", "run-1"])
      assert.include(asksElse.errors, "has a different question")
      assert.strictEqual(asked().length, 2)
    })
  })
})
