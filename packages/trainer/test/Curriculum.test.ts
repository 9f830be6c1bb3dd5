import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import { WorkerStream } from "@divisi/core/streams"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Curriculum from "../src/Curriculum.ts"
import * as ExampleSource from "../src/ExampleSource.ts"
import type { RolloutRecord } from "../src/RolloutRecord.ts"
import * as TaskSource from "../src/TaskSource.ts"
import * as ToyEngine from "../src/ToyEngine.ts"

const pool = WorkerPool.makeUnsafe(["a", "b", "c", "d"].map(ScriptedWorker.echo))
const draws = (config: Parameters<typeof Curriculum.drawPool>[1], count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, seed) => seed),
    (seed) => Effect.map(Curriculum.drawPool(pool, config, seed), WorkerPool.ids)
  )

describe("Curriculum", () => {
  it.effect("draws every size, every set and every order", () =>
    Effect.gen(function* () {
      const drawn = yield* draws({ type: "random", min: 2, max: 3 }, 600)
      const sizes = drawn.map((ids) => ids.length)
      assert.deepStrictEqual([...new Set(sizes)].sort(), [2, 3])
      assert.approximately(sizes.filter((size) => size === 2).length, 300, 60)
      // 12 pairs and 24 triples, in order.
      assert.strictEqual(new Set(drawn.map(String)).size, 36)
      const shuffled = yield* draws({ type: "shuffled" }, 300)
      assert.strictEqual(new Set(shuffled.map(String)).size, 24)
      assert.deepStrictEqual(yield* draws({ type: "fixed" }, 2), [WorkerPool.ids(pool), WorkerPool.ids(pool)])
    })
  )

  it.effect("never draws a set that is held out, in whatever order", () =>
    Effect.gen(function* () {
      const drawn = yield* draws(
        {
          type: "random",
          min: 2,
          max: 2,
          heldOut: [
            ["b", "a"],
            ["c", "d"]
          ]
        },
        300
      )
      assert.deepStrictEqual([...new Set(drawn.map((ids) => [...ids].sort().join("")))].sort(), [
        "ac",
        "ad",
        "bc",
        "bd"
      ])
      const isHeldOut = (ids: ReadonlyArray<string>) => ids.includes("a")
      const other = yield* Curriculum.drawPool(pool, { type: "random", min: 3, max: 4 }, 1, isHeldOut)
      assert.deepStrictEqual([...WorkerPool.ids(other)].sort(), ["b", "c", "d"])
      const none = Curriculum.drawPool(pool, { type: "random", min: 1, max: 4 }, 1, () => true)
      assert.include((yield* Effect.flip(none)).message, "all of them are held out")
      const many = Curriculum.drawPool(pool, { type: "random", min: 5, max: 9 }, 1)
      assert.include((yield* Effect.flip(many)).message, "5 to 9 of 4 workers")
    })
  )

  it.effect("puts a share of the workers out of reach where a question has recursive rounds, and there alone", () =>
    Effect.gen(function* () {
      const parts = {
        pool,
        tasks: TaskSource.make("any", (_, index) => Task.make({ id: `${index}`, question: "Why?" }))
      }
      const config = { pool: { type: "shuffled" }, recursion: { share: 0.5, rounds: 1, outages: 0.25 } } as const
      const reached = (index: number) =>
        Effect.gen(function* () {
          const { extraRounds, pool } = yield* Curriculum.question(parts, config, 3, index)
          const calls = yield* Effect.forEach(pool.workers, (worker) =>
            Effect.result(Stream.runDrain(WorkerStream.generate(worker, { messages: [] })))
          )
          return { extraRounds, ids: WorkerPool.ids(pool), reached: calls.map(({ _tag }) => _tag === "Success") }
        })
      const questions = yield* Effect.forEach(
        Array.from({ length: 200 }, (_, index) => index),
        reached
      )
      assert.isTrue(questions.every(({ ids }) => ids.length === 4))
      const [once, again] = [0, 1].map((rounds) =>
        questions.filter(({ extraRounds }) => extraRounds === rounds).flatMap(({ reached }) => reached)
      )
      assert.isTrue(once!.every((isReached) => isReached))
      assert.approximately(again!.filter((isReached) => !isReached).length, 100, 35)
      assert.deepStrictEqual(yield* reached(1), questions[1]!)
    })
  )

  it("gives a share of any iteration recursive rounds", () => {
    for (const share of [0, 0.25, 0.3, 0.5, 1]) {
      const recursive = Array.from({ length: 200 }, (_, index) => Curriculum.extraRounds({ share, rounds: 2 }, index))
      assert.strictEqual(recursive.filter((rounds) => rounds === 2).length, Math.round(200 * share))
      assert.strictEqual(recursive.filter((rounds) => rounds === 0).length, Math.round(200 * (1 - share)))
    }
  })
})

