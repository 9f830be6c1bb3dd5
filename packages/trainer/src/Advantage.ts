/**
 * Computes advantages: how much better a completion is than the other completions of its group (paper, section 2).
 *
 * Name suffixes denote array shapes: `G` for group members, `R` for the rounds of a rollout.
 */
import type { AdvantageConfig } from "./TrainingConfig.ts"

/** Advantages of the members of a group. */
export interface Advantages {
  /** Advantage of each member, in group order. */
  readonly advantages_G: ReadonlyArray<number>
  /** Whether all rewards of the group are equal. All advantages are then 0. */
  readonly isZeroVariance: boolean
}

/** Rewards that differ by less than this are treated as equal, because penalties are sums of floating-point numbers. */
const tolerance = 1e-9

const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * Returns the mean and the population standard deviation of the values.
 *
 * **Example**
 *
 * ```ts
 * import { Advantage } from "@divisi/trainer"
 *
 * Advantage.moments([1, 0, 1, 0]) // => { mean: 0.5, std: 0.5 }
 * ```
 */
export const moments = (values: ReadonlyArray<number>): { readonly mean: number; readonly std: number } => {
  if (values.length === 0) return { mean: 0, std: 0 }
  const centre = mean(values)
  return { mean: centre, std: Math.sqrt(mean(values.map((value) => (value - centre) ** 2))) }
}

/**
 * Returns the advantage of each group member.
 *
 * **Details**
 *
 * An advantage is the reward minus the group mean, divided by the group's standard deviation. `config` can turn off the
 * division, or use the mean of the other members as the baseline.
 *
 * **Example**
 *
 * ```ts
 * import { Advantage } from "@divisi/trainer"
 *
 * const settings = { baseline: "group", divideByStd: true } as const
 * Advantage.ofGroup([1, 0, 1, 0], settings).advantages_G // => [1, -1, 1, -1]
 * Advantage.ofGroup([0.5, 0.5], settings).isZeroVariance // => true
 * ```
 */
export const ofGroup = (
  rewards_G: ReadonlyArray<number>,
  config: Pick<AdvantageConfig, "baseline" | "divideByStd">
): Advantages => {
  const size = rewards_G.length
  if (size < 2 || Math.max(...rewards_G) - Math.min(...rewards_G) < tolerance) {
    return { advantages_G: rewards_G.map(() => 0), isZeroVariance: true }
  }
  const { mean, std } = moments(rewards_G)
  // The leave-one-out mean lies further from the reward: r - (S - r) / (G - 1) = (r - S / G) G / (G - 1).
  const scale = (config.baseline === "leave-one-out" ? size / (size - 1) : 1) / (config.divideByStd ? std : 1)
  return { advantages_G: rewards_G.map((reward) => (reward - mean) * scale), isZeroVariance: false }
}

/**
 * Returns the advantages for a group of rollouts with several rounds.
 *
 * **Details**
 *
 * Each round is normalized separately, over the rollouts that reached it. In groups with recursive rounds, the
 * advantages of the first round are multiplied by `recursionDiscount`. The factor is applied to the advantages, because
 * normalization would cancel it out if it were applied to the rewards.
 *
 * **Example**
 *
 * ```ts
 * import { Advantage } from "@divisi/trainer"
 *
 * const settings = { baseline: "group", divideByStd: true, recursionDiscount: 0.25 } as const
 * // The last of three could not be read in its first round, and so had no second.
 * const { advantages_G_R } = Advantage.ofRounds([[1, 0.5], [1, 1], [0.25]], true, settings)
 * advantages_G_R.map((rounds) => rounds.length) // => [2, 2, 1]
 * advantages_G_R.map((rounds) => rounds[1]) // => [-1, 1, undefined]
 * ```
 */
export const ofRounds = (
  rewards_G_R: ReadonlyArray<ReadonlyArray<number>>,
  isRecursive: boolean,
  config: Pick<AdvantageConfig, "baseline" | "divideByStd" | "recursionDiscount">
): {
  readonly advantages_G_R: ReadonlyArray<ReadonlyArray<number>>
  /** For each round, whether all rewards are equal. */
  readonly isZeroVariance_R: ReadonlyArray<boolean>
} => {
  const rounds = Math.max(0, ...rewards_G_R.map((rewards_R) => rewards_R.length))
  const advantages_G_R: ReadonlyArray<Array<number>> = rewards_G_R.map(() => [])
  const isZeroVariance_R: Array<boolean> = []
  for (let round = 0; round < rounds; round++) {
    const members = rewards_G_R.flatMap((rewards_R, member) => (round < rewards_R.length ? [member] : []))
    const { advantages_G, isZeroVariance } = ofGroup(
      members.map((member) => rewards_G_R[member]![round]!),
      config
    )
    const factor = round === 0 && isRecursive ? config.recursionDiscount : 1
    members.forEach((member, at) => {
      advantages_G_R[member]![round] = factor * advantages_G[at]!
    })
    isZeroVariance_R.push(isZeroVariance)
  }
  return { advantages_G_R, isZeroVariance_R }
}
