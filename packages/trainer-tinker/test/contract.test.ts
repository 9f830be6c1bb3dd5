import type { LocalTinkerServer } from "@divisi/testkit/engines"
import { EngineContract } from "@divisi/testkit/engines"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, describe, it } from "vitest"
import type * as Dialect from "../src/Dialect.ts"
import { adapterFolder, connect, names, serve } from "./world.ts"

const cut = { "step/cut": "The server does not cut gradients, and no client can." }

/** The features that each server lacks. */
const gaps: Readonly<Record<Dialect.Name, EngineContract.Gaps>> = {
  hosted: {},
  "skyrl-jax": {
    ...cut,
    "sampler/snapshot": "The server would turn the trained weights back: a sampler refuses after a step."
  },
  "skyrl-fsdp": cut
}

for (const name of names) {
  for (const wire of ["json", "protobuf"] as const) {
    describe(`${name}, ${wire}`, () => {
      const scope = Effect.runSync(Scope.make())
      let server: LocalTinkerServer.LocalTinkerServer
      beforeAll(async () => {
        server = await Effect.runPromise(Scope.provide(serve({ dialect: name, adapter: adapterFolder }), scope))
      })
      afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
      EngineContract.contract({
        name: "tinker",
        gaps: gaps[name],
        make: Effect.suspend(() => connect(server, { dialect: name, wire })),
        describe,
        it,
        afterAll
      })
    })
  }
}
