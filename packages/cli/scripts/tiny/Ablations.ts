/** Models of other recipes on the tasks of the comparison. */
import * as Effect from "effect/Effect"
import * as Markdown from "./Markdown.ts"
import type { Contender, Context, Found } from "./Part.ts"
import * as Runs from "./Runs.ts"
import * as Sample from "./Sample.ts"

/** Models of one setting are seeds of it: their samples are differences on the same tasks. */
export const run = Effect.fnUntraced(function* (
  context: Context,
  models: ReadonlyArray<Contender>
): Effect.fn.Return<Found> {
  const whole = yield* context.samples
  const records = yield* Effect.forEach(models, ({ name, policy }) => {
    context.say(name)
    return Effect.map(Sample.measure({ policy, pool: context.pool, tasks: context.tasks }), (samples) => ({
      setting: Runs.settingOf(name),
      model: name,
      ...Sample.summary(samples),
      tinyIsAheadBy: Sample.difference(whole, samples)
    }))
  })
  const rows = [
    [context.tiny.name, Sample.summary(whole), undefined] as const,
    ...records.map((record) => [record.model, record, record.tinyIsAheadBy] as const)
  ].map(([name, { calls, right, steps, usdPerThousand }, ahead]) => [
    name,
    Markdown.percent(right),
    ahead === undefined ? "" : Markdown.percent(ahead, true),
    Markdown.plain(usdPerThousand, 3),
    Markdown.plain(calls),
    Markdown.plain(steps)
  ])
  const columns = [
    "model",
    "right, %",
    `${context.tiny.name} is ahead by, points`,
    "USD per 1,000 tasks",
    "calls",
    "steps"
  ]
  return { records, markdown: Markdown.table(columns, rows) }
})
