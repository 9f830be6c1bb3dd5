/** A repeated request finds its run in the journal, by the clock of the journal, however long its owner is unconfirmed. */
import { Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { assert, describe, it } from "vitest"
import * as Repeats from "../src/segment/Repeats.ts"

const hour = 3_600_000

const summary: Journal.Summary = {
  run: "r",
  question: "Why?",
  policy: "p",
  workers: [],
  startedAt: 0,
  costUsd: 0,
  calls: 0,
  length: 3,
  bytes: 100,
  changedAt: 0,
  ageMillis: 500,
  owner: undefined
}

/** A journal that lists the given summaries, one after another, and then the last one. */
const listing = (...summaries: ReadonlyArray<Partial<Journal.Summary>>): Journal.Journal => {
  let looks = 0
  const list = () => Effect.sync(() => [{ ...summary, ...summaries[Math.min(looks++, summaries.length - 1)] }])
  return { ...Journal.makeMemory(), list }
}

const found = (journal: Journal.Journal, millis = 0, isRepeated = true) =>
  Effect.gen(function* () {
    const finding = yield* Effect.forkChild(Repeats.find(journal, { owner: "o", request: "q", isRepeated }))
    yield* TestClock.adjust(millis)
    const exit = finding.pollUnsafe()
    if (exit === undefined) yield* Fiber.interrupt(finding)
    return exit === undefined ? "waits" : yield* exit
  }).pipe(Effect.provide(TestClock.layer()), Effect.runPromise)

describe("a repeated request", () => {
  const unconfirmed = { owner: "process 1 on a", isOwnerUnconfirmed: true } as const

  it("waits for as long as the database does not know whether the owner of its run has ended", async () => {
    assert.strictEqual(await found(listing(unconfirmed), 9_000), "waits")
    assert.strictEqual(await found(listing(unconfirmed, unconfirmed, {}), 9_000), "r")
    assert.strictEqual(await found(listing(unconfirmed, { owner: "process 2 on b" }), 9_000), "r")
  })

  it("finds a stopped run by the age that the journal gives, wherever the clocks of the servers are", async () => {
    for (const changedAt of [-26 * hour, 0, Date.now() + 26 * hour]) {
      assert.strictEqual(await found(listing({ changedAt, ageMillis: 500 })), "r")
      assert.strictEqual(await found(listing({ changedAt, ageMillis: 26 * hour })), undefined)
    }
  })
})
