import type { WorkerError, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import { VendorStream } from "@divisi/provider-kit"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import { call, type Event, never, protocol, read, type State, usage } from "./vendorCall.ts"

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

  it("ends once it is over, though its connection stays open, which is then closed", async () => {
    const closed = Promise.withResolvers<void>()
    const events = async function* (signal: AbortSignal): AsyncGenerator<Event> {
      signal.addEventListener("abort", () => closed.resolve())
      yield* ["42", { end: "stop" } as const]
      await never()
    }
    const isOver = ({ end }: State) => end !== undefined
    const { finish, texts } = await read({
      ...call(events),
      protocol: { ...protocol, isOver },
      timeoutMillis: Infinity
    })
    assert.deepStrictEqual([texts, finish?.type], [["42"], "finish"])
    await closed.promise
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

  it("brings what the vendor wants back, and counts the tools that it asks for", async () => {
    const asked: WorkerPart = { type: "tool-call", id: "1", name: "clock", arguments: '{"in":"Ulm"}' }
    const events = async function* (): AsyncGenerator<Event> {
      yield { end: "stop" }
    }
    const open = async () => ({ parts: [asked], events: events() })
    const echoing = { ...protocol, echo: () => ({ signature: "s" }) }
    const { finish } = await read({ ...call(events, { open }), protocol: echoing })
    const usage = { inputTokens: 2, outputTokens: 5, estimated: true }
    assert.deepStrictEqual(finish, { type: "finish", reason: "stop", usage, echo: { signature: "s" } })
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

  /** A vendor whose events come in these packets. */
  const packed = (...packets: ReadonlyArray<ReadonlyArray<Event>>) => {
    const vendor = { given: 0, isReturned: false }
    const all = async function* () {
      try {
        for (const packet of packets) {
          vendor.given += 1
          yield packet
        }
      } finally {
        vendor.isReturned = true
      }
    }
    const oneByOne = async function* (): AsyncGenerator<Event> {
      assert.fail("its packets are not read")
    }
    const events = () => Object.assign(oneByOne(), { packets: all() })
    return { vendor, packedCall: call(oneByOne, { open: async () => ({ events: events() }) }) }
  }

  it("is read packet by packet where the vendor's events are", async () => {
    const { packedCall, vendor } = packed(["4"], ["2", { usage }], [{ end: "stop" }])
    const { failure, finish, texts } = await read(packedCall)
    assert.isUndefined(failure)
    assert.deepStrictEqual(texts, ["4", "2"])
    assert.deepStrictEqual(finish, { type: "finish", reason: "stop", usage })
    assert.deepStrictEqual(vendor, { given: 3, isReturned: true })
  })

  it("takes nothing of a packet that is behind a failure, and reads no other", async () => {
    const { packedCall, vendor } = packed(["4", { failure: { _tag: "Overloaded", detail: "busy" } }, "2"], ["never"])
    const { failure, texts } = await read(packedCall)
    assert.strictEqual(failure?.reason._tag, "Overloaded")
    assert.deepStrictEqual(texts, ["4"])
    assert.deepStrictEqual(vendor, { given: 1, isReturned: true })
  })

  it("waits for its reader within a packet", async () => {
    const { packedCall, vendor } = packed(
      Array.from({ length: 1000 }, () => "x"),
      [{ end: "stop" }]
    )
    let steps = 0
    let taken = 0
    await Effect.runPromise(
      Stream.runForEachArray(VendorStream.make(packedCall), (parts) =>
        Effect.promise(async () => {
          steps += 1
          taken += parts.length
          assert.isAtMost(parts.length, 257)
          await new Promise((resolve) => setImmediate(resolve))
          if (steps === 1) assert.strictEqual(vendor.given, 1)
        })
      )
    )
    assert.isAtLeast(steps, 4)
    assert.strictEqual(taken, 1001)
  })

  it("restarts each time that the stream runs, and not before", async () => {
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

  it("is not a failure if the connection breaks after a complete answer", async () => {
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

  it("is the vendor's fault if the protocol breaks, and earlier parts remain", async () => {
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

describe("fail", () => {
  it("is a stream that fails before anything is sent", async () => {
    const reason = { _tag: "Authentication", detail: "ACME_API_KEY is not set" } as const
    const error = await Effect.runPromise(Effect.flip(Stream.runDrain(VendorStream.fail("acme:tiny", reason))))
    assert.deepStrictEqual(error.reason, reason)
    assert.include(error.message, "acme:tiny")
  })
})
