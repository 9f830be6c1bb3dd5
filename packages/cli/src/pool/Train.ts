/** `divisi pool train`: trains a classifier that selects a worker for each question, based on recorded answers. */
import { existsSync } from "node:fs"
import path from "node:path"
import { Embedder } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import { ReportFile } from "@divisi/evals"
import type { BenchmarkRecord, Report, Sample } from "@divisi/evals/Report"
import { Head, Outcomes, Replay } from "@divisi/policy-router"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as RecordedSuite from "../eval/RecordedSuite.ts"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { quoted } from "../invocation/Hint.ts"
import { stdout } from "../invocation/Output.ts"
import * as Embedders from "../vendors/Embedders.ts"
import * as Format from "../view/Format.ts"
import { clean } from "../view/Line.ts"
import type { TrainPoolInput } from "./flags.ts"
import * as HeldOut from "./HeldOut.ts"

/** Returns the path of the trained classifier in a recording's folder. */
export const fileIn = (folder: string): string => path.join(folder, "head.json")

/** A recording, with the tasks on which it is based. */
export interface Recording {
  readonly report: Report
  readonly record: BenchmarkRecord
  readonly samples: ReadonlyArray<Sample>
  readonly tasks: ReadonlyArray<Task.Task>
}

/** Loads the recording in a folder. */
export const read = (folder: string): Effect.Effect<Recording, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const absent = [ReportFile.names.results, ReportFile.names.samples].find(
      (name) => !existsSync(path.join(folder, name))
    )
    if (absent !== undefined) {
      return yield* usage(
        `"${folder}" contains no usable recording (${absent} is missing). Run \`divisi pool record --out ${quoted(folder)}\` and let it finish or reach a limit. You do not pay again for recorded answers.`
      )
    }
    const [report, samples] = yield* Effect.mapError(
      Effect.all([ReportFile.read(folder), ReportFile.readSamples(folder)]),
      ({ message }) => usage(message)
    )
    const [record] = report.benchmarks
    if (record === undefined) return yield* usage(`${folder} has no questions. Record some with divisi pool record.`)
    const { tasks } = yield* RecordedSuite.load(record)
    return { report, record, samples, tasks }
  })

/** Returns the tasks that have recorded answers. */
export const recordedIn = ({ samples, tasks }: Recording): ReadonlyArray<Task.Task> => {
  const recorded = new Set(samples.map(({ task }) => task))
  return tasks.filter(({ id }) => recorded.has(id))
}

/** Describes differences between a recording and its questions file, and missing answers. */
export const notices = (recording: Recording): ReadonlyArray<string> => {
  const { record, report, samples, tasks } = recording
  const file = record.requested ?? record.benchmark
  const ids = new Set(tasks.map(({ id }) => id))
  const changed = new Set(samples.map(({ task }) => task).filter((id) => !ids.has(id))).size
  const fresh = tasks.length - recordedIn(recording).length
  const answered = samples.filter(({ score }) => score !== undefined).length
  const { planned } = report.extent
  return [
    ...(changed === 0
      ? []
      : [`Ignored ${Format.count(changed, "recorded question")} that ${file} no longer contains in the same form.`]),
    ...(fresh === 0
      ? []
      : [
          `Ignored ${Format.count(fresh, "question")} in ${file} without recorded answers. Run divisi pool record again.`
        ]),
    ...(answered >= planned
      ? []
      : [`The recording has ${answered} of ${planned} answers. Run divisi pool record again to complete it.`])
  ]
}

/** Maps policy names to workers, for the workers that were recorded individually. */
const aloneIn = ({ config, pool }: Report): ReadonlyMap<string, string> => {
  const named = new Set(config.policies.map(({ name }) => name))
  return new Map(pool.map(({ id }) => [`single:${id}`, id] as const).filter(([name]) => named.has(name)))
}

/** Prints a notice about a recording. */
export const say = (text: string): void => void process.stderr.write(`${clean(text)}\n`)

