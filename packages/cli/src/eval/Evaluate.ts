/** `divisi eval`: evaluates policies on benchmarks and writes a report. */

import { existsSync, rmdirSync, rmSync } from "node:fs"
import path from "node:path"
import type { ResponseCache, Transcript } from "@divisi/core"
import type { MeasuredSettings } from "@divisi/core/RunSettings"
import { Benchmarks, Evaluation, ReportFile } from "@divisi/evals"
import * as Benchmark from "@divisi/evals/Benchmark"
import type * as Report from "@divisi/evals/Report"
import { DiskCache, Sealed, WholeFile } from "@divisi/files"
import { EvaluationTables } from "@divisi/report"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import manifest from "../../package.json" with { type: "json" }
import * as ConfigFile from "../config/ConfigFile.ts"
import type { Config } from "../config.ts"
import { exitCodes, type Failure, failed, silent, usage } from "../invocation/Failure.ts"
import * as NoEffect from "../invocation/NoEffect.ts"
import { stdout } from "../invocation/Output.ts"
import * as Database from "../stores/Database.ts"
import * as OwnOutcomes from "../stores/OwnOutcomes.ts"
import * as Services from "../stores/Services.ts"
import * as Checks from "../team/Checks.ts"
import * as OfflineGym from "../team/OfflineGym.ts"
import * as Profiles from "../team/Profiles.ts"
import * as RunOptions from "../team/RunOptions.ts"
import * as Embedders from "../vendors/Embedders.ts"
import * as Prices from "../vendors/Prices.ts"
import * as Contenders from "./Contenders.ts"
import type { EvalInput } from "./flags.ts"
import * as Machines from "./Machines.ts"
import * as NotMeasured from "./NotMeasured.ts"
import * as Offline from "./Offline.ts"
import * as Outputs from "./Outputs.ts"
import * as Progress from "./Progress.ts"
import * as ReportText from "./ReportText.ts"
import * as Suites from "./Suites.ts"
import * as TaskList from "./TaskList.ts"

const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** Reads a file if its flag is set. */
const fromFile = <A>(
  file: Option.Option<string>,
  read: (file: string) => Effect.Effect<A, Failure>
): Effect.Effect<A | undefined, Failure> => (Option.isNone(file) ? Effect.succeed(undefined) : read(file.value))

const suitesOf = (input: EvalInput) =>
  Effect.gen(function* () {
    const options: Suites.Options = {
      limit: Option.getOrUndefined(input.limit),
      seed: Option.getOrElse(input.seed, () => 0),
      ids: yield* fromFile(input.ids, TaskList.ids),
      trained: yield* fromFile(input.trained, TaskList.read),
      dropOverlap: input.dropOverlap,
      shots: Option.getOrUndefined(input.shots),
      shotsFrom: Option.isNone(input.shotsFrom) ? undefined : [input.shotsFrom.value],
      since: Option.getOrUndefined(input.since),
      until: Option.getOrUndefined(input.until),
      revision: Option.getOrUndefined(input.revision),
      split: Option.getOrUndefined(input.split),
      format: Option.getOrUndefined(input.format),
      isPaper: input.paper,
      grader: Option.getOrUndefined(input.grader),
      sandbox: yield* Suites.sandbox(input.sandbox)
    }
    return yield* Suites.all(input.benchmark, options)
  })

/** Prints notices about licenses and terms, and about the number of repetitions required for a meaningful score. */
const notices = (suites: ReadonlyArray<Evaluation.Suite>, epochs: number): void => {
  for (const { record } of suites) {
    if (record.benchmark === "gym") continue
    const { isConfidential, licence, terms, title } = record
    say(Benchmark.notice({ title, licence, isConfidential, terms } as Benchmark.Benchmark))
    const wanted = Benchmarks.named(record.benchmark)?.epochs ?? 1
    if (wanted > epochs) say(`${title} has few questions. Use --samples ${wanted} for a more reliable score.`)
  }
}

/** Loads the tasks for training baselines: the requested ones, or the gym's training split. */
const learnFrom = (input: EvalInput, isGym: boolean, suites: ReadonlyArray<Evaluation.Suite>) => {
  const options = { limit: input.learnLimit, seed: Option.getOrElse(input.seed, () => 0), split: "train" as const }
  const name = Option.getOrUndefined(input.learn) ?? (isGym ? "gym" : undefined)
  if (name === undefined || input.baselines === "") return Effect.succeed(undefined)
  // Excludes the evaluation's tasks from training.
  const measured = suites.flatMap(({ tasks }) => tasks)
  const grader = Option.getOrUndefined(input.grader)
  return Suites.one(name, { ...options, trained: measured, dropOverlap: true, grader })
}

