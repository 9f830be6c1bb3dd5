/** The offline team answers what was asked, or says which words it does not understand. */
import { assert, describe, it } from "vitest"
import { divisi } from "./process.ts"

const answered: ReadonlyArray<readonly [question: string, answer: string]> = [
  ["How many minutes are there in 3 days minus 2 hours?", "4200"],
  ['How many vowels are in "hello" and "world"?', "3"],
  ["10 / 3 rounded to two decimals", "3.33"],
  ["sort these numbers: 5, 3, 10, 1", "1, 3, 5, 10"],
  [
    "First, how many days pass from 20 July 1969 until 9 November 1989? Then multiply that by 12, rounded to tens.",
    "89000"
  ]
]

const declined: ReadonlyArray<readonly [question: string, words: RegExp]> = [
  ["How many days pass from 20 July 1969 until 9 November 1989, not counting Sundays?", /"not", "counting", "Sundays"/],
  ["How many days are in 2 weeks? Multiply the result by 37, except if it is odd.", /"except"/],
  ["What is 12 * 4? Then, how many days are in 2 weeks?", /contains several questions/]
]

describe.concurrent("divisi run without a pool", () => {
  for (const [question, answer] of answered) {
    it(`answers "${question.slice(0, 60)}"`, async () => {
      const { code, output } = await divisi(["run", question, "--config", "none"])
      assert.deepStrictEqual([code, output], [0, `${answer}\n`])
    })
  }

  for (const [question, words] of declined) {
    it(`declines "${question.slice(0, 60)}" and says why`, async () => {
      const { code, errors, output } = await divisi(["run", question, "--config", "none"])
      assert.deepStrictEqual([code, output], [4, ""])
      assert.match(errors.replace(/\s+/g, " "), words)
      assert.match(errors, /refused in .* · 0 calls/)
    })
  }
})
