/** `divisi rate`: appends a rating to the log of outcomes. */

import { Outcome } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import { OutcomeLog, Table } from "@divisi/policy-router"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as OwnOutcomes from "../stores/OwnOutcomes.ts"
import { clean } from "../view/Line.ts"
import type { RateInput } from "./command.ts"

/** Returns the run whose id starts with the given text, or an error message. */
const byId = (runs: ReadonlyArray<OutcomeLog.Run>, wanted: string): OutcomeLog.Run | string => {
  const exact = runs.find(({ run }) => run === wanted)
  if (exact !== undefined) return exact
  const ids = [...new Set(runs.filter(({ run }) => run.startsWith(wanted)).map(({ run }) => run))]
  if (ids.length === 1) return runs.find(({ run }) => run === ids[0])!
  return ids.length === 0
    ? `No logged run has an id that starts with "${wanted}". Omit the id to rate the last run.`
    : `"${wanted}" matches the ids of ${ids.length} runs. Use a longer prefix.`
}

/** Returns the user's last `divisi run`, or an error message. Runs of evaluations and servers need an id. */
const latest = (runs: ReadonlyArray<OutcomeLog.Run>, log: string): Effect.Effect<OutcomeLog.Run | string> =>
  Effect.map(OwnOutcomes.last(log), (last) => {
    if (last === undefined)
      return "No run has been logged yet. Ask a question with your own workers first (`divisi run <question> --pool <workers>`). Gym runs are not logged."
    if (last.isPlay)
      return "The last run used the offline gym and cannot be rated. To rate an earlier run, pass its id."
    return (
      runs.find(({ run }) => run === last.run) ??
      `The last run, ${last.run}, has no answer in the log. To rate an earlier run, pass its id.`
    )
  })

const stepOf = (text: string) => {
  const [round, step] = text.split(".").map(Number)
  return { round: round!, step: step! }
}

/** Describes the effect of a rating. A plan is rated as a whole, which says nothing about individual workers. */
const teaches = ({ answers, run }: OutcomeLog.Run, worker: string): string => {
  if (Table.isWorker(worker)) return `The rating counts for ${worker} on similar questions.`
  const steps = answers.filter(({ step }) => step !== undefined)
  const example = steps.map(({ round, step, worker }) => `--step ${round}.${step} (${worker})`).join(", ")
  const team = `The rating applies to the team ${worker.slice(Outcome.teamPrefix.length)} as a whole, not to its workers.`
  return steps.length === 0 ? team : `${team} To rate a worker: divisi rate up ${run.slice(0, 8)} with ${example}.`
}

/** Rates a run or one of its steps. */
export const rate = (input: RateInput): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const file = yield* OwnOutcomes.file
    if (file === undefined) return yield* usage("The log is disabled by DIVISI_OUTCOMES, so runs cannot be rated.")
    const entries = yield* OutcomeLog.read(file, {
      onUnusable: (problem) => void process.stderr.write(`divisi: ${clean(problem)}\n`)
    })
    const runs = OutcomeLog.runs(entries)
    const run = Option.isSome(input.run) ? byId(runs, input.run.value) : yield* latest(runs, file)
    if (typeof run === "string") return yield* usage(run)
    const step = Option.getOrUndefined(Option.map(input.step, stepOf))
    const answer = OutcomeLog.rated(run, step)
    if (answer === undefined) {
      return yield* usage(
        step === undefined
          ? `A worker failed in run ${run.run}, so the run cannot be rated as a whole. Rate a step with --step.`
          : `Run ${run.run} has no answered step ${Option.getOrThrow(input.step)}.`
      )
    }
    const at = yield* Clock.currentTimeMillis
    const { score, source } = input
    const rating = { type: "rating", version: OutcomeLog.version, at, run: run.run, ...step, score, source } as const
    yield* OutcomeLog.append(file, defined({ ...rating, note: Option.getOrUndefined(input.note) }))
    const lesson = teaches(run, answer.worker)
    const said = { run: run.run, ...step, worker: answer.worker, score, source, teaches: lesson }
    const text = `Rated ${step === undefined ? "" : `step ${step.round}.${step.step} of `}${run.run}, answered by ${answer.worker}: ${score}`
    stdout.write(`${input.json ? JSON.stringify(said) : `${clean(text)}\n${clean(lesson)}`}\n`)
  }).pipe(Effect.catchTag("OutcomeLogError", ({ message }) => Effect.fail(failed(message))))
