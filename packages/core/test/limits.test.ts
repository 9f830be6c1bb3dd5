import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { assert, describe, it } from "vitest"
import * as Policy from "../src/policy/Policy.ts"
import { bestOf, conduct, free, languagePolicy, ledger, single, streamRun, worker } from "../src/promise.ts"
import * as Budget from "../src/run/Budget.ts"
import * as Conductor from "../src/run/Conductor.ts"
import type { Reassign } from "../src/run/Resilience.ts"
import * as Critic from "../src/task/Critic.ts"
import type { Pricing } from "../src/task/Usage.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const pricing: Pricing = { inputPerMillion: 1, outputPerMillion: 1_000_000 }

const reporting = (inputTokens: number, outputTokens: number, shares: object = {}, price: Pricing = pricing) =>
  worker({
    id: "vendor",
    pricing: price,
    answer: () => ({ text: "Forty-two, I think.", usage: { inputTokens, outputTokens, ...shares } })
  })

const ask = (one: ReturnType<typeof reporting>, account = ledger({ costUsd: 100 })) =>
  conduct({
    question: "What is 6 times 7?",
    pool: [one],
    policy: single(0),
    ledger: account,
    worker: { maxOutputTokens: 20 }
  })

describe("a usage that cannot be true", () => {
  const most = Number.MAX_SAFE_INTEGER
  for (const [input, output] of [
    [5, most],
    [5, 21],
    [most, 5],
    [1_000, 5],
    [most, most]
  ] as const) {
    it(`of ${input} and ${output} tokens is charged at the worst case that was reserved`, async () => {
      const account = ledger({ costUsd: 100 })
      const { ending, spend } = await ask(reporting(input, output), account)
      assert.strictEqual(ending, "answered")
      assert.isAtMost(spend.usage.outputTokens, 20)
      assert.isAtMost(spend.usage.inputTokens, 100)
      assert.isAtMost(account.spent().costUsd, 20.001)
      if (output > 20) assert.strictEqual(spend.usage.outputTokens, 20)
      assert.match(spend.usage.misreported ?? "", /putTokens: \d/)
    })
  }

  it("is held to what was asked for without a limit, too", async () => {
    const account = ledger()
    const { spend } = await ask(reporting(most, most), account)
    assert.isAtMost(account.spent().costUsd, 20.001)
    assert.match(spend.usage.misreported ?? "", /inputTokens: 9007199254740991, outputTokens: 9007199254740991/)
    // An agent may have read more than it was sent.
    assert.strictEqual((await ask(reporting(50_000, 5), ledger())).spend.usage.inputTokens, 50_000)
  })

  for (const count of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, 0]) {
    it(`of ${count} tokens is estimated`, async () => {
      const { spend } = await ask(reporting(count, count))
      assert.deepStrictEqual([spend.usage.inputTokens, spend.usage.outputTokens], [5, 5])
      assert.isTrue(spend.usage.estimated)
    })
  }

  it("of zero tokens is what a worker that is free has used", async () => {
    const { spend } = await ask(reporting(0, 0, {}, free))
    assert.deepStrictEqual([spend.usage.inputTokens, spend.usage.outputTokens], [0, 0])
  })

  it("of shares above their whole is charged without these shares", async () => {
    const shares = { cachedInputTokens: 11, reasoningTokens: most }
    const { usage } = (await ask(reporting(10, 5, shares))).spend
    assert.deepStrictEqual(
      [usage.inputTokens, usage.cachedInputTokens, usage.reasoningTokens],
      [10, undefined, undefined]
    )
    assert.match(usage.misreported ?? "", /cachedInputTokens: 11, reasoningTokens: 9007199254740991/)
  })
})

