import { assert, describe, it } from "@effect/vitest"
import { partsOf } from "../src/internal/partsOf.ts"

const needsOf = (question: string) => partsOf(question).map(({ needs }) => needs)

describe("the parts of a question", () => {
  it("a part that names its own answer needs no earlier one for that", () => {
    assert.deepStrictEqual(
      needsOf(
        "Convert 599.3 days to minutes. Call the answer M. What is the median of 9, 4 and 7? Call the answer N. What is M + N × 97?"
      ),
      [[], [], [0, 1]]
    )
  })

  it("what a part says of its own code or numbers is no reference", () => {
    assert.deepStrictEqual(
      needsOf(
        "1. How many days are there from 2025-09-08 to 18 October 2025?\n2. What is the output of this JavaScript program?\n```js\nlet result = 4\nconsole.log(result)\n```\n3. Given the values 58, 98, 66, what is their range?\n4. What is the answer to part 1 × the answer to part 2 + 72?\nGive only the last answer."
      ),
      [[], [], [], [0, 1]]
    )
  })

  it("a calculation in two requests is one part", () => {
    assert.deepStrictEqual(
      needsOf(
        "If 3y + 16 = 43, what is y? Call the answer M. Express 199 litres in millilitres. Call the answer N. Add M to N and multiply the sum by 19. What do you get?"
      ),
      [[], [], [0, 1]]
    )
  })

  it("what refers to the answer before needs it, also with numbers of its own", () => {
    assert.deepStrictEqual(
      needsOf(
        "How many minutes are there in 7 hours and 4 minutes? Add that number to the list 187, 214, 90. What is the median of the new list? Multiply that number by 28 and add 54."
      ),
      [[], [0], [1]]
    )
    assert.deepStrictEqual(needsOf("What is 3 × 4? Which date is 12 days after the result?"), [[], [0]])
  })
})
