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
    const samples = answers([1, 0, 1, 1]).flatMap((sample) => [sample, sample])
    const { interval, questions, standardError } = Statistics.score(samples)
    assert.strictEqual(interval.method, "student")
    assert.strictEqual(questions, 4)
    close(interval.high - interval.low, 2 * 3.182446305284263 * standardError, 1e-8)
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
