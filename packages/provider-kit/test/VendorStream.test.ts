import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerError, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import * as VendorError from "@divisi/provider-kit/VendorError"
import * as VendorStream from "@divisi/provider-kit/VendorStream"
import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

/** A vendor's events: a piece of text, a report of usage, why it ended, or what went wrong. */
type Event =
  | string
  | { readonly usage: Usage }
  | { readonly end: FinishReason }
  | { readonly failure: WorkerErrorReason }

interface State {
  readonly end?: FinishReason | undefined
  readonly usage?: Usage | undefined
}

const protocol: VendorStream.Protocol<Event, State> = {
  initial: {},
  next: (state, event) => {
    if (typeof event === "string") return { state, parts: event === "" ? [] : [{ type: "text", text: event }] }
    if ("failure" in event) return { state, parts: [], failure: event.failure }
    return { state: { ...state, ...event }, parts: [] }
  },
  finishReason: ({ end }) => end,
  usage: ({ usage }) => usage
}

const usage = { inputTokens: 7, outputTokens: 2 }

const call = (
  events: (signal: AbortSignal) => AsyncIterable<Event>,
  more: Partial<VendorStream.Call<Event, State>> = {}
): VendorStream.Call<Event, State> => ({
  worker: "acme:tiny",
  messages: [{ role: "user", content: "12345678" }],
  protocol,
  open: async (signal) => ({ events: events(signal) }),
  reason: (error) => VendorError.fromException(error, {}),
  timeoutMillis: 60_000,
  ...more
})

const never = () => new Promise<never>(() => {})

/** What a reader got, and how the stream ended for it. */
const reading = (of: VendorStream.Call<Event, State>) => {
  const texts: Array<string> = []
  let failure: WorkerError | undefined
  let finish: WorkerPart | undefined
  const read = Stream.runForEach(VendorStream.make(of), (part) =>
    Effect.sync(() => {
      if (part.type === "finish") finish = part
      else texts.push(part.type === "text" ? part.text : part.type)
    })
  )
  const done = Effect.runPromise(Effect.result(read)).then((result) => {
    if (Result.isFailure(result)) failure = result.failure
    return { texts, finish, failure }
  })
  return { texts, done, failure: () => failure }
}

const read = (of: VendorStream.Call<Event, State>) => reading(of).done

/** Lets everything happen that needs no time. */
const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe("an answer", () => {
  it("is its parts in order, and what the vendor counted", async () => {
    const opened = { type: "allowance", requests: { remaining: 3 } } as unknown as WorkerPart
    const events = async function* (): AsyncGenerator<Event> {
      yield* ["For", "", "ty-two", { usage }, { end: "length" } as const]
    }
    const { finish, texts } = await read(call(events, { open: async () => ({ parts: [opened], events: events() }) }))
    assert.deepStrictEqual(texts, ["allowance", "For", "ty-two"])
    assert.deepStrictEqual(finish, { type: "finish", reason: "length", usage })
  })

  it("is estimated where the vendor has not counted", async () => {
    const { finish } = await read(
      call(async function* () {
        yield* ["For", "ty-two", { end: "stop" } as const]
      })
    )
    const estimated = { inputTokens: 2, outputTokens: 3, estimated: true }
    assert.deepStrictEqual(finish, { type: "finish", reason: "stop", usage: estimated })
  })

  it("is taken in as many steps as it comes in packets, not in events", async () => {
    const stream = VendorStream.make(
      call(async function* () {
        for (let packet = 0; packet < 3; packet++) {
          await new Promise((resolve) => setImmediate(resolve))
          yield* ["a", "b", "c", "d"]
        }
        yield { end: "stop" }
      })
    )
    let steps = 0
    await Effect.runPromise(
      Stream.runForEachArray(stream, () =>
        Effect.sync(() => {
          steps += 1
        })
      )
    )
    assert.isAtMost(steps, 4)
  })

  it("begins anew each time that the stream runs, and not before", async () => {
    let calls = 0
    const stream = VendorStream.make(
      call(async function* () {
        calls += 1
        yield* [`${calls}`, { end: "stop" } as const]
      })
    )
    assert.strictEqual(calls, 0)
    for (const expected of ["1", "2"]) {
      const [first] = await Effect.runPromise(Stream.runCollect(stream))
      assert.deepStrictEqual(first, { type: "text", text: expected })
    }
  })
})

