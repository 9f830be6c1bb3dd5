/** The beginning and the end of the reinforcement learning of a run, which a page sets side by side. */
import { type Bucket, endsOf, learned } from "./Curves.ts"
import type { Metrics } from "./Training.ts"

/** Two parts of a run. */
export interface Compared {
  readonly early: Bucket
  readonly late: Bucket
}

/** The share of a run that is its beginning, and its end. */
const share = 0.1

/**
 * Returns the first and the last tenth of the reinforcement learning, or nothing if there was no reinforcement
 * learning.
 */
export const make = (metrics: ReadonlyArray<Metrics>): Compared | undefined => {
  const all = learned(metrics)
  const size = Math.max(1, Math.round(all.length * share))
  return all.length === 0 ? undefined : { early: all.slice(0, size), late: all.slice(-size) }
}

/** Iterations as people count them here: from 0, as in the run's folder. */
export const name = ({ from, to }: { readonly from: number; readonly to: number }): string =>
  from === to ? `iteration ${from}` : `iterations ${from} to ${to}`

/** Enough iterations of a part for a rollout of every kind of task. */
const mostIterations = 8

/** Iterations of a part, evenly spread. */
export const sampled = (bucket: Bucket): ReadonlyArray<number> => {
  const { from, to } = endsOf(bucket)
  const step = Math.max(1, (to - from) / (mostIterations - 1))
  const count = Math.floor((to - from) / step + 1e-9) + 1
  return Array.from({ length: count }, (_, index) => Math.round(from + index * step))
}
