/**
 * Measures whether the length of plans matches the questions: the number of steps for questions with one, two and three
 * parts.
 */
import * as Effect from "effect/Effect"
import * as Markdown from "./Markdown.ts"
import type { Context, Found } from "./Part.ts"
import * as Sample from "./Sample.ts"

/** Groups the tasks of the comparison by their parts. */
export const run = Effect.fnUntraced(function* ({ samples }: Context): Effect.fn.Return<Found> {
  const all = yield* samples
  const numbers = [...new Set(all.map(({ parts }) => parts))].sort((left, right) => left - right)
  const records = numbers.map((parts) => ({
    parts,
    ...Sample.summary(all.filter((sample) => sample.parts === parts))
  }))
  const rows = records.map(({ calls, parts, right, steps, tasks }) => [
    String(parts),
    String(tasks),
    Markdown.number(steps),
    Markdown.number(calls),
    Markdown.percent(right)
  ])
  return { records, markdown: Markdown.table(["parts", "tasks", "steps", "calls", "right, %"], rows) }
})
