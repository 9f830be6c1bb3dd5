import * as Task from "@divisi/core/Task"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as GymGrader from "../src/GymGrader.ts"

const right: ReadonlyArray<readonly [string, string]> = [
  ["42", "42"],
  ["1,234", "1234"],
  ["1234.50", "1234.5"],
  ["−7", "-7"],
  ["0042.0", "42"],
  ["It takes a while.\nAnswer: **42** days.", "42"],
  ["First the answer is 41, but no: the answer is 42.", "42"],
  ["8.05 kilometres per hour", "8.05"],
  ["14 March 2031", "2031-03-14"],
  ["the 4th of March 2031", "2031-03-04"],
  ["March 14, 2031", "2031-03-14"],
  ["tuesday", "Tuesday"],
  ["A knave.", "knave"],
  ["True", "true"],
  ["121932631112635269", "121932631112635269"]
]

const wrong: ReadonlyArray<readonly [string, string]> = [
  ["41 or 42", "42"],
  ["42 43", "42"],
  ["not 42", "42"],
  ["-42", "42"],
  ["", "42"],
  ["4.2", "42"],
  ["8.050001", "8.05"],
  ["121932631112635270", "121932631112635269"],
  ["2031-03-15", "2031-03-14"],
  ["3 April 2031", "2031-03-04"],
  ["I cannot do this: this is units, and I only do calendar.", "true"],
  ["true or false", "true"],
  ["Answer: 42\nAnswer: 43", "42"]
]

describe("GymGrader", () => {
  it("an answer is right however it is written", () => {
    for (const [answer, reference] of right) assert.isTrue(GymGrader.isCorrect(answer, reference), answer)
  })

  it("an answer that says something else, or two things, is wrong", () => {
    for (const [answer, reference] of wrong) assert.isFalse(GymGrader.isCorrect(answer, reference), answer)
  })

  it("an answer of a million marks is read within a reasonable time", () => {
    const many = (text: string) => text.repeat(1_000_000)
    for (const mark of ["!", '"', "**", "*.", "0", "1,"]) {
      assert.isFalse(GymGrader.isCorrect(`x${many(mark)}x`, "x"))
      assert.isFalse(GymGrader.isCorrect(`0.${many(mark)}1`, "0"))
    }
    assert.isTrue(GymGrader.isCorrect(`${many("**")}7 days${many("!")}`, "7"))
  })

  it.effect("grades a task, and gives no verdict where there is no reference", () =>
    Effect.gen(function* () {
      const task = Task.make({ question: "What is 6 times 7?", reference: "42" })
      const grade = yield* GymGrader.grader.grade(task, "The answer is 42.")
      assert.deepStrictEqual(grade, { correct: true, score: 1 })
      const error = yield* Effect.flip(GymGrader.grader.grade(Task.make("What is 6 times 7?"), "42"))
      assert.strictEqual(error._tag, "GraderError")
    })
  )
})
