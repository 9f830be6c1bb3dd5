import { Embedder, Seed } from "@divisi/core"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ask } from "../src/routing/Contender.ts"
import * as RoutingBench from "../src/routing/RoutingBench.ts"

const subjects = ["apples", "bridges", "comets", "drums"] as const

/** `a` is right on the first two subjects, `b` on the others, `c` on a third of all. */
const questions = Effect.gen(function* () {
  const draw = Seed.draw(1)
  const drafts = subjects.flatMap((kind, at) =>
    Array.from({ length: 30 }, (_, index) => ({
      id: `${kind}-${index}`,
      kind,
      text: `What about ${kind}, case ${Seed.below(draw, 1_000_000)}?`,
      scores: new Map([
        ["a", at < 2 ? 1 : 0],
        ["b", at < 2 ? 0 : index % 3 === 0 ? 0 : 1],
        ["c", index % 3 === 0 ? 1 : 0]
      ]),
      costUsd: new Map([
        ["a", 0.01],
        ["b", 0.01],
        ["c", 0.001]
      ]),
      answers: new Map<string, string>()
    }))
  )
  const points = yield* Embedder.hashed({ dimensions: 64 }).embed(drafts.map(({ text }) => text))
  return drafts.map((draft, index): RoutingBench.Question => ({ ...draft, point: points[index]! }))
})

const standingsOf = (options: Partial<RoutingBench.Options> = {}) =>
  Effect.gen(function* () {
    const standings = yield* RoutingBench.run(yield* questions, {
      split: "question",
      routers: [],
      repeats: 1,
      ...options
    })
    return new Map(standings.map((standing) => [standing.policy, standing]))
  })

