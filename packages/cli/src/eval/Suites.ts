/** Loads benchmarks by name: the gym, the benchmarks in `@divisi/evals`, and user files. */

import { Nearest } from "@divisi/core"
import { Benchmarks, Evaluation, LiveCodeBench, Selection, UserBenchmark, Verifiers } from "@divisi/evals"
import * as Benchmark from "@divisi/evals/Benchmark"
import type { BenchmarkRecord } from "@divisi/evals/Report"
import { Graders, type Sandbox, Verdict } from "@divisi/graders"
import { CodeGrader } from "@divisi/graders/code"
import { Sandboxes } from "@divisi/graders/sandboxes"
import { GymGrader } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { type Failure, messageOf, usage } from "../invocation/Failure.ts"
import { listOf as namesIn } from "../invocation/flags.ts"
import * as OfflineGym from "../team/OfflineGym.ts"
import * as OwnModule from "../team/OwnModule.ts"

/** Options for loading a benchmark's tasks. */
export interface Options {
  readonly limit?: number | undefined
  readonly seed: number
  readonly ids?: ReadonlyArray<string> | undefined
  /** Number of solved examples before each question, and the files that contain them. */
  readonly shots?: number | undefined
  readonly shotsFrom?: ReadonlyArray<string> | undefined
  readonly trained?: Selection.Trained | undefined
  readonly dropOverlap?: boolean | undefined
  readonly revision?: string | undefined
  /** The grader for file rows that do not specify one: a name, or the path of a module. */
  readonly grader?: string | undefined
  /** Whether `grader` also replaces the graders of benchmarks. */
  readonly isGraderForAll?: boolean | undefined
  /** First and last day of the LiveCodeBench contests to include, as ISO dates. */
  readonly since?: string | undefined
  readonly until?: string | undefined
  /** The sandbox for generated programs. Default: WebAssembly. */
  readonly sandbox?: Sandbox.Sandbox | undefined
  /** The split of a benchmark that has several, such as MMLU, RLPR and the gym. Default: the test split. */
  readonly split?: string | undefined
  /** A family of gym tasks. Default: all families that need no tool. */
  readonly family?: string | undefined
  /** The answer format. Default: the benchmark's format. */
  readonly format?: Benchmarks.Format | undefined
  /** Whether to use the paper's answer format where a benchmark supports it. */
  readonly isPaper?: boolean | undefined
}

/** Splits a comma-separated list, and removes duplicates. */
export const listOf = (names: string): ReadonlyArray<string> => [...new Set(namesIn(names))]

const gymTasks = 100

const gymGrader: Verdict.AnswerGrader = Verdict.grader("gym", (gold, answer) =>
  Verdict.make({
    correct: GymGrader.isCorrect(answer, gold),
    rung: "gym",
    extracted: GymGrader.finalAnswer(answer)
  })
)

/** Returns the suggestion for a misspelt name. Empty if no name is close. */
const meant = (name: string, names: ReadonlyArray<string>): string => Nearest.didYouMean(Nearest.nearest(name, names))

/** Returns a grader by name or from a user's module. */
export const graderNamed = (name: string, sandbox?: Sandbox.Sandbox): Effect.Effect<Verdict.AnswerGrader, Failure> => {
  if (OwnModule.isPath(name)) return OwnModule.grader(name)
  const grader = Graders.named(name, sandbox)
  return grader === undefined
    ? Effect.fail(
        usage(
          `Unknown grader "${name}".${meant(name, Graders.names)} Available: ${Graders.names.join(", ")}, or your own file, such as ./mine.ts.`
        )
      )
    : Effect.succeed(grader)
}

/** Returns the grader that replaces a benchmark's grader, if any. */
const instead = ({ grader, isGraderForAll = false, sandbox }: Options) =>
  grader === undefined || !isGraderForAll ? Effect.succeed(undefined) : graderNamed(grader, sandbox)

