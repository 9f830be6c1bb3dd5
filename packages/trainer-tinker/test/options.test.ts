import { TinkerClient } from "@divisi/trainer-tinker"
import * as TinkerEngine from "@divisi/trainer-tinker/TinkerEngine"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"

const messageOf = (effect: Effect.Effect<unknown, { readonly message: string }, never>) =>
  Effect.runPromise(Effect.map(Effect.flip(effect), ({ message }) => message))

it("refuses options that it does not have, and values out of range, before a server is asked", async () => {
  const client = (options: object) => messageOf(Effect.scoped(TinkerClient.make(options)))
  expect(await client({ timeoutMilis: 3 })).toContain('Did you mean "timeoutMillis"?')
  expect(await client({ retry: { firstMillis: -1 } })).toContain('"retry.firstMillis" must be a number of at least 0')
  const engine = (options: object) => messageOf(Effect.scoped(TinkerEngine.make(options as never)))
  const tokenizer = { render: () => [], encode: () => [], decode: () => "", endToken: 0 }
  expect(await engine({ baseModel: "a", tokenizer, lora: { rnak: 3 } })).toContain('Did you mean "lora.rank"?')
  expect(await engine({ tokenizer })).toContain('"baseModel" is missing')
})
