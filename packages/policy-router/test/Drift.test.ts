import { type Outcome, Seed } from "@divisi/core"
import { assert, describe, it } from "@effect/vitest"
import * as Drift from "../src/Drift.ts"

const day = 86_400_000

/** An answer a day, right so often on each day. */
const answers = (
  worker: string,
  count: number,
  rate: (day: number) => number,
  kind?: string
): ReadonlyArray<Outcome.Outcome> => {
  const draw = Seed.draw(3)
  return Array.from({ length: count }, (_, index) => ({
    version: 1,
    at: index * day,
    question: `question ${index}`,
    ...(kind === undefined ? {} : { kind }),
    worker,
    score: Seed.chance(draw, rate(index)) ? 1 : 0,
    source: "user"
  }))
}

const forGood = { halfLifeDays: Number.POSITIVE_INFINITY }

describe("The outcomes that count", () => {
  it("is half of those of a half-life ago, always the same ones, and all of today's", () => {
    const old = answers("a", 1, () => 1).map((one) => ({ ...one, at: 0 }))
    const many = Array.from({ length: 2000 }, (_, index) => ({ ...old[0]!, question: `q${index}` }))
    const kept = (days: number) => Drift.recent(many, { now: days * day, halfLifeDays: 100 }).outcomes
    assert.strictEqual(kept(0).length, 2000)
    assert.isTrue(Math.abs(kept(100).length - 1000) < 100)
    assert.isTrue(Math.abs(kept(200).length - 500) < 100)
    assert.deepStrictEqual(kept(200), kept(200))
    const newer = new Set(kept(100).map(({ question }) => question))
    assert.isTrue(kept(200).every(({ question }) => newer.has(question)))
  })

  it("are those after a worker has changed, at the kind concerned, and this is reported", () => {
    const changed = answers("a", 120, (at) => (at < 80 ? 0.9 : 0.3), "sums")
    const others = [...answers("a", 120, () => 0.9, "poems"), ...answers("b", 120, () => 0.9, "sums")]
    const { changes, outcomes } = Drift.recent([...others, ...changed], { now: 0, ...forGood })
    assert.deepStrictEqual(
      changes.map(({ kind, worker }) => [worker, kind]),
      [["a", "sums"]]
    )
    assert.isTrue(Math.abs(changes[0]!.at / day - 80) < 10)
    assert.isAbove(changes[0]!.before.mean, changes[0]!.since.mean)
    assert.isTrue(Math.abs(outcomes.filter(({ kind, worker }) => worker === "a" && kind === "sums").length - 40) < 10)
    assert.strictEqual(outcomes.filter(({ worker }) => worker === "b").length, 120)
  })

  it("is what came after a vendor has named another model, where less of a change than else has followed", () => {
    const named = (rate: (at: number) => number, model: (at: number) => string) =>
      Drift.recent(
        answers("a", 80, rate).map((one, at) => ({ ...one, model: model(at) })),
        { now: 0, ...forGood }
      )
    const worse = (at: number) => (at < 60 ? 0.9 : 0.65)
    assert.deepStrictEqual(named(worse, () => "a-1").changes, [])
    const { changes, outcomes } = named(worse, (at) => (at < 60 ? "a-1" : "a-2"))
    assert.deepStrictEqual(
      changes.map(({ at, model }) => [at / day, model]),
      [[60, "a-2"]]
    )
    assert.strictEqual(outcomes.length, 20)
    // Only a new name, or names that alternate, are not a change.
    assert.deepStrictEqual(
      named(
        () => 0.9,
        (at) => (at < 60 ? "a-1" : "a-2")
      ).changes,
      []
    )
    assert.deepStrictEqual(named(worse, (at) => (at % 2 === 0 ? "a-1" : "a-2")).changes, [])
  })

  it("is all of a worker that does not change, or of which a handful of answers is known", () => {
    assert.deepStrictEqual(
      Drift.recent(
        answers("a", 300, () => 0.8),
        { now: 0, ...forGood }
      ).changes,
      []
    )
    assert.deepStrictEqual(
      Drift.recent(
        answers("a", 20, (at) => (at < 10 ? 1 : 0)),
        { now: 0, ...forGood }
      ).changes,
      []
    )
  })
})
