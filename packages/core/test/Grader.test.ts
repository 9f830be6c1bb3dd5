import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Grader from "../src/task/Grader.ts"
import * as Task from "../src/task/Task.ts"

describe("Grader", () => {
  it.effect("exact forgives white space, case and a full stop, and nothing else", () =>
    Effect.gen(function* () {
      const task = Task.make({ question: "Capital of France?", reference: "Paris" })
      const isRight = (answer: string) => Effect.map(Grader.exact.grade(task, answer), ({ correct }) => correct)
      for (const answer of ["Paris", " paris.\n", "PARIS!"]) assert.isTrue(yield* isRight(answer), answer)
      for (const answer of ["Par is", "Paris, France", "", "?"]) assert.isFalse(yield* isRight(answer), answer)
    })
  )

  it.effect("exact reads an answer of a million full stops quickly", () =>
    Effect.gen(function* () {
      const stops = ".".repeat(1_000_000)
      const task = Task.make({ question: "?", reference: `x${stops}x` })
      assert.isTrue((yield* Grader.exact.grade(task, `X${stops}x${stops}`)).correct)
      assert.isFalse((yield* Grader.exact.grade(task, `x${stops}`)).correct)
    })
  )

  it.effect("a task that cannot be graded is an error, not a wrong answer", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Grader.exact.grade(Task.make({ question: "Why?", id: "why" }), "Because"))
      assert.strictEqual(error.message, 'The grader "exact" cannot grade "why": the task has no reference answer.')
    })
  )

  it("rewards as the paper does", () => {
    assert.deepStrictEqual((["unreadable", "wrong", "correct"] as const).map(Grader.reward), [0, 0.5, 1])
  })
})

describe("Task", () => {
  it("has the same id for the same question, and another for another", () => {
    assert.strictEqual(Task.make("Why?").id, Task.make({ question: "Why?" }).id)
    assert.notStrictEqual(Task.make("Why?").id, Task.make("How?").id)
    assert.notStrictEqual(Task.make("Why?").id, Task.make({ question: "Why?", system: "Be brief." }).id)
  })

  it("asks the last thing the user said", () => {
    const conversation = Task.make({
      id: "conversation",
      messages: [
        { role: "user", content: "Hello" },
        { role: "assistant", content: "Hello!" },
        { role: "user", content: "Why?" }
      ]
    })
    assert.strictEqual(Task.question(conversation), "Why?")
  })
})
