import type { LocalTinkerServer } from "@divisi/testkit/engines"
import type { Engine } from "@divisi/trainer/Engine"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import type * as Dialect from "../src/Dialect.ts"
import * as TinkerClient from "../src/TinkerClient.ts"
import { connect, data, names, quick, serve, tokenizer } from "./world.ts"

type Fault = LocalTinkerServer.Fault

const adam = { learningRate: 0.1 }

/** Some steps, a sampler and a saved state. */
const train = (engine: Engine, steps: number) =>
  Effect.gen(function* () {
    for (let step = 0; step < steps; step++) {
      yield* engine.forwardBackward(data, { type: "clippedRatio", low: 0.2, high: 0.2 })
      yield* engine.step(adam)
      yield* Effect.scoped(
        Effect.flatMap(engine.sampler, (sampler) => sampler.sample({ prompt: [104], maxTokens: 3, seed: step }))
      )
    }
    return yield* engine.save(`after-${steps}`, "")
  })

const weightsOf = (engine: Engine) =>
  Effect.map(engine.forward(data), ({ logProbs }) => logProbs.map((one) => Array.from(one)))

const count = (server: LocalTinkerServer.LocalTinkerServer, call: string) =>
  server.carriedOut().filter((one) => one === call).length

/** Returns the result of training without any fault. */
const undisturbed = (name: Dialect.Name, steps: number) =>
  Effect.gen(function* () {
    const engine = yield* connect(yield* serve({ dialect: name }), { dialect: name })
    yield* train(engine, steps)
    return yield* weightsOf(engine)
  })

const faults: Readonly<Record<string, Fault>> = {
  "a request that is lost": { type: "drop-request" },
  "a reply that is lost": { type: "drop-reply" },
  "a 500 for what was not carried out": { type: "status", status: 500, body: "Internal Server Error" },
  "a 502 for what was carried out": { type: "status", status: 502, body: "<h1>Bad Gateway</h1>", carriedOut: true },
  "a 408 for what was carried out": { type: "status", status: 408, body: '{"detail":"Timeout"}', carriedOut: true },
  "a 429": { type: "status", status: 429, body: "", headers: { "retry-after-ms": "5" } },
  "a reply that is late": { type: "delay", millis: 30 }
}

