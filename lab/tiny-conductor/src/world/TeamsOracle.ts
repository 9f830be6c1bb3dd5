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

/** The workers for a part: several if they are equally good, none if no worker does its kind. */
export interface Choice {
  readonly workers: ReadonlyArray<number>
  /** The workers that check the attempts, if the attempts are careless. */
  readonly checkers: ReadonlyArray<number>
}

/** The number of right answers that a price ten times as high is worth. The reward uses the same weight. */
export const priceWeight = 0.03

/** The difference in skill up to which two workers are equally good choices. */
const tolerance = 0.005

/** A worker that is right less often is not used to answer. */
const leastSkill = 0.2

/** A worker that is wrong more often is asked twice and checked, if the team has a checker. */
const carelessness = 0.15

const value = ({ profile }: Team["members"][number], family: Family.FamilyName): number =>
  Member.expected(profile, family) - priceWeight * Math.log10(profile.pricing.outputPerMillion)

/** Chooses the workers for questions of a kind. */
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
 * Makes the oracle for drawn teams. It knows the parts of their questions and the skills of their workers, and refuses
 * questions that no worker can answer.
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
