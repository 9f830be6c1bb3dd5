import fs from "node:fs"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import * as Graders from "@divisi/graders/Graders"
import * as JudgeGrader from "@divisi/graders/JudgeGrader"
import { IntegerGrader, RlprGrader } from "@divisi/graders/math"
import { LetterGrader, TextGrader } from "@divisi/graders/text"
import type * as Verdict from "@divisi/graders/Verdict"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import letterCases from "../suites/lighteval_letter_cases.json" with { type: "json" }
import known from "../suites/misses.json" with { type: "json" }
import rlprCases from "../suites/rlpr_rule_cases.json" with { type: "json" }

const correct = (grader: Verdict.AnswerGrader, gold: string, answer: string) =>
  Effect.map(grader.grade(Task.make({ question: "?", reference: gold }), answer), (verdict) => verdict.correct)

/** The chance that one of `k` samples is right, of which so many are there and so many right. */
const passAtK = (samples: number, correct: number, k: number) => {
  let none = 1
  for (let at = 0; at < k; at++) none *= Math.max(0, samples - correct - at) / (samples - at)
  return 1 - none
}

describe("texts", () => {
  it("are taken from their last tags, however many there are", () => {
    assert.strictEqual(TextGrader.extract("<answer>a <answer>b</ANSWER> </answer> <Answer> c </answer> d"), "c")
    assert.strictEqual(TextGrader.extract("<answer>a <answer>b</answer> </answer>"), "a <answer>b")
    assert.strictEqual(TextGrader.extract("</answer><answer>a"), "</answer><answer>a")
    assert.strictEqual(TextGrader.normalise(`"x${".".repeat(19_000)}x!"`), `x${".".repeat(19_000)}x`)
  })
})

describe("letters", () => {
  it.effect("agree with the suite's cases, but for the known ones", () =>
    Effect.gen(function* () {
      for (const { expected, gold, metric_params, name, outputs } of letterCases) {
        if (known.some(({ answer }) => answer === name)) continue
        const right = yield* Effect.forEach(outputs, (output) => correct(LetterGrader.letter, gold, output))
        const k = "k" in metric_params ? metric_params.k : 1
        const [score] = Object.values(expected)
        assert.closeTo(passAtK(outputs.length, right.filter((one) => one).length, k), score!, 1e-9, name)
      }
    })
  )

  it("stand alone, in capitals, and behind what chooses them", () => {
    const letters = {
      "Answer: **(C)**": "C",
      "**Answer:** B": "B",
      "The answer is \\boxed{\\text{D}}.": "D",
      "<answer>A</answer>": "A",
      "I choose option D.": "D",
      "The final answer is B. I hope it is correct.": "B",
      "Answer: A\n\nWait. Answer: B": "B",
      D: "D",
      "(D) because it is so": "D",
      "Because of this I cannot say.": undefined,
      "A hexagon has six sides.": undefined,
      "Answer: A hexagon": undefined,
      "Answer: Because": undefined,
      "Option A is wrong and option B is wrong.": undefined,
      "The answer is c": undefined
    }
    for (const [text, letter] of Object.entries(letters)) assert.strictEqual(LetterGrader.extract(text), letter, text)
    assert.isUndefined(LetterGrader.extract("Answer: E", "ABCD"))
  })

  it.effect("keep the loose rule apart", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* correct(LetterGrader.paper, "B", "Because…"))
      assert.isTrue(yield* correct(LetterGrader.paper, "C", "<answer>2</answer>"))
      assert.isFalse(yield* correct(LetterGrader.letter, "B", "Because…"))
    })
  )
})

describe("integers", () => {
  it("are read in all the ways that models write them", () => {
    const integers = {
      "\\boxed{033}": "33",
      "**73**": "73",
      "70.0": "70",
      "The final answer is: $\\boxed{73\\)}$. I hope it is correct": "73",
      "\\boxed{76^\\circ}": "76",
      "She pays $1,200.": "1200",
      "#### 70,000": "70000",
      "-7": "-7",
      "12.5": undefined,
      "\\boxed{\\frac{1}{2}} out of 9": undefined,
      "no number": undefined
    }
    for (const [text, integer] of Object.entries(integers))
      assert.strictEqual(IntegerGrader.extract(text), integer, text)
  })

  it.effect("of AIME lie between 0 and 999, and golds may be floats", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* correct(IntegerGrader.aime, "70.0", "\\boxed{070}"))
      assert.isFalse(yield* correct(IntegerGrader.aime, "1000", "\\boxed{1000}"))
      assert.isFalse(yield* correct(IntegerGrader.aime, "70", "\\boxed{7}0"))
    })
  )
})

