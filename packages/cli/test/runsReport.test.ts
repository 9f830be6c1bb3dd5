import { readFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { divisi, inFolder } from "./process.ts"

describe("divisi runs report", () => {
  it("reports a journal's runs as a page and as figures, compared with one model's price", () =>
    inFolder(async (folder) => {
      const [journal, page] = [path.join(folder, "runs.sqlite"), path.join(folder, "page.html")]
      const report = (...args: ReadonlyArray<string>) => divisi(["runs", "report", "--journal", journal, ...args])

      const none = await report()
      assert.deepStrictEqual([none.code, none.output], [2, ""])
      assert.include(none.errors, "No runs found")

      const question = "How many minutes are there in 3 days?"
      const asked = await divisi(["run", question, "--durable", "--journal", journal, "--policy", "moa"])
      assert.strictEqual(asked.code, 0, asked.errors)

      const written = await report("--out", page, "--against", "openai:gpt-5", "--title", "An hour")
      assert.deepStrictEqual([written.code, written.output], [0, `${page}\n`], written.errors)
      const text = readFileSync(page, "utf8")
      for (const part of ["Divisi studio", "An hour", question, "openai:gpt-5"]) assert.include(text, part)

      const figures = JSON.parse((await report("--json", "--against", "mine", "--price", "mine=1000/0")).output)
      assert.strictEqual(figures.runs, 1)
      assert.isAbove(figures.spend.calls, 1)
      assert.closeTo(figures.against.allUsd, figures.spend.usage.inputTokens / 1_000, 1e-9)

      const unknown = await report("--against", "openai:gtp-5")
      assert.strictEqual(unknown.code, 2)
      assert.include(unknown.errors, "Did you mean openai:gpt-5?")
      assert.include(unknown.errors, "--price openai:gtp-5=0.5/1.5")
    }))
})
