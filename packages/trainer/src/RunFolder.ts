/**
 * The folder of a training run: written so that it can be killed at any moment, and read by whatever shows a run.
 *
 * A checkpoint is written under another name, synchronised and renamed; metrics are appended, and what lies behind the last
 * checkpoint is cut off when the run is resumed; the rollouts of an iteration are one file. `RunLayout` says what lies
 * where.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import * as zlib from "node:zlib"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Engine, EngineError } from "./Engine.ts"
import * as Durable from "./internal/durable.ts"
import * as Lock from "./internal/lock.ts"
import type { Metrics } from "./Metrics.ts"
import type { RolloutRecord } from "./RolloutRecord.ts"
import * as Layout from "./RunLayout.ts"
import { type TrainingConfig, version } from "./TrainingConfig.ts"

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Why a folder cannot be trained in, or read. */
export type RunFolderErrorReason =
  /** There is no run in it. */
  | { readonly _tag: "NoRun" }
  /** There is one already. */
  | { readonly _tag: "AlreadyThere" }
  /** Another process trains it. */
  | { readonly _tag: "Locked" }
  /** It was written by a version that this one does not know. */
  | { readonly _tag: "Version"; readonly found: unknown }
  /** It cannot be written or read. */
  | { readonly _tag: "Failed"; readonly detail: string }

/** A run's folder cannot be used. */
export class RunFolderError extends Data.TaggedError("RunFolderError")<{
  readonly folder: string
  readonly reason: RunFolderErrorReason
}> {
  override get message(): string {
    const { folder, reason } = this
    switch (reason._tag) {
      case "NoRun":
        return `There is no training run in ${folder}: start one, or name another folder.`
      case "AlreadyThere":
        return `There is a training run in ${folder} already: resume it, or name another folder.`
      case "Locked":
        return `The training run in ${folder} is going on in another process: wait for it, or stop it.`
      case "Version":
        return `The training run in ${folder} has version ${JSON.stringify(reason.found)}; this program reads ${version}.`
      case "Failed":
        return `The training run in ${folder} cannot be used: ${reason.detail}`
    }
  }
}

const failed = (folder: string, reason: RunFolderErrorReason) => new RunFolderError({ folder, reason })

const attempt = <A>(folder: string, run: () => A): Effect.Effect<A, RunFolderError> =>
  Effect.try({
    try: run,
    catch: (error) =>
      error instanceof RunFolderError
        ? error
        : failed(folder, { _tag: "Failed", detail: error instanceof Error ? error.message : String(error) })
  })

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/**
 * The configuration of the run in a folder.
 *
 * **Example**
 *
 * ```ts
 * import * as RunFolder from "@divisi/trainer/RunFolder"
 * import * as Effect from "effect/Effect"
 *
 * const error = Effect.runSync(Effect.flip(RunFolder.readConfig("no/such/run")))
 * error.message // => "There is no training run in no/such/run: start one, or name another folder."
 * ```
 */
export const readConfig = (folder: string): Effect.Effect<TrainingConfig, RunFolderError> =>
  attempt(folder, () => {
    const file = path.join(folder, Layout.config)
    if (!fs.existsSync(file)) throw failed(folder, { _tag: "NoRun" })
    const config = JSON.parse(fs.readFileSync(file, "utf8"))
    if (config.version !== version) throw failed(folder, { _tag: "Version", found: config.version })
    return config
  })

/** The whole lines of a text: one that a crash has torn is none. */
const wholeLines = (text: string): ReadonlyArray<string> => text.split("\n").slice(0, -1)

/** The metrics of a run so far. A torn last line is left out. */
export const readMetrics = (folder: string): Effect.Effect<ReadonlyArray<Metrics>, RunFolderError> =>
  attempt(folder, () => {
    const file = path.join(folder, Layout.metrics)
    return fs.existsSync(file) ? wholeLines(fs.readFileSync(file, "utf8")).map((line) => JSON.parse(line)) : []
  })

const numbered = (folder: string, pattern: RegExp): ReadonlyArray<number> =>
  fs.existsSync(folder)
    ? fs
        .readdirSync(folder)
        .flatMap((name) => {
          const match = pattern.exec(name)
          return match === null ? [] : [Number(match[1])]
        })
        .sort((left, right) => left - right)
    : []

const rolloutPattern = /^(\d{6,})\.jsonl\.gz$/
const checkpointPattern = /^(\d{6,})$/

/** The iterations whose rollouts are there, in order. */
export const rolloutIterations = (folder: string): Effect.Effect<ReadonlyArray<number>, RunFolderError> =>
  attempt(folder, () => numbered(path.join(folder, Layout.rollouts), rolloutPattern))