describe("faults", () => {
  for (const name of names) {
    for (const [what, fault] of Object.entries(faults)) {
      it.live(`${name}: ${what}, once for each call, loses nothing and does nothing twice`, () =>
        Effect.gen(function* () {
          const server = yield* serve({
            dialect: name,
            // Each address once, and every fifth poll.
            fault: ({ count: before, path }) =>
              (path === "retrieve_future" ? before % 5 === 2 : before === 0) ? fault : undefined
          })
          const engine = yield* connect(server, { dialect: name })
          yield* train(engine, 3)
          assert.deepStrictEqual(yield* weightsOf(engine), yield* undisturbed(name, 3))
          assert.strictEqual(count(server, "optim_step"), 3 + (name === "skyrl-jax" ? 1 : 0))
          assert.strictEqual(count(server, "forward_backward"), 3)
        }).pipe(Effect.scoped)
      )
    }

    it.live(`${name}: a run through many faults of all kinds ends with the same weights`, () =>
      Effect.gen(function* () {
        const kinds = Object.values(faults)
        let seed = 7
        const draw = () => {
          seed = (seed * 48_271) % 2_147_483_647
          return seed
        }
        const server = yield* serve({
          dialect: name,
          fault: () => (draw() % 4 === 0 ? kinds[draw() % kinds.length] : undefined)
        })
        const engine = yield* connect(server, { dialect: name })
        yield* train(engine, 8)
        assert.deepStrictEqual(yield* weightsOf(engine), yield* undisturbed(name, 8))
      }).pipe(Effect.scoped)
    )

    it.live(`${name}: goes on from the last checkpoint after the server was restarted`, () =>
      Effect.gen(function* () {
        const server = yield* serve({ dialect: name })
        const engine = yield* connect(server, { dialect: name })
        const saved = yield* train(engine, 2)
        yield* engine.forwardBackward(data, { type: "crossEntropy" })
        yield* server.restart
        const error = yield* Effect.flip(engine.step(adam))
        assert.strictEqual(error.reason._tag, "Expired")
        yield* engine.load(saved, "")
        yield* train(engine, 2)
        assert.deepStrictEqual(yield* weightsOf(engine), yield* undisturbed(name, 4))
      }).pipe(Effect.scoped)
    )

    it.live(`${name}: resumes in another process, the model created by the load alone`, () =>
      Effect.gen(function* () {
        const server = yield* serve({ dialect: name })
        const saved = yield* Effect.scoped(
          Effect.flatMap(connect(server, { dialect: name }), (engine) => train(engine, 2))
        )
        const engine = yield* connect(server, { dialect: name })
        yield* engine.load(saved, "")
        const step = yield* Effect.andThen(engine.forwardBackward(data, { type: "crossEntropy" }), engine.step(adam))
        assert.strictEqual(step.version, 3)
      }).pipe(Effect.scoped)
    )
  }

  it.live("carries out a request once if it is sent again after a long time without an answer", () =>
    Effect.gen(function* () {
      let isSilent = false
      const server = yield* serve({
        fault: ({ path }) => (isSilent && path === "optim_step" ? { type: "drop-reply" } : undefined)
      })
      const engine = yield* connect(server, { retry: { ...quick, patienceMillis: 60 } })
      yield* engine.forwardBackward(data, { type: "crossEntropy" })
      isSilent = true
      const error = yield* Effect.flip(engine.step(adam))
      assert.strictEqual(error.reason._tag, "Unreachable")
      assert.isTrue(error.isRetryable)
      isSilent = false
      // Any other call would be based on unknown weights.
      const other = yield* Effect.flip(engine.step({ learningRate: 0.5 }))
      assert.strictEqual(other.reason._tag, "Expired")
      assert.strictEqual((yield* engine.step(adam)).version, 1)
      assert.strictEqual(count(server, "optim_step"), 1)
    }).pipe(Effect.scoped)
  )

  it.live("trains no more when a result never came, until a saved state is loaded", () =>
    Effect.gen(function* () {
      let isSilent = false
      const server = yield* serve({
        fault: ({ path }) => (isSilent && path === "retrieve_future" ? { type: "drop-reply" } : undefined)
      })
      const engine = yield* connect(server, { retry: { ...quick, patienceMillis: 60 } })
      const saved = yield* engine.save("start", "")
      isSilent = true
      yield* Effect.flip(engine.forwardBackward(data, { type: "crossEntropy" }))
      isSilent = false
      const error = yield* Effect.flip(engine.step(adam))
      assert.strictEqual(error.reason._tag, "Expired")
      assert.include(error.message, "Load the last saved state.")
      yield* engine.load(saved, "")
      yield* engine.forwardBackward(data, { type: "crossEntropy" })
      assert.strictEqual((yield* engine.step(adam)).version, 1)
    }).pipe(Effect.scoped)
  )

  it.live("sends to the end what was interrupted, and then trains no more until a saved state is loaded", () =>
    Effect.gen(function* () {
      let isSent = false
      const server = yield* serve({
        fault: ({ count: before, path }) => {
          if (path !== "forward_backward" || before > 0) return undefined
          isSent = true
          return { type: "delay", millis: 500 }
        }
      })
      const engine = yield* connect(server)
      const saved = yield* engine.save("start", "")
      const fiber = yield* Effect.forkChild(engine.forwardBackward(data, { type: "crossEntropy" }))
      while (!isSent) yield* Effect.sleep(5)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual((yield* Effect.flip(engine.step(adam))).reason._tag, "Expired")
      yield* engine.load(saved, "")
      yield* engine.forwardBackward(data, { type: "crossEntropy" })
      yield* engine.step(adam)
      assert.strictEqual(count(server, "forward_backward"), 2)
    }).pipe(Effect.scoped)
  )

  it.live("refuses a sampler of older weights where the server would turn the trained ones back", () =>
    Effect.gen(function* () {
      const server = yield* serve({ dialect: "skyrl-jax" })
      const engine = yield* connect(server, { dialect: "skyrl-jax" })
      const sampler = yield* engine.sampler
      yield* engine.forwardBackward(data, { type: "crossEntropy" })
      yield* engine.step(adam)
      const before = yield* weightsOf(engine)
      const error = yield* Effect.flip(sampler.sample({ prompt: [104], maxTokens: 2, seed: 1 }))
      assert.strictEqual(error.reason._tag, "Expired")
      assert.deepStrictEqual(yield* weightsOf(engine), before)
      assert.isUndefined(server.counts().asample)
    }).pipe(Effect.scoped)
  )

  it.live("the trap is real: a client that samples an old sampler there has its weights turned back", () =>
    Effect.gen(function* () {
      const server = yield* serve({ dialect: "skyrl-jax" })
      // A client that takes the server for one that keeps samplers.
      const engine = yield* connect(server, { dialect: "hosted" })
      const start = yield* weightsOf(engine)
      const sampler = yield* engine.sampler
      yield* engine.forwardBackward(data, { type: "crossEntropy" })
      yield* engine.step(adam)
      assert.notDeepEqual(yield* weightsOf(engine), start)
      yield* sampler.sample({ prompt: [104], maxTokens: 2, seed: 1 })
      assert.deepStrictEqual(yield* weightsOf(engine), start)
    }).pipe(Effect.scoped)
  )

  it.live("sends data in pieces, in order, and says when only some were taken", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const engine = yield* connect(server, { chunk: { data: 1 } })
      const whole = yield* connect(yield* serve())
      const loss = { type: "crossEntropy" } as const
      assert.deepStrictEqual(yield* engine.forwardBackward(data, loss), yield* whole.forwardBackward(data, loss))
      assert.strictEqual(server.counts().forward_backward, 3)
    }).pipe(Effect.scoped)
  )

  it.live("exchanges its key for a token, shows neither, and says when it is refused", () =>
    Effect.gen(function* () {
      const server = yield* serve({ apiKey: "tml-sesame-sesame-sesame", exchangesKeys: true })
      const apiKey = Redacted.make("tml-sesame-sesame-sesame")
      const engine = yield* connect(server, { apiKey })
      assert.strictEqual((yield* engine.step(adam)).version, 1)
      assert.strictEqual(server.counts()["auth/token"], 1)
      const wrong = yield* Effect.flip(connect(server, { apiKey: Redacted.make("tml-wrong-wrong-wrong-wrong") }))
      assert.strictEqual(wrong.reason._tag, "Authentication")
      assert.notInclude(wrong.message, "tml-wrong-wrong-wrong-wrong")
    }).pipe(Effect.scoped)
  )

  it.live("keeps a session alive, and frees the model's place when it closes", () =>
    Effect.gen(function* () {
      const server = yield* serve({ places: 1 })
      const beats = () => server.counts().session_heartbeat ?? 0
      const once = Effect.scoped(
        Effect.gen(function* () {
          const engine = yield* connect(server, { heartbeatMillis: 10 })
          yield* engine.step(adam)
          const before = beats()
          while (beats() < before + 2) yield* Effect.sleep(10)
        })
      )
      yield* once
      yield* once
      assert.isAbove(beats(), 2)
    }).pipe(Effect.scoped)
  )

  it.effect("refuses an address with a password or a query, and shows neither", () =>
    Effect.gen(function* () {
      for (const baseUrl of [
        "http://me:hunter2@127.0.0.1:9",
        "http://hunter2@127.0.0.1:9",
        "http://127.0.0.1:9/?key=hunter2",
        "me:hunter2@127.0.0.1:9"
      ]) {
        const { message, reason } = yield* Effect.flip(TinkerClient.make({ baseUrl, retry: quick }))
        assert.strictEqual(reason._tag, "UserMistake")
        assert.include(message, "the base URL (baseUrl)")
        assert.notInclude(message, "hunter2")
      }
    }).pipe(Effect.scoped)
  )

  it.live("validates what servers answer with silence", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const client = yield* TinkerClient.make({ baseUrl: server.url, retry: quick })
      const model = yield* client.createModel({ baseModel: "toy" })
      const sampler = yield* model.sampler
      const request = { prompt: tokenizer.encode("a"), maxTokens: 2, count: 0, seed: 1, temperature: 1, stop: [256] }
      const error = yield* Effect.flip(sampler.sample(request))
      assert.strictEqual(error.reason._tag, "UserMistake")
      assert.isUndefined(server.counts().asample)
    }).pipe(Effect.scoped)
  )
})
