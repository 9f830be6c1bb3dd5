import * as Conductor from "@divisi/core/Conductor"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Head from "../../src/head/Head.ts"
import * as HeadPolicy from "../../src/head/HeadPolicy.ts"

const dimensions = 512
const numbers = ["constant", "answer", "doubted", "advised", "turn"] as const

type Weights = Readonly<Record<string, Partial<Record<(typeof numbers)[number], number>>>>

/** A head that looks at the situation alone. */
const headOf = (workers: ReadonlyArray<string>, rows: Weights): Head.Head => {
  const names = [...workers, ...Head.roles]
  const width = dimensions + numbers.length
  const weights = new Float32Array(names.length * width)
  for (const [name, row] of Object.entries(rows)) {
    for (const [at, number] of numbers.entries()) {
      weights[names.indexOf(name) * width + dimensions + at] = row[number] ?? 0
    }
  }
  const space = { mean: new Float32Array(dimensions), scale: new Float32Array(dimensions).fill(1) }
  return {
    embedder: "hashed-512",
    workers,
    space,
    weights,
    training: { questions: 0, penalty: null, generations: 0, runs: 0 }
  }
}

/** Runs a question, and returns each worker's prompts. */
const run = (head: Head.Head, replies: Readonly<Record<string, ReadonlyArray<ScriptedWorker.Reply>>>) =>
  Effect.gen(function* () {
    const workers = Object.entries(replies).map(([id, script]) => ScriptedWorker.make({ id, replies: script }))
    const pool = WorkerPool.makeUnsafe(workers as [ScriptedWorker.ScriptedWorker])
    const conductor = Conductor.make({
      pool,
      policy: HeadPolicy.make(head),
      retry: { maxAttempts: 1, baseDelayMillis: 0, maxDelayMillis: 0 }
    })
    const result = yield* conductor.run("How much is 6 times 7?")
    const asked = Object.fromEntries(workers.map(({ calls, id }) => [id, calls.map(({ messages }) => messages)]))
    return { result, asked }
  })

const said = (messages: ReadonlyArray<{ readonly content: unknown }> | undefined) =>
  (messages ?? []).map(({ content }) => String(content)).join("\n---\n")

/** A worker answers; another verifies it; after an objection, again. */
const verifying: Weights = {
  worker: { constant: 1, doubted: 3 },
  verifier: { answer: 3 },
  a: { constant: 1 }
}

describe("HeadPolicy", () => {
  it.effect("calls one worker and accepts its answer", () =>
    Effect.gen(function* () {
      const head = headOf(["a", "b"], { worker: { constant: 1 }, stop: { answer: 2 }, b: { constant: 1 } })
      const { asked, result } = yield* run(head, { a: [], b: ["42"] })
      assert.strictEqual(result.answer, "42")
      assert.strictEqual(result.spend.calls, 1)
      assert.strictEqual(said(asked.b![0]), "How much is 6 times 7?")
    })
  )

  it.effect("has a thinker advise the worker", () =>
    Effect.gen(function* () {
      const head = headOf(["a"], {
        thinker: { constant: 1, advised: -2 },
        worker: { constant: 0.5 },
        stop: { answer: 5 }
      })
      const { asked, result } = yield* run(head, { a: ["Multiply.", "42"] })
      assert.strictEqual(result.answer, "42")
      assert.match(said(asked.a![0]), /Do not answer yet/)
      assert.match(said(asked.a![1]), /Multiply\.[\s\S]*Use the plan above/)
      assert.strictEqual(result.spend.calls, 2)
    })
  )

  it.effect("asks again with what a verifier objects, until one accepts", () =>
    Effect.gen(function* () {
      const { asked, result } = yield* run(headOf(["a", "b"], verifying), {
        a: ["41", "42"],
        b: ["It is even.\nVerdict: revise", "Verdict: accept"]
      })
      assert.strictEqual(result.answer, "42")
      assert.strictEqual(result.ending, "answered")
      assert.match(said(asked.b![0]), /41[\s\S]*Check the answer above/)
      assert.match(said(asked.a![1]), /41[\s\S]*An objection to it: It is even/)
      assert.strictEqual(result.spend.calls, 4)
    })
  )

  it.effect("takes five turns at most, and the last answer", () =>
    Effect.gen(function* () {
      const { asked, result } = yield* run(headOf(["a", "b"], verifying), {
        a: ["1", "2", "3", "4"],
        b: ["Verdict: revise", "Verdict: revise", "Verdict: revise"]
      })
      assert.strictEqual(result.answer, "3")
      assert.deepStrictEqual([asked.a!.length, asked.b!.length], [3, 2])
    })
  )

  it.effect("takes a verifier without a verdict at its own answer", () =>
    Effect.gen(function* () {
      const agreeing = yield* run(headOf(["a", "b"], verifying), { a: ["The answer is 42."], b: ["Answer: 42"] })
      assert.strictEqual(agreeing.result.answer, "The answer is 42.")
      assert.strictEqual(agreeing.result.spend.calls, 2)
      const other = yield* run(headOf(["a", "b"], verifying), { a: ["41", "42"], b: ["Answer: 42", "42"] })
      assert.strictEqual(other.result.answer, "42")
    })
  )

  it.effect("calls another worker if one fails, and continues if a verifier fails", () =>
    Effect.gen(function* () {
      const fails = { fail: { _tag: "Overloaded" } } as const
      const { asked, result } = yield* run(
        headOf(["a", "b"], { worker: { constant: 1 }, stop: { answer: 2 }, a: { constant: 1 } }),
        {
          a: [fails],
          b: ["42"]
        }
      )
      assert.strictEqual(result.answer, "42")
      assert.deepStrictEqual([asked.a!.length, asked.b!.length], [1, 1])
      const unverified = yield* run(headOf(["a", "b"], verifying), { a: ["42"], b: [fails] })
      assert.strictEqual(unverified.result.answer, "42")
      assert.strictEqual(unverified.result.ending, "answered")
    })
  )

  it.effect("fails if it knows no worker of the pool, or was trained with another embedder", () =>
    Effect.gen(function* () {
      const strangers = yield* run(headOf(["c"], verifying), { a: ["42"] })
      assert.match(
        strangers.result.detail ?? "",
        /it was not trained for any worker in this pool. It was trained for c/
      )
      const other = yield* run({ ...headOf(["a"], verifying), embedder: "minilm" }, { a: ["42"] })
      assert.match(other.result.detail ?? "", /trained with the embedder minilm, not hashed-512/)
    })
  )
})
