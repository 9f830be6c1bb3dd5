/** Output of workers and vendors is validated, and invalid output ends a call with a reason. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import * as Transcript from "../src/events/Transcript.ts"
import * as Wire from "../src/events/Wire.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import * as Conductor from "../src/run/Conductor.ts"
import { noRetry } from "../src/run/Resilience.ts"
import type { Usage } from "../src/task/Usage.ts"
import { type Worker, WorkerError, type WorkerErrorReason, type WorkerPart } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const pricing = { inputPerMillion: 1, outputPerMillion: 10, cachedInputPerMillion: 0.1 }

const sending = (parts: ReadonlyArray<unknown>, about: Partial<Worker> = {}): Worker => ({
  id: "a",
  pricing,
  ...about,
  generate: () => Stream.fromIterable(parts as ReadonlyArray<WorkerPart>)
})

const reporting = (usage: unknown, reason: unknown = "stop") =>
  sending([
    { type: "text", text: "An answer of eight words, or so, maybe." },
    { type: "finish", reason, usage }
  ])

const run = Effect.fnUntraced(function* (
  worker: Worker,
  options: Omit<Conductor.Options, "policy" | "pool"> = {},
  calls = 1
) {
  const recorder = Transcript.recorder()
  const conductor = Conductor.make({
    policy: calls === 1 ? Baselines.single(0) : Baselines.bestOf({ n: calls }),
    pool: WorkerPool.makeUnsafe([worker]),
    retry: noRetry,
    ...options
  })
  const fiber = yield* Effect.forkChild(conductor.run("Why?", { listener: recorder.listener }))
  yield* TestClock.adjust("1 hour")
  const result = yield* Fiber.join(fiber)
  const transcript = recorder.transcript()!
  const read = Wire.decodeTranscript(Wire.encodeTranscript(transcript))
  assert.isTrue(Result.isSuccess(read), Result.isFailure(read) ? read.failure.message : "")
  const told = Transcript.spendSoFar({ ...transcript, spend: undefined } as never)
  assert.strictEqual(told.calls, result.spend.calls)
  assert.closeTo(told.costUsd, result.spend.costUsd, 1e-12)
  const step = transcript.rounds[0]?.steps[0]
  return { result, transcript, step, usage: step?.paid?.usage, lost: step?.lost[0] }
})

describe("a usage that cannot be", () => {
  const counted: Usage = { inputTokens: 10, outputTokens: 90 }
  const cases: ReadonlyArray<readonly [name: string, reported: unknown, said: string, kept: Partial<Usage>]> = [
    ["below zero", { inputTokens: -10, outputTokens: -90 }, "inputTokens: -10, outputTokens: -90", {}],
    ["in texts", { inputTokens: "10", outputTokens: "90" }, 'inputTokens: "10", outputTokens: "90"', {}],
    [
      "without an end",
      { inputTokens: Number.POSITIVE_INFINITY, outputTokens: 90 },
      "inputTokens: Infinity",
      { outputTokens: 90 }
    ],
    ["no number", { inputTokens: Number.NaN, outputTokens: 1.5 }, "inputTokens: NaN, outputTokens: 1.5", {}],
    ["absent", undefined, "inputTokens: undefined, outputTokens: undefined", {}],
    ["more cached than the input", { ...counted, cachedInputTokens: 1e9 }, "cachedInputTokens: 1000000000", counted],
    ["less than nothing cached", { ...counted, cachedInputTokens: -1e9 }, "cachedInputTokens: -1000000000", counted],
    [
      "cached and written more than the input",
      { ...counted, cachedInputTokens: 6, cacheWriteTokens: 6 },
      "cacheWriteTokens: 6",
      { ...counted, cachedInputTokens: 6 }
    ],
    ["more reasoning than the output", { ...counted, reasoningTokens: 91 }, "reasoningTokens: 91", counted]
  ]
  for (const [name, reported, said, kept] of cases) {
    it.effect(`is replaced by an estimate and reported: ${name}`, () =>
      Effect.gen(function* () {
        const { result, usage } = yield* run(reporting(reported))
        assert.strictEqual(result.ending, "answered")
        assert.include(usage, { ...kept, estimated: true, misreported: said })
        for (const count of [usage!.inputTokens, usage!.outputTokens]) assert.isAtLeast(count, 1)
        assert.isAbove(result.spend.costUsd, 0)
        assert.isBelow(result.spend.costUsd, 0.01)
      })
    )
  }

  it.effect("leaves alone what can be", () =>
    Effect.gen(function* () {
      const reported = {
        inputTokens: 10,
        outputTokens: 90,
        cachedInputTokens: 4,
        cacheWriteTokens: 6,
        reasoningTokens: 90
      }
      const { usage } = yield* run(reporting(reported))
      assert.deepStrictEqual(usage, reported)
      // Many vendors write null for a share that they do not count.
      const absent = yield* run(reporting({ inputTokens: 10, outputTokens: 90, cachedInputTokens: null }))
      assert.deepStrictEqual(absent.usage, { inputTokens: 10, outputTokens: 90, estimated: true })
    })
  )

  it.effect("of a failed call is held to the same", () =>
    Effect.gen(function* () {
      const failing: Worker = {
        ...sending([]),
        generate: () =>
          Stream.fail(
            new WorkerError({
              worker: "a",
              reason: { _tag: "Overloaded" },
              usage: { inputTokens: -1e9, outputTokens: Number.NaN }
            })
          )
      }
      const { lost, result } = yield* run(failing)
      assert.include(lost?.usage.misreported, "inputTokens: -1000000000")
      assert.isAbove(result.spend.costUsd, 0)
    })
  )

  for (const usage of [
    { inputTokens: -10, outputTokens: -90 },
    { inputTokens: 10, outputTokens: 90, cachedInputTokens: 1e9 }
  ]) {
    it.effect(`makes no budget grow: ${JSON.stringify(usage)}`, () =>
      Effect.gen(function* () {
        const { result } = yield* run(
          reporting(usage),
          { budget: { costUsd: 0.003 }, worker: { maxOutputTokens: 90 } },
          20
        )
        assert.strictEqual(result.ending, "budget")
        assert.isAtMost(result.spend.costUsd, 0.003)
      })
    )
  }

  it.effect("treats a negative price as unknown, so a cost limit rejects the worker", () =>
    Effect.gen(function* () {
      const cheap = {
        ...reporting({ inputTokens: 10, outputTokens: 90 }),
        pricing: { ...pricing, outputPerMillion: -5 }
      }
      const { result } = yield* run(cheap)
      assert.deepInclude(result.spend, { costUsd: 0, unpricedCalls: 1 })
      assert.strictEqual((yield* run(cheap, { budget: { costUsd: 1 } })).result.ending, "budget")
    })
  )
})

describe("invalid parts", () => {
  const finish = { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } }
  for (const [text, kind] of [
    [4, "number"],
    [{}, "object"],
    [undefined, "undefined"],
    [null, "object"]
  ] as const) {
    it.effect(`a text that is not a string (${JSON.stringify(text)}) is malformed`, () =>
      Effect.gen(function* () {
        const { lost, result } = yield* run(sending([{ type: "text", text }, finish]))
        assert.strictEqual(result.ending, "failed")
        assert.deepStrictEqual(lost?.reason, {
          _tag: "Malformed",
          detail: `a part of its text is not a string but ${kind}`
        })
      })
    )
  }

  it.effect("so are parts of no known type", () =>
    Effect.gen(function* () {
      const { lost } = yield* run(sending([{ type: "__proto__", text: "x" }, finish]))
      assert.strictEqual(lost?.reason?._tag, "Malformed")
    })
  )

  it.effect("an invalid finish reason counts as another", () =>
    Effect.gen(function* () {
      for (const reason of ["constructor", "__proto__", 7, null, () => "stop"]) {
        const { step } = yield* run(reporting({ inputTokens: 1, outputTokens: 1 }, reason))
        assert.strictEqual(step?.finishReason, "other")
      }
    })
  )
})

describe("an answer without an end", () => {
  const endless = (part: WorkerPart, everyMillis?: number): Worker => ({
    id: "a",
    pricing,
    generate: () => {
      const parts = Stream.forever(Stream.make(part))
      return everyMillis === undefined
        ? parts
        : Stream.mapEffect(parts, (one) => Effect.as(Effect.sleep(everyMillis), one))
    }
  })

  for (const type of ["text", "reasoning"] as const) {
    it.effect(`ends as malformed past a mebi of characters, and what it wrote is paid for: ${type}`, () =>
      Effect.gen(function* () {
        const { lost, result } = yield* run(endless({ type, text: "a".repeat(10_000) }), {
          worker: { maxOutputTokens: 100 },
          budget: { costUsd: 0.01, tokens: 10_000 }
        })
        assert.deepInclude(lost?.reason, { _tag: "Malformed", detail: "its answer is longer than 1048576 characters" })
        assert.strictEqual(lost?.usage.outputTokens, 100)
        assert.isAbove(result.spend.costUsd, 0)
      })
    )
  }

  it.effect("is not requested again, because the next one would be as long and cost as much", () =>
    Effect.gen(function* () {
      const { result } = yield* run(endless({ type: "text", text: "a".repeat(10_000) }), {
        retry: { maxAttempts: 3 },
        worker: { maxOutputTokens: 100 }
      })
      assert.strictEqual(result.spend.calls, 1)
      assert.strictEqual(
        result.detail,
        "Step 0, which gives the answer, failed: a returned an unusable answer: its answer is longer than 1048576 characters. Lower the output limit of the call, or use another worker."
      )
    })
  )

  it.effect("may be longer for a worker that may write more", () =>
    Effect.gen(function* () {
      const { lost } = yield* run(endless({ type: "text", text: "a".repeat(100_000) }), {
        worker: { maxOutputTokens: 50_000 }
      })
      assert.deepInclude(lost?.reason, { detail: "its answer is longer than 3200000 characters" })
    })
  )

  it.effect("ends when nothing comes but empty pieces, however fast", () =>
    Effect.gen(function* () {
      const empty = { type: "text", text: "" }
      const { lost } = yield* run(sending(Array.from({ length: 2 ** 20 + 1 }, () => empty)))
      assert.strictEqual(lost?.reason?._tag, "Malformed")
    })
  )

  it.effect("ends after half an hour when it drips, and when the caller says", () =>
    Effect.gen(function* () {
      const drip = endless({ type: "text", text: "" }, 200)
      const unset = yield* run(drip)
      assert.deepInclude(unset.lost?.reason, { _tag: "Timeout", afterMillis: 1_800_000 })
      const set = yield* run(drip, { worker: { timeoutMillis: 5_000 } })
      assert.deepInclude(set.lost?.reason, { _tag: "Timeout", afterMillis: 5_000 })
    })
  )
})

const hostile = {
  get message(): string {
    throw new Error("no message")
  },
  toString() {
    throw new Error("no text")
  }
}

const proxy = new Proxy(
  {},
  {
    get: () => {
      throw new Error("no field")
    },
    has: () => {
      throw new Error("no key")
    },
    getPrototypeOf: () => {
      throw new Error("no prototype")
    }
  }
)

describe("a worker whose code is wrong", () => {
  const thrown: ReadonlyArray<readonly [string, unknown, RegExp]> = [
    ["an error", new Error("boom"), /^boom$/],
    ["a text", "boom", /^boom$/],
    ["nothing", undefined, /^undefined$/],
    ["an object that cannot be shown", hostile, /^something that cannot be shown$/],
    // Effect itself may look at it first, and fail with what it throws.
    ["a proxy", proxy, /^something that cannot be shown$|^no (key|field|prototype)$/]
  ]
  for (const [name, error, words] of thrown) {
    for (const how of ["fails", "dies", "throws"] as const) {
      it.effect(`has a defect, which is charged and reported: it ${how} with ${name}`, () =>
        Effect.gen(function* () {
          const worker: Worker = {
            id: "a",
            pricing,
            generate: () => {
              if (how === "throws") throw error
              return how === "dies" ? Stream.die(error) : Stream.fail(error as WorkerError)
            }
          }
          const { lost, result, step } = yield* run(worker)
          assert.strictEqual(result.ending, "failed")
          assert.strictEqual(step?.state, "failed")
          assert.strictEqual(lost?.reason?._tag, "Defect")
          assert.match(lost?.reason?.detail ?? "", words)
          assert.strictEqual(result.spend.calls, 1)
        })
      )
    }
  }

  it.effect("and gives no stream at all has a defect", () =>
    Effect.gen(function* () {
      const { lost } = yield* run({ id: "a", generate: () => undefined as never })
      assert.strictEqual(lost?.reason?._tag, "Defect")
    })
  )

  it.effect("and counts its input wrongly is counted for", () =>
    Effect.gen(function* () {
      const counts: ReadonlyArray<() => number> = [
        () => -1e9,
        () => Number.NaN,
        () => {
          throw new Error("no count")
        }
      ]
      for (const countInputTokens of counts) {
        const worker = { ...reporting({ inputTokens: 1, outputTokens: 1 }), countInputTokens }
        const { result } = yield* run(worker, { budget: { tokens: 100 }, worker: { maxOutputTokens: 60 } })
        assert.strictEqual(result.ending, "answered")
        const refused = yield* run(worker, { budget: { tokens: 65 }, worker: { maxOutputTokens: 60 } })
        assert.strictEqual(refused.result.ending, "budget")
      }
    })
  )
})

describe("the reason of an error", () => {
  it("is of a known kind, with numbers that can be written down", () => {
    const reasons: ReadonlyArray<unknown> = ["Overloaded", undefined, { _tag: "constructor" }, { _tag: "Nothing" }]
    for (const reason of reasons) {
      const error = new WorkerError({ worker: "a", reason: reason as WorkerErrorReason })
      assert.strictEqual(error.reason._tag, "Defect")
      assert.include(error.message, "a has a bug")
    }
    const { reason } = new WorkerError({
      worker: "a",
      reason: { _tag: "RateLimited", retryAfterMillis: Number.NaN, detail: "slow" }
    })
    assert.deepStrictEqual(reason, { _tag: "RateLimited", detail: "slow" })
  })

  it("shows nothing of a vendor that acts on a terminal or turns the order of what is read", () => {
    const said = "\u001b]52;c;cHduZWQ=\u0007 \u009b2J \u202egnp.exe\u2066 a\rb\u2028c\nd\te"
    const { message, reason } = new WorkerError({ worker: "a", reason: { _tag: "Overloaded", detail: said } })
    assert.deepInclude(reason, { detail: " ]52;c;cHduZWQ=   2J  gnp.exe  a b c\nd\te" })
    assert.isFalse([..."\u001b\u0007\u009b\u202e\u2066\r"].some((character) => message.includes(character)))
  })
})
