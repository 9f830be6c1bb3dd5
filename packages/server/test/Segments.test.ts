import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { assert, describe, it } from "vitest"
import * as Segments from "../src/segment/Segments.ts"
import type { About } from "../src/wire/Wire.ts"

const about = { id: "request", runId: "run", createdAt: 0, request: {}, body: {} } as unknown as About

describe("a segment without clients", () => {
  it("continues for the whole grace after the last of them left", () =>
    Effect.gen(function* () {
      const segments = yield* Segments.make({
        graceMillis: 30_000,
        heartbeatMillis: 3_600_000,
        keptMillis: 60_000,
        keptCharacters: 1_000_000
      })
      const segment = yield* segments.open({
        key: "k",
        isRepeated: false,
        about,
        characters: 0,
        run: () => Effect.never
      })
      const visit = Effect.gen(function* () {
        const client = yield* Effect.forkScoped(segment.over, { startImmediately: true })
        yield* Fiber.interrupt(client)
      })
      yield* visit
      yield* TestClock.adjust("20 seconds")
      yield* visit
      yield* TestClock.adjust("29 seconds")
      assert.isFalse(segment.isOver())
      yield* TestClock.adjust("1 second")
      yield* segment.over
      assert.isTrue(segment.isOver())
    }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.runPromise))
})
