/** The model that comes with the package solves the gym. */

import { Resilience } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import { GymGrader } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TinyConductor from "../src/TinyConductor.ts"

describe("what comes with the package", () => {
  it.live("is right more often in the gym than the best worker alone, who is in two of three", () =>
    Effect.gen(function* () {
      const conductor = Conductor.make({
        policy: yield* TinyConductor.policy(),
        pool: GymPool.make({ latencyMillis: 0 }),
        seed: 1,
        retry: { baseDelayMillis: 0, jitter: false }
      })
      const tasks = Gym.tasks({ split: "test", count: 24, seed: 1 })
      const verdicts = yield* Effect.forEach(tasks, (task) =>
        Effect.flatMap(conductor.run(task), ({ answer }) =>
          answer === undefined ? Effect.succeed({ correct: false }) : GymGrader.grader.grade(task, answer)
        )
      )
      assert.isAbove(verdicts.filter(({ correct }) => correct).length, 17)
    }).pipe(Effect.scoped)
  )

  it.live("calls another worker if one is unreachable", () =>
    Effect.gen(function* () {
      const conductor = Conductor.make({
        policy: yield* TinyConductor.policy(),
        pool: GymPool.make({ latencyMillis: 0, outages: 0.25 }),
        seed: 1,
        recursion: 1,
        retry: Resilience.noRetry
      })
      const tasks = Gym.tasks({ split: "test", count: 24, seed: 1 })
      const results = yield* Effect.forEach(tasks, (task) => conductor.run(task))
      const failed = results.filter(({ rounds }) => rounds[0]?.answer === undefined)
      assert.isAbove(failed.length, 2)
      for (const { rounds } of failed) {
        const [first, second] = rounds
        const asked = second?.workflow.steps.map(({ worker }) => worker) ?? []
        assert.isEmpty(first!.failed.filter((worker) => asked.includes(worker)))
      }
    }).pipe(Effect.scoped)
  )
})
