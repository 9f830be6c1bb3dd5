/**
 * Benchmarks: the source of the records, the conversion of a record to a task, and the grader.
 *
 * Loading a benchmark returns its tasks and the information needed to load the same tasks again: files with checksums,
 * the seed, and a hash of the ids. It also returns the license and terms for display. Tasks of a confidential benchmark
 * may be run, but {@link shareable} removes their text from shared files.
 */
import { Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import type { Verdict } from "@divisi/graders"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { sha256 } from "../internal/digest.ts"
import * as Dataset from "./Dataset.ts"
import { type Row, RowError } from "./Row.ts"
import * as Selection from "./Selection.ts"
import * as Shots from "./Shots.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A set of tasks for evaluating policies. */
export interface Benchmark {
  /** Its name in commands, e.g. `math500`. */
  readonly id: string
  readonly title: string
  /** The source of the records: files on a hub, or local paths. */
  readonly source: Dataset.HubFiles | string | ReadonlyArray<string>
  readonly licence: string
  /** Additional terms of the authors. */
  readonly terms?: string | undefined
  /** Whether its questions must not be published. */
  readonly isConfidential?: boolean | undefined
  /** Whether the hub asks for a token. */
  readonly isGated?: boolean | undefined
  /** The metadata field by which samples are stratified. */
  readonly stratum?: string | undefined
  /** The name of its prompt format, for reports. */
  readonly prompt: string
  /** The number of answers per question for a meaningful score; 1 if absent. */
  readonly epochs?: number | undefined
  /**
   * Converts a record to a task; `undefined` for a record that is not part of the benchmark. It throws only for a
   * record of an unexpected shape; loading then fails with the record's number.
   */
  readonly toTask: (record: Dataset.Record, index: number) => Task.Task | undefined
  /** Returns a warning about a record that is used anyway, e.g. `two options are equal`. */
  readonly oddityOf?: ((record: Dataset.Record) => string | ReadonlyArray<string> | undefined) | undefined
  /** Returns the reply for a record that is used as a few-shot example. Without it, a benchmark has no examples. */
  readonly exampleOf?: ((record: Dataset.Record, task: Task.Task) => string) | undefined
  /** The source of examples. Default: the benchmark's other tasks. */
  readonly examplesFrom?: Benchmark | undefined
}

/** A benchmark whose answers can be graded. */
export interface Graded extends Benchmark {
  readonly grader: Verdict.AnswerGrader
}

/** Options for loading a benchmark. */
export interface LoadOptions extends Dataset.Options {
  /** Local files to use instead of the benchmark's own. */
  readonly files?: ReadonlyArray<string> | undefined
  /** The revision of the data set, instead of the benchmark's own. Only a commit is immutable. */
  readonly revision?: string | undefined
  /** The ids of the tasks to load. */
  readonly ids?: ReadonlyArray<string> | undefined
  /** The maximum number of tasks, sampled with the seed and stratified. */
  readonly limit?: number | undefined
  /** The seed of the sample. Default: 0. */
  readonly seed?: number | undefined
  /** The training data of the policies. An overlap is an error. */
  readonly trained?: Selection.Trained | undefined
  readonly onOverlap?: "refuse" | "drop" | undefined
  /**
   * The number of solved examples before each question, as earlier turns of the conversation. Default: 0; at most 64.
   * They are sampled with the seed, from the question's stratum if it has enough, and never include the question
   * itself.
   */
  readonly shots?: number | undefined
  /** Local files with examples, instead of the benchmark's own split for examples. */
  readonly shotsFrom?: ReadonlyArray<string> | undefined
}

const loadTable = Tables.table(
  {
    files: Tables.listOf(Tables.name),
    revision: Tables.name,
    ids: Tables.listOf(Tables.text),
    // A limit that is out of range is a typed error.
    limit: Tables.anything,
    seed: Tables.whole(0),
    trained: Tables.anObject,
    onOverlap: Tables.oneOf("refuse", "drop"),
    cacheFolder: Tables.name,
    token: Tables.text,
    endpoint: Tables.name,
    shots: Tables.whole(0, Shots.most),
    shotsFrom: Tables.listOf(Tables.name)
  } satisfies Tables.ShapeOf<LoadOptions>,
  { rules: [Tables.needs("shotsFrom", "shots")] }
)

/** The tasks of a benchmark, and their source. */
export interface Loaded {
  readonly tasks: ReadonlyArray<Task.Task>
  readonly provenance: Provenance
  /** Warnings about the files, as sentences, e.g. about duplicate questions. */
  readonly notices: ReadonlyArray<string>
}

/** The information needed to load the same tasks again. */
export interface Provenance {
  readonly benchmark: string
  readonly prompt: string
  readonly licence: string
  readonly terms?: string | undefined
  /** The name of the data set on the hub, if any. */
  readonly dataset?: string | undefined
  readonly revision?: string | undefined
  /** The commit of the revision at the time of the download, if the hub reported it. */
  readonly commit?: string | undefined
  readonly files: ReadonlyArray<{ readonly name: string; readonly sha256: string; readonly bytes: number }>
  /** The number of tasks in the files. */
  readonly available: number
  readonly selected: number
  readonly seed: number
  /** A hash of the selected tasks' ids. */
  readonly idsSha256: string
  /** The few-shot examples; absent without. */
  readonly shots?: ShotsRecord | undefined
}

/** The few-shot examples shown before each question. */
export interface ShotsRecord {
  readonly count: number
  readonly seed: number
  /** The files with the examples. */
  readonly files: ReadonlyArray<{ readonly name: string; readonly sha256: string }>
  /** The paths of the files, if they were given by path. */
  readonly from?: ReadonlyArray<string> | undefined
  /** A hash of the available examples. */
  readonly idsSha256: string
}

/** The error for a record of an unexpected shape. */
export class RecordError extends Data.TaggedError("RecordError")<{
  readonly benchmark: string
  readonly file: string
  /** From 1. */
  readonly record: number
  readonly detail: string
}> {
  override get message(): string {
    return `Record ${this.record} of ${this.file} is not valid for ${this.benchmark}: ${this.detail}. Check that the file belongs to this benchmark.`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Loading
// -------------------------------------------------------------------------------------------------------------------

/** Why a benchmark cannot be loaded. */
export type LoadError = Dataset.DatasetError | RecordError | Selection.SelectionError | Tables.OptionsError

const filesOf = (benchmark: Benchmark, options: LoadOptions) => {
  const { source } = benchmark
  if (options.files !== undefined) return Effect.forEach(options.files, Dataset.local)
  if (typeof source === "string") return Effect.forEach([source], Dataset.local)
  return "dataset" in source
    ? Dataset.fetchFiles(pinned(source, options.revision), options)
    : Effect.forEach(source, Dataset.local)
}

/** A benchmark's checksums hold for its own revision only. */
const pinned = ({ sha256, ...source }: Dataset.HubFiles, revision = source.revision): Dataset.HubFiles => ({
  ...source,
  revision,
  sha256: sha256 === undefined || revision !== source.revision ? undefined : sha256
})

const commitOf = (files: ReadonlyArray<Dataset.LocalFile>) => {
  const commit = files.find((file) => file.commit !== undefined)?.commit
  return { commit }
}

/** Rejects tasks that cannot be answered or graded, before anything is paid for. */
const gradable = (task: Task.Task | undefined): Task.Task | undefined => {
  if (task !== undefined && Task.question(task).trim() === "") throw new RowError("its question is empty")
  if (task?.reference?.trim() === "")
    throw new RowError("its reference answer is empty, so no answer could be graded as correct")
  return task
}

const taskOf = (benchmark: Benchmark, file: string, record: Row, index: number) =>
  Effect.try({
    try: () => gradable(benchmark.toTask(record, index)),
    catch: (error) => error
  }).pipe(
    Effect.catch((error) =>
      error instanceof RowError
        ? Effect.fail(new RecordError({ benchmark: benchmark.id, file, record: index + 1, detail: error.message }))
        : Effect.die(error)
    )
  )

/** A task with a duplicate id gets a number appended. */
const numbered = (tasks: ReadonlyArray<Task.Task>): ReadonlyArray<Task.Task> => {
  const seen = new Map<string, number>()
  return tasks.map((task) => {
    const count = (seen.get(task.id) ?? 0) + 1
    seen.set(task.id, count)
    return count === 1 ? task : { ...task, id: `${task.id}-${count}` }
  })
}

const messagesKey = ({ messages }: Task.Task) => sha256(JSON.stringify(messages).replace(/(?:\s|\\[nrt])+/g, " "))

/** Rows that ask the same, and rows that share an id without asking the same. */
const repetitions = (tasks: ReadonlyArray<Task.Task>): ReadonlyArray<string> => {
  const again = [...Map.groupBy(tasks, messagesKey).values()].filter(({ length }) => length > 1)
  const answersOf = (group: ReadonlyArray<Task.Task>) => new Set(group.map(({ reference }) => reference?.trim()))
  const idsOf = (groups: ReadonlyArray<ReadonlyArray<Task.Task>>) => groups.map(([first]) => first!.id)
  const repeated = idsOf(again.filter((group) => answersOf(group).size === 1))
  const contradicted = idsOf(again.filter((group) => answersOf(group).size > 1))
  const shared = [...Map.groupBy(tasks, ({ id }) => id)]
    .filter(([, group]) => new Set(group.map(messagesKey)).size > 1)
    .map(([id]) => id)
  return [
    ...(repeated.length === 0
      ? []
      : [`${counted(repeated)} in the files more than once and counted each time: ${some(repeated)}.`]),
    ...(contradicted.length === 0
      ? []
      : [`${counted(contradicted)} in the files with different answers: ${some(contradicted)}.`]),
    ...(shared.length === 0 ? [] : [`Different questions have the same id: ${some(shared)}.`])
  ]
}

/** The tasks of files, with their records. */
const tasksOf = (benchmark: Benchmark, files: ReadonlyArray<Dataset.LocalFile>) =>
  Stream.flatMap(Stream.fromIterable(files), ({ path }) =>
    Dataset.records(path).pipe(
      Stream.zipWithIndex,
      Stream.mapEffect(([record, index]) =>
        Effect.map(taskOf(benchmark, path, record, index), (task) => ({ record, task }))
      )
    )
  )

/** Reads all tasks of the files, with notices about them. */
const readTasks = Effect.fnUntraced(function* (benchmark: Benchmark, files: ReadonlyArray<Dataset.LocalFile>) {
  let records = 0
  const odd = new Map<string, Array<string>>()
  const tasks: Array<Task.Task> = []
  yield* Stream.runForEach(tasksOf(benchmark, files), ({ record, task }) =>
    Effect.sync(() => {
      records += 1
      if (task === undefined) return
      tasks.push(task)
      for (const oddity of [benchmark.oddityOf?.(record) ?? []].flat()) {
        const ids = odd.get(oddity)
        if (ids === undefined) odd.set(oddity, [task.id])
        else ids.push(task.id)
      }
    })
  )
  if (tasks.length === 0) return yield* nothingIn(benchmark, files, records)
  const notices = [
    ...repetitions(tasks),
    ...[...odd].map(([oddity, ids]) => `In ${counted(ids)} ${oddity}: ${some(ids)}.`)
  ]
  return { all: numbered(tasks), notices }
})

const counted = ({ length }: ReadonlyArray<string>) => (length === 1 ? "1 question" : `${length} questions`)

const some = (ids: ReadonlyArray<string>) => `${ids.slice(0, 3).join(", ")}${ids.length > 3 ? ", …" : ""}`

const nothingIn = (benchmark: Benchmark, files: ReadonlyArray<Dataset.LocalFile>, records: number) => {
  const detail = records === 0 ? "it contains no records" : `none of its ${records} records is a ${benchmark.id} task`
  const source = files.map(({ path }) => path).join(", ")
  return Effect.fail(new Dataset.DatasetError({ source, reason: "format", detail }))
}

const select = (benchmark: Benchmark, tasks: ReadonlyArray<Task.Task>, options: LoadOptions) =>
  Result.gen(function* () {
    const chosen = options.ids === undefined ? tasks : yield* Selection.only(tasks, options.ids)
    const clean = yield* Selection.withoutTrained(chosen, options.trained ?? [], options.onOverlap)
    if (clean.length === 0) return yield* Result.fail(new Selection.SelectionError({ reason: "empty", ids: [] }))
    if (options.limit === undefined) return clean
    if (!Number.isInteger(options.limit) || options.limit < 1) {
      return yield* Result.fail(new Selection.SelectionError({ reason: "limit", ids: [] }))
    }
    const { stratum } = benchmark
    return Selection.sample(clean, {
      limit: options.limit,
      seed: options.seed ?? 0,
      by: stratum
    })
  })

/** The examples of `shots`, from the benchmark's split for them or from files. */
const examplesOf = (benchmark: Benchmark, options: LoadOptions) =>
  Effect.gen(function* () {
    const { shotsFrom } = options
    const source = shotsFrom === undefined ? (benchmark.examplesFrom ?? benchmark) : benchmark
    const { exampleOf } = source
    if (exampleOf === undefined) {
      const detail = `${benchmark.title} has no worked examples: leave "shots" out.`
      return yield* new Tables.OptionsError({ what: "Benchmark.load", detail })
    }
    const files = yield* filesOf(source, {
      ...options,
      files: shotsFrom ?? (source === benchmark ? options.files : undefined)
    })
    const read = yield* Stream.runCollect(tasksOf(source, files))
    const examples = read.flatMap(
      ({ record, task }): ReadonlyArray<Shots.Example> =>
        task === undefined ? [] : [{ task, reply: exampleOf(record, task) }]
    )
    return { files, examples }
  })

const withShots = (benchmark: Benchmark, tasks: ReadonlyArray<Task.Task>, options: LoadOptions) =>
  Effect.gen(function* () {
    const { seed = 0, shots: count = 0, shotsFrom } = options
    if (count === 0) return { tasks, shots: undefined }
    const { examples, files } = yield* examplesOf(benchmark, options)
    const shots: ShotsRecord = {
      count,
      seed,
      files: files.map(({ name, sha256 }) => ({ name, sha256 })),
      ...(shotsFrom === undefined ? {} : { from: shotsFrom }),
      idsSha256: Selection.hash(examples.map(({ task }) => task))
    }
    const shown = Shots.add(tasks, examples, { count, seed, by: benchmark.stratum })
    return { tasks: yield* Effect.fromResult(shown), shots }
  })

/**
 * Loads the tasks of a benchmark.
 *
 * **Example**
 *
 * ```ts
 * import fs from "node:fs"
 * import os from "node:os"
 * import path from "node:path"
 * import * as Benchmark from "@divisi/evals/Benchmark"
 * import { UserBenchmark } from "@divisi/evals"
 * import * as Effect from "effect/Effect"
 *
 * const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "divisi-")), "mine.jsonl")
 * fs.writeFileSync(file, '{"id":"one","question":"6 times 7?","answer":"42"}\n')
 *
 * const mine = UserBenchmark.make({ file, grader: "integer" })
 * const { provenance, tasks } = await Effect.runPromise(Benchmark.load(mine))
 * tasks[0]?.id // => "one"
 * provenance.selected // => 1
 * ```
 */
export const load = (benchmark: Benchmark, options: LoadOptions = {}): Effect.Effect<Loaded, LoadError> =>
  Effect.gen(function* () {
    yield* Tables.checked("Benchmark.load", options, loadTable)
    const files = yield* filesOf(benchmark, options)
    const { all, notices } = yield* readTasks(benchmark, files)
    const selected = yield* Effect.fromResult(select(benchmark, all, options))
    const { shots, tasks } = yield* withShots(benchmark, selected, options)
    const { source } = benchmark
    const isHub = options.files === undefined && typeof source === "object" && "dataset" in source
    return {
      tasks,
      notices,
      provenance: {
        benchmark: benchmark.id,
        prompt: shots === undefined ? benchmark.prompt : `${benchmark.prompt}/${shots.count}-shot`,
        licence: benchmark.licence,
        terms: benchmark.terms,
        ...(isHub
          ? { dataset: source.dataset, revision: options.revision ?? source.revision ?? "main", ...commitOf(files) }
          : {}),
        files: files.map(({ bytes, name, sha256 }) => ({ name, sha256, bytes })),
        available: all.length,
        selected: tasks.length,
        seed: options.seed ?? 0,
        idsSha256: Selection.hash(tasks),
        ...(shots === undefined ? {} : { shots })
      }
    }
  })

// -------------------------------------------------------------------------------------------------------------------
// Combinators
// -------------------------------------------------------------------------------------------------------------------

/** Returns the benchmark with another grader. */
export const withGrader = (benchmark: Benchmark, grader: Verdict.AnswerGrader): Graded => ({ ...benchmark, grader })

/** The part of a task that may be shared. */
export interface Shareable {
  readonly id: string
  readonly promptSha256: string
  /** Absent for a confidential benchmark, like the answers. */
  readonly question?: string | undefined
  readonly reference?: string | undefined
}

/**
 * Returns the part of a task that may be shared: for a confidential benchmark, only its id and a hash.
 *
 * Answers may quote questions, so do not share answers of a confidential benchmark either (see `isConfidential`).
 */
export const shareable = (benchmark: Benchmark, task: Task.Task): Shareable => {
  const promptSha256 = sha256(JSON.stringify(task.messages))
  if (benchmark.isConfidential === true) return { id: task.id, promptSha256 }
  const { reference } = task
  const question = Task.question(task)
  return { id: task.id, promptSha256, question, reference }
}

/** Returns the license and terms of a benchmark as text for display. */
export const notice = ({ isConfidential, licence, terms, title }: Benchmark): string =>
  [
    `${title}: ${licence}.`,
    ...(terms === undefined ? [] : [terms]),
    ...(isConfidential === true ? ["Its questions are not written to reports."] : [])
  ].join(" ")
