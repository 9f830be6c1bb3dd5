/**
 * The contract for journals, as one test suite for all implementations.
 *
 * A store is opened several times concurrently. Each opening represents a separate process that ends with its scope.
 */
import assert from "node:assert/strict"
import { Journal, type RunEvent } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import { JournalStream } from "@divisi/core/streams"
import { type Worker, WorkerError, type WorkerPart } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Opens a store as a process would. Closing the scope represents the end of the process. */
export type Open = Effect.Effect<Journal.Journal, Journal.JournalError, Scope.Scope>

/** A case in the contract. */
export interface Case {
  readonly id: string
  readonly name: string
  /** Fails or throws if the journal violates the contract. `open` opens a store, which is initially empty. */
  readonly run: (open: Open) => Effect.Effect<void, unknown, Scope.Scope>
}

/** The functions of a test runner: vitest, or any other with the same interface. */
export interface Runner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, body: () => Promise<void>) => unknown
}

/** The implementation under test. */
export interface Options extends Runner {
  readonly name: string
  /** Returns a new store without runs. */
  readonly fresh: () => Open
}

// -------------------------------------------------------------------------------------------------------------------
// Entries
// -------------------------------------------------------------------------------------------------------------------

const finished = (run: string): RunEvent.RunEvent => ({
  type: "run-finished",
  runId: run,
  at: 9,
  ending: "answered",
  answer: "42",
  spend: { usage: { inputTokens: 3, outputTokens: 4 }, costUsd: 0.1, calls: 1, unpricedCalls: 0 },
  durationMillis: 8
})

const event = (run: string, round: number): Journal.Entry => ({
  type: "event",
  event: { type: "round-started", runId: run, at: round, round }
})

const usage = { inputTokens: 3, outputTokens: 4 }

/** Returns an entry of each kind, with unusual characters in its strings. */
const each = (run: string): ReadonlyArray<Journal.Entry> => {
  const attempt = { call: `${run}/0/1/0`, attempt: 0 }
  const answer = { text: 'Ünïcödé 🎻 "\\\u0000\u2028', finishReason: "stop", usage }
  return [
    event(run, 0),
    { ...attempt, type: "intent", hash: "abc", worker: "a", at: 5, worst: { usage, costUsd: 0.5 } },
    { ...attempt, type: "failed", reason: { _tag: "Network", detail: "cut" }, message: "m", usage, costUsd: 0 },
    { ...attempt, type: "interrupted", usage, costUsd: 0.25 },
    { ...attempt, type: "lost", usage, costUsd: 0.5 },
    { ...attempt, type: "answered", answer, usage, costUsd: 0.125 },
    { ...attempt, type: "found", hash: "def", answer },
    { type: "resumed", at: 7 },
    { type: "event", event: finished(run) }
  ]
}

const head = (run: string, more: Partial<Journal.Head> = {}): Journal.Head => ({
  question: `What is ${run}?`,
  policy: "p",
  workers: ["a", "b"],
  startedAt: 1,
  costUsd: 0,
  calls: 0,
  ...more
})

// -------------------------------------------------------------------------------------------------------------------
// Cases
// -------------------------------------------------------------------------------------------------------------------

const reasonOf = <A>(effect: Effect.Effect<A, Journal.JournalError>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

/** Opens a store as a process that can be ended with `end`. */
const process = (open: Open) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const journal = yield* Scope.provide(open, scope)
    return { journal, end: Scope.close(scope, Exit.void) }
  })

const define = (id: string, name: string, run: (open: Open) => Effect.Effect<void, unknown, Scope.Scope>): Case => ({
  id,
  name,
  run
})

