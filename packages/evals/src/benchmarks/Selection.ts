/** Selects tasks from a benchmark: by id, as a stratified sample, and excluding training data. */
import { Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import { fraction, sha256 } from "../internal/digest.ts"

/** Raised if a selection is invalid. */
export class SelectionError extends Data.TaggedError("SelectionError")<{
  readonly reason: "unknown-ids" | "overlap" | "empty" | "limit" | "shots"
  readonly ids: ReadonlyArray<string>
}> {
  override get message(): string {
    const some = `${this.ids.slice(0, 5).join(", ")}${this.ids.length > 5 ? ", …" : ""}`
    switch (this.reason) {
      case "unknown-ids":
        return `${this.ids.length} ${this.ids.length === 1 ? "id is" : "ids are"} not in the benchmark: ${some}. Check the ids, or the name of their file.`
      case "overlap":
        return `${this.ids.length} ${this.ids.length === 1 ? "task is" : "tasks are"} in the training data: ${some}. Remove them with \`onOverlap: "drop"\`, or pass the ids to evaluate.`
      case "empty":
        return "No tasks match. Widen the selection."
      case "limit":
        return "The limit must be a whole number of at least 1."
      case "shots":
        return `There are not enough solved examples for ${some}. Lower --shots, or pass other files with --shots-from.`
    }
  }
}

/** Returns a hash of the tasks' ids, independent of their order. */
export const hash = (tasks: ReadonlyArray<Task.Task>): string => sha256(...tasks.map(({ id }) => id).sort())

/** Returns the tasks with these ids, in the given order. An unknown id is an error. */
export const only = (
  tasks: ReadonlyArray<Task.Task>,
  ids: ReadonlyArray<string>
): Result.Result<ReadonlyArray<Task.Task>, SelectionError> => {
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const unknown = ids.filter((id) => !byId.has(id))
  return unknown.length > 0
    ? Result.fail(new SelectionError({ reason: "unknown-ids", ids: unknown }))
    : Result.succeed([...new Set(ids)].map((id) => byId.get(id)!))
}

const shuffled = (tasks: ReadonlyArray<Task.Task>, seed: number): ReadonlyArray<Task.Task> =>
  tasks
    .map((task) => ({ task, at: fraction(String(seed), task.id) }))
    .sort((a, b) => a.at - b.at || (a.task.id < b.task.id ? -1 : 1))
    .map(({ task }) => task)

const strata = (tasks: ReadonlyArray<Task.Task>, by: string): ReadonlyArray<ReadonlyArray<Task.Task>> => [
  ...Map.groupBy(tasks, ({ metadata }) => String(metadata?.[by] ?? "")).values()
]

/** Returns the sample size for each stratum: proportional shares, rounded by the largest remainder method. */
const quotas = (sizes: ReadonlyArray<number>, limit: number): ReadonlyArray<number> => {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const exact = sizes.map((size) => (size * limit) / total)
  const counts = exact.map(Math.floor)
  const order = exact.map((_, index) => index).sort((a, b) => exact[b]! - counts[b]! - (exact[a]! - counts[a]!))
  const left = limit - counts.reduce((sum, count) => sum + count, 0)
  for (const index of order.slice(0, left)) counts[index]!++
  return counts
}

const sampleTable = Tables.table(
  { limit: Tables.limit, seed: Tables.number(-Number.MAX_VALUE), by: Tables.name },
  { required: ["limit", "seed"] }
)

/**
 * Returns a seeded, stratified sample. A task's position depends only on the seed and its id, so the result does not
 * depend on the order of the file or on the process.
 *
 * **Example**
 *
 * ```ts
 * import * as Task from "@divisi/core/Task"
 * import { Selection } from "@divisi/evals"
 *
 * const tasks = Array.from({ length: 30 }, (_, index) =>
 *   Task.make({ question: `${index}?`, metadata: { subject: index < 20 ? "algebra" : "geometry" } })
 * )
 * const sample = Selection.sample(tasks, { limit: 6, seed: 1, by: "subject" })
 * sample.filter(({ metadata }) => metadata?.subject === "algebra").length // => 4
 * ```
 */
export const sample = (
  tasks: ReadonlyArray<Task.Task>,
  options: { readonly limit: number; readonly seed: number; readonly by?: string | undefined }
): ReadonlyArray<Task.Task> => {
  Tables.check("Selection.sample", options, sampleTable)
  if (options.limit >= tasks.length) return tasks
  const groups = options.by === undefined ? [tasks] : strata(tasks, options.by)
  const counts = quotas(
    groups.map((group) => group.length),
    options.limit
  )
  return groups.flatMap((group, index) => shuffled(group, options.seed).slice(0, counts[index]))
}

const splitTable = Tables.table(
  { shares: Tables.listOf(Tables.number(0, 1)), seed: Tables.number(-Number.MAX_VALUE) },
  { required: ["shares", "seed"] }
)

/**
 * Splits tasks into parts using a seed. The last part receives the remainder after rounding.
 *
 * @internal
 */
export const split = (
  tasks: ReadonlyArray<Task.Task>,
  options: { readonly shares: ReadonlyArray<number>; readonly seed: number }
): ReadonlyArray<ReadonlyArray<Task.Task>> => {
  Tables.check("Selection.split", options, splitTable)
  const order = shuffled(tasks, options.seed)
  let start = 0
  return options.shares.map((share, index) => {
    const isLast = index === options.shares.length - 1
    const end = isLast ? order.length : start + Math.floor(share * tasks.length)
    const part = order.slice(start, end)
    start = end
    return part
  })
}

/** Training data, given as ids or tasks. For tasks, questions are compared as well. */
export type Trained = ReadonlyArray<string | Task.Task>

/**
 * Returns a key that is equal for tasks with the same question, ignoring whitespace.
 *
 * @internal
 */
export const questionKey = (task: Task.Task) => sha256(Task.question(task).replace(/\s+/g, " ").trim())

/**
 * Returns the tasks that were not used for training. An overlap is an error unless `onOverlap` is `drop`. A task with
 * the same question as a training task counts as used even if its id differs.
 *
 * @internal
 */
export const withoutTrained = (
  tasks: ReadonlyArray<Task.Task>,
  trained: Trained,
  onOverlap: "refuse" | "drop" = "refuse"
): Result.Result<ReadonlyArray<Task.Task>, SelectionError> => {
  const ids = new Set(trained.map((one) => (typeof one === "string" ? one : one.id)))
  const known = trained.filter((one) => typeof one !== "string")
  const questions = new Set([...known, ...tasks.filter(({ id }) => ids.has(id))].map(questionKey))
  const isTrained = (task: Task.Task) => ids.has(task.id) || (questions.size > 0 && questions.has(questionKey(task)))
  const overlap = tasks.filter(isTrained)
  if (overlap.length > 0 && onOverlap === "refuse") {
    return Result.fail(new SelectionError({ reason: "overlap", ids: overlap.map(({ id }) => id) }))
  }
  return Result.succeed(tasks.filter((task) => !isTrained(task)))
}
