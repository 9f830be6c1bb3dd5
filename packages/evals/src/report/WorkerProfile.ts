/**
 * Worker profiles: the strengths of each worker, estimated from an evaluation's samples or from transcripts.
 *
 * If a worker answered alone, the score belongs to that worker. For a team, only the team's score is known, so it is
 * reported separately. Because sample counts are small, estimates are shrunk toward a mean and have intervals.
 */
import { Callback, Grader, StepFailure, Options as Tables, Transcript } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import type { Worker } from "@divisi/core/Worker"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Statistics from "../statistics/Statistics.ts"
import type { Figure, Sample } from "./Report.ts"
import { figure } from "./summary.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Version of the format for profiles on disk. */
export const version = 1

/** A call to a worker, with the result of its run. */
export interface Observation {
  readonly worker: string
  /** The kind of the task. */
  readonly kind: string
  readonly question: string
  /** Score of the run, from 0 to 1. Omitted if the run has no score, for example after an outage. */
  readonly score?: number | undefined
  /** Whether the run consisted only of this call. */
  readonly isAlone: boolean
  readonly isAnswered: boolean
  readonly millis?: number | undefined
  /** Omitted if the price is unknown. */
  readonly costUsd?: number | undefined
}

/** The share of a worker's correct answers. */
export interface Rate {
  readonly questions: number
  readonly samples: number
  readonly mean: Figure
  /** The mean, shrunk toward a prior: strongly if there are few samples, slightly if there are many. */
  readonly estimate: number
  readonly low: Figure
  readonly high: Figure
}

/** The strengths of one worker. */
export interface WorkerProfile {
  readonly worker: string
  /** Share of correct answers when the worker answers alone. */
  readonly alone: Rate
  /** Share of correct answers for each kind of task, best estimate first. */
  readonly kinds: ReadonlyArray<{ readonly kind: string; readonly rate: Rate }>
  /** Share of correct answers from teams that include this worker. */
  readonly inTeams: Rate
  readonly calls: number
  readonly failed: number
  readonly medianMillis: Figure
  /** Mean cost of a call, in USD. */
  readonly costUsd: Figure
}

/** The file format of profiles. */
export interface Profiles {
  readonly version: typeof version
  readonly workers: ReadonlyArray<WorkerProfile>
}

// -------------------------------------------------------------------------------------------------------------------
// Observations
// -------------------------------------------------------------------------------------------------------------------

/**
 * Creates profiles from an evaluation's samples.
 *
 * **Details**
 *
 * The kind of a task is its stratum (the subject or the family) or, without one, its benchmark.
 */
export const fromSamples = (
  samples: ReadonlyArray<Sample>,
  kindOf: (sample: Sample) => string = ({ benchmark, stratum }) => stratum ?? benchmark
): ReadonlyArray<Observation> =>
  samples.flatMap((sample) => {
    const calls = sample.steps.filter(({ state }) => state !== "skipped")
    return calls.map((step) => ({
      worker: step.worker,
      kind: kindOf(sample),
      question: JSON.stringify([sample.benchmark, sample.task]),
      score: sample.score,
      isAlone: calls.length === 1,
      isAnswered: step.state === "answered",
      millis: step.millis === null ? undefined : step.millis,
      costUsd: step.costUsd === null ? undefined : step.costUsd
    }))
  })

const kindOfTask = ({ task }: Transcript.Transcript): string => {
  const { family, subject } = task.metadata ?? {}
  return typeof family === "string" ? family : typeof subject === "string" ? subject : "all"
}

const observed = (step: Transcript.StepRecord, run: Omit<Observation, "worker" | "isAnswered">): Observation => ({
  ...run,
  worker: step.worker,
  isAnswered: step.state === "answered",
  millis: step.durationMillis,
  costUsd: Transcript.paidForAnswer(step)?.costUsd
})

const table = { grader: Tables.madeBy("a grader", "grade"), kindOf: Tables.aFunction }

/**
 * Creates profiles from transcripts. A grader determines which runs were correct; without one, profiles contain only
 * times and prices.
 *
 * **Details**
 *
 * The kind of a task is the family or subject in its metadata, or the result of `kindOf`. Steps that the Conductor
 * assigned to itself are omitted.
 */
