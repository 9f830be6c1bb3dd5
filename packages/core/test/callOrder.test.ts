/** Two chains of calls of one caller: a run that is killed at any write continues in any order of their starts. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import type { RunEvent } from "../src/events/RunEvent.ts"
import * as Transcript from "../src/events/Transcript.ts"
import * as Journal from "../src/journal/Journal.ts"
import type * as Policy from "../src/policy/Policy.ts"
import * as Conductor from "../src/run/Conductor.ts"
import type * as Critic from "../src/task/Critic.ts"
import type { Worker } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import type { Workflow } from "../src/workflow/Workflow.ts"
import { leftWith } from "./processes.ts"

const callers = ["policy", "critic", "check"] as const
type Caller = (typeof callers)[number]

/**
 * A model that answers with its question, after a delay. In the first process, only the given questions are answered.
 */
const vendor = () => {
  const asked: Array<string> = []
  const model = (answered?: ReadonlyArray<string>, delayMillis = 0): Worker => ({
    id: "model",
    pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 },
    maxOutputTokens: 100,
    generate: ({ messages }) => {
      const text = String(messages.at(-1)?.content)
      asked.push(text)
      if (answered?.includes(text) === false) return Stream.never
      const usage = { inputTokens: 3, outputTokens: 4 }
      const answer = Stream.make({ type: "text", text } as const, { type: "finish", reason: "stop", usage } as const)
      return delayMillis === 0 ? answer : Stream.unwrap(Effect.as(Effect.sleep(delayMillis), answer))
    }
  })
  return { asked, model }
}

const solver: Worker = {
  id: "solver",
  generate: () =>
    Stream.make(
      { type: "text", text: "42" } as const,
      {
        type: "finish",
        reason: "stop",
        usage: { inputTokens: 1, outputTokens: 1 }
      } as const
    )
}

type Ask<E> = (text: string) => Effect.Effect<string, E>

/** Asks the questions of each chain one after the other. The chains are concurrent and start in the given order. */
const chained = <E>(ask: Ask<E>, order: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(order, (chain) => Effect.forEach([1, 2], (call) => ask(`${chain}${call}`)), {
      concurrency: "unbounded"
    }),
    (answers) => answers.flat().sort().join()
  )

const asking = (content: string) => ({ messages: [{ role: "user" as const, content }] })

const one: Workflow = { steps: [{ worker: 0, subtask: "", access: [] }] }
const fixed = (workflow: Workflow): Policy.Policy => ({ name: "p", propose: () => Effect.succeed({ workflow }) })

const optionsOf = (caller: Caller, model: Worker, made: <E>(ask: Ask<E>) => Effect.Effect<string, E>) => {
  const judge: Critic.Critic = {
    name: "chains",
    score: ({ ask }) =>
      Effect.map(
        made((content) => Effect.map(ask(model, asking(content)), ({ text }) => text)),
        (explanation) => ({ score: 1, correct: true, explanation })
      )
  }
  const pool = WorkerPool.makeUnsafe([solver])
  if (caller === "critic") return { pool, policy: fixed(one), critic: judge }
  if (caller === "check") {
    const step = { ...one.steps[0]!, check: { by: "chains", onFailure: "continue" as const } }
    return { pool, policy: fixed({ steps: [step] }), checks: { chains: judge } }
  }
  const policy: Policy.Policy = {
    name: "p",
    propose: ({ complete }) =>
      Effect.map(
        made((content) =>
          Effect.map(
            complete({ model, request: asking(content), read: () => Result.succeed(0) }),
            ({ completion }) => completion
          )
        ),
        (answer) => ({ workflow: { steps: [] }, answer })
      )
  }
  return { pool, policy }
}

const question = "What?"
const all = ["a1", "a2", "b1", "b2"]
const orders = [
  ["a", "b"],
  ["b", "a"]
]

/** The sets of questions that may be answered when the process is killed. */
const answeredSets = [0, 1, 2].flatMap((a) =>
  [0, 1, 2].map((b) => [...["a1", "a2"].slice(0, a), ...["b1", "b2"].slice(0, b)])
)

/** The answered questions that a chain reaches. */
const reached = (answered: ReadonlyArray<string>) =>
  answered.filter((text) => text.endsWith("1") || answered.includes(`${text[0]}1`))

/** Lets the run continue until it waits for an answer. */
const settled = Effect.forEach(Array.from({ length: 200 }), () => Effect.yieldNow, { discard: true })

/** Returns the journal after each number of its entries. */
const cutsOf = (caller: Caller, answered: ReadonlyArray<string>, order: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const process = Journal.makeMemory()
    const { model } = vendor()
    const options = optionsOf(caller, model(answered), (ask) => chained(ask, order))
    const fiber = yield* Effect.forkChild(Conductor.make(options).run(question, { runId: "r", journal: process }))
    yield* settled
    const entries = yield* process.read("r")
    yield* Fiber.interrupt(fiber)
    return entries.map((_, count) => entries.slice(0, count + 1))
  })

