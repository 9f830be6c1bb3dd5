import fs from "node:fs"
import path from "node:path"
import * as Task from "@divisi/core/Task"
import { Mmlu, UserBenchmark } from "@divisi/evals"
import * as Benchmark from "@divisi/evals/Benchmark"
import { Verdict } from "@divisi/graders"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { folder } from "./folder.ts"

const fileOf = (...rows: ReadonlyArray<object>) => {
  const file = path.join(folder(), "mine.jsonl")
  fs.writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""))
  return file
}

const load = (rows: ReadonlyArray<object>, options: Partial<UserBenchmark.Options> = {}) =>
  Benchmark.load(UserBenchmark.make({ file: fileOf(...rows), ...options }))

const refusal = (row: object) => Effect.map(Effect.flip(load([row])), ({ message }) => message)

describe("options in the rows of a file", () => {
  it.effect("are shown with letters and graded by letter, in every form that data sets have", () =>
    Effect.gen(function* () {
      const texts = ["Lyon", "Paris", "Nice"]
      const forms: ReadonlyArray<object> = [
        { options: texts, answer: "B" },
        { choices: texts, answer: "Paris" },
        { choices: texts, answer: 1 },
        { options: texts, answer: "(b)" },
        { options: { A: "Lyon", B: "Paris", C: "Nice" }, answer: "B" },
        { choices: { text: texts, label: ["1", "2", "3"] }, answer: "2" },
        { options: texts, answer: "B", grader: "letter" }
      ]
      const rows = forms.map((form, index) => ({ id: `q${index}`, question: "Capital of France?", ...form }))
      const file = fileOf(...rows)
      const mine = UserBenchmark.make({ file, grader: "math" })
      const { tasks } = yield* Benchmark.load(mine)
      assert.lengthOf(tasks, forms.length)
      for (const task of tasks) {
        assert.include(Task.question(task), "A) Lyon\nB) Paris\nC) Nice")
        assert.strictEqual(task.reference, "B")
        assert.isTrue((yield* mine.grader.grade(task, "It is the capital.\nAnswer: B")).correct)
        assert.isFalse((yield* mine.grader.grade(task, "It is not Paris.\nAnswer: C")).correct)
      }
      const tagged = yield* load([rows[0]!], { format: "tags" })
      assert.include(Task.question(tagged.tasks[0]!), "<answer> tags")
    })
  )

  it.effect("are refused by name where they say two things, or nothing", () =>
    Effect.gen(function* () {
      const row = { question: "?", answer: "A" }
      const cases: ReadonlyArray<readonly [object, string]> = [
        [{ ...row, options: ["1", "2"], choices: ["1", "2"] }, '"options" and "choices"'],
        [{ ...row, options: ["1", "2"], answer: "C" }, 'its answer "C" is not one of its options'],
        [{ ...row, options: ["B", "A"] }, 'its answer "A" matches several of its options'],
        [{ ...row, options: ["2", "0", "1"], answer: 1 }, 'its answer "1" matches several of its options'],
        [{ ...row, options: "1, 2" }, 'field "options" must be a list'],
        [{ ...row, options: ["1"] }, "2 to 10 options, not 1"],
        [{ ...row, options: Array.from({ length: 11 }, String) }, "2 to 10 options, not 11"],
        [{ ...row, options: ["1", null] }, 'field "options" must contain strings'],
        [{ ...row, choices: { text: ["1", "2"], label: ["A"] } }, "options without a label"],
        [{ ...row, options: ["1", "2"], grader: "math" }, 'its grader "math" cannot grade options'],
        [{ question: "?", options: ["1", "2"] }, 'no field "answer"']
      ]
      for (const [wrong, said] of cases) assert.include(yield* refusal(wrong), said)
    })
  )

  it.effect("are left to a grader of one's own, which sees them", () =>
    Effect.gen(function* () {
      const own = Verdict.grader("own", (gold, answer) => Verdict.make({ correct: gold === answer, rung: "own" }))
      const mine = UserBenchmark.make({
        file: fileOf({ question: "?", options: ["x", "y"], answer: "y" }),
        grader: own
      })
      const { tasks } = yield* Benchmark.load(mine)
      assert.deepStrictEqual(tasks[0]?.metadata?.options, ["x", "y"])
      assert.strictEqual((yield* mine.grader.grade(tasks[0]!, "B")).rung, "own")
    })
  )
})

