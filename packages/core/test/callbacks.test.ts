/** Every function that a user gives may be async and may throw: a run ends with words, and nothing stays unhandled. */
import * as Effect from "effect/Effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { CallbackError } from "../src/Callback.ts"
import * as promise from "../src/promise.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const unhandled: Array<unknown> = []
const note = (error: unknown) => void unhandled.push(error)

beforeAll(() => void process.on("unhandledRejection", note))
afterAll(() => void process.off("unhandledRejection", note))

const input = { type: "object" } as const

const answering = promise.worker({ id: "a", answer: () => "42" })

/** Asks for the tool `t` once, and answers with its result. */
const asking = promise.worker({
  id: "a",
  capabilities: { tools: true },
  answer: ({ messages }) => {
    const last = messages.at(-1)
    return last?.role === "tool" ? String(last.content) : { toolCalls: [{ name: "t", arguments: {} }] }
  }
})

const failing = promise.worker({ id: "x", answer: () => Promise.reject(new Error("no")) })

type Options = Partial<promise.ConductOptions>

const run = (options: Options) =>
  promise.conduct({ question: "What is 6 times 7?", pool: [answering], policy: promise.single(0), ...options })

const tools = (options: object): Options => ({
  pool: [asking],
  tools: [promise.tool({ name: "t", input, execute: () => "done", ...options })]
})

const checked = promise.policy("checked", () => ({
  steps: [{ worker: 0, subtask: "", access: [], check: { by: "c", onFailure: "continue" as const } }]
}))

const checks = (check: unknown): Options => ({ policy: checked, checks: { c: check as promise.Check } })

const revising: promise.Workflow = {
  steps: [
    { worker: 0, subtask: "", access: [], check: { by: "c", onFailure: "revise" } },
    { worker: 0, subtask: "", access: [0] }
  ]
}

const standard = (validate: unknown) => ({
  "~standard": { version: 1, vendor: "x", validate, jsonSchema: { input: () => input, output: () => input } }
})

type Callback = () => unknown

