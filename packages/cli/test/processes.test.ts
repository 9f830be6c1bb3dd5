/** Child processes of a command line end with it: the commands of checks, and tool servers with their wrappers. */
import { spawn } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { command } from "./command.ts"
import { divisi, inFolder } from "./process.ts"

const server = path.join(import.meta.dirname, "fixtures/mcpServer.ts")

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 20))

const config = `
  import { worker } from "@divisi/core/promise"
  export default {
    pool: ["cheap", "strong"].map((id) => worker({ id, capabilities: { tools: true }, answer: () => id })),
    mcpServers: { wrapped: { command: "sh", args: ["server.sh"] } }
  }
`

/** A wrapper that stays with its server, as npx does, and a check's command that runs for long. */
const files = {
  "divisi.config.mjs": config,
  "server.sh": `echo $$ >> pids; sleep 600 & echo $! >> pids; "${process.execPath}" "${server}"; wait`,
  "check.sh": "echo $$ >> pids; sleep 600 & echo $! >> pids; wait"
}

describe.skipIf(process.platform === "win32")("the processes of a run", { concurrent: true }, () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const) {
    it(`end with it at ${signal}`, { timeout: 60_000 }, () =>
      inFolder(async (cwd) => {
        for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(cwd, name), text)
        const args = ["run", "Which?", "--policy", "checked:cheap+strong+command:sh check.sh"]
        const run = spawn(process.execPath, [...command, ...args], {
          cwd,
          stdio: "ignore"
        })
        const ended = new Promise((resolve) => run.once("exit", resolve))
        const pids = () => {
          const file = path.join(cwd, "pids")
          return fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim().split("\n").map(Number) : []
        }
        while (pids().length < 4) await soon()
        run.kill(signal)
        await ended
        while (pids().some(isRunning)) await soon()
      })
    )
  }

  it("end with it where they are left behind: a check is over once its command is", { timeout: 60_000 }, () =>
    inFolder(async (cwd) => {
      for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(cwd, name), text)
      const check = "command:sleep 600 & echo $! >> pids; exit 0"
      const { code, errors, output } = await divisi(["run", "Which?", "--policy", `checked:cheap+strong+${check}`], {
        cwd
      })
      assert.deepStrictEqual([code, output.trim()], [0, "cheap"], errors)
      const pids = fs.readFileSync(path.join(cwd, "pids"), "utf8").trim().split("\n").map(Number)
      assert.strictEqual(pids.length, 3)
      while (pids.some(isRunning)) await soon()
    })
  )
})
