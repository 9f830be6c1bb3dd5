/**
 * An oracle whose knowledge of the workers is measured: the accuracy of each worker in each family, on validation
 * tasks.
 */
import { Baselines } from "@divisi/core"
import type * as Policy from "@divisi/core/Policy"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import * as Statistics from "@divisi/evals/Statistics"
import { Family, type GymWorker, OraclePolicy } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as Effect from "effect/Effect"
import * as Sample from "./Sample.ts"

const tasksOfFamily = 60

/** The profile with the measured error rates and no other information. */
const measured = Effect.fnUntraced(function* (
  pool: WorkerPool,
  profile: GymWorker.Profile
): Effect.fn.Return<GymWorker.Profile> {
  if (profile.checksOnly === true) return profile
  const policy = Baselines.single(profile.id)
  const skills = yield* Effect.forEach(Family.names, (family) => {
    if (profile.skills[family] === undefined) return Effect.succeed([])
    const tasks = Gym.tasks({ split: "validation", count: tasksOfFamily, families: [family] })
    return Effect.map(Sample.measure({ policy, pool, tasks }), (samples) => [
      [family, { slips: 1 - Statistics.mean(samples.map(({ right }) => right)) }] as const
    ])
  })
  return { ...profile, skills: Object.fromEntries(skills.flat()) }
})

/** Makes the oracle. It plans like the gym's own oracle. */
export const make = Effect.fnUntraced(function* (pool: WorkerPool): Effect.fn.Return<Policy.Policy> {
  const profiles = yield* Effect.forEach(GymPool.profiles, (profile) => measured(pool, profile))
  return OraclePolicy.make({ profiles })
})
