import type { WorkerError } from "@divisi/core/Worker"
import { VendorStream } from "@divisi/provider-kit"
import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { call, type Event, never, reading, settle } from "./vendorCall.ts"

describe("back-pressure", () => {
  /** Gives single pieces without end, and counts them. */
  const endless = () => {
    const vendor = {
      given: 0,
      isReturned: false,
      signal: undefined as AbortSignal | undefined,
      events: async function* (signal: AbortSignal): AsyncGenerator<Event> {
        vendor.signal = signal
        try {
          for (;;) {
            vendor.given += 1
            yield "x"
          }
        } finally {
          vendor.isReturned = true
        }
      }
    }
    return vendor
  }

  it("pauses the vendor once 256 parts are unread, and resumes it when they are taken", async () => {
    const vendor = endless()
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let taken = 0
    const fiber = Effect.runFork(
      Stream.runForEachArray(VendorStream.make(call(vendor.events)), (parts) => {
        taken += parts.length
        return taken > 1000 ? Effect.never : Effect.promise(() => (taken === parts.length ? released : settle()))
      })
    )
    await settle()
    const first = taken
    assert.isAtLeast(vendor.given, 256)
    assert.isAtMost(vendor.given - first, 256)
    const held = vendor.given
    await settle()
    assert.strictEqual(vendor.given, held)
    release()
    while (taken <= 1000) await settle()
    assert.isAtMost(vendor.given - taken, 256)
    await Effect.runPromise(Fiber.interrupt(fiber))
  })

  it("ends with the reader: the signal is aborted, and the vendor's events are returned", async () => {
    const vendor = endless()
    const fiber = Effect.runFork(Stream.runForEachArray(VendorStream.make(call(vendor.events)), () => Effect.never))
    await settle()
    assert.isFalse(vendor.signal?.aborted)
    await Effect.runPromise(Fiber.interrupt(fiber))
    assert.isTrue(vendor.signal?.aborted)
    await settle()
    assert.isTrue(vendor.isReturned)
  })

  it("ends with an abandoned pull, however long the surrounding code continues", async () => {
    let signal: AbortSignal | undefined
    const open = (given: AbortSignal) => {
      signal = given
      return never()
    }
    const program = Effect.gen(function* () {
      const pull = yield* Stream.toPull(VendorStream.make(call(never as never, { open })))
      const fiber = yield* Effect.forkChild(pull)
      yield* Effect.promise(settle)
      yield* Fiber.interrupt(fiber)
      return signal?.aborted
    })
    assert.isTrue(await Effect.runPromise(Effect.scoped(program)))
  })

  it("ends with a reader that has enough", async () => {
    const vendor = endless()
    await Effect.runPromise(Stream.runDrain(Stream.take(VendorStream.make(call(vendor.events)), 3)))
    assert.isTrue(vendor.signal?.aborted)
  })

  it("ends a call that has not been answered yet", async () => {
    let signal: AbortSignal | undefined
    const open = (given: AbortSignal) => {
      signal = given
      return never()
    }
    const fiber = Effect.runFork(Stream.runDrain(VendorStream.make(call(never as never, { open }))))
    await settle()
    await Effect.runPromise(Fiber.interrupt(fiber))
    assert.isTrue(signal?.aborted)
  })
})

describe("silence", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const wait = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

  const pass = async (millis: number) => {
    await settle()
    await vi.advanceTimersByTimeAsync(millis)
    await settle()
  }

  it("is a time-out, before the answer and in it, that ends the call on the wire", async () => {
    for (const [events, expected] of [
      [never, []],
      [
        async function* () {
          yield "4"
          await never()
        },
        ["4"]
      ]
    ] as const) {
      let signal: AbortSignal | undefined
      const open = async (given: AbortSignal) => {
        signal = given
        return { events: (await events()) as AsyncIterable<Event> }
      }
      const { done, failure } = reading(call(never as never, { open, timeoutMillis: 60 }))
      await pass(59)
      assert.isUndefined(failure())
      await pass(1)
      const { failure: error, texts } = await done
      assert.deepStrictEqual(texts, [...expected])
      assert.deepStrictEqual(error?.reason, { _tag: "Timeout", afterMillis: 60, detail: "no data for 0.06 s" })
      assert.isTrue(signal?.aborted)
    }
  })

  it("restarts after each event, with or without content", async () => {
    const { done } = reading(
      call(
        async function* () {
          for (let turn = 0; turn < 6; turn++) {
            await wait(50)
            yield turn % 2 === 0 ? "" : "x"
          }
          yield { end: "stop" }
        },
        { timeoutMillis: 60 }
      )
    )
    for (let turn = 0; turn < 6; turn++) await pass(50)
    const { failure, texts } = await done
    assert.isUndefined(failure)
    assert.deepStrictEqual(texts, ["x", "x", "x"])
  })

  it("is the vendor's alone: a slow reader costs it nothing, and it has all its time again after that", async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let isFirst = true
    const failures: Array<WorkerError> = []
    const stream = VendorStream.make(
      call(
        async function* () {
          // The parts that a reader has taken at once, and those read ahead for it.
          for (let piece = 0; piece < 2 * 256; piece++) yield "x"
          await never()
        },
        { timeoutMillis: 60 }
      )
    )
    const slow = Stream.runForEachArray(stream, () => {
      if (!isFirst) return Effect.void
      isFirst = false
      return Effect.promise(() => released)
    })
    const done = Effect.runPromise(Effect.flip(slow)).then((failure) => failures.push(failure))
    await pass(1030)
    release()
    await pass(59)
    assert.isEmpty(failures)
    await pass(1)
    await done
    assert.strictEqual(failures[0]?.reason._tag, "Timeout")
  })

  it("is not a failure after a complete answer, which it ends", async () => {
    let signal: AbortSignal | undefined
    const { done } = reading(
      call(
        async function* (given) {
          signal = given
          yield* ["42", { end: "stop" } as const]
          await never()
        },
        { timeoutMillis: 60 }
      )
    )
    await pass(60)
    const { failure, finish } = await done
    assert.isUndefined(failure)
    assert.strictEqual(finish?.type, "finish")
    assert.isTrue(signal?.aborted)
  })

  it("may be longer than a timer can be set, or without end", async () => {
    for (const timeoutMillis of [2 ** 40, Number.POSITIVE_INFINITY]) {
      const { done } = reading(
        call(
          async function* () {
            await wait(1000)
            yield { end: "stop" }
          },
          { timeoutMillis }
        )
      )
      await pass(1000)
      assert.isUndefined((await done).failure)
    }
    assert.strictEqual(vi.getTimerCount(), 0)
  })
})
