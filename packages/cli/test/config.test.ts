import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as ConfigFile from "../src/conductor/ConfigFile.ts"
import * as RunOptions from "../src/conductor/RunOptions.ts"
import { defineConfig } from "../src/config.ts"

const problem = (config: unknown): string | undefined => {
  const checked = ConfigFile.check(config)
  return Result.isFailure(checked) ? checked.failure : undefined
}

const worker = ScriptedWorker.echo("a")

describe("the check of a config", () => {
  const accepted: ReadonlyArray<unknown> = [
    {},
    { pool: [worker] },
    { pool: WorkerPool.makeUnsafe([worker]) },
    { pool: [{ ...worker, more: 1 }], policy: "random", maxSteps: 3, recursion: 0, seed: 7 },
    { policy: { name: "mine", propose: () => undefined } },
    { budget: { costUsd: 0.5, tokens: 1000, calls: 10, durationMillis: 60_000 } },
    { budget: { costUsd: undefined }, maxSteps: undefined },
    { worker: { temperature: 0.2, reasoning: { type: "effort", effort: "low" } }, retry: { maxAttempts: 1 } },
    { reassign: "next", onStepFailure: "end", skipUnseen: false },
    { reassign: () => undefined, critic: { name: "c", score: () => undefined }, threshold: 0.5 },
    { self: { maxDepth: 2 } },
    { recipes: { mine: () => ({}) } },
    { cache: "answers.sqlite", limits: { openai: { requestsPerMinute: 500 }, "*": { concurrency: 4 } } },
    { cache: { file: "answers.sqlite", maxBytes: 1_000_000, timeToLive: "30 days" } }
  ]
  for (const config of accepted) {
    it(`takes ${JSON.stringify(config)}`, () => assert.isUndefined(problem(config)))
  }

  const refused: ReadonlyArray<readonly [unknown, string]> = [
    [7, "expected an object of settings, got 7"],
    [{ budgett: {} }, "budgett: is no setting of Divisi"],
    [{ budget: { cost: 1 } }, "budget.cost: is no setting of Divisi"],
    [{ budget: { costUsd: "a secret" } }, "budget.costUsd: expected a number, got a string"],
    [{ budget: { costUsd: -1 } }, "budget.costUsd: expected a number of at least 0, got -1"],
    [{ maxSteps: 1.5 }, "maxSteps: expected a whole number of at least 1, got 1.5"],
    [{ pool: [] }, "pool: expected at least one worker, got an empty array"],
    [{ pool: 7 }, "pool: expected a pool, or an array of workers, got 7"],
    [{ pool: [worker, { id: "b" }] }, "pool[1].generate: is missing"],
    [{ pool: [{ ...worker, generate: "x" }] }, "pool[0].generate: expected a function, got a string"],
    [{ policy: 3 }, "policy: expected a policy, or the name of one, got 3"],
    [{ policy: { name: "x" } }, "policy.propose: is missing"],
    [{ onStepFailure: "ignore" }, 'onStepFailure: expected "report" or "end", got a string'],
    [{ cache: 7 }, "cache: expected a file name, or an object of settings, got 7"],
    [{ cache: { maxBytes: 1 } }, "cache.file: is missing"],
    [{ limits: { openai: { rpm: 5 } } }, "limits.openai.rpm: is no setting of Divisi"],
    [
      { limits: { openai: { concurrency: 0 } } },
      "limits.openai.concurrency: expected a whole number of at least 1, got 0"
    ],
    [{ recipes: { mine: 7 } }, "recipes.mine: expected a function, got 7"],
    [{ recipes: [] }, "recipes: expected an object, got an empty array"],
    [{ skipUnseen: 1 }, "skipUnseen: expected a boolean, got 1"]
  ]
  for (const [config, message] of refused) {
    it(`says: ${message}`, () => assert.strictEqual(problem(config), message))
  }
})

describe("the choice of workers", () => {
  const pool = WorkerPool.makeUnsafe(["a", "b", "c"].map(ScriptedWorker.echo))
  const choose = (names: string) => Result.map(RunOptions.choose(pool, names), WorkerPool.ids)

  it("takes the named ones in their order, or leaves the named ones out", () => {
    assert.deepStrictEqual(choose("c, a"), Result.succeed(["c", "a"]))
    assert.deepStrictEqual(choose("-b"), Result.succeed(["a", "c"]))
  })

  it("says what is wrong", () => {
    for (const names of ["", "x", "-x", "a,-b", "-a,-b,-c", "a,a"])
      assert.isTrue(Result.isFailure(choose(names)), names)
  })
})

describe("the settings of a run", () => {
  const none = {
    pool: Option.none(),
    policy: Option.none(),
    maxSteps: Option.none(),
    recursion: Option.none(),
    seed: Option.none()
  }

  /** What nobody has set. */
  const unset = {
    maxSteps: undefined,
    recursion: undefined,
    seed: undefined,
    worker: { maxOutputTokens: undefined },
    budget: { costUsd: undefined, durationMillis: undefined }
  }

  it("come from the flags, then from the config", () => {
    const config = defineConfig({ maxSteps: 3, seed: 1, budget: { costUsd: 1, tokens: 5 }, reassign: "next" })
    assert.deepStrictEqual(
      RunOptions.settings(config, {
        ...none,
        maxSteps: Option.some(2),
        maxCost: Option.some(0.1),
        timeout: Option.none()
      }),
      {
        ...unset,
        maxSteps: 2,
        seed: 1,
        budget: { costUsd: 0.1, tokens: 5, durationMillis: undefined },
        reassign: "next"
      }
    )
  })

  it("hold answers to the length that the flags say, and keep the other settings of calls", () => {
    const config = defineConfig({ worker: { temperature: 0.2, maxOutputTokens: 9 }, cache: "a", limits: {} })
    assert.deepStrictEqual(RunOptions.settings(config, { ...none, maxOutputTokens: Option.some(500) }), {
      ...unset,
      worker: { temperature: 0.2, maxOutputTokens: 500 }
    })
    assert.deepStrictEqual(RunOptions.settings(config, none), {
      ...unset,
      worker: { temperature: 0.2, maxOutputTokens: 9 }
    })
  })

  it("leave to the Conductor what nobody has set", () => {
    assert.deepStrictEqual(RunOptions.settings({}, none), unset)
  })
})
