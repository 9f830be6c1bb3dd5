/**
 * Statistics of scores: the uncertainty of a mean, whether two policies differ, and the smallest detectable difference.
 *
 * Samples for the same question are not independent, so standard errors are clustered by question. An answer that could
 * not be parsed counts as wrong; a sample lost to an infrastructure failure is missing. Both are counted.
 */

import { Options as Tables } from "@divisi/core"
import { uniformInt } from "pure-rand/distribution/uniformInt"
import { mersenne } from "pure-rand/generator/mersenne"
import { normalQuantile, studentQuantile } from "./distribution.ts"
import { leastFound } from "./power.ts"
import { mcnemar, signFlip } from "./tests.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** One graded answer. */
export interface Sample {
  readonly question: string
  /** Score from 0 to 1. Omitted if the infrastructure failed. */
  readonly score?: number | undefined
  /** Whether no answer could be extracted, which scores 0. */
  readonly isUnparsed?: boolean | undefined
  /** Identifier shared by related questions, such as questions about the same passage. Default: the question itself. */
  readonly cluster?: string | undefined
}

/** Lower and upper bounds. */
export interface Interval {
  readonly low: number
  readonly high: number
  readonly method: "wilson" | "student" | "bootstrap"
  readonly confidence: number
}

/** The mean score of a benchmark with its uncertainty. */
export interface Score {
  /** `NaN` if there are no scored samples. */
  readonly mean: number
  /** Clustered standard error. `NaN` if there are fewer than two clusters. */
  readonly standardError: number
  readonly interval: Interval
  readonly questions: number
  /** The number of scored samples, including those without a readable answer. */
  readonly samples: number
  readonly unparsed: number
  /** Number of samples lost to infrastructure failures. They are excluded from means. */
  readonly missing: number
  /**
   * The smallest difference from another policy that a comparison detects with 80% power (see {@link
   * minimumDetectable}). `NaN` if there are too few questions to detect any.
   */
  readonly minimumDetectable: number
}

/** The difference between two policies on the same questions. */
export interface Difference {
  /** Mean of the first minus mean of the second. */
  readonly mean: number
  readonly standardError: number
  readonly interval: Interval
  /** Correlation of the questions' mean scores. High if both policies fail on the same questions. */
  readonly correlation: number
  /** The two-sided p-value. */
  readonly p: number
  readonly test: "mcnemar" | "sign-flip"
  /** The number of questions for which both have a score. */
  readonly questions: number
  /**
   * The smallest true difference that `test` detects with 80% power at the 5% level, given the number of questions on
   * which the two disagree. `NaN` if there are too few questions to detect a difference.
   */
  readonly minimumDetectable: number
}

// -------------------------------------------------------------------------------------------------------------------
// Means
// -------------------------------------------------------------------------------------------------------------------

/** Returns the arithmetic mean. `NaN` for an empty list. */
export const mean = (values: ReadonlyArray<number>): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Returns the standard error of a mean of independent values: `s / √n`, with `n - 1` in `s`. */
export const standardError = (values: ReadonlyArray<number>): number =>
  clusteredStandardError(values.map((value, index) => ({ value, cluster: String(index) })))

/**
 * Returns the cluster-robust standard error of a mean: residuals are summed within each cluster and then squared. The
 * factor `C / (C - 1)` corrects for few clusters.
 *
 * **Example**
 *
 * ```ts
 * import * as Statistics from "@divisi/evals/Statistics"
 *
 * const answers = [1, 1, 0, 0].map((value, index) => ({ value, cluster: index < 2 ? "a" : "b" }))
 * Statistics.clusteredStandardError(answers) // => 0.5
 * ```
 */
export const clusteredStandardError = (
  values: ReadonlyArray<{ readonly value: number; readonly cluster: string }>
): number => {
  const centre = mean(values.map(({ value }) => value))
  const residuals = new Map<string, number>()
  for (const { cluster, value } of values) residuals.set(cluster, (residuals.get(cluster) ?? 0) + value - centre)
  const squares = [...residuals.values()].reduce((sum, residual) => sum + residual * residual, 0)
  const clusters = residuals.size
  return clusters < 2 ? Number.NaN : Math.sqrt((squares / values.length ** 2) * (clusters / (clusters - 1)))
}

// -------------------------------------------------------------------------------------------------------------------
// Intervals
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the Wilson interval of a proportion, which is accurate even for few questions and for proportions near 0 and
 * 1.
 *
 * @internal
 */
export const wilson = (successes: number, total: number, confidence = 0.95): Interval => {
  const z = normalQuantile((1 + confidence) / 2)
  const share = successes / total
  const scale = 1 + (z * z) / total
  const centre = (share + (z * z) / (2 * total)) / scale
  const reach = (z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total))) / scale
  return { low: Math.max(0, centre - reach), high: Math.min(1, centre + reach), method: "wilson", confidence }
}