describe("a limit of cost and a worker without a price", () => {
  const counted = (price: Pricing | undefined, id: string) => {
    let asked = 0
    const answer = () => `answer ${++asked}`
    return { made: worker(price === undefined ? { id, answer } : { id, pricing: price, answer }), asked: () => asked }
  }

  for (const limits of [{ budget: { costUsd: 1 } }, { ledger: ledger({ costUsd: 1 }) }]) {
    it(`refuses the plan before its first call: ${Object.keys(limits)[0]}`, async () => {
      const [one, other] = [counted(free, "one"), counted(undefined, "other")]
      const policy = Policy.fixed("plan", () => ({
        steps: [0, 1].map((worker) => ({ worker, subtask: "Do it.", access: "all" }))
      }))
      const { detail, ending, spend } = await conduct({
        question: "Why?",
        pool: [one.made, other.made],
        policy,
        ...limits
      })
      assert.deepStrictEqual([ending, spend.calls, one.asked(), other.asked()], ["budget", 0, 0, 0])
      assert.match(detail ?? "", /worker "other" has no known price\. Set `pricing`/)
    })
  }

  it("answers with a plan that does not name it", async () => {
    const [one, other] = [counted(free, "one"), counted(undefined, "other")]
    const options = { question: "Why?", pool: [one.made, other.made], policy: single(0), budget: { costUsd: 1 } }
    assert.strictEqual((await conduct(options)).ending, "answered")
  })

  describe("lets no such worker take a step over", () => {
    const failing = worker({
      id: "failing",
      pricing: free,
      answer: () => {
        throw Object.assign(new Error("no such model"), { status: 404 })
      }
    })
    const rules: ReadonlyArray<readonly [string, Reassign]> = [
      ["the next one", "next"],
      ["a function", () => 1],
      ["an async function", async () => 1]
    ]
    for (const limits of [{ budget: { costUsd: 1 } }, { ledger: ledger({ costUsd: 1 }) }]) {
      it.each(rules)(`by ${Object.keys(limits)[0]}, %s`, async (_, reassign) => {
        const other = counted(undefined, "other")
        const options = { question: "Why?", pool: [failing, other.made], policy: single(0), reassign, ...limits }
        const { detail, ending, failures } = await conduct(options)
        assert.deepStrictEqual(
          [ending, other.asked(), failures.map(({ reassignedTo }) => reassignedTo)],
          ["failed", 0, [undefined]]
        )
        assert.match(detail ?? "", /failing/)
      })
    }

    it("and gives the step to one that has a price", async () => {
      const [other, priced] = [counted(undefined, "other"), counted(free, "priced")]
      const pool = [failing, other.made, priced.made]
      const options = { question: "Why?", pool, policy: single(0), reassign: "next" as const }
      const { answer, spend } = await conduct({ ...options, budget: { costUsd: 1 } })
      assert.deepStrictEqual([answer, other.asked(), spend.unpricedCalls], ["answer 1", 0, 0])
    })

    it("after a failed check", async () => {
      const [one, other, priced] = [counted(free, "one"), counted(undefined, "other"), counted(free, "priced")]
      const policy = Policy.fixed("checked", () => ({
        steps: [{ worker: 0, subtask: "", access: [], check: { by: "never", onFailure: "next" } }]
      }))
      const pool = [one.made, other.made, priced.made]
      const checks = { never: () => false }
      const result = await conduct({ question: "Why?", pool, policy, checks, budget: { costUsd: 1 } })
      assert.deepStrictEqual([result.ending, one.asked(), other.asked(), priced.asked()], ["answered", 1, 0, 1])
    })
  })
})

describe("a limit of cost and a planner, a critic or a check without a price", () => {
  const asked: Array<string> = []
  const member = (id: string, pricing: Pricing | undefined = free) =>
    worker({
      id,
      ...(id.startsWith("unpriced") ? {} : { pricing }),
      answer: () => {
        asked.push(id)
        return 'model_id = [0]\nsubtasks = ["Multiply."]\naccess_list = [[]]\nScore: 10\nVerdict: right'
      }
    })
  const checked = (by: string | number) =>
    Policy.fixed("checked", () => ({
      steps: [{ worker: 0, subtask: "Do it.", access: [], check: { by, onFailure: "revise" as const } }]
    }))
  const [priced, unpriced] = [member("priced"), member("unpriced")]
  const byPayer = () => ({ payer: { account: ledger({ costUsd: 1 }) } })
  const limits = { budget: { costUsd: 1 } }

  const cases: Readonly<Record<string, Partial<Parameters<typeof conduct>[0]>>> = {
    "the planner": { policy: languagePolicy({ model: unpriced }), ...limits },
    "the critic": { critic: Critic.fromWorker(unpriced), ...limits },
    "the critic of a run with a planner": {
      policy: languagePolicy({ model: priced }),
      critic: Critic.fromWorker(unpriced),
      ...limits
    },
    "a check by name": { policy: checked("judge"), checks: { judge: unpriced }, ...limits },
    "a check by a critic": { policy: checked("judge"), checks: { judge: Critic.fromWorker(unpriced) }, ...limits },
    "a check by a worker of the pool": { policy: checked(1), pool: [priced, unpriced], ...limits },
    "every worker of a pool with a planner": {
      policy: languagePolicy({ model: priced }),
      pool: [unpriced, member("unpriced too")],
      ...limits
    },
    "a worker, by the payer's account": { pool: [unpriced], ...byPayer() },
    "a critic, by the payer's account": { critic: Critic.fromWorker(unpriced), ...byPayer() },
    "a check, by an account above": {
      policy: checked("judge"),
      checks: { judge: unpriced },
      ledger: Budget.make({}, ledger({ costUsd: 1 }))
    }
  }
  for (const [name, options] of Object.entries(cases)) {
    it(`is refused before the first call: ${name}`, async () => {
      asked.length = 0
      const result = await conduct({ question: "Why?", pool: [priced], policy: single(0), ...options })
      assert.deepStrictEqual([result.ending, result.spend.calls, asked.length], ["budget", 0, 0])
      assert.match(result.detail ?? "", /worker "unpriced" has no known price\. Set `pricing`/)
    })
  }
})

