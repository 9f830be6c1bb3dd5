import { assert, describe, it } from "vitest"
import * as promise from "../src/promise.ts"
import * as ResponseCache from "../src/run/ResponseCache.ts"
import { messageOf } from "./messageOf.ts"

const calculator = promise.worker({ id: "calculator", answer: () => "42" })
const ask = { question: "What is 6 times 7?", pool: [calculator], policy: promise.single("calculator") }

describe("conduct", () => {
  it("answers, with the whole record", async () => {
    const result = await promise.conduct(ask)
    assert.strictEqual(result.answer, "42")
    assert.strictEqual(result.ending, "answered")
    assert.strictEqual(result.transcript.rounds[0]?.steps[0]?.text, "42")
    assert.isTrue(result.spend.usage.estimated)
  })

  it("takes async generators, and usage where the worker knows it", async () => {
    const pieces = promise.worker({
      id: "pieces",
      answer: async function* () {
        yield "for"
        yield "ty-two"
      }
    })
    const exact = promise.worker({
      id: "exact",
      answer: async () => ({ text: "42", usage: { inputTokens: 7, outputTokens: 1 }, finishReason: "length" })
    })
    const events: Array<promise.RunEvent> = []
    const streamed = await promise.conduct({
      ...ask,
      pool: [pieces],
      policy: promise.single(0),
      onEvent: (event) => events.push(event)
    })
    assert.strictEqual(streamed.answer, "forty-two")
    assert.strictEqual(events.filter(({ type }) => type === "step-delta").length, 2)
    const counted = await promise.conduct({ ...ask, pool: [exact], policy: promise.single(0) })
    assert.deepStrictEqual(counted.spend.usage, { inputTokens: 7, outputTokens: 1 })
    assert.strictEqual(counted.transcript.rounds[0]?.steps[0]?.finishReason, "length")
  })

  it("reports the exception of a worker, and retries it if it is retryable", async () => {
    const broken = promise.worker({
      id: "broken",
      answer: () => {
        throw new Error("no such model")
      }
    })
    const failed = await promise.conduct({ ...ask, pool: [broken], policy: promise.single(0) })
    assert.strictEqual(failed.ending, "failed")
    assert.include(failed.detail ?? "", "no such model")

    let calls = 0
    const flaky = promise.worker({
      id: "flaky",
      answer: () => {
        calls += 1
        if (calls === 1) throw promise.workerError("flaky", { _tag: "Overloaded" })
        return "well"
      }
    })
    const retried = await promise.conduct({
      ...ask,
      pool: [flaky],
      policy: promise.single(0),
      retry: { baseDelayMillis: 0 }
    })
    assert.strictEqual(retried.answer, "well")
  })

  it.each([
    ["a status", () => Object.assign(new Error("Service Unavailable"), { status: 503 })],
    ["a code", () => Object.assign(new Error("read"), { code: "ECONNRESET" })],
    ["words", () => new Error("429 Too Many Requests")],
    ["a text", () => "503"]
  ])("retries what was thrown and says by %s that it can help, and keeps it where it goes on", async (_, make) => {
    let calls = 0
    const thrown = make()
    const failing = (times: number) =>
      promise.worker({
        id: "vendor",
        answer: () => {
          calls += 1
          if (calls <= times) throw thrown
          return "well"
        }
      })
    const options = { ...ask, policy: promise.single(0), retry: { baseDelayMillis: 0 } }
    assert.strictEqual((await promise.conduct({ ...options, pool: [failing(2)] })).answer, "well")
    calls = 0
    const { detail, error } = await promise.conduct({ ...options, onStepFailure: "end", pool: [failing(9)] })
    assert.strictEqual(calls, 3)
    assert.strictEqual((error as Error).cause, thrown)
    assert.include(detail ?? "", typeof thrown === "string" ? thrown : thrown.message)
    assert.notInclude(JSON.stringify(error), "cause")
  })

  it("gives a step whose worker is unavailable to the next worker", async () => {
    const down = promise.worker({
      id: "down",
      answer: () => {
        throw new Error("503")
      }
    })
    const options = { ...ask, pool: [down, calculator], policy: promise.single(0), retry: { maxAttempts: 1 } }
    assert.strictEqual((await promise.conduct({ ...options, reassign: "next" })).answer, "42")
  })

  it("says that an answer was empty", async () => {
    const silent = promise.worker({ id: "silent", answer: () => "" })
    const { detail, ending } = await promise.conduct({
      ...ask,
      pool: [silent],
      policy: promise.single(0),
      retry: { maxAttempts: 1 }
    })
    assert.strictEqual(ending, "failed")
    assert.include(detail ?? "", "the answer is empty")
  })

  it("an aborted signal stops the calls, tells them, and resolves as interrupted", async () => {
    const controller = new AbortController()
    let stopped = false
    const hanging = promise.worker({
      id: "hanging",
      answer: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener("abort", () => {
            stopped = true
          })
          controller.abort()
        })
    })
    const result = await promise.conduct({
      ...ask,
      pool: [calculator, hanging],
      policy: promise.policy("two", () => ({
        steps: [
          { worker: 0, subtask: "First.", access: [] },
          { worker: 1, subtask: "Second.", access: "all" }
        ]
      })),
      signal: controller.signal
    })
    assert.strictEqual(result.ending, "interrupted")
    assert.strictEqual(result.answer, undefined)
    assert.strictEqual(result.transcript.rounds[0]?.steps[0]?.text, "42")
    assert.isTrue(stopped)
    const before = await promise.conduct({ ...ask, signal: AbortSignal.abort() })
    assert.include(["interrupted", "answered"], before.ending)
  })

  it("keeps answers in a cache that the caller shares", async () => {
    let calls = 0
    const counted = promise.worker({ id: "counted", answer: () => `call ${++calls}` })
    const options = {
      ...ask,
      pool: [counted],
      policy: promise.single(0),
      seed: 1,
      cache: ResponseCache.makeMemory({ maxEntries: 10 })
    }
    assert.strictEqual((await promise.conduct(options)).answer, "call 1")
    assert.strictEqual((await promise.conduct(options)).answer, "call 1")
  })

  it("rejects mistakes in the options with one clear message", async () => {
    assert.strictEqual(
      await messageOf(() => promise.conduct({ ...ask, pool: [] })),
      "A pool needs at least one worker."
    )
    assert.include(
      await messageOf(() => promise.conduct({ ...ask, pool: [calculator, calculator] })),
      'the id "calculator"'
    )
  })

  it("narrows its answer by its ending", async () => {
    const result = await promise.conduct(ask)
    // The compiler holds this: an answered run has a text.
    const length: number = result.ending === "answered" ? result.answer.length : 0
    assert.strictEqual(length, 2)
  })
})

