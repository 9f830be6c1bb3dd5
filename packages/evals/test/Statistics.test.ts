import { Seed } from "@divisi/core"
import * as Statistics from "@divisi/evals/Statistics"
import { assert, describe, it } from "@effect/vitest"
import { normalQuantile, studentQuantile } from "../src/statistics/distribution.ts"

const close = (actual: number, expected: number, within = 1e-9) => assert.closeTo(actual, expected, within)

const answers = (scores: ReadonlyArray<number>) => scores.map((score, index) => ({ question: `q${index}`, score }))

describe("distributions", () => {
  it("has the quantiles of printed tables", () => {
    close(normalQuantile(0.975), 1.959963984540054)
    close(normalQuantile(0.8), 0.8416212335729143)
    close(studentQuantile(0.95, 1), 12.706204736432095, 1e-7)
    close(studentQuantile(0.95, 4), 2.7764451051977987)
    close(studentQuantile(0.95, 29), 2.045229642132703)
    close(studentQuantile(0.99, 10), 3.169272672616873)
  })
})

describe("standard errors", () => {
  it("are those of reference for one answer per question", () => {
    for (const [n, points] of [
      [30, 7.4],
      [175, 3.0],
      [500, 1.8],
      [1000, 1.3]
    ] as const) {
      const right = Math.round(0.8 * n)
      const values = Array.from({ length: n }, (_, index) => (index < right ? 1 : 0))
      close(100 * Statistics.standardError(values), points, 0.06)
    }
    close(Statistics.standardError([1, 2, 3, 4]), Math.sqrt(5 / 3) / 2)
  })

  it("do not shrink when every question is answered twice alike", () => {
    const once = [1, 0, 1, 1, 0]
    const twice = once.flatMap((value, index) => [
      { value, cluster: `${index}` },
      { value, cluster: `${index}` }
    ])
    close(Statistics.clusteredStandardError(twice), Statistics.standardError(once))
    assert.isBelow(Statistics.standardError(twice.map(({ value }) => value)), Statistics.standardError(once))
  })

  it("add the residuals of a cluster before squaring (worked by hand)", () => {
    // Mean 0.5; residuals of a: 0.5 + 0.5 = 1, of b: 0.5 - 0.5 = 0, of c: -1. (1 + 0 + 1) / 36 * 3 / 2 = 1 / 12.
    const values = [1, 1, 1, 0, 0, 0].map((value, index) => ({ value, cluster: "aabbcc"[index]! }))
    close(Statistics.clusteredStandardError(values), Math.sqrt(1 / 12))
  })
})

describe("intervals", () => {
  it("are Wilson's for shares", () => {
    const { high, low } = Statistics.wilson(8, 10)
    close(low, 0.4901624715, 1e-8)
    close(high, 0.9433178485, 1e-8)
    assert.strictEqual(Statistics.wilson(10, 10).high, 1)
    assert.isAbove(Statistics.wilson(0, 30).high, 0.1)
  })

  it("are drawn by whole clusters, and the same for the same seed", () => {
    const clusters = Array.from({ length: 40 }, (_, index) => [index % 2, index % 2, index % 2])
    const first = Statistics.bootstrap(clusters, { seed: 1 })
    assert.deepStrictEqual(first, Statistics.bootstrap(clusters, { seed: 1 }))
    assert.notDeepEqual(first, Statistics.bootstrap(clusters, { seed: 2 }))
    // Forty independent clusters: a standard error of about 0.079, not the 0.046 of 120 values.
    assert.isAbove(first.high - first.low, 0.24)
  })
})

