import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import type { RunEvent } from "../src/events/RunEvent.ts"
import * as Transcript from "../src/events/Transcript.ts"
import * as Journal from "../src/journal/Journal.ts"
import * as Policy from "../src/policy/Policy.ts"
import * as Conductor from "../src/run/Conductor.ts"
import { CallId, type Worker, WorkerError, type WorkerPart, type WorkerRequest } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import { eventsIn, killedAt, timeless } from "./processes.ts"

// -------------------------------------------------------------------------------------------------------------------
// Fixtures
// -------------------------------------------------------------------------------------------------------------------

/** A vendor with its own books: what each worker was asked, and what it has answered. */
const vendor = () => {
  const asked: Array<string> = []
  const answered: Array<string> = []
  const worker = (id: string, more: Partial<Worker> = {}, failures: ReadonlyArray<string> = []): Worker => {
    const left = [...failures]
    return {
      id,
      pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 },
      maxOutputTokens: 100,
      generate: ({ messages }: WorkerRequest) =>
        Stream.unwrap(
          Effect.suspend(() => {
            const said = `${id}: ${messages.map(({ content }) => content).join(" | ")}`
            asked.push(said)
            return Effect.andThen(Effect.sleep(10), () => {
              if (left.pop() !== undefined)
                return Effect.fail(new WorkerError({ worker: id, reason: { _tag: "Overloaded" } }))
              answered.push(said)
              const text = `${id} of ${said.length}`
              const usage = { inputTokens: 3, outputTokens: 4 }
              return Effect.succeed(
                Stream.fromArray([{ type: "text", text } as const, { type: "finish", reason: "stop", usage } as const])
              )
            })
          })
        ),
      ...more
    }
  }
  return { asked, answered, worker }
}

const policy = Policy.fixed("five steps", () => ({
  steps: [
    { worker: 0, subtask: "one", access: [] },
    { worker: 1, subtask: "two", access: [] },
    { worker: 0, subtask: "three", access: [] },
    { worker: 1, subtask: "four", access: "all" },
    { worker: 0, subtask: "", access: [3] }
  ]
}))

const question = "What is it?"

const poolOf = ({ worker }: ReturnType<typeof vendor>, failures: ReadonlyArray<string> = ["once"]) =>
  WorkerPool.makeUnsafe([worker("a", {}, failures), worker("b")])

type Options = Partial<Conductor.Options> & { readonly pool: WorkerPool.WorkerPool }

const run = (journal: Journal.Journal, options: Options, runOptions: Conductor.RunOptions = {}) =>
  Conductor.make({ policy, seed: 7, retry: { baseDelayMillis: 1, jitter: false }, ...options }).run(question, {
    runId: "r",
    journal,
    ...runOptions
  })

// -------------------------------------------------------------------------------------------------------------------
// Tests
// -------------------------------------------------------------------------------------------------------------------

