/**
 * The folder of a training run. Killing the process at any time does not corrupt it.
 *
 * Checkpoints are written atomically. Metrics are appended; when a run is resumed, metrics written after the last
 * checkpoint are removed. Each iteration has one file of rollouts. See `RunLayout` for the layout. Disk corruption is
 * detected with checksums, and a run resumes from its last intact checkpoint.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import * as zlib from "node:zlib"
import { JsonLines, Lock, Sealed, WholeFile } from "@divisi/files"
import { detailOf, type FileError, fromUnknown } from "@divisi/files/FileError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Engine, EngineError } from "./Engine.ts"
import * as Checkpoint from "./internal/checkpoint.ts"
import * as Records from "./internal/records.ts"
import type { Metrics } from "./Metrics.ts"
import type { RolloutRecord } from "./RolloutRecord.ts"
import * as Layout from "./RunLayout.ts"
import { type TrainingConfig, version } from "./TrainingConfig.ts"

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Reasons why a run folder cannot be used. */
export type RunFolderErrorReason =
  /** The folder does not contain a run. */
  | { readonly _tag: "NoRun" }
  /** The folder already contains a run. */
  | { readonly _tag: "AlreadyThere" }
  /** Another process is training in this folder. */
  | { readonly _tag: "Locked"; readonly holder?: Lock.Holder | undefined }
  /** The run was written by an unsupported version. */
  | { readonly _tag: "Version"; readonly found: unknown }
  /** The disk is full. */
  | { readonly _tag: "Full" }
  /** The folder cannot be read or written. */
  | { readonly _tag: "Failed"; readonly detail: string }

/** Raised when a run folder cannot be used. */
export class RunFolderError extends Data.TaggedError("RunFolderError")<{
  readonly folder: string
  readonly reason: RunFolderErrorReason
}> {
  override get message(): string {
    const { folder, reason } = this
    switch (reason._tag) {
      case "NoRun":
        return `"${folder}" contains no training run. Start one, or choose another folder.`
      case "AlreadyThere":
        return `${folder} already contains a training run. Resume it, or choose another folder.`
      case "Locked":
        return `The training run in ${folder} is running in ${Lock.nameOf(reason.holder)}. Wait for it to finish, or stop it.`
      case "Version":
        return reason.found === undefined
          ? `The training run in ${folder} cannot be used: its configuration has no version, so it is damaged. Start another run.`
          : `The training run in ${folder} has version ${JSON.stringify(reason.found)}, but this program supports only version ${version}. Use the release of Divisi that wrote it.`
      case "Full":
        return `The disk of ${folder} is full. Free some space, then resume the run; it continues from its last checkpoint.`
      case "Failed":
        return `The training run in ${folder} cannot be used: ${reason.detail}`
    }
  }
}

const failed = (folder: string, reason: RunFolderErrorReason) => new RunFolderError({ folder, reason })

const errorOf =
  (folder: string) =>
  (error: unknown): RunFolderError => {
    if (error instanceof RunFolderError) return error
    if (error instanceof Records.OtherVersion) return failed(folder, { _tag: "Version", found: error.found })
    if (fromUnknown(folder, "written")(error).reason === "Full") return failed(folder, { _tag: "Full" })
    return failed(folder, { _tag: "Failed", detail: detailOf(error) })
  }

/**
 * Matches the error messages that engines use for a full disk.
 *
 * @internal
 */
export const outOfRoom =
  (folder: string) =>
  (error: EngineError): EngineError | RunFolderError =>
    /ENOSPC|EDQUOT|no space/i.test(error.message) ? failed(folder, { _tag: "Full" }) : error

const attempt = <A>(folder: string, run: () => A): Effect.Effect<A, RunFolderError> =>
  Effect.try({ try: run, catch: errorOf(folder) })

/** Runs an effect on a file of the run and maps its error to a `RunFolderError`. */
const within = <A, R>(folder: string, effect: Effect.Effect<A, unknown, R>) => Effect.mapError(effect, errorOf(folder))

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/**
 * Reads the configuration of a run from its folder.
 *
 * **Example**
 *
 * ```ts
 * import { RunFolder } from "@divisi/trainer"
 * import * as Effect from "effect/Effect"
 *
 * const error = Effect.runSync(Effect.flip(RunFolder.readConfig("no/such/run")))
 * error.message // => '"no/such/run" contains no training run. Start one, or choose another folder.'
 * ```
 */
