import { Allowance, Baselines, Resilience } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import type { WorkerPart } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as ProviderGate from "@divisi/provider-kit/ProviderGate"
import { assert, describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"

const now = Date.parse("2026-03-01T12:00:00Z")

describe("readReset", () => {
  it("reads durations, seconds and times, and ignores other values", () => {
    const cases: ReadonlyArray<readonly [string, number | undefined]> = [
      ["1s", 1_000],
      ["6m0s", 360_000],
      ["1h2m3.5s", 3_723_500],
      ["17ms", 17],
      ["1m30s", 90_000],
      ["250us", 0.25],
      ["0s", 0],
      ["30", 30_000],
      [" 0.5 ", 500],
      [String(now / 1_000 + 10), 10_000],
      [String(now + 10_000), 10_000],
      ["2026-03-01T12:00:07Z", 7_000],
      ["2026-03-01T13:00:07+01:00", 7_000],
      ["Sun, 01 Mar 2026 12:00:09 GMT", 9_000],
      ["2026-03-01T11:59:00Z", 0],
      ["", undefined],
      ["soon", undefined],
      ["-3", undefined],
      ["5 m", undefined],
      ["NaN", undefined],
      ["Infinity", undefined]
    ]
    for (const [text, millis] of cases) expect([text, Allowance.readReset(text, now)]).toEqual([text, millis])
  })
})

describe("fromHeaders", () => {
  const names = {
    requests: { remaining: "x-left-requests", reset: "x-reset-requests", limit: "x-limit-requests" },
    tokens: { remaining: "x-left-tokens", reset: "x-reset-tokens" }
  }

  it("takes no reset that is beyond all numbers", () => {
    const names = { requests: { remaining: "left", reset: "reset" } }
    for (const reset of ["9".repeat(400), `${"9".repeat(400)}s`]) {
      expect(Allowance.fromHeaders(new Headers({ left: "0", reset }), names, now)).toBeUndefined()
    }
  })

  it("gives what is whole, and nothing for what is not", () => {
    const headers = new Headers({
      "X-Left-Requests": "59",
      "X-Reset-Requests": "1s",
      "X-Limit-Requests": "60",
      "X-Left-Tokens": "149984"
    })
    expect(Allowance.fromHeaders(headers, names, now)).toEqual({
      requests: { remaining: 59, resetMillis: 1_000, limit: 60 }
    })
    headers.set("x-left-requests", "many")
    expect(Allowance.fromHeaders(headers, names, now)).toBeUndefined()
    headers.set("x-reset-tokens", "6m0s")
    expect(Allowance.fromHeaders(headers, names, now)).toEqual({ tokens: { remaining: 149_984, resetMillis: 360_000 } })
  })

  it("calculates times by the vendor's own clock", () => {
    const headers = new Headers({
      date: "Sun, 01 Mar 2026 12:00:00 GMT",
      "x-left-tokens": "0",
      "x-reset-tokens": "2026-03-01T12:00:20Z"
    })
    const wrongClock = now + 3_600_000
    expect(Allowance.fromHeaders(headers, names, wrongClock)).toEqual({ tokens: { remaining: 0, resetMillis: 20_000 } })
  })
})

describe("an allowance", () => {
  const alpha = ScriptedWorker.make({ id: "alpha", provider: "vendor", replies: [""] })
  const beta = ScriptedWorker.make({ id: "beta", provider: "vendor", replies: [""] })

  const gateOf = (options: ProviderGate.Options = {}) =>
    Effect.provide(Effect.service(Resilience.Gate), ProviderGate.layer(options))

  const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

  /** Calls that record when they start, and report the vendor's allowance as soon as they have it. */
  const recorder = () => {
    const starts: Array<number> = []
    const call =
      (say?: Allowance.Allowance, afterMillis = 0, thenMillis = 0) =>
      (report: (a: Allowance.Allowance) => void) =>
        Effect.gen(function* () {
          starts.push(yield* Clock.currentTimeMillis)
          if (afterMillis > 0) yield* Effect.sleep(afterMillis)
          if (say !== undefined) report(say)
          if (thenMillis > 0) yield* Effect.sleep(thenMillis)
        })
    return { starts, call }
  }

  it.effect("that refills evenly spaces calls as it refills", () =>
    Effect.gen(function* () {
      const gate = (yield* gateOf())!
      const { call, starts } = recorder()
      // 60 a minute, of which 2 are left.
      yield* gate.enter(alpha, 1, call({ requests: { remaining: 2, limit: 60, resetMillis: 58_000 } }))
      for (let count = 0; count < 5; count++) yield* fork(gate.enter(count % 2 === 0 ? alpha : beta, 1, call()))
      yield* TestClock.adjust("10 seconds")
      expect(starts).toEqual([0, 0, 0, 1_000, 2_000, 3_000])
    })
  )

  it.effect("that comes back all at once is waited for", () =>
    Effect.gen(function* () {
      const gate = (yield* gateOf())!
      const { call, starts } = recorder()
      yield* gate.enter(alpha, 1, call({ requests: { remaining: 1, resetMillis: 20_000 } }))
      for (let count = 0; count < 4; count++) yield* fork(gate.enter(alpha, 1, call()))
      yield* TestClock.adjust("30 seconds")
      expect(starts).toEqual([0, 0, 20_000, 20_000, 20_000])
    })
  )

  it.effect("of tokens holds back the calls that need more than is left", () =>
    Effect.gen(function* () {
      const gate = (yield* gateOf())!
      const { call, starts } = recorder()
      // 100 tokens a second, of which 1,000 are left and 6,000 are the whole.
      yield* gate.enter(alpha, 1, call({ tokens: { remaining: 1_000, limit: 6_000, resetMillis: 50_000 } }))
      yield* fork(gate.enter(alpha, 600, call()))
      yield* fork(gate.enter(alpha, 600, call()))
      yield* fork(gate.enter(alpha, 1_000_000, call()))
      yield* TestClock.adjust("2 minutes")
      expect(starts).toEqual([0, 0, 2_000, 62_000])
    })
  )

  it.effect("is reduced by calls admitted after the reporting call", () =>
    Effect.gen(function* () {
      const gate = (yield* gateOf())!
      const { call, starts } = recorder()
      yield* fork(gate.enter(alpha, 1, call({ requests: { remaining: 3, resetMillis: 60_000 } }, 1_000)))
      yield* fork(gate.enter(alpha, 1, call(undefined, 2_000)))
      yield* fork(gate.enter(alpha, 1, call(undefined, 2_000)))
      yield* TestClock.adjust("1 second")
      for (let count = 0; count < 3; count++) yield* fork(gate.enter(alpha, 1, call()))
      yield* TestClock.adjust("2 minutes")
      expect(starts).toEqual([0, 0, 0, 1_000, 61_000, 61_000])
    })
  )

  it.effect("of an earlier call does not overrule that of a later one", () =>
    Effect.gen(function* () {
      const gate = (yield* gateOf())!
      const { call, starts } = recorder()
      yield* fork(gate.enter(alpha, 1, call({ requests: { remaining: 0, resetMillis: 3_600_000 } }, 5_000)))
      yield* gate.enter(alpha, 1, call({ requests: { remaining: 9, resetMillis: 60_000 } }))
      yield* TestClock.adjust("5 seconds")
      yield* gate.enter(alpha, 1, call())
      expect(starts).toEqual([0, 0, 5_000])
    })
  )

  it.effect("that turns out larger lets waiting calls go at once", () =>
    Effect.gen(function* () {
      const gate = (yield* gateOf())!
      const { call, starts } = recorder()
      yield* gate.enter(alpha, 1, call({ requests: { remaining: 1, resetMillis: 60_000 } }))
      yield* fork(gate.enter(alpha, 1, call({ requests: { remaining: 5, resetMillis: 60_000 } }, 3_000, 1_000)))
      yield* fork(gate.enter(beta, 1, call()))
      yield* TestClock.adjust("3 seconds")
      expect(starts).toEqual([0, 0, 3_000])
    })
  )

  it.effect("that is too far away fails calls with the time that is left", () =>
    Effect.gen(function* () {
      const gate = (yield* gateOf({ maxPauseMillis: 10_000 }))!
      const { call, starts } = recorder()
      yield* gate.enter(alpha, 1, call({ requests: { remaining: 0, resetMillis: 60_000 } }))
      yield* TestClock.adjust("20 seconds")
      const error = yield* Effect.flip(gate.enter(beta, 1, call()))
      expect(error).toMatchObject({ worker: "beta", reason: { _tag: "RateLimited", retryAfterMillis: 40_000 } })
      expect(starts).toEqual([0])
    })
  )

  it.effect("that is waited for gives its place up when the call is interrupted", () =>
    Effect.gen(function* () {
      const gate = (yield* gateOf())!
      const { call, starts } = recorder()
      yield* gate.enter(alpha, 1, call({ requests: { remaining: 0, limit: 60, resetMillis: 60_000 } }))
      const first = yield* fork(gate.enter(alpha, 1, call()))
      const second = yield* fork(gate.enter(alpha, 1, call()))
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(second)
      expect(starts).toEqual([0, 1_000])
    })
  )

  it.effect("never lets more through than a bucket that answers truthfully would serve", () =>
    Effect.gen(function* () {
      const gate = (yield* gateOf())!
      const perMinute = 120
      let level = 10
      let last = 0
      let refused = 0
      let served = 0
      // The vendor: it decides when a request arrives, and its answer comes half a second later.
      const call = (report: (allowance: Allowance.Allowance) => void) =>
        Effect.gen(function* () {
          const at = yield* Clock.currentTimeMillis
          level = Math.min(perMinute, level + ((at - last) * perMinute) / 60_000)
          last = at
          if (level < 1) refused += 1
          else {
            level -= 1
            served += 1
          }
          const requests = {
            remaining: Math.floor(level),
            limit: perMinute,
            resetMillis: ((perMinute - level) / perMinute) * 60_000
          }
          yield* Effect.sleep(500)
          report({ requests })
          yield* Effect.sleep(2_000)
        })
      yield* gate.enter(alpha, 1, call).pipe(fork)
      yield* TestClock.adjust("1 second")
      const fibers = yield* Effect.forEach(Array.from({ length: 100 }), () => fork(gate.enter(alpha, 1, call)))
      yield* TestClock.adjust("2 minutes")
      yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual([served, refused], [101, 0])
    })
  )

  it.effect("reaches the gate from a worker's stream, and is not part of the answer", () =>
    Effect.gen(function* () {
      const said: WorkerPart = { type: "allowance", requests: { remaining: 0, resetMillis: 20_000 } }
      const finish: WorkerPart = { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } }
      const worker = ScriptedWorker.make({
        id: "a",
        replies: [{ parts: [said, { type: "text", text: "42" }, finish] }]
      })
      const conductor = Conductor.make({ pool: WorkerPool.makeUnsafe([worker]), policy: Baselines.single("a") })
      // The first run of a process imports modules, which takes real time.
      yield* conductor.run("?")
      const ends: Array<readonly [string | undefined, number]> = []
      const run = Effect.gen(function* () {
        const { answer } = yield* conductor.run("?")
        ends.push([answer, yield* Clock.currentTimeMillis])
      })
      yield* fork(Effect.provide(Effect.all([run, run, run]), ProviderGate.layer({})))
      yield* TestClock.adjust("1 minute")
      expect(ends).toEqual([
        ["42", 0],
        ["42", 20_000],
        ["42", 40_000]
      ])
    })
  )
})