/** The pool, the settings of each run and the policies, which are resolved before tasks are loaded. */
interface Team {
  readonly pool: Evaluation.Options["pool"]
  readonly isGym: boolean
  readonly settings: MeasuredSettings
  readonly policies: ReadonlyArray<Evaluation.Entry>
}

const teamOf = (input: EvalInput, config: Config): Effect.Effect<Team, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const isGym = RunOptions.isGym(config, input)
    const limitUsd = Option.getOrUndefined(Option.orElse(input.maxCost, () => input.questionCost))
    const pool = yield* RunOptions.resolvePool(
      isGym ? { ...config, pool: OfflineGym.fastPool() } : config,
      input,
      limitUsd
    )
    const settings = {
      retry: isGym ? OfflineGym.atOnce : undefined,
      ...RunOptions.measuredSettings(config, flagsOf(input)),
      checks: yield* Checks.resolve(config, [], pool)
    }
    const profiles = yield* fromFile(input.profiles, Profiles.read)
    const making = { pool, isGym, profiles, prices: Prices.of(config, input), limitUsd }
    const policies = yield* Contenders.policies(Option.getOrUndefined(input.policy), config, making)
    return { pool, isGym, settings, policies }
  })

const contendersOf = (
  input: EvalInput,
  { isGym, policies, pool, settings }: Team,
  store: ResponseCache.Store,
  suites: ReadonlyArray<Evaluation.Suite>
) =>
  Effect.gen(function* () {
    const learn = yield* learnFrom(input, isGym, suites)
    const baselines = yield* Contenders.baselines(input.baselines, {
      pool,
      isGym,
      learn,
      store,
      embedder: yield* Embedders.named(Option.getOrUndefined(input.embeddings), Option.isSome(input.offline)),
      isOffline: Option.isSome(input.offline),
      seed: Option.getOrElse(input.seed, () => 0),
      concurrency: input.concurrency,
      retry: settings.retry,
      maxOutputTokens: settings.worker?.maxOutputTokens,
      maxCostUsd: Option.getOrUndefined(input.maxCost)
    })
    return { entries: Contenders.join(policies, baselines.entries), paidUsd: baselines.paidUsd }
  })

/**
 * Returns a function that writes the transcript of each run to a separate file. Transcripts contain all text, including
 * confidential questions.
 */
const keeper = (folder: string) => {
  const within = path.join(folder, "transcripts")
  return (transcript: Transcript.Transcript) =>
    Effect.andThen(
      WholeFile.makeFolder(within),
      WholeFile.write(path.join(within, `${transcript.runId}.json`), `${Sealed.stringify(transcript)}\n`, {
        isDurable: false
      })
    )
}

/**
 * Returns a function that records verdicts from graders for `divisi learn`. Runs by the gym's workers are not recorded.
 * The kind of a question is its subject, or its benchmark if that has no subjects. In files with questions of unknown
 * subjects, `divisi learn` finds the kinds itself.
 */
const noter = (isOwn: boolean, suites: ReadonlyArray<Evaluation.Suite>) =>
  Effect.gen(function* () {
    const file = isOwn ? yield* OwnOutcomes.file : undefined
    if (file === undefined) return undefined
    const keep = OwnOutcomes.rate(OwnOutcomes.appendTo(file), yield* OwnOutcomes.embedder)
    const withSubjects = new Set(suites.flatMap(({ record }) => (record.stratum === undefined ? [] : record.benchmark)))
    let isTold = false
    const tell = ({ message }: Failure) => {
      if (!isTold) say(`divisi: cannot store the outcomes of this evaluation for divisi learn. ${message}`)
      isTold = true
    }
    return (transcript: Transcript.Transcript, { benchmark, score, stratum }: Report.Sample): Effect.Effect<void> =>
      score === undefined
        ? Effect.void
        : Effect.flatMap(Clock.currentTimeMillis, (at) => {
            const kind = stratum ?? (withSubjects.has(benchmark) ? undefined : benchmark)
            const noting = keep(transcript, { at, score, source: "grader", kind })
            return Effect.catch(noting, (failure) => Effect.sync(() => tell(failure)))
          })
  })

/** Returns the answer cache: the configured one, or a file in the evaluation's folder. */
const cacheOf = (input: EvalInput, config: Config): NonNullable<Config["cache"]> => {
  if (Option.isSome(input.offline)) return { file: Offline.answersOf(input.offline.value) }
  const { cache } = Services.of(config, input)
  const file = path.join(input.out, ReportFile.names.answers)
  return cache ?? { file, maxBytes: Number.MAX_SAFE_INTEGER }
}

/** The settings of the paper's controlled experiment, used by default. */
const paperSetting = { maxOutputTokens: 4096, temperature: 0.2 }

