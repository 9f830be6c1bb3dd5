import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Seed } from "@divisi/core"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Learned from "../src/Learned.ts"
import * as Outcomes from "../src/Outcomes.ts"
import * as Replay from "../src/Replay.ts"
import * as Table from "../src/Table.ts"

const texts = {
  sums: (index: number) => `Add the number ${index} to the number ${index * 7}.`,
  poems: (index: number) => `Write verse ${index} of a poem on the moon and the sea.`
}

type Kind = keyof typeof texts

interface World {
  /** How often each worker is right, by kind. */
  readonly right: Readonly<Record<Kind, Readonly<Record<string, number>>>>
  readonly count: number
  readonly seed: number
  /** The workers that were called. Default: all. */
  readonly asked?: ((kind: Kind, index: number) => ReadonlyArray<string>) | undefined
}

const examplesOf = ({ asked, count, right, seed }: World) => {
  const draw = Seed.draw(seed)
  const questions = Array.from({ length: count }, (_, index): Outcomes.GradedQuestion => {
    const kind: Kind = index % 2 === 0 ? "sums" : "poems"
    const scores = Object.entries(right[kind]).map(
      ([worker, share]) => [worker, Seed.below(draw, 1_000_000) < share * 1_000_000 ? 1 : 0] as const
    )
    const workers = asked?.(kind, index) ?? Object.keys(right[kind])
    return {
      id: `${kind}-${index}`,
      kind,
      text: texts[kind](index),
      scores: new Map(scores.filter(([worker]) => workers.includes(worker))),
      costUsd: new Map(),
      answers: new Map(),
      at: index + 1
    }
  })
  return Outcomes.examples(questions)
}

const split = { sums: { a: 0.95, b: 0.3 }, poems: { a: 0.5, b: 0.95 } }

describe("Replay", () => {
  it.effect("promotes who came late, and is better at a kind, by what is known since then", () =>
    Effect.gen(function* () {
      const right = { sums: { a: 0.7, c: 0.98 }, poems: { a: 0.9, c: 0.5 } }
      const at = (evaluated: number, total: number) =>
        examplesOf({
          right,
          seed: 5,
          count: total,
          asked: (_, index) => (index >= 600 && index < 600 + evaluated ? ["a", "c"] : ["a"])
        })
      const before = Result.getOrThrow(Table.fit(yield* at(0, 600)))
      const { isPromoted, why } = Replay.compare(yield* at(120, 760), before)
      assert.isTrue(isPromoted, why)
      // A handful of its answers is not enough.
      assert.isFalse(Replay.compare(yield* at(6, 760), before).isPromoted)
    })
  )

  it.effect("promotes what gains, and not it again", () =>
    Effect.gen(function* () {
      const examples = yield* examplesOf({ right: split, count: 300, seed: 1 })
      const first = Replay.compare(examples, undefined)
      assert.isTrue(first.isPromoted, first.why)
      assert.isAbove(first.all.difference, 0.1)
      assert.isAbove(first.last.difference, 0)
      const again = Replay.compare(examples, Result.getOrThrow(Table.fit(examples)))
      assert.isFalse(again.isPromoted)
      assert.include(again.why, "the same workers")
    })
  )

  it.effect("promotes nothing that is worse than what is in force, or that rests on a handful of questions", () =>
    Effect.gen(function* () {
      const inForce = Result.getOrThrow(Table.fit(yield* examplesOf({ right: split, count: 300, seed: 1 })))
      // Learned from few questions, in which the wrong worker was lucky.
      const lucky = { sums: { a: 0.55, b: 0.6 }, poems: { a: 0.5, b: 0.5 } }
      const worse = Replay.compare(yield* examplesOf({ right: lucky, count: 60, seed: 3 }), inForce)
      assert.isFalse(worse.isPromoted, worse.why)
      const few = Replay.compare(yield* examplesOf({ right: split, count: 20, seed: 2 }), undefined)
      assert.isFalse(few.isPromoted)
      assert.match(few.why, /it needs 30 rated questions, but has only 20/)
      const one = Replay.compare((yield* examplesOf({ right: split, count: 20, seed: 2 })).slice(0, 1), undefined)
      assert.match(one.why, /has only 1$/)
    })
  )

  it.effect("says when a worker has lost what it was good at", () =>
    Effect.gen(function* () {
      const inForce = Result.getOrThrow(Table.fit(yield* examplesOf({ right: split, count: 300, seed: 1 })))
      const turned = { sums: { a: 0.3, b: 0.95 }, poems: { a: 0.95, b: 0.5 } }
      const verdict = Replay.compare(yield* examplesOf({ right: turned, count: 300, seed: 4 }), inForce)
      assert.isTrue(verdict.isPromoted, verdict.why)
    })
  )

  it.effect("takes a prediction for nothing where no answer of the new worker is on record", () =>
    Effect.gen(function* () {
      const right = { sums: { a: 0.95, b: 0.5 }, poems: { a: 0.5, b: 0.95 } }
      const examples = yield* examplesOf({ right, count: 300, seed: 5 })
      const inForce = Result.getOrThrow(Table.fit(examples))
      // The table in force sends everything to the right worker, so that nothing else is on record.
      const asked = (kind: Kind) => [kind === "sums" ? "a" : "b"]
      const logged = yield* examplesOf({ right, count: 300, seed: 6, asked })
      assert.isFalse(Replay.compare(logged, inForce).isPromoted)
    })
  )

  it.effect("corrects a prediction by the answers on record, counted as often as they are rare", () =>
    Effect.gen(function* () {
      // Only every seventh answer of b is on record, and b is better on poems.
      const asked = (_: Kind, index: number) => (index % 14 < 2 ? ["a", "b"] : ["a"])
      const logged = yield* examplesOf({ right: split, count: 600, seed: 7, asked })
      const { all } = Replay.compare(logged, undefined)
      const truth = 0.5 * (0.95 - 0.5)
      assert.isAbove(all.known, 0)
      assert.closeTo(all.difference, truth, 3 * all.standardError! + 0.05)
    })
  )
})

describe("The learned table", () => {
  it.effect("is activated, stored and rolled back", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "learned-"))),
        (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true }))
      )
      const file = path.join(folder, "deep", "router.json")
      const table = Result.getOrThrow(Table.fit(yield* examplesOf({ right: split, count: 60, seed: 1 })))
      assert.isUndefined(yield* Learned.revert(file))
      for (let at = 1; at <= Learned.mostKept + 2; at++) yield* Learned.promote(file, { at, why: "it gains", table })
      const learned = yield* Learned.read(file)
      assert.deepStrictEqual(
        learned.map(({ at }) => at),
        [3, 4, 5, 6, 7]
      )
      assert.deepStrictEqual(Learned.current(learned)!.table, table)
      assert.strictEqual((yield* Learned.revert(file))!.at, 7)
      assert.strictEqual(Learned.current(yield* Learned.read(file))!.at, 6)
      fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace('"at":6', '"at":8'))
      assert.include((yield* Effect.flip(Learned.read(file))).message, "router.json")
    })
  )
})
