/**
 * Helpers for policies that call one worker after another: the eligible workers, the workers called so far, and the
 * workflow for the next.
 */
import type { Capabilities } from "../task/Worker.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import type { Context, Previous, Revision } from "./Policy.ts"

/** Returns the capabilities that a task needs in addition to text. */
const needsOf = ({ task, tools = [] }: Context): ReadonlySet<keyof Capabilities> => {
  const parts = task.messages.flatMap(({ content }) => (typeof content === "string" ? [] : content))
  const has = (type: string) => parts.some((part) => part.type === type)
  const needs = { tools: tools.length > 0, images: has("image"), files: has("file") }
  return new Set((["tools", "images", "files"] as const).filter((need) => needs[need]))
}

/**
 * Returns the indices of the capable workers. If no worker is capable, returns all, so that the run reports the missing
 * capability.
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
 * Returns the check of the run if it has exactly one. With several, it is unknown which one applies to the question.
 */
export const checkOf = ({ checks = [] }: Context): string | undefined => (checks.length === 1 ? checks[0] : undefined)

/** Returns a workflow that sends the plain question to a worker. */
export const asking = (context: Context, worker: number): Workflow => {
  const [by, step] = [checkOf(context), { worker, subtask: "", access: [] }]
  return { steps: [by === undefined ? step : { ...step, check: { by, onFailure: "revise" } }] }
}

/** Returns the workers called in previous rounds, in order, and those that failed. */
export const asked = ({ failed, rounds = [], workflow }: Previous): ReadonlyArray<number> => {
  const workflows = rounds.length === 0 ? [workflow] : rounds.map((round) => round.workflow)
  return [...new Set([...workflows.flatMap(({ steps }) => steps.map(({ worker }) => worker)), ...failed])]
}

/** Ends a run in which no answer passed with the answer of a given worker, if there is one. */
export const standing = ({ rounds = [] }: Previous, worker: number): Revision => {
  const notes = ["No answer passed the check, and no worker is left to try."]
  const round = rounds.findIndex(
    ({ answers, workflow }) => workflow.steps[0]?.worker === worker && answers[0]?.type === "answered"
  )
  return round < 0 ? { type: "go-on", notes } : { type: "stop", answer: { round, step: 0 }, notes }
}
