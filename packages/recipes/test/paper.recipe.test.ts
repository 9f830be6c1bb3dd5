import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Grader } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { phasesOf, twentieth, whole } from "../src/paper/PaperRecipe.ts"
import { gradedBy, load } from "../src/paper/Problems.ts"
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

  it("asks as the paper does in training, and learns no row of a test", async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-problems-"))
    const fixture = (name: string) => new URL(`../../evals/test/fixtures/${name}.jsonl`, import.meta.url)
    const files = {
      math500: "math500",
      "mmlu-auxiliary-train": "mmlu",
      rlpr: "rlpr",
      "livecodebench-v1": "livecodebench"
    }
    for (const [name, from] of Object.entries(files)) fs.copyFileSync(fixture(from), path.join(folder, `${name}.jsonl`))
    const environment = ConfigProvider.layer(ConfigProvider.fromUnknown({ DIVISI_BENCHMARKS: folder }))
    const problems = await Effect.runPromise(Effect.provide(load({ limit: 2, seed: 1 }), environment))
    fs.rmSync(folder, { recursive: true })
    expect(problems.map(({ grader, name, tasks }) => [name, grader.name, tasks.length])).toEqual([
      ["math500", "math500", 2],
      ["mmlu-auxiliary-train", "letter", 2],
      ["rlpr", "rlpr-strict", 2],
      ["livecodebench-v1", "livecodebench", 2]
    ])
    for (const { name, tasks } of problems.slice(0, 3)) {
      for (const { id, messages } of tasks) {
        expect(messages.at(-1)!.content, name).toContain("<answer>")
        expect(id).not.toContain("mmlu/test/")
      }
    }
    expect(problems[1]!.tasks[0]!.id).toMatch(/^mmlu\/auxiliary_train\//)
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
