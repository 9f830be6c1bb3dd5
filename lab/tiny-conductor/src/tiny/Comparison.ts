/** Compares the tiny Conductor with every single worker, the usual baselines, and the untrained model. */
import * as Statistics from "@divisi/evals/Statistics"
import * as Effect from "effect/Effect"
import { policies } from "../gym/ComparedPolicies.ts"
import * as Markdown from "./Markdown.ts"
import type { Context, Found } from "./Part.ts"
import * as Sample from "./Sample.ts"

const measureAll = Effect.fnUntraced(function* ({ others, pool, say, tasks }: Context) {
  const baselines = policies(pool).map((policy) => ({ name: policy.name, policy }))
  return yield* Effect.forEach([...others, ...baselines], ({ name, policy }) => {
    say(name)
    return Effect.map(Sample.measure({ policy, pool, tasks }), (samples) => ({ name, samples }))
  })
})

/** Measures all policies on the same tasks. */
export const run = Effect.fnUntraced(function* (context: Context): Effect.fn.Return<Found> {
  const tiny = yield* context.samples
  const others = yield* measureAll(context)
  const behind = others.map(({ samples }) => Sample.difference(tiny, samples))
  const corrected = Statistics.holm(behind.map(({ p }) => p))
  const records = [
    { policy: context.tiny.name, ...Sample.summary(tiny) },
    ...others.map(({ name, samples }, index) => ({
      policy: name,
      ...Sample.summary(samples),
      tinyIsAheadBy: { ...behind[index]!, pOfAll: corrected[index]! }
    }))
  ]
  const rows = records.map((record) => [
    record.policy,
    Markdown.percent(record.right),
    "tinyIsAheadBy" in record ? Markdown.percent(record.tinyIsAheadBy, true) : "",
    Markdown.plain(record.usdPerThousand, 3),
    Markdown.plain(record.calls),
    Markdown.plain(record.tokens, 0),
    Markdown.plain(record.ownTokens, 0),
    Markdown.plain(record.steps)
  ])
  const columns = [
    "policy",
    "right, %",
    `${context.tiny.name} is ahead by, points`,
    "USD per 1,000 tasks",
    "calls",
    "tokens of workers",
    "tokens of the Conductor",
    "steps"
  ]
  return { records, markdown: Markdown.table(columns, rows) }
})
