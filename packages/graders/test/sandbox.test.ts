import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Sandbox } from "@divisi/graders"
import {
  BubblewrapSandbox,
  ContainerSandbox,
  LocalPythonSandbox,
  PyodideSandbox,
  Sandboxes
} from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { can } from "./atHand.ts"
import { folder } from "./folder.ts"

// Every program gets a process, which takes a while on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const scope = Scope.makeUnsafe()
const open = <A, E>(make: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.provide(make, scope))

let pyodide: Sandbox.Sandbox
beforeAll(async () => {
  pyodide = await open(PyodideSandbox.make())
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const run = (code: string) => Effect.runPromise(Sandbox.run(pyodide, { code, limits: { wallMillis: 60_000 } }))

describe("pyodide", () => {
  it("runs a program on its input, and gives what it prints and how it ends", async () => {
    const code = "import sys\nprint(input()[::-1])\nprint('oh', file=sys.stderr)\nsys.exit(3)"
    const execution = await Effect.runPromise(Sandbox.run(pyodide, { code, inputs: ["abc"] }))
    assert.deepInclude(execution, { type: "finished", stdout: "cba\n", stderr: "oh\n", exitCode: 3 })
  })

  it("keeps JavaScript from programs", async () => {
    const names = ["js", "pyodide", "pyodide.code", "pyodide_js", "_pyodide_core", "pyodide.ffi", "ctypes"]
    const tries = names.map((name) => `try:\n  import ${name}\n  print("${name}")\nexcept ModuleNotFoundError: pass`)
    assert.deepInclude(await run(`${tries.join("\n")}\nprint("none")`), { stdout: "none\n", exitCode: 0 })
    assert.include(Sandbox.describe(await run("import js")), "ModuleNotFoundError")
  })

  it("runs a thread to its end where it starts, and sleeps", async () => {
    const execution = await run(
      "import threading, time\ndef main():\n  time.sleep(0.01)\n  print('main')\nt = threading.Thread(target=main)\nt.start()\nt.join()\nprint(t.is_alive())"
    )
    assert.deepInclude(execution, { stdout: "main\nFalse\n" })
  })

  it("says what to install when it is not there", async () => {
    const error = await Effect.runPromise(Effect.flip(Effect.scoped(PyodideSandbox.make({ folder: os.tmpdir() }))))
    assert.strictEqual(error.reason, "missing")
    assert.include(error.message, "npm install pyodide")
  })
})

describe("local python", () => {
  it.skipIf(!can("python3", "--version"))("runs programs, and is named unsafe (needs python3)", async () => {
    const sandbox = await open(LocalPythonSandbox.makeUnsafe())
    assert.include(sandbox.name, "unsafe")
    const execution = await Effect.runPromise(Sandbox.run(sandbox, { code: "print(input()[::-1])", inputs: ["abc"] }))
    assert.deepInclude(execution, { stdout: "cba\n" })
    const endless = { code: "while True: pass", limits: { wallMillis: 500 } }
    assert.strictEqual((await Effect.runPromise(Sandbox.run(sandbox, endless))).type, "timed-out")
  })

  it("gives an error, not an execution, when there is no interpreter", async () => {
    const error = await Effect.runPromise(Effect.flip(LocalPythonSandbox.makeUnsafe({ python: "no-such-python" })))
    assert.include(error.message, "Python was not found")
  })
})

describe("bubblewrap", () => {
  /** Stands for bubblewrap: builds no walls, and runs what it is to run. */
  const double = `#!/bin/sh
if [ "$1" = --version ]; then echo "bubblewrap of this test"; exit; fi
while [ "$1" != -- ]; do
  if [ "$3" = /program ]; then program=$2; fi
  shift
done
if [ "$3" = -c ]; then exec "$2" -c "$4"; fi
exec "$2" "$program/main.py"
`

  it.skipIf(!can("python3", "--version"))("runs where it was found, whatever the path says later", async () => {
    const before = process.env.PATH
    const place = folder()
    fs.writeFileSync(path.join(place, "bwrap"), double, { mode: 0o755 })
    let sandbox: Sandbox.Sandbox
    try {
      process.env.PATH = `${place}:${before}`
      sandbox = await open(BubblewrapSandbox.make())
    } finally {
      process.env.PATH = before
    }
    assert.include(sandbox.name, "bubblewrap of this test")
    assert.deepInclude(await Effect.runPromise(Sandbox.run(sandbox, { code: "print(1)" })), { stdout: "1\n" })
  })
})

describe("containers", () => {
  const image = `bigcodebench/bigcodebench-evaluate@sha256:${"0".repeat(64)}`

  it("have no network, no rights, and a limit on everything", () => {
    const limits = { wallMillis: 1000, memoryMegabytes: 512, outputBytes: 1000 }
    const line = ContainerSandbox.command({ image }, { id: "one", folder: "/f", work: "/w", limits }).join(" ")
    for (const part of [
      "--network none",
      "--read-only",
      "--cap-drop ALL",
      "--pull never",
      "--pids-limit 64",
      "--memory 512m --memory-swap 512m",
      "--user 65534:65534",
      "no-new-privileges",
      "source=/f,target=/program,readonly"
    ]) {
      assert.include(line, part)
    }
  })

  it("are refused when their image is not pinned", async () => {
    const error = await Effect.runPromise(Effect.flip(ContainerSandbox.make({ image: "python:3.12" })))
    assert.include(error.message, "not pinned")
  })

  it.skipIf(can("docker", "info") || can("podman", "info"))("say so when no engine answers", async () => {
    const error = await Effect.runPromise(Effect.flip(ContainerSandbox.make({ image })))
    assert.include(error.message, "neither docker nor podman responds")
  })
})

describe("sandboxes by name", () => {
  it("fail when they are used, not before", async () => {
    assert.isUndefined(Sandboxes.named("vibes"))
    const program = Effect.gen(function* () {
      const sandbox = yield* Sandboxes.named("container:python:3.12")!
      return yield* Effect.flip(Sandbox.run(sandbox, { code: "print(1)" }))
    })
    assert.include((await Effect.runPromise(Effect.scoped(program))).message, "not pinned")
  })
})
