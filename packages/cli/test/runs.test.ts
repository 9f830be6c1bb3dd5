import { assert, describe, it } from "vitest"
import { inFolder } from "./survivingRuns.ts"

describe("divisi run --durable", () => {
  it("goes on after kill -9 with what it has, and tells what may have been paid", async () => {
    await inFolder(async ({ asked, killed, run }) => {
      await killed("SIGKILL")
      assert.deepStrictEqual(asked(), ["quick", "last"])
      const listed = await run(["runs", "--json"])
      const [summary] = JSON.parse(listed.output)
      assert.deepStrictEqual([summary.run, summary.state, summary.question], ["run-1", "stopped", "Which?"])
      const { code, errors, output } = await run(["runs", "resume", "run-1"])
      assert.strictEqual(code, 0, errors)
      assert.strictEqual(output, "It is done.\n")
      assert.deepStrictEqual(asked(), ["quick", "last", "last"])
      assert.include(errors, "last lost with its process, perhaps answered")
      const again = await run(["runs", "resume", "run"])
      assert.deepStrictEqual([again.code, again.output], [0, "It is done.\n"])
      assert.strictEqual(asked().length, 3)
    })
  })
})
