/**
 * Compares models trained with variants of the recipe to the model trained with the full recipe, on the tasks of the
 * comparison and in new pools.
 */
import * as Effect from "effect/Effect"
import * as Markdown from "./Markdown.ts"
import type { Contender, Context, Found } from "./Part.ts"
import * as Pools from "./Pools.ts"
import * as Sample from "./Sample.ts"

/** The setting of a measurement: `count` tasks in each new pool. */
type Setting = Pick<Context, "pool" | "tasks" | "count" | "say">

/** The results of a model. */
const measure = Effect.fnUntraced(function* (
  { pool, say, tasks }: Setting,
  unseen: ReadonlyArray<Pools.Unseen>,
  { name, policy }: Contender
) {
  say(name)
  const samples = yield* Sample.measure({ policy, pool, tasks })
  const inNewPools = yield* Effect.forEach(unseen, (one) => Sample.measure({ policy, ...one }))
  return { model: name, samples, inNewPools: Sample.estimate(inNewPools.map((one) => Sample.summary(one).right.mean)) }
})

/** Measures models. The others are compared with the first one, on the same tasks. */
export const run = Effect.fnUntraced(function* (
  setting: Setting,
  models: ReadonlyArray<Contender>
): Effect.fn.Return<Found> {
  const unseen = Pools.unseen(setting.pool, setting.count)
  const measured = yield* Effect.forEach(models, (model) => measure(setting, unseen, model))
  const records = measured.map(({ inNewPools, model, samples }, index) => ({
    model,
    ...Sample.summary(samples),
    less: index === 0 ? undefined : Sample.difference(measured[0]!.samples, samples),
    inNewPools
  }))
  const rows = records.map(({ calls, inNewPools, less, model, right, steps, usdPerThousand }) => [
    model,
    Markdown.percent(right),
    less === undefined ? "" : Markdown.percent(less, true),
    Markdown.percent(inNewPools),
    Markdown.plain(usdPerThousand, 3),
    Markdown.plain(calls),
    Markdown.plain(steps)
  ])
  const columns = [
    "model",
    "right, %",
    "the first is ahead by, points",
    "right in new pools, %",
    "USD per 1,000 tasks",
    "calls",
    "steps"
  ]
  return { records, markdown: Markdown.table(columns, rows) }
})
