/**
 * Trainer: runs the phases of a training run with an engine, and stores the run in a folder.
 *
 * A run can be stopped or killed at any time, or can reach its cost limit. Resuming it from its last checkpoint gives
 * the same result as an uninterrupted run. Progress is reported only through events (`TrainingEvent`).
 */
import { Budget, Callback, type Grader, Seed, Options as Tables } from "@divisi/core"
import type { Policy } from "@divisi/core/Policy"
import type { Worker } from "@divisi/core/Worker"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as Curriculum from "./Curriculum.ts"
import type { Engine, Sampler } from "./Engine.ts"
import type { ExampleSource } from "./ExampleSource.ts"
import * as EngineCost from "./internal/engineCost.ts"
import * as GrpoPhase from "./internal/grpoPhase.ts"
import * as KeptRollouts from "./internal/keptRollouts.ts"
import * as RetryingEngine from "./internal/retryingEngine.ts"
import * as Session from "./internal/session.ts"
import { inputTable, partsTable, startTable } from "./internal/tables.ts"
import * as WarmStartPhase from "./internal/warmStartPhase.ts"
import { type Unlearned, unlearned as unlearnedIn } from "./Lessons.ts"
import * as Machines from "./Machines.ts"
import * as Objective from "./Objective.ts"
import * as Rollout from "./Rollout.ts"
import * as RunFolder from "./RunFolder.ts"
import type { TaskSource } from "./TaskSource.ts"
import { type PhaseConfig, type TrainingConfig, version } from "./TrainingConfig.ts"
import { ConfigError, type TrainingError } from "./TrainingError.ts"
import type { Ending, Listener } from "./TrainingEvent.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The inputs of a held-out evaluation. */
export interface EvaluationContext {
  /** Number of completed iterations. */
  readonly iteration: number
  /** Sampler for the current weights. */
  readonly sampler: Sampler
  /** The sampler as a worker, for use with `LanguagePolicy`. */
  readonly model: Worker
  readonly engine: Engine
}

/** The parts of a run that cannot be serialized. Pass the same parts when you resume the run. */
export interface Parts {
  readonly engine: Engine
  readonly pool: WorkerPool
  readonly grader: Grader.Grader
  /** Task sources, keyed by the names used in phases. */
  readonly tasks?: Readonly<Record<string, TaskSource>> | undefined
  /** Example sources, keyed by the names used in phases. */
  readonly examples?: Readonly<Record<string, ExampleSource>> | undefined
  /**
   * Creates the policy for a model. Defaults to a `LanguagePolicy` with the phase's prompt. The policy must not
   * resample.
   */
  readonly policy?: ((model: Worker, phase: Extract<PhaseConfig, { readonly type: "grpo" }>) => Policy) | undefined
  /**
   * Returns whether a subset of the pool is reserved for tests and must not be used for training. Receives the worker
   * ids in alphabetical order.
   */
  readonly isHeldOut?: ((ids: ReadonlyArray<string>) => boolean) | undefined
  /**
   * Separate engine for the reference weights of a KL penalty. By default, the initial weights of the training engine
   * are saved and loaded when needed.
   */
  readonly reference?: Engine | undefined
  /** Evaluates the current weights. Called every `evaluateEvery` iterations. */
  readonly evaluate?:
    | ((context: EvaluationContext) => Effect.Effect<Readonly<Record<string, number>>, unknown>)
    | undefined
  /** Name of the evaluation measure that determines the best checkpoint. Default: `score`. */
  readonly bestBy?: string | undefined
}

/** Input for {@link configure}. All settings except the phases have defaults. */
export interface ConfigInput {
  readonly phases: ReadonlyArray<PhaseConfig>
  readonly name?: string | undefined
  /** Random seed of the run. Default: 1. */
  readonly seed?: number | undefined
  /** When to save checkpoints and how many to retain. Default: every 10 iterations, retaining the last 2. */
  readonly checkpoints?: Partial<TrainingConfig["checkpoints"]> | undefined
  /** Number of iterations between held-out evaluations. Default: 0 (never). */
  readonly evaluateEvery?: number | undefined
  /** Whether to write rollouts to the run folder. Default: `true`. */
  readonly recordRollouts?: boolean | undefined
  /** Maximum total cost of the run in USD, for workers and for an engine with prices. */
  readonly maxCostUsd?: number | undefined
  readonly versions?: Readonly<Record<string, string>> | undefined
}