/** Returns the limits and settings for each run. */
const flagsOf = (input: EvalInput): RunOptions.Flags => {
  const orPaper = (flag: Option.Option<number>, name: keyof typeof paperSetting) =>
    input.paper ? Option.orElseSome(flag, () => paperSetting[name]) : flag
  return {
    ...input,
    maxCost: input.questionCost,
    maxOutputTokens: orPaper(input.maxOutputTokens, "maxOutputTokens"),
    temperature: orPaper(input.temperature, "temperature")
  }
}

const evaluateAll = (
  input: EvalInput,
  config: Config,
  team: Team,
  suites: ReadonlyArray<Evaluation.Suite>,
  database: Database.Database | undefined,
  progress: Progress.Progress,
  onKept: () => void
) =>
  Effect.gen(function* () {
    const { isGym, pool, settings } = team
    const isOffline = Option.isSome(input.offline)
    const cache = cacheOf(input, config)
    const opened = yield* Effect.mapError(
      DiskCache.store(typeof cache === "string" ? { file: cache } : cache),
      (error) => usage(error.message)
    )
    const store: ResponseCache.Store = {
      get: opened.get,
      set: (key, answer) => Effect.andThen(Effect.sync(onKept), opened.set(key, answer))
    }
    const { entries, paidUsd } = yield* contendersOf(input, team, store, suites)
    const keep = input.transcripts ? keeper(input.out) : undefined
    const machines = database && (yield* Machines.make(database.cluster, path.basename(path.resolve(input.out))))
    const note = yield* noter(!isGym && !isOffline, suites)
    return yield* Effect.mapError(
      Evaluation.run({
        epochs: input.epochs,
        run: settings,
        suites,
        policies: entries,
        pool,
        folder: input.out,
        concurrency: input.concurrency,
        retryMissing: input.retryMissing,
        store,
        isOffline,
        machines,
        versions: {
          "@divisi/cli": manifest.version,
          ...(Option.isNone(input.embeddings) ? {} : { embeddings: input.embeddings.value })
        },
        paidElsewhereUsd: isGym || isOffline ? 0 : paidUsd,
        maxCostUsd: Option.getOrUndefined(input.maxCost),
        onTranscript: (transcript, sample) =>
          Effect.andThen(keep?.(transcript) ?? Effect.void, note?.(transcript, sample) ?? Effect.void),
        onProgress: progress.show
      }),
      (error) =>
        error._tag === "EvaluationError" || error._tag === "OptionsError" ? usage(error.message) : failed(error.message)
    )
  })

/** Opens the database of an evaluation on several machines. Returns `undefined` for a single machine. */
const databaseOf = Effect.fnUntraced(function* (input: EvalInput) {
  if (Option.isNone(input.on)) return undefined
  const alone = {
    transcripts: input.transcripts,
    offline: Option.isSome(input.offline),
    learn: Option.isSome(input.learn)
  }
  const wrong = Object.entries(alone).find(([, isGiven]) => isGiven)
  if (wrong !== undefined) return yield* usage(`--${wrong[0]} cannot be combined with --on.`)
  return yield* Database.openShared(input.on)
})

/** After an interruption, prints where the results are and how to continue. */
const farewell = (input: EvalInput) =>
  Effect.sync(() => {
    if (existsSync(path.join(input.out, ReportFile.names.results))) {
      say(`divisi: stopped; results so far are in ${input.out}. Run the same command again to continue.`)
    }
  })

/** Removes the folder that was created for a rejected evaluation, unless it contains other files. */
const withoutFolder = (folder: string) =>
  Effect.sync(() => {
    const { answers, runs } = ReportFile.names
    const ours = [answers, runs].flatMap((name) => ["", "-wal", "-shm", "-owners"].map((end) => name + end))
    for (const name of ours) rmSync(path.join(folder, name), { recursive: true, force: true })
    try {
      rmdirSync(folder)
    } catch {
      // The folder contains other files.
    }
  })

/** Returns an error message if too many samples were lost to outages, or `undefined`. */
const tooManyMissing = (
  { report: { cells }, samples: all }: Measured,
  { maxMissing, offline, retryMissing }: EvalInput
): string | undefined => {
  const missing = cells.reduce((sum, { score }) => sum + score.missing, 0)
  const samples = cells.reduce((sum, { score }) => sum + score.samples, missing)
  // Offline, some samples that were not recorded are expected to be missing, but not all.
  if (Option.isSome(offline) && missing < samples) return undefined
  const problem = NotMeasured.problem(missing, samples, maxMissing, all)
  if (problem === undefined || Option.isSome(offline)) return problem
  const remedy = retryMissing ? "To measure them, run the same command again." : "To measure them, use --retry-missing."
  return `${problem} ${remedy}`
}

