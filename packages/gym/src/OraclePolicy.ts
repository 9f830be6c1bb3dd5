/**
 * An oracle policy that plans with full knowledge of the task, as an upper bound for planners in the gym.
 *
 * It reads the structure of the question from the task's metadata and knows the strengths of each worker, but not the
 * answer. Each part goes to the best worker for its family, which sees only the answers that it needs. If the pool has
 * a checker, an error-prone worker makes several attempts, which the checker compares.
 */
import { Options as Tables, type Workflow } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import { type AnyFamilyName, toolNames } from "./Family.ts"
import * as Gym from "./Gym.ts"
import * as GymPool from "./GymPool.ts"
import type { Profile } from "./GymWorker.ts"

/** Options for {@link make}. */
export interface Options {
  /** Profiles of the pool's workers, keyed by id. Default: the profiles in `GymPool`, including the storekeeper. */
  readonly profiles?: ReadonlyArray<Profile> | undefined
}

/** A worker in the pool whose profile is known. */
interface Known {
  readonly ordinal: number
  readonly profile: Profile
}

const known = (pool: WorkerPool, profiles: ReadonlyArray<Profile>): ReadonlyArray<Known> =>
  pool.workers.flatMap(({ id }, ordinal) => {
    const profile = profiles.find((profile) => profile.id === id)
    return profile === undefined ? [] : [{ ordinal, profile }]
  })

/** Returns the worker with the highest expected skill. Ties go to the cheaper worker. */
const best = (workers: ReadonlyArray<Known>, family: AnyFamilyName): Known =>
  workers.reduce((left, right) => {
    const gain = GymPool.expectedSkill(right.profile, family) - GymPool.expectedSkill(left.profile, family)
    const cheaper = right.profile.pricing.outputPerMillion < left.profile.pricing.outputPerMillion
    return gain > 0 || (gain === 0 && cheaper) ? right : left
  })

/**
 * Whether a part requires a tool. A policy may grant tools if the run leaves it to the policy (`toolAccess: "policy"`).
 */
const needsTool = ({ family }: Gym.Part<AnyFamilyName>): boolean => toolNames.some((name) => name === family)

const checkerFor = (workers: ReadonlyArray<Known>, family: AnyFamilyName): Known | undefined =>
  workers.find(({ profile }) => profile.checksOnly && profile.skills[family] !== undefined)

/**
 * Returns the steps for one part: a single attempt, or several attempts and a check if that helps and the step limit
 * allows it.
 */
const stepsFor = (
  part: Gym.Part<AnyFamilyName>,
  workers: ReadonlyArray<Known>,
  access: ReadonlyArray<number>,
  position: number,
  room: number
): ReadonlyArray<Workflow.Step> => {
  const { ordinal, profile } = best(workers, part.family)
  const subtask = `Do only this part of the question: ${part.question}`
  const checker = checkerFor(workers, part.family)
  const sure = GymPool.expectedSkill(profile, part.family) === 1
  if (sure || checker === undefined || room < 3) {
    return [needsTool(part) ? { worker: ordinal, subtask, access, tools: true } : { worker: ordinal, subtask, access }]
  }
  const attempts = Array.from(
    { length: Math.min(3, room - 1) },
    (_, index): Workflow.Step => ({ worker: ordinal, subtask: `Attempt ${index + 1}. ${subtask}`, access })
  )
  const check: Workflow.Step = {
    worker: checker.ordinal,
    subtask: `Check the answers above to this part of the question: ${part.question}`,
    access: [...access, ...attempts.map((_, index) => position + index)]
  }
  return [...attempts, check]
}

const plan = (
  parts: ReadonlyArray<Gym.Part<AnyFamilyName>>,
  workers: ReadonlyArray<Known>,
  maxSteps: number
): Workflow.Workflow => {
  const steps: Array<Workflow.Step> = []
  /** Index of the step that answers each part. */
  const answeredBy: Array<number> = []
  parts.forEach((part, index) => {
    const room = maxSteps - steps.length - (parts.length - index - 1)
    const access = part.needs.map((need) => answeredBy[need]!).sort((left, right) => left - right)
    steps.push(...stepsFor(part, workers, access, steps.length, room))
    answeredBy.push(steps.length - 1)
  })
  return { steps }
}

const table = {
  profiles: Tables.expects("a list of profiles", Array.isArray)
} satisfies Tables.ShapeOf<Options>

/**
 * Creates the oracle policy.
 *
 * **Gotchas**
 *
 * It can only plan gym tasks, for workers with known profiles. Otherwise it fails with a `PolicyError`.
 *
 * **Example**
 *
 * ```ts
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as GymPool from "@divisi/gym/GymPool"
 * import { OraclePolicy } from "@divisi/gym"
 *
 * const conductor = Conductor.make({ policy: OraclePolicy.make(), pool: GymPool.make() })
 * ```
 */
export const make = (options: Options = {}): Policy.Policy => {
  Tables.check("OraclePolicy.make", options, table)
  const { profiles = GymPool.profilesWithStorekeeper } = options
  const fail = (detail: string) => Effect.fail(new Policy.PolicyError({ policy: "oracle", detail }))
  return {
    name: "oracle",
    propose: ({ maxSteps, pool, task }) => {
      const metadata = Gym.metadata<AnyFamilyName>(task)
      const workers = known(pool, profiles)
      if (metadata === undefined) return fail("the task was not generated by the gym, so its structure is unknown.")
      if (workers.length === 0) return fail("it does not know any worker in the pool.")
      if (metadata.parts.length > maxSteps)
        return fail(
          `the question has ${metadata.parts.length} parts, but a workflow can have at most ${maxSteps} steps.`
        )
      return Effect.succeed({ workflow: plan(metadata.parts, workers, maxSteps) })
    }
  }
}