/** The run folder, and options for monitoring and stopping the run. */
export interface Options {
  readonly folder: string
  readonly listener?: Listener | undefined
  /** Aborting this signal stops the run: work that can be repeated is abandoned, and a checkpoint is saved. */
  readonly signal?: AbortSignal | undefined
  /**
   * Shared stores for running rollouts on several machines ({@link work}). By default, all rollouts run on this
   * machine.
   */
  readonly machines?: Machines.Machines | undefined
}

/** Result of a training run. */
export interface Result {
  readonly ending: Ending
  /** Number of completed iterations. */
  readonly iteration: number
  /** Total spend of the run in USD, including lost work. */
  readonly spentUsd: number
  /** Phases that had no training signal, with the reason. Empty if the run has not finished. */
  readonly unlearned: ReadonlyArray<Unlearned>
}

// -------------------------------------------------------------------------------------------------------------------
// Configuration
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the complete configuration of a run, as {@link start} writes it to the run folder.
 *
 * **Example**
 *
 * ```ts
 * import { Grader } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import { ToyEngine, Trainer, TrainingConfig } from "@divisi/trainer"
 *
 * const pool = WorkerPool.makeUnsafe([ScriptedWorker.echo("a")])
 * const parts = { engine: ToyEngine.make(), pool, grader: Grader.exact }
 * const config = Trainer.configure(parts, { phases: [TrainingConfig.grpo()] })
 * config.checkpoints // => { every: 10, keep: 2 }
 * ```
 */
export const configure = (parts: Parts, input: ConfigInput): TrainingConfig => {
  Tables.check("Trainer.configure", input, inputTable)
  return configOf(parts, input)
}

const configOf = (parts: Parts, input: ConfigInput): TrainingConfig => ({
  version,
  name: input.name ?? "run",
  seed: input.seed ?? 1,
  engine: { name: parts.engine.name, model: parts.engine.model },
  pool: parts.pool.workers.map(({ description, id, pricing }) => ({ id, description, isPlay: pricing?.isPlay })),
  grader: parts.grader.name,
  phases: input.phases,
  checkpoints: { every: 10, keep: 2, ...input.checkpoints },
  evaluateEvery: input.evaluateEvery ?? 0,
  recordRollouts: input.recordRollouts ?? true,
  maxCostUsd: input.maxCostUsd,
  versions: { node: process.version, ...input.versions }
})

const phaseFlaw = (phase: PhaseConfig, parts: Parts): string | undefined => {
  const known = (what: string, name: string, all: Readonly<Record<string, unknown>> = {}) =>
    Object.hasOwn(all, name)
      ? undefined
      : `phase ${phase.name} needs the ${what} "${name}"; configured: ${Object.keys(all).join(", ") || "none"}`
  return phase.type === "warm-start"
    ? known("examples", phase.examples, parts.examples)
    : (known("tasks", phase.tasks, parts.tasks) ?? Objective.obstacle(phase.objective, parts.engine.capabilities))
}

const flawOf = (config: TrainingConfig, parts: Parts): string | undefined => {
  const names = config.phases.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return `two phases have the name "${twice}"`
  const ids = parts.pool.workers.map(({ id }) => id)
  const expected = config.pool.map(({ id }) => id)
  if (ids.join("\n") !== expected.join("\n")) {
    return `the run started with the workers ${expected.join(", ")}, but the pool has ${ids.join(", ")}`
  }
  const unpriced = parts.pool.workers.find(({ pricing }) => pricing === undefined)
  if (config.maxCostUsd !== undefined && unpriced !== undefined) {
    return `a cost limit needs a price for every worker, and the price of the worker "${unpriced.id}" is unknown; set its \`pricing\`, or \`prices\` in divisi.config.ts`
  }
  for (const phase of config.phases) {
    const flaw = phaseFlaw(phase, parts)
    if (flaw !== undefined) return flaw
  }
  return undefined
}

/** Fails with a `ConfigError` if options or parts do not match their option tables. */
const holding = <A>(checked: () => A): Effect.Effect<A, ConfigError> =>
  Effect.try({
    try: checked,
    catch: (error) => new ConfigError({ detail: (error as Tables.OptionsError).message.replace(/\.$/, "") })
  })

