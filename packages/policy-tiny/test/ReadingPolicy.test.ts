import { assert, describe, it } from "@effect/vitest"
import { partsOf } from "../src/internal/partsOf.ts"

const textsOf = (question: string) => partsOf(question).map(({ text }) => text)

describe("ReadingPolicy", () => {
  it("greetings and ways to answer are no parts of a question", () => {
    assert.deepStrictEqual(
      textsOf("What date is 50 days after 3 May 2027? Give the date as YYYY-MM-DD. Take your time."),
      ["What date is 50 days after 3 May 2027? Give the date as YYYY-MM-DD. Take your time."]
    )
    const numbered = "One more: 1. How many days are there in 3 weeks?\n2. What is 17 times that number?"
    assert.lengthOf(partsOf(numbered), 2)
    assert.deepStrictEqual(partsOf(numbered)[1]!.needs, [0])
  })
})
