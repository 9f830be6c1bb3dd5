/**
 * Few-shot examples: solved tasks placed before each question, as earlier turns of the conversation.
 *
 * The order of examples depends only on the seed and their ids, so all questions in a stratum get the same examples. A
 * question is never its own example.
 */
import type { Message } from "@divisi/core/Message"
import type * as Task from "@divisi/core/Task"
import * as Result from "effect/Result"
import { fraction } from "../internal/digest.ts"
import { questionKey, SelectionError } from "./Selection.ts"

/** A task with the reply shown as its answer. */
export interface Example {
  readonly task: Task.Task
  readonly reply: string
}

/** The number of examples, and how they are selected. */
export interface Options {
  /** Number of examples before each question, from 1 to {@link most}. */
  readonly count: number
  readonly seed: number
  /** The metadata field whose value examples should share with the question. */
  readonly by?: string | undefined
}

/**
 * Maximum number of examples.
 *
 * @internal
 */
export const most = 64

const withExamples = (task: Task.Task, examples: ReadonlyArray<Example>): Task.Task => {
  const turns = examples.flatMap(
    ({ reply, task: { messages } }): ReadonlyArray<Message> => [
      messages.findLast(({ role }) => role === "user")!,
      { role: "assistant", content: reply }
    ]
  )
  const start = task.messages.findIndex(({ role }) => role !== "system")
  const [first = task.messages[0], ...rest] = [
    ...task.messages.slice(0, start),
    ...turns,
    ...task.messages.slice(start)
  ]
  return { ...task, messages: [first, ...rest] }
}

/**
 * Adds examples before the questions of tasks, preferably from the same stratum. Fails if there are too few examples
 * other than the question itself.
 *
 * **Example**
 *
 * ```ts
 * import * as Task from "@divisi/core/Task"
 * import { Shots } from "@divisi/evals"
 * import * as Result from "effect/Result"
 *
 * const task = Task.make({ question: "6 times 7?", reference: "42" })
 * const examples = [{ task: Task.make("2 times 3?"), reply: "Answer: 6" }]
 * const [shown] = Result.getOrThrow(Shots.add([task], examples, { count: 1, seed: 0 }))
 * shown?.messages.map(({ content }) => content) // => ["2 times 3?", "Answer: 6", "6 times 7?"]
 * ```
 */
export const add = (
  tasks: ReadonlyArray<Task.Task>,
  examples: ReadonlyArray<Example>,
  { by, count, seed }: Options
): Result.Result<ReadonlyArray<Task.Task>, SelectionError> => {
  const stratumOf = ({ metadata }: Task.Task) => (by === undefined ? "" : String(metadata?.[by] ?? ""))
  const distinct = new Map(examples.map((example) => [questionKey(example.task), example]))
  const ordered = [...distinct]
    .map(([key, example]) => ({ key, example, at: fraction(String(seed), "shots", example.task.id) }))
    .sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1))
  const strata = Map.groupBy(ordered, ({ example }) => stratumOf(example.task))
  const chosenFor = (task: Task.Task): ReadonlySet<Example> => {
    const key = questionKey(task)
    const chosen = new Set<Example>()
    for (const list of [strata.get(stratumOf(task)) ?? [], ordered]) {
      for (const one of list) {
        if (chosen.size === count) return chosen
        if (one.key !== key) chosen.add(one.example)
      }
    }
    return chosen
  }
  const shown: Array<Task.Task> = []
  for (const task of tasks) {
    const chosen = chosenFor(task)
    if (chosen.size < count) return Result.fail(new SelectionError({ reason: "shots", ids: [task.id] }))
    shown.push(withExamples(task, [...chosen]))
  }
  return Result.succeed(shown)
}
