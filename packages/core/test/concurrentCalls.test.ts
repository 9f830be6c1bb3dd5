/** Concurrent calls of a policy, a critic or a check: a resumed run may start them in another order. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Policy from "../src/policy/Policy.ts"
import * as promise from "../src/promise.ts"
import type * as Critic from "../src/task/Critic.ts"

const question = "What is the capital of France?"
const solver = promise.worker({ id: "solver", answer: () => "Paris" })
const one = { steps: [{ worker: 0, subtask: "", access: [] }] }
const names = ["a", "b", "c"]

type Ask = (text: string) => Promise<string>

/** Asks each chain's first and second question; the chains are concurrent, and each call must get its own answer. */
const chains = async (ask: Ask): Promise<string> => {
  const chain = async (name: string) => {
    const first = await ask(`first of ${name}`)
    return [first, await ask(`second of ${name}`)]
  }
  return (await Promise.all(names.map(chain))).flat().join()
}

const expected = names.flatMap((name) => [`first of ${name}`, `second of ${name}`]).join()

/**
 * A model that answers with its question. In the first process, the chains overtake each other: c is first and a is last.
 * The process stops when the answers to the first questions, and to some of the second ones, have arrived.
 */
const overtaking = (answered: ReadonlyArray<string>) => {
  const asked: Array<string> = []
  const gates = new Map<string, () => void>()
  const stop = new AbortController()
  let isResumed = false
  const waitFor = (name: string) => new Promise<void>((resolve) => gates.set(name, resolve))
  const model = promise.worker({
    id: "model",
    answer: async ({ messages }) => {
      const text = String(messages.at(-1)?.content)
      asked.push(text)
      if (isResumed) return text
      if (text === "first of a") await waitFor("a")
      if (text === "first of b") await waitFor("b")
      if (text === "second of c") gates.get("b")!()
      if (text === "second of b") gates.get("a")!()
      if (text === "second of a") setTimeout(() => stop.abort(), 5)
      if (text.startsWith("second") && !answered.includes(text)) await new Promise<never>(() => {})
      return text
    }
  })
  const resumed = () => {
    isResumed = true
    return asked.splice(0)
  }
  return { asked, model, resumed, signal: stop.signal }
}

/** The same as an effect. */
const effects = <E>(ask: (text: string) => Effect.Effect<string, E>): Effect.Effect<string, E> => {
  const chain = (name: string) => Effect.forEach([`first of ${name}`, `second of ${name}`], ask)
  return Effect.map(Effect.forEach(names, chain, { concurrency: "unbounded" }), (all) => all.flat().join())
}

const asking = (content: string) => ({ messages: [{ role: "user" as const, content }] })

const grading = (model: promise.Worker, score: number): Critic.Critic => ({
  name: "chains",
  score: ({ ask }) =>
    Effect.map(
      effects((content) => Effect.map(ask(model, asking(content)), ({ text }) => text)),
      (explanation) => ({ score, correct: score === 1, explanation })
    )
})

/** The callers by name. */
const callers = (model: promise.Worker) => ({
  policy: {
    policy: promise.policy("chains", async ({ complete }) => ({
      answer: await chains(async (content) => (await complete({ model, ...asking(content) })).text)
    }))
  },
  "policy of effects": {
    policy: {
      name: "chains",
      propose: ({ complete }: Policy.Context) =>
        Effect.map(
          effects((content) =>
            Effect.map(
              complete({ model, request: asking(content), read: () => Result.succeed(0) }),
              ({ completion }) => completion
            )
          ),
          (answer) => ({ workflow: { steps: [] }, answer })
        )
    }
  },
  critic: { policy: promise.policy("one", () => one), critic: grading(model, 1) },
  check: {
    policy: promise.policy("one", () => ({
      steps: [{ ...one.steps[0]!, check: { by: "chains", onFailure: "continue" as const } }]
    })),
    checks: { chains: grading(model, 0) }
  }
})

const resultOf = ({ answer, transcript }: promise.ConductResult): string | undefined => {
  const round = transcript.rounds[0]!
  return round.grade?.grade.explanation ?? round.steps[0]?.checks?.[0]?.objection ?? answer
}

describe.each(["policy", "policy of effects", "critic", "check"] as const)("concurrent calls of a %s", (caller) => {
  const all = ["second of a", "second of b", "second of c"]
  it.each([{ answered: [] }, { answered: ["second of c"] }, { answered: ["second of b", "second of c"] }])(
    "are found in a journal and in a transcript whatever their order: $answered",
    async ({ answered }) => {
      for (const from of ["journal", "transcript"] as const) {
        const { asked, model, resumed, signal } = overtaking(answered)
        const options = { pool: [solver], ...callers(model)[caller] }
        const journal = promise.memoryJournal()
        const first = await promise.conduct({ question, ...options, journal, runId: "r", signal })
        assert.strictEqual(first.ending, "interrupted")
        assert.deepStrictEqual(resumed().slice(3), all.toReversed())
        const text = promise.encodeTranscript(first.transcript)
        const again =
          from === "journal"
            ? await promise.resume({ ...options, journal, runId: "r" })
            : await promise.resume({ ...options, transcript: await promise.decodeTranscript(text) })
        assert.strictEqual(again.ending, "answered", again.detail)
        assert.include(resultOf(again), expected)
        assert.sameMembers(
          asked,
          all.filter((text) => !answered.includes(text))
        )
      }
    }
  )
})
