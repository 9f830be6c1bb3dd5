/**
 * The differences between Windows and POSIX systems: process groups, signals, the shell and file modes. `platform` is a
 * parameter, so that the behavior on Windows is tested on any machine.
 */
import { spawnSync } from "node:child_process"

/** The system calls that differ between platforms. */
export interface Calls {
  readonly kill: (pid: number, signal: NodeJS.Signals | 0) => boolean
  readonly run: (program: string, args: ReadonlyArray<string>) => void
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
}

const calls: Calls = {
  kill: process.kill,
  run: (program, args) => void spawnSync(program, args, { stdio: "ignore" })
}

const posix = ({ kill }: Calls): Platform => ({
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
  }
})

/** Returns the behavior of a platform. */
export const of = (platform: NodeJS.Platform, using: Calls = calls): Platform =>
  platform === "win32" ? windows(using) : posix(using)

/** The platform of this process. */
export const current = of(process.platform)
