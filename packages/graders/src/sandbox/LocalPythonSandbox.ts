/**
 * Not a sandbox: runs programs with a local Python interpreter and your permissions. Only use it for programs that you
 * have reviewed.
 */
import { Options as Tables } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as PythonProcess from "./pythonProcess.ts"
import { type Sandbox, SandboxError } from "./Sandbox.ts"
import { processes, usable } from "./usable.ts"

/** Options for {@link makeUnsafe}. */
export interface Options {
  /** The Python interpreter. Default: `python3`. */
  readonly python?: string | undefined
  /** Maximum number of concurrent programs. Default: 1. */
  readonly processes?: number | undefined
}

const table = { python: Tables.name, processes } satisfies Tables.ShapeOf<Options>

/**
 * Creates a runner without isolation. Programs can read and delete files, access the network, and outlive their time
 * limit in a separate process group. The limits on time, memory and output only stop programs that do not try to
 * escape.
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