/** The rollouts of one iteration: groups, each before its completions. A file that a crash has cut is read as far as it goes. */
export const readRollouts = (
  folder: string,
  iteration: number
): Effect.Effect<ReadonlyArray<RolloutRecord>, RunFolderError> =>
  attempt(folder, () => {
    const packed = fs.readFileSync(path.join(folder, Layout.rolloutsOf(iteration)))
    const text = zlib.gunzipSync(packed, { finishFlush: zlib.constants.Z_SYNC_FLUSH }).toString("utf8")
    return wholeLines(text).map((line) => JSON.parse(line))
  })

/** The checkpoints that are there, in order. */
export const checkpoints = (folder: string): Effect.Effect<ReadonlyArray<number>, RunFolderError> =>
  attempt(folder, () => numbered(path.join(folder, Layout.checkpoints), checkpointPattern))

/** Where a run stood at a checkpoint. */
export const readState = (folder: string, checkpoint: number): Effect.Effect<Layout.TrainerState, RunFolderError> =>
  attempt(folder, () => {
    const file = path.join(folder, Layout.checkpointOf(checkpoint), Layout.state)
    const state = JSON.parse(fs.readFileSync(file, "utf8"))
    if (state.version !== version) throw failed(folder, { _tag: "Version", found: state.version })
    return state
  })

/** The best checkpoint, where there were held-out evaluations. */
export const readBest = (folder: string): Effect.Effect<Layout.Best | undefined, RunFolderError> =>
  attempt(folder, () => {
    const file = path.join(folder, Layout.best)
    return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : undefined
  })

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

/** A run's folder that this process alone writes to. */
export interface RunFolder {
  readonly folder: string
  readonly config: TrainingConfig
  /** Where the run stands: at its last checkpoint. `undefined` before the first. */
  readonly state: Layout.TrainerState | undefined
  /** USD that the run has spent so far, on work that was lost to a crash, too. */
  readonly spentUsd: number
  readonly appendMetrics: (metrics: Metrics) => Effect.Effect<void, RunFolderError>
  readonly writeRollouts: (
    iteration: number,
    records: ReadonlyArray<RolloutRecord>
  ) => Effect.Effect<void, RunFolderError>
  /**
   * Has the engine save itself and writes a checkpoint, whole or not at all; older ones make room, the best one aside.
   * There must be none of that iteration yet.
   */
  readonly checkpoint: (
    engine: Engine,
    state: Omit<Layout.TrainerState, "engine" | "metricsBytes">
  ) => Effect.Effect<Layout.TrainerState, RunFolderError | EngineError>
  /** Writes down what the run has spent. */
  readonly writeSpent: (spentUsd: number) => Effect.Effect<void, RunFolderError>
}

/** Where the engine saved itself at a checkpoint. */
export const checkpointFolder = ({ folder }: Pick<RunFolder, "folder">, checkpoint: number): string =>
  path.join(folder, Layout.checkpointOf(checkpoint))

/** Holds the lock of a run until the scope closes. The system gives it back when the process dies, however it does. */
const lock = (folder: string) =>
  Effect.acquireRelease(
    attempt(folder, () => {
      const taken = Lock.take(path.join(folder, Layout.lock))
      if (taken === undefined) throw failed(folder, { _tag: "Locked" })
      return taken
    }),
    ({ release }) => Effect.sync(release)
  )

const writeBest = (folder: string, best: Layout.Best | undefined) => {
  if (best !== undefined) Durable.writeFile(path.join(folder, Layout.best), `${JSON.stringify(best)}\n`)
}

const removePartial = (folder: string) => {
  for (const name of fs.readdirSync(folder)) {
    if (name.endsWith(".partial")) fs.rmSync(path.join(folder, name), { recursive: true, force: true })
  }
}

/** Removes what lies behind the last checkpoint: it is done again. */
const cutBack = (folder: string, state: Layout.TrainerState | undefined): void => {
  const metrics = path.join(folder, Layout.metrics)
  if (fs.existsSync(metrics)) fs.truncateSync(metrics, Math.min(state?.metricsBytes ?? 0, fs.statSync(metrics).size))
  for (const iteration of numbered(path.join(folder, Layout.rollouts), rolloutPattern)) {
    if (iteration >= (state?.iteration ?? 0)) fs.rmSync(path.join(folder, Layout.rolloutsOf(iteration)))
  }
  for (const part of ["", Layout.rollouts, Layout.checkpoints]) removePartial(path.join(folder, part))
}