describe("a fiber that is interrupted before the run begins", () => {
  const begin = {
    interrupted: (run: Effect.Effect<unknown>) =>
      Effect.runPromiseExit(
        Effect.uninterruptible(
          Effect.withFiber((fiber) => {
            fiber.interruptUnsafe()
            return Effect.interruptible(run)
          })
        )
      ),
    "by a signal": (run: Effect.Effect<unknown>) =>
      Effect.runPromiseExit(Effect.andThen(Effect.yieldNow, run), { signal: AbortSignal.abort() })
  }
  for (const [name, start] of Object.entries(begin)) {
    for (const policy of [single(0), bestOf({ n: 3, judge: "one" })]) {
      it(`calls no worker: ${name}, ${policy.name}`, async () => {
        let asked = 0
        const pool = WorkerPool.makeUnsafe([worker({ id: "one", answer: () => `answer ${++asked}` })])
        const account = ledger()
        const exit = await start(Conductor.make({ pool, policy }).run("Why?", { ledger: account }))
        assert.deepStrictEqual([Exit.isFailure(exit), asked, account.spent().calls], [true, 0, 0])
      })
    }
  }
})

describe("a signal that is aborted before the run begins", () => {
  const counted = () => {
    let asked = 0
    const made = worker({ id: "one", answer: () => `answer ${++asked}` })
    return { pool: [made], asked: () => asked }
  }

  for (const [name, policy] of Object.entries({ single: single(0), bestOf: bestOf({ n: 3, judge: "one" }) })) {
    it(`calls no worker: ${name}`, async () => {
      const { asked, pool } = counted()
      const account = ledger()
      const options = { question: "Why?", pool, policy, ledger: account, signal: AbortSignal.abort() }
      const { ending, spend } = await conduct(options)
      assert.deepStrictEqual([ending, spend.calls, account.spent().calls, asked()], ["interrupted", 0, 0, 0])
      const types: Array<string> = []
      for await (const event of streamRun(options)) types.push(event.type)
      assert.deepStrictEqual([types.at(-1), asked()], ["run-finished", 0])
    })
  }
})

describe("a call that is stopped before it is sent", () => {
  const gates = {
    "in the queue of its provider": () => Effect.never,
    "by its provider's gate": () => Effect.interrupt
  }
  for (const [name, enter] of Object.entries(gates)) {
    it(`is charged to no account: ${name}`, async () => {
      const [account, payer, stop] = [ledger(), ledger(), new AbortController()]
      let asked = 0
      const run = conduct({
        question: "Why?",
        pool: [worker({ id: "one", pricing, answer: () => `answer ${++asked}` })],
        policy: single(0),
        gate: {
          enter: () =>
            Effect.andThen(
              Effect.sync(() => stop.abort()),
              enter()
            )
        },
        ledger: account,
        payer: { account: payer },
        signal: stop.signal
      })
      const { ending, spend } = await run
      const charged = [spend, account.spent(), payer.spent()].map(({ calls, costUsd }) => [calls, costUsd])
      assert.deepStrictEqual([ending, asked, ...charged], ["interrupted", 0, [0, 0], [0, 0], [0, 0]])
    })
  }
})
