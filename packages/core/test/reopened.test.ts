/** Runs that ended by a cause outside their plan, and are resumed: what was answered is never asked again. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import type { RunEvent } from "../src/events/RunEvent.ts"
import * as Transcript from "../src/events/Transcript.ts"
import * as Journal from "../src/journal/Journal.ts"
import * as LanguagePolicy from "../src/policy/LanguagePolicy.ts"
import * as Policy from "../src/policy/Policy.ts"
import type * as Budget from "../src/run/Budget.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as Tool from "../src/task/Tool.ts"
import {
  type Worker,
  WorkerError,
  type WorkerErrorReason,
  type WorkerPart,
  type WorkerRequest
} from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import type { Workflow } from "../src/workflow/Workflow.ts"
import { killedAt } from "./processes.ts"

// -------------------------------------------------------------------------------------------------------------------
// The vendor
// -------------------------------------------------------------------------------------------------------------------

/** A vendor with its own books, that is down after so many answers until it is restored. */
const vendor = (answersUntilDown: number) => {
  const answered: Array<string> = []
  let isDown = false
  const reason: WorkerErrorReason = { _tag: "Overloaded" }
  const worker = (id: string, reply: (request: WorkerRequest) => string | "tool" = () => ""): Worker => ({
    id,
    capabilities: { tools: true },
    pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 },
    maxOutputTokens: 100,
    generate: (request) =>
      Stream.unwrap(
        Effect.gen(function* () {
          yield* Effect.yieldNow
          isDown ||= answered.length >= answersUntilDown
          if (isDown) return yield* new WorkerError({ worker: id, reason })
          const asked = JSON.stringify(request.messages)
          answered.push(`${id} ${asked} ${request.seed}`)
          const usage = { inputTokens: 3, outputTokens: 4 }
          const said = reply(request)
          const text = said === "" ? `${id}:${asked.length}` : said
          const parts: ReadonlyArray<WorkerPart> =
            said === "tool"
              ? [
                  { type: "tool-call", id: "c", name: "look", arguments: "{}" },
                  { type: "finish", reason: "tool-calls", usage }
                ]
              : [
                  { type: "text", text },
                  { type: "finish", reason: "stop", usage }
                ]
          return Stream.fromIterable(parts)
        })
      )
  })
  return {
    answered,
    worker,
    restore: (answers = Number.POSITIVE_INFINITY) => {
      isDown = false
      answersUntilDown = answered.length + answers
    }
  }
}

type Vendor = ReturnType<typeof vendor>

const chainPlan: Workflow = {
  steps: [
    { worker: 0, subtask: "one", access: [] },
    { worker: 1, subtask: "two", access: [0] },
    { worker: 0, subtask: "", access: "all" }
  ]
}

const chain = Policy.fixed("chain", () => chainPlan)

const diamond = Policy.fixed("diamond", () => ({
  steps: [
    { worker: 0, subtask: "one", access: [] },
    { worker: 1, subtask: "two", access: [] },
    { worker: 0, subtask: "three", access: [0, 1] },
    { worker: 1, subtask: "four", access: [1] },
    { worker: 0, subtask: "", access: [2, 3] }
  ]
}))

const two = ({ worker }: Vendor) => [worker("a"), worker("b")]

const planText = [
  "model_id = [0, 1, 0]",
  'subtasks = ["one", "two", "three"]',
  'access_list = [[], [0], ["all"]]'
].join("\n")

interface Case {
  readonly options: (vendor: Vendor) => Partial<Conductor.Options> & { readonly pool: WorkerPool.WorkerPool }
  readonly run?: Conductor.RunOptions
  /** How many answers an undisturbed run needs. */
  readonly answers: number
  /** How many answers there are until the vendor is down again; 1 by default. */
  readonly restored?: number
}

const withTools = (vendor: Vendor) =>
  WorkerPool.makeUnsafe([
    vendor.worker("a", ({ messages, tools }) =>
      tools !== undefined && messages.at(-1)?.role !== "tool" ? ("tool" as const) : ""
    ),
    vendor.worker("b")
  ])

