import { Prompt } from "@divisi/core"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Estimate from "../src/Estimate.ts"
import type { GrpoConfig, TrainingConfig } from "../src/TrainingConfig.ts"
import { scripted } from "./scriptedEngine.ts"
import { engine, grpo, parts, pool, prompt, tasks } from "./world.ts"

const phase = (changes: Partial<GrpoConfig> = {}): GrpoConfig =>
  ({
    type: "grpo",
    name: "learn",
    tasks: "sums",
    iterations: 10,
    questions: 4,
    groupSize: 8,
    advantage: {
      baseline: "group",
      divideByStd: true,
      zeroVariance: { type: "drop" },
      equalBy: "reward",
      recursionDiscount: 0.25
    },
    rollouts: { run: { maxSteps: 1, worker: {} }, maxTokens: 100, runConcurrency: 4 },
    recursion: { share: 0, rounds: 0 },
    ...changes
  }) as GrpoConfig

const config = (phases: TrainingConfig["phases"], changes: Partial<TrainingConfig> = {}): TrainingConfig => ({
  version: 1,
  name: "test",
  seed: 3,
  engine: { name: "toy", model: "table" },
  pool: [{ id: "a" }],
  grader: "exact",
  phases,
  checkpoints: { every: 10, keep: 1 },
  evaluateEvery: 0,
  recordRollouts: false,
  versions: {},
  ...changes
})

/** Each rollout makes one call of 100 tokens in and 50 out, which costs 0.001 USD. */
const options = (changes: Partial<Estimate.Options> = {}): Estimate.Options => ({
  config: config([phase()]),
  samples: {
    tokens: "counted",
    promptTokens: [200, 300],
    rollouts: [{ completionTokens: 40, calls: [{ worker: "a", inputTokens: 100, outputTokens: 50 }] }]
  },
  workers: [{ id: "a", pricing: { inputPerMillion: 5, outputPerMillion: 10 } }],
  engine: {
    pricing: { prefillPerMillion: 1, samplePerMillion: 2, trainPerMillion: 3 },
    speed: { secondsPerSampledToken: 0.001, secondsPerTrainedToken: 0.0001 }
  },
  secondsPerCall: { low: 0.4, high: 0.4 },
  ...changes
})

const within = (range: Estimate.Range, from: number, to: number) => {
  assert.isAtLeast(range.low, from)
  assert.isAtMost(range.high, to)
  assert.isAtMost(range.low, range.median)
  assert.isAtMost(range.median, range.high)
}

describe("an estimate", () => {
  it("counts what is certain exactly", () => {
    const estimate = Estimate.make(options())
    assert.deepStrictEqual(estimate.rollouts, { low: 320, median: 320, high: 320 })
    // With one step at most, a rollout makes one call, or none where its workflow cannot be read.
    within(estimate.calls, 200, 320)
    assert.deepStrictEqual(estimate.engineTokens.prefill, { low: 10_000, median: 10_000, high: 10_000 })
    assert.strictEqual(estimate.plannedIterations, 10)
    assert.strictEqual(estimate.stopped, 0)
    assert.deepStrictEqual(estimate.missing, [])
  })

  it("gives a range around the cost at list prices, and around the time", () => {
    const estimate = Estimate.make(options())
    within(estimate.costUsd.workers, 0.1, 0.32 * 1.6)
    assert.closeTo(estimate.costUsd.workers.median, 0.001 * estimate.calls.median, 0.02)
    // 10,000 tokens prefilled, about 12,800 sampled and 92,800 learned from.
    assert.closeTo(estimate.costUsd.engine!.median, (10_000 + 2 * 12_800 + 3 * 92_800) / 1e6, 0.03)
    // Sampling takes about 12.8 s, working 320 calls of 0.4 s by fours, learning 9.3 s.
    within(estimate.seconds!, 20 + 9, 32 + 9.3 * 1.5 + 12.8 * 2)
  })

  it("is the same for the same seed, and another for another", () => {
    assert.deepStrictEqual(Estimate.make(options()), Estimate.make(options()))
    assert.notDeepEqual(Estimate.make(options()), Estimate.make(options({ seed: 9 })))
  })

  it("reaches further where less is known", () => {
    const width = (estimate: Estimate.Estimate) => estimate.costUsd.workers.high / estimate.costUsd.workers.low
    const samples = options().samples
    const assumed = Estimate.make(options({ samples: { ...samples, tokens: "assumed" } }))
    const longer = phase({ rollouts: { ...phase().rollouts, run: { ...phase().rollouts.run, maxSteps: 5 } } })
    assert.isAbove(width(assumed), 1.5 * width(Estimate.make(options())))
    assert.isAbove(Estimate.make(options({ config: config([longer]) })).calls.high, 320 * 2)
  })

  it("says which prices and speeds are unknown, and counts none of them as 0", () => {
    const rollouts = [
      { completionTokens: 40, calls: [{ worker: "a", inputTokens: 100, outputTokens: 50 }] },
      { completionTokens: 40, calls: [{ worker: "b", inputTokens: 100, outputTokens: 50 }] }
    ]
    const { secondsPerCall: _, ...rest } = options({
      samples: { tokens: "counted", promptTokens: [250], rollouts },
      engine: {}
    })
    const estimate = Estimate.make({ ...rest, workers: [...rest.workers, { id: "b" }] })
    assert.deepStrictEqual(estimate.unpriced, [{ worker: "b", share: 0.5 }])
    assert.isUndefined(estimate.costUsd.engine)
    assert.isUndefined(estimate.seconds)
    assert.deepStrictEqual(estimate.missing, [
      "The price of b is unknown, so the cost of its calls is not included.",
      "The price of the engine toy is unknown.",
      "The speed of the engine toy is unknown.",
      "The duration of worker calls is unknown."
    ])
  })

  it("takes bounded time for any number of iterations", () => {
    const of = (iterations: number) =>
      Estimate.make(options({ config: config([phase({ iterations })]), simulations: 3 })).calls.median
    assert.strictEqual(
      Estimate.make(options({ config: config([phase({ iterations: 1e12 })]) })).iterations.median,
      1e12
    )
    assert.approximately(of(1e12) / of(1e4), 1e8, 3e7)
  })

  it("stops where the run would stop", () => {
    const estimate = Estimate.make(options({ config: config([phase()], { maxCostUsd: 0.1 }) }))
    assert.isAbove(estimate.stopped, 0.95)
    within(estimate.iterations, 2, 10)
    assert.isBelow(estimate.costUsd.workers.high, 0.16)
  })

  it("counts warm starts, evaluations, recursive rounds and further groups", () => {
    const warm = { type: "warm-start", name: "warm", examples: "plans", steps: 5, batch: 2 } as const
    const estimate = Estimate.make(
      options({
        config: config([{ ...warm, optimizer: phase().optimizer }, phase()], { evaluateEvery: 5 }),
        examples: { plans: { tokens: 1_000 } },
        evaluationTasks: 7
      })
    )
    assert.strictEqual(estimate.plannedIterations, 15)
    // Iterations 5 (of the warm start), 10 and 15 end with an evaluation.
    assert.strictEqual(estimate.rollouts.median, 320 + 3 * 7)
    assert.isAbove(estimate.engineTokens.trained.low, 10_000)
    const missing = Estimate.make(options({ config: config([{ ...warm, optimizer: phase().optimizer }]) })).missing
    assert.include(missing.join(), "The size of the examples in phase warm is unknown")

    const recursive = phase({ recursion: { share: 0.5, rounds: 2 } })
    within(Estimate.make(options({ config: config([recursive]) })).rollouts, 320, 640)
    const advantage = { ...phase().advantage, zeroVariance: { type: "resample", maxExtra: 1 } as const }
    within(Estimate.make(options({ config: config([phase({ advantage })]) })).rollouts, 320, 640)
  })

  it("refuses to go by nothing", () => {
    assert.throws(
      () => Estimate.make(options({ samples: { tokens: "counted", promptTokens: [], rollouts: [] } })),
      /at least one prompt/
    )
  })
})

