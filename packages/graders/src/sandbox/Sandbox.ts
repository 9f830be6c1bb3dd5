/**
 * Sandboxes run Python programs that nobody vouches for, and give what happened as plain data.
 *
 * One interface, several backends: `PyodideSandbox` (WebAssembly, the default), `BubblewrapSandbox`, `ContainerSandbox`
 * and `LocalPythonSandbox`. What a program does is an {@link Execution}; what goes wrong with the sandbox itself is a
 * {@link SandboxError} and says nothing about the program.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What a run may use. A sandbox never grants more than the limits of the program that it is given. */
export interface Limits {
  /** How long one input may take; 6,000 ms by default. The process group is killed then. */
  readonly wallMillis: number
  /** Memory of the program in MB; 1,024 by default. */
  readonly memoryMegabytes: number
  /** What it may print, standard output and error together; 8 MB by default. It is killed at the first byte more. */
  readonly outputBytes: number
}

/** A program and what it is run on. */
export interface Program {
  /** Python, run as `__main__`. */
  readonly code: string
  /** Python that is run before it in the same namespace, such as imports that are taken for granted. */
  readonly prelude?: string | undefined
  /** The inputs, with one run for each; a single empty input by default. */
  readonly inputs?: ReadonlyArray<string> | undefined
  /**
   * What the code finds in its global `__order__`, in every run. It comes through a pipe, so that code which takes the
   * name away leaves nothing to be read again by what it runs.
   */
  readonly order?: string | undefined
  /** Whether it is a program of ours: it may then find an interpreter in which others of ours have run. */
  readonly isTrusted?: boolean | undefined
  /** Texts of files in its working folder, by their plain names. */
  readonly files?: Readonly<Record<string, string>> | undefined
  readonly limits?: { readonly [Name in keyof Limits]?: Limits[Name] | undefined } | undefined
}

/** What came of one input. */
export type Execution =
  | {
      /** It ended by itself; by an error of its own, too, when `exitCode` is not 0. */
      readonly type: "finished"
      readonly stdout: string
      /** Its last 16,000 characters. */
      readonly stderr: string
      readonly exitCode: number
      readonly millis: number
    }
  | { readonly type: "timed-out"; readonly millis: number }
  | { readonly type: "out-of-memory"; readonly detail: string }
  | { readonly type: "output-too-large"; readonly bytes: number }
  | {
      /** It took its process with it: a signal, a stack that ran over. */
      readonly type: "crashed"
      readonly detail: string
    }

/** Runs programs. */
export interface Sandbox {
  /** The backend, with what pins it, e.g. `pyodide 314.0.7`. */
  readonly name: string
  /** How many times slower than a plain interpreter it computes: graders stretch time limits by it. */
  readonly slowdown: number
  /**
   * Runs a program on its inputs, in their order, and stops after the first execution that `goesOn` refuses; by
   * default, after one that is not `finished` with exit code 0.
   *
   * The first input finds an interpreter in which nothing has run. Later inputs of the same program may find it again,
   * with a new namespace; another program never does.
   */
  readonly run: (
    program: Program,
    goesOn?: (execution: Execution, index: number) => boolean
  ) => Effect.Effect<ReadonlyArray<Execution>, SandboxError>
}

/** The sandbox itself failed: nothing is known of the program. */
export class SandboxError extends Data.TaggedError("SandboxError")<{
  readonly sandbox: string
  /** `options`: an option does not exist or cannot have its value. */
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

/** The limits of a program, with the defaults for what it does not say. */
export const limits = ({ limits }: Program): Limits => ({
  wallMillis: limits?.wallMillis ?? defaults.wallMillis,
  memoryMegabytes: limits?.memoryMegabytes ?? defaults.memoryMegabytes,
  outputBytes: limits?.outputBytes ?? defaults.outputBytes
})

/** Whether a program went well as far as can be seen from outside. */
export const isClean = (execution: Execution): boolean => execution.type === "finished" && execution.exitCode === 0

/** Says in a few words how an execution ended; for people. */
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

/** The last line that says something; of a traceback, the error. */
export const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1)?.trim() ?? ""

/** Whether a program ended because the interpreter had no memory for it. */
export const isMemoryError = (execution: Execution): boolean =>
  execution.type === "finished" && execution.exitCode !== 0 && lastLine(execution.stderr).startsWith("MemoryError")

// -------------------------------------------------------------------------------------------------------------------
// Combinators
// -------------------------------------------------------------------------------------------------------------------

/**
 * Runs a program on one input.
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
