/** `divisi gym solve`: evaluates policies on generated tasks and prints summary figures. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import type { ResponseCache } from "@divisi/core"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { Evaluation } from "@divisi/evals"
import * as Report from "@divisi/evals/Report"
import { DiskCache } from "@divisi/files"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as ConfigFile from "../config/ConfigFile.ts"
import type { Config } from "../config.ts"
import * as Contenders from "../eval/Contenders.ts"
import * as NotMeasured from "../eval/NotMeasured.ts"
import * as Progress from "../eval/Progress.ts"
import * as Suites from "../eval/Suites.ts"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as Services from "../stores/Services.ts"
import * as Checks from "../team/Checks.ts"
import * as OfflineGym from "../team/OfflineGym.ts"
import * as RunOptions from "../team/RunOptions.ts"
import * as Prices from "../vendors/Prices.ts"
import * as Figures from "./Figures.ts"
import type { SolveInput } from "./flags.ts"
import * as ReportText from "./ReportText.ts"

/** Policies included in `--policy all`, after each individual worker. */
const compared = ["random", "best-of:3", "self-consistency:5", "self-reflection:5", "moa", "lexical"]

/** `best-single`, `tiny` and `oracle` need the known properties of the gym's workers. */
const all = (pool: WorkerPool.WorkerPool, isOurs: boolean): ReadonlyArray<string> => [
  ...WorkerPool.ids(pool).map((id) => `single:${id}`),
  ...(isOurs ? ["best-single"] : []),
  ...compared,
  "conductor",
  ...(isOurs ? ["tiny", "oracle"] : [])
]

const contenders = (input: SolveInput, config: Config, pool: WorkerPool.WorkerPool) => {
  const named = Option.getOrUndefined(input.policy) ?? (config.policy === "all" ? "all" : undefined)
  const names = named === "all" ? all(pool, config.pool === undefined).join(",") : named
  // The oracle applies, because the tasks are the gym's regardless of the workers.
  return Contenders.policies(names, config, { pool, isGym: true, prices: Prices.of(config, input) })
}

/** Creates a temporary folder that is removed when the scope closes. */
const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "divisi-gym-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** A cache that stores nothing, so that every call is made. */
const nothingKept: ResponseCache.Store = { get: () => Effect.succeed(undefined), set: () => Effect.void }

const storeOf = (cache: Config["cache"]): Effect.Effect<ResponseCache.Store, Failure, Scope.Scope> =>
  cache === undefined
    ? Effect.succeed(nothingKept)
    : Effect.mapError(DiskCache.store(typeof cache === "string" ? { file: cache } : cache), (error) =>
        usage(error.message)
      )

const print = (
  policies: ReadonlyArray<Evaluation.Entry>,
  samples: ReadonlyArray<Report.Sample>,
  isPlay: boolean,
  json: boolean
): void => {
  const found = policies.map(({ policy: { name } }) => ({ name, own: samples.filter(({ policy }) => policy === name) }))
  const begun = found.filter(({ own }, index) => own.length > 0 || index === 0)
  const figures = begun.map(({ name, own }) => Figures.of(name, own, isPlay))
  const text =
    figures.length === 1 ? ReportText.one(figures[0]!, Figures.gaps(begun[0]!.own)) : ReportText.several(figures)
  stdout.write(`${json ? figures.map((one) => JSON.stringify(one)).join("\n") : text}\n`)
}

/** Evaluates the policies and prints their figures, even after an interruption. */
export const solve = (input: SolveInput): Effect.Effect<void, Failure> => Effect.scoped(measure(input))

const measure = Effect.fnUntraced(function* (input: SolveInput): Effect.fn.Return<void, Failure, Scope.Scope> {
  const found = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  const family = yield* OfflineGym.familyOf(input.family)
  const config = OfflineGym.configFor(found.config, family)
  const isOurs = RunOptions.isGym(config, input)
  const pool = yield* RunOptions.resolvePool(
    isOurs ? { ...config, pool: OfflineGym.fastPool(OfflineGym.needsTool(family)) } : config,
    input
  )
  const settings = {
    retry: isOurs ? OfflineGym.atOnce : undefined,
    ...RunOptions.measuredSettings(config, input),
    checks: yield* Checks.resolve(config, [], pool),
    toolAccess: Option.getOrElse(input.toolAccess, () => config.toolAccess)
  }
  const seed = Option.getOrElse(input.seed, () => 0)
  const policies = yield* contenders(input, config, pool)
  const suite = yield* Suites.one("gym", { limit: input.tasks, seed, split: input.split, family })
  if (Option.isNone(input.policy) && config.policy !== undefined && config.policy !== "all") {
    process.stderr.write(
      `divisi: measuring the config's policy, ${policies[0]!.policy.name}. Choose another with --policy.\n`
    )
  }
  const services = { ...Services.of(config, input), isGym: isOurs }
  const progress = yield* Progress.make(WorkerPool.isPlay(pool))
  const samples: Array<Report.Sample> = []
  const run = Evaluation.run({
    run: settings,
    // All runs use the same seed, as if each question were run separately.
    sampleSeed: () => settings.seed ?? 0,
    suites: [suite],
    policies,
    pool,
    folder: yield* temporaryFolder,
    concurrency: input.concurrency,
    store: yield* storeOf(services.cache),
    onProgress: progress.show,
    onTranscript: (_, sample) => void samples.push(sample)
  })
  const told = Effect.mapError(run, (error) => failed(error.message))
  const evaluated = yield* Effect.ensuring(
    Services.provide(told, services),
    Effect.sync(() => {
      progress.close()
      print(policies, Report.sorted(samples), WorkerPool.isPlay(pool), input.json)
    })
  )
  const lost = evaluated.samples.filter(({ missing }) => missing !== undefined).length
  const problem = NotMeasured.problem(lost, evaluated.samples.length, input.maxMissing, evaluated.samples)
  if (problem !== undefined) return yield* failed(problem)
})
