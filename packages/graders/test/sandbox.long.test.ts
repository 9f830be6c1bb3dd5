/** What no program does to a sandbox, nor through it: some 120 attempts, each in an interpreter of its own. */
import fs from "node:fs"
import type * as Sandbox from "@divisi/graders/Sandbox"
import { BubblewrapSandbox, PyodideSandbox } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, describe } from "vitest"
import { hasBubblewrap } from "./atHand.ts"
import { contract, walls } from "./sandboxContract.ts"

const scope = Scope.makeUnsafe()
const open = <A, E>(make: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.provide(make, scope))
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

let pyodide: Sandbox.Sandbox
beforeAll(async () => {
  pyodide = await open(PyodideSandbox.make())
})
walls("pyodide", { sandbox: () => pyodide, hasWalls: true, hasProcesses: false })

describe.skipIf(!hasBubblewrap)("bubblewrap (needs bwrap, the right to make namespaces, and python3)", () => {
  let sandbox: Sandbox.Sandbox
  beforeAll(async () => {
    const python = fs.existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3"
    sandbox = await open(BubblewrapSandbox.make({ python }))
  })
  const subject = { sandbox: () => sandbox, hasWalls: true, hasProcesses: true }
  contract("bubblewrap", subject)
  walls("bubblewrap", subject)
})
