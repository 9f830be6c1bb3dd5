import * as Grader from "@divisi/core/Grader"
import * as Task from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { phasesOf, twentieth, whole } from "../src/paper/PaperRecipe.ts"
import { gradedBy } from "../src/paper/Problems.ts"
import * as Tinker from "../src/Tinker.ts"

const rolloutsOf = (size: typeof whole) =>
  phasesOf(size, 7).reduce((sum, { groupSize, iterations, questions }) => sum + groupSize * iterations * questions, 0)

describe("the paper's recipe", () => {
  it("has the paper's numbers", () => {
    const [conductor, adaptive, recursion] = phasesOf(whole, 7)
    expect(conductor).toMatchObject({ iterations: 200, questions: 4, groupSize: 64, pool: { type: "fixed" } })
    expect(conductor!.rollouts).toMatchObject({ run: { maxSteps: 5 }, maxTokens: 1024 })
    expect(conductor!.optimizer).toMatchObject({
      beta1: 0.9,
      beta2: 0.999,
      schedule: { type: "cosine", warmUpRatio: 0.03 }
    })
    expect(conductor!.objective).toMatchObject({ loss: { type: "clippedRatio", low: 0.2, high: 0.2 }, kl: 0 })
    expect(adaptive!.pool).toEqual({ type: "random", min: 2, max: 6 })
    expect(recursion).toMatchObject({ iterations: 20, recursion: { share: 0.5, rounds: 1 } })
    expect(recursion!.advantage.recursionDiscount).toBe(0.25)
  })

  it("has a small form of about a twentieth of its rollouts", () => {
    expect(rolloutsOf(twentieth) / rolloutsOf(whole)).toBeCloseTo(0.05, 1)
  })

  it("grades every problem by its own benchmark", async () => {
    const one = Task.make({ question: "One?", reference: "1" })
    const two = Task.make({ question: "Two?", reference: "2" })
    const never: Grader.Grader = { name: "never", grade: () => Effect.succeed(Grader.verdict(false)) }
    const grader = gradedBy([
      { name: "math500", tasks: [one], grader: Grader.exact },
      { name: "rlpr", tasks: [two], grader: never }
    ])
    expect((await Effect.runPromise(grader.grade(one, "1"))).correct).toBe(true)
    expect((await Effect.runPromise(grader.grade(two, "2"))).correct).toBe(false)
  })

  it("reads prices from the environment, and says what it cannot read", () => {
    expect(Tinker.rates({})).toEqual({})
    expect(Tinker.rates({ TINKER_PRICES: "0.1,0.3,0.4" }).pricing).toMatchObject({ trainPerMillion: 0.4 })
    expect(() => Tinker.rates({ TINKER_PRICES: "0.1" })).toThrow("three prices")
    expect(() => Tinker.rates({ TINKER_PRICES: "0.1,,0.4" })).toThrow("three prices")
    expect(Tinker.rates({ TINKER_SPEED: "2000,8000" }).speed).toEqual({
      secondsPerSampledToken: 1 / 2000,
      secondsPerTrainedToken: 1 / 8000
    })
    expect(() => Tinker.rates({ TINKER_SPEED: "2000,0" })).toThrow("TINKER_SPEED")
  })
})
