/**
 * The plan format of the tiny Conductor: a line of reasoning for each step, followed by the three lists.
 *
 * Each line names the part that the step handles, the word used to look up a worker, the first word of that worker's
 * description and, last, its ordinal. This separates the facts to be learned: the position and kind of a part, which
 * worker is good at that kind, and that worker's position in the list.
 */

import type { Workflow } from "@divisi/core"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import type { Family } from "@divisi/gym"

/** The purpose of a step: an attempt at a part, or a check of the preceding attempts. */
export interface PlannedStep {
  readonly kind: Family.FamilyName
  /** Number of the part, starting at 1. */
  readonly part: number
  readonly isCheck: boolean
  /** Ordinal of the worker. */
  readonly worker: number
  readonly access: Workflow.Access
}

/** Returns the first word of a worker's description, which is unique among the gym's workers. */
export const titleOf = (pool: WorkerPool, worker: number): string =>
  /^\w+/.exec(pool.workers[worker]!.description ?? "")?.[0] ?? ""

/**
 * The terms for each kind of task, exactly as they appear in the workers' descriptions, so that a model can look up a
 * worker by copying a term. Reasoning lines use the first term. If a description begins with one of the terms, it begins
 * with the first.
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

/** The term used to look up a checking worker, for any kind of check. */
export const wordForChecks = "Checks"

const subtaskOf = ({ isCheck, part }: PlannedStep): string => (isCheck ? `Check part ${part}` : `Part ${part}`)

/** Formats a line of reasoning: the number of a part, the lookup term, and the selected worker. */
export const thought = (pool: WorkerPool, part: number, sought: string, worker: number): string =>
  `${part} ${sought}: ${titleOf(pool, worker)}=${worker}`

/** Returns the term used to look up a worker for a step. */
export const soughtOf = ({ isCheck, kind }: Pick<PlannedStep, "isCheck" | "kind">): string =>
  isCheck ? wordForChecks : words[kind][0]

const thoughtOf = (pool: WorkerPool, step: PlannedStep): string => thought(pool, step.part, soughtOf(step), step.worker)

/** Converts a plan to a workflow. */
export const workflowOf = (steps: ReadonlyArray<PlannedStep>): Workflow.Workflow => ({
  steps: steps.map((step) => ({ worker: step.worker, subtask: subtaskOf(step), access: step.access }))
})

/** Formats a Python list without spaces, so that a number is encoded as the same token at every position. */
const list = (items: ReadonlyArray<unknown>): string => JSON.stringify(items)

/** Formats the first of the three lists, which repeats the ordinals from the reasoning lines. */
export const modelIds = (workers: ReadonlyArray<number>): string => `model_id = ${list(workers)}`

/** Formats a plan in the form expected from the model. A plan without steps accepts the previous answer. */
export const write = (pool: WorkerPool, steps: ReadonlyArray<PlannedStep>): string =>
  [
    ...(steps.length === 0 ? ["done"] : steps.map((step) => thoughtOf(pool, step))),
    modelIds(steps.map(({ worker }) => worker)),
    `subtasks = ${list(steps.map(subtaskOf))}`,
    `access_list = ${list(steps.map(({ access }) => access))}`
  ].join("\n")
