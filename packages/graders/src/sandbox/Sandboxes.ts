/** The sandboxes by name, for command lines, and the shared default sandbox. */
import { Options as Tables } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as BubblewrapSandbox from "./BubblewrapSandbox.ts"
import * as ContainerSandbox from "./ContainerSandbox.ts"
import * as LocalPythonSandbox from "./LocalPythonSandbox.ts"
import * as PyodideSandbox from "./PyodideSandbox.ts"
import type { Sandbox, SandboxError } from "./Sandbox.ts"
import { processes } from "./usable.ts"

/** Options that all backends share. */
export interface Options {
  /** The number of concurrent programs. Default: 1. */
  readonly processes?: number | undefined
  /** The interpreter of `bubblewrap` and `local-unsafe`. */
  readonly python?: string | undefined
}

const table = { processes, python: Tables.name } satisfies Tables.ShapeOf<Options>

/** All names that {@link named} accepts. `<image>` stands for the name of an image. */
export const names: ReadonlyArray<string> = ["pyodide", "bubblewrap", "container:<image>", "local-unsafe"]

/**
 * Returns the sandbox with a name, or `undefined` if the name is unknown. It starts with its first program and ends
 * when the scope closes.
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

/**
 * A sandbox that is made when it first runs a program, once. When that fails, every later program fails the same way.
 */
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
 * The default sandbox, WebAssembly. It starts with the first program, does not keep the process alive, and ends with
 * it. To end a sandbox earlier, make one in your own scope.
 */
export const shared: Sandbox = Effect.runSync(
  Effect.provideService(lazy("pyodide", PyodideSandbox.make()), Scope.Scope, Scope.makeUnsafe())
)