/** All cases in the contract. */
export const cases: ReadonlyArray<Case> = [
  define("append/read", "what is appended is read as it was written, from any number on", (open) =>
    Effect.gen(function* () {
      const journal = yield* open
      const { epoch, length } = yield* journal.claim("r")
      assert.equal(length, 0)
      const entries = each("r")
      yield* journal.append({ run: "r", epoch, seq: 0, entries: entries.slice(0, 3), head: head("r") })
      yield* journal.append({ run: "r", epoch, seq: 3, entries: entries.slice(3) })
      for (let from = 0; from <= entries.length; from++)
        assert.deepEqual(yield* journal.read("r", from), entries.slice(from))
      assert.deepEqual(yield* journal.read("another"), [])
    })
  ),
  define(
    "append/seen",
    "what is acknowledged is seen by another process at once, and by one that comes later",
    (open) =>
      Effect.gen(function* () {
        const first = yield* process(open)
        const second = yield* open
        const { epoch } = yield* first.journal.claim("r")
        yield* first.journal.append({ run: "r", epoch, seq: 0, entries: each("r") })
        assert.deepEqual(yield* second.read("r"), each("r"))
        yield* first.end
        assert.deepEqual(yield* (yield* open).read("r"), each("r"))
      })
  ),
  define("append/large", "an entry of a megabyte is kept", (open) =>
    Effect.gen(function* () {
      const journal = yield* open
      const { epoch } = yield* journal.claim("r")
      const large: Journal.Entry = {
        type: "found",
        call: "c",
        attempt: 0,
        hash: "h",
        answer: { text: "é".repeat(5e5) }
      }
      yield* journal.append({ run: "r", epoch, seq: 0, entries: [large] })
      assert.deepEqual(yield* journal.read("r"), [large])
    })
  ),
  define("append/at-once", "what many runs append at once is all there, each in its order", (open) =>
    Effect.gen(function* () {
      const journals = [yield* open, yield* open]
      const runs = Array.from({ length: 40 }, (_, index) => `r${index}`)
      const one = (run: string, index: number) =>
        Effect.gen(function* () {
          const journal = journals[index % 2]!
          const { epoch } = yield* journal.claim(run)
          for (let seq = 0; seq < 5; seq++) yield* journal.append({ run, epoch, seq, entries: [event(run, seq)] })
        })
      yield* Effect.all(runs.map(one), { concurrency: "unbounded" })
      for (const run of runs)
        assert.deepEqual(
          yield* journals[0]!.read(run),
          [0, 1, 2, 3, 4].map((seq) => event(run, seq))
        )
    })
  ),
  define("append/gap", "what does not follow what is there is refused, and nothing of it written", (open) =>
    Effect.gen(function* () {
      const journal = yield* open
      const { epoch } = yield* journal.claim("r")
      const append = (seq: number) => journal.append({ run: "r", epoch, seq, entries: [event("r", 0)] })
      yield* append(0)
      for (const seq of [0, 2]) assert.deepEqual(yield* reasonOf(append(seq)), { _tag: "Fenced", run: "r" })
      assert.equal((yield* journal.read("r")).length, 1)
    })
  ),
  define("claim/held", "a run that a process carries on is claimed by no other, which is told by whom", (open) =>
    Effect.gen(function* () {
      const first = yield* open
      const second = yield* open
      yield* first.claim("r")
      for (const journal of [first, second]) {
        const reason = yield* reasonOf(journal.claim("r"))
        assert.equal(reason._tag, "Held")
        assert.ok(reason._tag === "Held" && reason.run === "r" && reason.owner !== "")
      }
      yield* second.claim("another")
    })
  ),
  define("claim/released", "a claim that is given back is free, and the next one has a higher epoch", (open) =>
    Effect.gen(function* () {
      const first = yield* open
      const second = yield* open
      const one = yield* first.claim("r")
      yield* first.append({ run: "r", epoch: one.epoch, seq: 0, entries: each("r") })
      yield* first.release("r", one.epoch)
      // A journal may store an entry later than its timestamp.
      const two = yield* Effect.retry(second.claim("r"), { times: 100, schedule: Schedule.spaced("10 millis") })
      assert.ok(two.epoch > one.epoch)
      assert.equal(two.length, each("r").length)
    })
  ),
  define("claim/ended", "the claims of a process that has ended are free at once", (open) =>
    Effect.gen(function* () {
      const first = yield* process(open)
      const one = yield* first.journal.claim("r")
      yield* first.journal.append({ run: "r", epoch: one.epoch, seq: 0, entries: each("r") })
      yield* first.end
      const two = yield* (yield* open).claim("r")
      assert.ok(two.epoch > one.epoch)
      assert.equal(two.length, each("r").length)
    })
  ),
  define("claim/at-once", "of several processes that claim a run at once, one gets it", (open) =>
    Effect.gen(function* () {
      const journals = [yield* open, yield* open, yield* open]
      for (let round = 0; round < 10; round++) {
        const exits = yield* Effect.all(
          journals.map((journal) => Effect.exit(journal.claim(`r${round}`))),
          { concurrency: "unbounded" }
        )
        assert.equal(exits.filter(Exit.isSuccess).length, 1)
      }
    })
  ),
  define("claim/taken-over", "a claim that takes over revokes that of a live process, which is then fenced", (open) =>
    Effect.gen(function* () {
      const [first, second, third] = [yield* open, yield* open, yield* open]
      const one = yield* first.claim("r")
      yield* first.append({ run: "r", epoch: one.epoch, seq: 0, entries: [event("r", 0)] })
      const two = yield* second.claim("r", { takeOver: true })
      assert.ok(two.epoch > one.epoch)
      assert.equal(two.length, 1)
      const late = first.append({ run: "r", epoch: one.epoch, seq: 1, entries: [event("r", 1)] })
      assert.deepEqual(yield* reasonOf(late), { _tag: "Fenced", run: "r" })
      // A late release by the old owner does not free the run.
      yield* first.release("r", one.epoch)
      assert.equal((yield* reasonOf(third.claim("r")))._tag, "Held")
      yield* second.append({ run: "r", epoch: two.epoch, seq: 1, entries: [event("r", 2)] })
      assert.deepEqual(yield* third.read("r"), [event("r", 0), event("r", 2)])
      // The process that lost the run can take it back, and is not confused by its old claim.
      const back = yield* first.claim("r", { takeOver: true })
      assert.ok(back.epoch > two.epoch)
      yield* first.append({ run: "r", epoch: back.epoch, seq: 2, entries: [event("r", 3)] })
      yield* first.release("r", back.epoch)
    })
  ),
  define("claim/own", "a claim that takes over does not revoke one of the same process", (open) =>
    Effect.gen(function* () {
      const first = yield* open
      yield* first.claim("r")
      assert.equal((yield* reasonOf(first.claim("r", { takeOver: true })))._tag, "Held")
      yield* first.claim("new", { takeOver: true })
    })
  ),
  define("claim/two-runners", "a run that is taken over is completed once, and its answers are paid for once", (open) =>
    Effect.gen(function* () {
      const [first, second] = [yield* open, yield* open]
      const asked: Array<string> = []
      const gates = { begun: yield* Deferred.make<void>(), thawed: yield* Deferred.make<void>() }
      let isFrozen = true
      const worker = (id: string): Worker => ({
        id,
        generate: () =>
          Stream.unwrap(
            Effect.gen(function* () {
              asked.push(id)
              if (id === "b" && isFrozen) {
                isFrozen = false
                yield* Deferred.succeed(gates.begun, undefined)
                yield* Deferred.await(gates.thawed)
              }
              return Stream.fromIterable<WorkerPart>([
                { type: "text", text: id },
                { type: "finish", reason: "stop", usage }
              ])
            })
          )
      })
      const policy = Policy.fixed("line", () => ({
        steps: ["a", "b", "c"].map((_, at) => ({ worker: at, subtask: `${at}`, access: at === 0 ? [] : "all" }))
      }))
      const conductor = Conductor.make({ pool: WorkerPool.makeUnsafe(["a", "b", "c"].map(worker)), policy })
      const takesOver = (journal: Journal.Journal): Journal.Journal => ({
        ...journal,
        claim: (run) => journal.claim(run, { takeOver: true })
      })
      const lost = yield* Effect.forkChild(conductor.run("Q", { runId: "r", journal: first }))
      yield* Deferred.await(gates.begun)
      const done = yield* conductor.run("Q", { runId: "r", journal: takesOver(second) })
      assert.equal(done.answer, "c")
      yield* Deferred.succeed(gates.thawed, undefined)
      const { error } = yield* Fiber.join(lost)
      assert.ok(error instanceof Journal.JournalError && error.reason._tag === "Fenced")
      // Only the call in flight during the takeover was made twice. The previous owner made none after its next
      // write.
      assert.deepEqual(asked, ["a", "b", "b", "c"])
    })
  ),
  define("claim/admit", "a run asks its journal before each paid call, and makes none that is not admitted", (open) =>
    Effect.gen(function* () {
      const journal = yield* open
      const other = yield* open
      const asked: Array<string> = []
      const worker = (id: string): Worker => ({
        id,
        generate: () =>
          Stream.suspend(() => {
            asked.push(id)
            return Stream.fromIterable<WorkerPart>([
              { type: "text", text: id },
              { type: "finish", reason: "stop", usage }
            ])
          })
      })
      const policy = Policy.fixed("line", () => ({
        steps: ["a", "b"].map((_, at) => ({ worker: at, subtask: `${at}`, access: at === 0 ? [] : "all" }))
      }))
      const conductor = Conductor.make({ pool: WorkerPool.makeUnsafe(["a", "b"].map(worker)), policy })
      const refused = yield* Deferred.make<void>()
      const handing: Journal.Journal = {
        ...journal,
        admit: (run) => {
          assert.equal(run, "r")
          return asked.length === 0 ? Effect.void : Effect.andThen(Deferred.succeed(refused, undefined), Effect.never)
        }
      }
      const running = yield* Effect.forkChild(conductor.run("Q", { runId: "r", journal: handing }))
      yield* Deferred.await(refused)
      assert.deepEqual(asked, ["a"])
      yield* Fiber.interrupt(running)
      const done = yield* Effect.retry(
        Effect.flatMap(conductor.run("Q", { runId: "r", journal: other }), (result) =>
          result.error === undefined ? Effect.succeed(result) : Effect.fail(result.error)
        ),
        { times: 100, schedule: Schedule.spaced("10 millis") }
      )
      assert.equal(done.answer, "b")
      assert.deepEqual(asked, ["a", "b"])
    })
  ),
  define("claim/confirm", "a run asks its journal after each intent, and sends no call that is not confirmed", (open) =>
    Effect.gen(function* () {
      const journal = yield* open
      const other = yield* open
      const asked: Array<string> = []
      const confirmed: Array<string> = []
      const worker: Worker = {
        id: "a",
        generate: () =>
          Stream.suspend(() => {
            asked.push("a")
            return Stream.fromIterable<WorkerPart>([
              { type: "text", text: "a" },
              { type: "finish", reason: "stop", usage }
            ])
          })
      }
      const policy = Policy.fixed("line", () => ({
        steps: [0, 1].map((at) => ({ worker: 0, subtask: `${at}`, access: at === 0 ? [] : "all" }))
      }))
      const conductor = Conductor.make({ pool: WorkerPool.makeUnsafe([worker]), policy })
      const refused = yield* Deferred.make<void>()
      const frozen: Journal.Journal = {
        ...journal,
        confirm: (run, attempt) => {
          confirmed.push(`${run} ${attempt}`)
          return asked.length === 0 ? Effect.void : Effect.andThen(Deferred.succeed(refused, undefined), Effect.never)
        }
      }
      const running = yield* Effect.forkChild(conductor.run("Q", { runId: "r", journal: frozen }))
      yield* Deferred.await(refused)
      assert.deepEqual(asked, ["a"])
      assert.deepEqual(confirmed, ["r r/0/0/0/0", "r r/0/1/0/0"])
      const intents = (yield* other.read("r")).filter(({ type }) => type === "intent")
      assert.equal(intents.length, 2)
      yield* Fiber.interrupt(running)
      const done = yield* Effect.retry(
        Effect.flatMap(conductor.run("Q", { runId: "r", journal: other }), (result) =>
          result.error === undefined ? Effect.succeed(result) : Effect.fail(result.error)
        ),
        { times: 100, schedule: Schedule.spaced("10 millis") }
      )
      assert.equal(done.answer, "a")
      // The call that was not sent is not charged.
      assert.equal(done.spend.calls, 2)
    })
  ),
  define("claim/fenced", "what comes with an older epoch is refused, and nothing of it written", (open) =>
    Effect.gen(function* () {
      const first = yield* open
      const second = yield* open
      const one = yield* first.claim("r")
      yield* first.append({ run: "r", epoch: one.epoch, seq: 0, entries: [event("r", 0)] })
      yield* first.release("r", one.epoch)
      const two = yield* Effect.retry(second.claim("r"), { times: 100, schedule: Schedule.spaced("10 millis") })
      const late = first.append({ run: "r", epoch: one.epoch, seq: 1, entries: [event("r", 1)] })
      assert.deepEqual(yield* reasonOf(late), { _tag: "Fenced", run: "r" })
      yield* second.append({ run: "r", epoch: two.epoch, seq: 1, entries: [event("r", 2)] })
      assert.deepEqual(yield* second.read("r", 1), [event("r", 2)])
    })
  ),
  define(
    "resume/ended",
    "a run that ended by an outage is resumed by another process, and pays no answer twice",
    (open) =>
      Effect.gen(function* () {
        const answered: Array<string> = []
        let isDown = false
        const worker = (id: string): Worker => ({
          id,
          generate: () =>
            Stream.unwrap(
              Effect.suspend(() => {
                if (isDown) return Effect.fail(new WorkerError({ worker: id, reason: { _tag: "Quota" } }))
                answered.push(id)
                const parts: ReadonlyArray<WorkerPart> = [
                  { type: "text", text: id },
                  { type: "finish", reason: "stop", usage }
                ]
                isDown = answered.length === 1
                return Effect.succeed(Stream.fromIterable(parts))
              })
            )
        })
        const policy = Policy.fixed("two", () => ({
          steps: [
            { worker: 0, subtask: "one", access: [] },
            { worker: 1, subtask: "", access: [0] }
          ]
        }))
        const pool = WorkerPool.makeUnsafe([worker("a"), worker("b")])
        const conductor = Conductor.make({ seed: 1, policy, pool })
        const first = yield* process(open)
        const failed = yield* conductor.run("What is it?", { runId: "r", journal: first.journal })
        assert.equal(failed.ending, "failed")
        yield* first.end
        isDown = false
        const second = yield* process(open)
        const resumed = yield* conductor.resume({ runId: "r" }, { journal: second.journal })
        assert.deepEqual([resumed.ending, resumed.answer, answered], ["answered", "b", ["a", "b"]])
        yield* second.end
        const third = yield* open
        const again = yield* conductor.resume({ runId: "r" }, { journal: third })
        assert.deepEqual([again.answer, answered], ["b", ["a", "b"]])
        assert.equal((yield* third.find("r"))?.ending, "answered")
      })
  ),
  define("list/heads", "the list has each run that has entries, with its last head, the last begun first", (open) =>
    Effect.gen(function* () {
      const journal = yield* open
      for (const run of ["a", "b", "c"]) {
        const { epoch } = yield* journal.claim(run)
        if (run === "c") continue
        yield* journal.append({ run, epoch, seq: 0, entries: each(run), head: head(run) })
        yield* Effect.sleep(5)
      }
      const again = head("a", { ending: "answered", costUsd: 0.5, calls: 3, waitsFor: ["x"] })
      yield* journal.append({ run: "a", epoch: 1, seq: each("a").length, entries: [event("a", 1)], head: again })
      const runs = yield* journal.list()
      assert.deepEqual(
        runs.map(({ run }) => run),
        ["b", "a"]
      )
      const { ageMillis: _, ...found } = (yield* journal.find("a"))!
      assert.deepEqual({ ...found, ageMillis: runs[1]!.ageMillis }, runs[1])
      for (const run of ["c", "d"]) assert.equal(yield* journal.find(run), undefined)
      const { ageMillis, bytes, changedAt, owner, ...rest } = runs[1]!
      assert.deepEqual(rest, { run: "a", length: each("a").length + 1, ...again })
      assert.ok(bytes > 0 && changedAt > 0 && owner !== undefined && owner !== "")
      assert.ok(ageMillis >= 0 && ageMillis < 600_000, `it was changed ${ageMillis} ms ago`)
    })
  ),
  define("list/pages", "the runs of one caller are listed, so many at a time", (open) =>
    Effect.gen(function* () {
      const first = yield* process(open)
      for (const run of ["a", "b", "c", "d", "e"]) {
        const { epoch } = yield* first.journal.claim(run)
        const caller = run === "c" ? "other" : "one"
        yield* first.journal.append({ run, epoch, seq: 0, entries: each(run), head: head(run, { caller }) })
      }
      const again = head("a", { caller: "one", ending: "answered" })
      yield* first.journal.append({ run: "a", epoch: 1, seq: each("a").length, entries: [event("a", 1)], head: again })
      const second = yield* open
      const listed = (query: Journal.Query) =>
        Effect.map(second.list(query), (runs) => runs.map(({ run }) => run).join(""))
      assert.equal(yield* listed({}), "edcba")
      assert.equal(yield* listed({ limit: 2, after: "d" }), "cb")
      assert.equal(yield* listed({ caller: "one" }), "edba")
      assert.equal(yield* listed({ caller: "one", limit: 2 }), "ed")
      assert.equal(yield* listed({ caller: "one", limit: 2, after: "d" }), "ba")
      for (const after of ["a", "never begun"]) assert.equal(yield* listed({ caller: "one", after }), "")
      assert.equal(yield* listed({ caller: "nobody" }), "")
      yield* first.end
      assert.deepEqual(yield* second.remove(["e"]), ["e"])
      assert.equal(yield* listed({ caller: "one" }), "dba")
    })
  ),
  define("list/request", "the runs that answer a request are found, the last begun first", (open) =>
    Effect.gen(function* () {
      const first = yield* process(open)
      for (const [run, request, caller] of [
        ["a", "one", "x"],
        ["b", "two", "x"],
        ["c", "one", "y"],
        ["d", "one", "x"]
      ] as const) {
        const { epoch } = yield* first.journal.claim(run)
        yield* first.journal.append({ run, epoch, seq: 0, entries: each(run), head: head(run, { caller, request }) })
      }
      const second = yield* open
      const listed = (query: Journal.Query) =>
        Effect.map(second.list(query), (runs) => runs.map(({ run }) => run).join(""))
      assert.equal(yield* listed({ request: "one" }), "dca")
      assert.equal(yield* listed({ request: "one", limit: 1 }), "d")
      assert.equal(yield* listed({ request: "one", caller: "x" }), "da")
      assert.equal(yield* listed({ request: "one", caller: "x", after: "d", limit: 1 }), "a")
      assert.equal(yield* listed({ request: "three" }), "")
      yield* first.end
      assert.deepEqual(yield* second.remove(["d"]), ["d"])
      assert.equal(yield* listed({ request: "one" }), "ca")
    })
  ),
  define("list/owners", "the list says who carries a run on, and nobody once its process has ended", (open) =>
    Effect.gen(function* () {
      const first = yield* process(open)
      const second = yield* open
      const { epoch } = yield* first.journal.claim("r")
      yield* first.journal.append({ run: "r", epoch, seq: 0, entries: each("r"), head: head("r") })
      assert.notEqual((yield* second.list())[0]?.owner, undefined)
      yield* first.end
      assert.equal((yield* second.list())[0]?.owner, undefined)
    })
  ),
  define("remove/runs", "runs that nobody carries on are removed, and may begin anew", (open) =>
    Effect.gen(function* () {
      const first = yield* process(open)
      const second = yield* open
      for (const run of ["a", "b"]) {
        const { epoch } = yield* first.journal.claim(run)
        yield* first.journal.append({ run, epoch, seq: 0, entries: each(run), head: head(run) })
      }
      assert.deepEqual(yield* second.remove(["a", "b", "c"]), [])
      yield* first.end
      assert.deepEqual(yield* second.remove(["a", "c"]), ["a"])
      assert.deepEqual(yield* second.read("a"), [])
      assert.equal((yield* second.list()).length, 1)
      assert.equal((yield* second.claim("a")).length, 0)
    })
  ),
  define("remove/bounds", "the oldest runs go where age and size are bounded", (open) =>
    Effect.gen(function* () {
      const first = yield* process(open)
      for (const run of ["a", "b", "c"]) {
        const { epoch } = yield* first.journal.claim(run)
        yield* first.journal.append({ run, epoch, seq: 0, entries: each(run), head: head(run) })
        yield* Effect.sleep(5)
      }
      yield* first.end
      const journal = yield* open
      const [newest] = yield* journal.list()
      assert.deepEqual(yield* Journal.prune(journal, { olderThanMillis: 600_000, maxBytes: 1e9 }), [])
      assert.deepEqual(yield* Journal.prune(journal, { maxBytes: 2.5 * newest!.bytes }), ["a"])
      // A different offset of this process's clock does not change any age.
      const late = {
        ...(yield* Clock.Clock),
        currentTimeMillis: Effect.succeed(4e12),
        currentTimeMillisUnsafe: () => 4e12
      }
      const pruned = Journal.prune(journal, { olderThanMillis: 600_000 })
      assert.deepEqual(yield* Effect.provideService(pruned, Clock.Clock, late), [])
      yield* Effect.sleep(5)
      assert.deepEqual([...(yield* Journal.prune(journal, { olderThanMillis: 1 }))].sort(), ["b", "c"])
    })
  ),
  define("follow/end", "a run is followed as it is written, up to its end", (open) =>
    Effect.gen(function* () {
      const first = yield* open
      const second = yield* open
      const { epoch } = yield* first.claim("r")
      yield* first.append({ run: "r", epoch, seq: 0, entries: [event("r", 0), event("r", 1)] })
      const followed = Stream.runCollect(JournalStream.follow(second, "r", { from: 1 }))
      const fiber = yield* Effect.forkChild(followed)
      yield* Effect.sleep(20)
      yield* first.append({ run: "r", epoch, seq: 2, entries: [event("r", 2)] })
      yield* Effect.sleep(20)
      yield* first.append({ run: "r", epoch, seq: 3, entries: [{ type: "event", event: finished("r") }] })
      const entries = yield* Effect.timeout(Fiber.join(fiber), 3_000)
      assert.deepEqual(entries, [event("r", 1), event("r", 2), { type: "event", event: finished("r") }])
    })
  ),
  define("follow/beyond", "a run is followed from beyond its last entry, until it ends or is removed", (open) =>
    Effect.gen(function* () {
      const first = yield* process(open)
      const second = yield* open
      const two = (run: string) => [event(run, 0), event(run, 1)]
      const collected = (from: number) => Stream.runCollect(JournalStream.follow(second, "r", { from }))
      const { epoch } = yield* first.journal.claim("r")
      yield* first.journal.append({ run: "r", epoch, seq: 0, entries: two("r"), head: head("r") })
      const [next = 0] = yield* second.lengths(["r", "unknown"])
      assert.deepEqual(yield* second.lengths(["unknown", "r", "r"]), [0, next, next])
      const farthest = Number.MAX_SAFE_INTEGER
      const fibers = yield* Effect.forEach([next, next + 1, farthest], (from) => Effect.forkChild(collected(from)))
      yield* Effect.sleep(20)
      assert.deepEqual(yield* second.read("r", farthest), [])
      const last: Journal.Entry = { type: "event", event: finished("r") }
      yield* first.journal.append({
        run: "r",
        epoch,
        seq: next,
        entries: [event("r", 9), last],
        head: { ...head("r"), ending: "answered" }
      })
      const followed = yield* Effect.timeout(
        Effect.forEach(fibers, (fiber) => Fiber.join(fiber)),
        10_000
      )
      assert.deepEqual(followed, [[event("r", 9), last], [last], []])
      assert.deepEqual(yield* Effect.timeout(collected(farthest), 10_000), [])
      const other = yield* first.journal.claim("s")
      yield* first.journal.append({ run: "s", epoch: other.epoch, seq: 0, entries: two("s"), head: head("s") })
      const gone = yield* Effect.forkChild(Stream.runCount(JournalStream.follow(second, "s", { from: 1 })))
      yield* Effect.sleep(20)
      yield* first.end
      assert.deepEqual(yield* second.remove(["s"]), ["s"])
      assert.equal(yield* Effect.timeout(Fiber.join(gone), 10_000), 1)
    })
  )
]

/** Runs one case against a new store. */
export const check = (one: Case, fresh: () => Open): Promise<void> =>
  Effect.runPromise(Effect.scoped(Effect.suspend(() => one.run(fresh()))))

/**
 * Registers the test suite for a journal.
 *
 * **Example**
 *
 * ```ts
 * import { Journal } from "@divisi/core"
 * import { JournalContract } from "@divisi/testkit/journals"
 * import * as Deferred from "effect/Deferred"
 * import * as Effect from "effect/Effect"
 *
 * const names: Array<string> = []
 * JournalContract.contract({
 *   name: "in memory",
 *   fresh: () => {
 *     const memory = Journal.memory()
 *     return Effect.acquireRelease(
 *       Effect.sync(() => Journal.makeMemory(memory)),
 *       (journal) => Effect.sync(journal.end)
 *     )
 *   },
 *   describe: (_, body) => body(),
 *   it: (name) => names.push(name) // a real suite passes `it` of its test runner
 * })
 * names.length > 10 // => true
 * ```
 */
export const contract = ({ describe, fresh, it, name }: Options): void => {
  describe(`${name} keeps the contract of journals`, () => {
    for (const one of cases) it(`${one.id}: ${one.name}`, () => check(one, fresh))
  })
}
