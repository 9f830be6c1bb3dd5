/** The metrics of a run, added up over neighbouring iterations: a page of a long run is as long as that of a short one. */
import type { GrpoMetrics, KindMetrics, Metrics } from "./Training.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A sum, and what it is the sum of. */
interface Sum {
  readonly total: number
  readonly count: number
}

/** What the rollouts of a kind came to, added up. */
export interface KindSum {
  readonly rollouts: number
  /** Right answers. */
  readonly correct: number
  /** Workflows that could be read, and the steps of them all. */
  readonly workflows: number
  readonly steps: number
  /** Steps given to each worker. */
  readonly workers: ReadonlyMap<string, number>
}

/** Neighbouring iterations. */
export interface Bucket {
  /** The first and the last iteration in it. */
  readonly from: number
  readonly to: number
  /** Whether there was reinforcement learning in it. */
  readonly isGrpo: boolean
  readonly values: ReadonlyMap<string, Sum>
  readonly kinds: ReadonlyMap<string, KindSum>
}

/** A phase as it was run. */
export interface Phase {
  readonly name: string
  readonly from: number
  readonly to: number
}

/** A run, added up. */
export interface Curves {
  /** By iteration. */
  readonly buckets: ReadonlyArray<Bucket>
  readonly phases: ReadonlyArray<Phase>
  readonly iterations: number
  /** USD, over the whole run. */
  readonly costUsd: number
  /** Time that the iterations took, in all. */
  readonly millis: number
  readonly rollouts: number
  readonly calls: number
}

// -------------------------------------------------------------------------------------------------------------------
// Values
// -------------------------------------------------------------------------------------------------------------------

type Values = Readonly<Record<string, number | undefined>>

const ofGrpo = (metrics: GrpoMetrics): Values => ({
  reward: metrics.rewardMean,
  parsed: metrics.parsed,
  correct: metrics.correct,
  steps: metrics.steps,
  entropy: metrics.entropy,
  surprisal: metrics.surprisal,
  zeroVariance: metrics.groups === 0 ? undefined : metrics.zeroVariance / metrics.groups,
  clipped: metrics.clipped,
  completionTokens: metrics.completionTokens,
  ...Object.fromEntries(metrics.rounds.map(({ correct, round }) => [`correct of round ${round}`, correct]))
})

/** What is drawn of an iteration, by name. */
const valuesOf = (metrics: Metrics): Values => ({
  learningRate: metrics.learningRate,
  gradientNorm: metrics.gradientNorm,
  costUsd: metrics.costUsd,
  seconds: metrics.seconds.total,
  ...(metrics.type === "grpo" ? ofGrpo(metrics) : { tokenLoss: metrics.tokenLoss, weightedLoss: metrics.weightedLoss }),
  ...Object.fromEntries(Object.entries(metrics.evaluation ?? {}).map(([name, value]) => [`held out: ${name}`, value]))
})

// -------------------------------------------------------------------------------------------------------------------
// Sums
// -------------------------------------------------------------------------------------------------------------------

/** Names beyond these are counted together: a page has to end. */
const mostNames = 48
const others = "others"

/** Sums by name. */
const byName = <A>(
  all: Iterable<readonly [string, A]>,
  add: (one: A, other: A) => A,
  most: number = mostNames
): Map<string, A> => {
  const sums = new Map<string, A>()
  for (const [given, value] of all) {
    const name = sums.has(given) || sums.size < most ? given : others
    const sum = sums.get(name)
    sums.set(name, sum === undefined ? value : add(sum, value))
  }
  return sums
}

const addNumbers = (one: number, other: number): number => one + other

const addKinds = (one: KindSum, other: KindSum): KindSum => ({
  rollouts: one.rollouts + other.rollouts,
  correct: one.correct + other.correct,
  workflows: one.workflows + other.workflows,
  steps: one.steps + other.steps,
  workers: byName([...one.workers, ...other.workers], addNumbers)
})

