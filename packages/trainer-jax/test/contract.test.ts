/** The engine keeps the contract of engines. */

import { EngineContract } from "@divisi/testkit/engines"
import * as JaxEngine from "@divisi/trainer-jax/JaxEngine"
import { afterAll, describe, it } from "@effect/vitest"
import { make } from "./model.ts"

const { config, tokenizer } = make({ contextLength: 192 })

EngineContract.contract({
  name: "JaxEngine",
  make: JaxEngine.make({ config, tokenizer, seed: 3, threads: 1 }),
  describe,
  it,
  afterAll
})
