/**
 * Starts programs as leaders of process groups, so that they and all of their child processes can be stopped together.
 *
 * A group ends as a whole: if it is stopped, if its leader ends, or if this process ends, even by `kill -9`. On Linux,
 * members that have left the group end with it, too, unless they have left the session and outlive their parents, as
 * daemons do. On Windows, which has no process groups, `taskkill /T` ends the tree of processes.
 */
import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type SpawnOptions,
  type StdioOptions,
  spawn
} from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { Options as Tables } from "@divisi/core"
import * as Platform from "./internal/platform.ts"

const { hasGroups, inShell, leader, signal: signalGroup, signalStray, strays } = Platform.current

/** Time between SIGTERM and SIGKILL, in milliseconds. */
const defaultGraceMillis = 2_000

/**
 * How long output may stay open after the leader has ended, in milliseconds. A child process may have left the group.
 */
const outputMillis = 1_000

/** Process groups that may have members. */
const running = new Set<ChildProcess>()

/** Groups that received SIGTERM and whose members have time to exit. */
const stopping = new WeakSet<ChildProcess>()

// -------------------------------------------------------------------------------------------------------------------
// The guard
// -------------------------------------------------------------------------------------------------------------------

/**
 * Reads the groups that begin and end; when the pipe ends, this process has ended, and its groups are ended. Members of
 * their sessions in other groups are found by the sixth field of /proc/PID/stat.
 */
const guardScript = `
g=' '
end() {
  for f in /proc/[0-9]*/stat; do
    { read -r line < "$f"; } 2>/dev/null || continue
    set -- "$1" \${line##*) }
    case "$g" in *" $5 "*) f=\${f#/proc/}; kill -"$1" "\${f%/stat}" ;; esac
  done
  for id in $g; do kill -"$1" -$id; done
}
while read -r what id; do
  case $what in
    +) case "$g" in *" $id "*) ;; *) g="$g$id " ;; esac ;;
    -) g="\${g%% $id *} \${g#* $id }" ;;
  esac
done
[ "$g" = ' ' ] && exit
end TERM
sleep ${defaultGraceMillis / 1000}
end KILL
`

let guard: ChildProcess | undefined

/** One guard process for all groups. It outlives this process by at most the grace period. */
const startGuard = (): ChildProcess => {
  const child = spawn("/bin/sh", ["-c", guardScript], { detached: true, stdio: ["pipe", "ignore", "ignore"], cwd: "/" })
  child.on("error", () => {})
  child.stdin!.on("error", () => {})
  child.unref()
  ;(child.stdin as unknown as { unref?: () => void }).unref?.()
  return child
}

const tellGuard = (what: "+" | "-", { pid }: ChildProcess): void => {
  if (!hasGroups) return
  guard ??= startGuard()
  guard.stdin!.write(`${what} ${pid}\n`)
}

const isExecutable = (file: string): boolean => {
  try {
    fs.accessSync(file, fs.constants.X_OK)
    return fs.statSync(file).isFile()
  } catch {
    return false
  }
}

const isFound = (file: string, { cwd = ".", env = process.env }: SpawnOptions): boolean => {
  const folder = typeof cwd === "string" ? cwd : fileURLToPath(cwd)
  if (!fs.existsSync(folder)) return false
  if (file.includes("/")) return isExecutable(path.resolve(folder, file))
  return env.PATH?.split(":").some((place) => isExecutable(path.resolve(folder, place, file))) === true
}

const threeOf = (stdio: StdioOptions = "pipe"): Extract<StdioOptions, ReadonlyArray<unknown>> =>
  typeof stdio === "string" ? [stdio, stdio, stdio] : [...stdio]

/**
 * Adds its number to the guard's groups and becomes the program, so that no kill of this process comes between the
 * start of a program and its registration. The parentheses contain the SIGPIPE of a guard that has ended.
 */
const registerThenRun = (fd: number) => `(echo "+ $$" >&${fd}) 2>/dev/null; exec "$0" "$@" ${fd}>&-`

/** Starts the leader of a group. A program that cannot be started is passed to `spawn`, which reports the error. */
const spawnHead = (file: string, args: ReadonlyArray<string>, options: SpawnOptions): ChildProcess => {
  const stdio = threeOf(options.stdio)
  const fd = stdio.length
  // A shell knows descriptors of one digit, and Bun cannot hand on a stream.
  const registers = fd < 10 && process.versions.bun === undefined && isExecutable("/bin/sh")
  if (!registers || !isFound(file, options)) return spawn(file, args, { ...options, ...leader })
  guard ??= startGuard()
  return spawn("/bin/sh", ["-c", registerThenRun(fd), file, ...args], {
    ...options,
    ...leader,
    stdio: [...stdio, guard.stdin!]
  })
}

let isHooked = false

const killAllAtExit = (): void => {
  if (isHooked) return
  isHooked = true
  process.on("exit", () => {
    for (const group of running) kill(group)
    guard?.kill("SIGKILL")
  })
}

// -------------------------------------------------------------------------------------------------------------------
// Groups
// -------------------------------------------------------------------------------------------------------------------