/** Ways to pass the callback to a run, and the ending of the run if the callback fails. */
const places: Readonly<Record<string, readonly [options: (callback: Callback) => unknown, ending: RegExp]>> = {
  "a tool": [(execute) => tools({ execute }), /^answered: The tool failed: boom/],
  "a tool without tool()": [
    (execute) => ({ ...tools({}), tools: [{ name: "t", input, execute }] }),
    /tool failed: boom/
  ],
  needsApproval: [(needsApproval) => tools({ needsApproval }), /^suspended/],
  approve: [(approve) => ({ ...tools({ needsApproval: true }), approve }), /^answered: The user rejected this call/],
  "the schema of a tool": [(validate) => tools({ input: standard(validate) }), /arguments do not match .* boom/],
  onEvent: [(onEvent) => ({ onEvent }), /^answered: 42/],
  telemetry: [(listener) => ({ telemetry: { listener, open: () => 0 } }), /^answered: 42/],
  "a check": [checks, /^answered: 42/],
  "a check by a grader": [(grade) => checks({ name: "c", grade }), /^answered: 42/],
  "a check by a critic": [(score) => checks({ name: "c", score }), /^answered: 42/],
  "a critic": [(score) => ({ critic: { name: "c", score } }), /^answered: 42 .*boom/],
  "a cache": [(lookup) => ({ cache: { lookup } }), /^answered: 42/],
  "a gate": [(enter) => ({ gate: { enter } }), /^failed: .*boom/],
  onPaid: [(onPaid) => ({ payer: { account: promise.ledger({}), onPaid } }), /^answered: 42/],
  onRefused: [(onRefused) => ({ payer: { account: promise.ledger({ calls: 0 }), onRefused } }), /^budget/],
  reassign: [(reassign) => ({ pool: [failing, answering], reassign }), /^failed: .*x has a bug: no\./],
  "a policy": [(plan) => ({ policy: promise.policy("p", plan as never) }), /^failed: .*boom/],
  revise: [
    (revise) => ({
      ...checks(() => "wrong"),
      policy: promise.policy("p", () => revising, { revise: revise as never })
    }),
    /^answered: 42/
  ],
  refusal: [
    (refusal) => ({ policy: promise.languagePolicy({ model: answering, refusal: refusal as never }) }),
    /^failed: .*refusal/
  ],
  countInputTokens: [
    (countInputTokens) => ({ pool: [{ ...answering, countInputTokens }], budget: { tokens: 10_000 } }),
    /^answered: 42/
  ],
  "reserve of a ledger": [
    (reserve) => ({ ledger: { ...promise.ledger({}), reserve } }),
    /^failed: .*reserve of the ledger failed: boom/
  ],
  "settle of a ledger": [
    (settle) => ({ ledger: { ...promise.ledger({}), settle } }),
    /^failed: .*settle of the ledger failed: boom/
  ],
  "the account of a payer": [
    (reserve) => ({ payer: { account: { ...promise.ledger({}), reserve } } }),
    /^failed: .*reserve of the payer's account failed: boom/
  ],
  "the account of a payer, which settles": [
    (settle) => ({ payer: { account: { ...promise.ledger({}), settle } } }),
    /^failed: .*settle of the payer's account failed: boom/
  ],
  "propose of a policy": [
    (propose) => ({ policy: { name: "p", propose } }),
    /^failed: .*Policy "p" produced no valid plan: its propose function failed: boom/
  ],
  "propose of a policy with a fallback": [
    (propose) => ({ policy: promise.withFallback({ name: "p", propose: propose as never }, promise.single(0)) }),
    /^answered: 42/
  ],
  "revise of a policy": [
    (revise) => ({
      ...checks(() => "wrong"),
      policy: { name: "p", propose: () => Effect.succeed({ workflow: revising }), revise }
    }),
    /^answered: 42/
  ],
  "declines of a fallback": [
    (declines) => ({
      policy: promise.withFallback(promise.single(0), promise.single(0), { declines: declines as never })
    }),
    /^failed: .*its declines function failed: boom/
  ],
  "within of telemetry": [(within) => ({ telemetry: { listener: () => {}, open: () => 0, within } }), /^answered: 42/],
  "the JSON Schema of a shape": [
    (input) => ({
      output: {
        type: "json-schema",
        name: "o",
        schema: {
          "~standard": { version: 1, vendor: "x", validate: (value: unknown) => ({ value }), jsonSchema: { input } }
        }
      }
    }),
    /^failed: .*The schema of the output "o" cannot be used: /
  ],
  "a journal's release": [(release) => ({ journal: { ...promise.memoryJournal(), release } }), /^answered: 42/],
  "a journal's read": [
    (read) => ({ journal: { ...promise.memoryJournal(), claim: () => Effect.succeed({ epoch: 1, length: 3 }), read } }),
    /cannot be written \(boom\)/
  ],
  "a journal": [(append) => ({ journal: { ...promise.memoryJournal(), append } }), /cannot be written \(boom\)/],
  "a journal's claim": [(claim) => ({ journal: { ...promise.memoryJournal(), claim } }), /cannot be written \(boom\)/],
  "a worker's generate": [(generate) => ({ pool: [{ ...answering, generate }] }), /^failed: .*a has a bug/],
  "a worker's answer": [
    (answer) => ({ pool: [promise.worker({ id: "a", answer: answer as never })] }),
    /^failed: .*boom/
  ]
}

const kinds: Readonly<Record<string, Callback>> = {
  throws: () => {
    throw new Error("boom")
  },
  "is rejected": () => Promise.reject(new Error("boom")),
  "is rejected later": async () => {
    await new Promise((resolve) => setTimeout(resolve, 1))
    throw new Error("boom")
  },
  "gives a thenable that fails": () => ({
    // biome-ignore lint/suspicious/noThenProperty: others' promises are objects like this one.
    then: (_: unknown, reject: (error: Error) => void) => reject(new Error("boom"))
  })
}

