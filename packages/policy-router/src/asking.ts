/** Whom a router asks first and, where an answer does not pass the check of a run, after that. */
import type { Context, Previous, Revision } from "@divisi/core/Policy"
import type { Workflow } from "@divisi/core/Workflow"

/** The check that answers have to pass: that of the run. Of several nobody has said which one fits the question. */
export const checkOf = ({ checks = [] }: Context): string | undefined => (checks.length === 1 ? checks[0] : undefined)

/** A workflow in which a worker is asked the question as it is. */
export const asking = (context: Context, worker: number): Workflow => {
  const [by, step] = [checkOf(context), { worker, subtask: "", access: [] }]
  return { steps: [by === undefined ? step : { ...step, check: { by, onFailure: "revise" } }] }
}

/** The workers that were asked in any round, in their order, and those that have failed. */
export const asked = ({ failed, rounds = [], workflow }: Previous): ReadonlyArray<number> => {
  const workflows = rounds.length === 0 ? [workflow] : rounds.map((round) => round.workflow)
  return [...new Set([...workflows.flatMap(({ steps }) => steps.map(({ worker }) => worker)), ...failed])]
}

/** Ends a run in which no answer has passed with that of a worker, where it has one. */
export const standing = ({ rounds = [] }: Previous, worker: number): Revision => {
  const notes = ["No answer has passed the check, and nobody is left to ask."]
  const round = rounds.findIndex(
    ({ answers, workflow }) => workflow.steps[0]?.worker === worker && answers[0]?.type === "answered"
  )
  return round < 0 ? { type: "go-on", notes } : { type: "stop", answer: { round, step: 0 }, notes }
}
