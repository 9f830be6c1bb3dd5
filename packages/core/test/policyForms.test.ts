/** The forms of proposals, and calls that a policy does not wait for. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { assert, describe, it } from "vitest"
import type { RunEvent } from "../src/events/RunEvent.ts"
import type * as Policy from "../src/policy/Policy.ts"
import * as promise from "../src/promise.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const question = "What is the capital of France?"
const pool = [promise.worker({ id: "a", answer: () => "fact" })]
const one = { steps: [{ worker: 0, subtask: "", access: [] }] }
const asking = [{ role: "user" as const, content: "Plan it." }]

const run = (policy: promise.Policy, options: Partial<promise.ConductOptions> = {}) =>
  promise.conduct({ question, pool, policy, ...options })

/** Whether an async iterable of texts yields these. */
const textsOf = async (stream: AsyncIterable<string>) => {
  const texts: Array<string> = []
  for await (const text of stream) texts.push(text)
  return texts
}

describe("a policy's own answer", () => {
  const own = promise.policy("own", () => ({ answer: "Paris.", notes: ["It is easy."] }))

  it("ends the run without a call, and is recorded", async () => {
    const events: Array<RunEvent> = []
    const result = await run(own, { recursion: 3, onEvent: (event) => events.push(event) })
    assert.deepStrictEqual([result.ending, result.answer, result.spend.calls], ["answered", "Paris.", 0])
    assert.strictEqual(result.rounds.length, 1)
    assert.isTrue(result.rounds[0]!.isOwn)
    const proposed = events.find((event) => event.type === "workflow-proposed")
    assert.deepInclude(proposed, { answer: "Paris.", notes: ["It is easy."], workflow: { steps: [] } })
    const [round] = result.transcript.rounds
    assert.deepInclude(round, { isOwn: true, answer: "Paris.", confirmed: false })
    assert.deepStrictEqual(
      await promise.decodeTranscript(promise.encodeTranscript(result.transcript)),
      result.transcript
    )
  })

  it("is streamed", async () => {
    const stream = promise.streamAnswer({ question, pool, policy: own })
    assert.deepStrictEqual(await textsOf(stream), ["Paris."])
    assert.strictEqual((await stream.result).answer, "Paris.")
  })

  it("is taken from a journal, and from an Effect policy with or without a workflow", async () => {
    const journal = promise.memoryJournal()
    await run(own, { journal, runId: "r" })
    const again = await promise.resume({ pool, policy: own, journal, runId: "r" })
    assert.deepStrictEqual([again.answer, again.rounds[0]!.isOwn], ["Paris.", true])
    for (const proposal of [{ workflow: { steps: [] }, answer: "Paris." }, { answer: "Paris." }]) {
      const policy: Policy.Policy = { name: "own", propose: () => Effect.succeed(proposal as Policy.Proposal) }
      assert.strictEqual((await run(policy)).answer, "Paris.")
    }
  })

  it("replaces a plan whose answers failed their checks", async () => {
    const policy = promise.policy(
      "revising",
      () => ({ steps: [{ worker: 0, subtask: "", access: [], check: { by: "never", onFailure: "revise" as const } }] }),
      { checks: { never: () => "It is wrong." }, revise: () => ({ type: "re-plan", answer: "Paris." }) }
    )
    const result = await run(policy)
    assert.deepStrictEqual([result.ending, result.answer, result.rounds.length], ["answered", "Paris.", 2])
  })

  const wrong: ReadonlyArray<readonly [proposal: object, words: string]> = [
    [{ answer: "" }, "its own answer is empty"],
    [{ workflow: one, answer: "Paris." }, "it proposed both an answer and steps"],
    [{ answer: "Paris.", isLast: 1 }, "its isLast is number"],
    [{ answer: "Paris.", note: "" }, 'did you mean "notes"?']
  ]
  for (const [proposal, words] of wrong) {
    it(`is refused if ${words}`, async () => {
      const result = await run(promise.policy("wrong", () => proposal as promise.ProposalInput))
      assert.strictEqual(result.ending, "failed")
      assert.include(result.detail, words)
    })
  }
})

