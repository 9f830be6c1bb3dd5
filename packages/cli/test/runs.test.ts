import fs from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import * as Process from "./process.ts"
import { inFolder } from "./survivingRuns.ts"

describe("divisi run --durable", () => {
  it("resumes after kill -9 with its recorded state, and reports calls that may have been paid", async () => {
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
      assert.include(errors, "last outcome unknown, because the process exited")
      const again = await run(["runs", "resume", "run"])
      assert.deepStrictEqual([again.code, again.output], [0, "It is done.\n"])
      assert.strictEqual(asked().length, 3)
    })
  })
})

describe("divisi runs resume --max-cost", () => {
  it("continues a run that reached its limit, pays no answer twice, and keeps to the new limit", async () => {
    await inFolder(async ({ asked, run }) => {
      const limited = await run(["run", "Which?", "--run-id", "run-1", "--max-cost", "0.015"])
      assert.deepStrictEqual([limited.code === 0, asked()], [false, ["quick"]])
      const low = await run(["runs", "resume", "run-1", "--max-cost", "0.018"])
      assert.deepStrictEqual([low.code === 0, asked()], [false, ["quick"]])
      const { code, errors, output } = await run(["runs", "resume", "run-1", "--max-cost", "0.02"])
      assert.strictEqual(code, 0, errors)
      assert.strictEqual(output, "It is done.\n")
      assert.deepStrictEqual(asked(), ["quick", "last"])
      const again = await run(["runs", "resume", "run-1", "--max-cost", "0.001"])
      assert.deepStrictEqual([again.code, again.output, asked().length], [0, "It is done.\n", 2])
    })
  })
})

describe("a journal that cannot be opened", () => {
  const refusal = (command: string, file: string) => Process.divisi([command, "--journal", file])

  it("is reported immediately, in a sentence that gives the reason", () =>
    Process.inFolder(async (folder) => {
      const text = path.join(folder, "text")
      fs.writeFileSync(text, "This is no journal, and it is longer than a page of one begins.", { mode: 0o600 })
      const [inFolder, ofText, serving] = await Promise.all([
        refusal("runs", folder),
        refusal("runs", text),
        refusal("serve", path.join(text, "runs.sqlite"))
      ])
      for (const { code, output } of [inFolder, ofText, serving]) assert.deepStrictEqual([code, output], [2, ""])
      assert.strictEqual(inFolder.errors, `divisi: Cannot read the journal: ${folder} is a folder.\n`)
      assert.match(ofText.errors, /^divisi: The journal .*text is not a Divisi journal, .*Choose another file\.\n$/)
      assert.strictEqual(serving.errors, `divisi: Cannot write the journal: ${text} is not a folder.\n`)
    }))

  it("is reported immediately if it is to be read and its folder is missing, which is not created", () =>
    Process.inFolder(async (folder) => {
      const file = path.join(folder, "nope", "x.sqlite")
      const commands = [["runs"], ["studio"]]
      const ended = await Promise.all(commands.map((command) => Process.divisi([...command, "--journal", file])))
      for (const { code, errors } of ended) {
        assert.strictEqual(code, 2)
        assert.match(errors, /^divisi: Cannot read the journal: the folder \S+nope does not exist\.\n$/)
      }
      assert.deepStrictEqual(fs.readdirSync(folder), [])
    }))

  it("is created for a new run, with a private folder, which is reported", () =>
    Process.inFolder(async (folder) => {
      const file = path.join(folder, "new", "x.sqlite")
      const { code, errors } = await Process.divisi(["run", "2+2", "--journal", file])
      assert.strictEqual(code, 0)
      assert.include(errors, `divisi: creating the folder ${path.dirname(file)} for the journal\n`)
      if (process.platform !== "win32") assert.strictEqual(fs.statSync(path.dirname(file)).mode & 0o777, 0o700)
    }))
})