/** Generates gym tasks. `limit` sets their number; `ids` selects some of them. */
const gym = (options: Options): Effect.Effect<Evaluation.Suite, Failure> =>
  Effect.gen(function* () {
    const { family, ids, limit = gymTasks, seed } = options
    const splits = Object.keys(Gym.seedRanges) as ReadonlyArray<Gym.Split>
    const split = splits.find((one) => one === (options.split ?? "test"))
    if (options.shots !== undefined && options.shots > 0) {
      return yield* usage("The gym has no solved examples. Use --shots with benchmarks or your own files.")
    }
    if (split === undefined)
      return yield* usage(`Unknown gym split "${options.split}". Available: ${splits.join(", ")}.`)
    const made = yield* OfflineGym.tasks({ split, count: limit, seed, family })
    const wanted = ids === undefined ? undefined : new Set(ids)
    const tasks = wanted === undefined ? made : made.filter(({ id }) => wanted.has(id))
    if (wanted !== undefined && tasks.length < wanted.size) {
      const lost = [...wanted].filter((id) => !tasks.some((task) => task.id === id)).slice(0, 5)
      return yield* usage(
        `--ids: the first ${limit} gym tasks do not include ${lost.join(", ")}. Use --limit to search more tasks.`
      )
    }
    const suite = Evaluation.madeSuite({
      id: "gym",
      title: "Gym",
      prompt: ["gym", Gym.version, split, family].filter((part) => part !== undefined).join("/"),
      licence: "MIT",
      tasks,
      grader: (yield* instead(options)) ?? gymGrader,
      seed,
      stratum: "family"
    })
    return { ...suite, record: { ...suite.record, available: made.length, split: options.split } }
  })

const isFile = (name: string): boolean => /[/\\]|\.(?:jsonl?|parquet)(?:\.gz)?$/.test(name)

const unknown = (name: string) =>
  usage(
    `Unknown benchmark "${name}".${meant(name, ["gym", ...Benchmarks.names])} Available: gym, ${Benchmarks.names.join(", ")}, verifiers:<taskset>, or your own .jsonl or .parquet file.`
  )

/** Returns LiveCodeBench restricted to a period. Returns `undefined` for other benchmarks, or if no period is given. */
const inWindow = (id: string, { sandbox = Sandboxes.shared, since, until }: Options) => {
  const slice = /^livecodebench-(v\d)$/.exec(id)?.[1]
  if (slice === undefined || (since === undefined && until === undefined)) return undefined
  const benchmark = LiveCodeBench.make({
    slices: LiveCodeBench.release("v6").filter((one) => one === slice),
    from: since,
    to: until
  })
  return Benchmark.withGrader(benchmark, CodeGrader.liveCodeBench(sandbox))
}

/** Returns the answer format to use: the requested one, or the paper's tags if requested and supported. */
const wantedFormat = (id: string, { format, isPaper = false }: Options) =>
  format ?? (isPaper && Benchmarks.formats(id).includes("tags") ? "tags" : undefined)

/** Returns a benchmark by name. The name may include a file with the records: `math500=rows.jsonl`. */
const benchmarkOf = (
  name: string,
  options: Options
): Effect.Effect<
  { readonly benchmark: Benchmark.Graded; readonly files?: ReadonlyArray<string> | undefined },
  Failure
> => {
  const [id = "", file] = name.split(/=(.*)/s)
  const { grader, sandbox, split } = options
  return Effect.flatMap(
    Effect.try({
      try: () => inWindow(id, options) ?? Benchmarks.named(id, { sandbox, split, format: wantedFormat(id, options) }),
      catch: (error) => usage(messageOf(error))
    }),
    (known) => {
      if (known !== undefined) {
        return Effect.succeed({ benchmark: known, files: file === undefined ? undefined : [file] })
      }
      if (id === "gym") return Effect.fail(usage("The gym generates its tasks, so it does not take a file."))
      if (file !== undefined || !isFile(name)) return Effect.fail(unknown(id))
      return Effect.gen(function* () {
        const named = grader === undefined ? undefined : yield* graderNamed(grader, sandbox)
        const own = grader !== undefined && OwnModule.isPath(grader) ? named : grader
        const { format } = options
        if (format === "box" || format === "program") {
          return yield* usage(
            `--format ${format} does not work with your own files. For rows with options, use line or tags.`
          )
        }
        return yield* Effect.try({
          try: () => ({ benchmark: UserBenchmark.make({ file: name, grader: own, format, sandbox }) }),
          catch: (error) => usage(messageOf(error))
        })
      })
    }
  )
}

/** Returns the digest of a user-supplied grader. */
const digestOf = ({ grader }: Options): Pick<BenchmarkRecord, "graderDigest"> =>
  grader !== undefined && OwnModule.isPath(grader) ? { graderDigest: OwnModule.digestOf(grader) } : {}

