/**
 * Threads that compute, each with a jax-js of its own: one that is spread over threads by jax-js itself waits for them
 * at every kernel, of which a small model has thousands a second.
 *
 * Which thread does a piece of work changes none of its bits.
 */
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import type { EngineError } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Pool from "effect/Pool"
import type { Reply } from "./compute.worker.ts"
import type { Kept } from "./kept.ts"
import * as Problem from "./problem.ts"
import type { Message, Results, Task } from "./work.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A thread, with the ids of the weights that it keeps, those used last at the end. */
export interface Thread {
  readonly worker: Worker
  kept: ReadonlyArray<number>
}

/** Threads of one engine. */
export interface Threads {
  readonly count: number
  readonly pool: Pool.Pool<Thread, EngineError>
  /** A thread that holds more is replaced: jax-js keeps what a shape needed, and uses it for equal sizes only. */
  readonly mostBytes: number
}

/** The present weights, those that are sampled from, and those that a penalty holds them to. */
const mostKept = 3

// -------------------------------------------------------------------------------------------------------------------
// Talking
// -------------------------------------------------------------------------------------------------------------------

/** In a build, this code stands one folder up. */
const isSource = import.meta.url.endsWith(".ts")
const script = new URL(isSource ? "./compute.worker.ts" : "./internal/compute.worker.js", import.meta.url)

type Answer = Exclude<Reply, { readonly problem: string }>

/** What a thread says next. The process does not end meanwhile, and may end while no thread is asked. */
const reply = async (worker: Worker): Promise<Answer> => {
  const controller = new AbortController()
  const { signal } = controller
  const ended = once(worker, "exit", { signal }).then(([code]) => {
    throw new Error(`a thread ended with ${code}.`)
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

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Tracing makes much garbage, for which a thread would hold 134 MB from then on. */
const maxYoungGenerationSizeMb = 32

const start = Effect.acquireRelease(
  Effect.tryPromise({
    try: async (): Promise<Thread> => {
      const worker = new Worker(script, { resourceLimits: { maxYoungGenerationSizeMb } })
      await reply(worker)
      return { worker, kept: [] }
    },
    catch: (cause) =>
      Problem.make("open", `jax-js does not start here: ${cause instanceof Error ? cause.message : cause}`, "Failed")
  }),
  ({ worker }) => Effect.promise(() => worker.terminate())
)

/** Starts threads; they end with the scope. */
export const make = Effect.fnUntraced(function* ({ count, mostBytes }: Omit<Threads, "pool">) {
  const pool = yield* Pool.make({ acquire: start, size: count })
  yield* Pool.use(pool, () => Effect.void)
  return { count, mostBytes, pool } satisfies Threads
})

// -------------------------------------------------------------------------------------------------------------------
// Work
// -------------------------------------------------------------------------------------------------------------------

const ask = (thread: Thread, weights: Kept, task: Task): Promise<Answer> => {
  const { id } = weights
  const isKept = thread.kept.includes(id)
  const kept = [...thread.kept.filter((one) => one !== id), id]
  const forget = kept.slice(0, -mostKept)
  thread.kept = kept.slice(-mostKept)
  const message: Message = { id, weights: isKept ? undefined : weights, forget, task }
  const answer = reply(thread.worker)
  thread.worker.postMessage(message)
  return answer
}

/** Does a piece of work on a thread. It cannot be stopped half-way. */
export const runOn = <A extends Task>(
  { mostBytes, pool }: Threads,
  thread: Thread,
  weights: Kept,
  task: A,
  doing: EngineError["doing"]
): Effect.Effect<Results[A["type"]], EngineError> =>
  Effect.tryPromise({
    try: () => ask(thread, weights, task),
    catch: (cause) => Problem.errorOf(doing, cause)
  }).pipe(
    // What it keeps is not known any more.
    Effect.onError(() => Pool.invalidate(pool, thread)),
    Effect.tap(({ heldBytes }) => (heldBytes > mostBytes ? Pool.invalidate(pool, thread) : Effect.void)),
    Effect.map(({ value }) => value as Results[A["type"]]),
    Effect.uninterruptible
  )

/** Does a piece of work on the first thread that is free. */
export const run = <A extends Task>(
  threads: Threads,
  weights: Kept,
  task: A,
  doing: EngineError["doing"]
): Effect.Effect<Results[A["type"]], EngineError> =>
  Pool.use(threads.pool, (thread) => runOn(threads, thread, weights, task, doing))
