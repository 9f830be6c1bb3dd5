import { Seed } from "@divisi/core"
import { assert, describe, it } from "@effect/vitest"
import * as Report from "../src/report/Report.ts"
import { sample } from "./sample.ts"

const plan = (policies: ReadonlyArray<string>, epochs: number): Report.Plan => ({
  config: {
    policies: policies.map((name) => ({ name, isBaseline: false })),
    epochs,
    seed: 1,
    perQuestion: {},
    maxSteps: 5,
    recursion: 0,
    confidence: 0.95
  },
  benchmarks: [
    {
      benchmark: "mine",
      title: "Mine",
      isConfidential: false,
      grader: "text",
      prompt: "",
      licence: "",
      available: 1,
      selected: 1,
      idsSha256: ""
    } as unknown as Report.BenchmarkRecord
  ],
  pool: [],
  versions: {}
})

const extent: Report.Extent = { status: "complete", samples: 0, planned: 0, paidUsd: 0 }

/** One answer to a question of a worker that is right with this chance, and else says one of three wrong answers. */
const answer = (draw: Seed.Draw, chance: number): string =>
  Seed.chance(draw, chance) ? "right" : `wrong ${Seed.below(draw, 3)}`

const vote = (answers: ReadonlyArray<string>): string => {
  const counts = Map.groupBy(answers, (one) => one)
  return [...counts].toSorted(([, a], [, b]) => b.length - a.length)[0]![0]
}

interface World {
  readonly seed: number
  readonly questions?: number
  readonly epochs?: number
  /** The answer of the team. */
  readonly team: (draw: Seed.Draw, chance: number) => string
  /** Output tokens of the team, in answers of the worker. */
  readonly tokens: number
}

/** A worker and a team on the same questions, of which each has its own chance. */
const measured = ({ epochs = 5, questions = 120, seed, team, tokens }: World): Report.Report => {
  const draw = Seed.draw(seed)
  const samples = Array.from({ length: questions }, (_, index) => {
    const task = `q${index}`
    const chance = 0.3 + 0.6 * draw()
    return Array.from({ length: epochs }, (_, epoch) => {
      const alone = answer(draw, chance)
      const together = team(draw, chance)
      return [
        sample({ policy: "single:a", task, epoch, answer: alone, correct: alone === "right" }),
        {
          ...sample({ policy: "team", task, epoch, answer: together, correct: together === "right", worker: "b" }),
          outputTokens: 5 * tokens,
          calls: 2
        }
      ]
    }).flat()
  }).flat()
  return Report.make(plan(["team", "single:a"], epochs), samples, extent)
}

/** Reports of other questions, answers and teams, by seeds that were fixed beforehand. */
const reportsOf = (world: Omit<World, "seed">, seeds: number): ReadonlyArray<Report.Report> =>
  Array.from({ length: seeds }, (_, seed) => measured({ ...world, seed: 20_261_128 + seed }))

const verdictsOf = (world: Omit<World, "seed">, seeds: number) =>
  reportsOf(world, seeds).map(({ equalBudget }) => equalBudget![0]!)

const shareOf = (all: ReadonlyArray<Report.EqualBudget>, verdict: Report.EqualBudget["verdict"]): number =>
  all.filter((one) => one.verdict === verdict).length / all.length