describe("scores", () => {
  it("count what cannot be read as wrong, and what the infrastructure lost as missing", () => {
    const { mean, missing, samples, unparsed } = Statistics.score([
      { question: "a", score: 1 },
      { question: "b", score: 0, isUnparsed: true },
      { question: "c" }
    ])
    assert.deepStrictEqual({ mean, missing, samples, unparsed }, { mean: 0.5, missing: 1, samples: 2, unparsed: 1 })
  })

  it("use Student's interval over questions as soon as questions are answered more than once", () => {
    const samples = answers([1, 0, 1, 1, 0, 0, 1, 0, 1, 0]).flatMap((sample) => [sample, sample])
    const { interval, questions, standardError } = Statistics.score(samples)
    assert.strictEqual(interval.method, "student")
    assert.strictEqual(questions, 10)
    close(interval.high - interval.low, 2 * 2.2621571627409915 * standardError, 1e-8)
  })

  it("keep the ends of intervals within what a score can be", () => {
    const samples = Array.from({ length: 40 }, (_, at) => ({ question: `q${at % 20}`, score: at === 0 ? 0 : 1 }))
    const { interval } = Statistics.score(samples)
    assert.strictEqual(interval.high, 1)
    close(interval.low, 0.975 - 2.093024054408263 * 0.025, 1e-8)
  })

  it("leave room for other answers where all agree", () => {
    for (const value of [0, 1]) {
      const once = answers(Array.from({ length: 20 }, () => value))
      const [single, twice] = [Statistics.score(once), Statistics.score([...once, ...once])]
      // Answering the same twenty questions again says nothing of other questions.
      assert.deepStrictEqual(twice.interval, single.interval)
      close(single.interval.high - single.interval.low, 0.16112515999567778, 1e-8)
      assert.isAbove(single.minimumDetectable, 0.1)
      assert.strictEqual(twice.minimumDetectable, single.minimumDetectable)
    }
    const { interval } = Statistics.score([
      { question: "a", score: 1 },
      { question: "a", score: 1 }
    ])
    assert.isBelow(interval.low, 0.3)
  })
})

