/** Runs other programs for a check. */
import { spawn } from "node:child_process"
import fs from "node:fs"

/** Exit code and output of a program. */
export interface Finished {
  readonly code: number
  /**
   * Output of both streams in the order of arrival. They use separate pipes, so the order of simultaneous lines is
   * undefined.
   */
  readonly output: string
  /** Standard output only. */
  readonly stdout: string
  /** CPU time of the program and of the processes it waited for, in seconds. 0 if the system does not report it. */
  readonly cpuSeconds: number
}

/** Returns the CPU time of all ended child processes of this process in seconds, or 0 on systems other than Linux. */
export const cpuOfChildren = (): number => {
  if (process.platform !== "linux") return 0
  const [, fields = ""] = fs.readFileSync("/proc/self/stat", "utf8").split(") ")
  const [user, system] = fields.split(" ").slice(13, 15)
  // Linux counts in hundredths of a second.
  return (Number(user) + Number(system)) / 100
}

/** {@link cpuOfChildren} at the end of the last program. */
let counted = 0

/** Returns this process's environment without the variables set by npm, which would affect a nested npm. */
const environment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(?!execpath$)/i.test(name)))

/** Time limit in minutes. Longer than any command takes on a slow machine. */
const limitMinutes = 50

/** How long output may arrive after a program has exited, in milliseconds. */
const lastWordsMillis = 5_000

/**
 * Runs a program to completion, without standard input.
 *
 * The program starts a new process group. Remaining processes in the group are stopped with it, because a process that
 * keeps the output open would block forever.
 */
export const run = (
  command: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> | undefined }
): Promise<Finished> =>
  new Promise((resolve) => {
    const [program = "", ...args] = command
    let output = ""
    let stdout = ""
    let cpuSeconds = 0
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: { ...environment(), ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
      detached: process.platform !== "win32"
    })
    const endAll = () => {
      try {
        if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, "SIGKILL")
        else child.kill("SIGKILL")
      } catch {
        // No process is left.
      }
    }
    const limit = setTimeout(() => {
      output += `(It did not end within ${limitMinutes} minutes, and was ended.)\n`
      endAll()
    }, limitMinutes * 60_000)
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text
      stdout += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text
    })
    let afterwards: NodeJS.Timeout | undefined
    const finish = (code: number) => {
      clearTimeout(limit)
      clearTimeout(afterwards)
      endAll()
      child.stdout.destroy()
      child.stderr.destroy()
      resolve({ code, output, stdout, cpuSeconds })
    }
    child.on("error", (error) => {
      output += `${error.message}\n`
      finish(127)
    })
    child.on("exit", (code, signal) => {
      const all = cpuOfChildren()
      cpuSeconds = all - counted
      counted = all
      if (signal !== null) output += `(${signal})\n`
      // A process that keeps the output open may belong to another group.
      afterwards = setTimeout(() => finish(code ?? 1), lastWordsMillis)
    })
    child.on("close", (code) => finish(code ?? 1))
  })
