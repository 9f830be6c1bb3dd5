import { Budget, Grader, ResponseCache } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import type { Pricing } from "@divisi/core/Usage"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"
import * as TestClock from "effect/testing/TestClock"
import type { Question } from "../src/Curriculum.ts"
import { EngineError, type Sample, type SampleRequest, type Sampler } from "../src/Engine.ts"
import * as Rollout from "../src/Rollout.ts"
import * as ToyEngine from "../src/ToyEngine.ts"
import { defaultRollouts, type RolloutConfig } from "../src/TrainingConfig.ts"

const tokenizer = ToyEngine.tokenizer()

/** A sampler that writes the given texts: the completions of the first request, then one for each that follows. */
const scripted = (first: ReadonlyArray<string>, later: ReadonlyArray<string> = []) => {
  const requests: Array<SampleRequest> = []
  const write = (text: string): Sample => {
    const isCut = text.endsWith("~")
    const tokens = [...tokenizer.encode(isCut ? text.slice(0, -1) : text), ...(isCut ? [] : [tokenizer.endToken])]
    return { tokens, logProbs: tokens.map(() => -1), reason: isCut ? "length" : "stop" }
  }
  const sampler: Sampler = {
    version: 3,
    sample: (request) =>
      Effect.sync(() => {
        requests.push(request)
        return requests.length === 1 ? first.map(write) : [write(later[requests.length - 2] ?? "")]
      })
  }
  return { sampler, requests }
}

const lists = (...workers: ReadonlyArray<number>) =>
  `model_id = [${workers}]\nsubtasks = [${workers.map(() => '"Go."')}]\naccess_list = [${workers.map(() => "[]")}]`
const empty = "model_id = []\nsubtasks = []\naccess_list = []"

const pricing: Pricing = { inputPerMillion: 0, outputPerMillion: 0, perCall: 0.01 }
const right = ScriptedWorker.make({ id: "right", pricing, replies: ["42"] })
const wrong = ScriptedWorker.make({ id: "wrong", pricing, replies: ["7"] })
const broken = () => ScriptedWorker.make({ id: "broken", pricing, replies: [{ fail: { _tag: "Quota" } }] })
const flaky = () => ScriptedWorker.make({ id: "flaky", pricing, replies: [{ fail: { _tag: "Quota" } }, "42"] })

const question = (workers: Parameters<typeof WorkerPool.makeUnsafe>[0], extraRounds = 0): Question => ({
  index: 5,
  task: Task.make({ id: "t", question: "6 x 7?", reference: "42" }),
  kind: "product",
  pool: WorkerPool.makeUnsafe(workers),
  extraRounds,
  seed: 9
})

const options = Effect.fnUntraced(function* (
  sampler: Sampler,
  groupSize: number,
  config: Partial<RolloutConfig> = {},
  limits: Budget.Limits = {}
) {
  return {
    config: { ...defaultRollouts, ...config },
    groupSize,
    sampler,
    tokenizer,
    grader: Grader.exact,
    ledger: Budget.make(limits),
    sampling: yield* Semaphore.make(64),
    running: yield* Semaphore.make(64)
  }
})

const failures = (lost: RolloutConfig["failures"]["lost"], retries = 1): RolloutConfig["failures"] => ({
  lost,
  retries
})

/** Calls are not tried again, so that what is lost is lost at once. */
const once: RolloutConfig["run"] = { ...defaultRollouts.run, retry: { maxAttempts: 1 } }

