/** The engine keeps the contract of engines. */
import { afterAll, describe, it } from "@effect/vitest"
import * as EngineContract from "@tutti/trainer/EngineContract"
import * as JaxEngine from "@tutti/trainer-jax/JaxEngine"
import { make } from "./model.ts"

const { config, tokenizer } = make({ contextLength: 192 })

EngineContract.contract({
  name: "JaxEngine",
  make: JaxEngine.make({ config, tokenizer, seed: 3, threads: 1 }),
  describe,
  it,
  afterAll
})
