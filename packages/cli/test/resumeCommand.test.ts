import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { assert, describe, it } from "vitest"
import * as ResumeCommand from "../src/runs/ResumeCommand.ts"
import * as Prices from "../src/vendors/Prices.ts"
import { config, divisi } from "./process.ts"

describe("the command that resumes a run", () => {
  it("repeats the flags that the run needs again, quoted for a shell", () => {
    assert.strictEqual(ResumeCommand.text("a", { journal: Option.none() }), "divisi runs resume a")
    const flags = {
      journal: Option.some("my runs.sqlite"),
      config: Option.some("./x.config.ts"),
      policy: Option.some("single:0"),
      check: ["tests=command:it's"],
      noTools: true,
      approvePlans: true,
      price: Option.some(Option.getOrThrow(Option.fromUndefinedOr(Prices.parse("a=0,b=0.5/1.5,2/3")))),
      maxOutputTokens: Option.some(100),
      maxCost: Option.some(0.5)
    }
    assert.strictEqual(
      ResumeCommand.text("a", flags),
      "divisi runs resume a --journal 'my runs.sqlite' --config ./x.config.ts --policy single:0 --check 'tests=command:it'\\''s' --no-tools --approve-plans --price a=0,b=0.5/1.5,2/3 --max-output-tokens 100 --max-cost 0.5"
    )
    assert.match(ResumeCommand.text("a", flags, { isOverBudget: true }), / --max-cost <more>$/)
  })

  it("does not show the address of a database", () => {
    const database = Option.some(Redacted.make("postgres://me:secret@host/name"))
    assert.strictEqual(
      ResumeCommand.text("a", { journal: Option.none(), database }),
      "divisi runs resume a --database <url>"
    )
  })

  it("names the journal and the config, and without the config the error names the worker", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "divisi-resume-"))
    try {
      const journal = path.join(folder, "j.sqlite")
      const environment = { BOOK: path.join(folder, "book"), DIVISI_OUTCOMES: "none" }
      const flags = ["--journal", journal, "--config", config("surviving")]
      const waiting = await divisi(["run", "Which?", "--run-id", "run-1", "--approve-plans", ...flags], { environment })
      const resume = `divisi runs resume run-1 ${flags.join(" ")} --approve-plans`
      assert.include(waiting.errors, `Resume it with: ${resume}\n`)
      assert.include(waiting.errors, `Approve it with: ${resume} --approve 0.plan\n`)
      const shown = await divisi(["runs", "show", "run-1", "--journal", journal], { environment })
      assert.include(shown.output, `divisi runs resume run-1 --journal ${journal} --approve `)
      const lost = await divisi(["runs", "resume", "run-1", "--journal", journal, "--config", "none"], { environment })
      assert.strictEqual(lost.code, 2)
      assert.match(lost.errors, /The run used the workers quick, last, which are not in the current config\. Pass/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