const check = (config: TrainingConfig, parts: Parts): Effect.Effect<void, ConfigError> => {
  const detail = flawOf(config, parts)
  return detail === undefined ? Effect.void : Effect.fail(new ConfigError({ detail }))
}

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

const iterationsOf = (phase: PhaseConfig): number => (phase.type === "grpo" ? phase.iterations : phase.steps)

const runPhase = (session: Session.Session, phase: PhaseConfig) => {
  const { parts } = session
  const seed = Seed.spread(session.folder.config.seed, "phase", phase.name)
  return phase.type === "warm-start"
    ? WarmStartPhase.run(session, phase, parts.examples![phase.examples]!, seed)
    : GrpoPhase.run(session, phase, parts.tasks![phase.tasks]!, seed)
}

const runPhases = Effect.fnUntraced(function* (
  session: Session.Session
): Effect.fn.Return<Ending, TrainingError | Session.StopRequested | Rollout.CostLimitReached> {
  const { config } = session.folder
  while (session.standing.phase < config.phases.length) {
    const index = session.standing.phase
    const phase = config.phases[index]!
    yield* session.emit({ type: "phase-started", phase: phase.name, index, iterations: iterationsOf(phase) })
    yield* runPhase(session, phase)
  }
  return { type: "finished" }
})

/** Ends a run early, after saving a checkpoint. */
const cut = (session: Session.Session, ending: Ending) => Effect.as(Session.checkpoint(session), ending)

const stopSignal = (signal: AbortSignal | undefined, stopped: Deferred.Deferred<void>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const stop = () => Deferred.doneUnsafe(stopped, Effect.void)
      if (signal?.aborted === true) stop()
      signal?.addEventListener("abort", stop)
      return stop
    }),
    (stop) => Effect.sync(() => signal?.removeEventListener("abort", stop))
  )

const begin = { iteration: 0, phase: 0, phaseIteration: 0, position: 0, costUsd: 0, version: 1 } as const

const warnOfDoubts = ({ inDoubt: { calls, costUsd } }: KeptRollouts.KeptRollouts): Effect.Effect<void> =>
  calls === 0
    ? Effect.void
    : Effect.logWarning(
        `${calls} ${calls === 1 ? "call was" : "calls were"} in flight when this run was killed. Because their outcome is unknown, they are charged at their maximum cost, $${Number(costUsd.toPrecision(4))}.`
      )

const train = Effect.fnUntraced(function* (folder: RunFolder.RunFolder, given: Parts, options: Options) {
  const { config, spent, state } = folder
  const { machines } = options
  const lead = machines && (yield* Machines.lead(machines, config, spent.mark))
  const isKept = KeptRollouts.areWorth(given.pool) && config.phases.some(({ type }) => type === "grpo")
  const kept = lead?.kept ?? (isKept ? yield* KeptRollouts.open(folder.folder, spent.mark) : undefined)
  if (kept !== undefined) yield* warnOfDoubts(kept)
  // With several machines, the shared account already contains the total spend.
  const spentUsd = lead === undefined ? spent.costUsd + (kept?.paidUsd() ?? 0) : 0
  const limits = { costUsd: config.maxCostUsd === undefined ? undefined : Math.max(0, config.maxCostUsd - spentUsd) }
  const ledger = lead?.ledger ?? Budget.make(limits)
  const prepared = (engine: Engine) => EngineCost.metered(RetryingEngine.make(engine), ledger.charge)
  const parts: Parts = {
    ...given,
    engine: prepared(given.engine),
    reference: given.reference && prepared(given.reference)
  }
  const emit: Session.Session["emit"] = (event) =>
    Effect.flatMap(Clock.currentTimeMillis, (at) =>
      Effect.sync(() => Callback.notifyLogged("The training listener", () => options.listener?.({ ...event, at })))
    )
  const stopped = yield* Deferred.make<void>()
  yield* stopSignal(options.signal, stopped)
  if (state !== undefined) yield* parts.engine.load(state.engine, RunFolder.checkpointFolder(folder, state.iteration))
  const { engine: _, files: __, ...standing } = state ?? { ...begin, engine: undefined, files: undefined }
  const session: Session.Session = {
    parts,
    folder,
    emit,
    ledger,
    kept,
    lead,
    spentBeforeUsd: spentUsd,
    stopped,
    standing,
    saved: state?.iteration
  }
  const iterations = config.phases.reduce((sum, phase) => sum + iterationsOf(phase), 0)
  yield* emit({ type: "training-started", config, folder: folder.folder, iteration: standing.iteration, iterations })
  yield* Session.checkpoint(session)
  const ending = yield* Effect.catchTags(runPhases(session), {
    StopRequested: () => cut(session, { type: "stopped" }),
    CostLimitReached: () =>
      cut(session, { type: "cost-limit", limitUsd: config.maxCostUsd ?? 0, spentUsd: Session.spentUsd(session) })
  })
  const unlearned = ending.type === "finished" ? unlearnedIn(yield* RunFolder.readMetrics(folder.folder)) : []
  const { iteration } = session.standing
  const result: Result = { ending, iteration, spentUsd: Session.spentUsd(session), unlearned }
  yield* emit({
    type: "training-finished",
    ending,
    iteration: result.iteration,
    costUsd: result.spentUsd,
    ...(unlearned.length > 0 && { unlearned })
  })
  return result
})

