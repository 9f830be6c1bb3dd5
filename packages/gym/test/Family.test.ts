import { assert, describe, it } from "@effect/vitest"
import { type AnswerKind, type AnyFamilyName, type Difficulty, families, names, toolNames } from "../src/Family.ts"
import * as Draw from "../src/internal/draw.ts"
import * as Stock from "../src/internal/stock.ts"
import { solvers } from "../src/solvers/index.ts"

const difficulties: ReadonlyArray<Difficulty> = [1, 2, 3]
const seeds = Array.from({ length: 150 }, (_, index) => index * 31 + 1)

/** Earlier answers to continue from. Each stands for itself, as a worker that has seen it would read the question. */
const earlier: ReadonlyArray<readonly [string, AnswerKind]> = [
  ["42", "integer"],
  ["1375", "integer"],
  ["Tuesday", "word"]
]

const all: ReadonlyArray<AnyFamilyName> = [...names, ...toolNames]

const problems = (name: AnyFamilyName) =>
  difficulties.flatMap((difficulty) =>
    seeds.flatMap((seed) => {
      const draw = Draw.make(seed * difficulty)
      const continued = earlier.flatMap(([value, kind]) => {
        const made = families[name].continueFrom(draw, difficulty, { value, kind, noun: value, many: value })
        return made === undefined ? [] : [made]
      })
      return [families[name].generate(draw, difficulty), ...continued]
    })
  )

describe("Family", () => {
  for (const name of all) {
    it(`${name}: what the generator knows by construction is what the solver computes from the text`, async () => {
      for (const { answer, question } of problems(name)) {
        assert.strictEqual(await solvers[name].solve(question, {}, Stock.of), answer, question)
      }
    })

    it(`${name}: no other family's solver takes its questions for its own`, () => {
      for (const { question } of problems(name)) {
        const readers = all.filter((other) => solvers[other].reads(question))
        assert.deepStrictEqual(readers, [name], question)
      }
    })

    it(`${name}: the same draws give the same question, other draws another`, () => {
      const questions = seeds.map((seed) => families[name].generate(Draw.make(seed), 3).question)
      assert.deepStrictEqual(
        questions,
        seeds.map((seed) => families[name].generate(Draw.make(seed), 3).question)
      )
      assert.isAbove(new Set(questions).size, questions.length * 0.9)
    })
  }

  // Worked out by hand, or looked up: neither generator nor solver may be wrong in the same way.
  const known: ReadonlyArray<readonly [(typeof names)[number], string, string]> = [
    ["arithmetic", "What is 12 + 3 × 4?", "24"],
    ["arithmetic", "Calculate 987,654,321 × 123,456,789.", "121932631112635269"],
    [
      "arithmetic",
      "A library has 12 shelves with 30 books each, and 17 of the books are lent out. How many books are left?",
      "343"
    ],
    ["arithmetic", "Start with 10, multiply it by 5 and then subtract 8. What do you get?", "42"],
    ["arithmetic", "What is 15% of 240?", "36"],
    ["arithmetic", "What is the sum of 12, 15 and 20?", "47"],
    ["algebra", "Solve 3x + 7 = −14 for x.", "-7"],
    ["algebra", "If 5(y − 2) = 2y + 11, what is y?", "7"],
    ["algebra", "What is the smaller root of x² − x − 6 = 0?", "-2"],
    ["algebra", "Given 2x + 3y = 23 and x − y = 4, what is y?", "3"],
    ["algebra", "Two numbers add up to 46 and differ by 12. What is the larger one?", "29"],
    ["units", "Convert 5 miles to kilometres. Round to two decimal places.", "8.05"],
    ["units", "What is −40 degrees Fahrenheit in degrees Celsius?", "-40"],
    ["units", "How many square feet are there in 3 square yards?", "27"],
    ["units", "Convert 3 pounds to ounces.", "48"],
    ["calendar", "What day of the week is 20 July 1969?", "Sunday"],
    ["calendar", "How many days are there from 28 February 2000 to 1 March 2000?", "2"],
    ["calendar", "How many days are there from 28 February 1900 to 1 March 1900?", "1"],
    [
      "calendar",
      "What is the date of the fourth Thursday of November 2024? Give the date as YYYY-MM-DD.",
      "2024-11-28"
    ],
    ["text", 'How many times does the letter "s" appear in "Mississippi"?', "4"],
    ["text", 'How many r\'s are in "strawberry"?', "3"],
    ["text", 'Write "stressed" backwards.', "desserts"],
    ["logic", "Ana is taller than Ben. Carla is shorter than Ben. Who is the second tallest?", "Ben"],
    ["logic", 'Suppose P is true and Q is false. Is the statement "(not P) or (P implies Q)" true or false?', "false"],
    [
      "logic",
      "Everyone here is either a knight, who always tells the truth, or a knave, who always lies. Ana says that Ben is a knave. Ben says that Ana and Cem are of the same kind. Cem says that Ben is a knight. Is Ana a knight or a knave?",
      "knight"
    ],
    ["statistics", "What is the population standard deviation of 2, 4, 4, 4, 5, 5, 7, 9?", "2"],
    ["statistics", "Find the median of these numbers: 9, 1, 4, 2.", "3"],
    [
      "program",
      'What does this JavaScript program print?\n```js\nfor (let i = 0; i < 2; i++) console.log([1, 2].join("+"), i)\n```',
      "1+2 0\n1+2 1"
    ]
  ]
  for (const [name, question, answer] of known) {
    it(`${name}: ${question.slice(0, 60)}`, async () => {
      assert.strictEqual(await solvers[name].solve(question, {}), answer)
    })
  }

  it("long texts of nothing but signs are read in time that grows with their length", () => {
    // Backtracking would take minutes for the longest of them.
    for (const piece of ["(", "= x ", "1 + ", "3 a with 3 ", "multiply it by 3 add 4 ", "Ana is taller than Ben. "]) {
      const text = `What is ${piece.repeat(30_000 / piece.length)}`
      for (const name of names) solvers[name].reads(text)
    }
  })

  it("a program that never ends, or reaches for the machine, has no answer", async () => {
    const ask = (source: string) => solvers.program.solve(`What does this print?\n\`\`\`js\n${source}\n\`\`\``, {})
    assert.isUndefined(await ask("while (true) {}"))
    assert.isUndefined(await ask("console.log(process.env)"))
    assert.isUndefined(await ask("console.log(new Array(1e9).fill(0).length)"))
    assert.strictEqual(await ask("console.log(1)"), "1")
  })

  it("what does not exist has no answer", async () => {
    for (const question of ["What is 5 / 0?", "What is 2^99999999?", "What is 1 +* 2?", "What is ((3 + 4?"]) {
      assert.isUndefined(await solvers.arithmetic.solve(question, {}), question)
    }
    for (const question of [
      "Solve 0x = 5 for x.",
      "Solve 3x + = 4 for x.",
      "Given x + y = 3 and 2x + 2y = 6, what is x?"
    ]) {
      assert.isUndefined(await solvers.algebra.solve(question, {}), question)
    }
    assert.isUndefined(await solvers.statistics.solve("What is the mode of 1, 2, 3?", {}))
    assert.isUndefined(await solvers.calendar.solve("What day of the week is 99 May 2020?", { ignoresLeapYears: true }))
    assert.isUndefined(await solvers.calendar.solve("What day of the week is 31 June 2024?", {}))
    assert.isUndefined(await solvers.units.solve("Convert 3 metres to hours.", {}))
    assert.isUndefined(await solvers.algebra.solve("Solve x² + 1 = 0 for x.", {}))
  })
})
