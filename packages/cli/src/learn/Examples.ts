/** What there is to learn from: the user's own rated runs, and files of graded answers. */
import type * as Embedder from "@divisi/core/Embedder"
import { Drift, OutcomeLog, Outcomes } from "@divisi/policy-router"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ConfigFile from "../conductor/ConfigFile.ts"
import * as Database from "../conductor/Database.ts"
import * as OwnOutcomes from "../conductor/OwnOutcomes.ts"
import { usage } from "../invocation/Failure.ts"
import { clean } from "../view/Line.ts"
import type { LearnInput } from "./command.ts"

/** The day of a time, as people write it. */
export const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

const tell = (problem: string): void => void process.stderr.write(`divisi: ${clean(problem)}\n`)

const changeText = ({ at, before, kind, model, since, worker }: Drift.Change): string => {
  const share = ({ count, mean }: Drift.Change["since"]) => `${(100 * mean).toFixed(0)} % of ${count}`
  const where = kind === undefined ? "" : ` at ${kind}`
  const now = model === undefined ? "" : `, when its vendor began to call it ${model}`
  return `${worker} has changed${where} about ${dateOf(at)}${now}: right in ${share(before)} before, in ${share(since)} since. What was before counts no more.`
}

/** What was rated on the servers of a database, where one is named. */
const ofServers = ({ config, database }: LearnInput) =>
  Effect.scoped(
    Effect.gen(function* () {
      const loaded = Effect.map(ConfigFile.resolve(Option.getOrUndefined(config)), (loaded) => loaded.config)
      const opened = yield* Database.open(database, loaded)
      return opened === undefined ? [] : yield* (yield* opened.outcomes).entries
    })
  )

const ownQuestions = Effect.fnUntraced(function* (input: LearnInput) {
  const file = yield* OwnOutcomes.file
  const own = file === undefined ? [] : yield* OutcomeLog.read(file, { onUnusable: tell })
  const all = OutcomeLog.outcomes([...own, ...(yield* ofServers(input))])
  const { changes, outcomes } = Drift.recent(all, { now: yield* Clock.currentTimeMillis })
  for (const change of changes) tell(changeText(change))
  return Outcomes.fromOutcomes(outcomes)
})

/** All graded questions, each at its place by an embedder; hashed words by default. */
export const examplesOf = (input: LearnInput, embedder?: Embedder.Embedder) =>
  Effect.gen(function* () {
    const files = Option.getOrElse(input.from, () => "")
      .split(",")
      .filter((file) => file !== "")
    const read = yield* Effect.forEach(files, (file) => Outcomes.read(file, { onUnusable: tell }))
    return yield* Outcomes.examples(Outcomes.merged([...read.flat(), ...(yield* ownQuestions(input))]), embedder)
  })

/** There is nothing. */
export const nothingRated = usage(
  "No run is rated yet. Rate one with `divisi rate up` or `divisi rate down`, or name files with --from."
)
