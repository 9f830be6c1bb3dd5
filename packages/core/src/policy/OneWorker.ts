/**
 * Helpers for policies that call one worker after another: selecting capable workers, listing the workers called so
 * far, and creating the next workflow.
 */
import type { Capabilities } from "../task/Worker.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import type { Context, Previous, Revision } from "./Policy.ts"

/**
 * Returns the capabilities that a task requires beyond text.
 *
 * @internal
 */
export const needsOf = ({ task, tools = [] }: Context): ReadonlySet<keyof Capabilities> => {
  const parts = task.messages.flatMap(({ content }) => (typeof content === "string" ? [] : content))
  const has = (type: string) => parts.some((part) => part.type === type)
  const needs = { tools: tools.length > 0, images: has("image"), files: has("file") }
  return new Set((["tools", "images", "files"] as const).filter((need) => needs[need]))
}

/**
 * Returns the indices of all workers with the required capabilities. If there is no such worker, returns all indices,
 * so that the run reports the missing capability.
 */
export const able = (context: Context): ReadonlyArray<number> => {
  const needs = needsOf(context)
  const all = context.pool.workers.map((_, ordinal) => ordinal)
  const can = all.filter((ordinal) =>
    [...needs].every((need) => context.pool.workers[ordinal]!.capabilities?.[need] === true)
  )
  return can.length === 0 ? all : can
}

/**
 * Returns the name of the run's check if there is exactly one. With several checks, the applicable one is unknown.
 *
 * @internal
 */
export const checkOf = ({ checks = [] }: Context): string | undefined => (checks.length === 1 ? checks[0] : undefined)

/** Returns a workflow that sends the question to one worker, unchanged. */
export const asking = (context: Context, worker: number): Workflow => {
  const [by, step] = [checkOf(context), { worker, subtask: "", access: [] }]
  return { steps: [by === undefined ? step : { ...step, check: { by, onFailure: "revise" } }] }
}

/** Returns the indices of all workers called in previous rounds, in order, followed by those that failed. */
export const asked = ({ failed, rounds = [], workflow }: Previous): ReadonlyArray<number> => {
  const workflows = rounds.length === 0 ? [workflow] : rounds.map((round) => round.workflow)
  return [...new Set([...workflows.flatMap(({ steps }) => steps.map(({ worker }) => worker)), ...failed])]
}

/** Ends a run in which no answer passed its check, using the given worker's answer if it has one. */
export const standing = ({ rounds = [] }: Previous, worker: number): Revision => {
  const notes = ["No answer passed the check, and no worker is left to try."]
  const round = rounds.findIndex(
    ({ answers, workflow }) => workflow.steps[0]?.worker === worker && answers[0]?.type === "answered"
  )
  return round < 0 ? { type: "go-on", notes } : { type: "stop", answer: { round, step: 0 }, notes }
}