/**
 * Returns a warning about policies that never produced a plan, because a score of 0 says nothing about their quality.
 */
const planless = ({ cells }: Report.Report): string | undefined => {
  const found = cells.filter(
    ({ calls, score }) => score.samples > 0 && score.unanswered === score.samples && calls.total === 0
  )
  const [first] = found
  if (first === undefined) return undefined
  const names = [...new Set(found.map(({ policy }) => policy))].join(", ")
  return `These policies produced no answers and no plans: ${names}. To see why, run one question with: divisi run "…" --policy <policy>`
}

/** Whether the gym's workers left questions of another benchmark without an answer. */
const isOutsideGym = (report: Report.Report): boolean =>
  EvaluationTables.isPlay(report) &&
  report.cells.some(({ benchmark, score }) => benchmark !== "gym" && score.unanswered > 0)

/** Runs the evaluation, writes the report and prints it. */
export const evaluate = (input: EvalInput): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    if (Option.isNone(input.shots)) yield* NoEffect.without("shots", { "shots-from": input.shotsFrom })
    if (Option.isNone(input.trained)) yield* NoEffect.without("trained", { "drop-overlap": input.dropOverlap })
    if (input.baselines === "") {
      yield* NoEffect.without("baselines", { learn: input.learn, embeddings: input.embeddings })
    }
    if (!input.benchmark.includes("livecodebench")) {
      yield* NoEffect.without("benchmark livecodebench-v6", { since: input.since, until: input.until })
    }
    const measured = yield* measure(input)
    const { report } = measured
    stdout.write(
      input.json
        ? `${JSON.stringify(report)}\n`
        : `${ReportText.text(report, stdout.columns, Option.isSome(input.offline) ? "" : undefined)}\n`
    )
    if (!input.json) {
      if (isOutsideGym(report)) {
        say("The gym's workers answer only the gym's own kinds of questions. Use real models with --pool <ids>")
      }
      say(`Report: ${path.join(input.out, "report.html")}. Results, samples and tables are in the same folder.`)
    }
    yield* ending(input, measured)
  })

/** The result of an evaluation. */
export interface Measured {
  readonly report: Report.Report
  readonly samples: ReadonlyArray<Report.Sample>
  /** The limit that stopped the evaluation early, if any. */
  readonly stoppedBy?: { readonly message: string } | undefined
}

/** Exits with the code for an evaluation that was stopped or lost too many samples. */
export const ending = Effect.fnUntraced(function* (
  input: EvalInput,
  measured: Measured
): Effect.fn.Return<void, Failure> {
  const { report, stoppedBy } = measured
  if (stoppedBy !== undefined) say(`divisi: ${stoppedBy.message}`)
  if (report.extent.status === "stopped") return yield* silent(exitCodes.budget)
  const lost = tooManyMissing(measured, input)
  if (lost !== undefined) return yield* failed(lost)
  const silentPolicies = planless(report)
  if (silentPolicies !== undefined) return yield* failed(silentPolicies)
})

/** Runs the evaluation and writes its output files. */
export const measure = (input: EvalInput): Effect.Effect<Measured, Failure> => Effect.scoped(measureAll(input))

const measureAll = Effect.fnUntraced(function* (input: EvalInput): Effect.fn.Return<Measured, Failure, Scope.Scope> {
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  if (Option.isSome(input.offline)) yield* Offline.check(input.offline.value)
  const isOffline = Option.isSome(input.offline)
  const withKeys = <A, R>(effect: Effect.Effect<A, Failure, R>) =>
    isOffline ? Effect.provide(effect, Offline.keys) : effect
  const team = yield* Effect.provide(withKeys(teamOf(input, config)), Services.logger)
  const suites = yield* suitesOf(input)
  notices(suites, input.epochs)
  const database = yield* databaseOf(input)
  const progress = yield* Progress.make(RunOptions.isGym(config, input))
  const services = {
    ...Services.of(config, input),
    cache: cacheOf(input, config),
    database,
    isGym: RunOptions.isGym(config, input)
  }
  const isNew = !existsSync(input.out)
  let isAnyKept = false
  const hasBegun = () => isAnyKept || existsSync(path.join(input.out, ReportFile.names.journal))
  const evaluation = evaluateAll(input, config, team, suites, database, progress, () => (isAnyKept = true))
  const { report, samples, stoppedBy } = yield* Services.provide(withKeys(Effect.scoped(evaluation)), services).pipe(
    Effect.ensuring(Effect.sync(progress.close)),
    Effect.onInterrupt(() => farewell(input)),
    Effect.onError(() => (isNew && !hasBegun() ? withoutFolder(input.out) : Effect.void))
  )
  yield* Outputs.write(input.out, report, samples, suites)
  return { report, samples, stoppedBy }
})
