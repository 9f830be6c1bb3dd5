import { describe, expect, it } from "vitest"
import { check, findCalls } from "../checks/platforms.ts"

describe("platforms", () => {
  it("finds nothing in this workspace", () => expect(check()).toEqual({ passed: 1, problems: [] }))

  it.each([
    "process.kill(-pid, 0)",
    "spawn(program, { detached: true })",
    'import { spawn } from "node:child_process"',
    '} from "node:child_process"',
    "fs.chmodSync(file, 0o600)",
    "fs.writeFile(file, text, { mode: 0o600 })",
    "fs.symlinkSync(from, to)",
    'process.on("SIGUSR1", reload)',
    "for (const signal of signals) process.on(signal, stop)",
    "process.getuid()",
    'fs.readFileSync("/proc/self/stat")',
    'const folder = "/tmp/divisi"',
    "new URL(import.meta.url).pathname",
    "process.env.HOME",
    'process.env.PATH.split(":")',
    'spawnSync("npm", ["install"])'
  ])("reports %s", (line) =>
    expect(findCalls("packages/server/src/Server.ts", `const a = 1\n${line}\n`)).toMatchObject([{ line: 2 }])
  )

  it.each([
    'import type { ChildProcess } from "node:child_process"',
    "process.getuid?.()",
    "// process.kill(pid)",
    'name.split(":")',
    "child.kill()",
    "import(pathToFileURL(file).href)"
  ])("accepts %s", (line) => expect(findCalls("packages/server/src/Server.ts", line)).toEqual([]))

  it("accepts a call in a file of its rule", () =>
    expect(findCalls("packages/files/src/OwnerOnly.ts", "fs.chmodSync(file, mode)")).toEqual([]))
})
