/** `divisi pool record`, `train` and `verdict`: a Conductor for your own pool, over HTTP. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { modesIn, openToOthers } from "./process.ts"
import { inWorld, pool, questions, team } from "./twoKinds.ts"

describe.concurrent("a Conductor for one's own pool", () => {
  it("is recorded, trained and judged in three commands, and pays each answer once", { timeout: 300_000 }, () =>
    inWorld(async ({ ask, calls, folder }) => {
      const estimate = await ask("pool", "record", "questions.jsonl", ...team, "--dry-run", "--json")
      assert.strictEqual(estimate.code, 0, estimate.errors)
      const { questions: asked, total } = JSON.parse(estimate.output)
      assert.deepStrictEqual([asked, total.calls, calls()], [80, 480, 0])
      assert.isAbove(total.mostUsd, total.likelyUsd)

      const unlimited = await ask("pool", "record", "questions.jsonl", ...team)
      assert.strictEqual(unlimited.code, 2)
      assert.match(unlimited.errors, /worker +calls +likely +at most[\s\S]*Set a cost limit with --max-cost/)
      assert.deepStrictEqual([calls(), existsSync(path.join(folder, "pool"))], [0, false])

      const short = await ask("pool", "record", "questions.jsonl", ...team, "--max-cost", "0.02", "--samples", "2")
      assert.strictEqual(short.code, 3, short.errors)
      const paid = calls()
      const recorded = await ask("pool", "record", "questions.jsonl", ...team, "--max-cost", "3", "--samples", "2")
      assert.strictEqual(recorded.code, 0, recorded.errors)
      assert.match(recorded.errors, /Next: divisi pool train pool/)
      assert.isAbove(paid, 0)
      assert.strictEqual(calls(), 320)
      const results = () => JSON.parse(readFileSync(path.join(folder, "pool/results.json"), "utf8"))
      const { paidUsd } = results().extent
      renameSync(path.join(folder, "questions.jsonl"), path.join(folder, "renamed.jsonl"))
      const renamed = await ask("pool", "record", "renamed.jsonl", ...team, "--max-cost", "3", "--samples", "2")
      assert.strictEqual(renamed.code, 0, renamed.errors)
      assert.include(renamed.errors, "Answers to the same questions in pool are reused at no cost.")
      assert.deepStrictEqual([calls(), results().extent.paidUsd], [320, paidUsd])
      const dearer = ["--pool", pool, "--price", "adder:sums=2/2,painter:colours=10/20", "--max-cost", "3"]
      const repriced = await ask("pool", "record", "renamed.jsonl", ...dearer, "--samples", "2")
      assert.strictEqual(repriced.code, 2, repriced.errors)
      assert.match(
        repriced.errors,
        /different price of adder:sums \(.*"inputPerMillion":1,.*instead of .*"inputPerMillion":2,/
      )
      assert.strictEqual(calls(), 320)

      const untrained = await ask("pool", "verdict", "pool")
      assert.strictEqual(untrained.code, 2)
      assert.include(untrained.errors, "divisi pool train pool")
      const byPrice = await ask("pool", "train", "pool", "--worth", "0.0001", "--json")
      assert.deepStrictEqual(
        JSON.parse(byPrice.output).chosen.map(({ worker }: { readonly worker: string }) => worker),
        ["adder:sums"]
      )
      const alone = await ask("pool", "verdict", "pool")
      assert.match(alone.output, /The classifier always chooses adder:sums/)

      const trained = await ask("pool", "train", "pool", "--json")
      assert.strictEqual(trained.code, 0, trained.errors)
      const training = JSON.parse(trained.output)
      assert.strictEqual(training.trained + training.heldOut, 80)
      assert.lengthOf(training.chosen, 2)

      const verdict = await ask("pool", "verdict", "pool")
      assert.strictEqual(verdict.code, 0, verdict.errors)
      assert.match(verdict.output, /^head:pool\/head\.json is worth it at equal tokens: \+\d+\.\d points/m)
      const { report, verdict: sentence } = JSON.parse((await ask("pool", "verdict", "pool", "--json")).output)
      assert.include(sentence, "is worth it")
      const modes = modesIn(path.join(folder, "pool"))
      assert.isTrue(modes.has("head.json"))
      assert.deepStrictEqual(openToOthers(modes), [])
      assert.strictEqual(report.benchmarks[0].selected, training.heldOut)
      assert.strictEqual(calls(), 320)

      const used = await ask("run", questions[0]!.question, ...team, "--policy", "head:pool/head.json")
      assert.include(used.output, questions[0]!.answer)
      const trainedOn = readFileSync(path.join(folder, "pool/held-out.txt"), "utf8").trim().split("\n")
      assert.lengthOf(trainedOn, training.heldOut)
    })
  )

  it("refuses what it cannot use, before any call", { timeout: 200_000 }, () =>
    inWorld(async ({ ask, calls, folder }) => {
      writeFileSync(path.join(folder, "few.jsonl"), `${JSON.stringify(questions[0])}\n`)
      const few = await ask("pool", "record", "few.jsonl", ...team, "--max-cost", "1")
      assert.strictEqual(few.code, 2)
      assert.match(few.errors, /few\.jsonl has 1 question: /)
      const unpriced = await ask("pool", "record", "questions.jsonl", "--pool", pool, "--max-cost", "1")
      assert.strictEqual(unpriced.code, 2)
      const nobody = await ask("pool", "record", "questions.jsonl", "--max-cost", "1")
      assert.strictEqual(nobody.code, 2)
      assert.include(nobody.errors, "--pool")
      const flag = await ask("pool", "record", "questions.jsonl", ...team, "--max-coast", "1")
      assert.strictEqual(flag.code, 2)
      assert.include(flag.errors, "--max-cost")
      const absent = await ask("pool", "train", "nowhere")
      assert.strictEqual(absent.code, 2)
      assert.strictEqual((await ask("run", "Hello", ...team, "--policy", "head:nowhere.json")).code, 2)
      assert.strictEqual(calls(), 0)
    })
  )
})
