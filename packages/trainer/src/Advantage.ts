/**
 * Advantages: how much better a completion is than its group (paper, section 2).
 *
 * Suffixes of names denote shapes: `G` for the members of a group, `R` for the rounds of a rollout.
 */
import type { AdvantageConfig } from "./TrainingConfig.ts"

/** The advantages of a group. */
export interface Advantages {
  /** The advantage of each member. */
  readonly advantages_G: ReadonlyArray<number>
  /** Whether all rewards are equal; the advantages are then all 0. */
  readonly isZeroVariance: boolean
}

/** Rewards that differ by less are equal: penalties are sums of floating-point numbers. */
const tolerance = 1e-9

const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * Returns the mean and the population standard deviation.
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
 * Returns the advantages of the members of a group.
 *
 * **Details**
 *
 * An advantage is the reward minus the group's mean, divided by the group's standard deviation. Settings can omit the
 * division, or use the mean of the other members.
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
  // The mean of the others is further away: r - (S - r) / (G - 1) = (r - S / G) G / (G - 1).
  const scale = (config.baseline === "leave-one-out" ? size / (size - 1) : 1) / (config.divideByStd ? std : 1)
  return { advantages_G: rewards_G.map((reward) => (reward - mean) * scale), isZeroVariance: false }
}

/**
 * Returns the advantages of a group of rollouts with recursive rounds.
 *
 * **Details**
 *
 * Each round is normalized separately, over the rollouts that reached it. The first round of a group with recursive
 * rounds is multiplied by `recursionDiscount`. The factor applies to the advantages, because on the rewards it would
 * cancel out in the normalization.
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
  /** Whether all rewards are equal, by round. */
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
