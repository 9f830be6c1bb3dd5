/**
 * Computer algebra in a separate thread, which can be terminated because a formula may take unlimited time and memory.
 *
 * The library (`@cortex-js/compute-engine`, 47 MB) is an optional dependency. It is loaded in that thread, when a pair
 * of formulas first requires it.
 */
import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import { Options as Tables } from "@divisi/core"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { script } from "../internal/script.ts"

const library = "@cortex-js/compute-engine"

/** Resource limits for proofs. */
export interface Options {
  /** Time limit per proof, in milliseconds. The thread is terminated when it is exceeded. Default: 2,000. */
  readonly timeoutMillis?: number | undefined
  /** Memory limit of the thread, in MB. The thread ends when it is exceeded. Default: 512. */
  readonly memoryMegabytes?: number | undefined
  /** Time limit for starting the thread, in milliseconds. A thread serves many proofs. Default: 30,000. */
  readonly startMillis?: number | undefined
}

/** The outcome of a proof. `exhausted` means that a time or memory limit was exceeded. */
export type Proof = "equal" | "not-proven" | "exhausted"

/** Proves that LaTeX formulas are equal. */
export interface Algebra {
  readonly prove: (gold: string, answer: string) => Effect.Effect<Proof, AlgebraError>
  /** Terminates the thread. The next proof starts a new one. */
  readonly close: Effect.Effect<void>
}

/** Raised when computer algebra is unavailable: the library is not installed, or its thread could not be started. */
export class AlgebraError extends Data.TaggedError("AlgebraError")<{ readonly detail?: string | undefined }> {
  override get message(): string {
    return this.detail === undefined
      ? `Formulas need computer algebra: \`npm install ${library}\`.`
      : `The thread for computer algebra did not start: ${this.detail}.`
  }
}

interface Reply {
  readonly id: number
  readonly isEqual: boolean
}

/** Maximum number of proofs per thread. Starting a new thread frees the memory in which the library caches formulas. */
const maxProofs = 2000

/** Waits for the next reply. Returns an error if the thread ends first, and `undefined` on timeout. */
const reply = (thread: Worker, timeoutMillis: number): Effect.Effect<Reply | Error | undefined> =>
  Effect.callback((resume) => {
    const timer = setTimeout(() => settle(undefined), timeoutMillis)
    const settle = (result: Reply | Error | undefined) => {
      stop()
      resume(Effect.succeed(result))
    }
    const ended = (code: number) => settle(new Error(`it exited with code ${code}`))
    const stop = () => {
      clearTimeout(timer)
      thread.off("message", settle).off("error", settle).off("exit", ended).unref()
    }
    thread.ref()
    thread.on("message", settle).on("error", settle).on("exit", ended)
    return Effect.sync(stop)
  })

const kill = (thread: Worker | undefined): Effect.Effect<void> =>
  thread === undefined ? Effect.void : Effect.asVoid(Effect.promise(() => thread.terminate()))

/**
 * Fails if the library is not installed.
 *
 * @internal
 */
export const installed: Effect.Effect<void, AlgebraError> = Effect.try({
  try: () => void createRequire(import.meta.url).resolve(library),
  catch: () => new AlgebraError({})
})

const start = (options: Options) =>
  Effect.gen(function* () {
    yield* installed
    const thread = new Worker(script("math/algebra.worker"), {
      resourceLimits: { maxOldGenerationSizeMb: options.memoryMegabytes ?? 512 },
      execArgv: []
    })
    // An error between proofs must not crash the process. The next proof detects that the thread is gone.
    thread.on("error", () => {})
    const ready = yield* reply(thread, options.startMillis ?? 30_000)
    if (ready !== undefined && !(ready instanceof Error)) return thread
    yield* kill(thread)
    return yield* new AlgebraError({ detail: ready?.message ?? "it took too long" })
  })

const table = {
  timeoutMillis: Tables.whole(1),
  memoryMegabytes: Tables.whole(1),
  startMillis: Tables.whole(1)
} satisfies Tables.ShapeOf<Options>

/**
 * Creates a prover. Its thread starts with the first proof, handles one proof at a time, and does not keep the process
 * alive.
 *
 * **Example**
 *
 * ```ts
 * import { Algebra } from "@divisi/graders/math"
 * import * as Effect from "effect/Effect"
 *
 * const algebra = Algebra.make()
 * const program = Effect.ensuring(algebra.prove("385", "\\sum_{k=1}^{10} k^2"), algebra.close)
 * await Effect.runPromise(program) // => "equal"
 * ```
 */
export const make = (options: Options = {}): Algebra => {
  Tables.check("Algebra.make", options, table)
  const one = Semaphore.makeUnsafe(1)
  let thread: Worker | undefined
  let proofs = 0
  const forget = Effect.suspend(() => {
    const old = thread
    thread = undefined
    proofs = 0
    return kill(old)
  })
  const ready = Effect.suspend(() => {
    if (thread !== undefined && thread.threadId !== -1 && proofs < maxProofs) return Effect.succeed(thread)
    return Effect.tap(Effect.andThen(forget, start(options)), (started) =>
      Effect.sync(() => {
        thread = started
      })
    )
  })
  const prove = (gold: string, answer: string) =>
    Effect.gen(function* () {
      const current = yield* ready
      current.postMessage({ id: ++proofs, gold, answer })
      const result = yield* reply(current, options.timeoutMillis ?? 2000)
      if (result !== undefined && !(result instanceof Error)) return result.isEqual ? "equal" : "not-proven"
      yield* forget
      return "exhausted"
    }).pipe(Effect.onInterrupt(() => forget))
  return {
    prove: (gold, answer) => one.withPermit(prove(gold, answer)),
    close: one.withPermit(forget)
  }
}