describe("the end", () => {
  const reset = () => {
    throw new TypeError("terminated: the connection was reset")
  }

  it("is a cut where the vendor has not said that the answer is complete", async () => {
    const half = async function* () {
      yield "Half an"
    }
    const { failure, finish, texts } = await read(call(half))
    assert.deepStrictEqual(texts, ["Half an"])
    assert.isUndefined(finish)
    assert.strictEqual(failure?.reason._tag, "Network")
    const malformed = { _tag: "Malformed", detail: "no such API" } as const
    const other = await read(call(half, { protocol: { ...protocol, incomplete: () => malformed } }))
    assert.deepStrictEqual(other.failure?.reason, malformed)
  })

  it("is no failure where the connection breaks after a complete answer", async () => {
    const { failure, finish } = await read(
      call(async function* () {
        yield* ["42", { usage }, { end: "stop" } as const]
        reset()
      })
    )
    assert.isUndefined(failure)
    assert.deepStrictEqual(finish, { type: "finish", reason: "stop", usage })
  })

  it("is a failure where it breaks before, with what had come and what it had used", async () => {
    const { failure, texts } = await read(
      call(async function* () {
        yield* ["4", { usage }]
        reset()
      })
    )
    assert.deepStrictEqual(texts, ["4"])
    assert.strictEqual(failure?.worker, "acme:tiny")
    assert.strictEqual(failure?.reason._tag, "Network")
    assert.deepStrictEqual(failure?.usage, usage)
  })

  it("is what the vendor says went wrong, which ends the call on the wire, too", async () => {
    let signal: AbortSignal | undefined
    const { failure, texts } = await read(
      call(async function* (given) {
        signal = given
        yield* ["4", { usage }, { failure: { _tag: "Overloaded", retryAfterMillis: 5, detail: "busy" } }]
        yield "not looked at"
      })
    )
    assert.deepStrictEqual(texts, ["4"])
    assert.deepStrictEqual(failure?.reason, { _tag: "Overloaded", retryAfterMillis: 5, detail: "busy" })
    assert.deepStrictEqual(failure?.usage, usage)
    assert.isTrue(signal?.aborted)
  })

  it("leaves the connection of a complete answer as it is", async () => {
    let signal: AbortSignal | undefined
    await read(
      call(async function* (given) {
        signal = given
        yield { end: "stop" }
      })
    )
    assert.isFalse(signal?.aborted)
  })

  it.each([
    ["rejects", () => Promise.reject(new SyntaxError("a page came"))],
    [
      "throws",
      () => {
        throw new SyntaxError("a page came")
      }
    ]
  ])("is a failure where opening %s", async (_, open) => {
    const { failure } = await read(call(never as never, { open }))
    assert.deepStrictEqual(failure?.reason, { _tag: "Malformed", detail: "a page came" })
  })

  it("is a defect where the protocol itself is mistaken, and never a stream that hangs", async () => {
    const finishReason = () => {
      throw new RangeError("mistaken")
    }
    const stream = VendorStream.make(
      call(
        async function* () {
          yield "a"
        },
        { protocol: { ...protocol, finishReason } }
      )
    )
    const exit = await Effect.runPromiseExit(Stream.runDrain(stream))
    assert.isTrue(Exit.hasDies(exit))
  })
})

describe("what a vendor sends that is of no known shape", () => {
  const nonsense = (): never => (null as unknown as { pieces: () => never }).pieces()

  const refused = (failure: WorkerError | undefined) => {
    assert.strictEqual(failure?.reason._tag, "Malformed")
    assert.notMatch(failure?.reason.detail ?? "", /null|Cannot|function/)
  }

  it("is the vendor's fault where the protocol breaks at it, and what came before stands", async () => {
    const next = (state: State, event: Event) => (event === "odd" ? nonsense() : protocol.next(state, event))
    const events = async function* (): AsyncGenerator<Event> {
      yield* ["4", { usage }, "odd"]
    }
    const { failure, texts } = await read(call(events, { protocol: { ...protocol, next } }))
    refused(failure)
    assert.deepStrictEqual(texts, ["4"])
    assert.deepStrictEqual(failure?.usage, usage)
  })

  it("is the vendor's fault where a client's reader breaks at it, or the provider at its error", async () => {
    const broken = await read(
      call(async function* () {
        yield "4"
        nonsense()
      })
    )
    refused(broken.failure)
    const open = () => Promise.reject(new Error("refused"))
    refused((await read(call(never as never, { open, reason: nonsense }))).failure)
  })

  it("changes nothing after a complete answer", async () => {
    const { failure, finish } = await read(
      call(async function* () {
        yield* ["42", { end: "stop" } as const]
        nonsense()
      })
    )
    assert.isUndefined(failure)
    assert.include(finish, { reason: "stop" })
  })
})

describe("secrets", () => {
  it("show in no failure, and neither do whole pages", async () => {
    const reasons: ReadonlyArray<WorkerErrorReason> = [
      { _tag: "Authentication", detail: "hunter2 is no key" },
      { _tag: "Malformed", detail: `<html>\n<b>hunter2</b>${" and so on".repeat(1000)}` }
    ]
    for (const failure of reasons) {
      const thrown = new Error("any")
      const inside = await read(
        call(
          async function* () {
            yield { failure }
          },
          { secrets: ["hunter2"] }
        )
      )
      const outside = await read(
        call(never as never, { open: () => Promise.reject(thrown), reason: () => failure, secrets: ["hunter2"] })
      )
      for (const { failure: error } of [inside, outside]) {
        assert.notInclude(JSON.stringify(error), "hunter2")
        assert.notInclude(error?.message, "hunter2")
        assert.include(error?.message, "<hidden>")
        assert.isAtMost(error?.reason.detail?.length ?? 0, 700)
      }
    }
  })
})

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

  it("holds the vendor back once 256 parts wait for the reader, and lets it go on when they are taken", async () => {
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

  it("ends with a pull that is given up, however long what is around it goes on", async () => {
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
      assert.deepStrictEqual(error?.reason, { _tag: "Timeout", afterMillis: 60, detail: "nothing came for 0.06 s" })
      assert.isTrue(signal?.aborted)
    }
  })

  it("is counted anew after each event, whether it brings anything or not", async () => {
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
          // What a reader has taken at once, and what is then read ahead for it.
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

  it("is no failure after a complete answer, which it ends", async () => {
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

describe("fail", () => {
  it("is a stream that fails before anything is sent", async () => {
    const reason = { _tag: "Authentication", detail: "ACME_API_KEY is not set" } as const
    const error = await Effect.runPromise(Effect.flip(Stream.runDrain(VendorStream.fail("acme:tiny", reason))))
    assert.deepStrictEqual(error.reason, reason)
    assert.include(error.message, "acme:tiny")
  })
})