/** Starts a command as the leader of a new group. On Windows, `spawnOnWindows` replaces Node's `spawn`. */
export const start = (
  [file = "", ...args]: ReadonlyArray<string>,
  options: SpawnOptions,
  spawnOnWindows: (file: string, args: Array<string>, options: SpawnOptions) => ChildProcess = spawn
): ChildProcess => {
  const child = hasGroups ? spawnHead(file, args, options) : spawnOnWindows(file, args, { ...options, ...leader })
  if (child.pid === undefined) return child
  running.add(child)
  killAllAtExit()
  // Again, for a program that did not register itself.
  tellGuard("+", child)
  child.once("exit", () => {
    if (!stopping.has(child)) kill(child)
    forget(child)
  })
  return child
}

const forget = (child: ChildProcess): void => {
  if (stopping.has(child) || !running.delete(child)) return
  tellGuard("-", child)
}

/** Sends a signal to all members. Returns whether there are any. */
const send = ({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean => signalGroup(pid!, signal)

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

/** Kills a group immediately. Does nothing if the group has ended, because its id may have been reused. */
export const kill = (child: ChildProcess): void => {
  if (child.pid === undefined || !running.has(child)) return
  const descendants = hasEnded(child) ? [] : strays(child.pid)
  if (!send(child, "SIGKILL")) child.kill("SIGKILL")
  // A member may have left the group just before the signal.
  for (const stray of [...descendants, ...strays(child.pid)]) signalStray(stray, "SIGKILL")
}

const wait = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Waits until a process has exited, up to a time limit. Returns whether it has exited. */
export const ended = (child: ChildProcess, millis: number): Promise<boolean> =>
  new Promise((resolve) => {
    if (child.pid === undefined || hasEnded(child)) return resolve(true)
    const timer = setTimeout(() => resolve(false), millis)
    child.once("exit", () => {
      clearTimeout(timer)
      resolve(true)
    })
  })

/** Stops a group: sends SIGTERM to all members, and SIGKILL after a grace period. Default: 2,000 ms. */
export const stop = async (child: ChildProcess, graceMillis: number = defaultGraceMillis): Promise<void> => {
  if (child.pid === undefined || !running.has(child)) return
  const left = strays(child.pid)
  if (!stopping.has(child)) {
    stopping.add(child)
    send(child, "SIGTERM")
    for (const stray of left) signalStray(stray, "SIGTERM")
  }
  const deadline = performance.now() + graceMillis
  await ended(child, graceMillis)
  const isRunning = () => send(child, 0) || left.some((stray) => signalStray(stray, 0))
  while (hasGroups && performance.now() < deadline && isRunning()) await wait(10)
  kill(child)
  for (const stray of left) signalStray(stray, "SIGKILL")
  stopping.delete(child)
  if (await ended(child, outputMillis)) forget(child)
}

// -------------------------------------------------------------------------------------------------------------------
// Commands
// -------------------------------------------------------------------------------------------------------------------

/** Options for running a command. */
export interface CommandOptions {
  /** Text to write to standard input. Default: empty. */
  readonly input?: string | undefined
  readonly cwd?: string | undefined
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Stops the command when the signal is aborted. The promise is then rejected with the abort reason. */
  readonly signal?: AbortSignal | undefined
  /** Timeout in milliseconds. Default: unlimited. */
  readonly timeoutMillis?: number | undefined
  /** Number of characters to retain from the end of the output. Default: 16,000. */
  readonly maxCharacters?: number | undefined
}

const commandTable = {
  input: Tables.text,
  cwd: Tables.name,
  env: Tables.anObject,
  signal: Tables.madeBy("an AbortSignal", "throwIfAborted"),
  timeoutMillis: Tables.number(0),
  maxCharacters: Tables.whole(0)
} satisfies Tables.ShapeOf<CommandOptions>

/** The result of a command. */
export interface Ended {
  /** The exit code; `null` if the command was ended by a signal. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly isTimedOut: boolean
  /** The end of the combined output of both streams, in order of arrival. */
  readonly output: string
}

/**
 * Runs a command in the user's shell. It ends when the shell ends: remaining members of the group are killed, and
 * output held open by other processes is not awaited. The promise is rejected if the command cannot be started.
 */
export const run = (command: string, options: CommandOptions = {}): Promise<Ended> =>
  new Promise((resolve, reject) => {
    Tables.check("ProcessGroup.run", options, commandTable)
    const { cwd, env, input = "", maxCharacters = 16_000, signal, timeoutMillis } = options
    signal?.throwIfAborted()
    const { line, shell } = inShell(command)
    const child = start(line, { shell, stdio: "pipe", cwd, env }) as ChildProcessWithoutNullStreams
    let output = ""
    const streams = [child.stdout, child.stderr]
    for (const stream of streams) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output = `${output}${text}`.slice(-maxCharacters)
      })
    }
    let isTimedOut = false
    const timer =
      timeoutMillis === undefined
        ? undefined
        : setTimeout(() => {
            isTimedOut = true
            void stop(child)
          }, timeoutMillis)
    const settle = (then: () => void) => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", abort)
      then()
    }
    const abort = () => {
      void stop(child)
      settle(() => reject(signal!.reason))
    }
    signal?.addEventListener("abort", abort)
    child.once("error", (error) => settle(() => reject(error)))
    child.once("exit", (code, ending) => {
      const done = () => settle(() => resolve({ code, signal: ending, isTimedOut, output }))
      const late = setTimeout(() => {
        for (const stream of streams) stream.destroy()
        done()
      }, outputMillis)
      child.once("close", () => {
        clearTimeout(late)
        done()
      })
    })
    // The command may exit without reading its input.
    child.stdin.on("error", () => {})
    child.stdin.end(input)
  })
