/** Summarizes a policy on one benchmark and across all benchmarks: means, spreads and shares of samples. */

import { normalQuantile } from "../statistics/distribution.ts"
import * as Statistics from "../statistics/Statistics.ts"
import type { Cell, Config, Figure, Overall, Reason, Sample, Score, Share, Spread } from "./Report.ts"

/** Converts a value that is not finite to `null`. */
export const figure = (value: number): Figure => (Number.isFinite(value) ? value : null)

/** Converts a sample to the format used for statistics. */
export const scored = (sample: Sample): Statistics.Sample => ({
  question: sample.task,
  score: sample.score,
  isUnparsed: sample.isUnparsed === true ? true : undefined
})

const counts = (names: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  for (const name of names) found.set(name, (found.get(name) ?? 0) + 1)
  return found
}

/** Returns shares sorted by size, then by name. */
const shares = (names: ReadonlyArray<string>): ReadonlyArray<Share> =>
  [...counts(names)]
    .map(([name, count]) => ({ name, count, share: count / names.length }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))

const at = (ordered: ReadonlyArray<number>, share: number): Figure =>
  ordered[Math.max(0, Math.ceil(share * ordered.length) - 1)] ?? null

const spread = (values: ReadonlyArray<number>): Spread => {
  const ordered = [...values].sort((a, b) => a - b)
  return {
    total: values.reduce((sum, value) => sum + value, 0),
    mean: figure(Statistics.mean(values)),
    median: at(ordered, 0.5),
    p90: at(ordered, 0.9),
    p99: at(ordered, 0.99)
  }
}

/** Maximum number of stored reasons. A vendor may put a different id into each message. */
const maxReasons = 10

const maxReasonLength = 200

/** Returns the most frequent reasons, sorted by count, then by text. */
const reasonsOf = (texts: ReadonlyArray<string>, isConfidential: boolean): ReadonlyArray<Reason> =>
  shares(
    texts.map((text) =>
      isConfidential
        ? "not shown: the benchmark is confidential"
        : text.replace(/\s+/g, " ").trim().slice(0, maxReasonLength).toWellFormed()
    )
  )
    .slice(0, maxReasons)
    .map(({ count, name }) => ({ reason: name, samples: count }))

/** Settings that affect a summary. */
type Settings = Pick<Config, "confidence" | "epochs"> & { readonly isConfidential: boolean }

const scoreOf = (samples: ReadonlyArray<Sample>, { confidence, isConfidential }: Settings): Score => {
  const { interval, mean, minimumDetectable, missing, questions, standardError, unparsed, ...rest } = Statistics.score(
    samples.map(scored),
    confidence
  )
  const unanswered = samples.filter(({ rung }) => rung === "no-answer")
  const lost = samples.flatMap((sample) => (sample.missing === undefined ? [] : [sample.missing]))
  return {
    mean: figure(mean),
    standardError: figure(standardError),
    low: figure(interval.low),
    high: figure(interval.high),
    method: interval.method,
    confidence,
    questions,
    samples: rest.samples,
    correct: samples.filter(({ correct }) => correct === true).length,
    unparsed,
    unanswered: unanswered.length,
    unansweredReasons: reasonsOf(
      unanswered.map(({ ending, failure }) => failure ?? `the run ended with "${ending}"`),
      isConfidential
    ),
    missing,
    missingBy: Object.fromEntries([...counts(lost.map(({ cause, reason }) => reason ?? cause))].sort()),
    missingReasons: reasonsOf(
      lost.map(({ message }) => message),
      isConfidential
    ),
    minimumDetectable: figure(minimumDetectable)
  }
}

/** Calculates pass@k and pass^k: means over the questions with at least `k` scored answers. */
const passAtOf = (samples: ReadonlyArray<Sample>, epochs: number): Cell["passAt"] => {
  const byTask = [
    ...Map.groupBy(
      samples.filter(({ score }) => score !== undefined),
      ({ task }) => task
    ).values()
  ]
  const questions = byTask.map((answers) => ({
    samples: answers.length,
    correct: answers.filter(({ correct }) => correct === true).length
  }))
  return Array.from({ length: epochs }, (_, index) => {
    const k = index + 1
    const enough = questions.filter((question) => question.samples >= k)
    return {
      k,
      any: figure(Statistics.mean(enough.map((question) => Statistics.passAtK({ ...question, k })))),
      all: figure(Statistics.mean(enough.map((question) => Statistics.passHatK({ ...question, k }))))
    }
  })
}

