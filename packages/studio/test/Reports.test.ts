/** The reports of evaluations and trainings: their pages as one file. */
import { beforeAll, describe, expect, it } from "vitest"
import { buildApp } from "../scripts/build.ts"
import { Assets, type Evaluations, Reports, type Trainings } from "../src/index.ts"

beforeAll(async () => {
  await buildApp(Assets.folder)
})

const hostile = `</script></style></title><!--<script><img src=x onerror="alert(1)">'"&\u0000\u202e\ud800`

/** The data of a page, as its script reads it. */
// biome-ignore lint/suspicious/noExplicitAny: the test reads all of it.
const dataOf = (page: string): Record<string, any> => {
  const [, text] = /<script type="application\/json" id="divisi-data">(.*?)<\/script>/.exec(page)!
  return JSON.parse(text!).data
}

const sample = (policy: string, task: string, score: number | undefined, more: Partial<Evaluations.Sample> = {}) =>
  ({
    ...{ benchmark: "b", task, epoch: 0, policy, ending: "answered", answer: `${policy} says` },
    ...{ costUsd: 0.01, unpricedCalls: 0, inputTokens: 1, outputTokens: 1, millis: 5, steps: [] },
    ...(score === undefined ? { missing: { message: "down" } } : { score }),
    ...more
  }) as Evaluations.Sample

const report = (more: { readonly isConfidential?: boolean } = {}) =>
  ({
    config: { policies: [{ name: "first" }, { name: "second", isBaseline: true }] },
    benchmarks: [{ benchmark: "b", title: hostile, selected: 4, isConfidential: more.isConfidential ?? false }],
    pool: [{ id: "a" }],
    extent: { status: "complete", samples: 8, planned: 8, paidUsd: 0.5 },
    ...{ cells: [], comparisons: [] },
    overall: [
      { policy: "first", mean: 0.5 },
      { policy: "second", mean: 0.5 }
    ]
  }) as unknown as Evaluations.Report

const samples = [
  ...["q0", "q1", "q2"].map((task) => sample("first", task, task === "q2" ? 0 : 1)),
  ...["q0", "q1", "q2"].map((task) => sample("second", task, 1)),
  sample("first", "lost", undefined),
  sample("second", "lost", 1)
]

const questionOf = (_: string, task: string) => ({ question: `Text of ${task} ${hostile}`, reference: "expected" })

describe("the report of an evaluation", () => {
  it("has no text of a model or a question as markup, loads nothing, and is the same for the same evaluation", () => {
    const given = samples.map((one) => ({ ...one, answer: hostile }))
    const page = Reports.evaluation(report(), { name: hostile, samples: given, questionOf })
    expect(page.match(/<\/script>/g)).toHaveLength(2)
    expect(page).not.toContain("<img src=x")
    expect(page).not.toContain("\u202e")
    expect(page).not.toMatch(/(src|href)="(?!#)/)
    expect(page).toContain("default-src 'none'; script-src 'sha256-")
    expect(Reports.evaluation(report(), { name: hostile, samples: given, questionOf })).toBe(page)
  })

  it("has the outcomes of all questions, and their texts, first of those on which two policies differ", () => {
    const data = dataOf(Reports.evaluation(report(), { samples, questionOf }))
    expect(data["v1/evaluations/evaluation"].questions).toHaveLength(4)
    const texts = Object.keys(data).filter((name) => name.includes("/questions/"))
    expect(texts.map((name) => name.split("/").at(-1))).toEqual(["q2", "q0", "q1", "lost"])
    expect(data[texts[0]!]).toMatchObject({
      question: `Text of q2 ${hostile}`,
      reference: "expected",
      samples: [
        { policy: "first", answer: "first says", score: 0, run: null },
        { policy: "second", score: 1 }
      ]
    })
    const few = dataOf(Reports.evaluation(report(), { samples, questionOf, maxCharacters: 0 }))
    expect(Object.keys(few).filter((name) => name.includes("/questions/"))).toHaveLength(1)
  })

  it("never has questions or answers of a confidential benchmark, nor asks for them", () => {
    let asked = 0
    const page = Reports.evaluation(report({ isConfidential: true }), {
      samples: samples.map((one) => ({ ...one, extracted: "first says", failure: "first says" })),
      questionOf: () => {
        asked += 1
        return { question: "the secret question" }
      }
    })
    expect(asked).toBe(0)
    expect(page).not.toContain("secret question")
    expect(page).not.toContain("first says")
    expect(dataOf(page)["v1/evaluations/evaluation/questions/b/q0"].question).toBeNull()
  })

  it("cuts long texts, and has no part of a sample that the page does not show", () => {
    const [long] = samples.map((one) => ({ ...one, answer: "x".repeat(5_000), prompt: "not shown" }))
    const page = Reports.evaluation(report(), { samples: [long!] })
    expect(page).not.toContain("not shown")
    expect(dataOf(page)["v1/evaluations/evaluation/questions/b/q0"].samples[0].answer).toMatch(
      /^x{4000}… \(1,000 more characters\)$/
    )
  })

  it("is made without samples", () => {
    expect(dataOf(Reports.evaluation(report()))["v1/evaluations/evaluation"].questions).toEqual([])
  })
})

describe("the report of a training", () => {
  const config = { name: "toy", seed: 1, engine: { name: "toy", model: hostile }, pool: [{ id: "a" }] }
  const metrics = (count: number) =>
    Array.from({ length: count }, (_, iteration) => ({
      type: "grpo",
      iteration,
      costUsd: 0
    })) as unknown as Array<Trainings.Metrics>
  const group = (kind: string, completions: number): Trainings.Group => ({
    ...{ group: 0, kind, messages: [], isFlat: false },
    completions: Array.from({ length: completions }, (_, rollout) => ({
      ...{ rollout, round: 0, completion: hostile.repeat(1_000), result: "wrong", costUsd: 0 }
    }))
  })

  it("has a question of each kind with some completions, as an excerpt", () => {
    const groups = [group("sums", 64), group("sums", 64), group("dates", 2)]
    const page = Reports.training({ id: "toy", config, metrics: metrics(1) }, new Map([[0, groups]]))
    expect(page).not.toContain("<img src=x")
    const data = dataOf(page)
    expect(data["v1/trainings/toy"]).toMatchObject({ rollouts: [0], isExcerpt: true })
    const rollouts: ReadonlyArray<Trainings.Group> = data["v1/trainings/toy/rollouts/0"]
    expect(rollouts.map(({ completions, kind }) => [kind, completions.length])).toEqual([
      ["sums", 4],
      ["dates", 2]
    ])
    expect(rollouts[0]!.completions[0]!.completion.length).toBeLessThan(4_100)
  })

  it.each([0, 1, 2, 30, 500])(
    "samples at most sixteen of %d iterations, the first and the last among them",
    (count) => {
      const found = Reports.sampled(metrics(count))
      expect(found.length).toBeLessThanOrEqual(16)
      expect(new Set(found).size).toBe(found.length)
      if (count > 0) expect([found[0], found.at(-1)]).toEqual([0, count - 1])
    }
  )
})
