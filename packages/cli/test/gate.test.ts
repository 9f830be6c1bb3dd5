/** Providers that the gate has closed, as a server shows them. */

import { Baselines, Resilience } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import { type Worker, WorkerError } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as ProviderGate from "@divisi/provider-kit/ProviderGate"
import { NodeServer } from "@divisi/server"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { assert, describe, it } from "vitest"

const alone = (worker: Worker): NodeServer.Options => ({
  pool: WorkerPool.makeUnsafe([worker]),
  policy: Baselines.single(0)
})

const overloaded = (worker: string) =>
  Stream.fail(new WorkerError({ worker, reason: { _tag: "Overloaded", detail: "no slot is free" } }))

/** Runs a test against a server whose gate opens the circuit of a provider at its second failure. */
const serving = (options: NodeServer.Options, test: (origin: string, reset: Effect.Effect<void>) => Promise<void>) =>
  Effect.gen(function* () {
    const server = yield* NodeServer.make({ port: 0, ...options })
    const gate = yield* Resilience.Gate
    yield* Effect.promise(() => test(server.url.replace(/\/v1$/, ""), gate?.reset ?? Effect.void))
  }).pipe(
    Effect.scoped,
    Effect.provide(ProviderGate.layer({ breaker: { failures: 2, openMillis: 200_000 } })),
    Effect.runPromise
  )

const ask = async (origin: string) => {
  const body = JSON.stringify({ model: "divisi", messages: [{ role: "user", content: "How is it?" }] })
  const response = await fetch(`${origin}/v1/chat/completions`, { method: "POST", body })
  return { status: response.status, text: await response.text() }
}

const healthOf = async (origin: string) => {
  const response = await fetch(`${origin}/health/ready`)
  return { status: response.status, body: await response.json() }
}

const metricsOf = async (origin: string) => (await fetch(`${origin}/metrics`)).text()

describe("a provider that fails repeatedly", () => {
  it("is shown as closed in health and metrics, is not called, and is called again after a reset", () => {
    let isGood = false
    let calls = 0
    const good = ScriptedWorker.make({ id: "acme:a", replies: ["It is fine."] })
    const worker = {
      ...good,
      provider: "acme",
      generate: (request: Parameters<typeof good.generate>[0]) => {
        calls += 1
        return isGood ? good.generate(request) : overloaded("acme:a")
      }
    }
    return serving(alone(worker), async (origin, reset) => {
      assert.deepStrictEqual(await healthOf(origin), { status: 200, body: { status: "ok" } })
      assert.notInclude(await metricsOf(origin), "divisi_provider_closed_until_seconds")
      while (calls < 2) assert.notStrictEqual((await ask(origin)).status, 200)

      const before = calls
      const { body, status } = await healthOf(origin)
      // The server takes requests: other workers may answer them.
      assert.strictEqual(status, 200)
      assert.lengthOf(body.closed, 1)
      assert.deepInclude(body.closed[0], { provider: "acme", because: "failing" })
      assert.isAbove(Date.parse(body.closed[0].until), Date.now())
      assert.match(
        await metricsOf(origin),
        /\n# TYPE divisi_provider_closed_until_seconds gauge\ndivisi_provider_closed_until_seconds\{provider="acme",because="failing"\} \d+\n/
      )
      assert.strictEqual((await ask(origin)).status, 503)
      assert.strictEqual(calls, before)

      isGood = true
      await Effect.runPromise(reset)
      assert.deepStrictEqual(await healthOf(origin), { status: 200, body: { status: "ok" } })
      assert.strictEqual((await ask(origin)).status, 200)
    })
  })
})
