/**
 * The oracle: a policy that plans with full knowledge and so gives an upper bound for planning in the gym.
 *
 * It reads the structure of a question from the task's metadata and knows each worker's strengths, but not the answer.
 * It assigns each part to the best worker for its family, and shows it only the answers that it needs. If the pool has
 * a checker, an error-prone worker tries several times and is checked.
 */
import { Options as Tables, type Workflow } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import { type AnyFamilyName, toolNames } from "./Family.ts"
import * as Gym from "./Gym.ts"
import * as GymPool from "./GymPool.ts"
import type { Profile } from "./GymWorker.ts"

/** The oracle's knowledge about the workers. */
export interface Options {
  /** The profiles of the pool's workers, by id. Default: those of the gym, including its storekeeper. */
  readonly profiles?: ReadonlyArray<Profile> | undefined
}

/** A worker of the pool that the oracle knows. */
interface Known {
  readonly ordinal: number
  readonly profile: Profile
}

const known = (pool: WorkerPool, profiles: ReadonlyArray<Profile>): ReadonlyArray<Known> =>
  pool.workers.flatMap(({ id }, ordinal) => {
    const profile = profiles.find((profile) => profile.id === id)
    return profile === undefined ? [] : [{ ordinal, profile }]
  })

/** The worker that is expected to be right most often; of equals, the cheaper one. */
const best = (workers: ReadonlyArray<Known>, family: AnyFamilyName): Known =>
  workers.reduce((left, right) => {
    const gain = GymPool.expectedSkill(right.profile, family) - GymPool.expectedSkill(left.profile, family)
    const cheaper = right.profile.pricing.outputPerMillion < left.profile.pricing.outputPerMillion
    return gain > 0 || (gain === 0 && cheaper) ? right : left
  })

/** Whether a part needs a tool, which a policy may give where that is left to it (`toolAccess: "policy"`). */
const needsTool = ({ family }: Gym.Part<AnyFamilyName>): boolean => toolNames.some((name) => name === family)

const checkerFor = (workers: ReadonlyArray<Known>, family: AnyFamilyName): Known | undefined =>
  workers.find(({ profile }) => profile.checksOnly && profile.skills[family] !== undefined)

/** The steps for one part: an attempt, or attempts and a check if that helps and there is room. */
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
  /** The step that answers each part. */
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
 * Makes the oracle.
 *
 * **Gotchas**
 *
 * It can only plan tasks of the gym for workers with known profiles. Anything else is a `PolicyError`.
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