describe("streamRun", () => {
  it("yields the events, and leaving the loop stops the run", async () => {
    const types: Array<string> = []
    for await (const event of promise.streamRun(ask)) types.push(event.type)
    assert.strictEqual(types[0], "run-started")
    assert.strictEqual(types.at(-1), "run-finished")

    let stopped = false
    const hanging = promise.worker({
      id: "hanging",
      answer: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener("abort", () => {
            stopped = true
          })
        })
    })
    for await (const event of promise.streamRun({ ...ask, pool: [hanging], policy: promise.single(0) })) {
      if (event.type === "step-started") break
    }
    assert.isTrue(stopped)
  })
})

const slowly = (...pieces: ReadonlyArray<string>) =>
  promise.worker({
    id: "slowly",
    answer: async function* () {
      for (const piece of pieces) {
        await Promise.resolve()
        yield piece
      }
    }
  })

describe("streamAnswer", () => {
  const textOf = async (answer: promise.AnswerStream) => {
    const pieces: Array<string> = []
    for await (const text of answer) pieces.push(text)
    return pieces
  }

  it("yields the text of the answer as it comes, and then the result", async () => {
    const answer = promise.streamAnswer({ ...ask, pool: [slowly("for", "ty-", "two")], policy: promise.single(0) })
    assert.deepStrictEqual(await textOf(answer), ["for", "ty-", "two"])
    const { ending, transcript } = await answer.result
    assert.strictEqual(ending, "answered")
    assert.strictEqual(transcript.answer, "forty-two")
  })

  it("yields the answer at the end where steps vote", async () => {
    const answer = promise.streamAnswer({ ...ask, policy: promise.selfConsistency({ n: 3 }) })
    assert.deepStrictEqual(await textOf(answer), ["42"])
  })

  it("gives the result also to who does not read the text", async () => {
    assert.strictEqual((await promise.streamAnswer(ask).result).answer, "42")
  })

  it("stops the run when the loop is left", async () => {
    const endless = promise.worker({
      id: "endless",
      answer: async function* () {
        while (true) {
          await new Promise((resolve) => setImmediate(resolve))
          yield "more "
        }
      }
    })
    const answer = promise.streamAnswer({ ...ask, pool: [endless], policy: promise.single(0) })
    for await (const _ of answer) break
    assert.strictEqual((await answer.result).ending, "interrupted")
  })

  it("throws what stopped the run where there is no answer", async () => {
    const broken = promise.worker({
      id: "broken",
      answer: () => {
        throw new Error("no such model")
      }
    })
    const answer = promise.streamAnswer({ ...ask, pool: [broken], policy: promise.single(0) })
    assert.include(await messageOf(() => textOf(answer)), "no such model")
    assert.strictEqual((await answer.result).ending, "failed")
  })

  it("throws where a retry contradicts what was yielded", async () => {
    let calls = 0
    const fickle = promise.worker({
      id: "fickle",
      answer: async function* () {
        calls += 1
        yield calls === 1 ? "It is 41, " : "It is 42, "
        if (calls === 1) throw new Error("503")
        yield "surely."
      }
    })
    const options = { ...ask, pool: [fickle], policy: promise.single(0), retry: { baseDelayMillis: 0 } }
    const answer = promise.streamAnswer(options)
    assert.include(await messageOf(() => textOf(answer)), "differs from what was already streamed")
    assert.strictEqual((await answer.result).answer, "It is 42, surely.")
  })

  it("only ends where its signal is aborted", async () => {
    const controller = new AbortController()
    const hanging = promise.worker({
      id: "hanging",
      answer: () => {
        setImmediate(() => controller.abort())
        return new Promise(() => {})
      }
    })
    const { signal } = controller
    const answer = promise.streamAnswer({ ...ask, pool: [hanging], policy: promise.single(0), signal })
    assert.deepStrictEqual(await textOf(answer), [])
    assert.strictEqual((await answer.result).ending, "interrupted")
  })
})

