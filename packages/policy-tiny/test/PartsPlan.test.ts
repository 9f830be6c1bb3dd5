import { assert, describe, it } from "@effect/vitest"
import * as PartsPlan from "../src/PartsPlan.ts"

const part = (text: string, needs: ReadonlyArray<number>, worker: number, checker?: number): PartsPlan.Part => ({
  text,
  needs,
  worker,
  checker
})

const accessOf = (parts: ReadonlyArray<PartsPlan.Part>, maxSteps = 9) =>
  PartsPlan.make(parts, maxSteps).steps.map(({ access, worker }) => [worker, access])

describe("PartsPlan", () => {
  it("a question of one part is asked as it is", () => {
    assert.deepStrictEqual(PartsPlan.make([part("How much?", [], 3)], 5), {
      steps: [{ worker: 3, subtask: "", access: [] }]
    })
  })

  it("parts that do not need each other run at once, and the one that joins them sees both", () => {
    const parts = [part("a", [], 0), part("b", [], 1), part("c", [0, 1], 2)]
    assert.deepStrictEqual(accessOf(parts), [
      [0, []],
      [1, []],
      [2, [0, 1]]
    ])
  })

  it("open ends are put together", () => {
    assert.deepStrictEqual(accessOf([part("a", [], 0), part("b", [], 1)]), [
      [0, []],
      [1, []],
      [1, [0, 1]]
    ])
  })

  it("with a checker there are two attempts, and a part that needs the answer sees the checked one", () => {
    assert.deepStrictEqual(accessOf([part("a", [], 0, 4), part("b", [0], 1)]), [
      [0, []],
      [0, []],
      [4, [0, 1]],
      [1, [2]]
    ])
  })

  it("what follows on a part and goes to the same worker is asked together with it", () => {
    const parts = [part("a", [], 0), part("b", [0], 0), part("c", [1], 1)]
    assert.deepStrictEqual(accessOf(parts), [
      [0, []],
      [1, [0]]
    ])
    assert.include(PartsPlan.make(parts, 9).steps[0]!.subtask, "a b")
    // The third needs the first alone, so it stays by itself.
    assert.lengthOf(accessOf([part("a", [], 0), part("b", [0], 0), part("c", [0, 1], 1)]), 3)
  })

  it("parts are not joined if that would serialise what could run concurrently", () => {
    const parts = [part("a", [], 0), part("b", [], 1), part("c", [0, 1], 1)]
    assert.deepStrictEqual(accessOf(parts), [
      [0, []],
      [1, []],
      [1, [0, 1]]
    ])
    assert.deepStrictEqual(accessOf([part("a", [], 0), part("b", [0], 1), part("c", [0, 1], 1)]), [
      [0, []],
      [1, [0]]
    ])
  })

  it("without room, checks of earlier parts are left out, then all, then parts", () => {
    const parts = [part("a", [], 0, 4), part("b", [0], 1, 5)]
    assert.deepStrictEqual(
      accessOf(parts, 4).map(([worker]) => worker),
      [0, 1, 1, 5]
    )
    assert.deepStrictEqual(
      accessOf(parts, 2).map(([worker]) => worker),
      [0, 1]
    )
    assert.deepStrictEqual(accessOf(parts, 1), [[1, []]])
  })
})
