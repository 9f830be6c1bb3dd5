/** The beginning and the end of the reinforcement learning of a run, which a page sets side by side. */
import { type Bucket, type Curves, type KindSum, mean, sumKinds } from "./Curves.ts"

/** A part of a run. */
export interface Window {
  readonly from: number
  readonly to: number
  readonly kinds: ReadonlyMap<string, KindSum>
  /** The mean of a value over its iterations, by the names of `Curves`. */
  readonly mean: (name: string) => number | undefined
}

/** Two parts side by side. */
export interface Compared {
  readonly early: Window
  readonly late: Window
}

/** The share of a run that is its beginning, and its end. */
const share = 0.1

const windowOf = (buckets: ReadonlyArray<Bucket>): Window => ({
  from: buckets[0]!.from,
  to: buckets.at(-1)!.to,
  kinds: sumKinds(buckets),
  mean: (name) => {
    const values = buckets.flatMap((bucket) => mean(bucket, name) ?? [])
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length
  }
})

/** The first and the last tenth of the reinforcement learning; nothing when there was none. */
export const make = ({ buckets }: Curves): Compared | undefined => {
  const learned = buckets.filter(({ isGrpo }) => isGrpo)
  if (learned.length === 0) return undefined
  const size = Math.max(1, Math.round(learned.length * share))
  return { early: windowOf(learned.slice(0, size)), late: windowOf(learned.slice(-size)) }
}

/** Iterations as people count them here: from 0, as in the run's folder. */
export const name = ({ from, to }: Pick<Window, "from" | "to">): string =>
  from === to ? `iteration ${from}` : `iterations ${from} to ${to}`

/** All workers of a window's workflows together. */
export const workers = ({ kinds }: Pick<Window, "kinds">): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>()
  for (const [id, steps] of [...kinds.values()].flatMap((kind) => [...kind.workers])) {
    sums.set(id, (sums.get(id) ?? 0) + steps)
  }
  return sums
}

/** Enough iterations of a window for a rollout of every kind of task. */
const mostIterations = 8

/** Iterations of a window, evenly spread. */
export const sampled = ({ from, to }: Window): ReadonlyArray<number> => {
  const step = Math.max(1, (to - from) / (mostIterations - 1))
  const count = Math.floor((to - from) / step + 1e-9) + 1
  return Array.from({ length: count }, (_, index) => Math.round(from + index * step))
}
