/**
 * Plans as the tiny Conductor writes them: a thought for each step, then the three lists.
 *
 * A thought names the part that a step works on, the word used to look up a worker, the first word of that worker's
 * description and, last, its ordinal. This separates the facts to be learned: where a part is and its kind, which
 * worker is good at that kind, and that worker's position in the list.
 */

import type { Workflow } from "@divisi/core"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import type { Family } from "@divisi/gym"

/** The purpose of a step: an attempt at a part, or a check of the attempts before it. */
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
 * The words that descriptions use for a kind, letter for letter, so that they can be matched there. Thoughts name a
 * kind by the first word, which starts a description if any does.
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

/** The word used to look up a checking worker in descriptions, for any kind of check. */
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

/** A list as Python reads it, without blanks, so that a number is the same token at any position. */
const list = (items: ReadonlyArray<unknown>): string => JSON.stringify(items)

/** The first of the three lists, which repeats the ordinals of the thoughts. */
export const modelIds = (workers: ReadonlyArray<number>): string => `model_id = ${list(workers)}`

/** Writes a plan as the model should write it. A plan without steps accepts the previous answer. */
export const write = (pool: WorkerPool, steps: ReadonlyArray<PlannedStep>): string =>
  [
    ...(steps.length === 0 ? ["done"] : steps.map((step) => thoughtOf(pool, step))),
    modelIds(steps.map(({ worker }) => worker)),
    `subtasks = ${list(steps.map(subtaskOf))}`,
    `access_list = ${list(steps.map(({ access }) => access))}`
  ].join("\n")
