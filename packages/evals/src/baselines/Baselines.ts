/**
 * Named baselines to compare a Conductor with.
 *
 * Each consists of one or more policies that the same Conductor runs, so cost, tokens and failures are counted in the
 * same way. Some are trained first, on samples from tasks outside the evaluation.
 *
 * A list of baselines has entries of the form `name[:number][@worker]`, separated by commas, e.g.
 * `single,self-consistency:5,best-of:3@openai:gpt-6.1-sol`. If a baseline needs a worker and the list does not specify
 * one, it uses the best worker of the recorded samples, or the pool's first worker if there are no samples.
 */
import { Baselines, Embedder, Nearest, Options as Tables } from "@divisi/core"
import type * as Policy from "@divisi/core/Policy"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Record } from "../evaluation/Recording.ts"
import * as MasRouter from "./masRouter.ts"
import * as RouterDc from "./routerDc.ts"
import { standings, type WorkerSample } from "./samples.ts"
import * as Smoothie from "./smoothie.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A policy used for comparison. */
export interface Baseline {
  readonly policy: Policy.Policy
  /** Factor by which the output token limit of each call is multiplied. Default: 1. */
  readonly outputTokensFactor?: number | undefined
}

/** Options for creating baselines. */
export interface Options<E> {
  readonly pool: WorkerPool
  /**
   * Runs policies on training tasks. Called once for all single workers, and once for the policies that a baseline
   * tries.
   */
  readonly record?: Record<E> | undefined
  /** Embedder used by learned baselines. Default: `Embedder.hashed()`. */
  readonly embedder?: Embedder.Embedder | undefined
  /** Seed used for training. Default: 0. */
  readonly seed?: number | undefined
}

