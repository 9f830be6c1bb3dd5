/** A single interpreter process. `PyodideSandbox` sends it one command at a time and kills it afterwards. */
import type { ChildProcess } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import type { Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import * as Group from "@divisi/files/ProcessGroup"
import { script } from "../internal/script.ts"
import { type Command, encode, type Reply, readReply } from "./frames.ts"

const childScript = fileURLToPath(script("sandbox/pyodide.child"))

/** Memory allowed in addition to the program's limit, for Node, the interpreter and printed output. */
const overheadBytes = 700 * 1024 * 1024

/** Maximum CPU time of a process in seconds, as a last resort. */
const lifetimeSeconds = 900

/** Stack size. With this much, deep recursion raises Python's `RecursionError`; with less, it crashes the process. */
const stackKilobytes = 262_144

/** Location of Pyodide, and the memory snapshot of a started interpreter. */
export interface Files {
  readonly folder: string
  readonly snapshot: string
}

/** How a command ended without a reply. */
export type Ended =
  | { readonly type: "timed-out" }
  | { readonly type: "out-of-memory" }
  | { readonly type: "ended"; readonly detail: string }
  /** Killed from outside. Programs in the sandbox cannot do this. */
  | { readonly type: "killed" }

/** An interpreter process that is ready or starting. */
export interface PyodideProcess {
  readonly ready: Promise<Reply | Ended>
  readonly request: (command: Command, wallMillis: number) => Promise<Reply | Ended>
  /** Whether the process can accept another command. */
  readonly isAlive: () => boolean
  readonly kill: () => void
}

const nodeArguments = (mode: "snapshot" | "serve", { folder, snapshot }: Files): ReadonlyArray<string> => {
  const readable = [path.dirname(path.dirname(childScript)), folder, snapshot]
  return [
    "--permission",
    ...readable.map((place) => `--allow-fs-read=${place}`),
    ...(mode === "snapshot" ? [`--allow-fs-write=${snapshot}`] : []),
    "--disallow-code-generation-from-strings",
    "--no-warnings",
    "--max-old-space-size=512",
    `--stack-size=${process.platform === "win32" ? 900 : stackKilobytes - 8192}`,
    childScript,
    mode,
    folder,
    snapshot
  ]
}

const commandLine = (mode: "snapshot" | "serve", files: Files): ReadonlyArray<string> => {
  const node = [process.execPath, ...nodeArguments(mode, files)]
  if (process.platform === "win32") return node
  // If the parent of the process group exits, even when killed, the pipe closes and the group is killed.
  const watch = "(read -r _ <&5; kill -9 0) 2>&- 3>&- 4>&- &"
  const limits = `ulimit -c 0; ulimit -t ${lifetimeSeconds}; ulimit -s ${stackKilobytes}`
  return ["/bin/sh", "-c", `${watch} ${limits} && exec "$@" 5>&-`, "sh", ...node]
}

/** Starts a process that either creates the snapshot or runs programs. */
export const spawn = (mode: "snapshot" | "serve", files: Files): ChildProcess =>
  Group.start(commandLine(mode, files), {
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe", "pipe"],
    // The environment of the parent process is not passed on.
    env: {}
  })

/** Assembles chunks into messages. A message whose stated length exceeds the limit is invalid. */
const reader = (onReply: (reply: Reply) => void, onNonsense: () => void) => {
  const maximum = 512 * 1024 * 1024
  let pieces: Array<Buffer> = []
  let size = 0
  return (piece: Buffer) => {
    pieces.push(piece)
    size += piece.byteLength
    for (;;) {
      if (size < 4) return
      const head = pieces[0]!.byteLength >= 4 ? pieces[0]! : Buffer.concat(pieces)
      const length = head.readUInt32LE()
      if (length > maximum) return onNonsense()
      if (size < 4 + length) return
      const all = Buffer.concat(pieces)
      pieces = [all.subarray(4 + length)]
      size = pieces[0]!.byteLength
      const reply = readReply(all.subarray(4, 4 + length).toString())
      if (reply === undefined) return onNonsense()
      onReply(reply)
    }
  }
}

/** Returns the resident memory of a process in bytes, or `undefined` if the system does not report it. */
const residentBytes = (child: ChildProcess): number | undefined => {
  try {
    const pages = fs.readFileSync(`/proc/${child.pid}/statm`, "utf8").split(" ")[1]
    return Number(pages) * 4096
  } catch {
    return undefined
  }
}

/** Starts a process that runs programs. It does not keep the event loop alive while idle. */
export const make = (files: Files): PyodideProcess => {
  const child = spawn("serve", files)
  let waiting: ((reply: Reply | Ended) => void) | undefined
  let early: Reply | Ended | undefined
  let complaint = ""
  const settle = (reply: Reply | Ended) => {
    if (waiting === undefined) early ??= reply
    else waiting(reply)
  }
  const pipes = child.stdio as unknown as ReadonlyArray<Writable & Readable>
  const [errors, input, replies, life] = [pipes[2]!, pipes[3]!, pipes[4]!, pipes[5]!]
  const refer = (kind: "ref" | "unref") => {
    for (const one of [child, errors, input, replies, life] as ReadonlyArray<{
      ref?: (() => void) | undefined
      unref?: (() => void) | undefined
    }>)
      one[kind]?.()
  }
  const ended = (detail: string) => settle({ type: "ended", detail: complaint.trim().slice(0, 500) || detail })
  // Writing to an exited process fails. The exit handler reports the reason.
  for (const one of [input, life]) one.on("error", () => {})
  errors.on("data", (piece: Buffer) => {
    complaint = (complaint + piece.toString()).slice(-4000)
  })
  replies.on(
    "data",
    // Invalid data on the pipe was written by the program, so it counts as a crash of the program and not as a sandbox
    // failure.
    reader(settle, () => {
      settle({ type: "ended", detail: "it wrote to the sandbox's internal pipe" })
      Group.kill(child)
    })
  )
  child.once("error", (error) => ended(error.message))
  child.once("close", (code, signal) => {
    if (signal === "SIGKILL") settle({ type: "killed" })
    else ended(`its process ended with ${signal ?? `code ${code}`}`)
  })
  refer("unref")

  const next = (millis: number, memoryBytes: number) =>
    new Promise<Reply | Ended>((resolve) => {
      if (early !== undefined) {
        resolve(early)
        early = undefined
        return
      }
      refer("ref")
      const stop = (type: "timed-out" | "out-of-memory") => {
        Group.kill(child)
        waiting?.({ type })
      }
      const timer = setTimeout(() => stop("timed-out"), millis)
      const watch = setInterval(() => {
        if ((residentBytes(child) ?? 0) > memoryBytes + overheadBytes) stop("out-of-memory")
      }, 100)
      waiting = (reply) => {
        waiting = undefined
        clearTimeout(timer)
        clearInterval(watch)
        refer("unref")
        resolve(reply)
      }
    })

  const startMillis = 60_000
  return {
    ready: next(startMillis, Number.POSITIVE_INFINITY),
    request: (command, wallMillis) => {
      const reply = next(wallMillis, command.memoryMegabytes * 1024 * 1024)
      input.write(encode(command))
      return reply
    },
    // After a kill, the process has no memory before its exit is reported.
    isAlive: () => child.exitCode === null && child.signalCode === null && residentBytes(child) !== 0,
    kill: () => Group.kill(child)
  }
}
