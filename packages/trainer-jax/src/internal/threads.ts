/**
 * Compute threads, each with a separate jax-js. A single jax-js that uses several threads waits for all of them at
 * every kernel, and a small model runs thousands of kernels per second.
 *
 * The result of a task is bitwise identical on every thread.
 */
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import type { EngineError } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Pool from "effect/Pool"
import type { Reply } from "./compute.worker.ts"
import * as Problem from "./problem.ts"
import type { Snapshot } from "./snapshot.ts"
import type { Message, Results, Task } from "./threadTask.ts"

/** A thread, with the ids of the snapshots that it has loaded, most recently used last. */
export interface Thread {
  readonly worker: Worker
  snapshots: ReadonlyArray<number>
}

/** The threads of an engine. */
export interface Threads {
  readonly count: number
  readonly pool: Pool.Pool<Thread, EngineError>
  /**
   * Memory limit in bytes above which a thread is replaced, because jax-js retains the memory for every shape and
   * reuses it only for equal sizes.
   */
  readonly mostBytes: number
}

/**
 * Maximum number of snapshots per thread: the current weights, those of the sampler, and the reference for a KL
 * penalty.
 */
const maxSnapshots = 3

/** The build output is one folder higher than the source. */
const isSource = import.meta.url.endsWith(".ts")
const script = new URL(isSource ? "./compute.worker.ts" : "./internal/compute.worker.js", import.meta.url)

type Answer = Exclude<Reply, { readonly problem: string }>

/**
 * Waits for the next message from a thread. The process stays alive meanwhile, and may exit while no thread is busy.
 */
const reply = async (worker: Worker): Promise<Answer> => {
  const controller = new AbortController()
  const { signal } = controller
  const ended = once(worker, "exit", { signal }).then(([code]) => {
    throw new Error(`a thread exited with code ${code}.`)
  })
  ended.catch(() => {})
  worker.ref()
  try {
    const [said] = (await Promise.race([once(worker, "message", { signal }), ended])) as [Reply]
    if ("problem" in said) throw new Error(said.problem)
    return said
  } finally {
    controller.abort()
    worker.unref()
  }
}

/** Tracing creates much garbage. Without this limit, a thread permanently retains 134 MB for it. */
const maxYoungGenerationSizeMb = 32

const start = Effect.acquireRelease(
  Effect.tryPromise({
    try: async (): Promise<Thread> => {
      const worker = new Worker(script, { resourceLimits: { maxYoungGenerationSizeMb } })
      await reply(worker)
      return { worker, snapshots: [] }
    },
    catch: (cause) =>
      Problem.make(
        "open",
        `jax-js cannot start on this machine: ${cause instanceof Error ? cause.message : cause}`,
        "Failed"
      )
  }),
  ({ worker }) => Effect.promise(() => worker.terminate())
)

/** Starts threads. They are stopped when the scope closes. */
export const make = Effect.fnUntraced(function* ({ count, mostBytes }: Omit<Threads, "pool">) {
  const pool = yield* Pool.make({ acquire: start, size: count })
  yield* Pool.use(pool, () => Effect.void)
  return { count, mostBytes, pool } satisfies Threads
})

const ask = (thread: Thread, weights: Snapshot, task: Task): Promise<Answer> => {
  const { id } = weights
  const isHeld = thread.snapshots.includes(id)
  const held = [...thread.snapshots.filter((one) => one !== id), id]
  const forget = held.slice(0, -maxSnapshots)
  thread.snapshots = held.slice(-maxSnapshots)
  const message: Message = { id, weights: isHeld ? undefined : weights, forget, task }
  const answer = reply(thread.worker)
  thread.worker.postMessage(message)
  return answer
}

/** Executes a task on a thread. This cannot be interrupted. */
export const runOn = <A extends Task>(
  { mostBytes, pool }: Threads,
  thread: Thread,
  weights: Snapshot,
  task: A,
  doing: EngineError["doing"]
): Effect.Effect<Results[A["type"]], EngineError> =>
  Effect.tryPromise({
    try: () => ask(thread, weights, task),
    catch: (cause) => Problem.errorOf(doing, cause)
  }).pipe(
    // The state of the thread is now unknown.
    Effect.onError(() => Pool.invalidate(pool, thread)),
    Effect.tap(({ heldBytes }) => (heldBytes > mostBytes ? Pool.invalidate(pool, thread) : Effect.void)),
    Effect.map(({ value }) => value as Results[A["type"]]),
    Effect.uninterruptible
  )

/** Executes a task on the first free thread. */
export const run = <A extends Task>(
  threads: Threads,
  weights: Snapshot,
  task: A,
  doing: EngineError["doing"]
): Effect.Effect<Results[A["type"]], EngineError> =>
  Pool.use(threads.pool, (thread) => runOn(threads, thread, weights, task, doing))