export const readConfig = (folder: string): Effect.Effect<TrainingConfig, RunFolderError> =>
  attempt(folder, () => {
    if (!fs.existsSync(path.join(folder, Layout.config))) throw failed(folder, { _tag: "NoRun" })
    return Records.config(folder)
  })

const readLines = <A>(folder: string, file: string, options?: JsonLines.ReadOptions) =>
  within(folder, Stream.runCollect(JsonLines.read(file, options))) as Effect.Effect<ReadonlyArray<A>, RunFolderError>

/**
 * Reads the metrics of a run in iteration order. An incomplete last line is ignored. Corrupt lines are skipped with a
 * log message.
 */
export const readMetrics = Effect.fnUntraced(function* (
  folder: string
): Effect.fn.Return<ReadonlyArray<Metrics>, RunFolderError> {
  const file = path.join(folder, Layout.metrics)
  if (!fs.existsSync(file)) return []
  const damaged: Array<number> = []
  const onDamaged = ({ line }: JsonLines.LineError) => void damaged.push(line)
  const metrics = yield* readLines<Metrics>(folder, file, { seal: "required", onDamaged })
  if (damaged.length > 0) {
    yield* Effect.logWarning(`${file} is damaged. The content of line ${damaged.join(", ")} is ignored.`)
  }
  // Disk corruption can duplicate a block, so that complete lines occur twice.
  const byIteration = new Map(metrics.map((one) => [one.iteration, one]))
  return [...byIteration.values()].sort((left, right) => left.iteration - right.iteration)
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

/** Returns the iterations that have stored rollouts, in ascending order. */
export const rolloutIterations = (folder: string): Effect.Effect<ReadonlyArray<number>, RunFolderError> =>
  attempt(folder, () => numbered(path.join(folder, Layout.rollouts), rolloutPattern))

/**
 * Reads the rollouts of one iteration: each group, followed by its completions. If a crash truncated the file, the
 * lines before that point are returned.
 */
export const readRollouts = (
  folder: string,
  iteration: number
): Effect.Effect<ReadonlyArray<RolloutRecord>, RunFolderError> =>
  readLines(folder, path.join(folder, Layout.rolloutsOf(iteration)))

/** Returns the existing checkpoints in ascending order. */
export const checkpoints = (folder: string): Effect.Effect<ReadonlyArray<number>, RunFolderError> =>
  attempt(folder, () => numbered(path.join(folder, Layout.checkpoints), checkpointPattern))

/** Reads the state of a run at a checkpoint. Fails if a checksum of the checkpoint's files does not match. */
export const readState = (folder: string, checkpoint: number): Effect.Effect<Layout.TrainerState, RunFolderError> =>
  within(folder, Checkpoint.read(folder, checkpoint))

/** Reads the best checkpoint, or returns `undefined` if there were no held-out evaluations. */
export const readBest = (folder: string): Effect.Effect<Layout.Best | undefined, RunFolderError> =>
  attempt(folder, () => Records.best(folder))

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

/** Run folder that this process has locked for writing. */
export interface RunFolder {
  readonly folder: string
  readonly config: TrainingConfig
  /** State at the last checkpoint, or `undefined` before the first checkpoint. */
  readonly state: Layout.TrainerState | undefined
  /** Total spend of the run, including work that was lost in a crash. */
  readonly spent: Layout.Spent
  readonly appendMetrics: (metrics: Metrics) => Effect.Effect<void, RunFolderError>
  readonly writeRollouts: (
    iteration: number,
    records: ReadonlyArray<RolloutRecord>
  ) => Effect.Effect<void, RunFolderError>
  /**
   * Saves the engine and writes a checkpoint atomically. Older checkpoints are deleted, except for the best one and the
   * configured number of recent ones. Fails if the iteration already has a checkpoint.
   */
  readonly checkpoint: (
    engine: Engine,
    state: Omit<Layout.TrainerState, "engine" | "files">
  ) => Effect.Effect<Layout.TrainerState, RunFolderError | EngineError>
  /** Folder in which the engine saves the weights at the start of a phase. Created on first use. */
  readonly referenceFolder: Effect.Effect<string, RunFolderError>
  /** Records the spend. With `isDurable`, the file is also synced, so that it survives a system crash. */
  readonly writeSpent: (spent: Layout.Spent, isDurable: boolean) => Effect.Effect<void, RunFolderError>
}

/** Returns the folder that contains the engine state of a checkpoint. */
export const checkpointFolder = ({ folder }: Pick<RunFolder, "folder">, checkpoint: number): string =>
  path.join(folder, Layout.checkpointOf(checkpoint))

/** Locks a run folder until the scope closes. */
const lock = (folder: string) =>
  Effect.mapError(Lock.hold(path.join(folder, Layout.lock)), ({ message, reason }) =>
    failed(
      folder,
      reason._tag === "Held" ? { _tag: "Locked", holder: reason.holder } : { _tag: "Failed", detail: message }
    )
  )

const writeBest = (folder: string, best: Layout.Best | undefined): Effect.Effect<void, FileError> =>
  best === undefined ? Effect.void : WholeFile.write(path.join(folder, Layout.best), `${Sealed.stringify(best)}\n`)

/** Removes rollouts written after the last checkpoint, which will be generated again, and incomplete files. */
const cutBack = Effect.fnUntraced(function* (folder: string, state: Layout.TrainerState | undefined) {
  yield* attempt(folder, () => {
    for (const iteration of numbered(path.join(folder, Layout.rollouts), rolloutPattern)) {
      if (iteration >= (state?.iteration ?? 0)) fs.rmSync(path.join(folder, Layout.rolloutsOf(iteration)))
    }
    fs.rmSync(path.join(folder, Layout.checkpoints, nextCheckpoint), { recursive: true, force: true })
  })
  const { best, config, metrics, rollouts, spent } = Layout
  yield* within(folder, WholeFile.sweep(folder, [best, config, metrics, spent]))
  yield* within(folder, WholeFile.sweep(path.join(folder, rollouts)))
})

/** Folder name used while a checkpoint is being written. */
const nextCheckpoint = "next.partial"

/**
 * Returns the last intact checkpoint, from which the run resumes. Corrupt checkpoints are moved aside with a log
 * message.
 */
const lastState = Effect.fnUntraced(function* (folder: string) {
  const found = yield* within(folder, Checkpoint.lastWhole(folder, yield* checkpoints(folder)))
  const { damaged, state } = found
  if (state === undefined && damaged.length > 0) {
    const details = damaged.map(({ detail }) => detail).join("; ")
    return yield* failed(folder, {
      _tag: "Failed",
      detail: `all of its checkpoints are damaged (${details}). Start a new run in another folder.`
    })
  }
  for (const { checkpoint, detail } of damaged) {
    const aside = yield* attempt(folder, () => Checkpoint.putAside(folder, checkpoint))
    yield* Effect.logWarning(
      `Checkpoint ${checkpoint} of ${folder} cannot be used (${detail}): it was moved to ${aside}, and the run continues from checkpoint ${state!.iteration}.`
    )
  }
  return state
})

const make = (
  folder: string,
  config: TrainingConfig,
  state: Layout.TrainerState | undefined,
  spent: Layout.Spent,
  metrics: JsonLines.Writer
): RunFolder => {
  /**
   * Rollout files written since the last checkpoint. They are synced to disk only when the next checkpoint is written.
   */
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
    const partial = path.join(folder, Layout.checkpoints, nextCheckpoint)
    yield* attempt(folder, () => {
      fs.rmSync(partial, { recursive: true, force: true })
      WholeFile.makeFolderNow(partial)
    })
    const saved = yield* Effect.mapError(engine.save("engine", partial), outOfRoom(folder))
    return yield* within(
      folder,
      Effect.gen(function* () {
        const standing = { ...state, engine: saved }
        const next = { ...standing, files: yield* Checkpoint.sumsOf(folder, partial, standing) }
        yield* JsonLines.attempt(metrics.flush)
        yield* Effect.forEach(unsynced, WholeFile.sync, { discard: true })
        yield* WholeFile.syncFolder(path.join(folder, Layout.rollouts))
        unsynced.clear()
        yield* WholeFile.write(path.join(partial, Layout.state), `${Sealed.stringify(next, 2)}\n`)
        yield* WholeFile.publishFolder(partial, target)
        yield* writeBest(folder, next.best)
        yield* attempt(folder, () => prune(next))
        return next
      })
    )
  })

  return {
    folder,
    config,
    state,
    spent,
    appendMetrics: (record) =>
      within(
        folder,
        JsonLines.attempt(() => metrics.append(record))
      ),
    writeRollouts: (iteration, records) =>
      Effect.suspend(() => {
        const lines = records.map((record) => `${JSON.stringify(record)}\n`).join("")
        const file = path.join(folder, Layout.rolloutsOf(iteration))
        const written = WholeFile.write(file, zlib.gzipSync(lines), { isDurable: false })
        return within(
          folder,
          Effect.map(written, () => void unsynced.add(file))
        )
      }),
    checkpoint,
    referenceFolder: Effect.suspend(() => {
      const at = path.join(folder, Layout.reference)
      return within(folder, Effect.as(WholeFile.makeFolder(at), at))
    }),
    writeSpent: (spent, isDurable) =>
      within(folder, WholeFile.write(path.join(folder, Layout.spent), `${Sealed.stringify(spent)}\n`, { isDurable }))
  }
}

