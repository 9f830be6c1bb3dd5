import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/** A process that runs a file of `fixtures`. */
export interface Child {
  readonly process: ChildProcess
  /** Waits until it has printed a line that has this text. */
  readonly says: (text: string) => Promise<void>
  readonly ended: Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }>
  /** Kills it as a crash would, and waits until it is gone. */
  readonly kill: () => Promise<void>
}

export const start = (fixture: string, ...args: ReadonlyArray<string>): Child => startWith([], fixture, ...args)

/** With another command before it, e.g. `unshare`. Killing that has to kill the process, too. */
export const startWith = (before: ReadonlyArray<string>, fixture: string, ...args: ReadonlyArray<string>): Child => {
  const file = fileURLToPath(new URL(`fixtures/${fixture}`, import.meta.url))
  const [command = "", ...rest] = [...before, process.execPath, "--conditions=@divisi/source", file, ...args]
  const child = spawn(command, rest)
  let output = ""
  let errors = ""
  child.stdout.on("data", (piece: Buffer) => (output += piece))
  child.stderr.on("data", (piece: Buffer) => (errors += piece))
  const closed = once(child, "close")
  const ended = closed.then(([code]) => ({ code: code as number | null, output, errors }))
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => output.includes(text) && resolve()
      look()
      child.stdout.on("data", look)
      closed.then(() => reject(new Error(`It ended without "${text}": ${output}${errors}`)), reject)
    })
  const kill = async () => {
    child.kill("SIGKILL")
    await closed
  }
  return { process: child, says, ended, kill }
}
