import * as Result from "effect/Result"
import { assert, describe, it } from "vitest"
import * as Workflow from "../src/workflow/Workflow.ts"
import * as WorkflowText from "../src/workflow/WorkflowText.ts"

const step = (worker: number, access: Workflow.Access = []) => ({ worker, subtask: "Do it.", access })

const reason = (steps: ReadonlyArray<Workflow.Step>, rules: Partial<Workflow.Rules> = {}) => {
  const checked = Workflow.check({ steps }, { poolSize: 3, ...rules })
  return Result.isFailure(checked) ? checked.failure.reason : undefined
}

describe("Workflow.check", () => {
  it("names the rule and the step for each violation", () => {
    assert.deepStrictEqual(reason([]), { _tag: "NoSteps" })
    assert.isUndefined(reason([], { allowEmpty: true }))
    assert.deepStrictEqual(reason(Array.from({ length: 6 }, () => step(0))), {
      _tag: "TooManySteps",
      steps: 6,
      maxSteps: 5
    })
    assert.isUndefined(
      reason(
        Array.from({ length: 6 }, () => step(0)),
        { maxSteps: 6 }
      )
    )
    for (const worker of [3, -1, 1.5]) {
      assert.deepStrictEqual(reason([step(0), step(worker)]), {
        _tag: "WorkerOutOfRange",
        step: 1,
        worker,
        poolSize: 3
      })
    }
    assert.deepStrictEqual(reason([step(0), step(0, [1])]), { _tag: "AccessNotBackward", step: 1, index: 1 })
    assert.deepStrictEqual(reason([step(0), step(0, [4])]), { _tag: "AccessNotBackward", step: 1, index: 4 })
    assert.deepStrictEqual(reason([step(0), step(0, [-1])]), { _tag: "AccessOutOfRange", step: 1, index: -1 })
  })

  it("puts access lists in order without duplicates, and leaves a good workflow as it is", () => {
    const messy = { steps: [step(0), step(1), step(2, [1, 0, 1])] }
    const checked = Result.getOrThrow(Workflow.check(messy, { poolSize: 3 }))
    assert.deepStrictEqual(checked.steps[2]!.access, [0, 1])
    const good = { steps: [step(0), step(1, "all")] }
    assert.strictEqual(Result.getOrThrow(Workflow.check(good, { poolSize: 3 })), good)
  })
})

describe("WorkflowText.fromLists", () => {
  it("wants three lists of one length", () => {
    const lists = { workers: [0, 1], subtasks: ["a"], access: [[], "all" as const] }
    const joined = WorkflowText.fromLists(lists, { poolSize: 2 })
    assert.isTrue(Result.isFailure(joined) && joined.failure.reason._tag === "UnequalLengths")
  })
})

describe("Workflow.needed", () => {
  it("is what the last step sees, directly or through others", () => {
    const workflow = { steps: [step(0), step(0), step(0, [0]), step(0), step(0, [2])] }
    assert.deepStrictEqual([...Workflow.needed(workflow)].sort(), [0, 2, 4])
    assert.strictEqual(Workflow.needed({ ...workflow, answer: "majority" }).size, 5)
    assert.strictEqual(Workflow.needed({ steps: [step(0), step(0, "all"), step(0, "all")] }).size, 3)
  })
})