/**
 * Truncates the metrics to those covered by the last checkpoint. Later ones will be generated again; corrupt ones are
 * lost.
 */
const cutMetrics = Effect.fnUntraced(function* (folder: string, state: Layout.TrainerState | undefined) {
  const file = path.join(folder, Layout.metrics)
  const before = yield* attempt(folder, () => (fs.existsSync(file) ? fs.readFileSync(file, "utf8") : ""))
  const kept = (yield* readMetrics(folder)).filter(({ iteration }) => iteration < (state?.iteration ?? 0))
  const text = kept.map((one) => `${Sealed.stringify(one)}\n`).join("")
  if (text !== before) yield* within(folder, WholeFile.write(file, text))
  const lacking = (state?.iteration ?? 0) - kept.length
  if (lacking > 0)
    yield* Effect.logWarning(`${file} lacks ${lacking} of ${state?.iteration} iterations. Their metrics are lost.`)
})

const openMetrics = (folder: string) =>
  within(
    folder,
    JsonLines.open(path.join(folder, Layout.metrics), { isSealed: true, syncLines: Number.POSITIVE_INFINITY })
  )

const writeConfig = (folder: string, config: TrainingConfig) =>
  within(folder, WholeFile.write(path.join(folder, Layout.config), `${Sealed.stringify(config, 2)}\n`))

