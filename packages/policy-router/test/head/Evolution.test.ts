import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Embedder, Grader } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Evolution from "../../src/head/Evolution.ts"
import * as Head from "../../src/head/Head.ts"
import * as Outcomes from "../../src/Outcomes.ts"

const pricing = { inputPerMillion: 1, outputPerMillion: 1 }

/** One who knows sums and one who knows poems. */
const pool = WorkerPool.makeUnsafe([
  ScriptedWorker.make({
    id: "a",
    pricing,
    replies: ({ messages }) => (/plus/.test(String(messages.at(-1)?.content)) ? "right" : "no")
  }),
  ScriptedWorker.make({
    id: "b",
    pricing,
    replies: ({ messages }) => (/plus/.test(String(messages.at(-1)?.content)) ? "no" : "right")
  })
])

const textOf = (index: number) =>
  index % 2 === 0 ? `How much is ${index} plus 3?` : `Write ${index} verses on the sea.`

const tasksOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => Task.make({ question: textOf(from + at), reference: "right" }))

/** So few numbers that a search of seconds finds what there is to find. */
const embedder = Embedder.hashed({ dimensions: 16 })

/** A head that knows nothing but that `a` was right more often. */
const startOf = Effect.map(
  Outcomes.examples(
    Array.from({ length: 20 }, (_, index) => ({
      id: String(index),
      text: textOf(index),
      scores: new Map([[index < 12 ? "a" : "b", index < 12 ? 1 : 0.9]]),
      costUsd: new Map(),
      answers: new Map(),
      at: 0
    })),
    embedder
  ),
  (examples) => Result.getOrThrow(Head.fit(examples, { embedder: embedder.name }))
)

const settings = {
  pool,
  embedder,
  grader: Grader.exact,
  tasks: tasksOf(100, 40),
  validation: tasksOf(200, 40),
  weights: "all" as const,
  generations: 30,
  population: 12,
  runs: 8,
  sigma: 0.2,
  seed: 3
}

describe("Evolution", () => {
  it.effect("finds out on whole runs who is right at what", () =>
    Effect.gen(function* () {
      const evolved = yield* Evolution.evolve({ ...settings, head: yield* startOf })
      assert.strictEqual(evolved.before, 0.5)
      assert.isTrue(evolved.isBetter)
      assert.isAbove(evolved.after, 0.9)
      assert.strictEqual(evolved.runs, 30 * 12 * 8)
      assert.deepStrictEqual(evolved.head.training, {
        questions: 20,
        penalty: null,
        generations: 30,
        runs: evolved.runs
      })
    })
  )

  it.effect("comes to the same end when stopped and resumed, and resumes no other search", () =>
    Effect.gen(function* () {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-evolution-"))
      const file = path.join(folder, "search.json")
      const few = { ...settings, generations: 4, head: yield* startOf }
      const whole = yield* Evolution.evolve(few)
      yield* Evolution.evolve({ ...few, generations: 2, file })
      const generations: Array<number> = []
      const resumed = yield* Evolution.evolve({
        ...few,
        file,
        onGeneration: ({ generation }) => void generations.push(generation)
      })
      assert.deepStrictEqual(generations, [3, 4])
      assert.deepStrictEqual({ ...resumed, costUsd: 0 }, { ...whole, costUsd: 0 })
      const other = yield* Effect.flip(Evolution.evolve({ ...few, seed: 4, file }))
      assert.match(other.message, /it belongs to another search/)
      fs.rmSync(folder, { recursive: true })
    })
  )

  it.effect(
    "spends no more than it may, and keeps the head that it began with where it could not validate another",
    () =>
      Effect.gen(function* () {
        const head = yield* startOf
        const paid = yield* Evolution.evolve({ ...settings, head, generations: 2 })
        const bounded = yield* Evolution.evolve({ ...settings, head, maxCostUsd: paid.costUsd * 0.6 })
        assert.isBelow(bounded.costUsd, paid.costUsd * 0.6)
        assert.isBelow(bounded.generations, 30)
        const hardly = yield* Evolution.evolve({ ...settings, head, maxCostUsd: paid.costUsd * 0.01 })
        assert.isFalse(hardly.isBetter)
        assert.strictEqual(hardly.head, head)
      })
  )

  it.effect("counts what runs cost as a loss", () =>
    Effect.gen(function* () {
      const head = yield* startOf
      const free = yield* Evolution.evolve({ ...settings, head, generations: 1 })
      const priced = yield* Evolution.evolve({ ...settings, head, generations: 1, scorePerUsd: 1e4 })
      assert.closeTo(
        priced.difference,
        priced.after - priced.before - 1e4 * (priced.costAfter - priced.costBefore),
        1e-9
      )
      assert.closeTo(free.difference, free.after - free.before, 1e-9)
    })
  )

  it.effect("takes no outage for a wrong answer, and stops where it can measure nothing", () =>
    Effect.gen(function* () {
      const head = yield* startOf
      const down: ScriptedWorker.Reply = { fail: { _tag: "Network" } }
      const run = { retry: { maxAttempts: 1 }, reassign: "never" as const }
      const known = { ...settings, head, run, generations: 1, validation: tasksOf(200, 12) }
      const right = (share: number) =>
        WorkerPool.makeUnsafe(
          ["a", "b"].map((id) =>
            ScriptedWorker.make({ id, pricing, replies: (_, call) => (call % share === 1 ? down : "right") })
          )
        )
      const { after, before, difference } = yield* Evolution.evolve({ ...known, pool: right(4) })
      assert.deepStrictEqual([before, after, difference], [1, 1, 0])
      const everywhere = WorkerPool.makeUnsafe(["a", "b"].map((id) => ScriptedWorker.make({ id, replies: [down] })))
      const error = yield* Effect.flip(Evolution.evolve({ ...known, pool: everywhere }))
      assert.match(error.message, /runs were not measured: \d+ steps failed .*unreachable/)
    })
  )

  it.effect("refuses validation tasks that it learns on", () =>
    Effect.gen(function* () {
      const head = yield* startOf
      const error = yield* Effect.flip(Evolution.evolve({ ...settings, head, validation: settings.tasks }))
      assert.match(error.message, /40 of the validation tasks are also training tasks/)
    })
  )
})
