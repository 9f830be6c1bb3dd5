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
  ["How many minutes are there in 3 days minus 2 hours?", "4200"],
  ["the average of 3, 5 and ten", "6"],
  ["10 / 3 rounded to two decimals", "3.33"],
  ['Reverse "hello" and remove the l\'s', "oeh"],
  ["2 + 2 in binary", "100"],
  ['How many vowels are in "hello" and "world"?', "3"],
  ["7 squared", "49"],
  ["17 mod 5", "2"],
  ["What is the remainder when 17 is divided by 5?", "2"],
  ["square root of 1764", "42"],
  ["Is 91 prime?", "no"],
  ["7 factorial", "5040"],
  ["What is 5!", "120"],
  ["three plus ten", "13"],
  ["What is twenty-five times four?", "100"],
  ["15 % tip on 80", "12"],
  ["20% off 45", "36"],
  ["sort these numbers: 5, 3, 10, 1", "1, 3, 5, 10"],
  ["What is 2 to the power of 10?", "1024"],
  ["What is the greatest common divisor of 12 and 18?", "6"],
  ["What is the least common multiple of 4 and 6?", "12"],
  ["What is the largest of 3, 9 and 4?", "9"],
  ["What is the difference between 15 and 4?", "11"],
  ["Is 10 greater than 5?", "yes"],
  ["Is 7 * 8 even?", "yes"],
  ["Round 3.14159 to two decimals", "3.14"],
  ["What is 255 in hexadecimal?", "ff"],
  ["How many seconds are in an hour?", "3600"],
  ["How many days pass from 1 March 2031 to 5 April 2031, both included?", "36"],
  ["What is twice the median of 4, 8, 1, 9?", "12"],
  ["What is the mean of 3, 5, 9 without 5?", "6"],
  ["Hi team, what is 2 + 2? Thanks!", "4"],
  ["What date is 50 days after 3 May 2027? Give the date as YYYY-MM-DD. Take your time.", "2027-06-22"],
  ["Convert 3 days to minutes, then add 50.", "4370"],
  ["What is 15% of 80? Add 7 to the result, then divide it by 2, rounded up.", "10"],
  ["First, how many days are in 2 weeks? Then multiply that by 37, rounded to tens.", "520"],
  ["How many days are in 2 weeks? Multiply the result by 37 and round it to tens.", "520"],
  ["What is 17 mod 5? Then square the result and add 1.", "5"],
  ["1 million divided by 4", "250000"],
  ["2.5 thousand plus 1", "2501"],
  ["a dozen times four", "48"],
  ["what is pi times 2", "6.28318530718"],
  ["What is two thirds of 60?", "40"],
  ["What is 3/8 of 40?", "15"],
  ["2/3 as a percentage, to the nearest tenth", "66.7"],
  ["Add 10% to 200", "220"],
  ["Take 15% off 80 dollars", "68"],
  ["What percent of 80 is 20?", "25"],
  ["30 is 60% of what number?", "50"],
  ["split $90 between 3 people", "30"],
  ["What is 5 less than 20?", "15"],
  ["what comes after 9", "10"],
  ["sum of 1 to 10", "55"],
  ["Sum of the first 10 positive integers", "55"],
  ["sum of the even numbers from 3 to 9", "18"],
  ["area of a 3 by 4 rectangle", "12"],
  ["round 3.7", "4"],
  ["Round 7.2 up", "8"],
  ["absolute value of -12", "12"],
  ["What is the reciprocal of 8?", "0.125"],
  ["Is 144 a perfect square?", "yes"],
  ["sort 3 -1 2", "-1, 2, 3"],
  ["20 degrees C in F", "68"],
  ["uppercase abc", "ABC"],
  ['How many letters are in "naïve"?', "5"],
  ['How many letters are in "日本語"?', "3"],
  ['How many vowels are in "été"?', "2"],
  ['What is the last letter of "café"?', "é"],
  ['How many capital letters are in "ÄPFEL"?', "5"],
  ['How many times does "é" appear in "élevé"?', "2"],
  ['Reverse "cafe\u0301".', "éfac"],
  ['Reverse "👍🏽 ok".', "ko 👍🏽"],
  ['Reverse "été" and remove the vowels.', "t"],
  ['Reverse "1,000 × 2".', "2 × 000,1"],
  ['Reverse "abc 00".', "00 cba"],
  ['What is the second word of "wait - what, who"?', "what"],
  ['How many words are in " well -  that is it "?', "4"],
  ['Sort the words "Zebra apple" alphabetically. Which word comes first?', "apple"],
  ['Join the first letters of the words "(big) red".', "br"],
  ['Write "Hello" in lowercase', "hello"],
  ['Remove the vowels from "computer"', "cmptr"],
  ['Is "level" a palindrome?', "yes"],
  ['What is the last letter of "orange"?', "e"],
  ['How many times does "a" appear in "abracadabra"?', "5"],
  ["how many r in strawberry", "3"],
  ["I have 3 apples and buy 4 more. How many do I have?", "7"],
  ["Tom has 12 sweets and gives away 5. How many sweets are left?", "7"],
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
  " \n ",
  "What is 2 + 2, and why?",
  "How many days pass from 1 March 2031 to 5 April 2031, excluding weekends?",
  'How many vowels are in "hello" but not in "world"?',
  "Multiply 6 by 7. Do not add 5.",
  "What comes after 2, 4, 6?",
  "sum of the prime numbers from 1 to 10",
  "sort 10 - 2",
  "split $90 between 3 people and 2 dogs",
  "What is the last but one letter of house?",
  'What is the 0th letter of "hello"?',
  "What is 3!!?",
  "Tom has 12 sweets and buys 5 apples. How many sweets does he have?",
  "Tom has 12 sweets and gives away 5. How many did he give away?",
  "Tom has 12 sweets and eats 5. How many apples are left?",
  "Tom has 3 sweets and gets 4 more than Ann. How many does he have?",
  "Solve x² − 5x + 6 = 0 without the smaller one.",
  "What does this program print, without the last line?\n```js\nconsole.log(1)\n```",
  // Ten kilobytes with numbers in them, some of them sums.
  `${"Rome was founded in 753 BC, and 1,229 years later, in 476, the West fell. An army had 6 legions of 5,000 men each. ".repeat(90)}How did it fall?`
]

