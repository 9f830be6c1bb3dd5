import { Baselines, Journal, type RunEvent } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const pool = WorkerPool.makeUnsafe([ScriptedWorker.echo("a")])
const conductor = Conductor.make({ pool, policy: Baselines.single(0) })

const question = "x".repeat(1_000)

const begun = (run: string): Journal.Entry => {
  const event: RunEvent.RunEvent = { type: "round-started", round: 0, runId: run, at: 1 }
  return { type: "event", event }
}

describe("a journal in memory with a limit", () => {
  it.effect("evicts the oldest at once, however many there are", () =>
    Effect.gen(function* () {
      const memory = Journal.memory({ maxBytes: 20_000 })
      const journal = Journal.makeMemory(memory)
      for (let run = 0; run < 200; run += 1) {
        yield* conductor.run(question, { runId: `${run}`, listener: journal.listener(`${run}`) })
        assert.isAtMost(memory.bytes, 20_000)
      }
      const runs = (yield* journal.list()).map(({ run }) => run)
      assert.isAbove(runs.length, 2)
      assert.sameMembers(
        runs,
        runs.map((_, at) => `${199 - at}`)
      )
      yield* journal.remove(runs)
      assert.strictEqual(memory.bytes, 0)
    })
  )

  it.effect("retains running runs, and those resumed last", () =>
    Effect.gen(function* () {
      const journal = Journal.makeMemory(Journal.memory({ maxBytes: 1_900 }))
      const write = Effect.fnUntraced(function* (run: string) {
        const { epoch, length } = yield* journal.claim(run)
        const entries = Array.from({ length: 5 }, () => begun(run))
        yield* journal.append({ run, epoch, seq: length, entries })
        return epoch
      })
      yield* write("goes on")
      for (const run of ["first", "second"]) yield* journal.release(run, yield* write(run))
      yield* journal.release("first", yield* write("first"))
      const left = Effect.map(
        Effect.forEach(["goes on", "first", "second"], (run) => journal.read(run)),
        (all) => all.map(({ length }) => length)
      )
      assert.deepStrictEqual(yield* left, [5, 10, 0])
    })
  )

  it.effect("lists a run that it only received events of like a stored one", () =>
    Effect.gen(function* () {
      const heard = Journal.makeMemory()
      const kept = Journal.makeMemory()
      yield* conductor.run(question, { runId: "1", listener: heard.listener("1"), journal: kept })
      const of = (journal: Journal.Journal) =>
        Effect.map(Effect.all([journal.list(), journal.read("1")]), ([[summary], entries]) => {
          const { ageMillis: _, bytes: __, changedAt: ___, length: ____, ...rest } = summary!
          return { rest, events: Journal.eventsOf(entries) }
        })
      assert.deepStrictEqual(yield* of(heard), yield* of(kept))
    })
  )
})
