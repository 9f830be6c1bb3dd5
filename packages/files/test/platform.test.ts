import { assert, describe, it } from "@effect/vitest"
import * as Platform from "../src/internal/platform.ts"

/** The calls that a platform made. */
const recorded = (kill: Platform.Calls["kill"] = () => true) => {
  const made: Array<ReadonlyArray<unknown>> = []
  const using: Platform.Calls = {
    kill: (pid, signal) => {
      made.push(["kill", pid, signal])
      return kill(pid, signal)
    },
    run: (program, args) => void made.push([program, ...args])
  }
  return { made, using }
}

const failing = (code: string) => () => {
  throw Object.assign(new Error(code), { code })
}

describe("on Windows", () => {
  it("a group is ended as a tree of processes, whatever the signal", () => {
    const { made, using } = recorded(failing("ENOSYS"))
    const { signal } = Platform.of("win32", using)
    assert.deepStrictEqual([signal(7, "SIGTERM"), signal(7, "SIGKILL"), signal(7, 0)], [false, false, true])
    const ended = ["taskkill", "/pid", "7", "/T", "/F"]
    assert.deepStrictEqual(made, [ended, ended])
  })

  it("commands run in the shell that Node chooses, without a group, and files have no modes", () => {
    const { hasGroups, hasModes, inShell, leader } = Platform.of("win32")
    assert.deepStrictEqual([hasGroups, hasModes, leader.detached], [false, false, false])
    assert.deepStrictEqual(inShell("echo a b"), { line: ["echo a b"], shell: true })
  })
})

describe.each(["linux", "darwin"] as const)("on %s", (platform) => {
  it("a signal is sent to the whole group", () => {
    const { made, using } = recorded()
    assert.isTrue(Platform.of(platform, using).signal(7, "SIGTERM"))
    assert.deepStrictEqual(made, [["kill", -7, "SIGTERM"]])
  })

  it("a group of another user has members, one that has ended does not", () => {
    assert.isTrue(Platform.of(platform, recorded(failing("EPERM")).using).signal(7, 0))
    assert.isFalse(Platform.of(platform, recorded(failing("ESRCH")).using).signal(7, 0))
  })

  it("commands run in /bin/sh, as leaders of groups, and files have modes", () => {
    const { hasGroups, hasModes, inShell, leader } = Platform.of(platform)
    assert.deepStrictEqual([hasGroups, hasModes, leader.detached], [true, true, true])
    assert.deepStrictEqual(inShell("echo a b"), { line: ["/bin/sh", "-c", "echo a b"], shell: false })
  })
})
