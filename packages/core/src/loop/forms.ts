/** Validates the output of policies and critics before it is used, because they may be user-supplied. */
import * as Effect from "effect/Effect"
import {
  type Context,
  type Policy,
  PolicyError,
  type Proposal,
  propose,
  type Revising,
  type Revision,
  revise
} from "../policy/Policy.ts"
import { describe, type KeysOf, unknownKeyIn, unknownKeyOf } from "../workflow/keys.ts"
import { malformation, type Step, type StepCheck } from "../workflow/Workflow.ts"

const proposalKeys: KeysOf<Proposal> = {
  workflow: true,
  answer: true,
  isLast: true,
  policy: true,
  author: true,
  notes: true,
  probability: true
}
const newPlanKeys: KeysOf<Extract<Revision, Proposal>> = { ...proposalKeys, type: true }
const revisionKeys: KeysOf<Exclude<Revision, Proposal>> = { type: true, answer: true, notes: true }

/** Describes an unknown key in a proposal, or returns `undefined`. */
const unknownIn = (proposal: unknown, keys: object): string | undefined => {
  const unknown =
    unknownKeyIn("its proposal", proposal, keys) ?? unknownKeyOf((proposal as Partial<Proposal> | undefined)?.workflow)
  return unknown && describe(unknown)
}

const isEarlier = (earlier: unknown): boolean =>
  Array.isArray(earlier) && earlier.every((one) => Number.isInteger(one?.round) && Number.isInteger(one?.step))

const isCheck = (check: unknown): boolean => {
  const { by, onFailure } = (check ?? {}) as Partial<StepCheck>
  const isNamed = typeof by === "string" || typeof by === "number"
  return (
    isNamed && (onFailure === "revise" || onFailure === "next" || onFailure === "continue" || onFailure === "again")
  )
}

/** Describes an invalid check or list of earlier steps, or returns `undefined`. */
const problemOfStep = ({ check, earlier }: Step, index: number): string | undefined => {
  if (check !== undefined && !isCheck(check)) return `the check of step ${index} is not { by, onFailure }`
  const isWrong = earlier !== undefined && !isEarlier(earlier)
  return isWrong ? `the earlier of step ${index} is not a list of { round, step }` : undefined
}

const problemOf = (proposal: Proposal | undefined, keys: object): string | undefined => {
  const { answer, steps } = proposal?.workflow ?? {}
  const unknown = unknownIn(proposal, keys)
  if (unknown !== undefined) return unknown
  if (!Array.isArray(steps)) return "it returned no workflow; return { steps: [...] }"
  const wrong = malformation(proposal!.workflow) ?? steps.map(problemOfStep).find((problem) => problem !== undefined)
  if (wrong !== undefined) return wrong
  if (answer !== undefined && answer !== "majority") return `its answer is ${typeof answer}; omit it, or use "majority"`
  const { isLast, notes = [], probability = 1 } = proposal!
  if (isLast !== undefined && typeof isLast !== "boolean")
    return `its isLast is ${typeof isLast}; use true, false or nothing`
  if (!(probability > 0 && probability <= 1)) return "its probability must be above 0 and at most 1"
  return Array.isArray(notes) && notes.every((note) => typeof note === "string")
    ? undefined
    : "its notes are not strings"
}

/**
 * Requests a proposal from a policy and ensures that it contains a workflow. Does not validate the workflow's rules.
 */
export const proposalOf = (policy: Policy, context: Context): ReturnType<Policy["propose"]> =>
  Effect.flatMap(propose(policy, context), (given) => checkedProposal(policy.name, given))

const byHand = "its propose returned no { workflow }; write policies as policy(name, plan) from @divisi/core/promise"

const checkedProposal = (
  policy: string,
  proposal: Proposal,
  keys: object = proposalKeys
): Effect.Effect<Proposal, PolicyError> => {
  const isProposal = typeof proposal === "object" && proposal !== null && "workflow" in proposal
  const detail = isProposal ? problemOf(proposal, keys) : byHand
  return detail === undefined ? Effect.succeed(proposal) : Effect.fail(new PolicyError({ policy, detail }))
}

/** Requests a revision from a policy and ensures that it is well-formed. Does not validate the workflow's rules. */
export const revisionOf = (policy: Policy, author: Policy, context: Revising): ReturnType<typeof revise> => {
  const problem = (detail: string) => Effect.fail(new PolicyError({ policy: author.name, detail }))
  return Effect.flatMap(revise(policy, author, context), (given): ReturnType<typeof revise> => {
    const { notes = [], type } = (given ?? {}) as Partial<Revision>
    if (!(Array.isArray(notes) && notes.every((note) => typeof note === "string")))
      return problem("its notes are not strings")
    const unknown = type === "go-on" || type === "stop" ? unknownIn(given, revisionKeys) : undefined
    if (unknown !== undefined) return problem(unknown)
    if (type === "go-on") return Effect.succeed(given)
    if (type === "stop") {
      const { answer } = given as Extract<Revision, { readonly type: "stop" }>
      return isEarlier([answer])
        ? Effect.succeed(given)
        : problem("it stops the run, but does not name the { round, step } with the answer")
    }
    if (type === "re-plan") return Effect.as(checkedProposal(author.name, given as Proposal, newPlanKeys), given)
    return problem('its type is not "go-on", "stop" or "re-plan"')
  })
}