/**
 * Returns Student's interval around a mean with a known standard error. `bounds` is the range of possible means.
 *
 * @internal
 */
export const student = (
  centre: number,
  error: number,
  degrees: number,
  confidence = 0.95,
  bounds: readonly [low: number, high: number] = [-Infinity, Infinity]
): Interval => {
  const reach = studentQuantile(confidence, degrees) * error
  const within = (value: number) => Math.min(bounds[1], Math.max(bounds[0], value))
  return { low: within(centre - reach), high: within(centre + reach), method: "student", confidence }
}

const seed = Tables.number(-Number.MAX_VALUE)
const share = Tables.number(0, 1)

const bootstrapTable = Tables.table({ seed, resamples: Tables.whole(1), confidence: share }, { required: ["seed"] })

const testTable = { power: share, significance: share }

const questionsTable = Tables.table(
  {
    ...testTable,
    difference: Tables.number(-Number.MAX_VALUE),
    between: Tables.number(0),
    within: Tables.number(0),
    samples: Tables.whole(1)
  },
  { required: ["difference", "between", "within", "samples"] }
)

/**
 * Returns the percentile bootstrap interval of a mean. Whole clusters are resampled. The same seed produces the same
 * interval.
 */
export const bootstrap = (
  clusters: ReadonlyArray<ReadonlyArray<number>>,
  options: { readonly seed: number; readonly resamples?: number | undefined; readonly confidence?: number | undefined }
): Interval => {
  Tables.check("Statistics.bootstrap", options, bootstrapTable)
  const { confidence = 0.95, resamples = 1000, seed } = options
  const random = mersenne(seed)
  const sums = clusters.map((values) => ({ sum: values.reduce((a, b) => a + b, 0), count: values.length }))
  const means = Array.from({ length: resamples }, () => {
    let [sum, count] = [0, 0]
    for (let draw = 0; draw < sums.length; draw++) {
      const drawn = sums[uniformInt(random, 0, sums.length - 1)]!
      sum += drawn.sum
      count += drawn.count
    }
    return sum / count
  }).sort((a, b) => a - b)
  const at = (share: number) => means[Math.min(resamples - 1, Math.max(0, Math.round(share * (resamples - 1))))]!
  return { low: at((1 - confidence) / 2), high: at((1 + confidence) / 2), method: "bootstrap", confidence }
}

// -------------------------------------------------------------------------------------------------------------------
// Power
// -------------------------------------------------------------------------------------------------------------------

/** Returns the number of standard errors that a difference needs for this power. */
const separation = (power: number, significance: number) => normalQuantile(1 - significance / 2) + normalQuantile(power)

/**
 * Returns the smallest true difference that a test with this standard error detects with 80% power at the 5% level.
 *
 * **Example**
 *
 * ```ts
 * import * as Statistics from "@divisi/evals/Statistics"
 *
 * Statistics.minimumDetectable(0.01).toFixed(3) // => "0.028"
 * ```
 */
export const minimumDetectable = (
  standardErrorOfDifference: number,
  options: { readonly power?: number | undefined; readonly significance?: number | undefined } = {}
): number => {
  Tables.check("Statistics.minimumDetectable", options, testTable)
  return separation(options.power ?? 0.8, options.significance ?? 0.05) * standardErrorOfDifference
}

/**
 * Returns how many questions a paired comparison needs to detect a difference. `between` is the variance of the
 * questions' mean differences; `within` is the variance of one policy's samples of a question. More samples per
 * question reduce only `within`.
 */
export const questionsNeeded = (options: {
  readonly difference: number
  readonly between: number
  readonly within: number
  readonly samples: number
  readonly power?: number | undefined
  readonly significance?: number | undefined
}): number => {
  Tables.check("Statistics.questionsNeeded", options, questionsTable)
  const { between, difference, samples, within } = options
  const variance = between + (2 * within) / samples
  return Math.ceil((separation(options.power ?? 0.8, options.significance ?? 0.05) ** 2 * variance) / difference ** 2)
}

// -------------------------------------------------------------------------------------------------------------------
// Scores
// -------------------------------------------------------------------------------------------------------------------

const isScored = (sample: Sample): sample is Sample & { readonly score: number } => sample.score !== undefined

const byQuestion = (samples: ReadonlyArray<Sample>): ReadonlyMap<string, ReadonlyArray<number>> => {
  const scores = new Map<string, Array<number>>()
  for (const sample of samples.filter(isScored)) {
    const known = scores.get(sample.question)
    if (known === undefined) scores.set(sample.question, [sample.score])
    else known.push(sample.score)
  }
  return scores
}

const isBinary = (values: ReadonlyArray<number>) => values.every((value) => value === 0 || value === 1)