describe("a rehearsal", () => {
  const plan = (input: Parameters<typeof grpo>[0] = {}) =>
    grpo({ ...input, rollouts: { ...input.rollouts, run: { maxSteps: 3, ...input.rollouts?.run } } })

  it.effect("calls no worker, within the limits of the config", () =>
    Effect.gen(function* () {
      const phase = plan({ rollouts: { run: { worker: { maxOutputTokens: 120 } } } })
      const silent = WorkerPool.makeUnsafe(
        pool.workers.map((worker) => ({ ...worker, generate: () => Stream.die(new Error("Somebody asked.")) }))
      )
      const options = { parts: { ...parts(), pool: silent }, phase, answerTokens: 100, count: 60, seed: 1 }
      const samples = yield* Estimate.rehearse(options)
      assert.strictEqual(samples.tokens, "assumed")
      assert.deepStrictEqual([...new Set(samples.rollouts.map((one) => one.calls.length))].sort(), [1, 2, 3])
      const calls = samples.rollouts.flatMap((rollout) => rollout.calls)
      assert.strictEqual(Math.max(...calls.map(({ outputTokens }) => outputTokens)), 120)
      assert.deepStrictEqual([...new Set(calls.map(({ worker }) => worker))].sort(), ["adder", "speller"])
      // A step that sees others' answers reads them.
      assert.isAbove(Math.max(...calls.map(({ inputTokens }) => inputTokens)), 100)
      assert.isAbove(Math.min(...samples.promptTokens), 0)
      assert.deepStrictEqual(yield* Estimate.rehearse(options), samples)
    })
  )

  it.effect("counts the tokens of prompts, and of workers that cost nothing to ask", () =>
    Effect.gen(function* () {
      const { tokenizer } = engine()
      const samples = yield* Estimate.rehearse({
        parts: parts(),
        phase: plan({ pool: { type: "random", min: 1, max: 1 } }),
        tokenizer,
        asksWorkers: true,
        count: 10
      })
      assert.strictEqual(samples.tokens, "counted")
      const task = yield* tasks.task(0, 0)
      const one = WorkerPool.makeUnsafe([pool.workers[0]!])
      const messages = Prompt.conductorMessages({ task, pool: one, maxSteps: 3, self: false }, prompt)
      assert.strictEqual(samples.promptTokens[0], tokenizer.render(messages).length)
      const calls = samples.rollouts.flatMap((rollout) => rollout.calls)
      assert.isBelow(Math.max(...calls.map(({ outputTokens }) => outputTokens)), 10)
    })
  )

  it("of plans without a call does not make a run free", () => {
    const rollouts = [{ completionTokens: 4, calls: [] }]
    const { missing } = Estimate.make(options({ samples: { tokens: "counted", promptTokens: [5], rollouts } }))
    assert.include(missing.join(), "the cost of workers is unknown")
  })
})

describe("the speed of an engine", () => {
  it.effect("is measured the second time, when all is compiled", () =>
    Effect.gen(function* () {
      const engine = scripted({ sampleMillis: [5_000, 200], trainMillis: [9_000, 420], tokens: 10 })
      const speed = yield* Estimate.measureSpeed(engine, [1, 2, 3, 4], { groupSize: 5, maxTokens: 10 })
      assert.closeTo(speed.secondsPerSampledToken, 0.2 / 50, 1e-9)
      assert.closeTo(speed.secondsPerTrainedToken, 0.42 / (50 + 20), 1e-9)
    })
  )
})
