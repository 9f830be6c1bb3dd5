import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Transcript from "../src/events/Transcript.ts"
import * as Strongest from "../src/policy/Strongest.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import type { Checks } from "../src/task/Check.ts"
import type { Worker } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const priced = (id: string, outputPerMillion?: number, replies: ReadonlyArray<string> = [id]): Worker => ({
  ...ScriptedWorker.make({ id, replies }),
  pricing: outputPerMillion === undefined ? undefined : { inputPerMillion: 1, outputPerMillion }
})

const poolOf = (...workers: ReadonlyArray<Worker>) => WorkerPool.makeUnsafe(workers)

const chosen = (pool: WorkerPool.WorkerPool, dial?: Strongest.Dial) =>
  Strongest.choose(pool, { dial }).workers.map((worker) => pool.workers[worker]!.id)

const run = Effect.fnUntraced(function* (pool: WorkerPool.WorkerPool, dial?: Strongest.Dial) {
  const recorder = Transcript.recorder()
  const conductor = Conductor.make({ pool, policy: Strongest.make({ dial }) })
  const result = yield* conductor.run("Why?", { listener: recorder.listener })
  return { result, notes: recorder.transcript()!.rounds.flatMap(({ notes }) => notes) }
})

describe("The first day of a pool", () => {
  it("asks who was best in a public record that knows the whole pool, and names the record", () => {
    const pool = poolOf(priced("anthropic:claude-3.5-sonnet", 15), priced("openai:o3-mini", 4.4))
    assert.deepStrictEqual(chosen(pool), ["openai:o3-mini"])
    const { why } = Strongest.choose(pool)
    assert.match(why, /openai:o3-mini answered 6\d\.\d% ± 1\.\d of \d+ questions of reasoning-gym/)
    assert.include(why, "read 2026-")
  })

  it("asks the cheaper of two that no record tells apart", () => {
    const records = [{ ...Strongest.records[0]!, workers: ["a", "b"], questions: 100, right: [80, 82] }]
    const pool = poolOf(priced("x:a", 1), priced("x:b", 10))
    assert.deepStrictEqual(Strongest.choose(pool, { records }).workers, [0])
  })

  it("claims nothing of a pool with a model that was not measured: prices decide, or the order", () => {
    const stranger = priced("openai:gpt-99", 30)
    assert.deepStrictEqual(chosen(poolOf(priced("openai:o3-mini", 4.4), stranger)), ["openai:gpt-99"])
    assert.include(Strongest.choose(poolOf(priced("openai:o3-mini", 4.4), stranger)).why, "no published results")
    assert.deepStrictEqual(chosen(poolOf(priced("one"), priced("two"))), ["one"])
    assert.deepStrictEqual(chosen(poolOf(priced("one", 0), priced("two", 0))), ["one"])
  })

  it("has a price dial: within two points where that was measured, two cheap ones before the strong one at half", () => {
    const pool = poolOf(priced("google:gemini-2.5-pro", 10), priced("mistralai:mistral-large-2512", 1.5))
    assert.deepStrictEqual(chosen(pool), ["google:gemini-2.5-pro"])
    assert.deepStrictEqual(chosen(poolOf(priced("a", 10), priced("b", 1)), "within-2"), ["a"])
    assert.deepStrictEqual(chosen(poolOf(priced("a", 10), priced("b", 1)), "half"), ["b"])
    assert.deepStrictEqual(chosen(poolOf(priced("a", 10), priced("b", 1), priced("c", 1)), "half"), ["b", "c", "a"])
    assert.deepStrictEqual(chosen(poolOf(priced("a", 10), priced("b", 9)), "half"), ["a"])
  })

  it.effect("asks the strong one where two cheap ones differ", () =>
    Effect.gen(function* () {
      const agree = poolOf(priced("a", 10), priced("b", 1, ["42"]), priced("c", 1, ["42"]))
      const one = yield* run(agree, "half")
      assert.deepStrictEqual([one.result.answer, one.result.spend.calls], ["42", 2])
      const differ = poolOf(priced("a", 10, ["43"]), priced("b", 1, ["42"]), priced("c", 1, ["41"]))
      const other = yield* run(differ, "half")
      assert.deepStrictEqual([other.result.answer, other.result.spend.calls], ["43", 3])
      assert.include(other.notes.join("\n"), "The two answers differ")
    })
  )

  it.effect("asks the strongest of those that see pictures where there is one", () =>
    Effect.gen(function* () {
      const seeing = { ...priced("seeing", 1), capabilities: { images: true } }
      const conductor = Conductor.make({ pool: poolOf(priced("blind", 10), seeing), policy: Strongest.make() })
      const picture = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const
      const result = yield* conductor.run([{ type: "text", text: "What is it?" }, picture])
      assert.strictEqual(result.answer, "seeing")
    })
  )

  it.effect("asks the next strongest where one fails", () =>
    Effect.gen(function* () {
      const broken: Worker = { ...priced("broken", 20), generate: () => Effect.die(new Error("broken")) }
      const pool = poolOf(priced("small", 1), broken, priced("large", 10))
      const conductor = Conductor.make({ pool, policy: Strongest.make(), recursion: 1 })
      assert.strictEqual((yield* conductor.run("Why?")).answer, "large")
    })
  )

  it.effect("asks one worker once, and says why", () =>
    Effect.gen(function* () {
      const { notes, result } = yield* run(poolOf(priced("small", 1), priced("large", 10)))
      assert.deepStrictEqual([result.answer, result.spend.calls], ["large", 1])
      assert.include(notes[0], "large is chosen as the most expensive")
    })
  )

  describe("where the run has a check", () => {
    const checked = (pool: WorkerPool.WorkerPool, passes: string, dial?: Strongest.Dial, more: Checks = {}) =>
      Effect.gen(function* () {
        const recorder = Transcript.recorder()
        const checks = { passes: (answer: string) => answer === passes || "Not that one.", ...more }
        const conductor = Conductor.make({ pool, policy: Strongest.make({ dial }), checks })
        const { answer, ending } = yield* conductor.run("Why?", { listener: recorder.listener })
        const { rounds } = recorder.transcript()!
        const asked = rounds.flatMap(({ steps }) => steps.map(({ worker }) => worker))
        return { answer, asked, ending, rounds }
      })

    const three = poolOf(priced("small", 1), priced("large", 10), priced("middle", 5))

    it.effect("asks the strongest of the others for as long as no answer passes", () =>
      Effect.gen(function* () {
        assert.deepInclude(yield* checked(three, "large"), { answer: "large", asked: ["large"] })
        assert.deepInclude(yield* checked(three, "middle"), { answer: "middle", asked: ["large", "middle"] })
        assert.deepInclude(yield* checked(three, "small"), { answer: "small", asked: ["large", "middle", "small"] })
      })
    )

    it.effect("uses the strongest worker's answer if none passes, and reports it", () =>
      Effect.gen(function* () {
        const pool = poolOf(priced("small", 1), priced("large", 10))
        const { answer, asked, ending, rounds } = yield* checked(pool, "nobody says this")
        assert.deepStrictEqual(
          { answer, asked, ending },
          { answer: "large", asked: ["large", "small"], ending: "answered" }
        )
        assert.include(JSON.stringify(rounds), "No answer passed the check, and no worker is left to try.")
      })
    )

    it.effect("asks one cheap worker first at half the price, and then the strongest", () =>
      Effect.gen(function* () {
        const pool = poolOf(priced("large", 100), priced("small", 1), priced("other", 2), priced("middle", 60))
        assert.deepInclude(yield* checked(pool, "other", "half"), { answer: "other", asked: ["other"] })
        assert.deepInclude(yield* checked(pool, "large", "half"), { answer: "large", asked: ["other", "large"] })
      })
    )

    it.effect("leaves answers unchecked where it has several, as it does not know which fits", () =>
      Effect.gen(function* () {
        const found = yield* checked(three, "small", "best", { another: () => "Never." })
        assert.deepInclude(found, { answer: "large", asked: ["large"] })
      })
    )
  })
})