/**
 * Returns the mean of samples with its standard error and interval: Wilson's if each question has one binary score,
 * otherwise Student's over clusters, clipped to 0 and 1.
 *
 * **Details**
 *
 * If all clusters have the same score, the standard error cannot be estimated, although unseen clusters may differ. In
 * that case, the interval is Wilson's with one answer per cluster, and the minimum detectable difference is derived
 * from its width.
 *
 * **Example**
 *
 * ```ts
 * import * as Statistics from "@divisi/evals/Statistics"
 *
 * const samples = [1, 1, 1, 0].map((score, index) => ({ question: `q${index}`, score }))
 * const { interval, mean, missing } = Statistics.score([...samples, { question: "q4" }])
 * mean // => 0.75
 * interval.method // => "wilson"
 * missing // => 1
 * ```
 */
export const score = (samples: ReadonlyArray<Sample>, confidence = 0.95): Score => {
  const scored = samples.filter(isScored)
  const values = scored.map((sample) => sample.score)
  const questions = new Set(scored.map(({ question }) => question)).size
  const clustered = scored.map(({ cluster, question, score: value }) => ({ value, cluster: cluster ?? question }))
  const clusters = new Set(clustered.map(({ cluster }) => cluster)).size
  const error = clusteredStandardError(clustered)
  const centre = mean(values)
  const isSimple = isBinary(values) && clusters === values.length
  const isSpread = error > 0
  const ofClusters = (sure: number) => wilson(centre * clusters, clusters, sure)
  return {
    mean: centre,
    standardError: error,
    interval: isSimple || !isSpread ? ofClusters(confidence) : student(centre, error, clusters - 1, confidence, [0, 1]),
    questions,
    samples: scored.length,
    unparsed: scored.filter(({ isUnparsed }) => isUnparsed === true).length,
    missing: samples.length - scored.length,
    // Compared with a policy that has a similar variance but finds other questions difficult. Pairing can only reduce
    // the difference.
    minimumDetectable: possible(
      clusters < fewestFlipped
        ? Number.NaN
        : minimumDetectable(Math.SQRT2 * (isSpread ? error : errorOf(ofClusters(0.95))))
    )
  }
}

/** Two policies cannot differ by more than 1. */
const possible = (difference: number): number => (difference > 1 ? Number.NaN : difference)

/** Returns the standard error that would result in a 95 % interval of this width. */
const errorOf = ({ high, low }: Interval): number => (high - low) / (2 * normalQuantile(0.975))

// -------------------------------------------------------------------------------------------------------------------
// Comparisons
// -------------------------------------------------------------------------------------------------------------------

const correlationOf = (pairs: ReadonlyArray<readonly [number, number]>): number => {
  const [a, b] = [mean(pairs.map(([x]) => x)), mean(pairs.map(([, y]) => y))]
  const sum = (of: (x: number, y: number) => number) => pairs.reduce((total, [x, y]) => total + of(x - a, y - b), 0)
  return sum((x, y) => x * y) / Math.sqrt(sum((x) => x * x) * sum((_, y) => y * y))
}

/** @internal */
export { mcnemar, signFlip }

const pairsOf = (first: ReadonlyArray<Sample>, second: ReadonlyArray<Sample>) => {
  const other = byQuestion(second)
  return [...byQuestion(first)].flatMap(([question, scores]) => {
    const others = other.get(question)
    return others === undefined ? [] : [{ question, a: scores, b: others }]
  })
}

/** Clusters of the first policy's samples, by question. */
const clustersOf = (samples: ReadonlyArray<Sample>) =>
  new Map(samples.map(({ cluster, question }) => [question, cluster ?? question]))

/**
 * Compares two policies on the questions that both answered. The comparison is paired, so differences in difficulty
 * cancel out.
 *
 * **Details**
 *
 * With one binary score per question, the test is McNemar's exact test; otherwise it is a sign-flip permutation test of
 * the questions' mean differences, with one flip per cluster. Pass all p-values of one family to {@link holm}. If all
 * differences are equal, the interval is derived from Wilson's interval for the share of differing questions.
 *
 * **Example**
 *
 * ```ts
 * import * as Statistics from "@divisi/evals/Statistics"
 *
 * const answers = (scores: ReadonlyArray<number>) => scores.map((score, index) => ({ question: `q${index}`, score }))
 * const { mean, p, test } = Statistics.difference(answers([1, 1, 1, 1, 0]), answers([1, 0, 0, 1, 0]))
 * mean // => 0.4
 * p // => 0.5
 * test // => "mcnemar"
 * ```
 */
