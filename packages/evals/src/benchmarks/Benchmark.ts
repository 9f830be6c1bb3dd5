/**
 * Benchmarks: the source of their records, the conversion of records to tasks, and the grading of answers.
 *
 * Loading a benchmark returns its tasks with the information needed to load the same tasks again: files with checksums,
 * the seed, and a hash of the ids. It also returns the license and terms for display. Tasks from a confidential
 * benchmark may be run, but {@link shareable} removes their text from shared files.
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
import * as References from "./references.ts"
import * as Selection from "./Selection.ts"
import * as Shots from "./Shots.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A set of tasks for evaluating policies. */
export interface Benchmark {
  /** The name used in commands, such as `math500`. */
  readonly id: string
  readonly title: string
  /** The source of the records: files on a hub, or local paths. */
  readonly source: Dataset.HubFiles | string | ReadonlyArray<string>
  readonly licence: string
  /** Additional terms set by the authors. */
  readonly terms?: string | undefined
  /** Whether its questions must not be published. */
  readonly isConfidential?: boolean | undefined
  /** Whether the hub requires a token. */
  readonly isGated?: boolean | undefined
  /** The metadata field used to stratify samples. */
  readonly stratum?: string | undefined
  /** Name of the prompt format, for reports. */
  readonly prompt: string
  /** Number of answers per question needed for a meaningful score. Default: 1. */
  readonly epochs?: number | undefined
  /**
   * Converts a record to a task. Returns `undefined` for a record that does not belong to the benchmark. Throws only
   * for a malformed record; loading then fails with the record's number.
   */
  readonly toTask: (record: Dataset.Record, index: number) => Task.Task | undefined
  /** Returns a warning about a record that is still used, such as `two options are equal`. */
  readonly oddityOf?: ((record: Dataset.Record) => string | ReadonlyArray<string> | undefined) | undefined
  /** Returns the reason why no answer to a task can be graded as correct. Loading then fails before any call. */
  readonly problemOf?: ((task: Task.Task) => Effect.Effect<string | undefined>) | undefined
  /** Returns the reply for a record that is used as a few-shot example. If omitted, the benchmark has no examples. */
  readonly exampleOf?: ((record: Dataset.Record, task: Task.Task) => string) | undefined
  /** The benchmark that examples are taken from. Default: other tasks of the same benchmark. */
  readonly examplesFrom?: Benchmark | undefined
}

/** A benchmark with a grader for its answers. */
export interface Graded extends Benchmark {
  readonly grader: Verdict.AnswerGrader
}

/** Options for loading a benchmark. */
export interface LoadOptions extends Dataset.Options {
  /** Local files to use instead of the benchmark's default files. */
  readonly files?: ReadonlyArray<string> | undefined
  /** Revision of the data set to use instead of the benchmark's default. Only a commit is immutable. */
  readonly revision?: string | undefined
  /** Ids of the tasks to load. Default: all. */
  readonly ids?: ReadonlyArray<string> | undefined
  /** Maximum number of tasks. They are a stratified sample drawn with the seed. */
  readonly limit?: number | undefined
  /** Seed for sampling. Default: 0. */
  readonly seed?: number | undefined
  /** The tasks that the policies were trained on. An overlap is an error. */
  readonly trained?: Selection.Trained | undefined
  readonly onOverlap?: "refuse" | "drop" | undefined
  /**
   * Number of solved examples before each question, as earlier turns of the conversation, from 0 to 64. Default: 0.
   * Examples are sampled with the seed, from the question's stratum if it has enough, and never include the question
   * itself.
   */
  readonly shots?: number | undefined
  /** Local files with examples, instead of the benchmark's split for examples. */
  readonly shotsFrom?: ReadonlyArray<string> | undefined
}