describe("shared and stored state", () => {
  it("holds runs together to the limits of a ledger", async () => {
    const ledger = promise.ledger({ calls: 2 })
    const endings = [
      await promise.conduct({ ...ask, ledger }),
      await promise.conduct({ ...ask, ledger }),
      await promise.conduct({ ...ask, ledger })
    ]
    assert.deepStrictEqual(
      endings.map(({ ending }) => ending),
      ["answered", "answered", "budget"]
    )
  })

  it("saves a transcript and reads it again, and rejects another text with a reason", async () => {
    const { transcript } = await promise.conduct(ask)
    assert.deepStrictEqual(await promise.decodeTranscript(promise.encodeTranscript(transcript)), transcript)
    assert.include(await messageOf(() => promise.decodeTranscript("{")), "The transcript is not JSON")
  })

  it("counts what each worker cost, with failed calls and the model that planned", async () => {
    const pricing = { inputPerMillion: 0, outputPerMillion: 0, perCall: 0.01 }
    let calls = 0
    const flaky = promise.worker({
      id: "flaky",
      pricing,
      answer: () => {
        calls += 1
        if (calls === 1) throw new Error("503")
        return "42"
      }
    })
    const answer = () => 'model_id = [0]\nsubtasks = ["Multiply."]\naccess_list = [[]]'
    const model = promise.worker({ id: "planner", pricing: promise.free, answer })
    const { spend, transcript } = await promise.conduct({
      ...ask,
      pool: [flaky],
      policy: promise.languagePolicy({ model }),
      retry: { baseDelayMillis: 0 }
    })
    const { flaky: one, planner } = promise.spendByWorker(transcript)
    assert.deepStrictEqual([one?.calls, planner?.calls, spend.calls], [2, 1, 3])
    assert.strictEqual(one?.costUsd, spend.costUsd)
    assert.strictEqual(planner?.costUsd, 0)
  })
})
