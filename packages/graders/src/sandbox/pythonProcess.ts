/** Runs programs in native interpreters, with one process per input, isolated by the backend. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import type { Readable } from "node:stream"
import * as Group from "@divisi/files/ProcessGroup"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { processMain, startMark } from "./interpreter.ts"
import {
  type Execution,
  isClean,
  isMemoryError,
  type Limits,
  lastLine,
  limits,
  type Program,
  type Sandbox,
  SandboxError
} from "./Sandbox.ts"

/** How a backend starts an interpreter. */
export interface Backend {
  readonly name: string
  readonly processes: number
  /** Returns the command for a run. The program is in `folder`, and its working folder is `work`. */
  readonly command: (run: Run) => ReadonlyArray<string>
  /** Kills processes outside the process group. */
  readonly kill?: ((run: Run) => void) | undefined
  /** User id that the processes run as. Default: the current user. */
  readonly user?: number | undefined
  /** Whether the backend limits memory, so that the interpreter does not have to. */
  readonly limitsMemory?: boolean | undefined
}

/** A backend with the path in which its commands were found when it was created. */
interface Found extends Backend {
  readonly searchPath: string | undefined
}

/** A run of a program on one input. */
export interface Run {
  /** A unique id. */
  readonly id: string
  readonly folder: string
  readonly work: string
  readonly limits: Limits
}

/** Time limit for starting an interpreter. A container on a busy machine takes seconds. */
const startMillis = 60_000

const stderrCharacters = 16_000

/** How the process ended. */
interface Ended {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly stopped?: "timed-out" | "output-too-large" | undefined
  readonly error?: string | undefined
}

/** Collects output up to a limit, and calls `onMore` when it is exceeded. */
const collect = (streams: ReadonlyArray<Readable>, limit: number, onMore: () => void) => {
  const pieces = streams.map((): Array<Buffer> => [])
  let total = 0
  streams.forEach((stream, index) => {
    stream.on("data", (piece: Buffer) => {
      total += piece.byteLength
      if (total > limit) onMore()
      else pieces[index]!.push(piece)
    })
  })
  return (index: number) => Buffer.concat(pieces[index]!).toString()
}

const execute = (backend: Found, run: Run, order: string): Effect.Effect<Ended> =>
  Effect.callback((resume) => {
    const owner = { uid: backend.user, gid: backend.user }
    const child = Group.start(backend.command(run), {
      cwd: run.work,
      env: { PATH: backend.searchPath, HOME: run.work, LANG: "C.UTF-8", MPLBACKEND: "Agg" },
      stdio: ["pipe", "pipe", "pipe"],
      ...owner
    })
    // An exited process does not read its input. The exit handler reports the reason.
    child.stdin?.on("error", () => {})
    child.stdin?.end(order)
    let stopped: "timed-out" | "output-too-large" | undefined
    const stop = (why: "timed-out" | "output-too-large" | undefined) => {
      stopped ??= why
      Group.kill(child)
      backend.kill?.(run)
    }
    const printed = collect([child.stdout!, child.stderr!], run.limits.outputBytes, () => stop("output-too-large"))
    let isDone = false
    let timer = setTimeout(() => stop("timed-out"), startMillis)
    // The time limit starts with the first byte, which the interpreter prints before it runs the program.
    child.stdout!.once("data", () => {
      clearTimeout(timer)
      if (!isDone) timer = setTimeout(() => stop("timed-out"), run.limits.wallMillis)
    })
    const done = (ended: Pick<Ended, "exitCode" | "signal" | "error">) => {
      isDone = true
      clearTimeout(timer)
      const texts = { stdout: printed(0), stderr: printed(1).slice(-stderrCharacters) }
      resume(Effect.succeed({ ...ended, ...texts, stopped }))
    }
    child.once("error", (error) => done({ exitCode: null, signal: null, error: error.message }))
    // A descendant that keeps the output open must not block us. Streams get a grace period after the exit.
    child.once("exit", (exitCode, signal) => {
      const late = setTimeout(() => done({ exitCode, signal }), 1000)
      child.once("close", () => {
        clearTimeout(late)
        done({ exitCode, signal })
      })
    })
    return Effect.sync(() => {
      isDone = true
      clearTimeout(timer)
      stop(undefined)
    })
  })

