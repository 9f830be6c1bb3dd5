import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import * as Task from "@divisi/core/Task"
import {
  Aime25,
  Benchmarks,
  BigCodeBenchHard,
  GpqaDiamond,
  Gsm8k,
  LiveCodeBench,
  Math500,
  Mmlu,
  Rlpr,
  Selection,
  UserBenchmark
} from "@divisi/evals"
import * as Benchmark from "@divisi/evals/Benchmark"
import { BigCodeBenchProblem, LiveCodeBenchProblem } from "@divisi/graders/code"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { folder } from "./folder.ts"

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}.jsonl`, import.meta.url))

const load = (benchmark: Benchmark.Benchmark, name: string, options: Benchmark.LoadOptions = {}) =>
  Benchmark.load(benchmark, { files: [fixture(name)], ...options })

const ids = (loaded: Benchmark.Loaded) => loaded.tasks.map(({ id }) => id)

const gpqaRows = Array.from({ length: 198 }, (_, index) => ({
  "Record ID": `rec${index}`,
  Question: ` Question ${index}? `,
  "Correct Answer": "right\n",
  "Incorrect Answer 1": "one",
  "Incorrect Answer 2": "two",
  "Incorrect Answer 3": "three",
  "High-level domain": ["Physics", "Chemistry", "Biology"][index % 3]
}))

describe("records become tasks", () => {
  it.effect("of MATH500", () =>
    Effect.gen(function* () {
      const { provenance, tasks } = yield* load(Math500.make(), "math500")
      assert.strictEqual(tasks[0]?.id, "math500/test/precalculus/807.json")
      assert.strictEqual(tasks[0]?.reference, "\\left( 3, \\frac{\\pi}{2} \\right)")
      assert.deepStrictEqual(tasks[0]?.metadata, { subject: "Precalculus", level: 2 })
      assert.include(Task.question(tasks[0]!), "\\boxed{}")
      assert.deepInclude(provenance, { benchmark: "math500", licence: "MIT", available: 4, selected: 4 })
      assert.match(provenance.files[0]!.sha256, /^[0-9a-f]{64}$/)
    })
  )

  it.effect("of GSM8K, MMLU and AIME25", () =>
    Effect.gen(function* () {
      const gsm8k = yield* load(Gsm8k.make(), "gsm8k")
      assert.deepStrictEqual(
        gsm8k.tasks.map(({ reference }) => reference),
        ["18", "3", "70000"]
      )
      const mmlu = yield* load(Mmlu.make(), "mmlu")
      assert.strictEqual(mmlu.tasks[0]?.reference, "C")
      assert.include(Task.question(mmlu.tasks[0]!), "A) 8\nB) 2\nC) 24\nD) 120")
      assert.match(mmlu.tasks[0]!.id, /^mmlu\/test\/abstract_algebra\/[0-9a-f]{16}$/)
      const aime = yield* load(Aime25.make(), "aime25")
      assert.deepStrictEqual(
        aime.tasks.map(({ reference }) => reference),
        ["70", "33", "9"]
      )
      assert.deepStrictEqual(ids(aime).slice(0, 2), ["aime25/I-1", "aime25/I-2"])
    })
  )

  it.effect("of RLPR, without its system message and its long references", () =>
    Effect.gen(function* () {
      const { tasks } = yield* load(Rlpr.make({ split: "all" }), "rlpr")
      assert.deepStrictEqual(
        tasks.map(({ reference }) => reference),
        ["19.6 N", "9"]
      )
      assert.deepStrictEqual(
        tasks.map(({ messages }) => messages.length),
        [1, 1]
      )
      assert.strictEqual((yield* load(Rlpr.make({ split: "all", maxReferenceLength: 500 }), "rlpr")).tasks.length, 3)
      assert.strictEqual(Rlpr.make({ rule: "paper" }).grader.name, "rlpr-paper")
    })
  )

  it.effect("of LiveCodeBench, with their tests out of sight, in a window of dates", () =>
    Effect.gen(function* () {
      const { tasks } = yield* load(LiveCodeBench.make(), "livecodebench")
      assert.deepStrictEqual(
        tasks.map((task) => Result.getOrThrow(LiveCodeBenchProblem.tests(task)).map(({ type }) => type)),
        [
          ["stdin", "stdin", "stdin"],
          ["functional", "functional"]
        ]
      )
      assert.strictEqual(LiveCodeBenchProblem.ofTask(tasks[1]!)?.functionName, "twice")
      assert.include(Task.question(tasks[1]!), "class Solution")
      assert.include(Task.question(tasks[0]!), "standard input")
      assert.notInclude(JSON.stringify(tasks[0]!.messages), "10 -4")
      const late = yield* load(LiveCodeBench.make({ from: "2024-02-10", to: "2024-02-10" }), "livecodebench")
      assert.deepStrictEqual(ids(late), ["livecodebench/3901"])
      assert.deepStrictEqual(LiveCodeBench.release("v3"), ["v1", "v2", "v3"])
    })
  )

  it.effect("of BigCodeBench-Hard", () =>
    Effect.gen(function* () {
      const { tasks } = yield* load(BigCodeBenchHard.make(), "bigcodebench-hard")
      const found = BigCodeBenchProblem.ofTask(tasks[0]!)!
      assert.strictEqual(found.entryPoint, "task_func")
      assert.include(found.test, "class TestCases")
      assert.isAbove(found.libraries.length, 0)
      assert.include(Task.question(tasks[0]!), found.prompt.trim())
      assert.notInclude(Task.question(tasks[0]!), found.canonicalSolution.trim())
    })
  )

  it("of GPQA, the right option in every place about as often, and the same for every process", () => {
    const tasks = gpqaRows.map((row, index) => GpqaDiamond.make().toTask(row, index)!)
    const counts = Map.groupBy(tasks, ({ reference }) => reference)
    for (const letter of "ABCD") assert.isAtLeast(counts.get(letter)?.length ?? 0, 35)
    assert.strictEqual(
      tasks
        .slice(0, 12)
        .map(({ reference }) => reference)
        .join(""),
      "BAABCBCCDCCA"
    )
    assert.include(Task.question(tasks[0]!), `${tasks[0]!.reference}) right\n`)
    const other = gpqaRows.map((row, index) => GpqaDiamond.make({ seed: 1 }).toTask(row, index)!.reference)
    assert.notDeepEqual(
      other,
      tasks.map(({ reference }) => reference)
    )
  })

  it("keeps confidential text out of what is shared", () => {
    const gpqa = GpqaDiamond.make()
    const task = gpqa.toTask(gpqaRows[7]!, 7)!
    const shared = JSON.stringify(Benchmark.shareable(gpqa, task))
    for (const secret of ["Question 7", "right", "one"]) assert.notInclude(shared, secret)
    assert.include(shared, "gpqa-diamond/rec7")
    assert.include(Benchmark.notice(gpqa), "CC-BY-4.0")
    assert.include(JSON.stringify(Benchmark.shareable(Math500.make(), Task.make("1 + 1?"))), "1 + 1?")
  })

  it.effect("or are refused with their number and what is wrong", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(load(Math500.make(), "gsm8k"))
      assert.match(error.message, /Record 1 of .*gsm8k\.jsonl is not valid for math500: it has no field "unique_id"/)
      const absent = yield* Effect.flip(Benchmark.load(Gsm8k.make(), { files: ["nowhere.jsonl"] }))
      assert.include(absent.message, "nowhere.jsonl: the file does not exist. Check the path.")
    })
  )
})

describe("selection", () => {
  const tasks = Array.from({ length: 100 }, (_, index) =>
    Task.make({ id: `t${index}`, question: `What is ${index}?`, metadata: { subject: index < 70 ? "a" : "b" } })
  )

  it("is stratified, and does not depend on the order of the file", () => {
    const options = { limit: 10, seed: 5, by: "subject" }
    const sample = Selection.sample(tasks, options)
    assert.strictEqual(sample.filter(({ metadata }) => metadata?.subject === "a").length, 7)
    assert.strictEqual(Selection.hash(sample), Selection.hash(Selection.sample(tasks.toReversed(), options)))
    assert.notStrictEqual(Selection.hash(sample), Selection.hash(Selection.sample(tasks, { ...options, seed: 6 })))
    const odd = Selection.sample(tasks, { limit: 33, seed: 5, by: "subject" })
    assert.strictEqual(odd.length, 33)
  })

  it("cuts into parts that do not overlap and leave nothing out", () => {
    const parts = Selection.split(tasks, { shares: [0.6, 0.2, 0.2], seed: 42 })
    assert.deepStrictEqual(
      parts.map((part) => part.length),
      [60, 20, 20]
    )
    assert.strictEqual(new Set(parts.flat().map(({ id }) => id)).size, 100)
  })

  it.effect("refuses what was trained on, by id and by question", () =>
    Effect.gen(function* () {
      const all = yield* load(Math500.make(), "math500")
      const refused = yield* Effect.flip(load(Math500.make(), "math500", { trained: [ids(all)[1]!] }))
      assert.match(refused.message, /1 task is in the training data: math500\/test/)
      const copy = { ...all.tasks[2]!, id: "elsewhere" }
      assert.isTrue(Result.isFailure(Selection.withoutTrained(all.tasks, [copy])))
      const rest = yield* load(Math500.make(), "math500", { trained: [copy], onOverlap: "drop" })
      assert.deepStrictEqual(ids(rest), ids(all).toSpliced(2, 1))
    })
  )

  it.effect("takes given ids, in their order, and refuses unknown ones", () =>
    Effect.gen(function* () {
      const all = yield* load(Math500.make(), "math500")
      const two = [ids(all)[3]!, ids(all)[0]!]
      assert.deepStrictEqual(ids(yield* load(Math500.make(), "math500", { ids: two })), two)
      const error = yield* Effect.flip(load(Math500.make(), "math500", { ids: ["math500/none"] }))
      assert.include(error.message, "not in the benchmark: math500/none")
    })
  )
})

describe("a benchmark of one's own", () => {
  it.effect("names a grader once, or row by row", () =>
    Effect.gen(function* () {
      const file = path.join(folder(), "mine.jsonl")
      fs.writeFileSync(
        file,
        '{"question":"6 times 7?","answer":42,"grader":"integer"}\n{"question":"Capital of France?","answer":"Paris"}\n'
      )
      const mine = UserBenchmark.make({ file })
      const { tasks } = yield* Benchmark.load(mine)
      assert.isTrue((yield* mine.grader.grade(tasks[0]!, "That makes 42 in all.")).correct)
      assert.isFalse((yield* mine.grader.grade(tasks[1]!, "That makes 42 in all.")).correct)
      assert.isTrue((yield* mine.grader.grade(tasks[1]!, "paris.")).correct)
      assert.throws(() => UserBenchmark.make({ file, grader: "vibes" }), /Unknown grader "vibes"/)
      fs.writeFileSync(file, '{"question":"?","answer":"!","grader":"vibes"}\n')
      assert.include((yield* Effect.flip(Benchmark.load(mine))).message, 'unknown grader "vibes"')
    })
  )
})

describe("files that are not as they should be", () => {
  const write = (name: string, text: string | Uint8Array) => {
    const file = path.join(folder(), name)
    fs.writeFileSync(file, text)
    return file
  }
  const lines = (...rows: ReadonlyArray<object>) => rows.map((row) => `${JSON.stringify(row)}\n`).join("")
  const mine = (text: string | Uint8Array) => UserBenchmark.make({ file: write("mine.jsonl", text) })
  const refusal = (benchmark: Benchmark.Benchmark, options: Benchmark.LoadOptions = {}) =>
    Effect.map(Effect.flip(Benchmark.load(benchmark, options)), ({ message }) => message)

  it.effect("say which questions occur more than once, and count them", () =>
    Effect.gen(function* () {
      const row = { id: "a", question: "1?", answer: "1" }
      const { notices, tasks } = yield* Benchmark.load(mine(lines(row, row, { ...row, id: "b", question: "2?" })))
      assert.deepStrictEqual(
        tasks.map(({ id }) => id),
        ["a", "a-2", "b"]
      )
      assert.deepStrictEqual(notices, ["1 question appears more than once and is counted each time: a."])
    })
  )

  it.effect("leave out copies of what was trained on, whatever their ids", () =>
    Effect.gen(function* () {
      const row = { id: "a", question: "1?", answer: "1" }
      const benchmark = mine(lines(row, row, { ...row, id: "copy" }, { id: "b", question: "2?", answer: "2" }))
      const { tasks } = yield* Benchmark.load(benchmark, { trained: ["a"], onOverlap: "drop" })
      assert.deepStrictEqual(
        tasks.map(({ id }) => id),
        ["b"]
      )
      assert.include(yield* refusal(benchmark, { trained: ["a"] }), "3 tasks are in the training data")
    })
  )

  it.effect("say that they hold nothing, or nothing of the benchmark", () =>
    Effect.gen(function* () {
      assert.include(yield* refusal(mine("")), "it contains no records")
      assert.include(yield* refusal(mine("\n \n")), "it contains no records")
      const rlpr = write("rlpr.jsonl", fs.readFileSync(fixture("rlpr")))
      const strict = Rlpr.make({ split: "all", maxReferenceLength: 0 })
      assert.match(yield* refusal(strict, { files: [rlpr] }), /none of its \d+ records is a rlpr-strict task/)
    })
  )

  it.effect("are refused where no answer could be right, and where there is no question", () =>
    Effect.gen(function* () {
      assert.match(
        yield* refusal(mine(lines({ question: "1?", answer: " " }))),
        /Record 1 .*its reference answer is empty/
      )
      assert.match(yield* refusal(mine(lines({ question: "", answer: "1" }))), /Record 1 .*its question is empty/)
    })
  )

  it.effect("are refused where a program could not be tested", () =>
    Effect.gen(function* () {
      const [program, method] = fs
        .readFileSync(fixture("livecodebench"), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line))
      const spoiled = (row: object) => refusal(LiveCodeBench.make(), { files: [write("lcb.jsonl", lines(row))] })
      assert.include(
        yield* spoiled({ ...program, private_test_cases: "bm90IGEgcGlja2xl" }),
        "neither JSON nor compressed"
      )
      assert.include(
        yield* spoiled({ ...program, private_test_cases: "[]", public_test_cases: "[]" }),
        "it has no tests"
      )
      assert.include(yield* spoiled({ ...method, metadata: "{}" }), 'its metadata has no "func_name"')
    })
  )

  it.effect("are read with a byte order mark, and refused as arrays and in other encodings", () =>
    Effect.gen(function* () {
      const text = lines({ id: "ü", question: "1?", answer: "1" })
      const { tasks } = yield* Benchmark.load(mine(`\ufeff${text}`))
      assert.strictEqual(tasks[0]!.id, "ü")
      assert.include(yield* refusal(mine(`[${text.trim()}]`)), "is a JSON array; expected one JSON object per line")
      assert.include(yield* refusal(mine(Buffer.from(text, "latin1"))), "it is not UTF-8; save it as UTF-8")
    })
  )

  it.effect("say which questions have two equal options", () =>
    Effect.gen(function* () {
      const row = { "Record ID": "rec", Question: "?", "Correct Answer": "right", "Incorrect Answer 1": "right " }
      const file = write("gpqa.jsonl", lines({ ...row, "Incorrect Answer 2": "two", "Incorrect Answer 3": "three" }))
      const { notices } = yield* Benchmark.load(GpqaDiamond.make(), { files: [file] })
      assert.deepStrictEqual(notices, ["In 1 question, two options are equal: gpqa-diamond/rec."])
      const prompts = write("rlpr.jsonl", lines({ prompt: [null], reward_model: { ground_truth: "1" } }))
      assert.match(
        yield* refusal(Rlpr.make({ split: "all" }), { files: [prompts] }),
        /Record 1 .*"prompt" must be a list of objects/
      )
    })
  )

  it.effect("have no sample of less than one task", () =>
    Effect.gen(function* () {
      const benchmark = mine(lines({ question: "1?", answer: "1" }))
      for (const limit of [0, -1, 0.5])
        assert.include(yield* refusal(benchmark, { limit }), "a whole number of at least 1")
    })
  )
})

it("benchmarks are found by their names", () => {
  for (const name of Benchmarks.names) assert.isDefined(Benchmarks.named(name))
  assert.isUndefined(Benchmarks.named("toString"))
})

describe("the form of a benchmark", () => {
  it("is any of its formats, and is part of its prompt's name", () => {
    for (const name of Benchmarks.names) {
      for (const format of Benchmarks.formats(name)) {
        const { prompt } = Benchmarks.named(name, { format })!
        if (Benchmarks.formats(name).length > 1) assert.include(prompt, `/${format}/`)
      }
    }
    assert.throws(
      () => Benchmarks.named("gsm8k", { format: "box" }),
      'gsm8k has no format "box". Available: line, tags.'
    )
    assert.throws(
      () => Benchmarks.named("math500", { split: "train" }),
      'math500 has no split "train". Available: test.'
    )
  })

  it.effect("asks for tags where they are wanted, and its grader reads them", () =>
    Effect.gen(function* () {
      for (const name of ["math500", "mmlu", "aime25", "gsm8k"]) {
        const benchmark = Benchmarks.named(name, { format: "tags" })!
        const { tasks } = yield* load(benchmark, name)
        for (const task of tasks) {
          assert.include(Task.question(task), "in <answer> tags")
          const answer = `<think>It is not 0 or A.</think>\n<answer>${task.reference}</answer>`
          assert.isTrue((yield* benchmark.grader.grade(task, answer)).correct, `${name}: ${answer}`)
        }
      }
    })
  )

  it.effect("has no question of RLPR in two splits, and none in no split", () =>
    Effect.gen(function* () {
      const rows = Array.from({ length: 500 }, (_, at) =>
        JSON.stringify({ prompt: [{ role: "user", content: `${at}?` }], reward_model: { ground_truth: "1" } })
      )
      const file = path.join(folder(), "rlpr.jsonl")
      fs.writeFileSync(file, rows.join("\n"))
      const of = (split: Rlpr.Split) =>
        Effect.map(Benchmark.load(Rlpr.make({ split }), { files: [file] }), (loaded) => ids(loaded))
      const [train, validation, test, all] = yield* Effect.forEach(["train", "validation", "test", "all"] as const, of)
      assert.sameMembers([...train!, ...validation!, ...test!], [...all!])
      assert.approximately(train!.length / 500, 0.6, 0.06)
      assert.approximately(test!.length / 500, 0.2, 0.06)
      assert.strictEqual(Benchmarks.named("rlpr")!.prompt, "rlpr/test/1")
    })
  )
})

const data = process.env.DIVISI_EVALS_DATA

describe("whole data sets", () => {
  it.effect.skipIf(data === undefined)(
    "have the counts they should have (needs DIVISI_EVALS_DATA, see the README)",
    () =>
      Effect.gen(function* () {
        const whole = (benchmark: Benchmark.Benchmark, file: string) =>
          Benchmark.load(benchmark, { files: [path.join(data!, file)] })
        const count = (loaded: Benchmark.Loaded, subject: string) =>
          loaded.tasks.filter(({ metadata }) => metadata?.subject === subject).length
        const math = yield* whole(Math500.make(), "math500.test.jsonl")
        assert.strictEqual(math.tasks.length, 500)
        assert.strictEqual(count(math, "Algebra"), 124)
        assert.strictEqual(count(math, "Counting & Probability"), 38)
        assert.strictEqual((yield* whole(Gsm8k.make(), "gsm8k.test.jsonl")).tasks.length, 1319)
        const mmlu = yield* whole(Mmlu.make(), "mmlu.test.sample570.jsonl")
        assert.strictEqual(new Set(ids(mmlu)).size, 570)
        assert.strictEqual((yield* whole(Mmlu.make({ split: "dev" }), "mmlu.dev285.jsonl")).tasks.length, 285)
        const code = yield* whole(BigCodeBenchHard.make(), "bigcodebench_hard.v0.1.4.jsonl")
        assert.strictEqual(code.tasks.length, 148)
        for (const loaded of [math, mmlu, code]) assert.strictEqual(new Set(ids(loaded)).size, loaded.tasks.length)
      })
  )
})
