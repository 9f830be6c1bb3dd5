/**
 * Trains a head on whole runs with sep-CMA-ES, so that it can learn any use of the roles that improves runs.
 *
 * The fitness of a head is the mean score of the runs that its policy plans, minus a price on their cost. Each
 * generation samples a few tasks, which all its heads share. Runs are ordinary `Conductor` runs on a single account. At
 * the end, the evolved head and the initial head answer the same validation tasks, and the evolved head is returned
 * only if it is better by more than one standard error.
 *
 * If a file is given, the state of the search is saved after each generation. A later call with the same settings
 * resumes from it and produces the same result.
 */
import { createHash } from "node:crypto"
import fs from "node:fs"
import path from "node:path"
import { Budget, Callback, Embedder, Grader, Seed, StepFailure, Options as Tables, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { MeasuredSettings } from "@divisi/core/RunSettings"
import * as Task from "@divisi/core/Task"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import { Sealed, WholeFile } from "@divisi/files"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Head from "./Head.ts"
import * as HeadPolicy from "./HeadPolicy.ts"
import * as SepCmaEs from "./SepCmaEs.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Progress report for one generation. */
export interface Generation {
  /** The generation number, starting at 1. */
  readonly generation: number
  /** Mean and highest fitness among the heads of this generation. */
  readonly fitness: number
  readonly fittest: number
  /** Total number of runs up to this generation, and their total cost in USD. */
  readonly runs: number
  readonly costUsd: number
}

/** Options for {@link evolve}. */
export interface Options {
  /** The head to start from, as returned by `Head.fit`. */
  readonly head: Head.Head
  readonly pool: WorkerPool
  readonly grader: Grader.Grader
  /** Training tasks. At least one is required. */
  readonly tasks: ReadonlyArray<Task.Task>
  /** Validation tasks. At least two are required, and they must not overlap with the training tasks. */
  readonly validation: ReadonlyArray<Task.Task>
  /**
   * The embedder to use. Must be the one that the head was trained with. Each question is embedded once. Default:
   * `Embedder.hashed()`.
   */
  readonly embedder?: Embedder.Embedder | undefined
  /** The score that one USD is worth. Default: 0, which ignores cost. */
  readonly scorePerUsd?: number | undefined
  /**
   * The weights to evolve: `"all"`, as in the paper, or only the `"situations"` (default). The situation weights decide
   * which worker gets which role during a run, regardless of the question. There are about a hundred times fewer of
   * them, which makes the search correspondingly smaller.
   */
  readonly weights?: "all" | "situations" | undefined
  /** Number of generations. Default: 40. The paper uses 3 to 78. */
  readonly generations?: number | undefined
  /** Number of heads per generation. Default: `4 + 3 ln(weights)`, rounded up. */
  readonly population?: number | undefined
  /** Number of runs per head and generation. Default: 16, as in the paper. */
  readonly runs?: number | undefined
  /** Standard deviation of the weights of the first generation around the initial head. Default: 0.05. */
  readonly sigma?: number | undefined
  /** Seed for sampling. Default: 0. */
  readonly seed?: number | undefined
  /** Maximum number of concurrent runs. Default: 4. */
  readonly concurrency?: number | undefined
  /** Maximum total cost of all runs in USD, including validation. */
  readonly maxCostUsd?: number | undefined
  /** Settings for every run. The seed and the budget are set by the evolution. */
  readonly run?: Omit<MeasuredSettings, "seed" | "budget"> | undefined
  /** File in which to save the search after each generation. Not saved if omitted. */
  readonly file?: string | undefined
  readonly onGeneration?: ((generation: Generation) => void) | undefined
}

/** The result of an evolution. */
export interface Evolved {
  /** The evolved head if it is better, otherwise the initial head. */
  readonly head: Head.Head
  readonly isBetter: boolean
  /** Mean score of the initial head on the validation tasks that both heads completed without an outage. */
  readonly before: number
  readonly after: number
  /** Mean paired difference in fitness, with its standard error. It determines which head is returned. */
  readonly difference: number
  readonly standardError: number
  /** Mean cost of a validation run of the initial head, in USD. */
  readonly costBefore: number
  readonly costAfter: number
  /** Number of completed generations. Lower than requested if the budget was exhausted. */
  readonly generations: number
  readonly runs: number
  readonly costUsd: number
}

// -------------------------------------------------------------------------------------------------------------------
// Files
// -------------------------------------------------------------------------------------------------------------------

/** The version of the file format. */
const version = 1

const Saved = Schema.Struct({
  version: Schema.Literal(version),
  /** Hash of the settings and the initial head. A file with another key is not resumed. */
  key: Schema.String,
  generation: Schema.Int,
  sigma: Schema.Finite,
  mean: Schema.String,
  variance: Schema.String,
  sigmaPath: Schema.String,
  path: Schema.String,
  runs: Schema.Int,
  costUsd: Schema.Finite
})

const textOf = ({ buffer, byteLength, byteOffset }: Float64Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64")

const numbersOf = (text: string): Float64Array => {
  const bytes = Buffer.from(text, "base64")
  return new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}

/** The state of a search and the totals of its runs. */
interface Progress {
  readonly search: SepCmaEs.Search
  readonly runs: number
  readonly costUsd: number
}

const keyOf = (options: Options): string => {
  const { head, pool, population, runs, scorePerUsd, seed, sigma, tasks, weights } = options
  const parts = [
    Head.toJson(head),
    pool.workers.map(({ id }) => id),
    tasks,
    population,
    runs,
    scorePerUsd,
    seed,
    sigma,
    weights
  ]
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex")
}

const detailOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const decode = Schema.decodeUnknownSync(Saved)

const resumed = (file: string, key: string, fresh: SepCmaEs.Search): Effect.Effect<Progress, Head.HeadError> =>
  Effect.try({
    try: () => {
      if (!fs.existsSync(file)) return { search: fresh, runs: 0, costUsd: 0 }
      const saved = decode(Sealed.parse(fs.readFileSync(file, "utf8")))
      if (saved.key !== key) throw new Error("it belongs to another search")
      const { costUsd, generation, mean, path, runs, sigma, sigmaPath, variance } = saved
      const numbers = {
        mean: numbersOf(mean),
        variance: numbersOf(variance),
        sigmaPath: numbersOf(sigmaPath),
        path: numbersOf(path)
      }
      return { search: { ...fresh, ...numbers, generation, sigma }, runs, costUsd }
    },
    catch: (error) =>
      new Head.HeadError({
        detail: `Cannot resume from ${file}: ${detailOf(error)}. Choose another file, or remove it.`
      })
  })

const save = (file: string, key: string, { costUsd, runs, search }: Progress): Effect.Effect<void, Head.HeadError> =>
  Effect.gen(function* () {
    const { generation, mean, path: steps, sigma, sigmaPath, variance } = search
    const numbers = {
      mean: textOf(mean),
      variance: textOf(variance),
      sigmaPath: textOf(sigmaPath),
      path: textOf(steps)
    }
    yield* WholeFile.makeFolder(path.dirname(file))
    yield* WholeFile.write(
      file,
      `${Sealed.stringify({ version, key, generation, sigma, ...numbers, runs, costUsd })}\n`
    )
  }).pipe(Effect.mapError(({ message }) => new Head.HeadError({ detail: message })))

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

/** Caches the embedding of every question. Memory is bounded because only the questions of the tasks are embedded. */
const remembering = (embedder: Embedder.Embedder): Embedder.Embedder => {
  const known = new Map<string, Float32Array>()
  return {
    name: embedder.name,
    embed: (texts) => {
      const wanted = texts.filter((text) => !known.has(text))
      const all = () => texts.map((text) => known.get(text)!)
      if (wanted.length === 0) return Effect.succeed(all())
      return Effect.map(Embedder.ask(embedder, wanted), (points) => {
        for (const [at, text] of wanted.entries()) known.set(text, points[at]!)
        return all()
      })
    }
  }
}

/** The outcome of a single run. */
interface Played {
  /** Undefined if an outage makes the run unusable as evidence, for example an unreachable vendor or a rejected key. */
  readonly score: number | undefined
  readonly costUsd: number
  /** Whether the account stopped the run. */
  readonly isStopped: boolean
  readonly outage?: StepFailure.StepFailure | undefined
}

/** Runs the policy of a head on a task. */
type Play = (head: Head.Head, task: Task.Task, seed: number) => Effect.Effect<Played, Grader.GraderError>

const playing = (options: Options, ledger: Budget.Ledger): Play => {
  const { grader, pool, run = {} } = options
  const embedder = remembering(options.embedder ?? Embedder.hashed())
  return Effect.fnUntraced(function* (head, task, seed) {
    const conductor = Conductor.make({
      ...run,
      reassign: "never",
      pool,
      policy: HeadPolicy.make(head, { embedder })
    })
    const recorder = Transcript.recorder()
    const { answer, ending, spend } = yield* conductor.run(task, { seed, ledger, listener: recorder.listener })
    const played = { costUsd: spend.costUsd, isStopped: ending === "budget" }
    const [outage] = StepFailure.outagesOf(recorder.transcript()!)
    if (outage !== undefined) return { ...played, score: undefined, outage }
    const grade = answer === undefined ? undefined : yield* Grader.ask(grader, task, answer)
    return { ...played, score: grade?.score ?? 0 }
  })
}

type Measured = Played & { readonly score: number }

const isMeasured = (played: Played): played is Measured => played.score !== undefined

/** Returns the error for a generation that lost too many runs to outages. */
const workersDown = (played: ReadonlyArray<Played>): Head.HeadError => {
  const outages = played.flatMap(({ outage }) => outage ?? [])
  return new Head.HeadError({
    detail: `${outages.length} of ${played.length} runs were not measured: ${StepFailure.summaryOf(outages)}. Run the same command again when the workers respond.`
  })
}

const meanOf = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Returns the indices of the weights to evolve. */
const evolvedOf = ({ head, weights = "situations" }: Options): ReadonlyArray<number> =>
  weights === "all" ? [...head.weights.keys()] : Head.situationWeights(head)

const withWeights = (head: Head.Head, at: ReadonlyArray<number>, values: Float64Array): Head.Head => {
  const weights = head.weights.slice()
  for (const [index, place] of at.entries()) weights[place] = values[index]!
  return { ...head, weights }
}

// -------------------------------------------------------------------------------------------------------------------
// Evolving
// -------------------------------------------------------------------------------------------------------------------

/** Samples the tasks of a generation, each with a seed for its runs. */
const drawn = (tasks: ReadonlyArray<Task.Task>, count: number, seed: number, generation: number) => {
  const draw = Seed.draw(Seed.spread(seed, "tasks", generation))
  return Array.from({ length: count }, (_, at) => ({
    task: Seed.pick(draw, tasks),
    seed: Seed.spread(seed, "run", generation, at)
  }))
}

const table = Tables.table(
  {
    head: Tables.anObject,
    pool: Tables.anObject,
    grader: Tables.madeBy("a grader", "grade"),
    tasks: Tables.expects("a list of tasks", Array.isArray),
    validation: Tables.expects("a list of tasks", Array.isArray),
    embedder: Tables.madeBy("an embedder", "embed"),
    scorePerUsd: Tables.number(0),
    weights: Tables.oneOf("all", "situations"),
    generations: Tables.whole(1),
    population: Tables.whole(2),
    runs: Tables.whole(1),
    sigma: Tables.number(Number.MIN_VALUE),
    seed: Tables.whole(0),
    concurrency: Tables.whole(1),
    maxCostUsd: Tables.limit,
    run: Tables.anObject,
    file: Tables.name,
    onGeneration: Tables.aFunction
  } satisfies Tables.ShapeOf<Options>,
  { required: ["head", "pool", "grader", "tasks", "validation"] }
)

const check = ({ tasks, validation }: Options): Effect.Effect<void, Head.HeadError> => {
  const known = new Set(tasks.map((task) => Task.question(task)))
  const shared = validation.filter((task) => known.has(Task.question(task))).length
  const problem =
    tasks.length < 1 || validation.length < 2
      ? "At least one training task and two validation tasks are needed."
      : shared > 0
        ? `${shared} of the validation tasks are also training tasks.`
        : undefined
  return problem === undefined ? Effect.void : Effect.fail(new Head.HeadError({ detail: problem }))
}

/**
 * Evolves a head on whole runs.
 *
 * **Details**
 *
 * Performs `generations × population × runs` runs, plus two for each validation task. Stops early if the remaining
 * budget (`maxCostUsd`) does not cover the validation of the evolved head, which is estimated to cost twice as much as
 * that of the initial head.
 *
 * **Gotchas**
 *
 * With real workers, every run costs money: 16 runs for each of 32 heads are 512 runs per generation. Pass a
 * `ResponseCache` to the Conductor, so that identical calls are paid for only once.
 *
 * **Example**
 *
 * ```ts no-run
 * import type { Grader } from "@divisi/core"
 * import type { Task } from "@divisi/core/Task"
 * import type { WorkerPool } from "@divisi/core/WorkerPool"
 * import { Evolution, Head } from "@divisi/policy-router"
 * import * as Effect from "effect/Effect"
 *
 * // Your own: a head that was fitted, the pool, and 700 tasks that the grader can grade.
 * declare const head: Head.Head
 * declare const pool: WorkerPool
 * declare const grader: Grader.Grader
 * declare const graded: ReadonlyArray<Task>
 *
 * const [tasks, validation] = [graded.slice(0, 500), graded.slice(500)]
 * const { difference, standardError } = await Effect.runPromise(
 *   Evolution.evolve({ head, pool, grader, tasks, validation, file: "search.json" })
 * )
 * ```
 */
export const evolve = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Evolved, Head.HeadError | Grader.GraderError> {
  yield* Effect.mapError(
    Tables.checked("Evolution.evolve", options, table),
    ({ message }) => new Head.HeadError({ detail: message })
  )
  yield* check(options)
  const { concurrency = 4, file, generations = 40, head, maxCostUsd, runs = 16, scorePerUsd = 0, seed = 0 } = options
  const key = keyOf(options)
  const evolving = evolvedOf(options)
  const fresh = SepCmaEs.make({
    mean: evolving.map((at) => head.weights[at]!),
    sigma: options.sigma ?? 0.05,
    population: options.population,
    seed
  })
  let {
    costUsd: paidBefore,
    runs: made,
    search
  } = file === undefined ? { search: fresh, runs: 0, costUsd: 0 } : yield* resumed(file, key, fresh)
  const ledger = Budget.make({
    costUsd: maxCostUsd === undefined ? undefined : Math.max(0, maxCostUsd - paidBefore)
  })
  const play = playing(options, ledger)
  const fitnessOf = ({ costUsd, score }: Measured) => score - scorePerUsd * costUsd
  const validate = (one: Head.Head) =>
    Effect.forEach(options.validation, (task, at) => play(one, task, Seed.spread(seed, "validation", at)), {
      concurrency
    })
  const spent = () => paidBefore + ledger.spent().costUsd
  const start = yield* validate(head)
  // Reserve the cost of validating the evolved head, which may be more expensive.
  const reserved = 2 * start.reduce((sum, { costUsd }) => sum + costUsd, 0)
  const canGoOn = () => maxCostUsd === undefined || spent() + reserved < maxCostUsd
  while (search.generation < generations && canGoOn()) {
    const heads = SepCmaEs.ask(search).map((values) => withWeights(head, evolving, values))
    const batch = drawn(options.tasks, runs, seed, search.generation)
    const played = yield* Effect.forEach(
      heads.flatMap((one) => batch.map(({ seed, task }) => play(one, task, seed))),
      (run) => run,
      { concurrency }
    )
    if (played.some(({ isStopped }) => isStopped)) break
    const measured = heads.map((_, at) => played.slice(at * runs, (at + 1) * runs).filter(isMeasured))
    if (measured.some((runs) => runs.length === 0)) return yield* workersDown(played)
    const fitness = measured.map((runs) => meanOf(runs.map(fitnessOf)))
    search = SepCmaEs.tell(search, fitness)
    made += played.length
    if (file !== undefined) yield* save(file, key, { search, runs: made, costUsd: spent() })
    const { generation } = search
    const told = { generation, fitness: meanOf(fitness), fittest: Math.max(...fitness), runs: made, costUsd: spent() }
    Callback.notifyLogged("onGeneration", () => options.onGeneration?.(told))
  }
  const evolved: Head.Head = {
    ...withWeights(head, evolving, search.mean),
    training: { ...head.training, generations: search.generation, runs: made }
  }
  const end = yield* validate(evolved)
  const pairs = start.flatMap((before, at) => {
    const after = end[at]!
    return isMeasured(before) && isMeasured(after) ? [{ before, after }] : []
  })
  if (pairs.length < 2) return yield* workersDown([...start, ...end])
  const differences = pairs.map(({ after, before }) => fitnessOf(after) - fitnessOf(before))
  const difference = meanOf(differences)
  const squares = differences.reduce((sum, value) => sum + (value - difference) ** 2, 0)
  const standardError = Math.sqrt(squares / differences.length / (differences.length - 1))
  const isWhole = [...start, ...end].every(({ isStopped }) => !isStopped)
  const isBetter = isWhole && difference > standardError
  return {
    head: isBetter ? evolved : head,
    isBetter,
    before: meanOf(pairs.map(({ before }) => before.score)),
    after: meanOf(pairs.map(({ after }) => after.score)),
    difference,
    standardError,
    costBefore: meanOf(pairs.map(({ before }) => before.costUsd)),
    costAfter: meanOf(pairs.map(({ after }) => after.costUsd)),
    generations: search.generation,
    runs: made,
    costUsd: spent()
  }
})