const journalOf = (entries: ReadonlyArray<Journal.Entry>) => Effect.map(leftWith(entries), Journal.makeMemory)

describe.each(callers)("chains of calls of a %s", (caller) => {
  it.effect("continue in any order after any write, and pay for no answer twice", () =>
    Effect.gen(function* () {
      let resumed = 0
      for (const order of orders) {
        for (const answered of answeredSets) {
          for (const entries of yield* cutsOf(caller, answered, order)) {
            if (Journal.endingOf("r", entries) !== undefined) continue
            for (const again of orders) {
              const { asked, model } = vendor()
              const options = optionsOf(caller, model(), (ask) => chained(ask, again))
              const journal = yield* journalOf(entries)
              const result = yield* Conductor.make(options).run(question, { runId: "r", journal })
              const which = `${order} with ${answered} answered, ${entries.length} entries, then ${again}`
              assert.strictEqual(result.ending, "answered", `${which}: ${result.detail}`)
              const isAnswered = (text: string) =>
                entries.some((entry) => entry.type === "answered" && (entry.answer as { text: string }).text === text)
              assert.sameMembers(
                asked,
                all.filter((text) => !isAnswered(text)),
                which
              )
              const { rounds } = result
              if (caller === "policy") assert.strictEqual(result.answer, all.join(), which)
              if (caller === "critic") assert.strictEqual(rounds[0]?.grade?.explanation, all.join(), which)
              const sent = entries.filter(({ type }) => type === "intent").length
              assert.isAtMost(result.spend.costUsd, sent + asked.length, which)
              resumed += 1
            }
          }
        }
      }
      assert.isAbove(resumed, 100)
    })
  )

  it.effect("continue from a transcript in any order if they were in flight together, each with its own answers", () =>
    Effect.gen(function* () {
      for (const order of orders) {
        for (const answered of answeredSets) {
          const { model } = vendor()
          const options = optionsOf(caller, model(answered, 1), (ask) => chained(ask, order))
          const events: Array<RunEvent> = []
          const fiber = yield* Effect.forkChild(
            Conductor.make(options).run(question, { runId: "r", listener: (event) => void events.push(event) })
          )
          for (const _ of all) yield* Effect.andThen(settled, TestClock.adjust(1))
          yield* settled
          yield* Fiber.interrupt(fiber)
          const transcript = Transcript.fromEvents(events)!
          if (transcript.ending !== "interrupted") continue
          for (const again of orders) {
            const resumed = vendor()
            const conductor = Conductor.make(optionsOf(caller, resumed.model(), (ask) => chained(ask, again)))
            const result = yield* conductor.resume({ transcript })
            const which = `${order} with ${answered} answered, then ${again}`
            assert.strictEqual(result.ending, "answered", `${which}: ${result.detail}`)
            assert.sameMembers(
              resumed.asked,
              all.filter((text) => !reached(answered).includes(text)),
              which
            )
            if (caller === "policy") assert.strictEqual(result.answer, all.join(), which)
            if (caller === "critic") assert.strictEqual(result.rounds[0]?.grade?.explanation, all.join(), which)
          }
        }
      }
    })
  )

  it.effect("refuse a changed request of a sequential caller before it is sent", () =>
    Effect.gen(function* () {
      const first = vendor()
      const process = Journal.makeMemory()
      const sequential =
        (questions: ReadonlyArray<string>) =>
        <E>(ask: Ask<E>) =>
          Effect.map(Effect.forEach(questions, ask), (answers) => answers.join())
      const options = optionsOf(caller, first.model(["a1"]), sequential(["a1", "a2"]))
      const fiber = yield* Effect.forkChild(Conductor.make(options).run(question, { runId: "r", journal: process }))
      yield* settled
      const entries = yield* process.read("r")
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(first.asked.join(), "a1,a2")
      for (const changed of [
        ["x1", "a2"],
        ["a1", "x2"]
      ]) {
        const { asked, model } = vendor()
        const journal = yield* journalOf(entries)
        const conductor = Conductor.make(optionsOf(caller, model(), sequential(changed)))
        const resumed = yield* Effect.forkChild(conductor.run(question, { runId: "r", journal }))
        yield* settled
        yield* TestClock.adjust("2 seconds")
        const result = yield* Fiber.join(resumed)
        assert.instanceOf(result.error, Journal.JournalMismatch)
        assert.match(result.detail!, /sends model a different request than before/)
        assert.deepStrictEqual(asked, [])
      }
    })
  )
})
