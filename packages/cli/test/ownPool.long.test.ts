/** Problems of `divisi pool record`, `train` and `verdict`, over HTTP. */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { inWorld, pool, questions, team } from "./twoKinds.ts"

describe.concurrent("a Conductor for one's own pool", () => {
  it("reports unusable answers, changed questions and the reason of missing samples", { timeout: 300_000 }, () =>
    inWorld(async ({ ask, calls, folder }) => {
      const write = (name: string, rows: ReadonlyArray<object>) =>
        writeFileSync(path.join(folder, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""))
      const letters = { question: "Which one is blue?", options: ["grass", "sky"], answer: "B" }
      const tests = JSON.stringify({ public_test_cases: [{ input: "1", output: "1", testtype: "stdin" }] })
      const program = { question: "Print the number that is read.", answer: tests, grader: "livecodebench" }
      write("good.jsonl", [...questions, letters, program])
      const keyless = await ask("pool", "record", "questions.jsonl", "--pool", "openai:gpt-5-mini", "--dry-run")
      assert.strictEqual(keyless.code, 0, keyless.errors)
      assert.match(keyless.output, /openai:gpt-5-mini +\d+ +\$/)
      const good = await ask("pool", "record", "good.jsonl", ...team, "--dry-run")
      assert.strictEqual(good.code, 0, good.errors)
      write("bad.jsonl", [
        ...questions,
        { question: "How many dwarfs are there?", answer: "seven", grader: "integer" },
        { question: "Write f.", answer: "assert f(1) == 1", grader: "livecodebench" }
      ])
      const bad = await ask("pool", "record", "bad.jsonl", ...team, "--max-cost", "1")
      assert.strictEqual(bad.code, 2)
      assert.include(bad.errors, "2 questions with a reference answer that the grader rejects")
      assert.include(
        bad.errors,
        '"How many dwarfs are there?": the integer grader rejects the reference answer "seven"'
      )
      assert.include(bad.errors, '"Write f.": the task has no LiveCodeBench tests')
      const evaluated = await ask("eval", "--benchmark", "bad.jsonl", ...team, "--max-cost", "1")
      assert.strictEqual(evaluated.code, 2)
      assert.include(evaluated.errors, "2 questions with a reference answer that the grader rejects")
      const unpriced = await ask("pool", "record", "questions.jsonl", "--pool", pool)
      assert.include(unpriced.errors, "--price adder:sums=0.5/1.5")
      assert.include((await ask("pool", "train", "nowhere")).errors, "Run `divisi pool record --out nowhere`")
      assert.strictEqual(calls(), 0)

      const absent = await ask("pool", "record", "questions.jsonl", "--pool", "llamacpp:./absent.gguf", "--out", "none")
      assert.strictEqual(absent.code, 1)
      assert.match(absent.errors, /First error: .*absent\.gguf.* run the same command again/)

      const recorded = await ask("pool", "record", "questions.jsonl", ...team, "--max-cost", "3", "--samples", "1")
      assert.strictEqual(recorded.code, 0, recorded.errors)
      const [, ...others] = questions
      write("questions.jsonl", [...others, { question: "Changed?", answer: "blue" }, { question: "New?", answer: "1" }])
      const trained = await ask("pool", "train", "pool", "--json")
      assert.strictEqual(trained.code, 0, trained.errors)
      assert.match(
        trained.errors,
        /Ignored 1 recorded question that .* the same form.*Ignored 2 questions in .* without recorded answers/s
      )
      const training = JSON.parse(trained.output)
      assert.strictEqual(training.trained + training.heldOut, others.length)
      const verdict = await ask("pool", "verdict", "pool", "--json")
      assert.strictEqual(verdict.code, 0, verdict.errors)
      const { cells } = JSON.parse(verdict.output).report
      assert.isTrue(cells.every(({ score }: { readonly score: { readonly missing: number } }) => score.missing === 0))

      writeFileSync(path.join(folder, "pool/head.json"), "{")
      assert.include((await ask("pool", "verdict", "pool")).errors, "Run divisi pool train pool")
    })
  )

  it("stops at --max-time with exit code 3, and continues", { timeout: 200_000 }, () =>
    inWorld(async ({ ask, calls }) => {
      const stopped = await ask("pool", "record", "questions.jsonl", ...team, "--max-cost", "3", "--max-time", "1ms")
      assert.strictEqual(stopped.code, 3, stopped.errors)
      assert.include(stopped.errors, "--max-time")
      const again = await ask("pool", "record", "questions.jsonl", ...team, "--max-cost", "3", "--samples", "1")
      assert.strictEqual(again.code, 0, again.errors)
      assert.isAtLeast(calls(), 160)
    })
  )
})