/** One entry in a list of baselines. */
export interface Named {
  readonly text: string
  readonly name: string
  readonly number?: number | undefined
  readonly worker?: string | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** A list of baselines could not be parsed, or a baseline could not be created. */
export class BaselineError extends Data.TaggedError("BaselineError")<{
  readonly baseline: string
  readonly detail: string
}> {
  override get message(): string {
    return `The baseline "${this.baseline}" ${this.detail}`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Table
// -------------------------------------------------------------------------------------------------------------------

interface Ingredients<E> {
  readonly named: Named
  readonly number: number
  /** The worker named in the list, or the best one. */
  readonly worker: string
  readonly pool: WorkerPool
  readonly samples: ReadonlyArray<WorkerSample>
  readonly record: Record<E>
  readonly embedder: Embedder.Embedder
  readonly seed: number
}

/** Description of an available baseline. */
export interface Entry {
  readonly name: string
  readonly description: string
  /** Meaning and default of the baseline's number. Omitted if the baseline has no number. */
  readonly number?: { readonly meaning: string; readonly default: number } | undefined
  /** Whether the baseline accepts a worker id. */
  readonly takesWorker: boolean
  /** Whether it requires recorded samples. */
  readonly learns: boolean
}

interface Row extends Entry {
  readonly make: <E>(from: Ingredients<E>) => Effect.Effect<ReadonlyArray<Baseline>, E | Embedder.EmbedderError>
}

/** Renames a policy to its name in the list. */
const titled = (policy: Policy.Policy, { text }: Named): Policy.Policy => ({ ...policy, name: text })

const one = (policy: Policy.Policy, named: Named): Effect.Effect<ReadonlyArray<Baseline>> =>
  Effect.succeed([{ policy: titled(policy, named) }])

const fitted = <E>(policy: Effect.Effect<Policy.Policy, E>): Effect.Effect<ReadonlyArray<Baseline>, E> =>
  Effect.map(policy, (policy) => [{ policy }])

const rows: ReadonlyArray<Row> = [
  {
    name: "single",
    description: "each worker alone, as a separate policy",
    takesWorker: true,
    learns: false,
    make: ({ named, pool }) =>
      Effect.succeed(
        pool.workers
          .filter(({ id }) => named.worker === undefined || id === named.worker)
          .map(({ id }) => ({ policy: Baselines.single(id) }))
      )
  },
  {
    name: "best",
    description: "always the worker that was best on the training tasks",
    takesWorker: false,
    learns: true,
    make: ({ named, worker }) => one(Baselines.single(worker), named)
  },
  {
    name: "context",
    description: "one worker with a multiple of the output tokens",
    number: { meaning: "a multiple of the output tokens", default: 5 },
    takesWorker: true,
    learns: false,
    make: ({ named, number, worker }) =>
      Effect.succeed([{ policy: titled(Baselines.single(worker), named), outputTokensFactor: number }])
  },
  {
    name: "self-consistency",
    description: "several samples from one worker; the most frequent answer is used",
    number: { meaning: "samples", default: 5 },
    takesWorker: true,
    learns: false,
    make: ({ named, number, worker }) => one(Baselines.selfConsistency({ n: number, worker }), named)
  },
  {
    name: "self-reflection",
    description: "one worker that reviews its own answer repeatedly",
    number: { meaning: "rounds of review", default: 5 },
    takesWorker: true,
    learns: false,
    make: ({ named, number, worker }) => one(Baselines.selfReflection({ rounds: number, worker }), named)
  },
  {
    name: "best-of",
    description: "attempts by the workers in turn, and a judge that sees all attempts",
    number: { meaning: "attempts", default: 5 },
    takesWorker: true,
    learns: false,
    make: ({ named, number, worker }) => one(Baselines.bestOf({ n: number, judge: worker }), named)
  },
  {
    name: "moa",
    description: "Mixture-of-Agents: all workers answer, and one combines their answers",
    number: { meaning: "layers", default: 1 },
    takesWorker: true,
    learns: false,
    make: ({ named, number, worker }) => one(Baselines.mixtureOfAgents({ layers: number, aggregator: worker }), named)
  },
  {
    name: "random",
    description: "one random worker per task",
    takesWorker: false,
    learns: false,
    make: ({ named }) => one(Baselines.randomRouter(), named)
  },
  {
    name: "routerdc-light",
    description: "a router of embedded questions, learned from workers' accuracies with contrastive losses",
    takesWorker: false,
    learns: true,
    make: ({ embedder, named, samples, seed }) => fitted(RouterDc.fit(named.text, samples, embedder, { seed }))
  },
  {
    name: "masrouter-light",
    description: "a cascade that chooses a collaboration shape, then its workers",
    takesWorker: false,
    learns: true,
    make: ({ embedder, named, record, samples }) => fitted(MasRouter.fit(named.text, samples, embedder, record))
  },
  {
    name: "smoothie-independent",
    description: "the worker whose answers are closest to all others', without labels",
    takesWorker: false,
    learns: true,
    make: ({ embedder, named, samples }) => fitted(Smoothie.independent(named.text, samples, embedder))
  },
  {
    name: "smoothie-dependent",
    description: "the same, using only the nearest training questions",
    number: { meaning: "neighbours", default: 20 },
    takesWorker: false,
    learns: true,
    make: ({ embedder, named, number, samples }) =>
      fitted(Smoothie.dependent(named.text, samples, embedder, { neighbours: number }))
  }
]

const rowOf = (name: string): Row | undefined => rows.find((row) => row.name === name)

/** All available baselines, for lists and help texts. */
export const table: ReadonlyArray<Entry> = rows.map(({ make: _, ...entry }) => entry)

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const problemOf = ({ name, number, worker }: Named, row: Row | undefined): string | undefined => {
  if (row === undefined) {
    const names = rows.map((row) => row.name)
    const meant = Nearest.nearest(name, names)
    return `does not exist.${Nearest.didYouMean(meant)} Available: ${names.join(", ")}.`
  }
  if (number !== undefined && row.number === undefined) return `does not accept a number. Use "${name}".`
  if (number !== undefined && number < 1) return `is not valid: its number (${row.number!.meaning}) must be at least 1.`
  return worker !== undefined && !row.takesWorker ? `does not accept a worker. Use "${name}".` : undefined
}

const readOne = (text: string): Result.Result<Named, BaselineError> => {
  const match = /^([a-z-]+)(?::(\d+))?(?:@(.+))?$/.exec(text)
  if (match === null) {
    const detail = "is not valid. Use name, name:number, name@worker or name:number@worker."
    return Result.fail(new BaselineError({ baseline: text, detail }))
  }
  const [, name, number, worker] = match
  const named = {
    text,
    name: name!,
    number: number === undefined ? undefined : Number(number),
    worker
  }
  const problem = problemOf(named, rowOf(named.name))
  return problem === undefined
    ? Result.succeed(named)
    : Result.fail(new BaselineError({ baseline: text, detail: problem }))
}

/**
 * Parses a list of baselines.
 *
 * **Example**
 *
 * ```ts
 * import { Baselines } from "@divisi/evals"
 * import * as Result from "effect/Result"
 *
 * const named = Result.getOrThrow(Baselines.read("single, self-consistency:5@professor"))
 * named[1] // => { text: "self-consistency:5@professor", name: "self-consistency", number: 5, worker: "professor" }
 * ```
 */
export const read = (list: string): Result.Result<ReadonlyArray<Named>, BaselineError> =>
  Result.all([...new Set(list.split(",").map((part) => part.trim()))].filter((part) => part !== "").map(readOne))

/** Whether any of the baselines requires recorded samples. */
export const needRecording = (named: ReadonlyArray<Named>): boolean => named.some(({ name }) => rowOf(name)!.learns)

// -------------------------------------------------------------------------------------------------------------------
// Making
// -------------------------------------------------------------------------------------------------------------------

const noRecord =
  <E>(): Record<E> =>
  () =>
    Effect.succeed([])

const recordSingles = <E>(pool: WorkerPool, record: Record<E>): Effect.Effect<ReadonlyArray<WorkerSample>, E> => {
  const workers = new Map(pool.workers.map(({ id }) => [Baselines.single(id).name, id]))
  return Effect.map(record(pool.workers.map(({ id }) => Baselines.single(id))), (samples) =>
    samples.flatMap((sample) => {
      const worker = workers.get(sample.policy)
      return worker === undefined ? [] : [{ ...sample, worker }]
    })
  )
}

const optionsTable = Tables.table(
  {
    pool: Tables.expects("a WorkerPool", (value) => typeof value === "object" && value !== null && "workers" in value),
    record: Tables.aFunction,
    embedder: Tables.madeBy("an embedder", "embed"),
    seed: Tables.whole(0)
  } satisfies Tables.ShapeOf<Options<never>>,
  { required: ["pool"] }
)

const check = <E>(named: Named, { pool, record }: Options<E>): Effect.Effect<void, BaselineError> => {
  const fail = (detail: string) => Effect.fail(new BaselineError({ baseline: named.text, detail }))
  if (rowOf(named.name)!.learns && record === undefined) {
    return fail("must be trained first, but there are no training tasks. Pass some (`--learn`, or `record` in code).")
  }
  const ids = pool.workers.map(({ id }) => id)
  return named.worker === undefined || ids.includes(named.worker)
    ? Effect.void
    : fail(`names a worker that is not in the pool. Workers: ${ids.join(", ")}.`)
}

/**
 * Creates baselines, and trains them if needed.
 *
 * **Details**
 *
 * If `record` is set, single workers are recorded once for all baselines. The same seed, samples and embedder produce
 * the same policies. A trained policy refers to workers by id, so it works with any subset of the pool.
 *
 * **Example**
 *
 * ```ts
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import { Baselines } from "@divisi/evals"
 * import * as Effect from "effect/Effect"
 * import * as Result from "effect/Result"
 *
 * const pool = WorkerPool.makeUnsafe([ScriptedWorker.echo("a"), ScriptedWorker.echo("b")])
 * const named = Result.getOrThrow(Baselines.read("single,context:5@b"))
 * const baselines = await Effect.runPromise(Baselines.make(named, { pool }))
 * baselines.map(({ policy }) => policy.name) // => ["single:a", "single:b", "context:5@b"]
 * ```
 */
export const make = Effect.fnUntraced(function* <E = never>(named: ReadonlyArray<Named>, options: Options<E>) {
  yield* Effect.mapError(
    Tables.checked("Baselines.make", options, optionsTable),
    ({ detail }) => new BaselineError({ baseline: "make", detail })
  )
  const { embedder = Embedder.hashed(), pool, record, seed = 0 } = options
  yield* Effect.forEach(named, (one) => check(one, options), { discard: true })
  const samples = record === undefined ? [] : yield* recordSingles(pool, record)
  if (record !== undefined && samples.length === 0 && needRecording(named)) {
    const baseline = named.find(({ name }) => rowOf(name)!.learns)!.text
    return yield* new BaselineError({ baseline, detail: "has nothing to learn from: the recording is empty." })
  }
  const best = standings(samples)[0]?.worker ?? pool.workers[0].id
  const made = yield* Effect.forEach(named, (one) => {
    const row = rowOf(one.name)!
    return row.make({
      named: one,
      number: one.number ?? row.number?.default ?? 1,
      worker: one.worker ?? best,
      pool,
      samples,
      record: record ?? noRecord<E>(),
      embedder,
      seed
    })
  })
  return made.flat()
})
