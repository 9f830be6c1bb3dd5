/** What no program does to a sandbox, nor through it: some 120 attempts, each in an interpreter of its own. */
import fs from "node:fs"
import { Sandbox } from "@divisi/graders"
import { BubblewrapSandbox, PyodideSandbox } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { hasBubblewrap } from "./atHand.ts"
import { contract, walls } from "./sandboxContract.ts"

const scope = Scope.makeUnsafe()
const open = <A, E>(make: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.provide(make, scope))
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

let pyodide: Sandbox.Sandbox
beforeAll(async () => {
  pyodide = await open(PyodideSandbox.make())
})
const subject = { sandbox: () => pyodide, hasWalls: true, hasProcesses: false }
contract("pyodide", subject)
walls("pyodide", subject)

describe("pyodide", () => {
  const run = (code: string) => Effect.runPromise(Sandbox.run(pyodide, { code, limits: { wallMillis: 60_000 } }))

  it("lets JavaScript that is reached through the interpreter's own memory do nothing", async () => {
    // Digs the builtin function out of its wrapper, which a program can do.
    const dig = `
import _imp, importlib.machinery
create = [c.cell_contents for c in _imp.create_builtin.__closure__ if callable(c.cell_contents)][0]
core = create(importlib.machinery.ModuleSpec('_pyodide_core', None))
Function = core.to_js([1]).constructor.constructor
`
    const attempts = [
      "print('reached', Function('return process')())",
      "print('reached', Function.constructor('return import(\"node:fs\")')())",
      "print('reached', Function.prototype.constructor.call(None, 'return globalThis')())"
    ]
    for (const attempt of attempts) {
      const execution = await run(dig + attempt)
      assert.isFalse(Sandbox.isClean(execution))
      assert.notInclude(execution.type === "finished" ? execution.stdout : "", "reached")
    }
    assert.isTrue(Sandbox.isClean(await run("print(1)")))
  })

  it("is interrupted at once, and goes on", async () => {
    const endless = Sandbox.run(pyodide, { code: "while True: pass", limits: { wallMillis: 600_000 } })
    const exit = await Effect.runPromise(Effect.exit(Effect.timeout(endless, "1 second")))
    assert.isTrue(Exit.isFailure(exit))
    assert.isTrue(Sandbox.isClean(await run("print(1)")))
  })
})

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
