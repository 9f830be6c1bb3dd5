/**
 * Runs untrusted Python programs and returns their results as plain data.
 *
 * One interface with several backends: `PyodideSandbox` (WebAssembly, the default), `BubblewrapSandbox`,
 * `ContainerSandbox` and `LocalPythonSandbox`. The result of a program is an {@link Execution}. A failure of the
 * sandbox itself is a {@link SandboxError} and never counts as evidence about the program.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Limits for a run. They are enforced by the sandbox. */
export interface Limits {
  /** Time limit per input, in milliseconds. The process group is killed when it is exceeded. Default: 6,000. */
  readonly wallMillis: number
  /** Memory limit, in MB. Default: 1,024. */
  readonly memoryMegabytes: number
  /**
   * Maximum total size of standard output and standard error, in bytes. The program is killed when it is exceeded.
   * Default: 8 MB.
   */
  readonly outputBytes: number
}

/** A program with its inputs. */
export interface Program {
  /** Python source, run as `__main__`. */
  readonly code: string
  /** Python source that runs first in the same namespace, for example implied imports. */
  readonly prelude?: string | undefined
  /** Inputs. The program runs once for each. Default: a single empty input. */
  readonly inputs?: ReadonlyArray<string> | undefined
  /**
   * Value of the global `__order__` in every run. It is passed through a pipe: once the program has deleted the name,
   * code that it runs cannot read the value again.
   */
  readonly order?: string | undefined
  /** Whether the program is trusted. Trusted programs may share an interpreter. Default: `false`. */
  readonly isTrusted?: boolean | undefined
  /** Text files in the working folder, keyed by file name. */
  readonly files?: Readonly<Record<string, string>> | undefined
  readonly limits?: { readonly [Name in keyof Limits]?: Limits[Name] | undefined } | undefined
}

/** The result for a single input. */
export type Execution =
  | {
      /** The program exited on its own. A nonzero `exitCode` indicates an error. */
      readonly type: "finished"
      readonly stdout: string
      /** The last 16,000 characters of standard error. */
      readonly stderr: string
      readonly exitCode: number
      readonly millis: number
    }
  | { readonly type: "timed-out"; readonly millis: number }
  | { readonly type: "out-of-memory"; readonly detail: string }
  | { readonly type: "output-too-large"; readonly bytes: number }
  | {
      /** The program crashed its process, for example with a signal or a stack overflow. */
      readonly type: "crashed"
      readonly detail: string
    }

/** Runs Python programs in isolation. */
export interface Sandbox {
  /** Name and version of the backend, such as `pyodide 314.0.7`. */
  readonly name: string
  /** Slowdown compared with a native interpreter. Graders multiply time limits by it. */
  readonly slowdown: number
  /**
   * Runs a program on its inputs in order, and stops after the first execution for which `goesOn` returns `false`. By
   * default, it stops after any execution that is not `finished` with exit code 0.
   *
   * The first input runs in a fresh interpreter. Later inputs of the same program may reuse that interpreter with a new
   * namespace; other programs never do.
   */
  readonly run: (
    program: Program,
    goesOn?: (execution: Execution, index: number) => boolean
  ) => Effect.Effect<ReadonlyArray<Execution>, SandboxError>
}

/** Raised when the sandbox itself fails. The program has neither passed nor failed. */
export class SandboxError extends Data.TaggedError("SandboxError")<{
  readonly sandbox: string
  /** The type of failure. `options` means that an option does not exist or has an invalid value. */
  readonly reason: "missing" | "start" | "failed" | "options"
  readonly detail: string
}> {
  override get message(): string {
    return `The ${this.sandbox} sandbox cannot run programs: ${this.detail}.`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const defaults: Limits = { wallMillis: 6000, memoryMegabytes: 1024, outputBytes: 8 * 1024 * 1024 }

/** Returns the limits of a program, with defaults filled in. */
export const limits = ({ limits }: Program): Limits => ({
  wallMillis: limits?.wallMillis ?? defaults.wallMillis,
  memoryMegabytes: limits?.memoryMegabytes ?? defaults.memoryMegabytes,
  outputBytes: limits?.outputBytes ?? defaults.outputBytes
})

/**
 * Whether an execution finished with exit code 0.
 *
 * @internal
 */
export const isClean = (execution: Execution): boolean => execution.type === "finished" && execution.exitCode === 0

/**
 * Describes how an execution ended, in a few words for display.
 *
 * @internal
 */
export const describe = (execution: Execution): string => {
  switch (execution.type) {
    case "finished":
      return execution.exitCode === 0
        ? "finished"
        : `ended with exit code ${execution.exitCode}: ${lastLine(execution.stderr).slice(0, 500) || "it says nothing"}`
    case "timed-out":
      return `took longer than ${Math.round(execution.millis)} ms`
    case "out-of-memory":
      return `ran out of memory (${execution.detail})`
    case "output-too-large":
      return `printed more than ${execution.bytes} bytes`
    case "crashed":
      return `crashed: ${execution.detail}`
  }
}

/** Returns the last non-empty line. In a traceback, this is the error. */
export const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1)?.trim() ?? ""

/**
 * Whether a program ended because the interpreter ran out of memory.
 *
 * @internal
 */
export const isMemoryError = (execution: Execution): boolean =>
  execution.type === "finished" && execution.exitCode !== 0 && lastLine(execution.stderr).startsWith("MemoryError")

// -------------------------------------------------------------------------------------------------------------------
// Combinators
// -------------------------------------------------------------------------------------------------------------------

/**
 * Runs a program on a single input.
 *
 * **Example**
 *
 * ```ts
 * import { Sandbox } from "@divisi/graders"
 * import { PyodideSandbox } from "@divisi/graders/sandboxes"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const sandbox = yield* PyodideSandbox.make()
 *   return yield* Sandbox.run(sandbox, { code: "print(int(input()) * 7)", inputs: ["6"] })
 * })
 * const execution = await Effect.runPromise(Effect.scoped(program))
 * execution.type === "finished" && execution.stdout // => "42\n"
 * ```
 */
export const run = (sandbox: Sandbox, program: Program): Effect.Effect<Execution, SandboxError> =>
  Effect.flatMap(sandbox.run(program), ([execution]) =>
    execution === undefined
      ? Effect.fail(new SandboxError({ sandbox: sandbox.name, reason: "failed", detail: "it ran nothing" }))
      : Effect.succeed(execution)
  )
