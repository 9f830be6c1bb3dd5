/** The metrics of a run, by neighbouring iterations: a page of a long run is as long as that of a short one. */
import type { GrpoMetrics, Metrics } from "./Training.ts"

/** Neighbouring iterations, in order; one at least. */
export type Bucket<A extends Metrics = Metrics> = ReadonlyArray<A>

/** The value of an iteration, or `undefined` if it has no value. */
export type Value = (metrics: Metrics) => number | undefined

/** The sums of the rollouts of a kind. */
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

/** A phase as it was run. */
export interface Phase {
  readonly name: string
  readonly from: number
  readonly to: number
}

/** The iterations in their order. One that was done again after a crash is the same, and is counted once. */
export const once = (metrics: ReadonlyArray<Metrics>): ReadonlyArray<Metrics> => {
  let last = -1
  return metrics.filter(({ iteration }) => {
    const isNew = iteration > last
    last = Math.max(last, iteration)
    return isNew
  })
}

/** The iterations of reinforcement learning. */
export const learned = (metrics: ReadonlyArray<Metrics>): ReadonlyArray<GrpoMetrics> =>
  metrics.filter((one) => one.type === "grpo")

/** A value that only reinforcement learning has. */
export const ofGrpo =
  (value: (metrics: GrpoMetrics) => number | undefined): Value =>
  (metrics) =>
    metrics.type === "grpo" ? value(metrics) : undefined

/** At most `most` buckets of neighbouring iterations, all of one size. */
export const buckets = <A extends Metrics>(metrics: ReadonlyArray<A>, most: number): ReadonlyArray<Bucket<A>> => {
  const size = Math.max(1, Math.ceil(metrics.length / most))
  return Array.from({ length: Math.ceil(metrics.length / size) }, (_, index) =>
    metrics.slice(index * size, (index + 1) * size)
  )
}

/** The first and the last iteration of a bucket. */
export const endsOf = (bucket: Bucket) => ({ from: bucket[0]!.iteration, to: bucket.at(-1)!.iteration })

/** Returns the position of a bucket in a picture. */
export const middle = (bucket: Bucket): number => (bucket[0]!.iteration + bucket.at(-1)!.iteration) / 2

/** The mean of a value over those iterations of a bucket that have it. */
export const mean = (bucket: Bucket, value: Value): number | undefined => {
  const values = bucket.flatMap((metrics) => value(metrics) ?? []).filter(Number.isFinite)
  return values.length === 0 ? undefined : values.reduce((sum, one) => sum + one, 0) / values.length
}

/** Names beyond these are counted together: a page has to end. */
const mostNames = 48
const others = "others"

const nameIn = (known: ReadonlyMap<string, unknown>, name: string): string =>
  known.has(name) || known.size < mostNames ? name : others

/** Numbers by name, added up. */
export const sums = (all: Iterable<readonly [string, number]>): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  for (const [given, value] of all) {
    const name = nameIn(found, given)
    found.set(name, (found.get(name) ?? 0) + value)
  }
  return found
}

/** Returns the sums of a bucket's rollouts, by kind. */
export const kinds = (bucket: Bucket): ReadonlyMap<string, KindSum> => {
  const groups = new Map<string, Array<GrpoMetrics["kinds"][string]>>()
  for (const [given, kind] of learned(bucket).flatMap((one) => Object.entries(one.kinds))) {
    const name = nameIn(groups, given)
    groups.set(name, [...(groups.get(name) ?? []), kind])
  }
  return new Map([...groups].map(([name, group]) => [name, kindSum(group)]))
}

const kindSum = (group: ReadonlyArray<GrpoMetrics["kinds"][string]>): KindSum => {
  const add = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0)
  const workflows = group.map(({ stepCounts }) => add(Object.values(stepCounts)))
  return {
    rollouts: add(group.map(({ rollouts }) => rollouts)),
    correct: add(group.map(({ correct, rollouts }) => correct * rollouts)),
    workflows: add(workflows),
    // The mean of no workflows is undefined.
    steps: add(group.map(({ steps }, index) => (workflows[index] === 0 ? 0 : steps * workflows[index]!))),
    workers: sums(group.flatMap(({ workers }) => Object.entries(workers)))
  }
}

/** Steps given to each worker in a bucket. */
export const workers = (bucket: Bucket): ReadonlyMap<string, number> =>
  sums([...kinds(bucket).values()].flatMap((kind) => [...kind.workers]))

/** The phases, in the order in which they were run. */
export const phases = (metrics: ReadonlyArray<Metrics>): ReadonlyArray<Phase> =>
  [...Map.groupBy(metrics, ({ phase }) => phase)].slice(0, mostNames).map(([name, part]) => ({ name, ...endsOf(part) }))
