/**
 * Not a sandbox: runs programs with an interpreter of this machine and your permissions. Use it only for programs that
 * you have read.
 */
import { Options as Tables } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as PythonProcess from "./pythonProcess.ts"
import { type Sandbox, SandboxError } from "./Sandbox.ts"
import { processes, usable } from "./usable.ts"

/** The interpreter, and the number of parallel programs. */
export interface Options {
  /** The Python interpreter. Default: `python3`. */
  readonly python?: string | undefined
  /** The number of concurrent programs. Default: 1. */
  readonly processes?: number | undefined
}

const table = { python: Tables.name, processes } satisfies Tables.ShapeOf<Options>

/**
 * Makes a runner without isolation: a program can read and delete files, access the network, and outlive its time limit
 * in its own process group. The limits on time, memory and output only stop programs that do not try to escape.
 */
export const makeUnsafe = (options: Options = {}): Effect.Effect<Sandbox, SandboxError> =>
  Effect.gen(function* () {
    yield* usable("LocalPythonSandbox.makeUnsafe", options, table)
    const python = options.python ?? "python3"
    const version = yield* Effect.mapError(
      PythonProcess.ask([python, "--version"]),
      (detail) => new SandboxError({ sandbox: "local", reason: "missing", detail: `Python was not found: ${detail}` })
    )
    return yield* PythonProcess.make({
      name: `local ${version.trim()}, unsafe`,
      processes: options.processes ?? 1,
      command: ({ folder }) => [python, "-B", "-s", `${folder}/main.py`]
    })
  })
