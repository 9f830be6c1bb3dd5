import {
  bestOf,
  type ConductOptions,
  conduct,
  decodeTranscript,
  encodeTranscript,
  policy,
  type RunEvent,
  resume,
  single,
  streamAnswer,
  tool,
  worker
} from "@divisi/core/promise"
import { assert, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WorkerRequest } from "../src/task/Worker.ts"

const pricing = { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 }

const toolsOf = ({ messages }: WorkerRequest) => messages.filter(({ role }) => role === "tool")

/** A tool that the caller runs. */
const lookup = tool({ name: "lookup", input: { type: "object" } })

/** Asks for the tool, then says what it gave. */
const asker = (id: string, asked: Array<string>) =>
  worker({
    id,
    pricing,
    capabilities: { tools: true },
    answer: (request) => {
      const results = toolsOf(request)
      asked.push(`${id} after ${results.length}`)
      return results.length === 0
        ? { text: "Let me look.", toolCalls: [{ name: "lookup", arguments: { of: id } }] }
        : `${id} heard ${results.map(({ content }) => String(content)).join()}`
    }
  })

const talker = (id: string, asked: Array<string>) =>
  worker({
    id,
    pricing,
    capabilities: { tools: true },
    answer: () => {
      asked.push(id)
      return `${id} says`
    }
  })

/** Two steps that wait, one that does not, and a last that sees all. */
const wide = policy("wide", () => ({
  steps: [
    { worker: 0, subtask: "Look one up.", access: [] },
    { worker: 1, subtask: "Look two up.", access: [] },
    { worker: 2, subtask: "Talk.", access: [] },
    { worker: 2, subtask: "", access: "all" }
  ]
}))

const wideOptions = (asked: Array<string>): ConductOptions => ({
  question: "What?",
  pool: [asker("a", asked), asker("b", asked), talker("c", asked)],
  policy: wide,
  tools: [lookup],
  toolAccess: "every-step",
  budget: { calls: 10, costUsd: 10 }
})

describe("a tool without a handler", () => {
  it("suspends the run once nothing more can run, and keeps nothing reserved", async () => {
    const asked: Array<string> = []
    const result = await conduct(wideOptions(asked))
    assert.deepStrictEqual([result.ending, result.answer], ["suspended", undefined])
    assert.deepStrictEqual(asked.toSorted(), ["a after 0", "b after 0", "c"])
    assert.deepStrictEqual(
      result.waitingFor.map(({ call, for: what, id, step, worker }) => [id, step, worker, what, call.arguments]),
      [
        ["0.0.0.0", 0, "a", "result", '{"of":"a"}'],
        ["0.1.0.0", 1, "b", "result", '{"of":"b"}']
      ]
    )
    assert.strictEqual(result.spend.costUsd, 3)
    assert.deepStrictEqual(
      result.transcript.rounds[0]!.steps.map(({ state }) => state),
      ["suspended", "suspended", "answered", "waiting"]
    )
    expect(result.detail).toBe("The run is waiting for the result of lookup (0.0.0.0), the result of lookup (0.1.0.0).")
  })

  it("resumes with its results, without calling or paying twice", async () => {
    const asked: Array<string> = []
    const events: Array<RunEvent> = []
    const first = await conduct({ ...wideOptions(asked), onEvent: (event) => events.push(event) })
    if (first.ending !== "suspended") return assert.fail(first.ending)
    await expect(first.resume({ "0.0.0.0": 5 as never })).rejects.toThrow(
      'resume: "results["0.0.0.0"]" must be a string, { content }, or { approved: true or false }, not 5.'
    )
    const second = await first.resume({ "0.0.0.0": "one" })
    assert.strictEqual(second.ending, "suspended")
    if (second.ending !== "suspended") return
    assert.deepStrictEqual(
      second.waitingFor.map(({ id }) => id),
      ["0.1.0.0"]
    )
    const third = await second.resume({ "0.1.0.0": { content: "two" } })
    assert.strictEqual(third.answer, "c says")
    assert.deepStrictEqual(asked, ["a after 0", "b after 0", "c", "a after 1", "b after 1", "c"])
    assert.deepStrictEqual([third.spend.calls, third.spend.costUsd], [6, 6])
    assert.strictEqual(third.runId, first.runId)
    assert.deepStrictEqual(
      third.transcript.rounds[0]!.steps.map(({ text }) => text),
      ["a heard one", "b heard two", "c says", "c says"]
    )
    // Each segment tells the whole run.
    assert.strictEqual(events.filter(({ type }) => type === "run-started").length, 3)
  })

  it("gives the same when the same results are given again, at once or later", async () => {
    const asked: Array<string> = []
    const first = await conduct(wideOptions(asked))
    if (first.ending !== "suspended") return assert.fail(first.ending)
    const results = { "0.0.0.0": "one", "0.1.0.0": "two" }
    const [one, two] = await Promise.all([first.resume(results), first.resume({ ...results })])
    assert.strictEqual(one, two)
    assert.strictEqual(asked.length, 6)
  })

  it("resumes in another process from the transcript", async () => {
    const asked: Array<string> = []
    const first = await conduct(wideOptions(asked))
    const transcript = await decodeTranscript(encodeTranscript(first.transcript))
    const { question: _, ...options } = wideOptions(asked)
    const result = await resume({ ...options, transcript, results: { "0.0.0.0": "one", "0.1.0.0": "two" } })
    assert.deepStrictEqual([result.answer, result.spend.calls], ["c says", 6])
    assert.strictEqual(asked.length, 6)
  })

  it("resumes unchanged if calls failed, were retried and handed over", async () => {
    let failures = 0
    const asked: Array<string> = []
    const broken = worker({
      id: "broken",
      pricing,
      capabilities: { tools: true },
      answer: () => {
        failures += 1
        throw Object.assign(new Error("busy"), { status: 503 })
      }
    })
    const options = {
      question: "What?",
      pool: [broken, asker("a", asked)],
      policy: single(0),
      tools: [lookup],
      reassign: "next" as const,
      retry: { maxAttempts: 2, baseDelayMillis: 1 }
    }
    const first = await conduct(options)
    if (first.ending !== "suspended") return assert.fail(first.detail)
    assert.strictEqual(failures, 2)
    const done = await first.resume({ [first.waitingFor[0]!.id]: "one" })
    assert.strictEqual(done.answer, "a heard one")
    assert.deepStrictEqual([failures, asked.length], [2, 2])
    assert.strictEqual(done.spend.calls, first.spend.calls + 1)
    assert.strictEqual(done.spend.costUsd, first.spend.costUsd + 1)
    const [step] = done.transcript.rounds[0]!.steps
    assert.deepStrictEqual([step!.lost.length, step!.reassigned.length], [2, 1])
  })

  it("waits within a nested run, and resumes there", async () => {
    const asked: Array<string> = []
    const pool = [asker("a", asked)]
    const nesting = policy("nesting", ({ self }) => ({
      steps: [{ worker: self ? 1 : 0, subtask: "", access: [] }]
    }))
    const options = { question: "What?", pool, policy: nesting, tools: [lookup], self: { maxDepth: 1 } }
    const first = await conduct(options)
    if (first.ending !== "suspended") return assert.fail(first.detail)
    assert.deepStrictEqual(
      first.waitingFor.map(({ id }) => id),
      ["0.0/0.0.0.0"]
    )
    const done = await first.resume({ "0.0/0.0.0.0": "one" })
    assert.deepStrictEqual([done.answer, done.spend.calls, asked.length], ["a heard one", 2, 2])
  })

  it("keeps a critic's word of the round before", async () => {
    const asked: Array<string> = []
    let judged = 0
    const judge = worker({ id: "judge", pricing, answer: () => `${++judged}` })
    const rounds = policy("rounds", ({ round }) => ({
      steps: [{ worker: round === 0 ? 1 : 0, subtask: "", access: [] }]
    }))
    const critic: ConductOptions["critic"] = {
      name: "judging",
      score: ({ ask }) =>
        Effect.map(ask(judge, { messages: [{ role: "user", content: "Score it." }] }), () => ({
          correct: false,
          score: 0.5
        }))
    }
    const first = await conduct({
      question: "What?",
      pool: [asker("a", asked), talker("c", asked)],
      policy: rounds,
      tools: [lookup],
      critic
    })
    if (first.ending !== "suspended") return assert.fail(first.detail)
    const done = await first.resume({ [first.waitingFor[0]!.id]: "one" })
    assert.strictEqual(done.transcript.rounds[0]!.criticAnswers![0]!.text, "1")
    assert.deepStrictEqual([asked.filter((who) => who === "c").length, judged > 1], [1, true])
  })
})

