/**
 * No sandbox at all: an interpreter of this machine with your rights. For programs that you have read.
 */
import { Options as Tables } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as PythonProcess from "./pythonProcess.ts"
import { type Sandbox, SandboxError } from "./Sandbox.ts"
import { processes, usable } from "./usable.ts"

/** The interpreter, and the number of parallel programs. */
export interface Options {
  /** `python3` by default. */
  readonly python?: string | undefined
  /** The number of parallel programs; 1 by default. */
  readonly processes?: number | undefined
}

const table = { python: Tables.name, processes } satisfies Tables.ShapeOf<Options>

/**
 * Makes a runner without walls: a program can read and delete files, reach the network, and outlive its time in a group
 * of its own. Time, memory and output are limited for programs that do not mean to escape.
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
