/** A local server over toy engines, and engines that train there. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { LocalTinkerServer } from "@divisi/testkit/engines"
import type { Datum } from "@divisi/trainer/Engine"
import * as ToyEngine from "@divisi/trainer/ToyEngine"
import * as Effect from "effect/Effect"
import type * as Dialect from "../src/Dialect.ts"
import * as TinkerEngine from "../src/TinkerEngine.ts"

/** The toy that every test trains. */
export const toy = () => ToyEngine.make({ pieces: ["yes", "no"], noise: 0.5, seed: 3 })

export const tokenizer = ToyEngine.tokenizer(["yes", "no"])

/** A folder that is gone after the test. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-tinker-"))),
  (made) => Effect.sync(() => fs.rmSync(made, { recursive: true, force: true }))
)

/** Repetitions without waits worth the name. */
export const quick = { firstMillis: 5, mostMillis: 20, patienceMillis: 20_000 }

/** A server. */
export const serve = (options: Partial<LocalTinkerServer.Options> = {}) =>
  Effect.gen(function* () {
    return yield* LocalTinkerServer.make({
      engine: Effect.sync(toy),
      folder: yield* folder,
      baseModel: "toy",
      ...options
    })
  })

/** An engine of a server. */
export const connect = (server: { readonly url: string }, options: Partial<TinkerEngine.Options> = {}) =>
  TinkerEngine.make({ baseUrl: server.url, baseModel: "toy", tokenizer, retry: quick, ...options })

/** The three known servers. */
export const names: ReadonlyArray<Dialect.Name> = ["hosted", "skyrl-jax", "skyrl-fsdp"]

/** Data with weights, advantages and log-probabilities of all kinds. */
export const data: ReadonlyArray<Datum> = [
  { prompt: [104, 105], completion: [257, 256], weights: [0.25, 0.5], advantages: [1, 1], logProbs: [-2, -1.5] },
  {
    prompt: [104, 105],
    completion: [258, 65, 256],
    weights: [1, 0, 2],
    advantages: [-0.5, -0.5, -0.5],
    logProbs: [-3, -2, -1]
  },
  { prompt: [120], completion: [256], weights: [0.75], advantages: [2], logProbs: [-4] }
]

/** An adapter as SkyRL's JAX engine leaves it, for two layers of a tiny model of `@divisi/gguf`. */
export const adapterFolder = path.join(import.meta.dirname, "fixtures", "adapter")