export const fromTranscripts = Effect.fnUntraced(function* (
  transcripts: ReadonlyArray<Transcript.Transcript>,
  options: {
    readonly grader?: Grader.Grader | undefined
    readonly kindOf?: ((transcript: Transcript.Transcript) => string) | undefined
  } = {}
): Effect.fn.Return<ReadonlyArray<Observation>, Grader.GraderError> {
  Tables.check("WorkerProfile.fromTranscripts", options, table)
  const { grader, kindOf = kindOfTask } = options
  const lists = yield* Effect.forEach(transcripts, (transcript) =>
    Effect.gen(function* () {
      const { answer, ending, rounds, task } = transcript
      const isGraded = grader !== undefined && answer !== undefined && StepFailure.outagesOf(transcript).length === 0
      const graded = isGraded ? yield* Grader.ask(grader, task, answer) : undefined
      const declined = grader !== undefined && ending === "refused" ? 0 : undefined
      const steps = rounds
        .flatMap(({ steps }) => steps)
        .filter(({ nested, state }) => nested === undefined && (state === "answered" || state === "failed"))
      const run = {
        kind: yield* Effect.orDie(Callback.called("kindOf", () => kindOf(transcript))),
        question: task.id,
        isAlone: steps.length === 1,
        score: graded?.score ?? declined
      }
      return steps.map((step) => observed(step, run))
    })
  )
  return lists.flat()
})

// -------------------------------------------------------------------------------------------------------------------
// Profiles
// -------------------------------------------------------------------------------------------------------------------

/** Weight of the prior mean, in samples. */
const priorSamples = 4

const median = (values: ReadonlyArray<number>): Figure =>
  values.toSorted((left, right) => left - right)[Math.floor((values.length - 1) / 2)] ?? null

const rateOf = (observations: ReadonlyArray<Observation>, towards: number): Rate => {
  const scored = observations.flatMap(({ question, score }) => (score === undefined ? [] : [{ question, score }]))
  const { interval, mean, questions, samples } = Statistics.score(scored)
  const sum = scored.reduce((total, { score }) => total + score, 0)
  return {
    questions,
    samples,
    mean: figure(mean),
    estimate: (sum + priorSamples * towards) / (samples + priorSamples),
    low: figure(Math.max(0, interval.low)),
    high: figure(Math.min(1, interval.high))
  }
}

const meanScore = (observations: ReadonlyArray<Observation>): number => {
  const scores = observations.flatMap(({ score }) => (score === undefined ? [] : [score]))
  return scores.length === 0 ? 0.5 : Statistics.mean(scores)
}

const profileOf = (worker: string, observations: ReadonlyArray<Observation>, overall: number): WorkerProfile => {
  const alone = observations.filter(({ isAlone }) => isAlone)
  const rate = rateOf(alone, overall)
  const kinds = [...Map.groupBy(alone, ({ kind }) => kind)]
    .map(([kind, some]) => ({ kind, rate: rateOf(some, rate.estimate) }))
    .filter(({ rate }) => rate.samples > 0)
    .sort((left, right) => right.rate.estimate - left.rate.estimate || (left.kind < right.kind ? -1 : 1))
  const prices = observations.flatMap(({ costUsd }) => (costUsd === undefined ? [] : [costUsd]))
  const times = observations.flatMap(({ isAnswered, millis }) => (isAnswered && millis !== undefined ? [millis] : []))
  return {
    worker,
    alone: rate,
    kinds,
    inTeams: rateOf(
      observations.filter(({ isAlone }) => !isAlone),
      overall
    ),
    calls: observations.length,
    failed: observations.filter(({ isAnswered }) => !isAnswered).length,
    medianMillis: median(times),
    costUsd: figure(Statistics.mean(prices))
  }
}