const kindSum = ({ correct, rollouts, stepCounts, steps, workers }: KindMetrics): KindSum => {
  const workflows = Object.values(stepCounts).reduce(addNumbers, 0)
  return {
    rollouts,
    correct: correct * rollouts,
    workflows,
    steps: workflows === 0 ? 0 : steps * workflows,
    workers: byName(Object.entries(workers), addNumbers)
  }
}

const bucketOf = (metrics: Metrics): Bucket => ({
  from: metrics.iteration,
  to: metrics.iteration,
  isGrpo: metrics.type === "grpo",
  values: new Map(
    Object.entries(valuesOf(metrics)).flatMap(([name, total]) =>
      total !== undefined && Number.isFinite(total) ? [[name, { total, count: 1 }]] : []
    )
  ),
  kinds: byName(
    metrics.type === "grpo" ? Object.entries(metrics.kinds).map(([name, kind]) => [name, kindSum(kind)] as const) : [],
    addKinds
  )
})

/** What the rollouts of all buckets came to, by kind. */
export const sumKinds = (buckets: ReadonlyArray<Bucket>): ReadonlyMap<string, KindSum> =>
  byName(
    buckets.flatMap(({ kinds }) => [...kinds]),
    addKinds
  )

/** Several neighbouring buckets as one. */
export const join = (buckets: ReadonlyArray<Bucket>): Bucket => ({
  from: buckets[0]!.from,
  to: buckets.at(-1)!.to,
  isGrpo: buckets.some(({ isGrpo }) => isGrpo),
  values: byName(
    buckets.flatMap(({ values }) => [...values]),
    (one, other) => ({ total: one.total + other.total, count: one.count + other.count }),
    Number.POSITIVE_INFINITY
  ),
  kinds: sumKinds(buckets)
})

/** So many buckets at most, each of as many neighbours. */
export const regroup = (buckets: ReadonlyArray<Bucket>, most: number): ReadonlyArray<Bucket> => {
  const size = Math.max(1, Math.ceil(buckets.length / most))
  return size === 1
    ? buckets
    : Array.from({ length: Math.ceil(buckets.length / size) }, (_, index) =>
        join(buckets.slice(index * size, (index + 1) * size))
      )
}

/** The mean of a value in a bucket. */
export const mean = ({ values }: Bucket, name: string): number | undefined => {
  const sum = values.get(name)
  return sum === undefined ? undefined : sum.total / sum.count
}

/** The names of all values that begin so. */
export const namesOf = (buckets: ReadonlyArray<Bucket>, prefix: string): ReadonlyArray<string> =>
  [...new Set(buckets.flatMap(({ values }) => [...values.keys()]))].filter((name) => name.startsWith(prefix)).sort()

// -------------------------------------------------------------------------------------------------------------------
// A run
// -------------------------------------------------------------------------------------------------------------------

const mostBuckets = 512

/** An iteration that was done again after a crash is the same, and counts once. */
const once = (metrics: ReadonlyArray<Metrics>): ReadonlyArray<Metrics> => {
  let last = -1
  return metrics.filter(({ iteration }) => {
    const isNew = iteration > last
    last = Math.max(last, iteration)
    return isNew
  })
}

const phasesOf = (metrics: ReadonlyArray<Metrics>): ReadonlyArray<Phase> => [
  ...byName(
    metrics.map(({ iteration, phase }) => [phase, { name: phase, from: iteration, to: iteration }] as const),
    (one, { to }) => ({ ...one, to })
  ).values()
]

/** The run, added up. */
export const make = (metrics: ReadonlyArray<Metrics>): Curves => {
  const done = once(metrics)
  const learned = done.filter((one) => one.type === "grpo")
  const sum = <A>(all: ReadonlyArray<A>, of: (one: A) => number) => all.reduce((total, one) => total + of(one), 0)
  return {
    buckets: regroup(done.map(bucketOf), mostBuckets),
    phases: phasesOf(done),
    iterations: done.length,
    costUsd: done.at(-1)?.costUsd ?? 0,
    millis: 1000 * sum(done, ({ seconds }) => seconds.total),
    rollouts: sum(learned, ({ rollouts }) => rollouts),
    calls: sum(learned, ({ calls }) => calls.total)
  }
}