describe("the verdict at equal tokens", () => {
  it("finds a team that is better than the votes that its tokens pay for", () => {
    const all = verdictsOf({ team: (draw) => answer(draw, 0.95), tokens: 3 }, 5)
    assert.strictEqual(shareOf(all, "worth-it"), 1)
    assert.deepStrictEqual([all[0]!.paid, all[0]!.votes, all[0]!.worker], [3, 3, "a"])
  })

  it("does not praise a team that is only a vote, although it is better than one answer", () => {
    const team = (draw: Seed.Draw, chance: number) => vote([1, 2, 3].map(() => answer(draw, chance)))
    const reports = reportsOf({ team, tokens: 3 }, 16)
    const verdicts = reports.map(({ equalBudget }) => equalBudget![0]!)
    assert.isAtMost(shareOf(verdicts, "worth-it"), 0.13)
    assert.isAbove(reports.filter(({ comparisons }) => comparisons[0]!.low! > 0).length, 12)
  })

  it("finds a team that is worse than the votes that its tokens pay for", () => {
    const all = verdictsOf({ team: answer, tokens: 5 }, 5)
    assert.strictEqual(shareOf(all, "not-worth-it"), 1)
  })

  it("does not praise a team against fewer answers than its tokens pay for", () => {
    const report = measured({ seed: 7, epochs: 2, team: (draw) => answer(draw, 0.95), tokens: 6.4 })
    const { paid, verdict, votes } = report.equalBudget![0]!
    assert.deepStrictEqual([paid, votes, verdict], [6.4, 2, "undecided"])
  })

  it("does not praise a vote of three whose tokens pay for almost three answers", () => {
    const team = (draw: Seed.Draw, chance: number) => vote([1, 2, 3].map(() => answer(draw, chance)))
    const verdicts = verdictsOf({ team, tokens: 2.9 }, 16)
    assert.isAtMost(shareOf(verdicts, "worth-it"), 0.13)
    assert.deepStrictEqual([verdicts[0]!.paid, verdicts[0]!.votes], [2.9, 2.9])
  })

  it("calls a team that is as good as the votes not worth it, once a gain of two points is excluded", () => {
    const same = (questions: number) => {
      const samples = Array.from({ length: questions }, (_, index) => {
        const correct = index % 2 === 0
        const task = `q${index}`
        return [
          sample({ policy: "single:a", task, correct }),
          { ...sample({ policy: "team", task, correct, worker: "b" }), calls: 2 }
        ]
      }).flat()
      const { equalBudget } = Report.make(plan(["team", "single:a"], 1), samples, extent)
      return equalBudget![0]!
    }
    const [few, many] = [same(20), same(1_000)]
    assert.deepStrictEqual([few.mean, few.verdict], [0, "undecided"])
    assert.deepStrictEqual([many.mean, many.margin, many.verdict], [0, 0.02, "not-worth-it"])
    assert.isBelow(many.high!, many.margin!)
  })

  it("takes the answers of a self-consistency that was measured", () => {
    const samples = Array.from({ length: 50 }, (_, index) => {
      const task = `q${index}`
      const [first] = [sample({ policy: "self-consistency:5@a", task, correct: true })]
      return [
        { ...first!, steps: Array.from({ length: 5 }, () => first!.steps[0]!), calls: 5, outputTokens: 25 },
        sample({ policy: "single:a", task, correct: index % 2 === 0 }),
        { ...sample({ policy: "team", task, correct: index % 2 === 0, worker: "b" }), outputTokens: 30, calls: 3 }
      ]
    }).flat()
    const report = Report.make(plan(["team", "single:a", "self-consistency:5@a"], 1), samples, extent)
    assert.strictEqual(report.equalBudget?.length, 1)
    const { paid, score, verdict, votes } = report.equalBudget![0]!
    assert.deepStrictEqual([paid, votes, score, verdict], [6, 5, 1, "not-worth-it"])
  })

  /** A team and a worker on the same questions, each right or wrong on all of them. */
  const fixed = (
    team: { readonly isRight: boolean; readonly tokens: number },
    workerEpochs: (index: number) => number
  ) => {
    const samples = Array.from({ length: 60 }, (_, index) => {
      const task = `q${index}`
      const together = sample({ policy: "team", task, correct: team.isRight, worker: "b" })
      return [
        { ...together, outputTokens: team.tokens, calls: 2 },
        ...Array.from({ length: workerEpochs(index) }, (_, epoch) =>
          sample({ policy: "single:a", task, epoch, correct: !team.isRight })
        )
      ]
    }).flat()
    return Report.make(plan(["team", "single:a"], 3), samples, extent).equalBudget![0]!
  }

  it("does not blame a team for having fewer tokens than one answer", () => {
    const cheaper = fixed({ isRight: false, tokens: 2 }, () => 1)
    assert.deepStrictEqual([cheaper.paid, cheaper.votes, cheaper.mean, cheaper.verdict], [0.4, 1, -1, "undecided"])
    const better = fixed({ isRight: true, tokens: 2 }, () => 1)
    assert.deepStrictEqual([better.paid, better.verdict], [0.4, "worth-it"])
    const equal = fixed({ isRight: false, tokens: 4.8 }, () => 1)
    assert.deepStrictEqual([equal.paid, equal.verdict], [0.96, "not-worth-it"])
  })

  it("compares only on questions with as many answers as the tokens pay for", () => {
    const { questions, verdict, votes } = fixed({ isRight: true, tokens: 15 }, (index) => (index % 3 === 0 ? 3 : 1))
    assert.deepStrictEqual([questions, votes, verdict], [20, 3, "worth-it"])
  })

  it("has no verdict on a team without any answer", () => {
    const samples = [
      sample({ policy: "team", task: "q", missing: { cause: "worker", message: "" } }),
      sample({ policy: "single:a", task: "q", correct: true })
    ]
    assert.deepStrictEqual(Report.make(plan(["team", "single:a"], 1), samples, extent).equalBudget, [])
  })

  it("has no verdict without a single worker, and none for one that costs no tokens", () => {
    const team = { ...sample({ policy: "team", task: "q", correct: true }), calls: 4 }
    assert.deepStrictEqual(Report.make(plan(["team"], 1), [team], extent).equalBudget, [])
    const free = { ...sample({ policy: "single:a", task: "q", correct: true }), outputTokens: 0 }
    assert.deepStrictEqual(Report.make(plan(["team", "single:a"], 1), [team, free], extent).equalBudget, [])
  })
})
