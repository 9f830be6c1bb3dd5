import { spawn } from "node:child_process"
import path from "node:path"
import * as ProcessGroup from "@divisi/files/ProcessGroup"
import { assert, describe, it } from "@effect/vitest"

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Waits until none of the processes is there. */
const gone = async (pids: ReadonlyArray<number>) => {
  while (pids.some(isRunning)) await new Promise((resolve) => setTimeout(resolve, 20))
}

const numbers = (text: string) => text.trim().split(/\s+/).map(Number)

describe.skipIf(process.platform === "win32")("a group", () => {
  for (const how of ["exit", "throw", "stop", "SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const) {
    it(`ends whole with its owner: ${how}`, { timeout: 20_000 }, async () => {
      const fixture = path.join(import.meta.dirname, "fixtures/groupOwner.ts")
      const owner = spawn(process.execPath, ["--conditions=@divisi/source", fixture, how], {
        stdio: ["ignore", "pipe", "ignore"]
      })
      const ended = new Promise((resolve) => owner.once("exit", resolve))
      const pids = await new Promise<ReadonlyArray<number>>((resolve) => {
        owner.stdout.setEncoding("utf8").once("data", (text: string) => resolve(numbers(text)))
      })
      assert.strictEqual(pids.length, process.platform === "linux" ? 4 : 3)
      if (how.startsWith("SIG")) owner.kill(how as NodeJS.Signals)
      await ended
      await gone(pids)
    })
  }

  it("ends with an owner that is killed while it starts the program", { timeout: 20_000 }, async () => {
    const fixture = path.join(import.meta.dirname, "fixtures/groupOwner.ts")
    const owner = spawn(process.execPath, ["--conditions=@divisi/source", fixture, "killed by its program"], {
      stdio: ["ignore", "pipe", "ignore"]
    })
    let printed = ""
    owner.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text
    })
    await new Promise((resolve) => owner.once("close", resolve))
    assert.lengthOf(numbers(printed), 1)
    await gone(numbers(printed))
  })

  it("that cannot be started has the error of the system", async () => {
    for (const [command, cwd, code] of [
      ["no-such-program", ".", "ENOENT"],
      ["./no-such-program", ".", "ENOENT"],
      ["sh", "no-such-folder", "ENOENT"],
      [import.meta.dirname, ".", "EACCES"]
    ] as const) {
      const child = ProcessGroup.start([command, "-c", "exit"], { cwd, stdio: "ignore" })
      const error = await new Promise<NodeJS.ErrnoException>((resolve) => child.once("error", resolve))
      assert.strictEqual(error.code, code, command)
    }
  })
})

describe.skipIf(process.platform === "win32")("a command", () => {
  it("ends with its shell: neither its children nor their pipes are waited for", async () => {
    const left = await ProcessGroup.run("sleep 600 & echo $!; exit 0")
    assert.deepStrictEqual([left.code, left.isTimedOut], [0, false])
    await gone(numbers(left.output))
    // This one has left the group, with the pipes.
    const escaped = await ProcessGroup.run("setsid sh -c 'echo $$; exec sleep 600' & sleep 0.3; exit 4")
    assert.strictEqual(escaped.code, 4)
    for (const pid of numbers(escaped.output)) process.kill(pid, "SIGKILL")
  })

  it("is stopped after its time, and as it is aborted, with all that it has started", async () => {
    const slow = await ProcessGroup.run("echo $$; sleep 600 & echo $!; wait", { timeoutMillis: 500 })
    assert.isTrue(slow.isTimedOut)
    await gone(numbers(slow.output))
    const aborted = new AbortController()
    const running = ProcessGroup.run("sleep 600", { signal: aborted.signal })
    aborted.abort(new Error("no longer wanted"))
    const reason = await running.catch((error: Error) => error.message)
    assert.strictEqual(reason, "no longer wanted")
    const never = await ProcessGroup.run("echo ran", { signal: aborted.signal }).catch((error: Error) => error.message)
    assert.strictEqual(never, "no longer wanted")
  })

  it.skipIf(process.platform !== "linux")("is stopped with members of other groups and sessions", async () => {
    const member = `sh -c 'echo $$; exec sleep 600'`
    for (const command of [`timeout 600 ${member}`, `setsid ${member}`, `timeout 600 setsid ${member}`]) {
      const child = ProcessGroup.start(["sh", "-c", `${command}; echo no`], { stdio: ["ignore", "pipe", "ignore"] })
      const printed = await new Promise<string>((resolve) => child.stdout!.setEncoding("utf8").once("data", resolve))
      await ProcessGroup.stop(child)
      await gone(numbers(printed))
    }
    // This shell ends by itself.
    const { output } = await ProcessGroup.run(`timeout 600 ${member} & sleep 0.3; exit 0`)
    await gone(numbers(output))
  })

  it("is given its input, need not read it, and keeps the end of what it prints", async () => {
    assert.strictEqual((await ProcessGroup.run("cat", { input: "words" })).output, "words")
    assert.strictEqual((await ProcessGroup.run("exit 3", { input: "x".repeat(1_000_000) })).code, 3)
    const flood = await ProcessGroup.run("yes | head -c 3000000; echo end", { maxCharacters: 10 })
    assert.strictEqual(flood.output, "y\ny\ny\nend\n".slice(-10))
    assert.strictEqual((await ProcessGroup.run("kill -9 $$")).signal, "SIGKILL")
  })
})
