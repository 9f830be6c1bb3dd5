import { existsSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { divisi, inFolder, valuesOf } from "./process.ts"
import { graded, inOwn } from "./ratedPool.ts"

describe.concurrent("divisi rate and divisi learn", () => {
  it("notes a run without its text, and rates the last one or the one that is named", () =>
    inOwn(async (ask, folder) => {
      assert.strictEqual((await ask("rate", "up")).code, 2)
      await ask("run", "What is six times seven?", "--policy", "single:calculator")
      const rated = valuesOf((await ask("rate", "down", "--json")).output)[0]
      assert.deepInclude(rated, { worker: "calculator", score: 0, source: "user" })
      const again = await ask("rate", "0.75", rated.run.slice(0, 8))
      assert.include(again.output, "calculator: 0.75")
      assert.notInclude(readFileSync(path.join(folder, "outcomes.jsonl"), "utf8"), "six")
      const { errors } = await ask("rate", "up", "no-such-run")
      assert.include(errors, "no-such-run")
      assert.strictEqual((await ask("rate", "7")).code, 2)
    }))

  it("say what a rating teaches, and what is missing before something can be learned", () =>
    inOwn(async (ask) => {
      const question = "What is six times seven?"
      await ask("run", question, "--policy", "moa")
      const planned = await ask("rate", "up")
      assert.match(planned.output, /applies to the team .* as a whole, not to its workers\./)
      const [, run = "", step = ""] = /divisi rate up (\S+) with --step (\S+) \(/.exec(planned.output) ?? []
      const nothing = await ask("learn")
      assert.strictEqual(nothing.code, 2)
      assert.include(nothing.errors, "At least 30 rated questions are needed; rate 29 more.")
      assert.include(nothing.errors, "Also rate its steps (divisi rate up --step 0.1)")
      const ofStep = await ask("rate", "up", run, "--step", step)
      assert.match(ofStep.output, /The rating counts for (?:calculator|poet) on similar questions\./)
      const alone = await ask("learn")
      assert.strictEqual(alone.code, 0, alone.errors)
      assert.match(
        alone.output,
        /Rated so far: 1 answer by the team .*, 1 answer by|1 answer by .*, 1 answer by the team/
      )
      assert.match(alone.output, /Only answers of (?:calculator|poet) are rated\. Also rate answers of another worker/)
      const asData = JSON.parse((await ask("learn", "--json")).output)
      assert.lengthOf(asData.missing, 3)
    }))

  it("rates the last `divisi run`, and neither samples of an evaluation nor offline play", () =>
    inOwn(async (ask, folder) => {
      const file = path.join(folder, "mine.jsonl")
      writeFileSync(file, `${JSON.stringify({ question: "Where does it shine?", answer: "The moon!" })}\n`)
      const flags = ["--grader", "text", "--out", path.join(folder, "evaluation"), "--policy", "single:poet"]
      assert.strictEqual((await ask("eval", "--benchmark", file, ...flags)).code, 0)
      const beforeAny = await ask("rate", "up")
      assert.deepStrictEqual([beforeAny.code, beforeAny.errors.includes("No run has been logged yet.")], [2, true])
      await ask("run", "What is six times seven?", "--policy", "single:calculator")
      await ask("eval", "--benchmark", file, ...flags.with(3, path.join(folder, "another")))
      assert.include((await ask("rate", "up")).output, "answered by calculator: 1")
      await ask("run", "What is 2 + 2?", "--config", "none", "--policy", "single:abacus")
      const afterPlay = await ask("rate", "up")
      assert.deepStrictEqual(
        [afterPlay.code, afterPlay.errors.includes("The last run used the offline gym")],
        [2, true]
      )
    }))

  it("keeps nothing of the gym", () =>
    inFolder(async (folder) => {
      const file = path.join(folder, "outcomes.jsonl")
      await divisi(["run", "What is 2 + 2?", "--config", "none"], { environment: { DIVISI_OUTCOMES: file } })
      assert.isFalse(existsSync(file))
    }))

  it("learns the workers' strengths, routes by them as the default, and reverts", () =>
    inOwn(async (ask, folder) => {
      const file = path.join(folder, "graded.jsonl")
      writeFileSync(file, `${graded.join("\n")}\n`)
      const before = await ask("run", "Write a sonnet on the sea at night.", "--policy", "learned")
      assert.strictEqual(before.code, 2)
      assert.include(before.errors, "divisi learn")
      const { output } = await ask("learn", "--from", file)
      assert.include(output, "The new table is in use")
      const picture = path.join(folder, "who.svg")
      const shown = await ask("learn", "--show", "--picture", picture)
      assert.match(shown.output, /sums +\* 100 ± 0 \(\d+\)/)
      assert.include(readFileSync(picture, "utf8"), "calculator")
      const events = valuesOf((await ask("run", "Write a sonnet on the sea at night.", "--json")).output)
      assert.strictEqual(events[0].policy, "router")
      assert.strictEqual(events.findLast(({ type }) => type === "run-finished").answer, "The moon!")
      const again = (await ask("learn", "--from", file)).output
      assert.include(again, "The current table remains in use: it would choose the same workers.")
      assert.include((await ask("learn", "--revert")).output, "No learned routing table is in use")
      const { output: records } = await ask("learn", "--show")
      assert.match(records, /ParetoBandit +google\/gemini-2\.5-pro +95\.1 +0\.5/)
      assert.include(records, "https://github.com/ParetoBandit/ParetoBandit/tree/72ccbef (Apache-2.0), read 2026-11-24")
    }))
})
