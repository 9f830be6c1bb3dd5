/** Compares policies question by question, with p-values corrected for multiple comparisons. */

import * as Statistics from "../statistics/Statistics.ts"
import type { Comparison, Plan, Sample } from "./Report.ts"
import { figure, scored } from "./summary.ts"

/** Returns the mean score for each question. */
const means = (samples: ReadonlyArray<Statistics.Sample>): ReadonlyMap<string, number> =>
  new Map(
    [
      ...Map.groupBy(
        samples.filter(({ score }) => score !== undefined),
        ({ question }) => question
      )
    ].map(([question, some]) => [question, Statistics.mean(some.map(({ score }) => score!))])
  )

const wins = (first: ReadonlyArray<Statistics.Sample>, second: ReadonlyArray<Statistics.Sample>) => {
  const others = means(second)
  const signs = [...means(first)].flatMap(([question, mean]) => {
    const other = others.get(question)
    return other === undefined ? [] : [Math.sign(mean - other)]
  })
  const count = (sign: number) => signs.filter((one) => one === sign).length
  return { better: count(1), worse: count(-1), same: count(0) }
}

/** Returns one comparison, without correction. */
export const compared = (
  of: Pick<Comparison, "benchmark" | "policy" | "against">,
  first: ReadonlyArray<Sample>,
  second: ReadonlyArray<Sample>,
  { confidence, seed }: { readonly confidence: number; readonly seed: number }
): Comparison => {
  const [a, b] = [first.map(scored), second.map(scored)]
  const { correlation, interval, mean, minimumDetectable, p, questions, standardError, test } = Statistics.difference(
    a,
    b,
    { confidence, seed }
  )
  return {
    ...of,
    mean: figure(mean),
    standardError: figure(standardError),
    low: figure(interval.low),
    high: figure(interval.high),
    confidence,
    correlation: figure(correlation),
    p: questions === 0 ? null : figure(p),
    pAdjusted: null,
    test,
    questions,
    ...wins(a, b),
    minimumDetectable: figure(minimumDetectable)
  }
}

/** Applies Holm's correction to all comparisons with a p-value. */
export const corrected = (comparisons: ReadonlyArray<Comparison>): ReadonlyArray<Comparison> => {
  const known = comparisons.filter(({ p }) => p !== null)
  const adjusted = Statistics.holm(known.map(({ p }) => p!))
  return comparisons.map((comparison) => {
    const index = known.indexOf(comparison)
    return index === -1 ? comparison : { ...comparison, pAdjusted: adjusted[index]! }
  })
}

/** Compares the first policy with each of the others, on each benchmark. */
export const comparisonsOf = (
  { benchmarks, config }: Plan,
  samples: ReadonlyArray<Sample>
): ReadonlyArray<Comparison> => {
  const [reference, ...others] = config.policies
  if (reference === undefined) return []
  const of = (benchmark: string, policy: string) =>
    samples.filter((sample) => sample.benchmark === benchmark && sample.policy === policy)
  return corrected(
    benchmarks.flatMap(({ benchmark }) =>
      others.map(({ name }) =>
        compared(
          { benchmark, policy: reference.name, against: name },
          of(benchmark, reference.name),
          of(benchmark, name),
          config
        )
      )
    )
  )
}