const strataOf = (samples: ReadonlyArray<Sample>): Cell["strata"] =>
  [...Map.groupBy(samples, ({ stratum }) => stratum ?? "")]
    .filter(([stratum]) => stratum !== "")
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([stratum, some]) => {
      const { mean, questions, samples, standardError } = Statistics.score(some.map(scored))
      return { stratum, questions, samples, mean: figure(mean), standardError: figure(standardError) }
    })

const isDone = ({ state }: Sample["steps"][number]): boolean => state === "answered"

const misreportedOf = (samples: ReadonlyArray<Sample>): Cell["misreported"] => {
  const said = samples.flatMap(({ misreported }) => misreported ?? [])
  return said[0] === undefined ? undefined : { runs: said.length, first: said[0] }
}

/** Summarizes one policy on one benchmark. */
export const cellOf = (
  of: Pick<Cell, "policy" | "benchmark">,
  samples: ReadonlyArray<Sample>,
  settings: Settings
): Cell => {
  const stepCounts = samples.map(({ steps }) => steps.filter(isDone).length)
  return {
    ...of,
    score: scoreOf(samples, settings),
    passAt: passAtOf(samples, settings.epochs),
    costUsd: spread(samples.map(({ costUsd }) => costUsd)),
    unpricedCalls: samples.reduce((sum, { unpricedCalls }) => sum + unpricedCalls, 0),
    inputTokens: spread(samples.map(({ inputTokens }) => inputTokens)),
    outputTokens: spread(samples.map(({ outputTokens }) => outputTokens)),
    misreported: misreportedOf(samples),
    millis: spread(samples.map(({ millis }) => millis)),
    calls: spread(samples.map(({ calls }) => calls)),
    failedCalls: samples.reduce((sum, { failedCalls }) => sum + failedCalls, 0),
    steps: spread(stepCounts),
    stepCounts: [...shares(stepCounts.map(String))].sort((a, b) => Number(a.name) - Number(b.name)),
    workers: shares(samples.flatMap(({ steps }) => steps.filter(isDone).map(({ worker }) => worker))),
    shapes: shares(samples.map(({ shape }) => shape)),
    rungs: shares(samples.flatMap(({ rung }) => (rung === undefined ? [] : [rung]))),
    strata: strataOf(samples)
  }
}

/** Returns the mean over benchmarks. Unknown if a benchmark has no value. */
const macro = (values: ReadonlyArray<Figure>): Figure =>
  figure(Statistics.mean(values.map((value) => value ?? Number.NaN)))

/** Summarizes one policy across all benchmarks. */
export const overallOf = (policy: string, cells: ReadonlyArray<Cell>, confidence: number): Overall => {
  const mean = macro(cells.map(({ score }) => score.mean))
  const squares = cells.reduce((sum, { score }) => sum + (score.standardError ?? Number.NaN) ** 2, 0)
  const standardError = figure(Math.sqrt(squares) / cells.length)
  const reach = standardError === null ? Number.NaN : normalQuantile((1 + confidence) / 2) * standardError
  return {
    policy,
    mean,
    standardError,
    low: figure(Math.max(0, (mean ?? Number.NaN) - reach)),
    high: figure(Math.min(1, (mean ?? Number.NaN) + reach)),
    costUsd: macro(cells.map(({ costUsd }) => costUsd.mean)),
    tokens: macro(
      cells.map(({ inputTokens, outputTokens }) =>
        inputTokens.mean === null || outputTokens.mean === null ? null : inputTokens.mean + outputTokens.mean
      )
    ),
    millis: macro(cells.map(({ millis }) => millis.mean)),
    steps: macro(cells.map(({ steps }) => steps.mean)),
    samples: cells.reduce((sum, { score }) => sum + score.samples, 0),
    missing: cells.reduce((sum, { score }) => sum + score.missing, 0)
  }
}