/**
 * Starts a training run in a folder that does not contain one, and runs it to completion.
 *
 * **Details**
 *
 * If the run is stopped or reaches its cost limit, the effect succeeds with the corresponding ending, and the run can
 * be resumed.
 *
 * **Example**
 *
 * ```ts
 * import fs from "node:fs"
 * import os from "node:os"
 * import path from "node:path"
 * import { Grader } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import { ExampleSource, ToyEngine, Trainer, TrainingConfig } from "@divisi/trainer"
 * import * as Effect from "effect/Effect"
 *
 * const parts: Trainer.Parts = {
 *   engine: ToyEngine.make(),
 *   pool: WorkerPool.makeUnsafe([ScriptedWorker.echo("a")]),
 *   grader: Grader.exact,
 *   examples: {
 *     examples: ExampleSource.make("greetings", () => ({
 *       messages: [{ role: "user", content: "Hello" }],
 *       completions: [{ text: "Good day" }, { text: "Hi" }]
 *     }))
 *   }
 * }
 * const folder = fs.mkdtempSync(path.join(os.tmpdir(), "run-"))
 * const phases = [TrainingConfig.warmStart({ steps: 3, batch: 1 })]
 * const result = await Effect.runPromise(Trainer.start(parts, { phases }, { folder }))
 * result // => { ending: { type: "finished" }, iteration: 3, spentUsd: 0, unlearned: [] }
 * ```
 */
export const start = (parts: Parts, input: ConfigInput, options: Options): Effect.Effect<Result, TrainingError> =>
  Effect.scoped(
    Effect.gen(function* () {
      yield* holding(() => {
        Tables.check("Trainer.start", options, startTable)
        Tables.check("Trainer.start (parts)", parts, partsTable)
      })
      const config = yield* holding(() => configure(parts, input))
      yield* check(config, parts)
      return yield* train(yield* RunFolder.create(options.folder, config), parts, options)
    })
  )

/**
 * Resumes the run in a folder from its last checkpoint. `maxCostUsd`, if given, replaces the run's cost limit.
 *
 * **Gotchas**
 *
 * Pass the same parts as when the run was started, with the same sources, engine and workers. Only their names and the
 * worker ids are checked.
 *
 * **Example**
 *
 * ```ts
 * import { Grader } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import { ToyEngine, Trainer } from "@divisi/trainer"
 * import * as Effect from "effect/Effect"
 *
 * const parts: Trainer.Parts = {
 *   engine: ToyEngine.make(),
 *   pool: WorkerPool.makeUnsafe([ScriptedWorker.echo("a")]),
 *   grader: Grader.exact
 * }
 * const error = await Effect.runPromise(Effect.flip(Trainer.resume(parts, { folder: "no/such/run" })))
 * error.message // => '"no/such/run" contains no training run. Start one, or choose another folder.'
 * ```
 */