const readSpent = (folder: string): number => {
  const file = path.join(folder, Layout.spent)
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")).costUsd : 0
}

const make = (
  folder: string,
  config: TrainingConfig,
  state: Layout.TrainerState | undefined,
  spentUsd: number
): RunFolder => {
  const metrics = path.join(folder, Layout.metrics)
  /** Files of iterations since the last checkpoint. They only have to outlive the system when there is another. */
  const unsynced = new Set<string>()

  const prune = (state: Layout.TrainerState) => {
    const all = numbered(path.join(folder, Layout.checkpoints), checkpointPattern)
    const kept = new Set(all.slice(-Math.max(1, config.checkpoints.keep)))
    for (const iteration of all) {
      if (kept.has(iteration) || iteration === state.best?.iteration) continue
      fs.rmSync(path.join(folder, Layout.checkpointOf(iteration)), { recursive: true })
    }
  }

  const checkpoint: RunFolder["checkpoint"] = Effect.fnUntraced(function* (engine, state) {
    const target = path.join(folder, Layout.checkpointOf(state.iteration))
    const partial = path.join(folder, Layout.checkpoints, "next.partial")
    yield* attempt(folder, () => {
      fs.rmSync(partial, { recursive: true, force: true })
      fs.mkdirSync(partial, { recursive: true })
    })
    const saved = yield* engine.save("engine", partial)
    return yield* attempt(folder, () => {
      const metricsBytes = fs.existsSync(metrics) ? fs.statSync(metrics).size : 0
      for (const file of unsynced) Durable.sync(file)
      Durable.syncFolder(path.join(folder, Layout.rollouts))
      unsynced.clear()
      const next: Layout.TrainerState = { ...state, engine: saved, metricsBytes }
      Durable.writeFile(path.join(partial, Layout.state), `${JSON.stringify(next, null, 2)}\n`)
      Durable.publishFolder(partial, target)
      writeBest(folder, next.best)
      prune(next)
      return next
    })
  })

  return {
    folder,
    config,
    state,
    spentUsd,
    appendMetrics: (record) =>
      attempt(folder, () => {
        fs.appendFileSync(metrics, `${JSON.stringify(record)}\n`)
        unsynced.add(metrics)
      }),
    writeRollouts: (iteration, records) =>
      attempt(folder, () => {
        const lines = records.map((record) => `${JSON.stringify(record)}\n`).join("")
        const file = path.join(folder, Layout.rolloutsOf(iteration))
        Durable.replace(file, zlib.gzipSync(lines))
        unsynced.add(file)
      }),
    checkpoint,
    writeSpent: (costUsd) =>
      attempt(folder, () => Durable.replace(path.join(folder, Layout.spent), `${JSON.stringify({ costUsd })}\n`))
  }
}

const prepare = (folder: string) =>
  attempt(folder, () => {
    fs.mkdirSync(path.join(folder, Layout.checkpoints), { recursive: true })
    fs.mkdirSync(path.join(folder, Layout.rollouts), { recursive: true })
  })

/** Begins a run in a folder that has none. The folder is this process's until the scope closes. */
export const create = Effect.fnUntraced(function* (
  folder: string,
  config: TrainingConfig
): Effect.fn.Return<RunFolder, RunFolderError, Scope.Scope> {
  yield* prepare(folder)
  yield* lock(folder)
  yield* attempt(folder, () => {
    const file = path.join(folder, Layout.config)
    if (fs.existsSync(file)) throw failed(folder, { _tag: "AlreadyThere" })
    Durable.writeFile(file, `${JSON.stringify(config, null, 2)}\n`)
  })
  return make(folder, config, undefined, 0)
})

/** Opens a run to go on with it. `change` may alter its configuration, e.g. raise its limit of cost. */
export const open = Effect.fnUntraced(function* (
  folder: string,
  change: (config: TrainingConfig) => TrainingConfig = (config) => config
): Effect.fn.Return<RunFolder, RunFolderError, Scope.Scope> {
  yield* readConfig(folder)
  yield* prepare(folder)
  yield* lock(folder)
  const before = yield* readConfig(folder)
  const config = change(before)
  const last = (yield* checkpoints(folder)).at(-1)
  const state = last === undefined ? undefined : yield* readState(folder, last)
  const spentUsd = yield* attempt(folder, () => {
    if (config !== before) Durable.writeFile(path.join(folder, Layout.config), `${JSON.stringify(config, null, 2)}\n`)
    cutBack(folder, state)
    writeBest(folder, state?.best)
    return Math.max(readSpent(folder), state?.costUsd ?? 0)
  })
  return make(folder, config, state, spentUsd)
})