describe("results that nothing waits for", () => {
  it("are refused by name, and the run waits on", async () => {
    const asked: Array<string> = []
    const options = { pool: [asker("a", asked)], policy: single(0), tools: [lookup] }
    const first = await conduct({ ...options, question: "What?" })
    if (first.ending !== "suspended") return assert.fail(first.detail)
    const [waiting] = first.waitingFor
    await expect(first.resume({ [waiting!.call.id]: "one", extra: "two" })).rejects.toThrow(
      /resume: This run has no pending call ".*"\. Pending calls: "0\.0\.0\.0" \(lookup\)\./
    )
    assert.strictEqual((await first.resume({ [waiting!.id]: "one" })).ending, "answered")
    const again = await resume({ ...options, transcript: first.transcript, results: { [waiting!.id]: "one" } })
    assert.strictEqual(again.ending, "answered")
  })
})

describe("the text of an answer", () => {
  it("has what its worker said before it called a tool, and the answer after it", async () => {
    const talking = worker({
      id: "talking",
      capabilities: { tools: true },
      answer: (request) =>
        toolsOf(request).length === 0
          ? { text: "Let me look.", toolCalls: [{ name: "lookup", arguments: {} }] }
          : "It is 7."
    })
    const ready = tool({ name: "lookup", input: { type: "object" }, execute: () => 7 })
    const answer = streamAnswer({ question: "What?", pool: [talking], policy: single(0), tools: [ready] })
    const pieces: Array<string> = []
    for await (const piece of answer) pieces.push(piece)
    assert.strictEqual(pieces.join(""), "Let me look.\n\nIt is 7.")
    assert.strictEqual((await answer.result).answer, "It is 7.")
  })
})

describe("votes", () => {
  it("wait for the steps that wait", async () => {
    const asked: Array<string> = []
    const options = {
      question: "What?",
      pool: [asker("a", asked), talker("c", asked)],
      policy: bestOf({ n: 2 }),
      tools: [lookup],
      toolAccess: "every-step" as const
    }
    const first = await conduct(options)
    assert.strictEqual(first.ending, "suspended")
  })
})