const mean = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Returns the mean of a value over each worker's answers to a question. */
const byWorker = (samples: ReadonlyArray<Sample>, alone: ReadonlyMap<string, string>, of: (sample: Sample) => number) =>
  new Map(
    [...Map.groupBy(samples, ({ policy }) => alone.get(policy))].flatMap(([worker, some]) =>
      worker === undefined ? [] : [[worker, mean(some.map(of))] as const]
    )
  )

/**
 * Returns the graded questions that may be used for training. `worthUsd` is the value of a correct answer, if prices
 * matter.
 */
const gradedOf = (
  { report, samples, tasks }: Recording,
  worthUsd: number | undefined
): ReadonlyArray<Outcomes.GradedQuestion> => {
  const alone = aloneIn(report)
  const byTask = Map.groupBy(
    samples.filter(({ score }) => score !== undefined),
    ({ task }) => task
  )
  const scoreOf = ({ costUsd, score = 0 }: Sample) => (worthUsd === undefined ? score : score - costUsd / worthUsd)
  return tasks
    .filter((task) => !HeldOut.isHeldOut(task))
    .flatMap((task) => {
      const scores = byWorker(byTask.get(task.id) ?? [], alone, scoreOf)
      const costUsd = byWorker(byTask.get(task.id) ?? [], alone, ({ costUsd }) => costUsd)
      const text = Task.question(task)
      return scores.size === 0 ? [] : [{ id: task.id, text, scores, costUsd, answers: new Map(), at: 0 }]
    })
}

/** Trains a classifier, evaluates it by cross-validation, and stores it in the folder. */
export const train = (input: TrainPoolInput): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { folder } = input
    const recording = yield* read(folder)
    for (const notice of notices(recording)) say(notice)
    const graded = gradedOf(recording, Option.getOrUndefined(input.worth))
    if (graded.length < HeldOut.least) {
      return yield* usage(
        `${folder} has only ${graded.length} recorded questions for training; at least ${HeldOut.least} are needed. Continue with divisi pool record.`
      )
    }
    const named = yield* Embedders.named(Option.getOrUndefined(input.embeddings), false)
    const embedder = named ?? Embedder.hashed()
    const examples = yield* Effect.mapError(Outcomes.examples(graded, embedder), ({ message }) => failed(message))
    const options = { embedder: embedder.name }
    const head = yield* Effect.mapError(Effect.fromResult(Head.fit(examples, options)), ({ message }) => usage(message))
    const { why } = Replay.compare(examples, undefined, { ...options, learner: Head.learner(options) })
    const file = fileIn(folder)
    yield* Effect.mapError(Head.write(file, head), ({ message }) => failed(message))
    const asked = [
      ...Map.groupBy(examples, ({ point }) => Head.decide(head, Head.place(head, point), Head.atStart).worker)
    ]
    const chosen = asked
      .map(([worker, some]) => ({ worker, questions: some.length }))
      .toSorted((a, b) => b.questions - a.questions)
    const heldOut = recordedIn(recording).filter(HeldOut.isHeldOut).length
    if (input.json) {
      stdout.write(`${JSON.stringify({ file, trained: examples.length, heldOut, chosen, why, ...options })}\n`)
      return
    }
    const choice =
      chosen.length === 1
        ? `The questions do not predict the best worker, so it always chooses ${chosen[0]!.worker}.`
        : `It chooses ${chosen.map(({ questions, worker }) => `${worker} (${questions})`).join(", ")}.`
    stdout.write(
      `${[
        clean(`Trained on ${examples.length} questions; ${heldOut} others are held out for evaluation. ${choice}`),
        clean(
          `Stored in ${file}. Use it with --policy ${quoted(`head:${file}`)}. Next: divisi pool verdict ${quoted(folder)}`
        )
      ].join("\n")}\n`
    )
  }).pipe(Effect.scoped)

/** Whether a folder contains a trained classifier. */
export const isTrained = (folder: string): Effect.Effect<boolean, Failure> =>
  Effect.mapBoth(Head.read(fileIn(folder)), {
    onSuccess: (head) => head !== undefined,
    onFailure: ({ message }) => failed(`${message}. Run divisi pool train ${quoted(folder)} to train it again.`)
  })
