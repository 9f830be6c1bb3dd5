/**
 * The differences between Windows and POSIX systems: process groups, signals, the shell and file modes. `platform` is a
 * parameter, so that the behavior on Windows is tested on any machine.
 */
import { spawnSync } from "node:child_process"
import fs from "node:fs"

/** The system calls that differ between platforms. */
export interface Calls {
  readonly kill: (pid: number, signal: NodeJS.Signals | 0) => boolean
  readonly run: (program: string, args: ReadonlyArray<string>) => void
}

/** A process outside the group of the leader that started it. The start time distinguishes it if its id is reused. */
export interface Stray {
  readonly pid: number
  readonly startedAt: string | undefined
}

/** How a platform starts and ends groups of processes, and whether it protects files. */
export interface Platform {
  /** Whether processes belong to groups. If not, only the tree of child processes is known. */
  readonly hasGroups: boolean
  /** Whether files have modes. On Windows they do not, but other users cannot access the folders of a user there. */
  readonly hasModes: boolean
  /** Options for starting the leader of a group. */
  readonly leader: { readonly detached: boolean; readonly windowsHide: boolean }
  /** Returns how to start a command in the user's shell. */
  readonly inShell: (command: string) => { readonly line: ReadonlyArray<string>; readonly shell: boolean }
  /** Sends a signal to all members of a group, or checks with 0 whether there are any. Returns whether there are. */
  readonly signal: (pid: number, signal: NodeJS.Signals | 0) => boolean
  /**
   * Returns the processes that have left a leader's group, but not its session, as under `timeout` or job control, and
   * those that have left the session, but still descend from the leader. Only Linux lists them.
   */
  readonly strays: (leader: number) => ReadonlyArray<Stray>
  /** Sends a signal to a stray, or checks with 0 whether it is running. Returns whether it is. */
  readonly signalStray: (stray: Stray, signal: NodeJS.Signals | 0) => boolean
}

const calls: Calls = {
  kill: process.kill,
  run: (program, args) => void spawnSync(program, args, { stdio: "ignore" })
}

/** Returns a process with its relatives, or `undefined` if it has ended. */
const processOf = (pid: number) => {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, "latin1")
    // The name in parentheses may contain any character.
    const [state, parent, group, session, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ")
    if (state === "Z") return undefined
    return { pid, parent: Number(parent), group: Number(group), session: Number(session), startedAt: rest[15] }
  } catch {
    return undefined
  }
}

const straysOf = (leader: number): ReadonlyArray<Stray> => {
  const all = fs.readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (processOf(Number(name)) ?? []) : []))
  const members = new Set([leader])
  for (let before = 0; members.size > before; ) {
    before = members.size
    for (const { parent, pid, session } of all) if (session === leader || members.has(parent)) members.add(pid)
  }
  return all.filter(({ group, pid }) => group !== leader && members.has(pid))
}

const posix = ({ kill }: Calls, isLinux: boolean): Platform => ({
  hasGroups: true,
  hasModes: true,
  leader: { detached: true, windowsHide: true },
  inShell: (command) => ({ line: ["/bin/sh", "-c", command], shell: false }),
  signal: (pid, signal) => {
    try {
      return kill(-pid, signal)
    } catch (error) {
      // Members that belong to another user cannot be signalled, but they exist.
      return (error as NodeJS.ErrnoException).code === "EPERM"
    }
  },
  strays: isLinux ? straysOf : () => [],
  signalStray: ({ pid, startedAt }, signal) => {
    if (processOf(pid)?.startedAt !== startedAt) return false
    try {
      return kill(pid, signal)
    } catch {
      return false
    }
  }
})

/** Windows cannot deliver signals to other processes: any signal ends the tree of processes immediately. */
const windows = ({ run }: Calls): Platform => ({
  hasGroups: false,
  hasModes: false,
  leader: { detached: false, windowsHide: true },
  inShell: (command) => ({ line: [command], shell: true }),
  signal: (pid, signal) => {
    if (signal !== 0) run("taskkill", ["/pid", String(pid), "/T", "/F"])
    return signal === 0
  },
  strays: () => [],
  signalStray: () => false
})

/** Returns the behavior of a platform. */
export const of = (platform: NodeJS.Platform, using: Calls = calls): Platform =>
  platform === "win32" ? windows(using) : posix(using, platform === "linux")

/** The platform of this process. */
export const current = of(process.platform)