const cases: Readonly<Record<string, Case>> = {
  "a chain": { options: (vendor) => ({ policy: chain, pool: WorkerPool.makeUnsafe(two(vendor)) }), answers: 3 },
  "steps at once": { options: (vendor) => ({ policy: diamond, pool: WorkerPool.makeUnsafe(two(vendor)) }), answers: 5 },
  "a step failure that ends the run": {
    options: (vendor) => ({ policy: diamond, onStepFailure: "end", pool: WorkerPool.makeUnsafe(two(vendor)) }),
    answers: 5
  },
  "reassigned steps": {
    options: (vendor) => ({ policy: diamond, reassign: "next", pool: WorkerPool.makeUnsafe(two(vendor)) }),
    answers: 5
  },
  "a plan by a model": {
    options: (vendor) => ({
      policy: LanguagePolicy.make({ model: vendor.worker("planner", () => planText) }),
      pool: WorkerPool.makeUnsafe(two(vendor))
    }),
    answers: 4
  },
  "a check by a worker": {
    options: (vendor) => ({
      policy: Policy.fixed("checked", () => ({
        steps: [
          { worker: 0, subtask: "one", access: [], check: { by: 1, onFailure: "next" as const } },
          { worker: 0, subtask: "", access: [0] }
        ]
      })),
      pool: WorkerPool.makeUnsafe([vendor.worker("a"), vendor.worker("b", () => "Verdict: right")])
    }),
    answers: 3
  },
  "a nested run": {
    options: (vendor) => ({
      policy: Policy.fixed("outer", (_, __, { self }) => ({
        steps: !self
          ? [
              { worker: 0, subtask: "in", access: [] },
              { worker: 1, subtask: "", access: [0] }
            ]
          : [
              { worker: 0, subtask: "one", access: [] },
              { worker: 2, subtask: "two", access: [0] },
              { worker: 1, subtask: "", access: "all" as const }
            ]
      })),
      self: { maxDepth: 1 },
      pool: WorkerPool.makeUnsafe(two(vendor))
    }),
    answers: 4
  },
  "two rounds": {
    options: (vendor) => ({
      policy: { name: "twice", propose: () => Effect.succeed({ workflow: chainPlan }) },
      recursion: 1,
      pool: WorkerPool.makeUnsafe(two(vendor))
    }),
    answers: 6,
    // An answer of an earlier round would be final.
    restored: 6
  },
  tools: {
    options: (vendor) => ({
      policy: chain,
      toolAccess: "every-step",
      pool: withTools(vendor),
      tools: [
        Tool.make({
          name: "look",
          description: "Looks.",
          input: { type: "object" },
          execute: () => Effect.succeed("seen")
        })
      ]
    }),
    answers: 5
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

const question = "What is it?"

const retry: Conductor.Options["retry"] = { maxAttempts: 2, baseDelayMillis: 1, jitter: false }

/** A transcript without times and without the calls that gave no answer. */
const timeless = (transcript: Transcript.Transcript | undefined): unknown =>
  JSON.parse(JSON.stringify(transcript), (key, value) => {
    if (/At$|^at$|Millis$/.test(key)) return undefined
    return key === "lost" || key === "spend" || key === "reassigned" ? undefined : value
  })

interface Told {
  readonly result: Conductor.RunResult
  readonly transcript: Transcript.Transcript
}

/** Runs or resumes, and folds what is reported. */
const told = (run: (listener: (event: RunEvent) => void) => Effect.Effect<Conductor.RunResult>): Effect.Effect<Told> =>
  Effect.suspend(() => {
    const recorder = Transcript.recorder()
    return Effect.map(run(recorder.listener), (result) => ({ result, transcript: recorder.transcript()! }))
  })

/** The payments in a transcript match those of its run. */
const paysWhatItSays = ({ result, transcript }: Told) => {
  const paid = Transcript.payments(transcript)
  assert.strictEqual(paid.filter(({ calls }) => calls > 0).length, result.spend.calls)
}

type Start = (options: Partial<Conductor.Options>) => {
  readonly first: Effect.Effect<Told>
  readonly again: (before: Told) => Effect.Effect<Told>
}

/** A run that is stored in a journal, and one that is resumed from its transcript. */
const kinds = (conductorOf: (more: Partial<Conductor.Options>) => Conductor.Conductor["Service"]) => {
  const inJournal: Start = (more) => {
    const memory = Journal.memory()
    const run = (listener: (event: RunEvent) => void) =>
      ({ runId: "r", journal: Journal.makeMemory(memory), listener }) as const
    return {
      first: told((listener) => conductorOf({}).run(question, run(listener))),
      again: () => told((listener) => conductorOf(more).resume({ runId: "r" }, run(listener)))
    }
  }
  const inTranscript: Start = (more) => ({
    first: told((listener) => conductorOf({}).run(question, { runId: "r", listener })),
    again: ({ transcript }) => told((listener) => conductorOf(more).resume({ transcript }, { listener }))
  })
  return { "from its journal": inJournal, "from its transcript": inTranscript }
}

const isFirstOnly = (answered: ReadonlyArray<string>) => new Set(answered).size === answered.length

describe("a run that ended by an outage", () => {
  for (const [name, { answers, options, restored = 1 }] of Object.entries(cases)) {
    const undisturbed = Effect.suspend(() => {
      const books = vendor(Number.POSITIVE_INFINITY)
      const run = Conductor.make({ seed: 7, ...options(books) })
      return Effect.map(
        told((listener) => run.run(question, { runId: "r", listener })),
        (whole) => ({ ...whole, answered: books.answered })
      )
    })
    for (const kind of ["from its journal", "from its transcript"] as const) {
      it.live(`${name}, is resumed ${kind} and pays no answer twice`, () =>
        Effect.gen(function* () {
          const whole = yield* undisturbed
          assert.strictEqual(whole.answered.length, answers, whole.answered.join("\n"))
          let resumed = 0
          for (let count = 0; count < answers; count++) {
            const books = vendor(count)
            const start = kinds((more) => Conductor.make({ seed: 7, retry, ...options(books), ...more }))[kind]({})
            const first = yield* start.first
            // An answer of an earlier round is the run's.
            if (first.result.ending === "answered") continue
            assert.strictEqual(first.result.ending, "failed", first.result.detail)
            paysWhatItSays(first)
            // The vendor is still down, then comes back for one answer at a time.
            let last = yield* start.again(first)
            assert.strictEqual(last.result.ending, "failed")
            while (last.result.ending === "failed") {
              const before = books.answered.length
              books.restore(restored)
              last = yield* start.again(last)
              paysWhatItSays(last)
              assert.isAbove(books.answered.length, before)
            }
            resumed += 1
            assert.strictEqual(last.result.ending, "answered", last.result.detail)
            assert.strictEqual(last.result.answer, whole.result.answer, `after ${count} answers`)
            assert.isTrue(isFirstOnly(books.answered), books.answered.join("\n"))
            assert.deepStrictEqual(books.answered.toSorted(), whole.answered.toSorted())
            assert.deepStrictEqual(timeless(last.transcript), timeless(whole.transcript))
            // Its answer is final.
            const paid = books.answered.length
            const final = yield* start.again(last)
            assert.deepStrictEqual([final.result.answer, books.answered.length], [whole.result.answer, paid])
            assert.strictEqual(final.result.spend.calls, last.result.spend.calls)
          }
          assert.isAbove(resumed, 0)
        })
      )
    }
  }
})

const free: Conductor.Options["retry"] = { maxAttempts: 1 }

describe("a run that ended at a limit", () => {
  for (const [name, { answers, options, restored }] of Object.entries(cases)) {
    for (const kind of ["from its journal", "from its transcript"] as const) {
      it.live(`${name}, continues ${kind} under a higher one, and pays no answer twice`, () =>
        Effect.gen(function* () {
          const books = vendor(Number.POSITIVE_INFINITY)
          const undisturbed = Conductor.make({ seed: 7, ...options(books) })
          const whole = yield* told((listener) => undisturbed.run(question, { runId: "r", listener }))
          const expected = books.answered.toSorted()
          for (let calls = 0; calls < answers; calls++) {
            const books = vendor(Number.POSITIVE_INFINITY)
            const conductorOf = (budget: Budget.Limits) => Conductor.make({ seed: 7, ...options(books), budget })
            let limit = calls
            const start = kinds(() => conductorOf({ costUsd: limit }))[kind]({})
            let last = yield* start.first
            assert.strictEqual(last.result.ending, "budget")
            assert.strictEqual(books.answered.length, calls)
            // Under the same limit it ends as before, and pays nothing.
            last = yield* start.again(last)
            assert.deepStrictEqual([last.result.ending, books.answered.length], ["budget", calls])
            while (last.result.ending === "budget") {
              limit += restored ?? 1
              last = yield* start.again(last)
              paysWhatItSays(last)
            }
            assert.strictEqual(last.result.answer, whole.result.answer)
            assert.deepStrictEqual(books.answered.toSorted(), expected)
            assert.deepStrictEqual(timeless(last.transcript), timeless(whole.transcript))
            assert.strictEqual(last.result.spend.calls, answers)
          }
        })
      )
    }
  }

  it.effect("of time continues in the middle of a call, with a new deadline", () =>
    Effect.gen(function* () {
      const memory = Journal.memory()
      let isSlow = true
      const answered: Array<string> = []
      const slow = (id: string): Worker => ({
        id,
        generate: () =>
          Stream.unwrap(
            Effect.suspend(() => {
              if (id === "b" && isSlow) return Effect.never
              answered.push(id)
              const usage = { inputTokens: 1, outputTokens: 1 }
              const parts: ReadonlyArray<WorkerPart> = [
                { type: "text", text: id },
                { type: "finish", reason: "stop", usage }
              ]
              return Effect.succeed(Stream.fromIterable(parts))
            })
          )
      })
      const options = { seed: 7, policy: chain, pool: WorkerPool.makeUnsafe([slow("a"), slow("b")]) }
      const run = () => ({ runId: "r", journal: Journal.makeMemory(memory) })
      const limited = Conductor.make({ ...options, budget: { durationMillis: 20 } }).run(question, run())
      const running = yield* Effect.forkChild(limited)
      yield* TestClock.adjust(20)
      const first = yield* Fiber.join(running)
      assert.strictEqual(first.ending, "budget")
      isSlow = false
      const again = yield* Conductor.make({ ...options, budget: { durationMillis: 60_000 } }).resume(
        { runId: "r" },
        run()
      )
      assert.strictEqual(again.ending, "answered")
      assert.deepStrictEqual(answered, ["a", "b", "a"])
    })
  )
})

describe("a run that is resumed after its end", () => {
  it.live("retains a failure that an answered step has seen", () =>
    Effect.gen(function* () {
      const memory = Journal.memory()
      const asked: Array<string> = []
      let isDown = true
      const worker = (id: string, fails: (at: number) => boolean): Worker => ({
        id,
        generate: () =>
          Stream.unwrap(
            Effect.suspend(() => {
              asked.push(id)
              if (isDown && fails(asked.length)) {
                return Effect.fail(new WorkerError({ worker: id, reason: { _tag: "Overloaded" } }))
              }
              const usage = { inputTokens: 1, outputTokens: 1 }
              const parts: ReadonlyArray<WorkerPart> = [
                { type: "text", text: id },
                { type: "finish", reason: "stop", usage }
              ]
              return Effect.succeed(Stream.fromIterable(parts))
            })
          )
      })
      const pool = WorkerPool.makeUnsafe([worker("a", () => true), worker("b", () => false)])
      const conductor = Conductor.make({ seed: 7, retry: free, reassign: "never", policy: chain, pool })
      const run = () => ({ runId: "r", journal: Journal.makeMemory(memory) })
      const first = yield* conductor.run(question, run())
      assert.deepStrictEqual([first.ending, asked], ["failed", ["a", "b", "a"]])
      isDown = false
      const again = yield* conductor.resume({ runId: "r" }, run())
      assert.strictEqual(again.ending, "answered")
      assert.deepStrictEqual(asked, ["a", "b", "a", "a"])
    })
  )

  for (const kind of ["from its journal", "from its transcript"] as const) {
    // The test clock does not move: the plan and the failure of the call that revises it have the same time.
    it.effect(`asks its policy again about a failed check, ${kind}`, () =>
      Effect.gen(function* () {
        const books = vendor(2)
        const plan = 'model_id = [0, 0]\nsubtasks = ["one", "two"]\naccess_list = [[], [0]]\nchecks = ["refuses", ""]'
        const goOn = "model_id = []\nsubtasks = []\naccess_list = []"
        const planner = books.worker("planner", (request) =>
          JSON.stringify(request.messages).includes("It is refused.") ? goOn : plan
        )
        const options = {
          seed: 7,
          retry: free,
          policy: LanguagePolicy.make({ model: planner }),
          pool: WorkerPool.makeUnsafe([books.worker("a")]),
          checks: { refuses: () => "It is refused." }
        }
        const start = kinds((more) => Conductor.make({ ...options, ...more }))[kind]({})
        const first = yield* start.first
        assert.deepStrictEqual(
          [first.result.ending, books.answered.map((call) => call.split(" ")[0])],
          ["failed", ["planner", "a"]]
        )
        books.restore()
        const again = yield* start.again(first)
        assert.strictEqual(again.result.ending, "answered", again.result.detail)
        assert.strictEqual(books.answered[2]?.split(" ")[0], "planner")
        assert.isTrue(isFirstOnly(books.answered))
      })
    )
  }

  for (const kind of ["from its journal", "from its transcript"] as const) {
    // The test clock does not move: the failure and the later completion have the same time.
    it.effect(`retains a failure that its policy has seen, ${kind}`, () =>
      Effect.gen(function* () {
        const books = vendor(3)
        const plan = [
          "model_id = [0, 1, 0]",
          'subtasks = ["one", "two", "three"]',
          "access_list = [[], [], [0, 1]]",
          'checks = ["refuses", "", ""]'
        ].join("\n")
        const goOn = "model_id = []\nsubtasks = []\naccess_list = []"
        const planner = books.worker("planner", (request) =>
          JSON.stringify(request.messages).includes("It is refused.") ? goOn : plan
        )
        let tries = 0
        const broken: Worker = {
          id: "broken",
          generate: () => {
            tries++
            return Stream.fail(new WorkerError({ worker: "broken", reason: { _tag: "Overloaded" } }))
          }
        }
        const options = {
          seed: 7,
          retry: free,
          reassign: "never",
          policy: LanguagePolicy.make({ model: planner }),
          pool: WorkerPool.makeUnsafe([books.worker("a"), broken]),
          checks: { refuses: () => "It is refused." }
        } as const
        const start = kinds((more) => Conductor.make({ ...options, ...more }))[kind]({})
        const first = yield* start.first
        assert.deepStrictEqual(
          [first.result.ending, books.answered.map((call) => call.split(" ")[0])],
          ["failed", ["planner", "a", "planner"]]
        )
        const before = tries
        books.restore()
        const again = yield* start.again(first)
        assert.deepStrictEqual([again.result.ending, tries], ["answered", before], again.result.detail)
        assert.isTrue(isFirstOnly(books.answered))
      })
    )
  }

  it.live("reaches the end of a plan that cannot be read again, and pays nothing", () =>
    Effect.gen(function* () {
      const memory = Journal.memory()
      const books = vendor(Number.POSITIVE_INFINITY)
      const planner = books.worker("planner", () => "no plan")
      const options = {
        policy: LanguagePolicy.make({ model: planner }),
        pool: WorkerPool.makeUnsafe(two(books))
      }
      const run = () => ({ runId: "r", journal: Journal.makeMemory(memory) })
      const first = yield* Conductor.make({ seed: 7, ...options }).run(question, run())
      const paid = books.answered.length
      const again = yield* Conductor.make({ seed: 7, ...options }).resume({ runId: "r" }, run())
      assert.deepStrictEqual([first.ending, again.ending], ["failed", "failed"])
      assert.deepStrictEqual([again.detail, books.answered.length], [first.detail, paid])
      assert.deepStrictEqual(again.spend, first.spend)
    })
  )

  it.live("is the same run when it is asked again by its id", () =>
    Effect.gen(function* () {
      const memory = Journal.memory()
      const books = vendor(1)
      const pool = WorkerPool.makeUnsafe(two(books))
      const conductor = Conductor.make({ seed: 7, retry: free, policy: chain, pool })
      const run = () => conductor.run(question, { runId: "r", journal: Journal.makeMemory(memory) })
      assert.strictEqual((yield* run()).ending, "failed")
      const stored = yield* Journal.makeMemory(memory).find("r")
      assert.strictEqual(stored && Journal.stateOf(stored), "failed")
      books.restore()
      assert.strictEqual((yield* run()).ending, "answered")
      assert.strictEqual(books.answered.length, 3)
      const ended = yield* Journal.makeMemory(memory).find("r")
      assert.strictEqual(ended && Journal.stateOf(ended), "answered")
      const entries = yield* Journal.makeMemory(memory).read("r")
      assert.strictEqual(Journal.eventsOf(entries).filter(({ type }) => type === "run-finished").length, 1)
      assert.strictEqual(Transcript.fromEvents(Journal.eventsOf(entries))?.ending, "answered")
    })
  )

  it.live("is killed at any write of its second part, and is the run that it would have been", () =>
    Effect.gen(function* () {
      let kills = 0
      for (const isAfter of [false, true]) {
        for (let count = 1; ; count++) {
          const memory = Journal.memory()
          const books = vendor(2)
          const pool = WorkerPool.makeUnsafe(two(books))
          const conductor = Conductor.make({ seed: 7, retry: free, policy: diamond, pool })
          const run = (journal: Journal.Journal) => conductor.run(question, { runId: "r", journal })
          assert.strictEqual((yield* run(Journal.makeMemory(memory))).ending, "failed")
          books.restore()
          const { dead, journal } = yield* killedAt(memory, count, isAfter)
          const second = yield* Effect.forkDetach(run(journal))
          const isEnded = yield* Effect.raceFirst(Effect.as(Fiber.join(second), true), Effect.as(dead, false))
          if (isEnded) break
          kills += 1
          const known = (yield* Journal.makeMemory(memory).read("r")).filter(({ type }) => type === "answered").length
          const before = books.answered.length
          const result = yield* run(Journal.makeMemory(memory))
          assert.strictEqual(result.ending, "answered")
          assert.strictEqual(books.answered.length - before, 5 - known)
        }
      }
      assert.isAbove(kills, 4)
    })
  )
})
