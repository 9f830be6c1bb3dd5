/** Sandboxes whose processes are killed, and those whose owner is: nothing is left of them. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { Sandbox } from "@divisi/graders"
import { PyodideSandbox } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { assert, describe, it } from "vitest"
import { folder } from "./folder.ts"
import { gone, processesOf } from "./processes.ts"

/** How long a process has computed, in clock ticks of 10 ms. */
const ticksOf = (id: string) => {
  const fields = fs.readFileSync(`/proc/${id}/stat`, "utf8").split(") ").at(-1)!.split(" ")
  return Number(fields[11]) + Number(fields[12])
}

describe("pyodide", () => {
  it("ends with its scope: its processes and its folder", async () => {
    const before = process.env.TMPDIR
    const temporary = folder()
    try {
      process.env.TMPDIR = temporary
      const program = Effect.gen(function* () {
        const sandbox = yield* PyodideSandbox.make({ processes: 2 })
        yield* Sandbox.run(sandbox, { code: "print(1)" })
        assert.lengthOf(fs.readdirSync(temporary), 1)
      })
      await Effect.runPromise(Effect.scoped(program))
    } finally {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    }
    assert.isEmpty(fs.readdirSync(temporary))
    await gone(temporary)
  })

  it.skipIf(process.platform !== "linux")("fails when its process is killed by others, and goes on", async () => {
    const before = process.env.TMPDIR
    const temporary = folder()
    process.env.TMPDIR = temporary
    try {
      const program = Effect.gen(function* () {
        const sandbox = yield* PyodideSandbox.make()
        const endless = Sandbox.run(sandbox, { code: "while True: pass", limits: { wallMillis: 600_000 } })
        const fiber = yield* Effect.forkChild(endless)
        // The spare process is killed as well, which must not be put down to the next program.
        const found = () =>
          processesOf(temporary).filter((id) =>
            fs.readFileSync(`/proc/${id}/cmdline`, "utf8").startsWith(process.execPath)
          )
        while (found().length < 2) yield* Effect.promise(() => setTimeout(100))
        const heads = found()
        // To start takes about one second of computing: a process that has had three runs the program.
        while (!heads.some((id) => ticksOf(id) > 300)) yield* Effect.promise(() => setTimeout(100))
        for (const id of heads) process.kill(Number(id), "SIGKILL")
        assert.lengthOf(heads, 2)
        const error = yield* Effect.flip(Fiber.join(fiber))
        assert.include(error.message, "killed from outside")
        assert.isTrue(Sandbox.isClean(yield* Sandbox.run(sandbox, { code: "print(1)" })))
      })
      await Effect.runPromise(Effect.scoped(program))
    } finally {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    }
  })

  it.skipIf(process.platform !== "linux")("ends with whoever started it, even when that is killed", async () => {
    const source = `
      import { PyodideSandbox } from "@divisi/graders/sandboxes"
      import * as Effect from "effect/Effect"
      const run = Effect.flatMap(PyodideSandbox.make(), (sandbox) => {
        setTimeout(() => console.log("running"), 2000)
        return sandbox.run({ code: "while True: pass", limits: { wallMillis: 600_000 } })
      })
      await Effect.runPromise(Effect.scoped(run))`
    const temporary = folder()
    const child = spawn(process.execPath, ["--conditions=@divisi/source", "--input-type=module", "-e", source], {
      cwd: path.join(import.meta.dirname, ".."),
      env: { ...process.env, TMPDIR: temporary },
      stdio: ["ignore", "pipe", "inherit"]
    })
    await once(child.stdout, "data")
    assert.isNotEmpty(processesOf(temporary))
    child.kill("SIGKILL")
    await gone(temporary)
  })
})
