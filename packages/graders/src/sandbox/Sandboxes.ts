/** Looks up sandboxes by name, for command lines, and provides the shared default sandbox. */
import { Options as Tables } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as BubblewrapSandbox from "./BubblewrapSandbox.ts"
import * as ContainerSandbox from "./ContainerSandbox.ts"
import * as LocalPythonSandbox from "./LocalPythonSandbox.ts"
import * as PyodideSandbox from "./PyodideSandbox.ts"
import type { Sandbox, SandboxError } from "./Sandbox.ts"
import { processes } from "./usable.ts"

/** Options shared by all backends. */
export interface Options {
  /** Maximum number of concurrent programs. Default: 1. */
  readonly processes?: number | undefined
  /** The Python interpreter for `bubblewrap` and `local-unsafe`. */
  readonly python?: string | undefined
}

const table = { processes, python: Tables.name } satisfies Tables.ShapeOf<Options>

/** All names accepted by {@link named}. `<image>` is a placeholder for the name of an image. */
export const names: ReadonlyArray<string> = ["pyodide", "bubblewrap", "container:<image>", "local-unsafe"]

/**
 * Returns the sandbox with the given name, or `undefined` if the name is unknown. The sandbox starts with its first
 * program and ends when the scope closes.
 *
 * **Example**
 *
 * ```ts
 * import { Sandboxes } from "@divisi/graders/sandboxes"
 *
 * Sandboxes.named("pyodide") === undefined // => false
 * Sandboxes.named("vibes") // => undefined
 * ```
 */
export const named = (name: string, options: Options = {}): Effect.Effect<Sandbox, never, Scope.Scope> | undefined => {
  Tables.check("Sandboxes.named", options, table)
  const make = makers(name, options)
  return make === undefined ? undefined : lazy(name, make)
}

const makers = (name: string, options: Options): Effect.Effect<Sandbox, SandboxError, Scope.Scope> | undefined => {
  const { processes = 1 } = options
  switch (name) {
    case "pyodide":
      return PyodideSandbox.make({ processes })
    case "bubblewrap":
      return BubblewrapSandbox.make(options)
    case "local-unsafe":
      return LocalPythonSandbox.makeUnsafe(options)
    default: {
      const image = /^container:(.+)$/.exec(name)?.[1]
      return image === undefined ? undefined : ContainerSandbox.make({ image, processes })
    }
  }
}

/** Creates a sandbox on its first use. If creation fails, every later program fails with the same error. */
const lazy = (name: string, make: Effect.Effect<Sandbox, SandboxError, Scope.Scope>) =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const made = yield* Effect.cached(Effect.provideService(make, Scope.Scope, scope))
    return {
      name,
      slowdown: name === "pyodide" ? PyodideSandbox.slowdown : 1,
      run: (program, goesOn) => Effect.flatMap(made, (sandbox) => sandbox.run(program, goesOn))
    } satisfies Sandbox
  })

/**
 * The shared default sandbox (WebAssembly). It starts with the first program, does not keep the process alive, and ends
 * with the process. To end a sandbox earlier, create one in a scope.
 */
export const shared: Sandbox = Effect.runSync(
  Effect.provideService(lazy("pyodide", PyodideSandbox.make()), Scope.Scope, Scope.makeUnsafe())
)
