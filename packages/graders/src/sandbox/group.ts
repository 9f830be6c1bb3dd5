/** Processes in groups of their own. A whole group ends at a kill, and when this process ends. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process"
import fs from "node:fs"

const running = new Set<ChildProcess>()

const killAll = () => {
  for (const child of running) kill(child)
}

/** Starts a command as the head of a new group. */
export const start = (command: ReadonlyArray<string>, options: SpawnOptions): ChildProcess => {
  const [file = "", ...rest] = command
  if (running.size === 0) process.on("exit", killAll)
  const child = spawn(file, rest, { ...options, detached: true })
  running.add(child)
  child.once("error", () => forget(child))
  child.once("exit", () => {
    // What is left of the group ends with its head: it would hold pipes open that somebody waits for.
    kill(child)
    forget(child)
  })
  return child
}

const forget = (child: ChildProcess) => {
  running.delete(child)
  if (running.size === 0) process.off("exit", killAll)
}

/** Kills a process and all that it started in its group; once it has ended, its number may be another's. */
export const kill = (child: ChildProcess): void => {
  if (child.pid === undefined || !running.has(child)) return
  try {
    process.kill(-child.pid, "SIGKILL")
  } catch {
    // Nobody of the group is left, or there are no groups here.
    child.kill("SIGKILL")
  }
}

/** The memory that a process holds, in bytes; `undefined` where the system does not tell. */
export const residentBytes = (child: ChildProcess): number | undefined => {
  try {
    const pages = fs.readFileSync(`/proc/${child.pid}/statm`, "utf8").split(" ")[1]
    return Number(pages) * 4096
  } catch {
    return undefined
  }
}