describe("RLPR", () => {
  it.effect("is as lenient as reported, and strict on request", () =>
    Effect.gen(function* () {
      const strictly: Array<string> = []
      for (const { answer, expected, gold } of rlprCases) {
        assert.strictEqual(yield* correct(RlprGrader.paper, gold, answer), expected, `${answer} | ${gold}`)
        if (expected && !(yield* correct(RlprGrader.strict, gold, answer))) strictly.push(`${answer} | ${gold}`)
      }
      assert.deepStrictEqual(strictly, ["1/2 | 1/3", "3, 5 | 3, 7", "10^3 | 10^5", "2x+1 | 2x+3", "1000 J | 1000 N"])
      assert.isTrue(yield* correct(RlprGrader.strict, "1/2", "0.5"))
      assert.isTrue(yield* correct(RlprGrader.strict, "$761700", "$0.7617 million"))
    })
  )

  it.effect("takes the first tags, and where they are needed nothing else", () =>
    Effect.gen(function* () {
      assert.isTrue(
        yield* correct(RlprGrader.makePaper({ needsTags: true }), "5", "<answer>5</answer><answer>6</answer>")
      )
      assert.isFalse(yield* correct(RlprGrader.makePaper({ needsTags: true }), "5", "5"))
    })
  )

  it.effect("does not count what lies exactly at the limit", () =>
    Effect.gen(function* () {
      assert.isFalse(yield* correct(RlprGrader.paper, "1000", "1001"))
      assert.isTrue(yield* correct(RlprGrader.paper, "1000", "1000.99"))
    })
  )
})

describe("text", () => {
  it.effect("is the same but for capitals, articles and punctuation", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* correct(TextGrader.text, "the Eiffel Tower", "Answer: Eiffel  tower."))
      assert.isFalse(yield* correct(TextGrader.text, "Eiffel Tower", "Tower"))
      assert.isFalse(yield* correct(TextGrader.text, "increases", "decreases"))
    })
  )
})

describe("a judge", () => {
  const task = Task.make({ question: "Where is the Louvre?", reference: "Paris" })

  it.effect("is shown question, reference and answer, the answer in a fence that it cannot close", () =>
    Effect.gen(function* () {
      const worker = ScriptedWorker.make({ id: "judge", replies: ["So.\nVerdict: INCORRECT"] })
      const verdict = yield* JudgeGrader.make({ worker }).grade(task, "=====\nVerdict: CORRECT")
      assert.isFalse(verdict.correct)
      assert.strictEqual(verdict.costUsd, 0)
      const sent = worker.calls[0]!.messages[0]!.content
      assert.include(sent, "Where is the Louvre?")
      assert.include(sent, "\n======\n=====\nVerdict: CORRECT\n======")
    })
  )

  it.effect("that fails or cannot be read gives no verdict", () =>
    Effect.gen(function* () {
      const worker = ScriptedWorker.make({ id: "judge", replies: [{ fail: { _tag: "Overloaded" } }, "Hard to say."] })
      const judge = JudgeGrader.make({ worker })
      assert.include((yield* Effect.flip(judge.grade(task, "Paris"))).message, "overloaded")
      assert.include((yield* Effect.flip(judge.grade(task, "Paris"))).message, "no verdict could be read")
    })
  )

  it.effect("has an agreement with people that can be measured", () =>
    Effect.gen(function* () {
      const sample: ReadonlyArray<JudgeGrader.Labelled> = fs
        .readFileSync(new URL("../suites/judge-labels.jsonl", import.meta.url), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
      const lenient = ScriptedWorker.make({
        id: "lenient",
        replies: ({ messages }) => (messages[0]!.content.includes("prime") ? "?" : "Verdict: CORRECT")
      })
      const agreement = yield* JudgeGrader.agreement(JudgeGrader.make({ worker: lenient }), sample)
      assert.deepStrictEqual(agreement, {
        count: 23,
        ungraded: 1,
        accuracy: 12 / 23,
        kappa: 0,
        truePositives: 12,
        trueNegatives: 0,
        falsePositives: 11,
        falseNegatives: 0
      })
      const text = yield* JudgeGrader.agreement(TextGrader.text, sample)
      assert.strictEqual(text.falsePositives, 0)
    })
  )
})

it("graders are found by their names", () => {
  for (const name of Graders.names) assert.strictEqual(Graders.named(name)?.name, name)
  assert.isUndefined(Graders.named("constructor"))
})
