/** Measures the tiny Conductor in pools on which it was not trained, compared with a random router and oracles. */

import { Baselines } from "@divisi/core"
import type { Task } from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { OraclePolicy } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { heldOutPools } from "../../../../packages/recipes/src/gym/HeldOutPools.ts"
import * as Markdown from "./Markdown.ts"
import * as MeasuredOracle from "./MeasuredOracle.ts"
import type { Contender, Context, Found } from "./Part.ts"
import * as Sample from "./Sample.ts"

const random = "random"
const oracles = ["oracle", "oracle, measured"] as const

/** A held-out pool with its own tasks. */
export interface Unseen {
  readonly ids: ReadonlyArray<string>
  readonly pool: WorkerPool.WorkerPool
  readonly tasks: ReadonlyArray<Task>
}

/** All held-out pools, or the first ones. Each has different tasks, and none of those of the comparison. */
export const unseen = (pool: WorkerPool.WorkerPool, count: number, all = heldOutPools): ReadonlyArray<Unseen> =>
  all.map((ids, index) => ({
    ids,
    pool: Result.getOrThrow(WorkerPool.subset(pool, ids)),
    tasks: Gym.tasks({ split: "test", count, seed: 1 + index })
  }))

/** Share of right answers of every policy, by pool. */
type Rights = ReadonlyArray<Readonly<Record<string, number>>>

const measurePool = Effect.fnUntraced(function* (
  { say }: Context,
  contenders: ReadonlyArray<Contender>,
  { ids, pool, tasks }: Unseen,
  index: number
) {
  say(`pool ${index + 1} of ${heldOutPools.length}`)
  const summaries = yield* Effect.forEach(contenders, ({ name, policy }) =>
    Effect.map(Sample.measure({ policy, pool, tasks }), (samples) => [name, Sample.summary(samples)] as const)
  )
  return { workers: ids, policies: Object.fromEntries(summaries) }
})

/** The share of an oracle's gain over the random router, over all pools. */
const shareOf = (rights: Rights, name: string, oracle: string) =>
  Sample.ratio(rights.map((right) => [right[name]! - right[random]!, right[oracle]! - right[random]!]))

/** Measures every held-out pool. */
export const run = Effect.fnUntraced(function* (context: Context): Effect.fn.Return<Found> {
  context.say("oracle, measured")
  const contenders: ReadonlyArray<Contender> = [
    context.tiny,
    { name: random, policy: Baselines.randomRouter({ seed: 1 }) },
    { name: "lexical", policy: LexicalPolicy.make() },
    { name: oracles[0], policy: OraclePolicy.make() },
    { name: oracles[1], policy: yield* MeasuredOracle.make(context.pool) }
  ]
  const pools = yield* Effect.forEach(unseen(context.pool, context.count), (one, index) =>
    measurePool(context, contenders, one, index)
  )
  const rights: Rights = pools.map(({ policies }) =>
    Object.fromEntries(Object.entries(policies).map(([name, { right }]) => [name, right.mean]))
  )
  const sums = contenders.map(({ name }) => ({
    policy: name,
    pools: pools.length,
    right: Sample.estimate(rights.map((right) => right[name]!)),
    usdPerThousand: Sample.estimate(pools.map(({ policies }) => policies[name]!.usdPerThousand.mean)),
    shares: Object.fromEntries(oracles.map((oracle) => [oracle, shareOf(rights, name, oracle)]))
  }))
  const rows = sums.map(({ policy, right, shares, usdPerThousand }) => [
    policy,
    Markdown.percent(right),
    ...oracles.map((oracle) => (policy === random ? "" : Markdown.percent(shares[oracle]!))),
    Markdown.plain(usdPerThousand, 3)
  ])
  const columns = [
    "policy",
    "right, %",
    "of the oracle's gain, %",
    "of the measured oracle's, %",
    "USD per 1,000 tasks"
  ]
  return { records: [...sums, ...pools], markdown: Markdown.table(columns, rows) }
})
