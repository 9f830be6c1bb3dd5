/** User code of the promise API may be wrong: a run ends with a reason, and retains everything that was paid. */
import { Logger } from "effect"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import type { RunEvent } from "../src/events/RunEvent.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import * as promise from "../src/promise.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const pricing = { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 }

const hostile = {
  get message(): string {
    throw new Error("no message")
  },
  toString() {
    throw new Error("no text")
  }
}

const proxy: object = new Proxy(
  {},
  {
    get: () => {
      throw new Error("no field")
    },
    getPrototypeOf: () => {
      throw new Error("no prototype")
    }
  }
)

const ask = (answer: promise.WorkerOptions["answer"], options: Partial<promise.ConductOptions> = {}) =>
  promise.conduct({
    question: "What is 6 times 7?",
    pool: [promise.worker({ id: "a", pricing, answer })],
    policy: promise.single(0),
    ...options
  })

describe("a worker's function", () => {
  const given: ReadonlyArray<readonly [name: string, value: unknown, words: string]> = [
    ["undefined", undefined, "undefined instead of text"],
    ["null", null, "null instead of text"],
    ["a number", 42, "a number instead of text"],
    ["an array", ["42"], "an array instead of text"],
    ["an object without a text", { answer: "42" }, "an object without a text"],
    ["a text that is none", { text: 42 }, "an object without a text"]
  ]
  for (const [name, value, words] of given) {
    it(`that gives ${name} has a defect, told once and never asked again`, async () => {
      const result = await ask(async () => value as string)
      assert.strictEqual(result.ending, "failed")
      const [step] = result.transcript.rounds[0]!.steps
      assert.strictEqual(step?.detail, `a has a bug: it returned ${words}. Return a string or { text, usage }.`)
      assert.deepStrictEqual([step?.state, step?.lost.length, result.spend.calls], ["failed", 1, 1])
    })
  }

  it("that yields a value other than text has the same defect", async () => {
    const result = await ask(async function* () {
      yield "for"
      yield undefined as unknown as string
    })
    assert.include(result.detail ?? "", "it returned undefined instead of text")
    assert.strictEqual(result.spend.calls, 1)
  })

  const thrown: ReadonlyArray<readonly [name: string, value: unknown]> = [
    ["a text", "no such model"],
    ["nothing", undefined],
    ["an object that cannot be shown", hostile],
    ["a proxy", proxy],
    ["an error of an error", promise.workerError("a", hostile as never)]
  ]
  for (const [name, value] of thrown) {
    it(`that throws ${name} fails the run, which ends`, async () => {
      const results = [
        await ask(() => {
          throw value
        }),
        await ask(() => Promise.reject(value)),
        await ask(async function* () {
          throw value
        })
      ]
      for (const { ending, spend, transcript } of results) {
        assert.strictEqual(ending, "failed")
        assert.strictEqual(spend.calls, 1)
        assert.strictEqual(transcript.rounds[0]?.steps[0]?.state, "failed")
      }
    })
  }

  it("that reports a usage that cannot be makes no budget grow", async () => {
    const used = { inputTokens: -1e9, outputTokens: Number.NaN }
    const result = await ask(() => ({ text: "42", usage: used }), { budget: { costUsd: 1 } })
    assert.strictEqual(result.spend.costUsd, 1)
    assert.strictEqual(
      result.transcript.rounds[0]?.steps[0]?.paid?.usage.misreported,
      "inputTokens: -1000000000, outputTokens: NaN"
    )
  })
})

describe("a policy's function", () => {
  const given: ReadonlyArray<readonly [value: unknown, words: string]> = [
    [undefined, "it did not return a workflow. Return { steps: [...] }"],
    [{ steps: "all" }, "it did not return a workflow. Return { steps: [...] }"],
    [{ steps: [{ worker: 0, access: [] }] }, "in step 0, subtask is undefined, not a string"],
    [{ steps: [null] }, "step 0 is null, not { worker, subtask, access }"],
    [
      { steps: [{ worker: Number.NaN, subtask: 5 }] },
      'in step 0, worker is NaN, not an id or a number; subtask is 5, not a string; access is undefined, not "all" or a list of steps'
    ],
    [
      { steps: [{ worker: {}, subtask: "", access: "none" }] },
      'in step 0, worker is an object, not an id or a number; access is "none", not "all" or a list of steps'
    ]
  ]
  for (const [value, words] of given) {
    it(`that gives ${JSON.stringify(value)} is told what is missing`, async () => {
      const result = await ask(() => "42", { policy: promise.policy("mine", () => value as promise.Workflow) })
      assert.strictEqual(result.detail, `Policy "mine" produced no valid plan: ${words}`)
    })
  }

  it("that throws what cannot be shown fails the run, which ends", async () => {
    const result = await ask(() => "42", {
      policy: promise.policy("mine", () => {
        throw hostile
      })
    })
    assert.strictEqual(result.detail, 'Policy "mine" produced no valid plan: something that cannot be shown')
  })
})

describe("a listener", () => {
  const types: ReadonlyArray<RunEvent["type"]> = [
    "run-started",
    "round-started",
    "workflow-proposed",
    "step-started",
    "step-delta",
    "step-finished",
    "round-finished",
    "run-finished"
  ]
  for (const type of types) {
    it(`that throws at ${type} loses nothing of the run, and hears the rest`, async () => {
      const heard: Array<string> = []
      const result = await ask(() => "42", {
        onEvent: (event) => {
          heard.push(event.type)
          if (event.type === type) throw hostile
        }
      })
      assert.deepStrictEqual([result.ending, result.answer, result.spend.calls], ["answered", "42", 1])
      assert.strictEqual(result.transcript.ending, "answered")
      assert.deepStrictEqual(heard, [...types])
    })
  }

  it("that is async and fails neither stops the run nor the process", async () => {
    const result = await ask(() => "42", { onEvent: async () => Promise.reject(hostile) })
    assert.strictEqual(result.answer, "42")
    // The process would end here, with an unhandled rejection.
    await new Promise((resolve) => setImmediate(resolve))
  })

  it("that throws is reported in a warning at the end of the run", async () => {
    const said: Array<unknown> = []
    const logger = Logger.make(({ message }) => said.push(message))
    const conductor = Conductor.make({
      policy: Baselines.single(0),
      pool: WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["42"] })])
    })
    const listener = ({ type }: RunEvent) => {
      if (type.startsWith("step-")) throw new Error("boom")
    }
    const running = conductor.run("Why?", { runId: "r", listener })
    await Effect.runPromise(Effect.provide(running, Logger.layer([logger])))
    assert.deepStrictEqual(said, [
      ["The listener of run r threw an error for 3 events, first for step-started: boom. The run was not affected."]
    ])
  })
})
