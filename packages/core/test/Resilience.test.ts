import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Resilience from "../src/run/Resilience.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import { WorkerError, type WorkerErrorReason } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const overloaded: WorkerErrorReason = { _tag: "Overloaded" }
const steady = { jitter: false } as const

describe("delay", () => {
  it("doubles from half a second up to its cap", () => {
    const waits = Array.from({ length: 9 }, (_, attempt) =>
      Resilience.delay({ ...steady, maxAttempts: 10 }, { attempt, reason: overloaded, seed: 0 })
    )
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  })

  it("ends with the last attempt", () => {
    const at = (attempt: number, maxAttempts?: number) =>
      Resilience.delay({ ...steady, maxAttempts }, { attempt, reason: overloaded, seed: 0 })
    expect([at(0), at(1), at(2)]).toEqual([500, 1000, undefined])
    expect(at(0, 1)).toBeUndefined()
    expect(Resilience.delay(Resilience.noRetry, { attempt: 0, reason: overloaded, seed: 0 })).toBeUndefined()
  })

  it("never retries what a retry cannot help", () => {
    for (const _tag of ["InvalidRequest", "Authentication", "Quota", "ContentFiltered", "ContextTooLong"] as const) {
      expect(Resilience.delay(Resilience.defaultRetry, { attempt: 0, reason: { _tag }, seed: 0 })).toBeUndefined()
    }
  })

  it("never comes back before the retry-after, and gives up when that is too far away", () => {
    const after = (retryAfterMillis: number, jitter: boolean, seed = 0) =>
      Resilience.delay({ jitter }, { attempt: 0, reason: { _tag: "RateLimited", retryAfterMillis }, seed })
    expect(after(10, false)).toBe(500)
    expect(after(60_000, false)).toBe(60_000)
    expect(after(120_000, false)).toBe(120_000)
    expect(after(120_001, false)).toBeUndefined()
    for (let seed = 0; seed < 200; seed++) {
      expect(after(60_000, true, seed)).toBeGreaterThanOrEqual(60_000)
      expect(after(60_000, true, seed)).toBeLessThanOrEqual(60_500)
    }
  })

  it("spreads waits over the upper half of the backoff, the same for the same seed", () => {
    const wait = (seed: number, attempt = 0) =>
      Resilience.delay(Resilience.defaultRetry, { attempt, reason: overloaded, seed })
    const waits = Array.from({ length: 500 }, (_, seed) => wait(seed)!)
    expect(waits).toEqual(Array.from({ length: 500 }, (_, seed) => wait(seed)!))
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(250)
    expect(Math.max(...waits)).toBeLessThanOrEqual(500)
    const mean = waits.reduce((sum, one) => sum + one, 0) / waits.length
    expect(mean).toBeGreaterThan(350)
    expect(mean).toBeLessThan(400)
    expect(wait(1, 1)! / 2).not.toBeCloseTo(wait(1, 0)!, 0)
  })
})

describe("reassign", () => {
  const pool = WorkerPool.makeUnsafe(["a", "b", "c"].map(ScriptedWorker.echo))
  const error = new WorkerError({ worker: "b", reason: overloaded })
  const failure = (...tried: ReadonlyArray<number>) => ({ pool, failed: tried.at(-1)!, tried, error })

  it("reassigns a step only if configured", () => {
    expect(Effect.runSync(Resilience.reassign("never", failure(0)))).toBeUndefined()
  })

  it("goes round the pool once", () => {
    expect(Effect.runSync(Resilience.reassign("next", failure(1)))).toBe(2)
    expect(Effect.runSync(Resilience.reassign("next", failure(1, 2)))).toBe(0)
    expect(Effect.runSync(Resilience.reassign("next", failure(1, 2, 0)))).toBeUndefined()
  })

  it("starts with the first worker when the one that failed is outside the pool", () => {
    expect(Effect.runSync(Resilience.reassign("next", failure(3)))).toBe(1)
    expect(Effect.runSync(Resilience.reassign("next", failure(3, 1, 2, 0)))).toBeUndefined()
  })

  it("takes a function's word only for a worker that exists and has not been tried", () => {
    const to = (ordinal: number | undefined) => Effect.runSync(Resilience.reassign(() => ordinal, failure(1)))
    expect([to(0), to(2), to(1), to(3), to(-1), to(0.5), to(undefined)]).toEqual([
      0,
      2,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined
    ])
    expect(
      Effect.runSync(Resilience.reassign(({ error }) => (error.reason._tag === "Quota" ? 0 : 2), failure(1)))
    ).toBe(2)
  })
})
