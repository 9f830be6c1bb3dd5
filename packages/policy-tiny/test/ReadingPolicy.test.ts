import { assert, describe, it } from "@effect/vitest"
import { mentions, namesOf, partsOf } from "../src/internal/partsOf.ts"

const textsOf = (question: string) => partsOf(question).map(({ text }) => text)

describe("ReadingPolicy", () => {
  it("greetings and ways to answer are not parts of a question", () => {
    assert.deepStrictEqual(
      textsOf("What date is 50 days after 3 May 2027? Give the date as YYYY-MM-DD. Take your time."),
      ["What date is 50 days after 3 May 2027? Give the date as YYYY-MM-DD. Take your time."]
    )
    const numbered = "One more: 1. How many days are there in 3 weeks?\n2. What is 17 times that number?"
    assert.lengthOf(partsOf(numbered), 2)
    assert.deepStrictEqual(partsOf(numbered)[1]!.needs, [0])
  })

  it("a calculation in two requests is one part", () => {
    const question =
      "If 3y + 16 = 43, what is y? Call the answer M. Express 199 litres in millilitres. Call the answer N. Add M to N and multiply the sum by 19. What do you get?"
    assert.lengthOf(partsOf(question), 3)
    assert.lengthOf(
      partsOf("Hi, find the product of 264,536 and 4, and subtract 68,406 from it. What is the total? :)"),
      1
    )
    assert.lengthOf(partsOf("Find the product of 12 and 9. Then, convert it from weeks to days."), 2)
    assert.lengthOf(partsOf('Sort the words "copper amber lemon" alphabetically. Which word comes 2nd?'), 1)
  })

  it("a part speaks of a name where it does not give it", () => {
    assert.deepStrictEqual(namesOf("What is 3 × 4? Call the answer N."), ["N"])
    assert.isFalse(mentions("What is 3 × 4? Call the answer N.", "N"))
    assert.isTrue(mentions("What is M + N × 97? Call the answer K.", "N"))
    assert.isFalse(mentions("Name it N.", "Na"))
  })
})