describe("comparisons", () => {
  it("test single answers exactly", () => {
    close(Statistics.mcnemar(1, 5), 0.21875)
    close(Statistics.mcnemar(0, 10), 2 / 1024)
    close(Statistics.mcnemar(3, 3), 1)
    close(Statistics.mcnemar(0, 0), 1)
    // Reference: 2 * binom.cdf(930, 2000, 0.5).
    close(Statistics.mcnemar(930, 1070), 0.0018755785845971753)
  })

  it("pair questions, leaving out those that one side lacks", () => {
    const found = Statistics.difference(answers([1, 1, 1, 0, 1]), answers([0, 1, 0, 0]))
    assert.strictEqual(found.questions, 4)
    close(found.mean, 0.5)
    // Differences 1, 0, 1, 0: s = 0.57735, over 2.
    close(found.standardError, Math.sqrt(1 / 3) / 2)
    close(found.p, 0.5)
  })

  it("leave room for other questions where all differ alike", () => {
    const same = answers(Array.from({ length: 20 }, (_, at) => at % 2))
    const { interval, mean, minimumDetectable, p } = Statistics.difference(same, same)
    assert.deepStrictEqual([mean, p], [0, 1])
    close(interval.high, 0.16112515999567778, 1e-8)
    close(interval.low, -interval.high)
    assert.isAbove(minimumDetectable, 0.2)
    const all = Statistics.difference(answers([1, 1, 1, 1, 1, 1]), answers([0, 0, 0, 0, 0, 0]))
    assert.strictEqual(all.interval.high, 1)
    assert.isBelow(all.interval.low, 0.5)
  })

  it("find no difference in too few questions, and report that", () => {
    const few = Statistics.difference(answers([1, 0, 1, 0, 1]), answers([0, 0, 0, 0, 0]))
    assert.isNaN(few.minimumDetectable)
    const [a, b] = [answers([1, 0.5, 1, 0]), answers([0, 0.5, 0.5, 0])]
    assert.isNaN(Statistics.difference(a, b).minimumDetectable)
    assert.isNaN(Statistics.score(answers([1, 0])).minimumDetectable)
    assert.isAtMost(Statistics.score(answers([1, 0, 1, 0, 1, 0])).minimumDetectable, 1)
  })

  it("find no difference that is greater than there can be", () => {
    const [a, b] = [answers([1, 0, 0.5, 1, 0, 1]), answers([0, 1, 0.5, 0, 1, 0.5])]
    assert.isNaN(Statistics.difference(a, b).minimumDetectable)
  })

  it("have the reported power, by the exact test", () => {
    for (const [questions, discordant] of [
      [100, 20],
      [300, 45],
      [1000, 60]
    ] as const) {
      const lead = Array.from({ length: questions }, (_, at) => (at < discordant / 2 ? 1 : 0))
      const other = Array.from({ length: questions }, (_, at) => (at >= discordant / 2 && at < discordant ? 1 : 0))
      const { minimumDetectable: least } = Statistics.difference(answers(lead), answers(other))
      const draw = Seed.draw(questions)
      const share = Math.max(discordant / questions, least)
      const wins = (share + least) / 2 / share
      let found = 0
      for (let trial = 0; trial < 4000; trial++) {
        let [first, second] = [0, 0]
        for (let at = 0; at < questions; at++) {
          if (!Seed.chance(draw, share)) continue
          if (Seed.chance(draw, wins)) first += 1
          else second += 1
        }
        if (Statistics.mcnemar(first, second) <= 0.05) found += 1
      }
      // Four in five, and the error of 4,000 trials.
      assert.closeTo(found / 4000, 0.8, 0.03)
    }
  })

  it("flip the signs of whole clusters where questions share one", () => {
    const inClusters = (score: number) =>
      Array.from({ length: 20 }, (_, at) => ({ question: `q${at}`, score, cluster: at < 10 ? "one" : "other" }))
    const { p, test } = Statistics.difference(inClusters(1), inClusters(0))
    assert.strictEqual(test, "sign-flip")
    // Two clusters: of four patterns of signs, two are as far from 0.
    close(p, 0.5)
  })

  it("flip signs of mean differences, all of them when there are few", () => {
    // Of 8 sign patterns of (1, 2, 3) only +++ and --- reach 6.
    close(Statistics.signFlip([1, 2, 3]), 0.25)
    close(Statistics.signFlip([1, -1]), 1)
    const many = Array.from({ length: 40 }, (_, index) => (index % 4 === 0 ? -0.5 : 0.5))
    assert.isBelow(Statistics.signFlip(many), 0.01)
    assert.strictEqual(Statistics.signFlip(many, { seed: 3 }), Statistics.signFlip(many, { seed: 3 }))
  })

  it("corrects many p-values by Holm's steps", () => {
    const adjusted = Statistics.holm([0.01, 0.04, 0.03, 0.005])
    for (const [index, expected] of [0.03, 0.06, 0.06, 0.02].entries()) close(adjusted[index]!, expected)
    assert.deepStrictEqual(Statistics.holm([0.9, 0.8]), [1, 1])
  })

  it("says how many questions a comparison needs, as worked in the literature", () => {
    const plan = { difference: 0.03, between: 1 / 9, within: 1 / 6 }
    assert.closeTo(Statistics.questionsNeeded({ ...plan, samples: 1e9 }), 969, 1)
    assert.isAbove(Statistics.questionsNeeded({ ...plan, samples: 1 }), 3500)
    close(Statistics.minimumDetectable(1), 2.8015852181129683)
  })
})

describe("many samples", () => {
  it("are unbiased estimates of passing once, and of passing always", () => {
    close(Statistics.passAtK({ samples: 10, correct: 3, k: 1 }), 0.3)
    close(Statistics.passAtK({ samples: 10, correct: 3, k: 5 }), 1 - 21 / 252)
    close(Statistics.passAtK({ samples: 3, correct: 2, k: 2 }), 1)
    close(Statistics.passHatK({ samples: 10, correct: 8, k: 2 }), 28 / 45)
    assert.isNaN(Statistics.passAtK({ samples: 1, correct: 1, k: 2 }))
  })
})
