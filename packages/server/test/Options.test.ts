import { Server } from "@divisi/server"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"

it("fails with a typed error for options that it does not have", async () => {
  const error = await Effect.runPromise(Effect.flip(Effect.scoped(Server.make({ pol: [] } as never))))
  expect(error._tag).toBe("OptionsError")
  expect(error.message).toContain('Did you mean "pool"?')
})
