/** Results of checking a client, and a helper for running a client's program. */
import { spawn } from "node:child_process"

/** A single check and its result. */
export interface Check {
  readonly name: string
  readonly isPassed: boolean
  /** Why it failed, or what was measured. */
  readonly detail?: string | undefined
}

/** The checks of a client. */
export interface Report {
  readonly client: string
  readonly version: string
  readonly checks: ReadonlyArray<Check>
}

/** The result of a program. */
export interface Finished {
  readonly code: number
  readonly stdout: string
  /** Output of both streams, in the order of arrival. */
  readonly output: string
}

/** Runs a program without standard input, for a limited time. */
export const run = (
  [program, ...args]: readonly [string, ...ReadonlyArray<string>],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv | undefined; readonly seconds: number }
): Promise<Finished> =>
  new Promise((resolve) => {
    let stdout = ""
    let output = ""
    const { cwd, env, seconds } = options
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true
    })
    const stop = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
      } catch {
        // The whole process group has already exited.
      }
    }
    const limit = setTimeout(() => {
      output += `\n(stopped after ${seconds} s)`
      stop()
    }, seconds * 1_000)
    const end = (code: number) => {
      clearTimeout(limit)
      stop()
      resolve({ code, stdout, output })
    }
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
      output += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text
    })
    child.on("error", (error) => {
      output += error.message
      end(127)
    })
    child.on("close", (code) => end(code ?? 1))
  })

/** Returns a check that a program ended successfully. */
export const ended = (name: string, { code, output }: Finished, problem?: string | undefined): Check => ({
  name,
  isPassed: code === 0 && problem === undefined,
  detail:
    code === 0 && problem === undefined ? undefined : `${problem ?? ""} exit code ${code}\n${output.slice(-3_000)}`
})
