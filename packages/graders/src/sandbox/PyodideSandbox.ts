/**
 * The default sandbox: Python in WebAssembly (Pyodide), in separate processes.
 *
 * Each program runs in a fresh process that is never reused, so changes to the interpreter cannot affect other
 * programs. Starting is cheap: processes start from a memory snapshot that is created once per sandbox, and spare
 * processes are started in advance.
 *
 * Pyodide (13 MB) is an optional dependency: `npm install pyodide`. Nothing is downloaded at run time.
 */
import fs from "node:fs"
import { createRequire } from "node:module"
import os from "node:os"
import path from "node:path"
import { Options as Tables } from "@divisi/core"
import * as Group from "@divisi/files/ProcessGroup"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Reply } from "./frames.ts"
import * as PyodideProcess from "./PyodideProcess.ts"
import { type Execution, isClean, isMemoryError, limits, type Program, type Sandbox, SandboxError } from "./Sandbox.ts"
import { processes, usable } from "./usable.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for {@link make}. */
export interface Options {
  /**
   * Maximum number of concurrent programs. Each runs in a separate process, while a spare one is started. Default: 1.
   */
  readonly processes?: number | undefined
  /** Folder of the `pyodide` package. Default: the installed package. */
  readonly folder?: string | undefined
}

/**
 * Slowdown compared with a native interpreter. See docs/lab/sandbox.md for the measurement.
 *
 * @internal
 */
export const slowdown = 2

// -------------------------------------------------------------------------------------------------------------------
// Start
// -------------------------------------------------------------------------------------------------------------------

const failure = (reason: SandboxError["reason"], detail: string) =>
  new SandboxError({ sandbox: "pyodide", reason, detail })

interface Installed {
  readonly folder: string
  readonly version: string
}

const find = (given: string | undefined): Effect.Effect<Installed, SandboxError> =>
  Effect.try({
    try: () => {
      const manifest =
        given === undefined
          ? createRequire(import.meta.url).resolve("pyodide/package.json")
          : path.join(given, "package.json")
      const { version } = JSON.parse(fs.readFileSync(manifest, "utf8")) as { readonly version: string }
      return { folder: fs.realpathSync(path.dirname(manifest)), version }
    },
    catch: () =>
      failure(
        "missing",
        `the package pyodide is not ${given === undefined ? "installed" : `in ${given}`}; npm install pyodide@314.0.7`
      )
  })

/** Removed when the scope closes, or when this process exits earlier. */
const temporaryFolder = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "divisi-pyodide-"))
      const remove = () => fs.rmSync(folder, { recursive: true, force: true })
      process.once("exit", remove)
      return { folder, remove }
    }),
    ({ remove }) =>
      Effect.sync(() => {
        process.off("exit", remove)
        remove()
      })
  ),
  ({ folder }) => folder
)

/** Starts an interpreter once and saves its memory as a snapshot, from which all processes start. */
const makeSnapshot = (files: PyodideProcess.Files): Effect.Effect<void, SandboxError> =>
  Effect.callback((resume) => {
    const child = PyodideProcess.spawn("snapshot", files)
    let complaint = ""
    child.stderr?.on("data", (piece: Buffer) => {
      complaint = (complaint + piece.toString()).slice(-1000)
    })
    child.once("error", (error) => resume(Effect.fail(failure("start", error.message))))
    child.once("close", (code) => {
      resume(
        code === 0 && fs.existsSync(files.snapshot)
          ? Effect.void
          : Effect.fail(failure("start", `Pyodide did not start: ${complaint.trim() || `code ${code}`}`))
      )
    })
    return Effect.sync(() => Group.kill(child))
  })

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

const executionOf = (
  reply: Reply | PyodideProcess.Ended,
  program: Program,
  millis: number
): Execution | SandboxError => {
  const { memoryMegabytes, outputBytes } = limits(program)
  const starved = { type: "out-of-memory", detail: `${memoryMegabytes} MB` } as const
  switch (reply.type) {
    case "finished": {
      const { exitCode, stderr, stdout } = reply
      // A program that handled a failed allocation did not run out of memory.
      const execution = { type: "finished", stdout, stderr, exitCode, millis } as const
      return (exitCode !== 0 && reply.isStarved) || isMemoryError(execution) ? starved : execution
    }
    case "crashed":
      return reply.isStarved ? starved : { type: "crashed", detail: reply.detail }
    case "output-too-large":
      return { type: "output-too-large", bytes: outputBytes }
    case "timed-out":
      return { type: "timed-out", millis }
    case "out-of-memory":
      return starved
    case "ended":
      return { type: "crashed", detail: reply.detail }
    case "killed":
      return failure("failed", "its process was killed from outside; the machine may be out of memory")
    case "ready":
      return { type: "crashed", detail: "it wrote to the sandbox's internal pipe" }
  }
}

