import { Grader } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { type Datum, type Engine, EngineError, type Loss } from "../src/Engine.ts"
import * as GrpoBatch from "../src/internal/grpoBatch.ts"
import type { GrpoMetrics } from "../src/Metrics.ts"
import type { Group } from "../src/Rollout.ts"
import type { CompletionRecord } from "../src/RolloutRecord.ts"
import * as RunFolder from "../src/RunFolder.ts"
import * as ToyEngine from "../src/ToyEngine.ts"
import * as Trainer from "../src/Trainer.ts"
import * as TrainingConfig from "../src/TrainingConfig.ts"
import { train } from "./trained.ts"
import { engine, grpo, parts, pieces, pool, warmStart } from "./world.ts"

/** An engine that says what it does, in order. */
const watched = (inner: Engine) => {
  const log: Array<string> = []
  const learned: Array<{ readonly data: ReadonlyArray<Datum>; readonly loss: Loss }> = []
  const watchedEngine: Engine = {
    ...inner,
    sampler: Effect.map(inner.sampler, (sampler) => ({
      ...sampler,
      sample: (request) => {
        log.push(`sample ${sampler.version}`)
        return sampler.sample(request)
      }
    })),
    forwardBackward: (data, loss) => {
      learned.push({ data, loss })
      return inner.forwardBackward(data, loss)
    },
    step: (settings) =>
      Effect.tap(inner.step(settings), ({ version }) => Effect.sync(() => log.push(`step ${version}`)))
  }
  return { engine: watchedEngine, log, learned }
}

/** Lets a fiber come to its end that waits for clocks and for files. */
const outlast = Effect.fnUntraced(function* <A, E>(fiber: Fiber.Fiber<A, E>) {
  while (fiber.pollUnsafe() === undefined) {
    yield* TestClock.adjust("1 second")
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  }
  return yield* Fiber.join(fiber)
})

