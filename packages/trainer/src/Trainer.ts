/**
 * The trainer: runs the phases of a training with an engine and stores the run in a folder.
 *
 * A run can be stopped or killed, or can reach its cost limit, at any moment. Resuming it from its last checkpoint
 * gives the same result. Progress is reported only through events (`TrainingEvent`).
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
  /** The number of completed iterations. */
  readonly iteration: number
  /** The current weights. */
  readonly sampler: Sampler
  /** The sampler as a model, for a `LanguagePolicy`. */
  readonly model: Worker
  readonly engine: Engine
}

/** The parts of a run that are code, not data. They must be the same when the run is resumed. */
export interface Parts {
  readonly engine: Engine
  readonly pool: WorkerPool
  readonly grader: Grader.Grader
  /** The sources of tasks, by the names used in phases. */
  readonly tasks?: Readonly<Record<string, TaskSource>> | undefined
  /** The sources of examples, by the names used in phases. */
  readonly examples?: Readonly<Record<string, ExampleSource>> | undefined
  /** Creates the policy of a model, if it is not a `LanguagePolicy` with the phase's prompt. It must not resample. */
  readonly policy?: ((model: Worker, phase: Extract<PhaseConfig, { readonly type: "grpo" }>) => Policy) | undefined
  /** Whether a subset of the pool is held out for tests. The ids are in alphabetical order. */
  readonly isHeldOut?: ((ids: ReadonlyArray<string>) => boolean) | undefined
  /**
   * An engine for the reference of a KL penalty. By default, the engine's initial weights are saved and loaded when the
   * reference is needed.
   */
  readonly reference?: Engine | undefined
  /** Measures the current weights, every `evaluateEvery` iterations. */
  readonly evaluate?:
    | ((context: EvaluationContext) => Effect.Effect<Readonly<Record<string, number>>, unknown>)
    | undefined
  /** The measure that determines the best checkpoint. Default: `score`. */
  readonly bestBy?: string | undefined
}

/** The input of {@link configure}: all settings except the phases have defaults. */
export interface ConfigInput {
  readonly phases: ReadonlyArray<PhaseConfig>
  readonly name?: string | undefined
  /** Default: 1. */
  readonly seed?: number | undefined
  /** Default: every 10 iterations, retaining the last 2. */
  readonly checkpoints?: Partial<TrainingConfig["checkpoints"]> | undefined
  /** Default: 0, never. */
  readonly evaluateEvery?: number | undefined
  /** Default: `true`. */
  readonly recordRollouts?: boolean | undefined
  /** The maximum total cost of workers and of an engine with prices, in USD. */
  readonly maxCostUsd?: number | undefined
  readonly versions?: Readonly<Record<string, string>> | undefined
}

/** The folder of a run, and options for watching and stopping it. */
export interface Options {
  readonly folder: string
  readonly listener?: Listener | undefined
  /** Stops the run: work that can be repeated is abandoned, and a checkpoint is saved. */
  readonly signal?: AbortSignal | undefined
  /** Shared stores, for making rollouts on several machines ({@link work}). Default: one machine. */
  readonly machines?: Machines.Machines | undefined
}

/** The result of a run. */
export interface Result {
  readonly ending: Ending
  /** The number of completed iterations. */
  readonly iteration: number
  /** The spend of the run in USD, including lost work. */
  readonly spentUsd: number
  /** The phases of a finished run without a training signal, with the reason; empty otherwise. */
  readonly unlearned: ReadonlyArray<Unlearned>
}

// -------------------------------------------------------------------------------------------------------------------
// Configuration
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the complete configuration of a run, as {@link start} writes it to the folder.
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
    return `a cost limit cannot be enforced with ${unpriced.id}, because its price is unknown; set its price`
  }
  for (const phase of config.phases) {
    const flaw = phaseFlaw(phase, parts)
    if (flaw !== undefined) return flaw
  }
  return undefined
}

/** Fails with a `ConfigError` if options or parts do not fit their tables. */
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

/** Ends a run early and saves what it did. */
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
  // The account of several machines has all spending.
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
 * Starts a training run in a folder without a run, and runs it to its end.
 *
 * **Details**
 *
 * If the run is stopped or reaches its cost limit, the effect succeeds with that ending, and the run can be resumed.
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
 * Resumes the run in a folder from its last checkpoint. `maxCostUsd` replaces the run's limit.
 *
 * **Gotchas**
 *
 * Pass the parts that the run was started with: the same sources, engine and workers. Only their names and the workers'
 * ids are checked.
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
 * error.message // => "No training run in no/such/run. Start one, or choose another folder."
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

/** The part of a configuration that decides about rollouts. */
const comparable = ({ checkpoints: _, maxCostUsd: __, versions: ___, ...config }: TrainingConfig): string =>
  JSON.stringify(config)

/** Claims groups of a list and makes them, until the list is closed. */
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
    // Another machine took the group over, or the machine that trains ends at the limit.
    Effect.catchTags({
      CostLimitReached: () => closed,
      JournalError: ({ message, reason }) =>
        reason._tag === "Fenced" ? Effect.void : Effect.fail(new Machines.MachinesError({ detail: message }))
    })
  )
})

/**
 * Makes rollouts for a training on another machine until that training ends. Returns immediately if it has already
 * ended.
 *
 * **Details**
 *
 * If the training has not started, waits for it. The configuration must be the same as on the training machine; only
 * the tokenizer of the engine is used.
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