/** Manages the processes of a sandbox: busy ones, spare ones, and reusable ones that ran trusted programs. */
const pool = (files: PyodideProcess.Files, size: number) => {
  const spares: Array<PyodideProcess.PyodideProcess> = []
  const trusted: Array<PyodideProcess.PyodideProcess> = []
  const all = new Set<PyodideProcess.PyodideProcess>()
  const add = () => {
    const one = PyodideProcess.make(files)
    all.add(one)
    return one
  }
  const drop = (one: PyodideProcess.PyodideProcess) => {
    one.kill()
    all.delete(one)
  }
  /** Takes the oldest live spare process and starts replacements. */
  const take = () => {
    for (const dead of spares.filter((spare) => !spare.isAlive())) {
      spares.splice(spares.indexOf(dead), 1)
      drop(dead)
    }
    const one = spares.shift() ?? add()
    while (spares.length < size) spares.push(add())
    return one
  }
  const takeTrusted = () => trusted.pop() ?? take()
  const keepTrusted = (one: PyodideProcess.PyodideProcess) => trusted.push(one)
  return { take, takeTrusted, keepTrusted, drop, close: () => all.forEach(drop) }
}

type Pool = ReturnType<typeof pool>

/** Acquires a ready process for exclusive use. */
const acquire = (processes: Pool, isTrusted: boolean, isKept: (one: PyodideProcess.PyodideProcess) => boolean) =>
  Effect.acquireRelease(
    Effect.sync(isTrusted ? processes.takeTrusted : processes.take),
    (one) => Effect.sync(() => (isKept(one) ? processes.keepTrusted(one) : processes.drop(one))),
    { interruptible: true }
  ).pipe(
    Effect.tap((one) =>
      Effect.flatMap(
        Effect.promise(() => one.ready),
        (reply) =>
          reply.type === "ready"
            ? Effect.void
            : Effect.fail(failure("start", `a process did not start: ${JSON.stringify(reply)}`))
      )
    )
  )

const runIn = (processes: Pool, program: Program, goesOn: (execution: Execution, index: number) => boolean) =>
  Effect.gen(function* () {
    const { memoryMegabytes, outputBytes, wallMillis } = limits(program)
    const { code, files = {}, inputs = [""], isTrusted = false, order = "", prelude = "" } = program
    const executions: Array<Execution> = []
    let current: PyodideProcess.PyodideProcess | undefined
    for (const [index, input] of inputs.entries()) {
      const one: PyodideProcess.PyodideProcess =
        current ?? (yield* acquire(processes, isTrusted, (one) => isTrusted && one === current))
      const started = performance.now()
      const command = { code, prelude, input, order, files, memoryMegabytes, outputBytes }
      const reply = yield* Effect.promise(() => one.request(command, wallMillis))
      const execution = executionOf(reply, program, performance.now() - started)
      if (execution instanceof SandboxError) return yield* execution
      executions.push(execution)
      current = reply.type === "finished" && reply.isReusable ? one : undefined
      if (!goesOn(execution, index)) return executions
    }
    return executions
  })

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const table = { processes, folder: Tables.name } satisfies Tables.ShapeOf<Options>

/**
 * Creates a sandbox, which takes about two seconds. Its processes end when the scope closes.
 *
 * **Details**
 *
 * Programs run in Python 3.14 with the standard library and an empty working folder. Processes, sockets and other
 * libraries are not available, and threads run synchronously when started. Programs run at about half the speed of a
 * native interpreter ({@link Sandbox.slowdown}). The memory limit includes 30 MB for the interpreter; files may use
 * another 256 MB.
 *
 * **Example**
 *
 * ```ts
 * import { PyodideSandbox } from "@divisi/graders/sandboxes"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const sandbox = yield* PyodideSandbox.make({ processes: 2 })
 *   return yield* sandbox.run({ code: "print(input()[::-1])", inputs: ["abc", "xyz"] })
 * })
 * const executions = await Effect.runPromise(Effect.scoped(program))
 * executions.map((execution) => execution.type === "finished" && execution.stdout) // => ["cba\n", "zyx\n"]
 * ```
 */
export const make = (options: Options = {}): Effect.Effect<Sandbox, SandboxError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* usable("PyodideSandbox.make", options, table)
    const { folder, version } = yield* find(options.folder)
    const files = { folder, snapshot: path.join(yield* temporaryFolder, "snapshot") }
    yield* makeSnapshot(files)
    const size = options.processes ?? 1
    const processes = yield* Effect.acquireRelease(
      Effect.sync(() => pool(files, size)),
      ({ close }) => Effect.sync(close)
    )
    const turns = yield* Semaphore.make(size)
    return {
      name: `pyodide ${version}`,
      slowdown,
      run: (program, goesOn = isClean) => turns.withPermit(Effect.scoped(runIn(processes, program, goesOn)))
    }
  })