describe("a run with a journal", () => {
  it.live("that is killed at any write resumes where it was, and matches the uninterrupted run", () =>
    Effect.gen(function* () {
      const whole = Journal.memory()
      yield* run(Journal.makeMemory(whole), { pool: poolOf(vendor(), []) })
      const expected = timeless(yield* eventsIn(whole))
      let kills = 0
      for (const isAfter of [false, true]) {
        for (let count = 1; ; count++) {
          const memory = Journal.memory()
          const books = vendor()
          const pool = poolOf(books, [])
          const { dead, journal } = yield* killedAt(memory, count, isAfter)
          const first = yield* Effect.forkDetach(run(journal, { pool }))
          const ended = yield* Effect.raceFirst(Effect.as(Fiber.join(first), true), Effect.as(dead, false))
          if (ended) break
          kills += 1
          const known = Journal.makeMemory(memory)
          const paid = (yield* known.read("r")).filter(({ type }) => type === "answered").length
          // Its calls in flight are lost.
          yield* Effect.sleep(15)
          const before = books.answered.length
          const result = yield* run(known, { pool })
          assert.strictEqual(result.ending, "answered")
          const events = yield* eventsIn(memory)
          assert.deepStrictEqual(timeless(events), expected, `killed ${isAfter ? "after" : "before"} write ${count}`)
          assert.strictEqual(events.filter(({ type }) => type === "run-finished").length, 1)
          assert.strictEqual(books.answered.length - before, 5 - paid)
          const lost = events.filter(({ type }) => type === "call-lost")
          assert.strictEqual(result.spend.calls, 5 + lost.length)
          // The vendor has never charged more than the run says it may have cost.
          assert.isAtMost(books.answered.length, result.spend.costUsd)
        }
      }
      assert.isAbove(kills, 6)
    })
  )

  it.live("that has ended answers no other question", () =>
    Effect.gen(function* () {
      const memory = Journal.memory()
      const books = vendor()
      const conductor = Conductor.make({ policy, seed: 7, pool: poolOf(books, []) })
      const ask = (question: string) => conductor.run(question, { runId: "r", journal: Journal.makeMemory(memory) })
      yield* ask(question)
      const before = books.asked.length
      const other = yield* ask("What else is it?")
      assert.deepStrictEqual([other.ending, other.answer, books.asked.length], ["failed", undefined, before])
      assert.include(other.detail, "already exists and has a different question. Choose another run id")
      assert.strictEqual((yield* ask(question)).ending, "answered")
    })
  )

  it.live("that has ended gives its result and its events again, and pays nothing", () =>
    Effect.gen(function* () {
      const memory = Journal.memory()
      const books = vendor()
      const first = yield* run(Journal.makeMemory(memory), { pool: poolOf(books) })
      const count = books.asked.length
      const events: Array<RunEvent> = []
      const again = yield* run(
        Journal.makeMemory(memory),
        { pool: poolOf(books) },
        { listener: (event) => events.push(event) }
      )
      assert.strictEqual(books.asked.length, count)
      assert.deepStrictEqual(again.answer, first.answer)
      assert.deepStrictEqual(again.spend, first.spend)
      assert.strictEqual(again.rounds[0]?.answer, first.rounds[0]?.answer)
      assert.deepStrictEqual(events, [...(yield* eventsIn(memory))])
      assert.strictEqual(events.at(-1)?.type, "run-finished")
    })
  )

  it.live("that was interrupted is resumed with its task and its seed, and pays for no answer again", () =>
    Effect.gen(function* () {
      const memory = Journal.memory()
      const books = vendor()
      const pool = poolOf(books)
      const fiber = yield* Effect.forkChild(run(Journal.makeMemory(memory), { pool }))
      while (books.answered.length < 3) yield* Effect.sleep(1)
      while (books.asked.length < 5) yield* Effect.sleep(1)
      yield* Fiber.interrupt(fiber)
      const [summary] = yield* Journal.makeMemory(memory).list()
      assert.strictEqual(Journal.stateOf(summary!), "stopped")
      assert.isAbove(summary!.costUsd, 0)
      const journal = Journal.makeMemory(memory)
      const conductor = Conductor.make({ policy, pool, retry: { baseDelayMillis: 1, jitter: false } })
      const result = yield* conductor.resume({ runId: "r" }, { journal })
      assert.strictEqual(result.ending, "answered")
      // The one call that was stopped is made again.
      assert.strictEqual(books.asked.length, 7)
      assert.strictEqual(new Set(books.answered).size, books.answered.length)
      const transcript = Transcript.fromEvents(yield* eventsIn(memory))!
      assert.deepStrictEqual(transcript.spend, result.spend)
      assert.strictEqual(result.spend.calls, 7)
      assert.strictEqual(Journal.stateOf((yield* journal.list())[0]!), "answered")
    })
  )

  it.live("that is asked for twice at once is run once", () =>
    Effect.gen(function* () {
      const journal = Journal.makeMemory()
      const books = vendor()
      const pool = poolOf(books)
      const [one, two] = yield* Effect.all([run(journal, { pool }), run(journal, { pool })], { concurrency: 2 })
      assert.strictEqual(one.answer, two.answer)
      assert.strictEqual(books.answered.length, 5)
    })
  )

  it.live("that another process carries on is refused, and says by whom", () =>
    Effect.gen(function* () {
      const memory = Journal.memory()
      yield* Journal.makeMemory(memory).claim("r")
      const books = vendor()
      const result = yield* run(Journal.makeMemory(memory), { pool: poolOf(books) })
      assert.strictEqual(result.ending, "failed")
      assert.match(result.detail!, /owned by process \d+/)
      assert.strictEqual(books.asked.length, 0)
    })
  )

  it.live("that would ask something else than it did stops before it asks, and says where", () =>
    Effect.gen(function* () {
      const memory = Journal.memory()
      const { dead, journal } = yield* killedAt(memory, 3, true)
      const pool = poolOf(vendor())
      yield* Effect.forkDetach(run(journal, { pool }))
      yield* dead
      const books = vendor()
      const before = yield* Journal.makeMemory(memory).read("r")
      const expectMismatch = (options: Partial<Conductor.Options>, words: RegExp) =>
        Effect.gen(function* () {
          const process = Journal.makeMemory(memory)
          const result = yield* run(process, { pool: poolOf(books), ...options })
          process.end()
          assert.strictEqual(result.ending, "failed")
          assert.instanceOf(result.error, Journal.JournalMismatch)
          assert.match(result.detail!, words)
        })
      const settings = { worker: { temperature: 0.5 } }
      yield* expectMismatch(settings, /call r\/0\/\d\/0 sends [ab] a different request/)
      yield* expectMismatch({ seed: 8 }, /has the seed 8 instead of 7/)
      yield* expectMismatch({ policy: Policy.fixed("another", () => ({ steps: [] })) }, /has the policy another/)
      assert.deepStrictEqual(books.asked, [])
      assert.deepStrictEqual(yield* Journal.makeMemory(memory).read("r"), before)
      const result = yield* run(Journal.makeMemory(memory), { pool: poolOf(books) })
      assert.strictEqual(result.ending, "answered")
    })
  )

  it.live("waits once for the calls that begin together, and once for each that depends on others", () =>
    Effect.gen(function* () {
      const memory = Journal.makeMemory()
      const batches: Array<ReadonlyArray<string>> = []
      const append: Journal.Journal["append"] = (batch) => {
        batches.push(batch.entries.flatMap((entry) => ("call" in entry ? [`${entry.type} ${entry.call}`] : [])).sort())
        return memory.append(batch)
      }
      // Of workers that answer at once, as much comes together as may.
      const worker = (id: string): Worker => ({
        id,
        generate: () =>
          Effect.succeed([
            { type: "text", text: id },
            { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } }
          ])
      })
      yield* run({ ...memory, append }, { pool: WorkerPool.makeUnsafe([worker("a"), worker("b")]) })
      assert.deepStrictEqual(batches, [
        ["intent r/0/0/0", "intent r/0/1/0", "intent r/0/2/0"],
        ["answered r/0/0/0", "answered r/0/1/0", "answered r/0/2/0", "intent r/0/3/0"],
        ["answered r/0/3/0", "intent r/0/4/0"],
        ["answered r/0/4/0"]
      ])
    })
  )

  it.live("whose journal throws stops with what it threw", () =>
    Effect.gen(function* () {
      const books = vendor()
      const append = () => Effect.die(new Error("no such table"))
      const result = yield* run({ ...Journal.makeMemory(), append }, { pool: poolOf(books) })
      assert.deepStrictEqual([result.ending, books.asked.length], ["failed", 0])
      assert.match(result.detail!, /cannot be written \(no such table\)/)
    })
  )

  it.live("whose journal breaks stops with its reason, and resumes when the journal works again", () =>
    Effect.gen(function* () {
      const memory = Journal.memory()
      const process = Journal.makeMemory(memory)
      const full = new Journal.JournalError({ journal: "j", reason: { _tag: "Full" } })
      let writes = 0
      const append: Journal.Journal["append"] = (batch) => (++writes > 2 ? Effect.fail(full) : process.append(batch))
      const books = vendor()
      const pool = poolOf(books)
      const events: Array<RunEvent> = []
      const stopped = yield* run({ ...process, append }, { pool }, { listener: (event) => events.push(event) })
      assert.strictEqual(stopped.ending, "failed")
      assert.strictEqual(stopped.error, full)
      const last = events.at(-1)!
      assert.deepStrictEqual(last.type === "run-finished" && last.ending, "failed")
      const result = yield* run(process, { pool })
      assert.strictEqual(result.ending, "answered")
    })
  )

  it.live(
    "fetches the vendor's answer on resume and pays it once, and makes a new call if the vendor no longer has that answer",
    () =>
      Effect.gen(function* () {
        const finish = { type: "finish", reason: "stop", usage: { inputTokens: 3, outputTokens: 4 } } as const
        const whole = Stream.make({ type: "text", text: "42" } as const, finish)
        const unknown = new WorkerError({ worker: "w", reason: { _tag: "InvalidRequest", detail: "it is not known" } })
        const killedAndResumed = Effect.fnUntraced(function* (isKnown: boolean) {
          const asked: Array<string> = []
          const worker: Worker = {
            id: "w",
            pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 },
            generate: () => {
              asked.push("anew")
              const begun = Stream.make({ type: "handle", handle: "answer-1" } as const)
              return Stream.concat(begun, asked.length === 1 ? Stream.never : whole)
            },
            recovery: {
              reattach: (handle) => {
                asked.push(handle)
                return isKnown ? whole : Stream.fail(unknown)
              }
            }
          }
          const memory = Journal.memory()
          const process = Journal.makeMemory(memory)
          const single = Policy.fixed("one", () => ({ steps: [{ worker: 0, subtask: "", access: [] }] }))
          const options = { pool: WorkerPool.makeUnsafe([worker]), policy: single }
          yield* Effect.forkDetach(run(process, options))
          while (!(yield* process.read("r")).some(({ type }) => type === "handle")) yield* Effect.sleep(1)
          process.end()
          const result = yield* run(Journal.makeMemory(memory), options)
          const told = (yield* eventsIn(memory)).map(({ type }) => type)
          return { asked, answer: result.answer, calls: result.spend.calls, isLost: told.includes("call-lost") }
        })
        const asked = ["anew", "answer-1"]
        assert.deepStrictEqual(yield* killedAndResumed(true), { asked, answer: "42", calls: 1, isLost: false })
        const anew = { asked: [...asked, "anew"], answer: "42", calls: 2, isLost: false }
        assert.deepStrictEqual(yield* killedAndResumed(false), anew)
      })
  )

  it.live("takes nothing more from a worker until its handle is stored, and passes it the id of its call", () =>
    Effect.gen(function* () {
      const memory = Journal.memory()
      const kept: Array<ReadonlyArray<string>> = []
      const names: Array<string | undefined> = []
      const handlesKept = Effect.map(Journal.makeMemory(memory).read("r"), (entries) => {
        kept.push(entries.flatMap((entry) => (entry.type === "handle" ? [entry.handle] : [])))
      })
      const handle = (name: string) => Stream.make({ type: "handle", handle: name } as const)
      const finish = { type: "finish", reason: "stop", usage: { inputTokens: 3, outputTokens: 4 } } as const
      const whole = Stream.make({ type: "text", text: "42" } as const, finish)
      const after = (next: Stream.Stream<WorkerPart, WorkerError>) =>
        Stream.unwrap(Effect.as(Effect.orDie(handlesKept), next))
      const worker: Worker = {
        id: "w",
        generate: () =>
          Effect.map(CallId, (name) => {
            names.push(name)
            return Stream.concat(handle("asked"), after(Stream.concat(handle("taken"), after(whole))))
          }),
        recovery: { reattach: () => whole }
      }
      const single = Policy.fixed("one", () => ({ steps: [{ worker: 0, subtask: "", access: [] }] }))
      const { answer } = yield* run(Journal.makeMemory(memory), {
        pool: WorkerPool.makeUnsafe([worker]),
        policy: single
      })
      assert.strictEqual(answer, "42")
      assert.deepStrictEqual(kept, [["asked"], ["asked", "taken"]])
      assert.deepStrictEqual(names, ["r/0/0/0/0"])
    })
  )

  it.live("charges an unconfirmed call at its worst case, reports it, and handles it as configured", () =>
    Effect.gen(function* () {
      const doubtful = Effect.fnUntraced(function* (
        onUnconfirmedCall: "again" | "fail" | "reassign",
        more: Partial<Worker> = {}
      ) {
        const memory = Journal.memory()
        const books = vendor()
        const pool = WorkerPool.makeUnsafe([books.worker("a", more), books.worker("b")])
        const single = Policy.fixed("one", () => ({ steps: [{ worker: 0, subtask: "", access: [] }] }))
        const { dead, journal } = yield* killedAt(memory, 1, true)
        yield* Effect.forkDetach(run(journal, { pool, policy: single }))
        yield* dead
        const result = yield* run(Journal.makeMemory(memory), { pool, policy: single, onUnconfirmedCall })
        return { result, lost: (yield* eventsIn(memory)).filter(({ type }) => type === "call-lost"), books }
      })
      const again = yield* doubtful("again")
      assert.strictEqual(again.result.ending, "answered")
      assert.strictEqual(again.lost.length, 1)
      assert.strictEqual(again.result.spend.costUsd, 2)
      assert.isAbove(again.result.spend.usage.outputTokens, 100)
      const failed = yield* doubtful("fail")
      assert.strictEqual(failed.result.ending, "failed")
      assert.strictEqual(failed.books.asked.length, 0)
      const taken = yield* doubtful("reassign")
      assert.match(taken.result.answer!, /^b of/)
      const free = yield* doubtful("fail", { recovery: "free" })
      assert.strictEqual(free.result.spend.costUsd, 1)
    })
  )
})