const executionOf = (backend: Backend, run: Run, ended: Ended, millis: number): Execution | SandboxError => {
  const failure = (detail: string) => new SandboxError({ sandbox: backend.name, reason: "failed", detail })
  const { exitCode, signal, stderr } = ended
  if (ended.error !== undefined) return failure(ended.error)
  // The first byte is written before the program starts. Without it, the backend failed. With it, the result is the
  // program's, whatever its exit code and output.
  if (!ended.stdout.startsWith(startMark)) {
    return failure(lastLine(stderr) || (ended.stopped ?? `the interpreter did not start: exit code ${exitCode}`))
  }
  const stdout = ended.stdout.slice(startMark.length)
  if (ended.stopped === "timed-out") return { type: "timed-out", millis }
  if (ended.stopped === "output-too-large") return { type: "output-too-large", bytes: run.limits.outputBytes }
  const starved = { type: "out-of-memory", detail: `${run.limits.memoryMegabytes} MB` } as const
  if (exitCode === null) return { type: "crashed", detail: `signal ${signal}` }
  if (exitCode === 137 && backend.limitsMemory === true) return starved
  // 128 plus a signal number: the interpreter was killed inside the sandbox.
  if (exitCode > 128 && exitCode < 160 && stderr === "" && exitCode !== 130) {
    return { type: "crashed", detail: `signal ${exitCode - 128}` }
  }
  const execution = { type: "finished", stdout, stderr, exitCode, millis } as const
  return isMemoryError(execution) ? starved : execution
}

const folders = (user: number | undefined) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "divisi-python-"))
      const work = path.join(folder, "work")
      fs.mkdirSync(work)
      fs.mkdirSync(path.join(folder, "program"))
      fs.writeFileSync(path.join(folder, "program", "main.py"), processMain)
      if (user !== undefined) {
        fs.chmodSync(folder, 0o711)
        fs.chownSync(work, user, user)
      }
      return { folder: path.join(folder, "program"), work, top: folder }
    }),
    ({ top }) => Effect.sync(() => fs.rmSync(top, { recursive: true, force: true }))
  )

let runs = 0

const runOne = (backend: Found, program: Program, input: string) =>
  Effect.gen(function* () {
    const { folder, work } = yield* folders(backend.user)
    const allowed = limits(program)
    const { code, files = {}, order = "", prelude = "" } = program
    const seconds = Math.ceil(allowed.wallMillis / 1000) + 1
    const memoryMegabytes = backend.limitsMemory === true ? null : allowed.memoryMegabytes
    const about = { code, prelude, files, seconds, memoryMegabytes }
    fs.writeFileSync(path.join(folder, "program.json"), JSON.stringify(about))
    fs.writeFileSync(path.join(folder, "input"), input)
    const run = { id: `divisi-${process.pid}-${++runs}`, folder, work, limits: allowed }
    const started = performance.now()
    const ended = yield* execute(backend, run, order)
    const execution = executionOf(backend, run, ended, performance.now() - started)
    return execution instanceof SandboxError ? yield* execution : execution
  }).pipe(Effect.scoped)

/** Creates a sandbox from a backend. */
export const make = (backend: Backend): Effect.Effect<Sandbox> =>
  Effect.map(Semaphore.make(backend.processes), (turns) => {
    const found = { ...backend, searchPath: process.env.PATH }
    return {
      name: backend.name,
      slowdown: 1,
      run: (program, goesOn = isClean) =>
        turns.withPermit(
          Effect.gen(function* () {
            const executions: Array<Execution> = []
            for (const [index, input] of (program.inputs ?? [""]).entries()) {
              const execution = yield* runOne(found, program, input)
              executions.push(execution)
              if (!goesOn(execution, index)) break
            }
            return executions
          })
        )
    }
  })

/** Runs a command to completion and returns its output. The failure describes the problem. */
export const ask = (command: ReadonlyArray<string>, user?: number): Effect.Effect<string, string> =>
  Effect.callback((resume) => {
    const owner = { uid: user, gid: user }
    const child = Group.start(command, { stdio: ["ignore", "pipe", "pipe"], cwd: "/", ...owner })
    const printed = collect([child.stdout!, child.stderr!], 1_000_000, () => Group.kill(child))
    const timer = setTimeout(() => Group.kill(child), 30_000)
    child.once("error", (error) => resume(Effect.fail(error.message)))
    child.once("close", (code) => {
      clearTimeout(timer)
      resume(code === 0 ? Effect.succeed(printed(0)) : Effect.fail(lastLine(printed(1)) || `exit code ${code}`))
    })
    return Effect.sync(() => {
      clearTimeout(timer)
      Group.kill(child)
    })
  })
