/** The simulation for a seed: the kind of world, and the number of task orders in which it is executed. */
import { Seed } from "@divisi/core"
import { loadAll } from "../../../packages/core/src/OnDemand.ts"
import * as Invariants from "./invariants.ts"
import { type Found, type Kind, SimulatedRuns } from "./SimulatedRuns.ts"

export type { Found }

// In a drawn order of tasks, nothing may wait for the disk, so all modules are loaded before.
await loadAll()

/** The number of orders of tasks in which one steady world is run. */
const orders = 2

/**
 * A world whose workers give the same answers in any order, run in several orders of its tasks. Its events must be the
 * same, except for times and the order of concurrent steps.
 */
const simulateSteady = async (seed: number): Promise<Found> => {
  const found = await new SimulatedRuns(seed, "steady", 0).simulate()
  const problems = [...found.problems]
  for (let order = 1; order < orders; order++) {
    const other = await new SimulatedRuns(seed, "steady", order).simulate()
    problems.push(...Invariants.ofOrders(found.events, other.events))
  }
  return { ...found, problems }
}

/** The kind of simulation of a seed. */
const kindOf = (seed: number): Kind => {
  const kind = Seed.below(Seed.draw(Seed.spread(seed, "kind")), 20)
  return kind === 0 ? "steady" : kind <= 5 ? "narrow" : "any"
}

/** Runs the simulation of a seed. */
export const simulate = async (seed: number): Promise<Found> => {
  const kind = kindOf(seed)
  return kind === "steady" ? simulateSteady(seed) : new SimulatedRuns(seed, kind, 0).simulate()
}