describe("Rollout", () => {
  it.effect("counts a plan as unreadable if its worst case exceeds the budget of a rollout, and only with how", () =>
    Effect.gen(function* () {
      const map = (most: number) =>
        `model_id = [0, 0]\nsubtasks = ["List.", "Do {item}."]\nhow = ["list ${most}", "each 0"]\naccess_list = [[], []]`
      const run = { ...once, retry: { maxAttempts: 1 }, budget: { calls: 10 } }
      const results = (prompt: { readonly how?: boolean }, texts: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const { sampler } = scripted(texts)
          const group = yield* Rollout.group(question([right]), yield* options(sampler, texts.length, { prompt, run }))
          return group.rollouts.map(({ rounds }) => [rounds[0]!.result, rounds[0]!.reward, rounds[0]!.detail] as const)
        })
      const [small, large, many] = yield* results({ how: true }, [map(2), map(8), map(9)])
      assert.notStrictEqual(small![0], "unreadable", small![2])
      assert.deepStrictEqual([large![0], large![1]], ["unreadable", 0])
      assert.match(large![2]!, /its plan may use 11 calls, but a rollout's budget is 10/)
      assert.match(many![2]!, /maxItems/)
      // The paper's rewards: 0 if unreadable, 1 if right.
      const paper = yield* results({}, [map(2), lists(0)])
      assert.deepStrictEqual(
        paper.map(([result, reward]) => [result, reward]),
        [
          ["unreadable", 0],
          ["correct", 1]
        ]
      )
    })
  )

  it.effect("gives nothing for lists that Python could not read, unless configured to forgive", () =>
    Effect.gen(function* () {
      const results = Effect.fnUntraced(function* (reading: RolloutConfig["reading"]) {
        const { sampler } = scripted([`A thought.\n${lists(0)}`, lists(0).replaceAll(" =", ":")])
        const one = yield* options(sampler, 2)
        const group = yield* Rollout.group(question([right, wrong]), { ...one, config: { ...one.config, reading } })
        return group.rollouts.map(({ rounds }) => rounds[0]!.result)
      })
      assert.strictEqual(defaultRollouts.reading, "thought-then-strict")
      assert.deepStrictEqual(yield* results("thought-then-strict"), ["correct", "unreadable"])
      assert.deepStrictEqual(yield* results("tolerant"), ["correct", "correct"])
    })
  )

  it.effect("lets the Conductor be a worker of its own pool, and learns the plan that asked it", () =>
    Effect.gen(function* () {
      // Ordinal 2 is the Conductor itself; its own plan asks the worker who is right.
      const { requests, sampler } = scripted([lists(2), lists(1)], [`Within.\n${lists(0)}`])
      const one = yield* options(sampler, 2, { self: true })
      const { rollouts } = yield* Rollout.group(question([right, wrong]), one)
      assert.deepStrictEqual(
        rollouts.map(({ rounds }) => rounds.map(({ calls, result, text }) => [text, result, calls])),
        [[[lists(2), "correct", 1]], [[lists(1), "wrong", 1]]]
      )
      // The prompt of the plan within is another: the Conductor is not offered again.
      assert.strictEqual(requests.length, 2)
      assert.notDeepEqual(requests[1]!.prompt, requests[0]!.prompt)
    })
  )

  it.effect("samples a group in one request and gives each completion what the paper gives", () =>
    Effect.gen(function* () {
      const { requests, sampler } = scripted([lists(0), lists(1), "no lists", "", `${lists(0)}~`])
      const group = yield* Rollout.group(question([right, wrong]), yield* options(sampler, 5))
      assert.strictEqual(requests.length, 1)
      assert.strictEqual(requests[0]!.count, 5)
      const rounds = group.rollouts.map(({ rounds }) => rounds[0]!)
      assert.deepStrictEqual(
        rounds.map(({ result, reward }) => [result, reward]),
        [
          ["correct", 1],
          ["wrong", 0.5],
          ["unreadable", 0],
          ["unreadable", 0],
          // It can be read, but reached the limit: it is not.
          ["unreadable", 0]
        ]
      )
      assert.strictEqual(group.samplerVersion, 3)
      // The tokens that were sampled, not those of the text that was read, are recorded; one prompt for all.
      assert.deepStrictEqual(rounds[3]!.sample.tokens, [tokenizer.endToken])
      assert.strictEqual(rounds[3]!.text, "")
      assert.strictEqual(rounds[4]!.text, lists(0))
      assert.isTrue(rounds.every(({ prompt }) => prompt === rounds[0]!.prompt))
      assert.deepStrictEqual(rounds[0]!.workers, ["right"])
      assert.strictEqual(rounds[0]!.calls, 1)
      assert.strictEqual(rounds[0]!.costUsd, 0.01)
    })
  )

  it.effect("gives every round its own prompt, grade and reward, and takes confirmation for an answer", () =>
    Effect.gen(function* () {
      const { requests, sampler } = scripted([lists(1), lists(0), "no lists"], [lists(0), empty])
      const group = yield* Rollout.group(question([right, wrong], 1), yield* options(sampler, 3))
      assert.strictEqual(requests.length, 3)
      const [improved, confirmed, unread] = group.rollouts
      assert.deepStrictEqual(
        improved!.rounds.map(({ reward }) => reward),
        [0.5, 1]
      )
      assert.deepStrictEqual(
        confirmed!.rounds.map(({ confirmed, reward, calls }) => [confirmed, reward, calls]),
        [
          [false, 1, 1],
          [true, 1, 0]
        ]
      )
      assert.strictEqual(unread!.rounds.length, 1)
      assert.include(tokenizer.decode(improved!.rounds[1]!.prompt), "Its final answer was:\n7")
    })
  )

  it.effect("continues with a later round if the first has no answer", () =>
    Effect.gen(function* () {
      const { sampler } = scripted([lists(1)], [lists(0)])
      const config = { failures: failures("wrong"), run: once }
      const group = yield* Rollout.group(question([right, broken()], 1), yield* options(sampler, 1, config))
      const [{ rounds }] = group.rollouts as [Rollout.Rollout]
      assert.deepStrictEqual(
        rounds.map(({ answer, result }) => [answer, result]),
        [
          [undefined, "wrong"],
          ["42", "correct"]
        ]
      )
      const prompt = tokenizer.decode(rounds[1]!.prompt)
      assert.include(prompt, "Its last step failed, so there is no answer yet.")
      assert.include(prompt, "Model 1: it gave no answer")
    })
  )

  it.effect("counts a rollout whose worker failed as wrong, drops it, or runs it again", () =>
    Effect.gen(function* () {
      const one = Effect.fnUntraced(function* (
        worker: ScriptedWorker.ScriptedWorker,
        config: RolloutConfig["failures"]
      ) {
        const { sampler } = scripted([lists(0)])
        const group = yield* Rollout.group(
          question([worker]),
          yield* options(sampler, 1, { failures: config, run: once })
        )
        return group.rollouts[0]!
      })
      const counted = yield* one(broken(), failures("wrong"))
      assert.deepStrictEqual([counted.dropped, counted.rounds[0]!.reward], [undefined, 0.5])
      assert.include(counted.rounds[0]!.detail, "no quota left")
      const dropped = yield* one(broken(), failures("drop"))
      assert.include(dropped.dropped, "no quota left")
      const again = yield* one(flaky(), failures("retry"))
      assert.deepStrictEqual([again.dropped, again.rounds[0]!.reward], [undefined, 1])
      const stubborn = broken()
      const inVain = yield* one(stubborn, failures("retry", 2))
      assert.include(inVain.dropped, "no quota left")
      assert.strictEqual(stubborn.calls.length, 3)
      // The cost of the lost attempts is included; the last one's is in its round.
      assert.closeTo(inVain.abandonedCostUsd, 2 * inVain.rounds[0]!.costUsd, 1e-12)
    })
  )

  it.effect("drops a rollout that the grader gave no verdict on", () =>
    Effect.gen(function* () {
      const { sampler } = scripted([lists(0)])
      const { reference: _, ...task } = question([right]).task
      const group = yield* Rollout.group({ ...question([right]), task }, yield* options(sampler, 1))
      assert.include(group.rollouts[0]!.dropped, "no reference")
    })
  )

  it.effect("takes calls, time and money off the reward where that is set", () =>
    Effect.gen(function* () {
      const { sampler } = scripted([lists(0, 1, 0)])
      const penalties = { perCall: 0.1, perSecond: 0, perCriticalStep: 0.03, perUsd: 5 }
      const skipNothing = yield* options(sampler, 1, { penalties })
      const group = yield* Rollout.group(question([right, wrong]), skipNothing)
      // Only the last step is seen, so only it is paid for.
      assert.closeTo(group.rollouts[0]!.rounds[0]!.reward, 1 - 0.1 - 0.03 - 0.05, 1e-12)
    })
  )

  it.effect("never takes a completion from the response cache, and answers of workers from nowhere else", () =>
    Effect.gen(function* () {
      const cache = ResponseCache.makeMemory({ maxEntries: 100 })
      const worker = ScriptedWorker.make({ id: "counted", pricing, replies: ["42"] })
      const make = Effect.gen(function* () {
        const { requests, sampler } = scripted([lists(0), lists(0)])
        const group = yield* Rollout.group(question([worker]), yield* options(sampler, 2, { sharedAnswers: true }))
        return { requests, group }
      }).pipe(Effect.provideService(ResponseCache.ResponseCache, cache))
      const first = yield* make
      const second = yield* make
      assert.strictEqual(first.requests.length + second.requests.length, 2)
      assert.strictEqual(
        second.group.rollouts[0]!.rounds[0]!.sample.tokens.length,
        first.group.rollouts[0]!.rounds[0]!.sample.tokens.length
      )
      assert.strictEqual(worker.calls.length, 1)
      const cached = [...first.group.rollouts, ...second.group.rollouts].map(({ rounds }) => rounds[0]!.cachedCalls)
      assert.deepStrictEqual(cached.toSorted(), [0, 1, 1, 1])
    })
  )

  it.effect("asks workers with seeds of its own for each rollout, unless answers are shared", () =>
    Effect.gen(function* () {
      const seeds = Effect.fnUntraced(function* (sharedAnswers: boolean) {
        const worker = ScriptedWorker.make({ id: "seeded", pricing, replies: ["42"] })
        const { sampler } = scripted([lists(0), lists(0), lists(0)])
        yield* Rollout.group(question([worker]), yield* options(sampler, 3, { sharedAnswers }))
        return new Set(worker.calls.map(({ seed }) => seed)).size
      })
      assert.strictEqual(yield* seeds(false), 3)
      assert.strictEqual(yield* seeds(true), 1)
    })
  )

  it.effect("fails with the engine's failure, and with the end of the training's money", () =>
    Effect.gen(function* () {
      const failure = new EngineError({ engine: "toy", doing: "sample", reason: { _tag: "Failed", detail: "gone" } })
      const sampler: Sampler = { version: 0, sample: () => Effect.fail(failure) }
      assert.strictEqual(yield* Effect.flip(Rollout.group(question([right]), yield* options(sampler, 2))), failure)
      const rich = scripted([lists(0), lists(0), lists(0)])
      const limited = yield* options(rich.sampler, 3, {}, { costUsd: 0.025 })
      const error = yield* Effect.flip(Rollout.group(question([right]), limited))
      assert.strictEqual(error._tag, "CostLimitReached")
      assert.isAtMost(limited.ledger.spent().costUsd, 0.025)
      // A limit of a single rollout is the rollout's own affair.
      const own = scripted([lists(0)])
      const group = yield* Rollout.group(
        question([right]),
        yield* options(own.sampler, 1, { run: { ...defaultRollouts.run, budget: { costUsd: 0.001 } } })
      )
      assert.strictEqual(group.rollouts[0]!.rounds[0]!.result, "wrong")
    })
  )

  it.effect("runs no more workflows at once than it may, and releases their slots", () =>
    Effect.gen(function* () {
      let most = 0
      const slow: ScriptedWorker.ScriptedWorker = ScriptedWorker.make({
        id: "slow",
        latencyMillis: 10,
        replies: () => {
          most = Math.max(most, slow.running() + 1)
          return "42"
        }
      })
      const { sampler } = scripted(Array.from({ length: 12 }, () => lists(0)))
      const running3 = yield* Semaphore.make(3)
      const fiber = yield* Effect.forkChild(
        Rollout.group(question([slow]), { ...(yield* options(sampler, 12)), running: running3 })
      )
      yield* TestClock.adjust(39)
      assert.strictEqual(slow.calls.length, 12)
      assert.strictEqual(slow.running(), 3)
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* Fiber.join(fiber)).rollouts.length, 12)
      assert.strictEqual(most, 3)
      yield* running3.take(3)
    })
  )
})