describe("A comparison of routers", () => {
  it.effect("has what every router gains over the best single worker, with its error, and the ends of the scale", () =>
    Effect.gen(function* () {
      const standings = yield* standingsOf()
      assert.strictEqual(standings.get("best-single")!.differenceToBestSingle, 0)
      for (const name of ["random", "knn", "ridge", "clusters", "routellm", "routerdc-light", "kind-told", "oracle"]) {
        assert.isTrue(standings.has(name), name)
      }
      const [told, oracle, random] = ["kind-told", "oracle", "random"].map((name) => standings.get(name)!)
      assert.isAbove(told!.differenceToBestSingle, 0.2)
      assert.isAbove(told!.differenceError!, 0)
      assert.isAtLeast(oracle!.score, told!.score)
      assert.isBelow(random!.score, told!.score)
    })
  )

  it.effect("splits by whole kinds, where a given kind is worth nothing", () =>
    Effect.gen(function* () {
      const standings = yield* standingsOf({ split: "kind", only: ["kind-told"] })
      assert.strictEqual(standings.get("kind-told")!.differenceToBestSingle, 0)
    })
  )

  it.effect("counts what a check costs and gains, the less the more often it is wrong", () =>
    Effect.gen(function* () {
      const escalations = ["best-single", "checked", "checked-10", "checked-30", "revised", "agreed"]
      const standings = yield* standingsOf({ only: escalations })
      const [right, tenth, third] = ["checked", "checked-10", "checked-30"].map((name) => standings.get(name)!)
      assert.isAbove(right!.score, tenth!.score)
      assert.isAtLeast(tenth!.score, third!.score)
      assert.isAtLeast(standings.get("revised")!.score, right!.score)
      assert.isAtMost(right!.costUsd!, standings.get("best-single")!.costUsd! + 1e-9)
      assert.isFalse(standings.has("agreed"))
    })
  )

  it.effect("compares with the mix of fixed workers that costs as much, and with the one that is as good", () =>
    Effect.gen(function* () {
      const drafts = Array.from({ length: 400 }, (_, index) => ({
        id: `${index}`,
        text: `${index}`,
        point: Float32Array.of(1),
        scores: new Map([
          ["cheap", 0.2],
          ["good", 0.8],
          ["dear", 0.7],
          ["bent", 0.3]
        ]),
        costUsd: new Map([
          ["cheap", 1],
          ["good", 5],
          ["dear", 9],
          ["bent", 3]
        ]),
        answers: new Map<string, string>()
      }))
      const fixed = (name: string, score: number, costUsd: number): RoutingBench.Contender => ({
        name,
        fit: () => Effect.succeed(() => ({ score, costUsd }))
      })
      const routers = [
        fixed("halfway", 0.6, 3),
        fixed("too dear", 0.8, 20),
        fixed("too cheap", 0.1, 0.5),
        fixed("beyond", 0.9, 5),
        fixed("unpriced", 0.5, Number.NaN)
      ]
      const standings = yield* RoutingBench.run(drafts, {
        split: "question",
        routers,
        repeats: 2,
        only: routers.map(({ name }) => name)
      })
      const rounded = (value: number | null) => (value === null ? null : Math.round(1e6 * value) / 1e6)
      assert.deepStrictEqual(
        standings.map(({ costAtEqualScoreUsd, differenceAtEqualCost }) =>
          [differenceAtEqualCost, costAtEqualScoreUsd].map(rounded)
        ),
        [
          // Half cheap and half good comes to 0.5 for 3; 0.6 is a third of cheap and two thirds of good.
          [0.1, 1 + (4 * 2) / 3],
          [0, 5],
          [-0.1, 1],
          [0.1, null],
          [null, 3]
        ].map((row) => row.map(rounded))
      )
    })
  )

  it.effect("gives routers the questions that they are not measured on", () =>
    Effect.gen(function* () {
      const seen: Array<ReadonlySet<string>> = []
      const watching: RoutingBench.Contender = {
        name: "watching",
        fit: ({ best, questions }) =>
          Effect.sync(() => {
            const ids = new Set(questions.map(({ id }) => id))
            seen.push(ids)
            return (question) => {
              assert.isFalse(ids.has(question.id))
              return ask(question, best)
            }
          })
      }
      const standings = yield* standingsOf({ routers: [watching], repeats: 2, only: ["watching"] })
      assert.strictEqual([...standings.keys()][0], "watching")
      assert.deepStrictEqual(
        seen.map(({ size }) => size),
        [84, 84]
      )
      assert.notDeepEqual([...seen[0]!], [...seen[1]!])
    })
  )

  it.effect("refuses what cannot be compared", () =>
    Effect.gen(function* () {
      const all = yield* questions
      const refused = (some: ReadonlyArray<RoutingBench.Question>, split: RoutingBench.Split) =>
        Effect.map(Effect.flip(RoutingBench.run(some, { split, routers: [] })), ({ message }) => message)
      assert.match(yield* refused(all.slice(0, 30), "kind"), /at least two kinds/)
      const unnamed = all.map((question) => ({ ...question, kind: undefined }))
      assert.match(yield* refused(unnamed, "kind"), /needs questions of at least two kinds/)
      assert.match(yield* refused(all.slice(0, 9), "question"), /at least 10 of the same questions; they share only 9/)
      const alone = all.map((question) => ({ ...question, scores: new Map([["a", 1]]) }))
      assert.match(yield* refused(alone, "question"), /two workers/)
    })
  )

  it("leaves out workers that answered hardly anything, and questions that a worker did not answer", () => {
    const scores = (...workers: ReadonlyArray<string>) => ({ scores: new Map(workers.map((worker) => [worker, 1])) })
    const { questions, workers } = RoutingBench.comparable([
      scores("a", "b"),
      scores("a", "b", "c"),
      scores("a"),
      scores("a", "b")
    ])
    assert.deepStrictEqual(workers, ["a", "b"])
    assert.lengthOf(questions, 3)
  })

  it("leaves out workers that have answered little, so that questions are left", () => {
    const scored = (...workers: ReadonlyArray<string>) => ({ scores: new Map(workers.map((worker) => [worker, 1])) })
    const sparse = [
      ...Array.from({ length: 6 }, () => scored("a", "b")),
      ...Array.from({ length: 6 }, () => scored("a", "b", "c")),
      scored("a", "d")
    ]
    const found = RoutingBench.comparable(sparse)
    assert.deepStrictEqual([found.workers, found.questions.length], [["a", "b"], 12])
    const dense = [scored("a", "b", "c"), scored("a", "b", "c"), scored("a", "b")]
    assert.deepStrictEqual(RoutingBench.comparable(dense).workers, ["a", "b", "c"])
    assert.deepStrictEqual(RoutingBench.comparable([]), { questions: [], workers: [] })
  })

  it.effect("keeps only questions of a kind apart by kind", () =>
    Effect.gen(function* () {
      const all = yield* questions
      const standings = yield* RoutingBench.run(
        all.map((question, index) => (index % 7 === 0 ? { ...question, kind: undefined } : question)),
        { split: "kind", routers: [], repeats: 2, only: ["best-single", "random"] }
      )
      assert.lengthOf(standings, 2)
    })
  )

  it.effect(
    "learns from few questions of a kind if configured to, and compares with the worker that is best on all",
    () =>
      Effect.gen(function* () {
        const seen: Array<number> = []
        const counting: RoutingBench.Contender = {
          name: "counting",
          fit: ({ questions }) => {
            seen.push(questions.length)
            return Effect.succeed((question) => ask(question, "c"))
          }
        }
        const all = yield* questions
        const options = { split: "question", routers: [counting], repeats: 6, only: ["counting"] } as const
        const [few] = yield* RoutingBench.run(all, { ...options, perKind: 1 })
        assert.isTrue(seen.every((count) => count === subjects.length))
        const [many] = yield* RoutingBench.run(all, options)
        assert.isBelow(few!.differenceToBestSingle, 0)
        assert.strictEqual(few!.differenceToBestSingle, many!.differenceToBestSingle)
      })
  )
})
