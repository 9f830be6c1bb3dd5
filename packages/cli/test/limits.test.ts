/** The limits of a vendor over its own wire format: the gate is fed by its headers, and keeps calls from being refused. */

import { Baselines, Resilience } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as ProviderGate from "@divisi/provider-kit/ProviderGate"
import { anthropic } from "@divisi/providers-anthropic"
import { openai } from "@divisi/providers-openai"
import { AnthropicMessages, type Dialect, OpenAiResponses, Script, WireServer } from "@divisi/testkit/providers"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const capacity = 4
const refillMillis = 200

/** A vendor with a bucket of calls that refills evenly; it tells truthfully what is left. */
const metered = (dialect: Dialect.Dialect, headers: (left: number, resetMillis: number) => Record<string, string>) => {
  let level = capacity
  let last = Date.now()
  const state = { refused: 0, served: 0 }
  const server = WireServer.start(dialect, () => {
    const now = Date.now()
    level = Math.min(capacity, level + (now - last) / refillMillis)
    last = now
    if (level < 1) {
      state.refused += 1
      return Script.refusal("rate-limited")
    }
    level -= 1
    state.served += 1
    // With so few calls, a part of a call matters: whole ones give the exact rate, so no delay leads to a refusal.
    const left = Math.floor(level)
    return Script.answer("Yes.", { headers: headers(left, (capacity - left) * refillMillis) })
  })
  return { server, state }
}

const runs = 14

/** Many runs at once, without a retry: a refusal fails its run. */
const ask = async (worker: Worker, isGated: boolean) => {
  const conductor = Conductor.make({
    pool: WorkerPool.makeUnsafe([worker]),
    policy: Baselines.single(0),
    retry: Resilience.noRetry
  })
  const all = Effect.forEach(Array.from({ length: runs }), () => conductor.run("Is it?"), { concurrency: "unbounded" })
  // The first call learns what the limits are.
  const program = Effect.andThen(conductor.run("Is it?"), all)
  const results = await Effect.runPromise(isGated ? Effect.provide(program, ProviderGate.layer({})) : program)
  return results.filter(({ ending }) => ending === "answered").length
}

/**
 * Calls in transit may arrive late, together and in another order, so the vendor may refuse some of them on a busy
 * machine. Without the gate, it refuses more.
 */
const mostRefused = 6

const assertRespected = (
  answered: number,
  { refused, served }: { readonly refused: number; readonly served: number }
) => {
  assert.isAtMost(refused, mostRefused)
  assert.deepStrictEqual([answered, served], [runs - refused, runs + 1 - refused])
}

describe("rate limits over the wire", () => {
  const openAiHeaders = (left: number, resetMillis: number) => ({
    "x-ratelimit-limit-requests": String(capacity),
    "x-ratelimit-remaining-requests": String(left),
    "x-ratelimit-reset-requests": `${Math.ceil(resetMillis)}ms`
  })

  it("of OpenAI are respected before it refuses", async () => {
    const { server, state } = metered(OpenAiResponses.dialect, openAiHeaders)
    await using running = await server
    const worker = openai("gpt-5-mini", { apiKey: "key", baseURL: `${running.url}/v1` })
    assertRespected(await ask(worker, true), state)
  })

  it("would be exceeded without the gate", async () => {
    const { server, state } = metered(OpenAiResponses.dialect, openAiHeaders)
    await using running = await server
    const worker = openai("gpt-5-mini", { apiKey: "key", baseURL: `${running.url}/v1` })
    await ask(worker, false)
    assert.isAbove(state.refused, mostRefused)
  })

  it("of Anthropic are respected before it refuses", async () => {
    const { server, state } = metered(AnthropicMessages.dialect, (left, resetMillis) => {
      // Anthropic writes times to the millisecond; the `date` header, to the second, must not round them.
      const now = Math.floor(Date.now() / 1_000) * 1_000
      return {
        date: new Date(now).toUTCString(),
        "anthropic-ratelimit-requests-limit": String(capacity),
        "anthropic-ratelimit-requests-remaining": String(left),
        "anthropic-ratelimit-requests-reset": new Date(now + resetMillis).toISOString()
      }
    })
    await using running = await server
    const worker = anthropic("claude-haiku-4-5", { apiKey: "key", baseURL: running.url })
    assertRespected(await ask(worker, true), state)
  })
})