/** Returns a sandbox by name. It is started when the first program runs, and stopped when the scope closes. */
export const sandbox = (name: string): Effect.Effect<Sandbox.Sandbox, Failure, Scope.Scope> =>
  Sandboxes.named(name, { processes: 2 }) ??
  Effect.fail(
    usage(`Unknown sandbox "${name}".${meant(name, Sandboxes.names)} Available: ${Sandboxes.names.join(", ")}.`)
  )

const ofVerifiers = "verifiers:"

/** Loads a taskset from the verifiers library. Its process is stopped when the scope closes. */
const verifiers = (name: string, options: Options): Effect.Effect<Evaluation.Suite, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const taskset = name.slice(ofVerifiers.length)
    if (taskset === "") return yield* usage(`"${ofVerifiers}" does not name a taskset. Use ${ofVerifiers}<taskset>.`)
    const given = [options.shots && "--shots", options.trained && "--trained", options.split && "--split"]
    const unread = given.find((flag) => typeof flag === "string")
    if (unread !== undefined) return yield* usage(`${unread} does not work with verifiers tasksets.`)
    const { ids, limit } = options
    const suite = yield* Effect.mapError(
      Verifiers.load({ taskset, ...(limit === undefined || ids !== undefined ? {} : { limit }) }),
      ({ message }) => usage(message)
    )
    const chosen = ids === undefined ? Result.succeed(suite.tasks) : Selection.only(suite.tasks, ids)
    const tasks = yield* Effect.mapError(Effect.fromResult(chosen), ({ message }) => usage(message))
    const grader = (yield* instead(options)) ?? suite.grader
    const record = { ...suite.record, requested: name, grader: grader.name, selected: tasks.length }
    return { tasks, grader, record: { ...record, ...digestOf(options), idsSha256: Selection.hash(tasks) } }
  })

/** Loads a benchmark and its tasks. */
export const one = (name: string, options: Options): Effect.Effect<Evaluation.Suite, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const { since, until } = options
    if (since !== undefined && until !== undefined && since > until) {
      return yield* usage(`--since ${since} is later than --until ${until}.`)
    }
    if (name === "gym") return yield* gym(options)
    if (name.startsWith(ofVerifiers)) return yield* verifiers(name, options)
    const { benchmark, files } = yield* benchmarkOf(name, options)
    const other = yield* instead(options)
    const { dropOverlap = false, ids, limit, revision, seed, trained } = options
    const complete = other === undefined ? benchmark : Benchmark.withGrader(benchmark, other)
    const loaded = yield* Effect.mapError(
      Benchmark.load(complete, {
        seed,
        files,
        revision,
        limit,
        ids,
        trained,
        shots: options.shots,
        shotsFrom: options.shotsFrom,
        onOverlap: trained === undefined ? undefined : dropOverlap ? "drop" : "refuse"
      }),
      (error) =>
        usage(
          error.message
            .replace('`onOverlap: "drop"`', "--drop-overlap")
            .replace("pass the ids", "pass --ids with the ids")
        )
    )
    for (const notice of loaded.notices) process.stderr.write(`${name}: ${notice}\n`)
    const suite = Evaluation.suite(complete, loaded)
    const requestedGrader = isFile(name) && other === undefined ? options.grader : undefined
    const record = { ...suite.record, ...digestOf(options), requested: name, requestedGrader, split: options.split }
    return { ...suite, record }
  })

/** Loads several benchmarks. `ids` can be used only with a single benchmark. */
export const all = (
  names: string,
  options: Options
): Effect.Effect<ReadonlyArray<Evaluation.Suite>, Failure, Scope.Scope> => {
  const list = listOf(names)
  if (list.length === 0) return Effect.fail(usage("--benchmark is empty. Pass at least one benchmark."))
  if (options.grader !== undefined && !list.some(isFile)) {
    return Effect.fail(
      usage(
        "--grader works only with your own files. To grade an evaluation with another grader, use: divisi eval regrade <folder> --grader <name>"
      )
    )
  }
  if (options.split !== undefined && list.every(isFile)) {
    return Effect.fail(usage("--split does not work with your own files. Put each split into a file of its own."))
  }
  return options.ids !== undefined && list.length > 1
    ? Effect.fail(usage("--ids works with one benchmark only. Add other benchmarks in a second run."))
    : Effect.forEach(list, (name) => one(name, options))
}
