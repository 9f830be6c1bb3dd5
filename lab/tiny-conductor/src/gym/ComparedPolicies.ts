/**
 * Baselines to compare a Conductor with in the gym: single workers, the usual baselines, a majority vote of all
 * workers, and the oracle.
 */

import { Baselines } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { OraclePolicy } from "@divisi/gym"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"

/** Retries without delay: an overloaded worker of the gym has recovered by the next call. */
export const retry = { maxAttempts: 5, baseDelayMillis: 0, maxDelayMillis: 0 }

const everyone = (pool: WorkerPool.WorkerPool) =>
  Policy.fixed(
    "majority-of-all",
    (pool) => ({
      steps: pool.workers.map((_, worker) => ({ worker, subtask: "", access: [] })),
      answer: "majority"
    }),
    { maxSteps: WorkerPool.size(pool) }
  )

/** The policies for the whole pool of the gym. Where one worker has to be the one, it is the best: the professor. */
export const policies = (pool: WorkerPool.WorkerPool): ReadonlyArray<Policy.Policy> => [
  ...WorkerPool.ids(pool).map((id) => Baselines.single(id)),
  Baselines.randomRouter({ seed: 1 }),
  Baselines.bestOf({ n: 3, workers: ["professor", "editor", "engineer"], judge: "professor" }),
  Baselines.selfConsistency({ worker: "professor" }),
  Baselines.selfReflection({ worker: "professor" }),
  Baselines.mixtureOfAgents({ aggregator: "professor" }),
  everyone(pool),
  LexicalPolicy.make(),
  OraclePolicy.make()
]
