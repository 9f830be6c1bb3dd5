/** `divisi pool record`, `train` and `verdict`: a Conductor for one's own pool, over HTTP. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"
import { OpenAiChat, Script, WireServer } from "@divisi/testkit/providers"
import { assert, describe, it } from "vitest"
import { divisi, inFolder, modesIn, openToOthers } from "./process.ts"

const topics = ["moon", "sea", "rain", "wind", "forest", "city", "river", "snow", "desert", "garden", "road", "star"]

/** Sums, which one worker answers, and colours of things, which the other one answers. */
const questions = Array.from({ length: 40 }, (_, index) => [
  { question: `Add the numbers ${index} and ${index + 3}.`, answer: `${2 * index + 3}` },
  { question: `Name the colour of the ${topics[index % 12]} in poem number ${index + 1}.`, answer: "blue" }
]).flat()

const answerOf = new Map(questions.map(({ answer, question }) => [question, answer]))

/** A server whose model knows the answers to questions that begin with a word. */
const serverOf = (word: string, onCall: () => void) =>
  WireServer.start(OpenAiChat.compatible({ name: word, usage: "final" }), (request) => {
    onCall()
    const text = JSON.stringify(request.body)
    const known = [...answerOf].find(([question]) => text.includes(question))
    return Script.answer([text.includes(word) ? known![1] : "I do not know."], {
      usage: { inputTokens: 20, outputTokens: 10 }
    })
  })

const price = "adder:sums=1/2,painter:colours=10/20"
const pool = "adder:sums,painter:colours"

interface World {
  readonly ask: (...args: ReadonlyArray<string>) => ReturnType<typeof divisi>
  readonly folder: string
  readonly calls: () => number
}

const inWorld = (use: (world: World) => Promise<void>) =>
  inFolder(async (folder) => {
    let calls = 0
    const count = () => void calls++
    await using adder = await serverOf("Add the numbers", count)
    await using painter = await serverOf("Name the colour", count)
    writeFileSync(path.join(folder, "questions.jsonl"), questions.map((one) => `${JSON.stringify(one)}\n`).join(""))
    const environment = {
      ADDER_BASE_URL: `${adder.url}/v1`,
      PAINTER_BASE_URL: `${painter.url}/v1`,
      DIVISI_OUTCOMES: "none",
      DIVISI_CONFIG: "none"
    }
    await use({
      ask: (...args) => divisi(args, { cwd: folder, environment }),
      folder,
      calls: () => calls
    })
  })

const team = ["--pool", pool, "--price", price] as const

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
      assert.match(alone.output, /The Conductor always chooses adder:sums/)

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
      assert.match(trained.errors, /Ignored 1 recorded question: changed in .*Ignored 2 questions of .* not recorded/s)
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
