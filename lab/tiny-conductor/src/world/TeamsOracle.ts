/**
 * The oracle for generated teams. It plans with full knowledge of each worker's skills, so it shows the maximum
 * possible accuracy, and its plans are the training targets for readers.
 */

import type { Workflow } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import type { Family } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as Effect from "effect/Effect"
import * as Member from "./member.ts"
import type { Team } from "./Teams.ts"

/** Whom to ask for a part: several where they are as good as each other, nobody where no one does it. */
export interface Choice {
  readonly workers: ReadonlyArray<number>
  /** Who says whether attempts are right, where those are careless. */
  readonly checkers: ReadonlyArray<number>
}

/** What ten times the price is worth in right answers: the reward has it, too. */
export const priceWeight = 0.03

/** How much worse somebody may be and still be as good a choice. */
const tolerance = 0.005

/** Who is right less often than this is no answer to a question. */
const leastSkill = 0.2

/** Who is wrong more often than this is asked twice and checked, where somebody checks. */
const carelessness = 0.15

const value = ({ profile }: Team["members"][number], family: Family.FamilyName): number =>
  Member.expected(profile, family) - priceWeight * Math.log10(profile.pricing.outputPerMillion)

/** Whom to ask for questions of a kind. */
export const choose = ({ members }: Pick<Team, "members">, family: Family.FamilyName): Choice => {
  const able = members.flatMap((member, ordinal) =>
    Member.expected(member.profile, family) > leastSkill ? [{ ordinal, value: value(member, family) }] : []
  )
  const most = Math.max(...able.map((one) => one.value))
  const workers = able.filter((one) => one.value >= most - tolerance).map(({ ordinal }) => ordinal)
  const isSure = workers.some((ordinal) => 1 - Member.expected(members[ordinal]!.profile, family) < carelessness)
  const checkers = members.flatMap(({ profile }, ordinal) =>
    profile.checksOnly === true && profile.skills[family] !== undefined ? [ordinal] : []
  )
  return { workers, checkers: isSure || workers.length === 0 ? [] : checkers }
}

/** An attempt, or two and a check. */
const stepsFor = (part: Gym.Part, { checkers, workers }: Choice, access: ReadonlyArray<number>, position: number) => {
  const subtask = `Answer only this part of the question: ${part.question}`
  const [worker] = workers
  const [checker] = checkers
  if (checker === undefined) return [{ worker: worker!, subtask, access }]
  const attempt = (number: number): Workflow.Step => ({
    worker: worker!,
    subtask: `Attempt ${number}. ${subtask}`,
    access
  })
  const check: Workflow.Step = {
    worker: checker,
    subtask: `Check the answers above to this part of the question: ${part.question}`,
    access: [...access, position, position + 1]
  }
  return [attempt(1), attempt(2), check]
}

const plan = (team: Team): Workflow.Workflow | undefined => {
  const steps: Array<Workflow.Step> = []
  /** The step that answers each part. */
  const answeredBy: Array<number> = []
  for (const part of Gym.metadata(team.task)!.parts) {
    const choice = choose(team, part.family)
    if (choice.workers.length === 0) return undefined
    const access = part.needs.map((need) => answeredBy[need]!).sort((left, right) => left - right)
    steps.push(...stepsFor(part, choice, access, steps.length))
    answeredBy.push(steps.length - 1)
  }
  return { steps }
}

/**
 * Makes the oracle for teams that were drawn. It knows the parts of their questions and their workers' skills, and
 * refuses what nobody can answer.
 */
export const make = (teams: ReadonlyArray<Team>): Policy.Policy => {
  const known = new Map(teams.map((team) => [team.task.id, team]))
  const fail = (detail: string, isRefusal: boolean) =>
    Effect.fail(new Policy.PolicyError({ policy: "teams-oracle", detail, isRefusal }))
  return {
    name: "teams-oracle",
    maxSteps: 9,
    propose: ({ task }) => {
      const team = known.get(task.id)
      if (team === undefined) return fail("it does not know this team.", false)
      const workflow = plan(team)
      return workflow === undefined ? fail("Nobody on the team can answer this.", true) : Effect.succeed({ workflow })
    }
  }
}