describe("implausible rows", () => {
  it.effect("are reported: fields that are not read, questions again, with other answers, and shared ids", () =>
    Effect.gen(function* () {
      const { notices, tasks } = yield* load([
        { id: "a", question: "1 + 1?", answer: 2, costs: { x: 1 } },
        { id: "b", question: "1  + 1?", answer: "2", sytem: "Be short." },
        { id: "c", question: "2 + 2?", answer: 4 },
        { id: "d", question: "2 + 2?", answer: 5 },
        { id: "c", question: "3 + 3?", answer: 6 }
      ])
      assert.lengthOf(tasks, 5)
      assert.deepStrictEqual(notices, [
        "1 question appears more than once and is counted each time: a.",
        "1 question appears more than once, with different answers: c.",
        "Different questions have the same id, and each is counted: c.",
        'In 1 question, the unknown field "costs" is ignored: a.',
        'In 1 question, the unknown field "sytem" is ignored (did you mean "system"?): b.'
      ])
    })
  )
})

describe("answers in words", () => {
  const rows = [
    { id: "a", question: "Capital of France?", answer: "Paris" },
    { id: "b", question: "1 + 1?", answer: "\\frac{4}{2}" },
    { id: "c", question: "Parity of 4?", answer: "even" },
    { id: "d", question: "Who wrote Faust?", answer: "Johann Wolfgang von Goethe", grader: "text" },
    { id: "e", question: "2 + 2?", answer: "four" },
    { id: "f", question: "Capital of Italy?", answer: "Rome" },
    { id: "g", question: "Who is the thief?", answer: "\\text{Evelyn}" }
  ]

  it.effect("are reported for a grader of mathematics, before any call", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* load(rows, { grader: "math" })).notices, [
        'In 2 questions, the answer is in words, which this grader compares only as text (for answers in words, use the grader "text"): a, f.'
      ])
      assert.deepStrictEqual((yield* load(rows)).notices, [])
    })
  )
})

describe("few-shot examples", () => {
  const rows = Array.from({ length: 12 }, (_, index) => ({
    id: `q${index}`,
    question: `What is ${index} + 1?`,
    answer: index + 1,
    subject: index < 6 ? "small" : "large"
  }))

  it.effect("are earlier turns of the same subject, the same for a seed, and never the question", () =>
    Effect.gen(function* () {
      const mine = UserBenchmark.make({ file: fileOf(...rows), id: "mine" })
      const { provenance, tasks } = yield* Benchmark.load(mine, { shots: 3, seed: 7 })
      for (const task of tasks) {
        assert.deepStrictEqual(
          task.messages.map(({ role }) => role),
          ["user", "assistant", "user", "assistant", "user", "assistant", "user"]
        )
        const shown = task.messages.slice(0, -1).filter(({ role }) => role === "user")
        const questions = shown.map(({ content }) => rows.find(({ question }) => question === content)!)
        assert.notInclude(
          questions.map(({ id }) => id),
          task.id
        )
        assert.isTrue(questions.every(({ subject }) => subject === task.metadata?.subject))
        assert.strictEqual(task.messages[1]?.content, String(questions[0]!.answer))
      }
      assert.strictEqual(provenance.prompt, "as given/3-shot")
      assert.deepInclude(provenance.shots, { count: 3, seed: 7 })
      const again = yield* Benchmark.load(mine, { shots: 3, seed: 7 })
      assert.deepStrictEqual(again.tasks, tasks)
      const other = yield* Benchmark.load(mine, { shots: 3, seed: 8 })
      assert.notDeepEqual(other.tasks, tasks)
      const chosen = yield* Benchmark.load(mine, { shots: 3, seed: 7, ids: ["q4"] })
      assert.deepStrictEqual(chosen.tasks[0], tasks[4])
    })
  )

  it.effect("come from other files, in the benchmark's own form, and leave out the same question", () =>
    Effect.gen(function* () {
      const row = { question: "Odd one?", choices: ["2", "3", "4", "6"], answer: 1, subject: "numbers" }
      const dev = Array.from({ length: 4 }, (_, index) => ({ ...row, question: `Odd one ${index}?` }))
      const benchmark = Mmlu.make({ format: "tags" })
      const options = { files: [fileOf(row)], shotsFrom: [fileOf(row, ...dev)] }
      const { tasks } = yield* Benchmark.load(benchmark, { ...options, shots: 4 })
      assert.lengthOf(tasks[0]!.messages, 9)
      assert.strictEqual(tasks[0]!.messages[1]?.content, "<answer>B</answer>")
      const tooMany = yield* Effect.flip(Benchmark.load(benchmark, { ...options, shots: 5 }))
      assert.include(tooMany.message, "not enough solved examples")
      const wrong = yield* Effect.flip(Benchmark.load(benchmark, { ...options, shots: -1 }))
      assert.strictEqual(wrong._tag, "OptionsError")
    })
  )
})