export const difference = (
  first: ReadonlyArray<Sample>,
  second: ReadonlyArray<Sample>,
  options: { readonly confidence?: number | undefined; readonly seed?: number | undefined } = {}
): Difference => {
  Tables.check("Statistics.difference", options, { confidence: share, seed })
  const pairs = pairsOf(first, second)
  const clusterOf = clustersOf(first)
  const means = pairs.map(({ a, b }) => [mean(a), mean(b)] as const)
  const differences = means.map(([a, b]) => a - b)
  const clustered = differences.map((value, index) => ({ value, cluster: clusterOf.get(pairs[index]!.question)! }))
  const sums = sumsOf(clustered)
  const isSingle =
    sums.length === pairs.length &&
    pairs.every(({ a, b }) => a.length === 1 && b.length === 1 && isBinary([...a, ...b]))
  const wins = (sign: number) => differences.filter((value) => Math.sign(value) === sign).length
  const [better, worse] = [wins(1), wins(-1)]
  const centre = mean(differences)
  const error = clusteredStandardError(clustered)
  const interval = differing(centre, error, sums.length, options.confidence ?? 0.95)
  return {
    mean: centre,
    standardError: error,
    interval,
    correlation: correlationOf(means),
    p: isSingle ? mcnemar(better, worse) : signFlip(sums, { seed: options.seed ?? 0 }),
    test: isSingle ? "mcnemar" : "sign-flip",
    questions: pairs.length,
    minimumDetectable: isSingle
      ? leastFound({
          questions: pairs.length,
          discordant: (better + worse) / pairs.length,
          power: 0.8,
          significance: 0.05
        })
      : leastFlipped(error, sums.length)
  }
}

/** Values added up by cluster. */
const sumsOf = (values: ReadonlyArray<{ readonly value: number; readonly cluster: string }>): ReadonlyArray<number> => {
  const sums = new Map<string, number>()
  for (const { cluster, value } of values) sums.set(cluster, (sums.get(cluster) ?? 0) + value)
  return [...sums.values()]
}

/** Returns the interval for a mean difference over the given number of clusters. */
const differing = (centre: number, error: number, clusters: number, confidence: number): Interval => {
  if (error > 0) return student(centre, error, clusters - 1, confidence, [-1, 1])
  // Maximum effect on the mean of a question that differs from all others.
  const reach = wilson(0, clusters, confidence).high * (1 + Math.abs(centre))
  return { low: Math.max(-1, centre - reach), high: Math.min(1, centre + reach), method: "wilson", confidence }
}

/** With fewer clusters than this, no flips of signs are as rare as 5 %. */
const fewestFlipped = 6

/**
 * Returns the smallest true difference that a sign-flip test detects with 80% power, approximated by that of the t
 * test.
 */
const leastFlipped = (error: number, clusters: number): number => {
  if (clusters < fewestFlipped) return Number.NaN
  const degrees = clusters - 1
  const spread = error > 0 ? error : errorOf(differing(0, 0, clusters, 0.95))
  return possible((studentQuantile(0.95, degrees) + studentQuantile(0.6, degrees)) * spread)
}

/**
 * Returns p-values adjusted for multiple comparisons with Holm's method, in the original order.
 *
 * **Example**
 *
 * ```ts
 * import * as Statistics from "@divisi/evals/Statistics"
 *
 * Statistics.holm([0.01, 0.04, 0.03]) // => [0.03, 0.06, 0.06]
 * ```
 */
export const holm = (ps: ReadonlyArray<number>): ReadonlyArray<number> => {
  const order = ps.map((_, index) => index).sort((a, b) => ps[a]! - ps[b]!)
  const adjusted = new Array<number>(ps.length)
  let least = 0
  for (const [rank, index] of order.entries()) {
    least = Math.max(least, Math.min(1, ps[index]! * (ps.length - rank)))
    adjusted[index] = least
  }
  return adjusted
}

// -------------------------------------------------------------------------------------------------------------------
// Many samples of a question
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns pass@k of one question: the probability that at least one of `k` samples, drawn without replacement, is
 * correct. `NaN` if there are fewer samples than `k`.
 *
 * **Example**
 *
 * ```ts
 * import * as Statistics from "@divisi/evals/Statistics"
 *
 * Statistics.passAtK({ samples: 4, correct: 2, k: 2 }).toFixed(4) // => "0.8333"
 * Statistics.passHatK({ samples: 4, correct: 2, k: 2 }).toFixed(4) // => "0.1667"
 * ```
 */
export const passAtK = (of: { readonly samples: number; readonly correct: number; readonly k: number }): number =>
  1 - passHatK({ ...of, correct: of.samples - of.correct })

/**
 * Returns pass^k of one question: the probability that all `k` samples are correct. `NaN` if there are fewer samples
 * than `k`.
 */
export const passHatK = (of: { readonly samples: number; readonly correct: number; readonly k: number }): number => {
  const { correct, k, samples } = of
  if (samples < k) return Number.NaN
  let product = 1
  for (let index = 0; index < k; index++) product *= Math.max(0, correct - index) / (samples - index)
  return product
}
