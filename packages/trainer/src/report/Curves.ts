/**
 * The metrics of a run, added up as they are read. What is kept is bounded, however long the run is: iterations are kept
 * one by one at first, and by twos, fours and so on once there are many.
 */
import type { GrpoMetrics, KindMetrics, Metrics } from "../Metrics.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A sum and what it is the sum of. */
interface Sum {
  total: number
  count: number
}

/** What the rollouts of a kind came to, added up. */
export interface KindSum {
  rollouts: number
  /** Sums over rollouts. */
  reward: number
  correct: number
  /** Workflows that could be read, and the steps of them all. */
  workflows: number
  steps: number
  /** Steps given to each worker. */
  readonly workers: Map<string, number>
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
  readonly type: Metrics["type"]
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

/** Adds up metrics. */
export interface Recorder {
  readonly add: (metrics: Metrics) => void
  readonly curves: () => Curves
}

// -------------------------------------------------------------------------------------------------------------------
// Limits
// -------------------------------------------------------------------------------------------------------------------

const mostBuckets = 512

/** Kinds, workers and other names beyond these are counted together. */
const mostNames = 48
const others = "others"

const nameIn = (map: ReadonlyMap<string, unknown>, name: string): string =>
  map.has(name) || map.size < mostNames ? name : others

// -------------------------------------------------------------------------------------------------------------------
// Values
// -------------------------------------------------------------------------------------------------------------------

const ofGrpo = (metrics: GrpoMetrics): Readonly<Record<string, number | undefined>> => ({
  reward: metrics.rewardMean,
  parsed: metrics.parsed,
  correct: metrics.correct,
  steps: metrics.steps,
  entropy: metrics.entropy,
  surprisal: metrics.surprisal,
  zeroVariance: metrics.groups === 0 ? undefined : metrics.zeroVariance / metrics.groups,
  clipped: metrics.clipped,
  samplerDivergence: metrics.samplerDivergence,
  referenceDivergence: metrics.referenceDivergence,
  completionTokens: metrics.completionTokens,
  truncated: metrics.truncated,
  criticalPathSeconds: metrics.criticalPathSeconds,
  ...Object.fromEntries(metrics.rounds.map(({ correct, round }) => [`correct of round ${round}`, correct]))
})

/** What is drawn of an iteration, by name. */
const valuesOf = (metrics: Metrics): Readonly<Record<string, number | undefined>> => ({
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

const noKind = (): KindSum => ({ rollouts: 0, reward: 0, correct: 0, workflows: 0, steps: 0, workers: new Map() })

const addKind = (to: KindSum, from: KindSum): void => {
  to.rollouts += from.rollouts
  to.reward += from.reward
  to.correct += from.correct
  to.workflows += from.workflows
  to.steps += from.steps
  for (const [id, steps] of from.workers) {
    const name = nameIn(to.workers, id)
    to.workers.set(name, (to.workers.get(name) ?? 0) + steps)
  }
}

const kindSum = (kind: KindMetrics): KindSum => {
  const workflows = Object.values(kind.stepCounts).reduce((sum, count) => sum + count, 0)
  const { correct, rewardMean, rollouts, steps, workers } = kind
  return {
    rollouts,
    reward: rewardMean * rollouts,
    correct: correct * rollouts,
    workflows,
    steps: workflows === 0 ? 0 : steps * workflows,
    workers: new Map(Object.entries(workers))
  }
}

const bucketOf = (metrics: Metrics): Bucket => {
  const values = Object.entries(valuesOf(metrics)).filter(([, value]) => Number.isFinite(value))
  const kinds = metrics.type === "grpo" ? Object.entries(metrics.kinds) : []
  return {
    from: metrics.iteration,
    to: metrics.iteration,
    isGrpo: metrics.type === "grpo",
    values: new Map(values.map(([name, value]) => [name, { total: value!, count: 1 }])),
    kinds: new Map(kinds.map(([name, kind]) => [name, kindSum(kind)]))
  }
}

/** What the rollouts of all buckets came to, by kind. */
export const sumKinds = (buckets: ReadonlyArray<Bucket>): ReadonlyMap<string, KindSum> => {
  const sums = new Map<string, KindSum>()
  for (const [kind, sum] of buckets.flatMap(({ kinds }) => [...kinds])) {
    const name = nameIn(sums, kind)
    if (!sums.has(name)) sums.set(name, noKind())
    addKind(sums.get(name)!, sum)
  }
  return sums
}

/** Several neighbouring buckets as one. */
export const join = (buckets: ReadonlyArray<Bucket>): Bucket => {
  const values = new Map<string, Sum>()
  for (const [name, { count, total }] of buckets.flatMap((bucket) => [...bucket.values])) {
    const sum = values.get(name)
    if (sum === undefined) values.set(name, { count, total })
    else Object.assign(sum, { count: sum.count + count, total: sum.total + total })
  }
  return {
    from: buckets[0]!.from,
    to: buckets.at(-1)!.to,
    isGrpo: buckets.some(({ isGrpo }) => isGrpo),
    values,
    kinds: sumKinds(buckets)
  }
}

/** So many buckets at most, each of as many neighbours. */
export const regroup = (buckets: ReadonlyArray<Bucket>, most: number): ReadonlyArray<Bucket> => {
  const size = Math.max(1, Math.ceil(buckets.length / most))
  return Array.from({ length: Math.ceil(buckets.length / size) }, (_, index) =>
    join(buckets.slice(index * size, (index + 1) * size))
  )
}

/** The mean of a value in a bucket. */
export const mean = (bucket: Bucket, name: string): number | undefined => {
  const sum = bucket.values.get(name)
  return sum === undefined ? undefined : sum.total / sum.count
}

/** The names of all values that begin so. */
export const namesOf = (buckets: ReadonlyArray<Bucket>, prefix: string): ReadonlyArray<string> =>
  [...new Set(buckets.flatMap(({ values }) => [...values.keys()]))].filter((name) => name.startsWith(prefix)).sort()

// -------------------------------------------------------------------------------------------------------------------
// Recorder
// -------------------------------------------------------------------------------------------------------------------

const addPhase = (phases: Array<Phase>, { iteration, phase, type }: Metrics): void => {
  const last = phases.at(-1)
  if (last?.name === phase) phases[phases.length - 1] = { ...last, to: iteration }
  else if (phases.length < mostNames) phases.push({ name: phase, type, from: iteration, to: iteration })
}

/**
 * A recorder that has heard of nothing yet. Metrics come in the order of their iterations; an iteration that was done
 * again after a crash is the same, and is counted once.
 */
export const recorder = (): Recorder => {
  let buckets: Array<Bucket> = []
  let width = 1
  const phases: Array<Phase> = []
  const totals = { iterations: 0, costUsd: 0, millis: 0, rollouts: 0, calls: 0 }
  let last = -1

  const place = (bucket: Bucket): void => {
    const before = buckets.at(-1)
    const isNew = before === undefined || Math.floor(before.from / width) !== Math.floor(bucket.from / width)
    if (isNew) buckets.push(bucket)
    else buckets[buckets.length - 1] = join([before, bucket])
  }

  const add = (metrics: Metrics): void => {
    if (metrics.iteration <= last) return
    last = metrics.iteration
    addPhase(phases, metrics)
    place(bucketOf(metrics))
    totals.iterations += 1
    totals.costUsd = metrics.costUsd
    totals.millis += metrics.seconds.total * 1000
    if (metrics.type === "grpo") {
      totals.rollouts += metrics.rollouts
      totals.calls += metrics.calls.total
    }
    if (buckets.length <= mostBuckets) return
    width *= 2
    const finer = buckets
    buckets = []
    for (const bucket of finer) place(bucket)
  }

  return { add, curves: () => ({ ...totals, buckets, phases }) }
}
