/**
 * Plans as the tiny Conductor writes them: a thought for each step, then the three lists.
 *
 * A thought names the part that a step works on, its kind, the first word of the worker's description and, last, its
 * ordinal. So what has to be learned is told apart: where a part stands and which kind it is of, who is good at that
 * kind, and where in the list that worker stands.
 */
import type { WorkerPool } from "@tutti/core/WorkerPool"
import type { Access, Workflow } from "@tutti/core/Workflow"

/** What a step does: an attempt at a part, or a check of the attempts before it. */
export interface PlannedStep {
  readonly kind: string
  /** The part's number, from 1. */
  readonly part: number
  readonly isCheck: boolean
  /** The ordinal of the worker. */
  readonly worker: number
  readonly access: Access
}

/** The first word of a worker's description, which tells all workers of the gym apart. */
export const titleOf = (pool: WorkerPool, worker: number): string =>
  /^\w+/.exec(pool.workers[worker]!.description ?? "")?.[0] ?? ""

/** A kind as thoughts name it: written like the first word of a description, so that it can be found there. */
export const wordOf = (kind: string): string => `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}`

const subtaskOf = ({ isCheck, part }: PlannedStep): string => (isCheck ? `Check part ${part}` : `Part ${part}`)

/** A line of thought: the number of a part, a word for what is sought, and the worker that is found. */
export const thought = (pool: WorkerPool, part: number, sought: string, worker: number): string =>
  `${part} ${sought}: ${titleOf(pool, worker)}=${worker}`

/** What is sought for a step: a word, and whether for a check. */
export const soughtOf = (word: string, isCheck: boolean): string => (isCheck ? `${word} check` : word)

const thoughtOf = (pool: WorkerPool, { isCheck, kind, part, worker }: PlannedStep): string =>
  thought(pool, part, soughtOf(wordOf(kind), isCheck), worker)

/** A plan as a workflow. */
export const workflowOf = (steps: ReadonlyArray<PlannedStep>): Workflow => ({
  steps: steps.map((step) => ({ worker: step.worker, subtask: subtaskOf(step), access: step.access }))
})

/** A list as Python reads it, without blanks: a number then is the same token wherever it stands. */
const list = (items: ReadonlyArray<unknown>): string => JSON.stringify(items)

/** The first of the three lists, which repeats the ordinals of the thoughts. */
export const modelIds = (workers: ReadonlyArray<number>): string => `model_id = ${list(workers)}`

/**
 * A plan as the model is to write it. Without steps it lets the previous answer stand.
 */
export const write = (pool: WorkerPool, steps: ReadonlyArray<PlannedStep>): string =>
  [
    ...(steps.length === 0 ? ["done"] : steps.map((step) => thoughtOf(pool, step))),
    modelIds(steps.map(({ worker }) => worker)),
    `subtasks = ${list(steps.map(subtaskOf))}`,
    `access_list = ${list(steps.map(({ access }) => access))}`
  ].join("\n")
