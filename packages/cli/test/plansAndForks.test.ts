import { assert, describe, it } from "vitest"
import { valuesOf } from "./process.ts"
import { inFolder } from "./survivingRuns.ts"

describe("divisi run --dry-run", () => {
  it("prints the plan and its price, and calls no worker", () =>
    inFolder(async ({ asked, run }) => {
      const { code, errors, output } = await run(["run", "Which?", "--dry-run"])
      assert.strictEqual(code, 0, errors)
      assert.include(output, "model_id = [")
      assert.match(output, /^most +\d/m)
      const { plan, price, topology, workflow } = JSON.parse(
        (await run(["run", "Which?", "--dry-run", "--json"])).output
      )
      assert.include(output, plan.trimEnd())
      assert.isAtLeast(price.most.calls, price.least.calls)
      assert.strictEqual(topology.layers.flat().length, workflow.steps.length)
      assert.throws(asked, "ENOENT")
    }))
})

describe("divisi run --approve-plans", () => {
  it("waits until the plan is approved, and ends if it is refused", () =>
    inFolder(async ({ asked, run }) => {
      const waiting = await run(["run", "Which?", "--run-id", "run-1", "--approve-plans"])
      assert.strictEqual(waiting.code, 5)
      assert.match(waiting.errors, /divisi runs resume run-1 --config \S+ --approve-plans --approve 0\.plan/)
      const shown = await run(["runs", "show", "run-1"])
      assert.match(shown.output, /: divisi runs resume run-1 .*--approve 0\.plan\n/)
      await run(["run", "Which?", "--run-id", "run-2", "--approve-plans"])
      const refused = await run(["runs", "resume", "run-2", "--decline", "0.plan"])
      assert.strictEqual(refused.code, 4)
      assert.throws(asked, "ENOENT")
      const { code, errors, output } = await run(["runs", "resume", "run-1", "--approve", "0.plan"])
      assert.strictEqual(code, 0, errors)
      assert.strictEqual(output, "It is done.\n")
      assert.deepStrictEqual(asked(), ["quick", "last"])
    }))

  it("prints the price of the waiting plan without a terminal", () =>
    inFolder(async ({ run }) => {
      const prices = /estimate +calls +tokens +cost\n +least +2 +0 +\$0\.02\n +likely +2 .*\n +most +\d/
      assert.match((await run(["run", "Which?", "--run-id", "run-1", "--approve-plans"])).errors, prices)
      assert.match((await run(["runs", "show", "run-1"])).output, prices)
      const events = valuesOf((await run(["run", "Which?", "--run-id", "run-2", "--approve-plans", "--json"])).output)
      const { call } = events.find(({ type }) => type === "plan-waiting").call
      assert.strictEqual(JSON.parse(call.arguments).price.least.calls, 2)
    }))
})

describe("divisi runs fork", () => {
  it("asks for the step and what follows from it, in a new run of the journal", () =>
    inFolder(async ({ asked, run }) => {
      await run(["run", "Which?", "--run-id", "run-1"])
      assert.deepStrictEqual(asked(), ["quick", "last"])
      const again = await run(["runs", "fork", "run-1", "--at", "0.1"])
      assert.match(again.errors, /^fork {5}[\w-]{36}, from step 0\.1 of run-1$/m)
      assert.deepStrictEqual(
        [again.code, again.output, asked()],
        [0, "It is done.\n", ["quick", "last", "last"]],
        again.errors
      )
      const answered = await run(["runs", "fork", "run-1", "--at", "0.1", "--answer", "It is mine."])
      assert.deepStrictEqual([answered.code, answered.output, asked().length], [0, "It is mine.\n", 3], answered.errors)
      assert.lengthOf(JSON.parse((await run(["runs", "--json"])).output), 3)
      const wrong = await run(["runs", "fork", "run-1", "--at", "0.7"])
      assert.deepStrictEqual([wrong.code, /no step 7/.test(wrong.errors)], [2, true], wrong.errors)
      assert.strictEqual((await run(["runs", "fork", "run-1", "--at", "7"])).code, 2)
    }))
})

describe("divisi runs compare", () => {
  it("compares a fork with its original, and any two runs", () =>
    inFolder(async ({ run }) => {
      await run(["run", "Which?", "--run-id", "run-1"])
      const forked = await run(["runs", "fork", "run-1", "--at", "0.1", "--answer", "It is mine."])
      const fork = /^fork {5}([\w-]{36})/m.exec(forked.errors)![1]!
      const { code, errors, output } = await run(["runs", "compare", fork])
      assert.strictEqual(code, 0, errors)
      assert.match(output, /^The answers differ/)
      assert.include(output, `B is a fork of run-1 from step 0.1.`)
      assert.match(output, /^run +run-1 +[\w-]{36}$/m)
      assert.match(output, /^0\.1 .*It is done\..*It is mine\..* answer$/m)
      assert.notMatch(output, /^0\.0 .* answer$/m)
      assert.match(output, /A: It is done\.\nB: It is mine\.\n$/)
      const two = JSON.parse((await run(["runs", "compare", fork, "run-1", "--json"])).output)
      assert.deepStrictEqual(
        two.runs.map((one: { run: string; answer: string; calls: number }) => [one.run, one.answer, one.calls]),
        [
          [fork, "It is mine.", 0],
          ["run-1", "It is done.", 2]
        ]
      )
      const alone = await run(["runs", "compare", "run-1"])
      assert.deepStrictEqual([alone.code, /run-1 is not a fork/.test(alone.errors)], [2, true], alone.errors)
    }))
})
