/** Questions as people type them: those that the gym can do are answered, and the others are declined unasked. */
import * as Conductor from "@divisi/core/Conductor"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import * as GymGrader from "../src/GymGrader.ts"
import * as GymPool from "../src/GymPool.ts"
import * as GymQuestion from "../src/GymQuestion.ts"

const answered: ReadonlyArray<readonly [question: string, answer: string]> = [
  ["2+2", "4"],
  ["2 + 2 = ?", "4"],
  ["7*8", "56"],
  ["(3+4)*5", "35"],
  ["12.5% of 80", "10"],
  ["What is 17% of 2,350?", "399.5"],
  ["what is 15 percent of 200", "30"],
  ["What is 100 minus 37?", "63"],
  ["Divide 144 by 12.", "12"],
  ["3x+5=20", "5"],
  ["x + 3 = 10", "7"],
  ["Solve 2x - 4 = 10", "7"],
  ["Convert 5 miles to kilometres", "8.04672"],
  ["How many minutes are there in 3 days?", "4320"],
  ["What day of the week was 20 July 1969?", "Sunday"],
  ["How many days pass from 1 March 2031 to 5 April 2031?", "35"],
  ["Reverse the word stressed", "desserts"],
  ["How many times does the letter r appear in strawberry?", "3"],
  ["What is the median of 4, 8, 1, 9?", "6"],
  ["Ann is taller than Bob. Bob is taller than Cid. Who is the tallest?", "Ann"],
  ["How many days are in 2 weeks? Multiply the result by 37.", "518"],
  ["Convert 3 days to minutes, then add 50 to it.", "4370"],
  ["What is 15% of 80? Add 7 to the result, then divide it by 2.", "9.5"],
  ["What is 25% of 480? Then spell the result backwards.", "21"],
  ["What day of the week was 20 July 1969? How many letters does it have?", "6"],
  ["How many minutes are there in 3 days? How many days are in 2 weeks? Add up both results.", "4334"],
  ["How many minutes are there in 3 days? And what is 37 * 41? What is the sum of both answers?", "5837"],
  ["How many days are there in 3 weeks, and how many seconds are in 2 hours? Multiply both results.", "151200"],
  ["What is 12 * 4? What is 37 * 41? Add up the two.", "1565"],
  ["Double 21 and subtract 2.", "40"],
  ["What day of the week was 20 July 1969? Say how many letters it has.", "6"],
  ["What is 37 * 41? Then say how many digits it has.", "4"],
  [
    "\n\n1) What is 6 * 7?\n\n\n  2) How many days are in 2 weeks?\n\n3) Add the answer to part 1 to the answer to part 2.\n",
    "56"
  ]
]

const declined: ReadonlyArray<string> = [
  "What is the capital of France?",
  "Write a haiku about autumn.",
  "Who wrote Hamlet?",
  "你好，请介绍一下自己",
  'Translate "good morning" into German.',
  "Hello",
  "Tell me a joke",
  "Why is the sky blue?",
  "Write a Python function that reverses a list.",
  "Summarise the plot of Moby-Dick in two sentences.",
  "What is the population of Japan?",
  "Who won the 2022 World Cup?",
  "How do I cook rice?",
  "Recommend a book about Rome, at most 300 pages.",
  "Take 2 tablets and call me in the morning.",
  "Plan a 3-day trip to Lisbon for 2 people.",
  "Write a haiku about a match that ended 3 - 2.",
  "My train left at 10:30 and took 2 hours - when did I arrive?",
  "What is 17% of 2,350, in words?",
  "Add the two numbers that I told you.",
  "It takes me 2 hours. Double it and tell me when I arrive.",
  // Ten kilobytes with numbers in them, some of them sums.
  `${"Rome was founded in 753 BC, and 1,229 years later, in 476, the West fell. An army had 6 legions of 5,000 men each. ".repeat(90)}How did it fall?`
]

describe("questions of newcomers", () => {
  const conductor = Conductor.make({
    policy: GymQuestion.declining(LexicalPolicy.make()),
    pool: GymPool.make({ latencyMillis: 0 })
  })
  const run = (question: string) => Effect.runPromise(conductor.run(question))

  for (const [question, answer] of answered) {
    it(`"${question}" is answered rightly`, async () => {
      const result = await run(question)
      assert.isTrue(GymGrader.isCorrect(result.answer ?? "", answer), `${result.ending}: ${result.answer}`)
    })
  }

  for (const question of declined) {
    it(`"${question.slice(0, 60)}" is declined before anybody is paid`, async () => {
      const { answer, detail, ending, spend } = await run(question)
      assert.deepStrictEqual([ending, answer, spend.calls], ["refused", undefined, 0])
      assert.strictEqual(detail, GymQuestion.whyNot(question))
      assert.isTrue(detail?.startsWith(GymQuestion.notUnderstood), detail)
    })
  }
})
