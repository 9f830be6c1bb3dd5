/** The simulation of a seed: of which kind its world is, and in how many orders of its tasks it is run. */
import { Baselines, Seed } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Invariants from "./invariants.ts"
import { type Found, type Kind, SimulatedRuns } from "./SimulatedRuns.ts"

export type { Found }

/** Says one word, in a stream. */
const herald: Worker = {
  id: "herald",
  generate: () =>
    Stream.make(
      { type: "text", text: "Begin." },
      { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } }
    )
}

// Streams are loaded with the first answer in pieces. A drawn order knows of no disk that it would have to wait for.
await Effect.runPromise(
  Conductor.make({ pool: WorkerPool.makeUnsafe([herald]), policy: Baselines.single(0) }).run("Begin.")
)

/** How many orders of tasks one steady world is run in. */
const orders = 2

/**
 * A world whose workers give the same answers in any order, run in several orders of its tasks: what happens is the
 * same, but for the time and the order of steps that run at once.
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

/** What a seed is of. */
const kindOf = (seed: number): Kind => {
  const kind = Seed.below(Seed.draw(Seed.spread(seed, "kind")), 20)
  return kind === 0 ? "steady" : kind <= 5 ? "narrow" : "any"
}

/** Runs the simulation of a seed. */
export const simulate = async (seed: number): Promise<Found> => {
  const kind = kindOf(seed)
  return kind === "steady" ? simulateSteady(seed) : new SimulatedRuns(seed, kind, 0).simulate()
}
