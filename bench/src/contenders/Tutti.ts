/**
 * Tutti: a `Conductor` over a pool of workers, with a policy that always writes the same workflow. The policy proposes
 * it anew in each run, and the Conductor checks it anew: its workflows are data that arrive at run time.
 */
import * as Conductor from "@tutti/core/Conductor"
import * as Policy from "@tutti/core/Policy"
import { free, type Worker, type WorkerPart } from "@tutti/core/Worker"
import * as WorkerPool from "@tutti/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Contender } from "../Contender.ts"
import { type Workload, work } from "../Workload.ts"

/** The worker that answers a step. */
const worker = (wait: Workload["wait"], step: number): Worker => {
  const parts = (text: string): ReadonlyArray<WorkerPart> => [
    { type: "text", text },
    { type: "finish", reason: "stop", usage: { inputTokens: 0, outputTokens: 0 } }
  ]
  return {
    id: `worker-${step}`,
    pricing: free,
    generate: ({ messages }) => {
      const answer = Stream.fromArray(parts(work(messages)))
      const waiting = wait(step)
      return waiting === undefined
        ? answer
        : Stream.unwrap(
            Effect.as(
              Effect.promise(() => waiting),
              answer
            )
          )
    }
  }
}

const makeConductor = ({ plan, wait }: Workload) =>
  Conductor.make({
    pool: WorkerPool.makeUnsafe(plan.steps.map((_, step) => worker(wait, step))),
    policy: Policy.fixed("bench", () => ({
      steps: plan.steps.map(({ access, subtask }, step) => ({ worker: step, subtask, access }))
    }))
  })

export const contender: Contender = {
  name: "tutti",
  prepare: async (workload) => {
    const conductor = makeConductor(workload)
    const { question } = workload.plan
    return { run: () => Effect.runPromise(Effect.map(conductor.run(question), ({ answer }) => answer ?? "")) }
  },
  // The capped store is the response cache; each run has a seed of its own, so that it never finds an answer.
  prepareStored: async (workload) => {
    const { layerMemory } = await import("@tutti/core/ResponseCache")
    const conductor = makeConductor(workload)
    const context = await Effect.runPromise(Effect.provide(Effect.context<never>(), layerMemory({ maxEntries: 1000 })))
    const runPromise = Effect.runPromiseWith(context)
    let runs = 0
    return {
      run: () =>
        runPromise(Effect.map(conductor.run(workload.plan.question, { seed: runs++ }), ({ answer }) => answer ?? ""))
    }
  }
}