describe("Trainer", () => {
  it.effect("learns to write workflows, and then who is right", () =>
    Effect.gen(function* () {
      const { events, folder, grpo: after, metrics, result } = yield* train([warmStart, grpo()])
      assert.deepStrictEqual(result.ending, { type: "finished" })
      const [first, last] = [metrics[0]!, metrics[29]!]
      assert.isTrue(first.type === "warm-start" && last.type === "warm-start")
      if (first.type === "warm-start" && last.type === "warm-start")
        assert.isBelow(last.tokenLoss, first.tokenLoss / 10)
      const correct = (some: ReadonlyArray<GrpoMetrics>) =>
        some.reduce((sum, one) => sum + one.correct, 0) / some.length
      assert.isBelow(correct(after.slice(0, 3)), 0.4)
      assert.isAbove(correct(after.slice(-5)), 0.8)
      // The worker chosen for each kind.
      const { sum, word } = after.at(-1)!.kinds
      assert.isAbove(sum!.workers.adder!, 4 * (sum!.workers.speller ?? 0))
      assert.isAbove(word!.workers.speller!, 4 * (word!.workers.adder ?? 0))
      assert.closeTo(
        after.reduce((total, one) => total + one.iterationCostUsd, 0),
        result.spentUsd,
        1e-9
      )
      assert.closeTo(after.at(-1)!.costUsd, result.spentUsd, 1e-9)
      assert.deepStrictEqual(
        events.filter(({ type }) => type === "phase-started" || type.startsWith("training")).map(({ type }) => type),
        ["training-started", "phase-started", "phase-started", "training-finished"]
      )
      assert.strictEqual(events.filter(({ type }) => type === "iteration-finished").length, 50)
      assert.deepStrictEqual(yield* RunFolder.checkpoints(folder), [40, 50])
    })
  )

  it.effect("writes down each completion with what it was worth", () =>
    Effect.gen(function* () {
      const { folder, grpo: metrics } = yield* train([warmStart, grpo({ iterations: 3, pool: { type: "shuffled" } })])
      const records = yield* RunFolder.readRollouts(folder, 32)
      const groups = records.filter(({ type }) => type === "group")
      const completions = records.filter((record): record is CompletionRecord => record.type === "completion")
      assert.strictEqual(groups.length, 4)
      assert.strictEqual(completions.length, 32)
      const last = metrics.at(-1)!
      assert.closeTo(completions.reduce((sum, { reward }) => sum + reward!, 0) / 32, last.rewardMean, 1e-12)
      for (const { advantage, completion, logProbs, result, reward, tokens, workers, workflow } of completions) {
        assert.strictEqual(tokens.length, logProbs.length)
        assert.strictEqual(ToyEngine.tokenizer(pieces).decode(tokens), completion)
        assert.strictEqual(reward, result === "correct" ? 1 : result === "wrong" ? 0.5 : 0)
        assert.strictEqual(workflow === undefined, result === "unreadable")
        assert.strictEqual(workers?.length, workflow?.steps.length)
        assert.isTrue(advantage === undefined || Math.abs(advantage) < 10)
      }
    })
  )

  it.effect("learns from data whose weights add up to 1, with one advantage for each completion", () =>
    Effect.gen(function* () {
      const { engine: watchedEngine, learned } = watched(engine())
      yield* train(
        [
          warmStart,
          grpo({ iterations: 2, minibatches: 2, objective: { weights: { thought: 0.5, lists: 2 }, entropy: 0.01 } })
        ],
        {
          engine: watchedEngine
        }
      )
      const steps = learned.filter(({ loss }) => loss.type === "clippedRatio")
      assert.strictEqual(steps.length, 4)
      for (const { data, loss } of steps) {
        assert.deepStrictEqual(loss, { type: "clippedRatio", low: 0.2, high: 0.2, entropy: 0.01 })
        let sum = 0
        for (const { advantages, completion, logProbs, weights } of data) {
          for (const weight of weights!) sum += weight
          assert.isTrue([advantages, logProbs, weights].every((values) => values!.length === completion.length))
          assert.strictEqual(new Set(advantages!).size, 1)
        }
        assert.closeTo(sum, 1, 1e-9)
      }
    })
  )

  it.effect("is strictly on-policy by default: nothing is sampled before the last step is made", () =>
    Effect.gen(function* () {
      const { engine: watchedEngine, log } = watched(engine())
      const { grpo: metrics } = yield* train(
        [grpo({ iterations: 3, questions: 2, minibatches: 2, advantage: { zeroVariance: { type: "keep" } } })],
        { engine: watchedEngine }
      )
      assert.deepStrictEqual(log, [
        "sample 0",
        "sample 0",
        "step 1",
        "step 2",
        "sample 2",
        "sample 2",
        "step 3",
        "step 4",
        "sample 4",
        "sample 4",
        "step 5",
        "step 6"
      ])
      assert.deepStrictEqual(
        metrics.map(({ lag }) => lag),
        [0, 0, 0]
      )
    })
  )

  it.effect("gathers the next rollouts while it learns, within the off-policy limit, and again after checkpoints", () =>
    Effect.gen(function* () {
      const phase = grpo({
        iterations: 7,
        questions: 2,
        minibatches: 2,
        offPolicySteps: 5,
        advantage: { zeroVariance: { type: "keep" } }
      })
      const { engine: watchedEngine, log } = watched(engine())
      // A payment is written before the call, and this engine learns in less time than that takes.
      const free = WorkerPool.makeUnsafe(pool.workers.map((worker) => ({ ...worker, recovery: "free" })) as never)
      const parts = { engine: watchedEngine, pool: free }
      const { grpo: metrics } = yield* train([phase], parts, { checkpoints: { every: 5 } })
      // Two iterations of two steps fit into five steps; after the fifth iteration there is a checkpoint.
      assert.deepStrictEqual(
        metrics.map(({ lag }) => lag),
        [0, 2, 4, 4, 4, 0, 2]
      )
      assert.isBelow(log.indexOf("sample 2"), log.indexOf("step 3"))
    })
  )

  it.effect("drops, keeps or replaces groups that teach nothing", () =>
    Effect.gen(function* () {
      // Nothing is ever read: all groups are alike.
      const of = Effect.fnUntraced(function* (zeroVariance: TrainingConfig.ZeroVariance) {
        const { engine: watchedEngine, learned } = watched(engine())
        const { folder, grpo: metrics } = yield* train([grpo({ iterations: 1, advantage: { zeroVariance } })], {
          engine: watchedEngine
        })
        const { position } = yield* RunFolder.readState(folder, 0)
        assert.strictEqual(position, 0)
        return { data: learned.flatMap(({ data }) => data).length, metrics: metrics[0]! }
      })
      const dropped = yield* of({ type: "drop" })
      assert.deepStrictEqual([dropped.data, dropped.metrics.groups, dropped.metrics.version], [0, 4, 0])
      const kept = yield* of({ type: "keep" })
      assert.deepStrictEqual([kept.data, kept.metrics.groups, kept.metrics.version], [32, 4, 1])
      const replaced = yield* of({ type: "resample", maxExtra: 1.5 })
      assert.deepStrictEqual([replaced.data, replaced.metrics.groups, replaced.metrics.resampled], [0, 10, 6])
    })
  )

  it("learns nothing from groups without a right answer, if correctness decides", () => {
    const results = (...results: ReadonlyArray<Grader.Result>) =>
      ({
        question: { extraRounds: 0 },
        rollouts: results.map((result) => ({ rounds: [{ result, reward: Grader.reward(result) }] }))
      }) as unknown as Group
    const advantages = (group: Group, equalBy: TrainingConfig.AdvantageConfig["equalBy"]) => {
      const { advantage: config } = TrainingConfig.grpo({ name: "g", tasks: "t", advantage: { equalBy } })
      return GrpoBatch.advantages(group, config).completions.map(({ advantage }) => advantage)
    }
    const nobody = results("unreadable", "wrong", "wrong", "unreadable")
    assert.deepStrictEqual(advantages(nobody, "reward"), [-1, 1, 1, -1])
    assert.deepStrictEqual(advantages(nobody, "correctness"), [undefined, undefined, undefined, undefined])
    const some = results("unreadable", "correct", "wrong", "wrong")
    assert.deepStrictEqual(advantages(some, "correctness"), advantages(some, "reward"))
    assert.isAbove(advantages(some, "correctness")[1]!, 0)
  })

  it.effect("keeps the best checkpoint", () =>
    Effect.gen(function* () {
      const scores = [0.2, 0.9, 0.5, 0.4, 0.9]
      const { events, folder } = yield* train(
        [{ ...warmStart, steps: 10 }],
        {
          evaluate: ({ iteration, model }) =>
            Effect.succeed({ score: scores[iteration / 2 - 1]!, cost: model.pricing!.inputPerMillion })
        },
        { evaluateEvery: 2, checkpoints: { every: 1, keep: 2 } }
      )
      assert.deepStrictEqual(yield* RunFolder.readBest(folder), { iteration: 4, score: 0.9 })
      assert.deepStrictEqual(yield* RunFolder.checkpoints(folder), [4, 9, 10])
      const best = events.flatMap((event) =>
        event.type === "checkpoint-saved" && event.isBest ? [event.iteration] : []
      )
      assert.deepStrictEqual(best, [2, 4])
    })
  )

  it.effect("waits out an unreachable engine, and reports a permanent failure", () =>
    Effect.gen(function* () {
      const inner = engine()
      let left = 3
      const fail = (reason: EngineError["reason"]) =>
        Effect.fail(new EngineError({ engine: "toy", doing: "forwardBackward", reason }))
      const flaky: Engine = {
        ...inner,
        forwardBackward: (data, loss) =>
          Effect.suspend(() =>
            left-- > 0 ? fail({ _tag: "Unreachable", detail: "away" }) : inner.forwardBackward(data, loss)
          )
      }
      const fiber = yield* Effect.forkChild(train([{ ...warmStart, steps: 2 }], { engine: flaky }))
      assert.strictEqual((yield* outlast(fiber)).metrics.length, 2)
      const gone: Engine = { ...inner, step: () => fail({ _tag: "Expired", detail: "gone" }) }
      const error = yield* Effect.flip(train([warmStart], { engine: gone }))
      assert.include(error.message, "gone")
    })
  )

  it.effect("refuses what does not go together, before anything is done", () =>
    Effect.gen(function* () {
      const message = (
        phases: ReadonlyArray<TrainingConfig.PhaseConfig>,
        given: Partial<Trainer.Parts> = {},
        input: Partial<Trainer.ConfigInput> = {}
      ) => Effect.map(Effect.flip(train(phases, given, input)), ({ message }) => message)
      assert.include(yield* message([grpo({ tasks: "other" })]), 'needs the tasks "other"; configured: tasks')
      assert.include(yield* message([grpo(), grpo()]), 'two phases have the name "grpo"')
      assert.include(yield* message([grpo({ minibatches: 5 })]), 'at most "questions", 4, not 5')
      const alone = { ...grpo(), groupSize: 1 }
      assert.include(yield* message([alone]), '"phases[0].groupSize" must be a whole number of at least 2, not 1')
      const unpriced = WorkerPool.makeUnsafe([{ id: "a", generate: ScriptedWorker.echo("a").generate }])
      assert.include(
        yield* message([grpo()], { pool: unpriced }, { maxCostUsd: 1 }),
        'a cost limit needs a price for every worker, and the price of the worker "a" is unknown'
      )
      const { folder } = yield* train([])
      const other = WorkerPool.makeUnsafe([ScriptedWorker.echo("b")])
      const resumed = yield* Effect.flip(Trainer.resume({ ...parts(), pool: other }, { folder }))
      assert.include(resumed.message, "started with the workers adder, speller, but the pool has b")
    })
  )
})

