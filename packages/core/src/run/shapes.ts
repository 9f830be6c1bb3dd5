/** Checks the form of what policies and critics give before it is used: their code can be wrong, too. */
import * as Effect from "effect/Effect"
import { defined } from "../Fields.ts"
import { type Context, type Policy, PolicyError, type Proposal } from "../policy/Policy.ts"
import { type Grade, GraderError } from "../task/Grader.ts"
import type { Step } from "../workflow/Workflow.ts"

const isStep = (step: unknown): boolean => {
  const { access, subtask } = (step ?? {}) as Partial<Step>
  return typeof subtask === "string" && (access === "all" || Array.isArray(access))
}

const problemOf = (proposal: Proposal | undefined): string | undefined => {
  const { answer, steps } = proposal?.workflow ?? {}
  if (!Array.isArray(steps)) return "it gave no workflow; return { steps: [...] }"
  const wrong = steps.findIndex((step) => !isStep(step))
  if (wrong >= 0) return `step ${wrong} is no { worker, subtask, access }`
  if (answer !== undefined && answer !== "majority")
    return `its answer is ${typeof answer}; leave it out, or say "majority"`
  const { notes = [], probability = 1 } = proposal!
  if (!(probability > 0 && probability <= 1)) return "its probability is not above 0 and at most 1"
  return Array.isArray(notes) && notes.every((note) => typeof note === "string") ? undefined : "its notes are no texts"
}

/** Asks a policy for a proposal with a workflow in it, whatever its rules say of it. */
export const proposalOf = (policy: Policy, context: Context): ReturnType<Policy["propose"]> =>
  Effect.suspend(() => {
    const proposing: unknown = policy.propose(context)
    if (Effect.isEffect(proposing)) {
      return Effect.flatMap(proposing as ReturnType<Policy["propose"]>, (given) => checkedProposal(policy.name, given))
    }
    const detail = "its propose gave no Effect; write policies as policy(name, plan) of @divisi/core/promise"
    return Effect.fail(new PolicyError({ policy: policy.name, detail }))
  })

const checkedProposal = (policy: string, proposal: Proposal): Effect.Effect<Proposal, PolicyError> => {
  const detail = problemOf(proposal)
  return detail === undefined ? Effect.succeed(proposal) : Effect.fail(new PolicyError({ policy, detail }))
}

/** A verdict that can be written down. */
export const checkedGrade = (grader: string, task: string, grade: Grade): Effect.Effect<Grade, GraderError> => {
  const { correct, explanation, score } = (grade ?? {}) as Partial<Grade>
  const isText = explanation === undefined || typeof explanation === "string"
  return Number.isFinite(score) && typeof correct === "boolean" && isText
    ? Effect.succeed(defined({ correct, score: score!, explanation }))
    : Effect.fail(new GraderError({ grader, task, detail: "a verdict is { correct, score }, with a finite score" }))
}