const prepare = Effect.fnUntraced(function* (folder: string) {
  for (const part of [Layout.checkpoints, Layout.rollouts]) {
    yield* within(folder, WholeFile.makeFolder(path.join(folder, part)))
  }
  yield* within(folder, JsonLines.checkPlain(path.join(folder, Layout.metrics)))
})

/**
 * Creates a run in a folder that does not contain one. The folder is locked by this process until the scope closes.
 *
 * @internal
 */
export const create = Effect.fnUntraced(function* (
  folder: string,
  config: TrainingConfig
): Effect.fn.Return<RunFolder, RunFolderError, Scope.Scope> {
  yield* prepare(folder)
  yield* lock(folder)
  if (fs.existsSync(path.join(folder, Layout.config))) return yield* failed(folder, { _tag: "AlreadyThere" })
  if (fs.existsSync(path.join(folder, Layout.metrics))) {
    return yield* failed(folder, {
      _tag: "Failed",
      detail: `it has ${Layout.metrics} but no ${Layout.config}. Choose another folder.`
    })
  }
  yield* writeConfig(folder, config)
  return make(folder, config, undefined, { costUsd: 0, mark: { phase: 0, position: 0 } }, yield* openMetrics(folder))
})

/**
 * Opens an existing run to resume it. `change` can modify the configuration, for example to raise the cost limit.
 *
 * @internal
 */
export const open = Effect.fnUntraced(function* (
  folder: string,
  change: (config: TrainingConfig) => TrainingConfig = (config) => config
): Effect.fn.Return<RunFolder, RunFolderError, Scope.Scope> {
  yield* readConfig(folder)
  yield* prepare(folder)
  yield* lock(folder)
  const before = yield* readConfig(folder)
  const config = change(before)
  const state = yield* lastState(folder)
  const { costUsd, mark } = yield* attempt(folder, () => Records.spent(folder))
  const spent = { costUsd: Math.max(costUsd, state?.costUsd ?? 0), mark }
  if (config !== before) yield* writeConfig(folder, config)
  yield* cutBack(folder, state)
  yield* cutMetrics(folder, state)
  yield* within(folder, writeBest(folder, state?.best))
  return make(folder, config, state, spent, yield* openMetrics(folder))
})