// Types would not let these pass.
const { grpo: grpoOf, warmStart: warmStartOf } = TrainingConfig as unknown as Record<
  "grpo" | "warmStart",
  (input: object) => unknown
>

describe("TrainingConfig", () => {
  it.each<[string, () => unknown, string]>([
    [
      "groupsize",
      () => grpoOf({ groupsize: 12 }),
      'grpo: option "groupsize" does not exist. Did you mean "groupSize"?'
    ],
    ["learningrate", () => grpoOf({ optimizer: { learningrate: 1e-3 } }), 'Did you mean "optimizer.learningRate"?'],
    ["maxsteps", () => grpoOf({ rollouts: { run: { maxsteps: 3 } } }), 'Did you mean "rollouts.run.maxSteps"?'],
    ["a group of one", () => grpoOf({ groupSize: 1 }), '"groupSize" must be a whole number of at least 2, not 1.'],
    ["a negative rate", () => grpoOf({ optimizer: { learningRate: -1 } }), "must be a number from 0 to 10, not -1."],
    [
      "a cut of more than all",
      () => grpoOf({ objective: { loss: { type: "clippedRatio", low: 2, high: 0.2 } } }),
      '"objective.loss.low" must be a number from 0 to 1, not 2.'
    ],
    ["an unknown loss", () => grpoOf({ objective: { loss: { type: "ppo" } } }), '"objective.loss.type" must be'],
    ["half a pool", () => grpoOf({ pool: { type: "random", min: 2 } }), '"pool.max" is missing'],
    [
      "a pool upside down",
      () => grpoOf({ pool: { type: "random", min: 3, max: 2 } }),
      '"min" must be at most "max", 2'
    ],
    [
      "a misspelt warm start",
      () => warmStartOf({ step: 3 }),
      'warmStart: option "step" does not exist. Did you mean "steps"?'
    ]
  ])("refuses %s", (_, make, expected) => {
    assert.throws(make, expected)
  })

  it("is the paper's by default", () => {
    const phase = TrainingConfig.grpo()
    assert.deepStrictEqual([phase.iterations, phase.questions, phase.groupSize], [200, 4, 64])
    assert.deepStrictEqual(phase.objective.loss, { type: "clippedRatio", low: 0.2, high: 0.2 })
    assert.strictEqual(phase.optimizer.learningRate, 1e-6)
    assert.strictEqual(phase.rollouts.maxTokens, 1024)
  })

  it("takes settings one by one, and what has a type whole", () => {
    const phase = TrainingConfig.grpo({
      objective: { loss: { type: "importanceSampling" }, weights: { lists: 2 } },
      optimizer: { schedule: { type: "constant", warmUpRatio: 0 } },
      rollouts: { prompt: { examples: [], descriptions: true }, failures: { lost: "drop" } }
    })
    assert.deepStrictEqual(phase.objective.loss, { type: "importanceSampling" })
    assert.deepStrictEqual(phase.objective.weights, { thought: 1, lists: 2 })
    assert.deepStrictEqual(phase.optimizer.schedule, { type: "constant", warmUpRatio: 0 })
    assert.strictEqual(phase.optimizer.beta2, 0.999)
    assert.deepStrictEqual(phase.rollouts.prompt, { examples: [], descriptions: true })
    assert.strictEqual(phase.rollouts.run.retry?.maxAttempts, 3)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(phase)), phase)
  })
})
