/** The sandboxes that have a name, for command lines that say which one they want, and the one that all share. */
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
  /** The number of parallel programs; 1 by default. */
  readonly processes?: number | undefined
  /** The interpreter of `bubblewrap` and `local-unsafe`. */
  readonly python?: string | undefined
}

const table = { processes, python: Tables.name } satisfies Tables.ShapeOf<Options>

/** Every name that {@link named} knows; an image's name takes the place of `<image>`. */
export const names: ReadonlyArray<string> = ["pyodide", "bubblewrap", "container:<image>", "local-unsafe"]

/**
 * The sandbox of a name, which lives as long as the scope; `undefined` when there is no such name. It starts with its
 * first program.
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
 * The default sandbox, WebAssembly. It starts with the first program, keeps no process alive, and ends with this
 * process. To end one earlier, make it in a scope of your own.
 */
export const shared: Sandbox = Effect.runSync(
  Effect.provideService(lazy("pyodide", PyodideSandbox.make()), Scope.Scope, Scope.makeUnsafe())
)
