/**
 * Baseline policies to compare a Conductor with. Each writes the same workflow for every question, so its cost, tokens
 * and accuracy are measured in the same way as for any other policy.
 */
import * as Result from "effect/Result"
import * as Options from "../Options.ts"
import * as Seed from "../Seed.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import type { Access, Step } from "../workflow/Workflow.ts"
import { type Policy, planned, withoutPrices } from "./Policy.ts"

/** Refers to a worker in the pool by index or id. */
export type WorkerReference = number | string

/**
 * Returns the index of the referenced worker, or fails with a message if it is not in the pool.
 *
 * @internal
 */
export const ordinal = (pool: WorkerPool, reference: WorkerReference): Result.Result<number, string> => {
  const { workers } = pool
  if (typeof reference === "string") {
    const found = workers.findIndex((worker) => worker.id === reference)
    const known = workers.map((worker) => worker.id).join(", ")
    return found >= 0 ? Result.succeed(found) : Result.fail(`worker "${reference}" is not in the pool: ${known}.`)
  }
  return workers[reference] === undefined
    ? Result.fail(`worker ${reference} does not exist; the pool has ${workers.length} workers, numbered from 0.`)
    : Result.succeed(reference)
}

const ordinals = (
  pool: WorkerPool,
  references: ReadonlyArray<WorkerReference> | undefined
): Result.Result<ReadonlyArray<number>, string> => {
  if (references === undefined) return Result.succeed(pool.workers.map((_, index) => index))
  return references.length === 0
    ? Result.fail("the list of workers is empty.")
    : Result.all(references.map((reference) => ordinal(pool, reference)))
}

const aWorker = Options.expects("a worker's id or its number in the pool, from 0", (value) =>
  typeof value === "string" ? value !== "" : Number.isSafeInteger(value) && (value as number) >= 0
)
const workersOf = Options.listOf(aWorker)
const count = Options.whole(1)

/**
 * A step that answers the question independently. An empty subtask means the question itself, so the step is equivalent
 * to a single call.
 */
const attempt = (worker: number): Step => ({ worker, subtask: "", access: [] })

const fixed: typeof planned = (...plan) => withoutPrices(planned(...plan))

const instructions = {
  judge:
    "Above are independent answers to the question. Check each of them against the question: they may all be wrong. Give the right final answer, in the form that the question asks for, and nothing else.",
  reflect:
    "Above are your answers to the question so far. Look for mistakes in the last one: what was misread, left out, or worked out wrongly? Give the final answer, corrected where needed, in the form that the question asks for, and nothing else.",
  aggregate:
    "Above are answers of several models to the question. Weigh them critically: some may be partial or wrong. Combine what is right in them into one complete and correct answer, in the form that the question asks for."
}

/**
 * Creates a policy that sends each question to one worker, unchanged.
 *
 * `failover` determines whether the next worker takes over if this one fails. Defaults to `false`, because the caller
 * selected the worker explicitly.
 */
export const single = (worker: WorkerReference, options: { readonly failover?: boolean | undefined } = {}): Policy => {
  Options.check("single", options, { failover: Options.flag })
  return {
    ...fixed(`single:${worker}`, ({ pool }) =>
      Result.map(ordinal(pool, worker), (worker) => ({ steps: [attempt(worker)] }))
    ),
    failover: options.failover ?? false
  }
}

/**
 * Creates a policy that sends each task to a randomly chosen worker. The same seed and task always select the same
 * worker. `seed` defaults to the run's seed.
 */
export const randomRouter = (options: { readonly seed?: number | undefined } = {}): Policy => {
  Options.check("randomRouter", options, { seed: Options.whole(0) })
  return fixed("random", ({ pool, seed, task }) =>
    Result.succeed({
      steps: [attempt(Seed.index(pool.workers.length, Seed.derive(options.seed ?? seed, "random", task.id)))]
    })
  )
}

/**
 * Creates a best-of-n policy: several independent attempts, and a judge that sees all of them.
 *
 * **Details**
 *
 * The `n` attempts (default 3) are distributed round-robin over `workers` (default: the whole pool). `judge` defaults
 * to the first worker in the pool.
 */