describe("the end of a run", () => {
  it("comes with the answer of a round that is the last", async () => {
    const policy = promise.policy(
      "two rounds",
      ({ round }) => ({ workflow: one, isLast: round === 1 ? true : undefined }),
      { recursion: Number.POSITIVE_INFINITY }
    )
    const result = await run(policy)
    assert.deepStrictEqual([result.ending, result.answer, result.rounds.length], ["answered", "fact", 2])
    assert.isTrue(result.transcript.rounds[1]!.isLast)
  })

  it("comes by the budget for a policy with endless rounds, and at 10,000 rounds without one", async () => {
    const endless = promise.policy("endless", () => one, { recursion: Number.POSITIVE_INFINITY })
    const result = await run(endless, { budget: { calls: 5 } })
    assert.deepStrictEqual([result.ending, result.answer, result.spend.calls], ["budget", "fact", 5])
    const conductor = Conductor.make({ policy: endless, pool: WorkerPool.makeUnsafe([ScriptedWorker.echo("a")]) })
    assert.strictEqual(conductor.maxRounds, 10_000)
  })

  it("comes by the budget if the run allows endless rounds, and no number makes a run endless", async () => {
    const again = promise.policy("again", () => one)
    const result = await run(again, { budget: { calls: 5 }, recursion: Number.POSITIVE_INFINITY })
    assert.deepStrictEqual([result.ending, result.answer, result.spend.calls], ["budget", "fact", 5])
    for (const recursion of [1.5, -1, Number.NaN]) {
      assert.throws(() => promise.policy("odd", () => one, { recursion }), "a whole number of at least 0, or Infinity")
      const odd = { ...again, recursion }
      const conductor = Conductor.make({ policy: odd, pool: WorkerPool.makeUnsafe([ScriptedWorker.echo("a")]) })
      assert.isAtMost(conductor.maxRounds, 2)
    }
  })
})