describe("TaskSource", () => {
  const tasks = ["a", "b", "c", "d", "e"].map((id) => Task.make({ id, question: id, metadata: { level: id } }))
  const ids = (source: TaskSource.TaskSource, seed: number, from: number, count: number) =>
    Effect.map(
      Effect.forEach(Array.from({ length: count }), (_, at) => source.task(seed, from + at)),
      (found) => found.map(({ id }) => id).join("")
    )

  it.effect("returns all tasks once before repeating any, in another order each time", () =>
    Effect.gen(function* () {
      const source = TaskSource.fromTasks("five", tasks)
      const passes = yield* Effect.forEach([0, 1, 2, 3], (pass) => ids(source, 7, 5 * pass, 5))
      for (const pass of passes) assert.strictEqual([...pass].sort().join(""), "abcde")
      assert.isAbove(new Set(passes).size, 1)
      assert.strictEqual(yield* ids(source, 7, 2, 3), passes[0]!.slice(2))
      assert.notStrictEqual(yield* ids(source, 8, 0, 20), passes.join(""))
    })
  )

  it.effect("mixes sources by their shares and filters by what is wanted", () =>
    Effect.gen(function* () {
      const make = (name: string) =>
        TaskSource.make(
          name,
          (_, index) => Task.make(`${name} ${index}`),
          () => name
        )
      const source = TaskSource.mix([
        { source: make("easy"), share: 1 },
        { source: make("hard"), share: 3 }
      ])
      const kinds = yield* Effect.forEach(Array.from({ length: 400 }), (_, index) =>
        Effect.map(source.task(3, index), source.kind)
      )
      assert.approximately(kinds.filter((kind) => kind === "hard").length, 300, 40)
      const wanted = TaskSource.filter(TaskSource.fromTasks("five", tasks), ({ id }) => id === "c")
      assert.strictEqual(yield* ids(wanted, 1, 0, 6), "cccccc")
    })
  )
})

describe("a source whose tasks come with workers", () => {
  it.effect("gives each question its own, among other sources, too", () =>
    Effect.gen(function* () {
      const all = WorkerPool.makeUnsafe(["x", "y"].map(ScriptedWorker.echo))
      const own = WorkerPool.makeUnsafe(["own"].map(ScriptedWorker.echo))
      const make = (name: string) =>
        TaskSource.make(
          name,
          (_, index) => Task.make(`${name} ${index}`),
          () => name
        )
      const tasks = TaskSource.mix([
        { source: { ...make("team"), pool: () => own }, share: 1 },
        { source: make("plain"), share: 1 }
      ])
      const config = { pool: { type: "fixed" }, recursion: { share: 0, rounds: 1 } } as const
      for (let index = 0; index < 12; index++) {
        const question = yield* Curriculum.question({ tasks, pool: all }, config, 5, index)
        assert.strictEqual(question.pool, question.kind === "team" ? own : all)
      }
    })
  )
})

describe("ExampleSource", () => {
  const tokenizer = ToyEngine.tokenizer(["model_id = "])

  it("weighs tokens by the spans in which they begin, the end by the whole text's", () => {
    const [datum] = ExampleSource.toData(
      {
        messages: [{ role: "user", content: "?" }],
        completions: [
          {
            text: "model_id = [3]",
            weight: 0.5,
            spans: [
              { start: 0, end: 11, weight: 1 },
              { start: 12, end: 13, weight: 8 }
            ]
          }
        ]
      },
      tokenizer
    )
    assert.deepStrictEqual(datum!.weights, [1, 0.5, 8, 0.5, 0.5])
    assert.strictEqual(datum!.completion.at(-1), tokenizer.endToken)
  })

  it("counts characters of several bytes once", () => {
    const tokens = tokenizer.encode("é1")
    assert.deepStrictEqual(ExampleSource.offsets(tokenizer, tokens).at(-1), 1)
  })

  it("shares the prompt between the completions of an example", () => {
    const data = ExampleSource.toData(
      { messages: [{ role: "user", content: "?" }], completions: [{ text: "a" }, { text: "b" }] },
      tokenizer
    )
    assert.strictEqual(data[0]!.prompt, data[1]!.prompt)
  })

  it("makes examples of the right completions of recorded rollouts, each once", () => {
    const group = { type: "group", messages: [{ role: "user", content: "6 x 7?" }] }
    const completion = (text: string, result: string, round = 0) => ({
      type: "completion",
      completion: text,
      result,
      round
    })
    const records = [
      group,
      completion("a", "correct"),
      completion("b", "wrong"),
      completion("a", "correct"),
      completion("c", "correct", 1),
      { ...group, messages: [] },
      completion("d", "wrong")
    ] as unknown as ReadonlyArray<RolloutRecord>
    assert.deepStrictEqual(
      ExampleSource.ofRollouts(records, ({ messages }) => messages),
      [{ messages: [{ role: "user", content: "6 x 7?" }], completions: [{ text: "a" }] }]
    )
  })
})