/**
 * Creates profiles from observations, best worker first.
 *
 * **Details**
 *
 * A worker's estimate is shrunk toward the mean of all workers with a weight of 4 samples, and the estimate for a kind
 * of task toward the worker's own estimate. Intervals apply to the plain means and are clustered by question.
 *
 * **Example**
 *
 * ```ts
 * import { WorkerProfile } from "@divisi/evals"
 *
 * const seen = (question: string, kind: string, score: number) => ({
 *   worker: "almanac", kind, question, score, isAlone: true, isAnswered: true, millis: 400, costUsd: 0.001
 * })
 * const { workers } = WorkerProfile.make([
 *   ...["a", "b", "c", "d", "e", "f"].map((question) => seen(question, "calendar", 1)),
 *   ...["g", "h", "i", "j", "k", "l"].map((question) => seen(question, "logic", 0))
 * ])
 * WorkerProfile.describe(workers[0]!).split(". ")[1] // => "Good at calendar (80% of 6)"
 * ```
 */
export const make = (observations: ReadonlyArray<Observation>): Profiles => {
  const overall = meanScore(observations.filter(({ isAlone }) => isAlone))
  const workers = [...Map.groupBy(observations, ({ worker }) => worker)]
    .map(([worker, some]) => profileOf(worker, some, overall))
    .sort((left, right) => right.alone.estimate - left.alone.estimate || (left.worker < right.worker ? -1 : 1))
  return { version, workers }
}

// -------------------------------------------------------------------------------------------------------------------
// In words
// -------------------------------------------------------------------------------------------------------------------

/** Minimum number of samples for a kind to be mentioned, and minimum difference from the worker's mean. */
const fewest = 3
const least = 0.1

const percent = (value: number): string => `${Math.round(100 * value)}%`

const kindList = (kinds: WorkerProfile["kinds"]): string =>
  kinds.map(({ kind, rate }) => `${kind} (${percent(rate.estimate)} of ${rate.samples})`).join(", ")

const seconds = (millis: number): string => (millis < 10 ? "no time" : `${Number((millis / 1000).toPrecision(1))} s`)

const effort = ({ costUsd, medianMillis }: WorkerProfile): string => {
  const parts = [
    ...(medianMillis === null ? [] : [seconds(medianMillis)]),
    ...(costUsd === null ? [] : [costUsd === 0 ? "no cost" : `$${costUsd.toPrecision(3)}`])
  ]
  return parts.length === 0 ? "" : `About ${parts.join(" and ")} a call.`
}

/**
 * Describes a profile in one line for a prompt: strengths, weaknesses, and the cost of a call, without the worker's
 * name.
 */
export const describe = (profile: WorkerProfile): string => {
  const { alone, kinds } = profile
  const known = kinds.filter(({ rate }) => rate.samples >= fewest)
  const good = known.filter(({ rate }) => rate.estimate >= alone.estimate + least).slice(0, 4)
  const weak = known.filter(({ rate }) => rate.estimate <= alone.estimate - least).slice(-3)
  const team = profile.inTeams
  return [
    alone.samples > 0 && alone.mean !== null
      ? `Right alone on ${percent(alone.mean)} of ${alone.questions} questions.`
      : team.mean !== null
        ? `Part of teams that were right on ${percent(team.mean)} of ${team.questions} questions.`
        : "",
    good.length === 0 ? "" : `Good at ${kindList(good)}.`,
    weak.length === 0 ? "" : `Weak at ${kindList(weak)}.`,
    effort(profile)
  ]
    .filter((text) => text !== "")
    .join(" ")
}

const described = (worker: Worker, lines: ReadonlyMap<string, string>): Worker => {
  const description = lines.get(worker.id)
  return description === undefined ? worker : { ...worker, description }
}

/**
 * Returns the pool with each worker's profile as its description, instead of the maker's text. Workers without a
 * profile keep their description. A language policy shows descriptions if its prompt is configured to (`descriptions:
 * true`).
 */
const describePool = (pool: WorkerPool, profiles: Profiles): WorkerPool => {
  const lines = new Map(profiles.workers.map((profile) => [profile.worker, describe(profile)]))
  return { workers: Arr.map(pool.workers, (worker) => described(worker, lines)) }
}

/** Returns a policy that receives the profiles as descriptions. Its workflows run on the original workers. */
export const shown = (policy: Policy.Policy, profiles: Profiles): Policy.Policy => ({
  ...policy,
  propose: (context) => Policy.propose(policy, { ...context, pool: describePool(context.pool, profiles) })
})
