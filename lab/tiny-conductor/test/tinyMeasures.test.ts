import { Baselines } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import * as Markdown from "../src/tiny/Markdown.ts"
import * as Runs from "../src/tiny/Runs.ts"
import * as Sample from "../src/tiny/Sample.ts"

const pool = GymPool.make({ latencyMillis: 0 })

describe("Sample", () => {
  it.effect("counts calls, those that failed and were tried again included, and steps without them", () =>
    Effect.gen(function* () {
      const tasks = Gym.tasks({ split: "test", count: 60, families: ["units"] })
      const samples = yield* Sample.measure({ policy: Baselines.single("courier"), pool, tasks })
      const sum = Sample.summary(samples)
      expect(sum.right.mean).toBe(1)
      expect(sum.steps.mean).toBe(1)
      expect(sum.calls.mean).toBeGreaterThan(1.1)
      expect(sum.ownTokens.mean).toBe(0)
    })
  )

  it.effect("puts the workers in the same other order for the same task, whatever the policy", () =>
    Effect.gen(function* () {
      const tasks = Gym.tasks({ split: "test", count: 40 })
      const orders = (name: string) => {
        const seen: Array<string> = []
        const policy = Policy.fixed(name, (pool) => {
          seen.push(pool.workers.map(({ id }) => id).join())
          return { steps: [{ worker: 0, subtask: "", access: [] }] }
        })
        return Effect.map(Sample.measure({ policy, pool, tasks }), () => seen)
      }
      const [first, second] = [yield* orders("first"), yield* orders("second")]
      expect(first.toSorted()).toEqual(second.toSorted())
      expect(new Set(first).size).toBe(tasks.length)
    })
  )

  it("gives the error of a ratio by its residuals", () => {
    const { mean, standardError } = Sample.ratio([
      [1, 1],
      [3, 1],
      [2, 2]
    ])
    // 6 / 4; residuals -0.5, 1.5, -1 have the standard error √(3.5 / 2 / 3), and the mean below is 4 / 3.
    expect(mean).toBe(1.5)
    expect(standardError).toBeCloseTo(Math.sqrt(3.5 / 6) / (4 / 3), 12)
    const twice = [
      [2, 1],
      [4, 2]
    ] as const
    expect(Sample.ratio(twice).standardError).toBe(0)
  })
})

describe("Markdown", () => {
  it("fills a place again and again and leaves the rest", () => {
    const page = "a\n<!-- tiny:x -->\nold\n<!-- /tiny:x -->\nb"
    const filled = Markdown.fill(Markdown.fill(page, "x", "first"), "x", "$& second\n")
    expect(filled).toBe("a\n<!-- tiny:x -->\n$& second\n<!-- /tiny:x -->\nb")
    expect(() => Markdown.fill(page, "y", "")).toThrow('no place for "y"')
  })

  it("shows no error where there is none, and the sign of differences", () => {
    expect(Markdown.percent({ mean: 0.126, standardError: 0.0123 }, true)).toBe("+12.6 ± 1.2")
    expect(Markdown.number({ mean: 2, standardError: Number.NaN })).toBe("2.00")
    expect(Markdown.percent({ mean: Number.NaN, standardError: Number.NaN })).toBe("–")
  })
})

describe("Runs", () => {
  it("reads names and their seeds", () => {
    expect(Runs.named("whole#1=runs/a,no warm start=runs/b=c")).toEqual([
      { name: "whole#1", value: "runs/a" },
      { name: "no warm start", value: "runs/b=c" }
    ])
    expect(Runs.settingOf("whole#1")).toBe("whole")
    expect(() => Runs.named("runs/a")).toThrow("name=value")
    expect(Runs.overSeeds([undefined, 1])).toEqual({ mean: 1, standardError: Number.NaN })
  })
})
