/** Running other programs in a check. */
import { spawn } from "node:child_process"

/** How a program ended and what it printed. */
export interface Finished {
  readonly code: number
  /** Both outputs as they came in. They come through two pipes: of a line on each, either may be first. */
  readonly output: string
  /** Standard output alone. */
  readonly stdout: string
}

/** This process's environment without what the npm that started it has set: a nested one is to find its own way. */
const environment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(?!execpath$)/i.test(name)))

/** Longer than any command of the checks takes on a slow machine. */
const limitMinutes = 30

/** How long output may still come after a program has ended. */
const lastWordsMillis = 5_000

/**
 * Runs a program to its end without standard input.
 *
 * The program is the first of a group of its own. What it leaves running is ended with it: a process that holds the
 * output open would be waited for without end.
 */
export const run = (
  command: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> | undefined }
): Promise<Finished> =>
  new Promise((resolve) => {
    const [program = "", ...args] = command
    let output = ""
    let stdout = ""
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
        // Nothing is left running.
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
      resolve({ code, output, stdout })
    }
    child.on("error", (error) => {
      output += `${error.message}\n`
      finish(127)
    })
    child.on("exit", (code, signal) => {
      if (signal !== null) output += `(${signal})\n`
      // Not every process that holds the output is of the group.
      afterwards = setTimeout(() => finish(code ?? 1), lastWordsMillis)
    })
    child.on("close", (code) => finish(code ?? 1))
  })
