/** Collects training data for routers: the user's rated runs, and files of graded answers. */
import { statSync } from "node:fs"
import { type Embedder, Outcome } from "@divisi/core"
import { Drift, OutcomeLog, Outcomes, Replay, Table } from "@divisi/policy-router"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ConfigFile from "../config/ConfigFile.ts"
import { type Failure, usage } from "../invocation/Failure.ts"
import * as Database from "../stores/Database.ts"
import * as OwnOutcomes from "../stores/OwnOutcomes.ts"
import { clean } from "../view/Line.ts"
import type { LearnInput } from "./command.ts"
import * as Evaluated from "./Evaluated.ts"

/** Formats a timestamp as a date. */
export const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

const tell = (problem: string): void => void process.stderr.write(`divisi: ${clean(problem)}\n`)

const changeText = ({ at, before, kind, model, since, worker }: Drift.Change): string => {
  const share = ({ count, mean }: Drift.Change["since"]) => `${(100 * mean).toFixed(0)}% of ${count}`
  const where = kind === undefined ? "" : ` for ${kind}`
  const now = model === undefined ? "" : `, when its vendor changed its model to ${model}`
  return `Worker ${worker} changed${where} around ${dateOf(at)}${now}: ${share(before)} answers were correct before, ${share(since)} since. Earlier outcomes are ignored.`
}

/** Loads ratings from a shared database, if one is configured. */
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

const gradedIn = (
  place: string
): Effect.Effect<ReadonlyArray<Outcomes.GradedQuestion>, Outcomes.OutcomesError | Failure> => {
  const folder = Evaluated.folderOf(place)
  if (folder !== undefined) return Evaluated.read(folder)
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() === true
    ? Effect.fail(
        usage(`"${place}" contains no evaluation. Pass the folder of an evaluation, or a file of graded answers.`)
      )
    : Outcomes.read(place, { onUnusable: tell })
}

/** Returns all graded questions with their embeddings. By default, embeddings are feature hashes of words. */
export const examplesOf = (input: LearnInput, embedder?: Embedder.Embedder) =>
  Effect.gen(function* () {
    const files = Option.getOrElse(input.from, () => "")
      .split(",")
      .filter((file) => file !== "")
    const read = yield* Effect.forEach(files, gradedIn)
    return yield* Outcomes.examples(Outcomes.merged([...read.flat(), ...(yield* ownQuestions(input))]), embedder)
  })

/** Returns the number of rated answers per worker and team, highest first. */
const ratedBy = (examples: ReadonlyArray<Outcomes.GradedQuestion>): ReadonlyArray<readonly [string, number]> => {
  const counts = new Map<string, number>()
  for (const { scores } of examples) for (const id of scores.keys()) counts.set(id, (counts.get(id) ?? 0) + 1)
  return [...counts].sort(([, left], [, right]) => right - left)
}

const nameOf = (id: string): string => (Table.isWorker(id) ? id : `the team ${id.slice(Outcome.teamPrefix.length)}`)

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`

/** Describes the rated runs and the missing ratings. Returns an empty list if two workers have enough ratings. */
export const missing = (examples: ReadonlyArray<Outcomes.GradedQuestion>): ReadonlyArray<string> => {
  const rated = ratedBy(examples)
  const workers = rated.filter(([id]) => Table.isWorker(id))
  const few = Replay.leastQuestions - examples.length
  const isShort = few > 0
  if (!isShort && workers.length >= 2) return []
  const counts = rated.map(([id, count]) => `${counted(count, "answer")} by ${nameOf(id)}`)
  const step = "its steps (divisi rate up --step 0.1)"
  return [
    ...(counts.length === 0 ? [] : [`Rated so far: ${counts.join(", ")}.`]),
    ...(isShort ? [`At least ${Replay.leastQuestions} rated questions are needed; rate ${few} more.`] : []),
    ...(workers.length === 0
      ? [`A rating of a plan counts for the whole team, not for its workers. Also rate ${step}.`]
      : []),
    ...(workers.length === 1
      ? [
          `Only answers of ${workers[0]![0]} are rated. Also rate answers of another worker, e.g. with --policy single:<id>.`
        ]
      : [])
  ]
}

/** Creates the failure for a set of examples that is too small to learn from. */
export const nothingRated = (examples: ReadonlyArray<Outcomes.GradedQuestion>) =>
  usage(
    examples.length === 0
      ? "No rated runs yet. Rate one with `divisi rate up` or `divisi rate down`, or pass files with --from."
      : ["There are not enough rated runs yet.", ...missing(examples)].join(" ")
  )
