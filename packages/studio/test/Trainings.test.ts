/** The curves of a training's page. */
import { describe, expect, it } from "vitest"
import { Trainings } from "../src/index.ts"
import * as Series from "../src/training/Series.ts"

const grpo = (iteration: number, rewardMean: number, more: object = {}) =>
  ({
    type: "grpo",
    iteration,
    groups: 4,
    rollouts: 32,
    rewardMean,
    rewardStd: 0.1,
    correct: rewardMean,
    parsed: 1,
    steps: 2,
    surprisal: 1,
    zeroVariance: 0,
    costUsd: 0.1 * iteration,
    seconds: { total: 1 },
    kinds: { sums: { rollouts: 32, correct: rewardMean, workers: { a: 3, b: 1 } } },
    ...more
  }) as unknown as Trainings.Metrics

const many = (rewards: ReadonlyArray<number>, more?: (index: number) => object) =>
  rewards.map((reward, index) => grpo(index, reward, more?.(index)))

describe("smoothing", () => {
  it("starts at the first value, keeps gaps, and is exact with a weight of 0", () => {
    expect(Trainings.smooth([1, undefined, 3], 0)).toEqual([1, undefined, 3])
    expect(Trainings.smooth([1, 1, 1], 0.9).map((value) => value?.toFixed(6))).toEqual([
      "1.000000",
      "1.000000",
      "1.000000"
    ])
    expect(Trainings.smooth([2, undefined, 4], 0.5)[2]).toBeCloseTo((0.5 * 0.5 * 2 + 0.5 * 4) / 0.75)
  })
})

describe("the finding", () => {
  it.each([
    [[0.2, 0.5, 0.9], "Reward rose from 0.20 to 0.90 in 3 iterations"],
    [[0.9, 0.5, 0.2], "Reward fell from 0.90 to 0.20 in 3 iterations"],
    [[0.2], "Reward 0.20 in the first iteration"],
    [[0.5, 0.5, 0.51], "Reward did not change clearly: from 0.50 to 0.51 in 3 iterations"]
  ])("of the rewards %o", (rewards, title) => {
    expect(Series.findingOf(many(rewards)).title).toBe(title)
  })

  it("names the iteration from which most groups teach nothing", () => {
    const metrics = many([0.2, 0.9, 0.9, 0.9], (index) => ({ zeroVariance: index < 2 ? 2 : 3 }))
    expect(Series.findingOf(metrics).detail).toContain("From iteration 2 on")
  })

  it("counts the iterations of the warm start separately", () => {
    const warm = { type: "warm-start", iteration: 0, tokenLoss: 1 } as unknown as Trainings.Metrics
    expect(Series.findingOf([warm, ...many([0.2, 0.5, 0.9])]).title).toBe(
      "Reward rose from 0.20 to 0.90 in 3 iterations after a warm start of 1"
    )
  })

  it("is the warm start before the first iteration of reinforcement learning", () => {
    const warm = { type: "warm-start", iteration: 0, tokenLoss: 1 } as unknown as Trainings.Metrics
    expect(Series.findingOf([warm]).title).toBe("1 iteration of the warm start")
  })
})

describe("charts", () => {
  it("have a band of one standard deviation, and leave out what has no value", () => {
    const charts = Series.chartsOf(many([0.2, 0.4]))
    expect(charts[0]!.series[0]!.points[0]).toMatchObject({ x: 0, y: 0.2, low: 0.1, high: expect.closeTo(0.3) })
    expect(charts.map(({ title }) => title)).not.toContain("Held-out evaluation")
    expect(Series.chartsOf([])).toEqual([])
  })

  it("join neighbouring iterations with the same most frequent shape", () => {
    const shapes = ["a", "a", "a > b"].map((most, index) => ({ shapes: { most, share: index / 2, entropy: 1 } }))
    expect(Series.shapeSpans(many([0, 0, 0], (index) => shapes[index]!))).toMatchObject([
      { from: 0, to: 1, shape: "a", share: 0.25 },
      { from: 2, to: 2, shape: "a > b", share: 1 }
    ])
  })

  it("have a point of a single iteration", () => {
    const [reward] = Series.chartsOf([grpo(0, 1)])
    expect(reward).toMatchObject({ title: "Reward", series: [{ points: [{ x: 0, y: 1 }] }] })
  })

  it("show shares and other measures of the held-out evaluation separately", () => {
    const evaluation = { accuracy: 0.5, calls: 1.5 }
    const charts = Series.chartsOf(many([0, 1], () => ({ evaluation })))
    const namesIn = (title: string) => charts.find((one) => one.title === title)?.series.map(({ name }) => name)
    expect(namesIn("Held-out evaluation")).toEqual(["accuracy"])
    expect(namesIn("Held-out evaluation, other measures")).toEqual(["calls"])
  })

  it("show rounds only if there are several", () => {
    const rounds = (count: number) => ({
      rounds: Array.from({ length: count }, (_, round) => ({ round, correct: 0.5 + round / 10 }))
    })
    const chartOf = (count: number) =>
      Series.chartsOf(many([0, 1], () => rounds(count))).find(({ title }) => title === "Correct by round")
    expect(chartOf(1)).toBeUndefined()
    expect(chartOf(2)?.series.map(({ name, points }) => [name, points[0]!.y])).toEqual([
      ["round 0", 0.5],
      ["round 1", 0.6]
    ])
  })

  it("count the steps of each worker, in all and by kind, also of a kind with the name of the sum", () => {
    const kinds = { sums: { workers: { a: 3, b: 1 } }, "all tasks": { workers: { a: 1 } }, none: { workers: {} } }
    const found = Series.workersByKind(many([0, 0], () => ({ kinds })))
    expect(found.map(({ kind, steps }) => [kind, Object.fromEntries(steps)])).toEqual([
      ["all kinds", { a: 8, b: 2 }],
      ["all tasks", { a: 2 }],
      ["none", {}],
      ["sums", { a: 6, b: 2 }]
    ])
  })

  it("name the phases with their iterations", () => {
    const phases = ["warm", "warm", "learn"]
    expect(Series.phasesOf(many([0, 0, 0], (index) => ({ phase: phases[index] })))).toEqual([
      { name: "warm", from: 0, to: 1 },
      { name: "learn", from: 2, to: 2 }
    ])
  })

  it("have the shares of the workers", () => {
    expect(Series.workerShares(many([0]))).toEqual({ workers: ["a", "b"], columns: [{ x: 0, shares: [0.75, 0.25] }] })
  })
})

it("the rollouts of an iteration are grouped, without their tokens", () => {
  const [group] = Trainings.groupsOf([
    { type: "group", group: 0, kind: "sums", messages: [], zeroVariance: true },
    { type: "completion", group: 0, rollout: 0, round: 0, completion: "text", tokens: [1, 2], result: "wrong" },
    { type: "completion", group: 9, rollout: 0, round: 0, completion: "of an unknown group", result: "wrong" }
  ])
  expect(group).toMatchObject({ kind: "sums", isFlat: true, completions: [{ completion: "text" }] })
  expect(group!.completions[0]).not.toHaveProperty("tokens")
})
