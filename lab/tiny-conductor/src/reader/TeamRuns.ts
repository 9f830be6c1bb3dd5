/** Runs policies on generated teams and collects the results. */

import { Topology } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { Policy } from "@divisi/core/Policy"
import { GymGrader } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as Effect from "effect/Effect"
import { retry } from "../gym/ComparedPolicies.ts"
import type * as Teams from "../world/Teams.ts"

/** The result of one question. */
export interface Run {
  readonly task: string
  /** 1 for a right answer, or for a refusal if no worker can answer; otherwise 0. */
  readonly right: number
  readonly costUsd: number
  readonly calls: number
  /** For a question with independent parts: whether the plan runs steps at the same time. */
  readonly hasIndependent: boolean
  readonly isParallel: boolean
}

/** More steps than a plan of three parts with checks has. */
export const maxSteps = 9

/** Runs a policy once with each team. */
export const measure = (policy: Policy, teams: ReadonlyArray<Teams.Team>): Effect.Effect<ReadonlyArray<Run>> => {
  const one = Effect.fnUntraced(function* ({ isAnswerable, pool, task }: Teams.Team) {
    const conductor = Conductor.make({ policy, pool, retry, reassign: "never", maxSteps, seed: 0 })
    let calls = 0
    const { answer, ending, rounds, spend } = yield* conductor.run(task, {
      listener: (event) => {
        if (event.type === "step-finished") calls += 1
      }
    })
    const isRight = isAnswerable
      ? ending === "answered" && GymGrader.isCorrect(answer ?? "", task.reference!)
      : ending === "refused"
    const { parts } = Gym.metadata(task)!
    return {
      task: task.id,
      right: isRight ? 1 : 0,
      costUsd: spend.costUsd,
      calls,
      hasIndependent: rounds[0] !== undefined && parts.filter(({ needs }) => needs.length === 0).length > 1,
      isParallel: rounds[0] !== undefined && Topology.width(Topology.make(rounds[0].workflow)) > 1
    }
  })
  return Effect.forEach(teams, one)
}
