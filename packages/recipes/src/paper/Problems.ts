/** Loads the problems for the paper's run from four benchmarks, using local files or the original sources. */
import { existsSync } from "node:fs"
import path from "node:path"
import type { Grader } from "@divisi/core"
import type { Task } from "@divisi/core/Task"
import { Benchmark, Benchmarks, Math500, Mmlu, Rlpr } from "@divisi/evals"
import { TaskSource } from "@divisi/trainer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Environment from "../Environment.ts"

/** A benchmark used for training in the paper. */
export type Name = "math500" | "mmlu-auxiliary-train" | "rlpr" | "livecodebench-v1"

/**
 * The benchmarks used for training in the paper, with prompts that ask for its answer tags. MMLU's rows come from
 * `auxiliary_train`, so the model does not train on test data. RLPR is rewarded by the strict rule, because the lenient
 * one accepts the first number in any text.
 */
const benchmarks: Readonly<Record<Name, () => Benchmark.Graded>> = {
  math500: () => Math500.make({ format: "tags" }),
  "mmlu-auxiliary-train": () => Mmlu.make({ split: "auxiliary_train", format: "tags" }),
  rlpr: () => Rlpr.make({ rule: "strict", split: "train" }),
  "livecodebench-v1": () => Benchmarks.named("livecodebench-v1")!
}

/** The names of the benchmarks. */
export const names = Object.keys(benchmarks) as ReadonlyArray<Name>

/** The benchmarks used for recursive training in the paper. */
const recursive: ReadonlyArray<Name> = ["livecodebench-v1", "rlpr"]

/** Problems from a benchmark, with the benchmark that grades them. */
export interface Problems {
  readonly name: Name
  readonly tasks: ReadonlyArray<Task>
  readonly grader: Grader.Grader
}

/** Options for selecting problems. */
export interface Options {
  /** Maximum number of problems per benchmark. */
  readonly limit: number
  readonly seed: number
}

const endings = ["jsonl", "jsonl.gz", "parquet"]

/** Returns the path of a benchmark's file in the folder `DIVISI_BENCHMARKS`, such as `math500.jsonl`. */
const fileOf = (name: Name, { DIVISI_BENCHMARKS: folder }: Environment.Environment): string | undefined =>
  folder ? endings.map((ending) => path.join(folder, `${name}.${ending}`)).find(existsSync) : undefined

const loadOne = Effect.fnUntraced(function* (name: Name, { limit, seed }: Options) {
  const benchmark = benchmarks[name]()
  const file = fileOf(name, yield* Environment.read(["DIVISI_BENCHMARKS"]))
  const { tasks } = yield* Benchmark.load(benchmark, { limit, seed, files: file === undefined ? undefined : [file] })
  return { name, tasks, grader: benchmark.grader } satisfies Problems
})

/** Loads problems from each benchmark. The same seed gives the same problems. */
export const load = (options: Options) => Effect.forEach(names, (name) => loadOne(name, options))

/**
 * Loads the available benchmarks. For each unavailable benchmark, the result contains a sentence with the reason. Fails
 * if none is available.
 */
export const loadWhatIsThere = Effect.fnUntraced(function* (options: Options) {
  const results = yield* Effect.forEach(names, (name) => Effect.result(loadOne(name, options)))
  const failures = results.flatMap((result) => (Result.isFailure(result) ? [result.failure] : []))
  const problems = results.flatMap((result) => (Result.isSuccess(result) ? [result.success] : []))
  if (problems.length === 0) return yield* Effect.fail(failures[0]!)
  const lacking = names.filter((_, index) => Result.isFailure(results[index]!))
  return {
    problems,
    unknown: failures.map(
      ({ message }, index) =>
        `The problems of ${lacking[index]} are not counted; the other benchmarks are used instead: ${message}`
    )
  }
})

/** Returns a grader that grades each problem with its own benchmark. */
export const gradedBy = (problems: ReadonlyArray<Problems>): Grader.Grader => {
  const graders = new Map(problems.flatMap(({ grader, tasks }) => tasks.map(({ id }) => [id, grader] as const)))
  const [fallback] = problems
  return {
    name: problems.map(({ grader }) => grader.name).join(" + "),
    grade: (task, answer) => (graders.get(task.id) ?? fallback!.grader).grade(task, answer)
  }
}

/** Returns a source with an equal share of each benchmark, limited to a number of problems from each. */
export const sourceOf = (problems: ReadonlyArray<Problems>, limit: number): TaskSource.TaskSource =>
  TaskSource.mix(
    problems.map(({ name, tasks }) => ({
      source: TaskSource.fromTasks(name, tasks.slice(0, limit), () => name),
      share: 1
    }))
  )

/** Returns the problems for recursive training, or all problems if none of the required benchmarks are loaded. */
export const recursiveOf = (problems: ReadonlyArray<Problems>): ReadonlyArray<Problems> => {
  const found = problems.filter(({ name }) => recursive.includes(name))
  return found.length === 0 ? problems : found
}
