/** Checks training metrics for phases that had no training signal, and reports the reason. */
import type { GrpoMetrics, Metrics } from "./Metrics.ts"

/** A reinforcement learning phase in which no group of rollouts had a training signal. */
export interface Unlearned {
  readonly phase: string
  /** Human-readable reason. */
  readonly why: string
}

const whyOf = (metrics: ReadonlyArray<GrpoMetrics>): string => {
  const sum = (of: (one: GrpoMetrics) => number) => metrics.reduce((total, one) => total + of(one), 0)
  const rollouts = sum((one) => one.rollouts)
  const lost = sum((one) => one.lost ?? 0)
  const lostTo = [...new Set(metrics.flatMap(({ lostTo = {} }) => Object.keys(lostTo)))].join("; ")
  if (rollouts > 0 && lost === rollouts) return `all ${rollouts} rollouts were lost because workers failed (${lostTo})`
  const counted = metrics.filter((one) => one.rollouts > one.dropped)
  if (counted.length === 0) return `all ${rollouts} rollouts were dropped`
  const rest = lost === 0 ? "" : `; ${lost} of ${rollouts} rollouts were lost because workers failed`
  if (counted.every(({ parsed }) => parsed === 0)) {
    return lost === 0
      ? "no completion was a valid workflow"
      : `all ${lost} valid rollouts were lost because workers failed (${lostTo})`
  }
  const [first] = counted
  const isSame = counted.every(({ rewardMean }) => rewardMean === first!.rewardMean)
  return `all rewards within each question were equal${isSame ? ` (${Number(first!.rewardMean.toPrecision(3))})` : ""}${rest}`
}

/** Returns the completed phases that had no training signal. Phases whose metrics lack this information are skipped. */
export const unlearned = (metrics: ReadonlyArray<Metrics>): ReadonlyArray<Unlearned> => {
  const phases = new Map<string, Array<GrpoMetrics>>()
  for (const one of metrics) {
    if (one.type === "grpo") phases.set(one.phase, [...(phases.get(one.phase) ?? []), one])
  }
  return [...phases].flatMap(([phase, of]) =>
    of.some(({ taught }) => taught === undefined || taught > 0) ? [] : [{ phase, why: whyOf(of) }]
  )
}