const loadTable = Tables.table(
  {
    files: Tables.listOf(Tables.name),
    revision: Tables.name,
    ids: Tables.listOf(Tables.text),
    // A limit that is out of range is reported as a typed error.
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

/** The tasks of a benchmark, with the information needed to load them again. */
export interface Loaded {
  readonly tasks: ReadonlyArray<Task.Task>
  readonly provenance: Provenance
  /** Warnings about the files, as sentences, for example about duplicate questions. */
  readonly notices: ReadonlyArray<string>
}

/** The information needed to load the same tasks again. */
export interface Provenance {
  readonly benchmark: string
  readonly prompt: string
  readonly licence: string
  readonly terms?: string | undefined
  /** Name of the data set on the hub; undefined for local files. */
  readonly dataset?: string | undefined
  readonly revision?: string | undefined
  /** The commit that the revision referred to at download time, if the hub reported it. */
  readonly commit?: string | undefined
  readonly files: ReadonlyArray<{ readonly name: string; readonly sha256: string; readonly bytes: number }>
  /** Number of tasks in the files. */
  readonly available: number
  readonly selected: number
  readonly seed: number
  /** Hash of the ids of the selected tasks. */
  readonly idsSha256: string
  /** The few-shot examples; undefined if none were used. */
  readonly shots?: ShotsRecord | undefined
}

/** Information about the few-shot examples shown before each question. */
export interface ShotsRecord {
  readonly count: number
  readonly seed: number
  /** The files that contain the examples. */
  readonly files: ReadonlyArray<{ readonly name: string; readonly sha256: string }>
  /** Paths of the files, if they were given by path. */
  readonly from?: ReadonlyArray<string> | undefined
  /** Hash of the ids of the available examples. */
  readonly idsSha256: string
}

/** Raised if a record is malformed. */
export class RecordError extends Data.TaggedError("RecordError")<{
  /** The benchmark that the file belongs to. Omitted for a user's own file. */
  readonly benchmark?: string | undefined
  readonly file: string
  /** The number of the record, starting at 1. */
  readonly record: number
  readonly detail: string
}> {
  override get message(): string {
    const record = `Record ${this.record} of ${this.file}`
    return this.benchmark === undefined
      ? `${record} cannot be used: ${this.detail}.`
      : `${record} is not valid for ${this.benchmark}: ${this.detail}. Check that the file belongs to this benchmark.`
  }
}

/** Raised if graders do not accept the reference answers of their own tasks. */
export class ReferencesError extends Data.TaggedError("ReferencesError")<{
  readonly benchmark: string
  readonly problems: ReadonlyArray<{ readonly question: string; readonly detail: string }>
}> {
  override get message(): string {
    const { benchmark, problems } = this
    const some = problems.slice(0, 3).map(({ detail, question }) => `"${References.short(question)}": ${detail}`)
    const more = problems.length > some.length ? `; and ${problems.length - some.length} more` : ""
    const questions = problems.length === 1 ? "1 question" : `${problems.length} questions`
    return `${benchmark} has ${questions} with a reference answer that the grader rejects. ${some.join("; ")}${more}. Correct the answers, or choose another grader. No worker was called.`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Loading
// -------------------------------------------------------------------------------------------------------------------

/** The reasons why loading a benchmark can fail. */
export type LoadError =
  | Dataset.DatasetError
  | RecordError
  | ReferencesError
  | Selection.SelectionError
  | Tables.OptionsError

const filesOf = (benchmark: Benchmark, options: LoadOptions) => {
  const { source } = benchmark
  if (options.files !== undefined) return Effect.forEach(options.files, Dataset.local)
  if (typeof source === "string") return Effect.forEach([source], Dataset.local)
  return "dataset" in source
    ? Dataset.fetchFiles(pinned(source, options.revision), options)
    : Effect.forEach(source, Dataset.local)
}

/**
 * Returns a source for another revision, without checksums, which are valid only for the benchmark's default revision.
 */
const pinned = ({ sha256, ...source }: Dataset.HubFiles, revision = source.revision): Dataset.HubFiles => ({
  ...source,
  revision,
  sha256: sha256 === undefined || revision !== source.revision ? undefined : sha256
})

const commitOf = (files: ReadonlyArray<Dataset.LocalFile>) => {
  const commit = files.find((file) => file.commit !== undefined)?.commit
  return { commit }
}

/** Rejects tasks that cannot be answered or graded, before any call is paid for. */
const gradable = (task: Task.Task | undefined): Task.Task | undefined => {
  if (task !== undefined && Task.question(task).trim() === "") throw new RowError("its question is empty")
  if (task?.reference?.trim() === "")
    throw new RowError("its reference answer is empty, so no answer could be graded as correct")
  return task
}

/** Returns the name of a benchmark whose records come from elsewhere. A user's own file belongs to no benchmark. */
const ownerOf = ({ id, source }: Benchmark) =>
  typeof source === "object" && "dataset" in source ? { benchmark: id } : {}

const taskOf = (benchmark: Benchmark, file: string, record: Row, index: number) =>
  Effect.try({
    try: () => gradable(benchmark.toTask(record, index)),
    catch: (error) => error
  }).pipe(
    Effect.catch((error) =>
      error instanceof RowError
        ? Effect.fail(new RecordError({ ...ownerOf(benchmark), file, record: index + 1, detail: error.message }))
        : Effect.die(error)
    )
  )

/** Appends a number to duplicate task ids. */
const numbered = (tasks: ReadonlyArray<Task.Task>): ReadonlyArray<Task.Task> => {
  const seen = new Map<string, number>()
  return tasks.map((task) => {
    const count = (seen.get(task.id) ?? 0) + 1
    seen.set(task.id, count)
    return count === 1 ? task : { ...task, id: `${task.id}-${count}` }
  })
}

const messagesKey = ({ messages }: Task.Task) => sha256(JSON.stringify(messages).replace(/(?:\s|\\[nrt])+/g, " "))

/** Describes rows with the same question, and rows that share an id but have different questions. */
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
      : [
          `${counted(repeated)} ${repeated.length === 1 ? "appears" : "appear"} more than once and ${repeated.length === 1 ? "is" : "are"} counted each time: ${some(repeated)}.`
        ]),
    ...(contradicted.length === 0
      ? []
      : [
          `${counted(contradicted)} ${contradicted.length === 1 ? "appears" : "appear"} more than once, with different answers: ${some(contradicted)}.`
        ]),
    ...(shared.length === 0 ? [] : [`Different questions have the same id, and each is counted: ${some(shared)}.`])
  ]
}

/** Returns the tasks in files, together with their records. */
const tasksOf = (benchmark: Benchmark, files: ReadonlyArray<Dataset.LocalFile>) =>
  Stream.flatMap(Stream.fromIterable(files), ({ path }) =>
    Dataset.records(path).pipe(
      Stream.zipWithIndex,
      Stream.mapEffect(([record, index]) =>
        Effect.map(taskOf(benchmark, path, record, index), (task) => ({ record, task }))
      )
    )
  )

/** Reads all tasks from the files, with warnings about them. */
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
    ...[...odd].map(([oddity, ids]) => `In ${counted(ids)}, ${oddity}: ${some(ids)}.`)
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

/** Fails if a reference answer is not accepted by its own grader. */
const checkReferences = Effect.fnUntraced(function* (
  { id, problemOf }: Benchmark,
  tasks: ReadonlyArray<Task.Task>
): Effect.fn.Return<void, ReferencesError> {
  const problems: Array<ReferencesError["problems"][number]> = []
  for (const task of problemOf === undefined ? [] : tasks) {
    const detail = yield* problemOf!(task)
    if (detail !== undefined) problems.push({ question: Task.question(task), detail })
  }
  if (problems.length > 0) return yield* new ReferencesError({ benchmark: id, problems })
})

/** Returns the few-shot examples, from the benchmark's split for examples or from files. */
const examplesOf = (benchmark: Benchmark, options: LoadOptions) =>
  Effect.gen(function* () {
    const { shotsFrom } = options
    const source = shotsFrom === undefined ? (benchmark.examplesFrom ?? benchmark) : benchmark
    const { exampleOf } = source
    if (exampleOf === undefined) {
      const detail = `${benchmark.title} has no worked examples. Omit "shots".`
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
    yield* checkReferences(benchmark, selected)
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

/** Returns a copy of the benchmark with a different grader. */
export const withGrader = (benchmark: Benchmark, grader: Verdict.AnswerGrader): Graded => ({ ...benchmark, grader })

/** The part of a task that may be shared. */
export interface Shareable {
  readonly id: string
  readonly promptSha256: string
  /** The question; omitted for a confidential benchmark, as are the answers. */
  readonly question?: string | undefined
  readonly reference?: string | undefined
}

/**
 * Returns the part of a task that may be shared; for a confidential benchmark, only its id and a hash.
 *
 * Answers may quote questions, so answers to a confidential benchmark must not be shared either (see `isConfidential`).
 */
export const shareable = (benchmark: Benchmark, task: Task.Task): Shareable => {
  const promptSha256 = sha256(JSON.stringify(task.messages))
  if (benchmark.isConfidential === true) return { id: task.id, promptSha256 }
  const { reference } = task
  const question = Task.question(task)
  return { id: task.id, promptSha256, question, reference }
}

/** Formats the license and terms of a benchmark for display. */
export const notice = ({ isConfidential, licence, terms, title }: Benchmark): string =>
  [
    `License of ${title}: ${licence}.`,
    ...(terms === undefined ? [] : [terms]),
    ...(isConfidential === true ? ["Its questions are not written to reports."] : [])
  ].join(" ")
