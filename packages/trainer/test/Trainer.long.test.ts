/** Trainings that are compared with each other. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { train } from "./trained.ts"
import { grpo, warmStart } from "./world.ts"

describe("Trainer", () => {
  it.effect("stays near the initial weights with a KL penalty, and reports the distance", () =>
    Effect.gen(function* () {
      const far = yield* train([warmStart, grpo({ iterations: 8, objective: { kl: 1e-9 } })])
      const near = yield* train([warmStart, grpo({ iterations: 8, objective: { kl: 2 } })])
      assert.closeTo(far.grpo[0]!.referenceDivergence!, 0, 1e-12)
      assert.isAbove(far.grpo.at(-1)!.referenceDivergence!, 2 * near.grpo.at(-1)!.referenceDivergence!)
      // The weights are exchanged for the reference's and back: what is learned is what is learned without.
      const without = yield* train([warmStart, grpo({ iterations: 8 })])
      const rewards = ({ grpo: metrics }: typeof far) => metrics.map(({ rewardMean }) => rewardMean)
      assert.deepStrictEqual(rewards(far), rewards(without))
    })
  )
})
