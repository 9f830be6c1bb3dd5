import { assert, it } from "vitest"
import { shapesOf } from "../src/internal/grpoRecords.ts"
import type { Round } from "../src/Rollout.ts"

const plan = (...steps: ReadonlyArray<readonly [worker: string, access: ReadonlyArray<number> | "all"]>) =>
  ({
    confirmed: false,
    workers: steps.map(([worker]) => worker),
    workflow: { steps: steps.map(([, access]) => ({ access })) }
  }) as unknown as Round

it("the shape of a plan is its workers and who sees what", () => {
  assert.isUndefined(shapesOf([]))
  const two = plan(["gpt", []], ["o3", [0]])
  assert.deepStrictEqual(shapesOf([two, two]), { entropy: 0, most: "gpt > o3(0)", share: 1 })
  const mixed = shapesOf([two, plan(["gpt", []], ["o3", "all"])])
  assert.closeTo(mixed?.entropy ?? 0, Math.log(2), 1e-12)
  assert.strictEqual(mixed?.share, 0.5)
})
