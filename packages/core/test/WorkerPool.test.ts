import * as Result from "effect/Result"
import { assert, describe, it } from "vitest"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const names = ["a", "b", "c", "d", "e"]
const pool = WorkerPool.makeUnsafe(names.map(ScriptedWorker.echo))

const idsOf = (made: Result.Result<WorkerPool.WorkerPool, WorkerPool.WorkerPoolError>) =>
  Result.isSuccess(made) ? WorkerPool.ids(made.success) : made.failure.message

describe("WorkerPool", () => {
  it("is never empty and never has two of one name", () => {
    assert.strictEqual(idsOf(WorkerPool.make([])), "A pool needs at least one worker.")
    assert.include(idsOf(WorkerPool.make(["a", "a"].map(ScriptedWorker.echo))) as string, 'the id "a"')
    assert.throws(() => WorkerPool.makeUnsafe([]), "at least one")
  })

  it("subsets keep the order asked for, opt-outs the pool's", () => {
    assert.deepStrictEqual(idsOf(WorkerPool.subset(pool, ["d", "a"])), ["d", "a"])
    assert.deepStrictEqual(idsOf(WorkerPool.without(pool, ["d", "a"])), ["b", "c", "e"])
    assert.strictEqual(idsOf(WorkerPool.without(pool, ["z"])), 'Worker "z" is not in the pool. Workers: a, b, c, d, e.')
    assert.strictEqual(idsOf(WorkerPool.without(pool, names)), "A pool needs at least one worker.")
  })

  it("samples k of n from a seed, in a random order", () => {
    const sample = (seed: number, count = 3) => idsOf(WorkerPool.sample(pool, { count, seed }))
    assert.deepStrictEqual(sample(1), sample(1))
    const seen = new Set<string>()
    const orders = new Set<string>()
    for (let seed = 0; seed < 200; seed++) {
      const drawn = sample(seed) as ReadonlyArray<string>
      assert.strictEqual(new Set(drawn).size, 3)
      for (const id of drawn) seen.add(id)
      orders.add(drawn.join(""))
    }
    assert.deepStrictEqual([...seen].sort(), names)
    // 60 ordered draws exist; 200 seeds should meet most of them.
    assert.isAbove(orders.size, 40)
    for (const count of [0, 6, 1.5]) assert.include(sample(1, count) as string, "Choose 1 to 5")
  })
})
