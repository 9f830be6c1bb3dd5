import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Head from "../../src/head/Head.ts"
import * as Outcomes from "../../src/Outcomes.ts"

const themes = ["moon", "sea", "rain", "snow", "spring"]

const texts = {
  sums: (index: number) => `How much is ${index} plus ${index * 7}?`,
  poems: (index: number) => `Write ${index} verses of a poem on the ${themes[index % 5]}.`
}

interface World {
  readonly count: number
  readonly scoreOf: (kind: keyof typeof texts, index: number) => Readonly<Record<string, number>>
}

const examplesOf = ({ count, scoreOf }: World) =>
  Outcomes.examples(
    Array.from({ length: count }, (_, index): Outcomes.GradedQuestion => {
      const kind = index % 2 === 0 ? "sums" : "poems"
      return {
        id: String(index),
        kind,
        text: texts[kind](index),
        scores: new Map(Object.entries(scoreOf(kind, index))),
        costUsd: new Map(),
        answers: new Map(),
        at: 0
      }
    })
  )

const halves = { count: 80, scoreOf: (kind: string) => ({ a: kind === "sums" ? 1 : 0, b: kind === "sums" ? 0 : 1 }) }

const fitted = (world: World) =>
  Effect.map(examplesOf(world), (examples) => ({ examples, head: Result.getOrThrow(Head.fit(examples)) }))

/** Weights by hand: `worker` and `role` win in each situation that is named. */
const byHand = (head: Head.Head, set: (row: (name: string) => number) => ReadonlyArray<readonly [number, number]>) => {
  const width = head.weights.length / (head.workers.length + Head.roles.length)
  const weights = new Float32Array(head.weights.length)
  const rows = [...head.workers, ...Head.roles]
  for (const [at, value] of set((name) => rows.indexOf(name) * width + head.space.mean.length)) weights[at] = value
  return { ...head, weights }
}

describe("Head", () => {
  it.effect("learns which worker is right at what, and applies it to new questions", () =>
    Effect.gen(function* () {
      const { head } = yield* fitted(halves)
      const [sum, poem] = yield* Outcomes.examples([
        { id: "s", text: texts.sums(501), scores: new Map(), costUsd: new Map(), answers: new Map(), at: 0 },
        { id: "p", text: texts.poems(502), scores: new Map(), costUsd: new Map(), answers: new Map(), at: 0 }
      ])
      const chosen = [sum!, poem!].map(({ point }) => Head.decide(head, Head.place(head, point), Head.atStart))
      assert.deepStrictEqual(chosen, [
        { role: "worker", worker: "a" },
        { role: "worker", worker: "b" }
      ])
      const after = Head.decide(head, Head.place(head, sum!.point), { ...Head.atStart, turn: 1, hasAnswer: true })
      assert.strictEqual(after.role, "stop")
      assert.isNotNull(head.training.penalty)
    })
  )

  it.effect("always asks the best worker where questions tell nothing, or too few say who is better", () =>
    Effect.gen(function* () {
      // Accuracy is independent of the words.
      const luck = yield* fitted({
        count: 120,
        scoreOf: (_, index) => ({ a: index % 6 < 4 ? 1 : 0, b: index % 6 === 5 || index % 6 === 4 ? 1 : 0 })
      })
      const chosen = luck.examples.map(
        ({ point }) => Head.decide(luck.head, Head.place(luck.head, point), Head.atStart).worker
      )
      assert.isAbove(chosen.filter((worker) => worker === "a").length, 0.9 * chosen.length)
      const apart = yield* fitted({ count: 80, scoreOf: (kind) => (kind === "sums" ? { a: 1 } : { b: 0.9 }) })
      assert.isNull(apart.head.training.penalty)
      const single = apart.examples.map(
        ({ point }) => Head.decide(apart.head, Head.place(apart.head, point), Head.atStart).worker
      )
      assert.deepStrictEqual([...new Set(single)], ["a"])
    })
  )

  it.effect("leaves teams out, and fails if no worker has answered", () =>
    Effect.gen(function* () {
      const { head } = yield* fitted({ count: 40, scoreOf: () => ({ a: 1, "policy:moa": 1 }) })
      assert.deepStrictEqual(head.workers, ["a"])
      const nobody = Head.fit(yield* examplesOf({ count: 4, scoreOf: () => ({ "policy:moa": 1 }) }))
      assert.isTrue(Result.isFailure(nobody))
    })
  )

  it.effect("accepts no missing answer, and verifies nothing in the last turn", () =>
    Effect.gen(function* () {
      const { examples, head } = yield* fitted(halves)
      const place = Head.place(head, examples[0]!.point)
      const decide = (one: Head.Head, situation: Partial<Head.Situation>, wanted?: Head.Constraints) =>
        Head.decide(one, place, { ...Head.atStart, ...situation }, wanted)
      const stops = byHand(head, (row) => [[row("stop"), 1]])
      assert.notStrictEqual(decide(stops, {}).role, "stop")
      assert.strictEqual(decide(stops, { hasAnswer: true }).role, "stop")
      const verifies = byHand(head, (row) => [
        [row("verifier"), 2],
        [row("thinker"), 1],
        [row("a"), 1]
      ])
      assert.strictEqual(decide(verifies, {}).role, "thinker")
      assert.strictEqual(decide(verifies, { turn: 1, hasAnswer: true }).role, "verifier")
      assert.notStrictEqual(decide(verifies, { turn: 2, hasAnswer: true, isDoubted: true }).role, "verifier")
      assert.notStrictEqual(decide(verifies, { turn: 4, hasAnswer: true }).role, "verifier")
      assert.strictEqual(decide(verifies, { turn: 4 }).role, "worker")
      // A worker does not verify its own answer if another one can.
      assert.strictEqual(decide(verifies, { turn: 1, hasAnswer: true }, { answeredBy: "a" }).worker, "b")
      const alone = decide(verifies, { turn: 1, hasAnswer: true }, { answeredBy: "a", among: ["a"] })
      assert.deepStrictEqual(alone, { role: "verifier", worker: "a" })
    })
  )

  it.effect("is the same head after writing and reading, and reports the faults of a file", () =>
    Effect.gen(function* () {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-head-"))
      const file = path.join(folder, "new", "head.json")
      const { head } = yield* fitted(halves)
      assert.isUndefined(yield* Head.read(file))
      yield* Head.write(file, head)
      assert.deepStrictEqual(yield* Head.read(file), head)
      fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace('"a"', '"c"'))
      assert.match((yield* Effect.flip(Head.read(file))).message, /its checksum does not match/)
      const json = Head.toJson(head)
      const short = Head.parse({ ...json, workers: ["a"] })
      assert.match(Result.isFailure(short) ? short.failure.message : "", /finite weights/)
      assert.isTrue(Result.isFailure(Head.parse({ ...json, version: 2 })))
      fs.rmSync(folder, { recursive: true })
    })
  )
})
