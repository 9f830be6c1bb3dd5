/** The beginning and the end of the reinforcement learning of a run, which a report sets side by side. */
import { type Bucket, type Curves, type KindSum, mean, sumKinds } from "./Curves.ts"

/** A part of a run. */
export interface Window {
  readonly from: number
  readonly to: number
  readonly kinds: ReadonlyMap<string, KindSum>
  /** The mean of a value over its iterations, by the names of `Curves`. */
  readonly mean: (name: string) => number | undefined
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
export const make = ({ buckets }: Curves): { readonly early: Window; readonly late: Window } | undefined => {
  const grpo = buckets.filter(({ isGrpo }) => isGrpo)
  if (grpo.length === 0) return undefined
  const size = Math.max(1, Math.round(grpo.length * share))
  return { early: windowOf(grpo.slice(0, size)), late: windowOf(grpo.slice(-size)) }
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
