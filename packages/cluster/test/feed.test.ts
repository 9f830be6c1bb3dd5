import { Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { assert, describe, it } from "vitest"
import * as Feed from "../src/runs/feed.ts"
import { Item } from "../src/runs/protocol.ts"

const run = "run"
const length = 12

const entryAt = (seq: number): Journal.Entry =>
  seq < length - 1
    ? { type: "begun", seed: seq }
    : {
        type: "event",
        event: {
          type: "run-finished",
          runId: run,
          at: 0,
          ending: "answered",
          spend: { usage: { inputTokens: 0, outputTokens: 0 }, costUsd: 0, calls: 0, unpricedCalls: 0 },
          durationMillis: 0
        }
      }

const itemAt = (seq: number): Item => new Item({ seq, body: JSON.stringify(entryAt(seq)) })
const chunk = new Item({ body: '{"type":"event","event":{"type":"step-delta"}}' })
const from = (start: number, end = length) =>
  Array.from({ length: Math.max(0, end - start) }, (_, at) => itemAt(start + at))

describe("the stream of a run whose owners change", () => {
  /** The items of each connection, by the entry from which it was opened. The last one is used for all further ones. */
  const connections: Readonly<Record<string, ReadonlyArray<(start: number) => Stream.Stream<Item, string>>>> = {
    "in the middle": [
      (start) => Stream.concat(Stream.fromIterable([...from(start, 4), chunk]), Stream.fail("the server is gone")),
      (start) => Stream.fromIterable(from(start))
    ],
    "several times, once before the first entry": [
      () => Stream.fail("no server"),
      () => Stream.empty,
      (start) => Stream.fromIterable(from(start, 5)),
      (start) => Stream.fromIterable(from(start, start + 1)),
      (start) => Stream.fromIterable(from(start))
    ],
    "and the transport repeats its request with the first number": [
      (start) => Stream.fromIterable([...from(start, 6), ...from(start)])
    ],
    "and an entry was lost on the way": [
      (start) => Stream.fromIterable([...from(start, 3), ...from(4)]),
      (start) => Stream.fromIterable(from(start))
    ]
  }
  for (const [name, opened] of Object.entries(connections)) {
    for (const start of [0, 2]) {
      it(`${name}: has each entry once, in order, from ${start}`, async () => {
        const starts: Array<number> = []
        const open = (next: number) => {
          const connection = opened[Math.min(starts.length, opened.length - 1)]!
          starts.push(next)
          return connection(next)
        }
        const items = await Effect.runPromise(Stream.runCollect(Feed.follow(run, open, start)))
        assert.deepStrictEqual(
          items.flatMap(({ seq }) => (seq === undefined ? [] : [seq])),
          Array.from({ length: length - start }, (_, at) => start + at)
        )
        assert.strictEqual(starts[0], start)
      })
    }
  }

  it("ends with a run that was cancelled before it started", async () => {
    const open = () => Stream.make(new Item({ body: Feed.cancelled }))
    assert.deepStrictEqual(await Effect.runPromise(Stream.runCollect(Feed.follow(run, open, 0))), [])
  })

  const virtually = <A>(effect: Effect.Effect<A, unknown>) =>
    Effect.runPromise(Effect.scoped(Effect.provide(effect, TestClock.layer())))

  it("is reopened if its server falls silent", () =>
    virtually(
      Effect.gen(function* () {
        const starts: Array<number> = []
        const open = (next: number) => {
          starts.push(next)
          return starts.length === 1
            ? Stream.concat(Stream.fromIterable(from(0, 4)), Stream.never)
            : Stream.fromIterable(from(next))
        }
        const items = yield* Effect.forkChild(Stream.runCollect(Feed.follow(run, open, 0)))
        yield* TestClock.adjust("20 seconds")
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(
          (yield* Fiber.join(items)).map(({ seq }) => seq),
          Array.from({ length }, (_, at) => at)
        )
        assert.deepStrictEqual(starts, [0, 4])
      })
    ))

  it("stays open while its server waits for a long call", () =>
    virtually(
      Effect.gen(function* () {
        const journal = Journal.makeMemory()
        const { epoch } = yield* journal.claim(run)
        const entries = Array.from({ length }, (_, at) => entryAt(at))
        yield* journal.append({ run, epoch, seq: 0, entries: entries.slice(0, 4) })
        let opens = 0
        const source = { journal, listen: () => () => {}, isCancelled: () => Effect.succeed(false) }
        const open = (next: number) => {
          opens += 1
          return Feed.attach(source, run, next)
        }
        const items = yield* Effect.forkChild(Stream.runCollect(Feed.follow(run, open, 0)))
        yield* TestClock.adjust("5 minutes")
        yield* journal.append({ run, epoch, seq: 4, entries: entries.slice(4) })
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Fiber.join(items)).length, length)
        assert.strictEqual(opens, 1)
      })
    ))
})