describe("complete of the promise API", () => {
  const tools = [{ name: "look", description: "Looks.", input: { type: "object", properties: {} } }]
  const caller = () => {
    let calls = 0
    const model = promise.worker({
      id: "model",
      capabilities: { tools: true },
      answer: ({ tools = [] }) => {
        calls += 1
        return { text: "", toolCalls: tools.map(({ name }) => ({ name, arguments: { turn: calls } })) }
      }
    })
    return { model, calls: () => calls }
  }

  const looking = (model: promise.Worker) =>
    promise.policy(
      "looking",
      async ({ complete, previous, round }) => {
        const { finishReason, toolCalls } = await complete({ model, messages: asking, tools })
        const earlier = previous?.rounds?.flatMap(({ said = [] }) => said.map(({ toolCalls }) => toolCalls?.[0]?.name))
        const notes = [`${toolCalls?.[0]?.arguments} ${finishReason} ${earlier?.join() ?? ""}`]
        return { workflow: one, isLast: round === 2, notes }
      },
      { recursion: Number.POSITIVE_INFINITY }
    )

  it("gives tool calls, which the record shows and a resumed run takes from it", async () => {
    const { calls, model } = caller()
    const policy = looking(model)
    const journal = promise.memoryJournal()
    const options = { question, pool, policy }
    const result = await promise.conduct({ ...options, journal, runId: "looks", budget: { calls: 5 } })
    // The last round is left out, so that the run can be resumed.
    assert.strictEqual(result.ending, "budget")
    assert.strictEqual(calls(), 3)
    const whole = await promise.conduct({ ...options, journal, runId: "looks" })
    assert.deepStrictEqual([whole.ending, whole.answer, calls()], ["answered", "fact", 3])
    const notes = whole.transcript.rounds.map(({ notes }) => notes[0])
    assert.deepStrictEqual(notes, [
      '{"turn":1} tool-calls ',
      '{"turn":2} tool-calls look',
      '{"turn":3} tool-calls look,look'
    ])
    assert.strictEqual(whole.transcript.rounds[0]!.completions[0]!.toolCalls?.[0]?.name, "look")
    const text = promise.encodeTranscript(whole.transcript)
    const again = await promise.resume({ pool, policy, transcript: await promise.decodeTranscript(text) })
    assert.deepStrictEqual(
      again.transcript.rounds.map(({ notes }) => notes[0]),
      notes
    )
    assert.strictEqual(calls(), 3)
  })

  it.each([
    [{ mesages: asking }, 'complete: option "mesages" does not exist. Did you mean "messages"?'],
    [{ messages: [] }, 'complete: "messages" must be a non-empty list of messages, not an empty list.'],
    [{ messages: asking, model: "model" }, 'complete: "model" must be a worker, not "model".'],
    [{ messages: asking, model: undefined }, 'complete: "model" is missing: expected a worker.']
  ])("refuses %j by name, before a call is made", async (given, words) => {
    const model = promise.worker({ id: "model", answer: () => "Paris." })
    const policy = promise.policy("mistaken", async ({ complete }) => {
      const { text } = await complete({ model, ...given } as never)
      return { answer: text }
    })
    const result = await run(policy)
    assert.strictEqual(result.ending, "failed")
    assert.include(result.detail, words)
    assert.strictEqual(result.spend.calls, 0)
  })

  it("is given to revise, too", async () => {
    const model = promise.worker({ id: "model", answer: () => "Paris." })
    const policy = promise.policy(
      "revising",
      () => ({ steps: [{ worker: 0, subtask: "", access: [], check: { by: "never", onFailure: "revise" as const } }] }),
      {
        checks: { never: () => "It is wrong." },
        revise: async ({ complete }) => ({
          type: "re-plan",
          answer: (await complete({ model, messages: asking })).text
        })
      }
    )
    const result = await run(policy)
    assert.deepStrictEqual([result.answer, result.spend.calls], ["Paris.", 2])
  })

  it("settles calls that are stopped with the run or left behind, without an unhandled rejection", async () => {
    const unhandled: Array<unknown> = []
    const onUnhandled = (error: unknown) => unhandled.push(error)
    process.on("unhandledRejection", onUnhandled)
    const controller = new AbortController()
    const hanging = promise.worker({
      id: "hanging",
      answer: () => {
        controller.abort()
        return new Promise<string>(() => {})
      }
    })
    const options = { signal: controller.signal }
    const stopped = await run(
      promise.policy("asks", async ({ complete }) => ({
        answer: (await complete({ model: hanging, messages: asking })).text
      })),
      options
    )
    assert.deepStrictEqual([stopped.ending, stopped.spend.calls], ["interrupted", 1])
    assert.strictEqual(stopped.transcript.rounds[0]!.lost.length, 1)

    let late: promise.PromiseComplete | undefined
    const never = promise.worker({ id: "never", answer: () => new Promise<string>(() => {}) })
    const left = await run(
      promise.policy("leaves", async ({ complete }) => {
        late = complete
        void complete({ model: never, messages: asking })
        await new Promise((resolve) => setImmediate(resolve))
        return { answer: "Paris." }
      })
    )
    assert.deepStrictEqual([left.answer, left.spend.calls], ["Paris.", 1])
    void late!({ model: never, messages: asking })
    await new Promise((resolve) => setImmediate(resolve))
    process.off("unhandledRejection", onUnhandled)
    assert.deepStrictEqual(unhandled, [])
  })

  it("is a thin form of the Effect API's, whose read sees the whole reply", async () => {
    const { model } = caller()
    const seen: Array<unknown> = []
    const policy: Policy.Policy = {
      name: "reads",
      propose: ({ complete }) =>
        Effect.map(
          complete({
            model,
            request: { messages: asking, tools },
            attempt: 0,
            read: (completion, said) => Result.succeed(seen.push([completion, said.toolCalls?.[0]?.name]))
          }),
          ({ said }) => ({ workflow: { steps: [] }, answer: said.toolCalls![0]!.arguments })
        )
    }
    assert.strictEqual((await run(policy)).answer, '{"turn":1}')
    assert.deepStrictEqual(seen, [["", "look"]])
  })

  it("restores the vendor data of a completion with tool calls from a transcript", async () => {
    let calls = 0
    const model: promise.Worker = {
      id: "model",
      capabilities: { tools: true },
      generate: () => {
        calls += 1
        const usage = { inputTokens: 1, outputTokens: 1 }
        return Effect.succeed([
          { type: "tool-call" as const, id: "c", name: "look", arguments: "{}" },
          { type: "finish" as const, reason: "tool-calls" as const, usage, echo: { signature: "s" } }
        ])
      }
    }
    const policy = promise.policy("echoes", async ({ complete }) => {
      const { echo } = await complete({ model, messages: asking, tools })
      return { answer: JSON.stringify(echo) }
    })
    const { answer, transcript } = await run(policy)
    assert.strictEqual(answer, '{"signature":"s"}')
    const text = promise.encodeTranscript(transcript)
    const again = await promise.resume({ pool, policy, transcript: await promise.decodeTranscript(text) })
    assert.deepStrictEqual([again.answer, calls], [answer, 1])
  })
})