describe("a function that is given to a run", () => {
  for (const [place, [options, ending]] of Object.entries(places)) {
    it(`ends it in words or not at all where it fails: ${place}`, async () => {
      for (const [kind, callback] of Object.entries(kinds)) {
        const told = await run(options(callback) as Options).then(
          (result) => `${result.ending}: ${result.answer ?? ""} ${result.detail ?? ""}`.replace(": ", ": ").trim(),
          (error: Error) => error.message
        )
        assert.match(told.replace(/^(\w+): {2}/, "$1: "), ending, kind)
      }
      await new Promise((resolve) => setTimeout(resolve, 5))
      assert.deepStrictEqual(unhandled, [])
    })
  }

  it("may be async", async () => {
    const answers = await Promise.all(
      [
        tools({ needsApproval: async () => false }),
        { ...tools({ needsApproval: async () => true }), approve: async () => true },
        checks({ name: "c", grade: async () => ({ correct: true, score: 1 }) }),
        checks(async () => true),
        { critic: { name: "c", score: async () => ({ correct: true, score: 1 }) } },
        { pool: [failing, answering], reassign: async () => 1 }
      ].map(async (options) => (await run(options as Options)).answer)
    )
    assert.deepStrictEqual(answers, ["done", "done", "42", "42", "42", "42"])
  })

  it("is needed for a tool that needs approval: only a plain yes allows it, only a plain no leaves it out", async () => {
    for (const given of ["no", 1, {}, undefined]) {
      const options = { ...tools({ needsApproval: true }), approve: () => given as never }
      assert.match((await run(options)).answer ?? "", /rejected this call/)
    }
    for (const given of ["", 0, undefined, null]) {
      assert.strictEqual((await run(tools({ needsApproval: async () => given }))).ending, "suspended")
    }
  })

  it("may be async where an account or a policy has it", async () => {
    const account = promise.ledger({ calls: 1 })
    const asynchronous =
      (method: "reserve" | "settle" | "release") =>
      async (...asked: ReadonlyArray<never>) =>
        Effect.runPromise((account[method] as (...args: ReadonlyArray<never>) => Effect.Effect<unknown>)(...asked))
    const ledger = {
      ...account,
      reserve: asynchronous("reserve"),
      settle: asynchronous("settle"),
      release: asynchronous("release")
    } as never
    const policy = {
      name: "p",
      propose: async () => ({ workflow: { steps: [{ worker: 0, subtask: "", access: [] }] } })
    }
    const ended = async () => (await run({ ledger, policy: policy as never })).ending
    assert.deepStrictEqual([await ended(), await ended()], ["answered", "budget"])
    assert.strictEqual(account.spent().calls, 1)
  })

  it("has its error in the result, with its cause", async () => {
    const cause = new Error("boom")
    const reserve = () => Promise.reject(cause)
    const { error } = await run({ ledger: { ...promise.ledger({}), reserve } as never })
    assert.instanceOf(error, CallbackError)
    assert.strictEqual((error as CallbackError).cause, cause)
    const planned = await run({ policy: { name: "p", propose: reserve } as never })
    assert.strictEqual((planned.error as { readonly cause?: unknown }).cause, cause)
  })

  it("may give an Effect to a run of Effect", async () => {
    const conductor = Conductor.make({
      pool: WorkerPool.makeUnsafe([asking]),
      tools: [{ name: "t", input, execute: () => Effect.succeed("done"), needsApproval: async () => true }]
    })
    const allowed = await Effect.runPromise(conductor.run("?", { approve: () => Effect.succeed(true) }))
    assert.strictEqual(allowed.answer, "done")
    const failed = await Effect.runPromise(conductor.run("?", { approve: () => Effect.fail("boom") as never }))
    assert.match(failed.answer ?? "", /rejected this call/)
  })
})

describe("a plan whose getters throw", () => {
  const throwing = promise.policy("p", () => ({
    steps: [
      {
        subtask: "",
        access: [],
        get worker(): number {
          throw new Error("boom")
        }
      }
    ]
  }))

  it("is an invalid plan, for which a fallback plans", async () => {
    const result = await run({ policy: throwing })
    assert.strictEqual(result.ending, "failed")
    assert.match(result.transcript.detail ?? "", /Policy "p" produced no valid plan: its propose function failed: boom/)
    const other = await run({ policy: promise.withFallback(throwing, promise.single(0)) })
    assert.strictEqual(other.answer, "42")
  })
})