export const bestOf = (
  options: {
    readonly n?: number | undefined
    readonly judge?: WorkerReference | undefined
    readonly workers?: ReadonlyArray<WorkerReference> | undefined
  } = {}
): Policy => {
  Options.check("bestOf", options, { n: count, judge: aWorker, workers: workersOf })
  const n = options.n ?? 3
  return fixed(
    `best-of-${n}`,
    ({ pool }) =>
      Result.map(
        Result.all([ordinals(pool, options.workers), ordinal(pool, options.judge ?? 0)]),
        ([workers, judge]) => ({
          steps: [
            ...Array.from({ length: n }, (_, index) => attempt(workers[index % workers.length]!)),
            { worker: judge, subtask: instructions.judge, access: "all" }
          ]
        })
      ),
    n + 1
  )
}

/**
 * Creates a self-consistency policy: a majority vote over `n` independent samples from one worker. Defaults to 5
 * samples from the first worker.
 *
 * **Details**
 *
 * Samples agree if their final answers are equal. The final answer is the content of the last `\boxed{…}`, the text
 * between `<answer>` tags or after "answer:" or "answer is", or else the whole text. The run's answer is the complete
 * text of the first sample with the winning answer.
 */
export const selfConsistency = (
  options: { readonly n?: number | undefined; readonly worker?: WorkerReference | undefined } = {}
): Policy => {
  Options.check("selfConsistency", options, { n: count, worker: aWorker })
  const n = options.n ?? 5
  const policy = fixed(
    `self-consistency-${n}`,
    ({ pool }) =>
      Result.map(ordinal(pool, options.worker ?? 0), (worker) => ({
        steps: Array.from({ length: n }, () => attempt(worker)),
        answer: "majority"
      })),
    n
  )
  return { ...policy, failover: options.worker === undefined }
}

/**
 * Creates a policy in which one worker (the first by default) answers and then reviews its own answers `rounds` times
 * (default 5).
 */
export const selfReflection = (
  options: { readonly rounds?: number | undefined; readonly worker?: WorkerReference | undefined } = {}
): Policy => {
  Options.check("selfReflection", options, { rounds: count, worker: aWorker })
  const rounds = options.rounds ?? 5
  const policy = fixed(
    `self-reflection-${rounds}`,
    ({ pool }) =>
      Result.map(ordinal(pool, options.worker ?? 0), (worker) => ({
        steps: [
          attempt(worker),
          ...Array.from({ length: rounds }, (): Step => ({ worker, subtask: instructions.reflect, access: "all" }))
        ]
      })),
    rounds + 1
  )
  return { ...policy, failover: options.worker === undefined }
}

/**
 * Creates a Mixture-of-Agents policy: layers of proposers, each of which sees all answers of the previous layer,
 * followed by an aggregator that sees the answers of the last layer.
 *
 * **Details**
 *
 * Defaults to one layer with the whole pool as proposers and its first worker as the aggregator. With the paper's 7
 * workers, this results in 8 calls, as in the paper.
 */
export const mixtureOfAgents = (
  options: {
    readonly layers?: number | undefined
    readonly proposers?: ReadonlyArray<WorkerReference> | undefined
    readonly aggregator?: WorkerReference | undefined
  } = {}
): Policy => {
  Options.check("mixtureOfAgents", options, { layers: count, proposers: workersOf, aggregator: aWorker })
  const layers = options.layers ?? 1
  const { proposers } = options
  return fixed(
    "mixture-of-agents",
    ({ pool }) =>
      Result.map(
        Result.all([ordinals(pool, proposers), ordinal(pool, options.aggregator ?? 0)]),
        ([workers, aggregator]) => ({ steps: mixture(workers, layers, aggregator) })
      ),
    // Without an explicit list, the number of proposers depends on the pool.
    proposers === undefined ? Number.MAX_SAFE_INTEGER : layers * proposers.length + 1
  )
}

const mixture = (workers: ReadonlyArray<number>, layers: number, aggregator: number): ReadonlyArray<Step> => {
  const layer = (index: number): Access => workers.map((_, at) => index * workers.length + at)
  const refine = (worker: number, index: number): Step => ({
    worker,
    subtask: instructions.aggregate,
    access: layer(index - 1)
  })
  const proposals = Array.from({ length: layers }, (_, index) =>
    workers.map((worker) => (index === 0 ? attempt(worker) : refine(worker, index)))
  )
  return [...proposals.flat(), refine(aggregator, layers)]
}
