import fs from "node:fs"
import * as Message from "@divisi/core/Message"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import { Graders, JudgeGrader, LetterGrader, TextGrader, type Verdict } from "@divisi/graders"
import { IntegerGrader, RlprGrader } from "@divisi/graders/math"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { letters as letterSets } from "../scripts/assertions/Sets.ts"
import letterCases from "../suites/lighteval_letter_cases.json" with { type: "json" }
import known from "../suites/misses.json" with { type: "json" }
import rlprCases from "../suites/rlpr_rule_cases.json" with { type: "json" }

const correct = (grader: Verdict.AnswerGrader, gold: string, answer: string) =>
  Effect.map(grader.grade(Task.make({ question: "?", reference: gold }), answer), (verdict) => verdict.correct)

const lines = (file: string) =>
  fs
    .readFileSync(new URL(`../suites/${file}`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

/** The chance that one of `k` samples is right, of which so many are there and so many right. */
const passAtK = (samples: number, correct: number, k: number) => {
  let none = 1
  for (let at = 0; at < k; at++) none *= Math.max(0, samples - correct - at) / (samples - at)
  return 1 - none
}

interface Answers {
  readonly grader: string
  readonly gold: string
  readonly right: ReadonlyArray<string>
  readonly wrong: ReadonlyArray<string>
}

describe("answers as models write them", () => {
  it.effect("are graded right by every grader", () =>
    Effect.gen(function* () {
      const all: ReadonlyArray<Answers> = lines("answers.jsonl")
      for (const { gold, grader, right, wrong } of all) {
        const credited = (answer: string) => correct(Graders.named(grader)!, gold, answer)
        assert.deepStrictEqual(yield* Effect.filter(wrong, credited), [], `${grader}, ${gold}: false credit`)
        assert.deepStrictEqual(yield* Effect.filter(right, credited), right, `${grader}, ${gold}: missed`)
      }
    })
  )
})

describe("texts", () => {
  it("are taken from their last tags, however many there are", () => {
    assert.strictEqual(TextGrader.extract("<answer>a <answer>b</ANSWER> </answer> <Answer> c </answer> d"), "c")
    assert.strictEqual(TextGrader.extract("<answer>a <answer>b</answer> </answer>"), "a <answer>b")
    assert.strictEqual(TextGrader.extract("</answer><answer>a"), "</answer><answer>a")
    assert.strictEqual(TextGrader.normalise(`"x${".".repeat(19_000)}x!"`), `x${".".repeat(19_000)}x`)
  })

  it.effect("of half a million tags that are never closed are read before anybody loses patience", () =>
    Effect.gen(function* () {
      const open = "<answer>".repeat(500_000)
      for (const grader of [LetterGrader.paper, RlprGrader.paper, RlprGrader.strict, TextGrader.text]) {
        assert.isFalse(yield* correct(grader, "D", `${open}E`), grader.name)
      }
      assert.isTrue(yield* correct(LetterGrader.paper, "D", `a <Answer> D <answer> C </ANSWER> B </answer>`))
    })
  )
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

  it("are read in every form in which people read them, and never out of a hedge, a denial or a list", () => {
    const forms: ReadonlyArray<{ readonly text: string; readonly letter: string | null }> = lines("letters.jsonl")
    for (const { letter, text } of forms) assert.strictEqual(LetterGrader.extract(text) ?? null, letter, text)
  })

  // Right texts of each set that are missed, and wrong ones that are credited.
  const graded: Readonly<Record<string, readonly [missed: number, credited: number]>> = {
    "set-5": [3, 0],
    "set-6": [7, 0]
  }

  it("are read as before in sets that were graded before the grader was changed", () => {
    for (const [name, texts] of Object.entries(letterSets)) {
      const wrong = texts.filter(({ letter, text }) => (LetterGrader.extract(text) ?? null) !== letter)
      const missed = wrong.filter(({ letter }) => letter !== null).length
      assert.deepStrictEqual([missed, wrong.length - missed], graded[name], name)
    }
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

  it("are no numbers of refusals, bounds, guesses and denials, and are read through markup and sums", () => {
    const integers: ReadonlyArray<readonly [text: string, integer: string | undefined]> = [
      ["It is not 70.", undefined],
      ["I cannot solve problem 70.", undefined],
      ["See step 70", undefined],
      ["I cannot solve it; 70 was a guess that fails.", undefined],
      ["The answer is less than 70", undefined],
      ["The answer is at least 70.", undefined],
      ["The answer is 70 more than x.", undefined],
      ["\\boxed{\\text{about }70}", undefined],
      ["\\boxed{\\text{70}}", "70"],
      ["\\boxed{\\mathbf{70}}", "70"],
      ["\\boxed{\\textbf{70}}", "70"],
      ["\\boxed{\\mathrm{70}}", "70"],
      ["\\boxed{\\displaystyle 70}", "70"],
      ["\\boxed{m+n=70}", "70"],
      ["\\boxed{49+21=70}", "70"],
      ["\\boxed{49+21=71}", undefined],
      ["\\boxed{69} was wrong; the answer is 70.", "70"],
      ["She makes 9 * 2 = $18 every day at the farmer's market.", "18"],
      ["He made a profit of $70,000", "70000"],
      ["The total is 70. I hope this helps.", "70"],
      ["I got 70. But that is wrong.", undefined],
      ["\\boxed{70 \\text{ apples}}", "70"],
      ["\\boxed{70\\text{ cm}^2}", "70"],
      ["\\boxed{\\approx 70}", undefined],
      ["\\boxed{70^\\circ}", "70"],
      ["\\boxed{70\\%}", "70"],
      ["\\boxed{\\$70}", "70"],
      ["**70**", "70"],
      ["Answer: 70", "70"],
      ["The answer is 70.", "70"],
      ["The answer is **70**", "70"],
      ["x = 70", "70"],
      ["\\boxed{x = 70}", "70"],
      ["\\boxed{N=70}", "70"],
      ["<answer>70</answer>", "70"],
      ["<answer>\\boxed{70}</answer>", "70"],
      ["#### 70", "70"],
      ["The answer is around 70", undefined],
      ["There are more than 70 of them.", undefined],
      ["I am unable to answer; perhaps 70.", undefined],
      ["70 or more", undefined],
      ["\\boxed{70}\\$", "70"],
      ["Maybe 70", undefined],
      ["$70$", "70"],
      ["\\[70\\]", "70"],
      ["So there are 70 ways.", "70"],
      ["The result is \\textbf{70}.", "70"],
      ["\\boxed{ 0 7 0 }", undefined],
      ["I don't know the answer, but 70 appears.", undefined],
      ["at most 70", undefined],
      ["\\boxed{70!}", undefined],
      ["\\boxed{-70}", "-70"],
      ["\\boxed{70.5}", undefined],
      ["The answer is 70, not 71.", "70"],
      ["The answer is 70 because 7*10 = 70.", "70"],
      ["The answer isn't 70.", undefined],
      ["The answer is not 70.", undefined],
      ["The answer can't be 70", undefined],
      ["It's 70", "70"],
      ["Final answer: 70 dollars", "70"],
      ["In total, 35+35=70 apples.", "70"],
      ["The answer is \\(70\\).", "70"],
      ["the sum is 70 (since 7 times 10)", "70"],
      ["The number of solutions is 70", "70"]
    ]
    for (const [text, integer] of integers) assert.strictEqual(IntegerGrader.extract(text), integer, text)
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

  it.effect("takes whole numbers exactly, units with their powers and capitals, and the last tags", () =>
    Effect.gen(function* () {
      const pairs: ReadonlyArray<readonly [gold: string, answer: string, correct: boolean]> = [
        ["1945", "1946", false],
        ["1945", "1944 AD", false],
        ["1776", "1777", false],
        ["2010", "2011", false],
        ["10000", "10009", false],
        ["123456", "123457", false],
        ["2 cm²", "2 cm³", false],
        ["5 mW", "5 MW", false],
        ["3.14", "<answer>\\boxed{3.14}</answer>", true],
        ["3.14", "\\boxed{3.14}", true],
        ["3.14", "The answer is 3.14", true],
        ["100 N", "100 newtons", true],
        ["5 km", "5000 m", true],
        ["5 km", "<answer>5000 m</answer>", true],
        ["H2O", "H_2O", true],
        ["H2O", "\\text{H}_2\\text{O}", true],
        ["7", "<think><answer>8</answer></think><answer>7</answer>", true],
        ["8", "<think><answer>8</answer></think><answer>7</answer>", false],
        ["7", "<answer>8</answer> no <answer>7</answer>", true],
        ["Co", "CO", false],
        ["Yes", "yes", true],
        ["Paris", "paris", true],
        ["10 m/s", "36 km/h", true],
        ["10 m/s", "10 m/s^2", false],
        ["10 m/s^2", "10 m/s²", true],
        ["3.00e8 m/s", "3 × 10^8 m/s", true],
        ["42 kJ", "41.98 kJ", true],
        ["2 cm^2", "2 cm^3", false],
        ["5 kg", "5 g", false],
        ["5 kg", "5000 g", true],
        ["12%", "0.12", true],
        ["$5", "5 dollars", true],
        ["1/2", "0.5", true],
        ["3.14 m", "3.14", true],
        ["100 J", "100 N", false],
        ["25 °C", "25 °F", false],
        ["x+1", "1+x", true],
        ["1945", "\\text{1945}", true],
        ["1000", "1,000", true],
        ["1000", "1001", false],
        ["3.0 m", "300 cm", true],
        ["5 Mg", "5 mg", false],
        ["1 h", "3600 s", true],
        ["1 L", "1000 mL", true],
        ["pH 7", "pH 7", true],
        ["2.5 mol", "2.5 moles", true],
        ["0.7617", "0.7610", false],
        ["2", "2.0", true],
        ["2", "2.001", false]
      ]
      for (const [gold, answer, expected] of pairs) {
        assert.strictEqual(yield* correct(RlprGrader.strict, gold, answer), expected, `${gold} <- ${answer}`)
      }
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
      const sample: ReadonlyArray<JudgeGrader.Labelled> = lines("judge-labels.jsonl")
      const lenient = ScriptedWorker.make({
        id: "lenient",
        replies: ({ messages }) => (Message.text(messages[0]).includes("prime") ? "?" : "Verdict: CORRECT")
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
