/**
 * Plans as the tiny Conductor writes them: a thought for each step, then the three lists.
 *
 * A thought names the part that a step works on, the word by which a worker is sought, the first word of that worker's
 * description and, last, its ordinal. So what has to be learned is told apart: where a part stands and which kind it is
 * of, who is good at that kind, and where in the list that worker stands.
 */

import type { Workflow } from "@divisi/core"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import type { Family } from "@divisi/gym"

/** What a step does: an attempt at a part, or a check of the attempts before it. */
export interface PlannedStep {
  readonly kind: Family.FamilyName
  /** The part's number, from 1. */
  readonly part: number
  readonly isCheck: boolean
  /** The ordinal of the worker. */
  readonly worker: number
  readonly access: Workflow.Access
}

/** The first word of a worker's description, which tells all workers of the gym apart. */
export const titleOf = (pool: WorkerPool, worker: number): string =>
  /^\w+/.exec(pool.workers[worker]!.description ?? "")?.[0] ?? ""

/**
 * The words by which descriptions speak of a kind, letter by letter, so that they can be found there. Thoughts name a
 * kind by the first, which begins somebody's description where one does.
 */
export const words = {
  arithmetic: ["arithmetic", "mathematics"],
  algebra: ["Algebra", "equations", "mathematics"],
  units: ["units"],
  calendar: ["Calendar", "calendar", "dates"],
  text: ["Text", "text", "words"],
  logic: ["Logic", "logic"],
  statistics: ["Statistics", "statistics", "data"],
  program: ["programs"]
} as const satisfies Record<Family.FamilyName, ReadonlyArray<string>>

/** Who checks is sought by this word of descriptions, whatever there is to check. */
export const wordForChecks = "Checks"

const subtaskOf = ({ isCheck, part }: PlannedStep): string => (isCheck ? `Check part ${part}` : `Part ${part}`)

/** A line of thought: the number of a part, a word for what is sought, and the worker that is found. */
export const thought = (pool: WorkerPool, part: number, sought: string, worker: number): string =>
  `${part} ${sought}: ${titleOf(pool, worker)}=${worker}`

/** The word by which a worker is sought. */
export const soughtOf = ({ isCheck, kind }: Pick<PlannedStep, "isCheck" | "kind">): string =>
  isCheck ? wordForChecks : words[kind][0]

const thoughtOf = (pool: WorkerPool, step: PlannedStep): string => thought(pool, step.part, soughtOf(step), step.worker)

/** A plan as a workflow. */
export const workflowOf = (steps: ReadonlyArray<PlannedStep>): Workflow.Workflow => ({
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
