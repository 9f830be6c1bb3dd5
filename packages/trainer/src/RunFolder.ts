/**
 * The folder of a training run: written so that it can be killed at any moment, and read by whatever shows a run.
 *
 * A checkpoint is a folder that is there in whole or not at all; metrics are appended, and those behind the last
 * checkpoint are cut off when the run is resumed; the rollouts of an iteration are one file. `RunLayout` says what lies
 * where.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import * as zlib from "node:zlib"
import { detailOf, type FileError } from "@divisi/files/FileError"
import * as JsonLines from "@divisi/files/JsonLines"
import * as Lock from "@divisi/files/Lock"
import * as WholeFile from "@divisi/files/WholeFile"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Engine, EngineError } from "./Engine.ts"
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
  | { readonly _tag: "Locked"; readonly holder?: Lock.Holder | undefined }
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
        return `The training run in ${folder} goes on in ${Lock.nameOf(reason.holder)}: wait for it, or stop it.`
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
      error instanceof RunFolderError ? error : failed(folder, { _tag: "Failed", detail: detailOf(error) })
  })

/** What an effect on a file of the run fails with, as an error of the run. */
const within = <A, R>(folder: string, effect: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.mapError(effect, ({ message }) => failed(folder, { _tag: "Failed", detail: message }))

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

const readLines = <A>(folder: string, file: string): Effect.Effect<ReadonlyArray<A>, RunFolderError> =>
  within(folder, Stream.runCollect(JsonLines.read(file)) as Effect.Effect<Array<A>, JsonLines.ReadError>)

/** The metrics of a run so far. A torn last line is left out. */
export const readMetrics = (folder: string): Effect.Effect<ReadonlyArray<Metrics>, RunFolderError> =>
  Effect.suspend(() => {
    const file = path.join(folder, Layout.metrics)
    return fs.existsSync(file) ? readLines<Metrics>(folder, file) : Effect.succeed([])
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

/**
 * The rollouts of one iteration: groups, each before its completions. A file that a crash has cut is read as far as it
 * goes.
 */
export const readRollouts = (
  folder: string,
  iteration: number
): Effect.Effect<ReadonlyArray<RolloutRecord>, RunFolderError> =>
  readLines(folder, path.join(folder, Layout.rolloutsOf(iteration)))

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

/** Holds the lock of a run until the scope closes. */
const lock = (folder: string) =>
  Effect.mapError(Lock.hold(path.join(folder, Layout.lock)), ({ message, reason }) =>
    failed(
      folder,
      reason._tag === "Held" ? { _tag: "Locked", holder: reason.holder } : { _tag: "Failed", detail: message }
    )
  )

const writeBest = (folder: string, best: Layout.Best | undefined): Effect.Effect<void, FileError> =>
  best === undefined ? Effect.void : WholeFile.write(path.join(folder, Layout.best), `${JSON.stringify(best)}\n`)

const removePartial = (folder: string) => {
  for (const name of fs.readdirSync(folder)) {
    if (name.endsWith(".partial")) fs.rmSync(path.join(folder, name), { recursive: true, force: true })
  }
}

/** Removes rollouts behind the last checkpoint: they are made again. */
const cutBack = (folder: string, state: Layout.TrainerState | undefined): void => {
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
  spentUsd: number,
  metrics: JsonLines.Writer
): RunFolder => {
  /** Rollouts since the last checkpoint. They only have to outlive the system when there is another. */
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
    const next: Layout.TrainerState = { ...state, engine: saved, metricsBytes: metrics.bytes() }
    yield* within(
      folder,
      Effect.gen(function* () {
        yield* JsonLines.attempt(metrics.flush)
        yield* Effect.forEach(unsynced, WholeFile.sync, { discard: true })
        yield* WholeFile.syncFolder(path.join(folder, Layout.rollouts))
        unsynced.clear()
        yield* WholeFile.writeJson(path.join(partial, Layout.state), next)
        yield* WholeFile.publishFolder(partial, target)
        yield* writeBest(folder, next.best)
      })
    )
    yield* attempt(folder, () => prune(next))
    return next
  })

  return {
    folder,
    config,
    state,
    spentUsd,
    appendMetrics: (record) => attempt(folder, () => metrics.append(record)),
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
    writeSpent: (costUsd) =>
      within(
        folder,
        WholeFile.write(path.join(folder, Layout.spent), `${JSON.stringify({ costUsd })}\n`, { isDurable: false })
      )
  }
}

/** The metrics that belong to the last checkpoint; those behind it are made again. */
const openMetrics = (folder: string, state: Layout.TrainerState | undefined) =>
  within(
    folder,
    JsonLines.open(path.join(folder, Layout.metrics), {
      keepBytes: state?.metricsBytes ?? 0,
      syncLines: Number.POSITIVE_INFINITY
    })
  )

const writeConfig = (folder: string, config: TrainingConfig) =>
  within(folder, WholeFile.writeJson(path.join(folder, Layout.config), config))

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
  if (fs.existsSync(path.join(folder, Layout.config))) return yield* failed(folder, { _tag: "AlreadyThere" })
  yield* writeConfig(folder, config)
  return make(folder, config, undefined, 0, yield* openMetrics(folder, undefined))
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
  if (config !== before) yield* writeConfig(folder, config)
  yield* attempt(folder, () => cutBack(folder, state))
  yield* within(folder, writeBest(folder, state?.best))
  const spentUsd = yield* attempt(folder, () => Math.max(readSpent(folder), state?.costUsd ?? 0))
  return make(folder, config, state, spentUsd, yield* openMetrics(folder, state))
})
