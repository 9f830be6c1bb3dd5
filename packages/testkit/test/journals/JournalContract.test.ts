import { Journal } from "@divisi/core"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { JournalContract } from "../../src/journals.ts"

type Fault = (journal: Journal.MemoryJournal) => Partial<Journal.Journal>

const inMemory =
  (fault: Fault = () => ({})) =>
  (): JournalContract.Open => {
    const memory = Journal.memory()
    return Effect.gen(function* () {
      const journal = yield* Effect.acquireRelease(
        Effect.sync(() => Journal.makeMemory(memory)),
        (journal) => Effect.sync(journal.end)
      )
      // It has no clock but that of the fiber that calls it. Here it has that of the fiber that opened it, as stores have.
      const clock = yield* Clock.Clock
      const list: Journal.Journal["list"] = (query) => Effect.provideService(journal.list(query), Clock.Clock, clock)
      return { ...journal, list, ...fault(journal) }
    })
  }

JournalContract.contract({ name: "The journal in memory", fresh: inMemory(), describe, it })

/** The cases that a journal with a fault does not pass. */
const failing = async (fault: Fault): Promise<ReadonlyArray<string>> => {
  const failed: Array<string> = []
  for (const one of JournalContract.cases)
    await JournalContract.check(one, inMemory(fault)).catch(() => failed.push(one.id))
  return failed
}

describe("JournalContract", () => {
  it("finds a journal that lets two processes carry on one run", async () => {
    const claim: Fault = (journal) => ({
      claim: (run) => Effect.catch(journal.claim(run), () => Effect.succeed({ epoch: 1, length: 0 }))
    })
    assert.includeMembers([...(await failing(claim))], ["claim/held", "claim/at-once"])
  })

  it("finds a journal that acknowledges what it has not written", async () => {
    const append: Fault = () => ({ append: () => Effect.void })
    assert.includeMembers([...(await failing(append))], ["append/read", "append/seen", "claim/fenced"])
  })

  it("finds a journal that reads from the beginning, whatever number is asked for", async () => {
    const read: Fault = (journal) => ({ read: (run) => journal.read(run) })
    assert.includeMembers([...(await failing(read))], ["append/read", "follow/end"])
  })

  it("finds a journal that removes runs that are carried on", async () => {
    const remove: Fault = (journal) => ({ remove: (runs) => Effect.as(journal.remove(runs), runs) })
    assert.deepStrictEqual(await failing(remove), ["remove/runs"])
  })
})