export const resume = (
  parts: Parts,
  options: Options & { readonly maxCostUsd?: number | undefined }
): Effect.Effect<Result, TrainingError> =>
  Effect.scoped(
    Effect.gen(function* () {
      yield* holding(() => {
        Tables.check("Trainer.resume", options, startTable)
        Tables.check("Trainer.resume (parts)", parts, partsTable)
      })
      const { folder, maxCostUsd } = options
      yield* check(yield* RunFolder.readConfig(folder), parts)
      const change = (config: TrainingConfig) => (maxCostUsd === undefined ? config : { ...config, maxCostUsd })
      return yield* train(yield* RunFolder.open(folder, change), parts, options)
    })
  )

/** Serializes the part of a configuration that must be the same on all machines. */
const comparable = ({ checkpoints: _, maxCostUsd: __, versions: ___, ...config }: TrainingConfig): string =>
  JSON.stringify(config)

/** Claims groups from a list and executes them until the list is closed. */
const workOn = Effect.fnUntraced(function* (
  parts: Parts,
  machines: Machines.Machines,
  config: TrainingConfig,
  { list, phase: index, version }: Machines.OpenList,
  ledger: Budget.Ledger
): Effect.fn.Return<void, TrainingError> {
  const phase = config.phases[index]
  if (phase?.type !== "grpo") return
  const { groupSize, rollouts } = phase
  const tasks = yield* machines.open(list, [])
  const { kept, sweep } = Machines.keptIn(machines, index)
  const options: Rollout.Options = {
    config: rollouts,
    groupSize,
    sampler: Machines.remote(machines, version),
    tokenizer: parts.engine.tokenizer,
    grader: parts.grader,
    ledger,
    kept,
    sampling: yield* Semaphore.make(rollouts.samplingConcurrency * groupSize),
    running: yield* Semaphore.make(rollouts.runConcurrency),
    policy: parts.policy && ((model) => parts.policy!(model, phase))
  }
  const { isHeldOut, pool } = parts
  const curriculum: Curriculum.Parts = { tasks: parts.tasks![phase.tasks]!, pool, isHeldOut }
  const seed = Seed.spread(config.seed, "phase", phase.name)
  const isClosed = Effect.map(
    Machines.stateOf(machines),
    (state) => state === undefined || state.open.every((one) => one.list !== list)
  )
  const make = (key: string) =>
    Curriculum.question(curriculum, phase, seed, Number(key)).pipe(
      Effect.flatMap((question) => Rollout.group(question, options)),
      Effect.map(Machines.encode),
      Effect.tap(() => sweep(key))
    )
  const closed: Effect.Effect<void, Machines.MachinesError> = Effect.flatMap(isClosed, (is) =>
    is ? Effect.void : Effect.delay(closed, Machines.lookMillis * 5)
  )
  const concurrency = rollouts.samplingConcurrency + Math.ceil(rollouts.runConcurrency / groupSize)
  yield* Effect.raceFirst(Machines.makeGroups(tasks, concurrency, isClosed, make), closed).pipe(
    // Another machine took over the group, or the training machine stopped at the cost limit.
    Effect.catchTags({
      CostLimitReached: () => closed,
      JournalError: ({ message, reason }) =>
        reason._tag === "Fenced" ? Effect.void : Effect.fail(new Machines.MachinesError({ detail: message }))
    })
  )
})

/**
 * Runs rollouts for a training run on another machine until that run ends. Returns immediately if the run has already
 * ended.
 *
 * **Details**
 *
 * If the run has not started yet, waits for it. The configuration must match that of the training machine. The engine
 * passed here is used only for its tokenizer.
 */
export const work = (
  parts: Parts,
  input: ConfigInput,
  machines: Machines.Machines
): Effect.Effect<void, TrainingError> =>
  Effect.gen(function* () {
    const own = yield* holding(() => configure(parts, input))
    yield* check(own, parts)
    const ledger = yield* machines.account()
    for (;;) {
      const state = yield* Machines.stateOf(machines)
      if (state?.isOver === true) return
      if (state !== undefined && comparable(state.config) !== comparable(JSON.parse(JSON.stringify(own)))) {
        const detail = "the training machine has a different recipe, seed, pool or number of iterations"
        return yield* new ConfigError({ detail })
      }
      const open = state?.open ?? []
      yield* open.length === 0
        ? Effect.sleep(Machines.lookMillis)
        : Effect.forEach(open, (one) => workOn(parts, machines, own, one, ledger), { concurrency: "unbounded" })
    }
  })