/** Questions that people understand differently, with the part that the refusal names. */
const ambiguous: ReadonlyArray<readonly [question: string, named: string]> = [
  ["What is half of 10 plus 4?", "half of 10 plus 4"],
  ["What is 3 plus 4 squared?", "3 plus 4 squared"],
  ["What is 2/3 of 12 plus 3?", "2/3 of 12 plus 3"],
  ["What is 5 less than 20 plus 3?", "What is 5 less than 20 plus 3?"],
  ["absolute value of -3 plus 5", "absolute value of -3 plus 5"],
  ["What is the average of 2, 4 and 6 plus 1?", "What is the average of 2, 4 and 6 plus 1?"],
  ["Convert 3 days to minutes plus 5", "Convert 3 days to minutes plus 5"],
  ["What is the difference between 4 and 15?", "difference between 4 and 15"],
  ["Divide 20 by 4 plus 1.", "Divide 20 by 4 plus 1"],
  ["Double 3 minus 4", "Double 3 minus 4"],
  ["What is -3 squared?", "-3 squared"],
  ["What is the mode of 1, 2 and 3?", "the mode of 1, 2, 3"],
  ['How many e\'s are in "été"?', "été"],
  ['How many vowels are in "привет"?', "привет"],
  ['Remove the consonants from "straße".', "straße"],
  ['Is "Ésope reste ici et se repose" a palindrome?', "Ésope reste ici et se repose"]
]

describe("questions of newcomers", () => {
  const conductor = Conductor.make({
    policy: GymQuestion.declining(LexicalPolicy.make()),
    pool: GymPool.make({ latencyMillis: 0, mistakes: false })
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

  it.each([
    [
      "First, how many days pass from 20 July 1969 until 9 November 1989? Then what is 10 percent of it?",
      ' Not understood here: "Then what is 10 percent of it?".'
    ],
    ["What is the capital of France?", ""]
  ])("names the sentences that are not understood: %s", (question, named) =>
    assert.strictEqual(GymQuestion.whyNot(question), `${GymQuestion.notUnderstood}${named}`)
  )

  for (const [question, named] of ambiguous) {
    it(`"${question}" is declined as ambiguous`, async () => {
      const { detail, ending, spend } = await run(question)
      assert.deepStrictEqual([ending, spend.calls], ["refused", 0])
      assert.strictEqual(
        detail?.toLowerCase(),
        `This question can be understood in more than one way: "${named}". Say which one is meant, for example with parentheses.`.toLowerCase()
      )
    })
  }

  it.each([
    ["What is (half of 10) plus 4?", "9"],
    ["What is half of (10 plus 4)?", "7"],
    ["Divide 20 by 4, plus 1.", "6"]
  ])("answers an ambiguous question once it is clear: %s", async (question, answer) =>
    assert.strictEqual((await run(question)).answer, answer)
  )

  it("names the words that are not understood", () => {
    assert.include(GymQuestion.whyNot("What is 17% of 2,350, in words?"), 'Not understood here: "in", "words".')
    assert.include(GymQuestion.whyNot('How many vowels are in "hello" or "world"?') ?? "", "cannot answer")
  })

  it("reads a numbered list on one line", async () => {
    const list =
      "1. How many days are in 5 weeks? 2. What is 17 mod 5? 3. Add the answer to part 1 to the answer to part 2."
    const { answer } = await run(list)
    assert.strictEqual(answer, "37")
    assert.strictEqual((await run(list.replaceAll("? ", "?\n"))).answer, answer)
  })

  it("declines two questions at once, of which it would answer the last", async () => {
    const { detail, ending, spend } = await run("What is 6 * 7? Then, how many days are in 2 weeks?")
    assert.deepStrictEqual([ending, spend.calls], ["refused", 0])
    assert.include(detail, "several questions")
    assert.include(GymQuestion.whyNot("What is 6 * 7? How many days are in 2 weeks?"), "several questions")
  })

  it("declines a question that leaves its answer open", async () => {
    for (const question of [
      "Ana is taller than Ben. Carl is taller than Ben. Who is the tallest?",
      "Ana says that Ben is a knight. Is Ana a knight or a knave?",
      "What is the difference between 4 and 15?"
    ]) {
      assert.strictEqual((await run(question)).answer, undefined, question)
    }
  })
})
