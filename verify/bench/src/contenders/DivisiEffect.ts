/**
 * Divisi with Effect: a `Conductor` with a pool of workers, and a policy that always returns the same workflow. In each
 * run, the workflow is proposed and validated again, because workflows are data that arrive at run time.
 */

import type { RunEvent } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import { free } from "@divisi/core/Usage"
import type { Worker, WorkerPart } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { Contender } from "../Contender.ts"
import { temporaryFile } from "../temporary.ts"
import type { Workload } from "../Workload.ts"

const answer = (text: string): ReadonlyArray<WorkerPart> => [
  { type: "text", text },
  { type: "finish", reason: "stop", usage: { inputTokens: 0, outputTokens: 0 } }
]

/** Returns the worker that answers a step. */
const makeWorker = (worker: Workload["worker"], step: number): Worker => {
  const ask = worker(step)
  return {
    id: `worker-${step}`,
    pricing: free,
    generate: ({ messages }) =>
      Effect.map(
        Effect.promise(() => ask(messages)),
        answer
      )
  }
}

/** Returns a Conductor for a workload, whose policy always proposes the workload's plan. */
export const makeConductor = ({ plan, worker }: Workload) =>
  Conductor.make({
    pool: WorkerPool.makeUnsafe(plan.steps.map((_, step) => makeWorker(worker, step))),
    policy: Policy.fixed("bench", () => ({
      steps: plan.steps.map(({ access, subtask }, step) => ({ worker: step, subtask, access }))
    }))
  })

export const contender: Contender = {
  name: "divisiEffect",
  prepare: async (workload) => {
    const conductor = makeConductor(workload)
    const { question } = workload.plan
    return { run: () => Effect.runPromise(Effect.map(conductor.run(question), ({ answer }) => answer ?? "")) }
  },
  // Spans for the run, its round and each step, and a transcript folded from the events.
  prepareRecorded: async (workload) => {
    const [Telemetry, Transcript] = await Promise.all([
      import("@divisi/core/Telemetry"),
      import("@divisi/core").then(({ Transcript }) => Transcript)
    ])
    const conductor = makeConductor(workload)
    const program = Effect.gen(function* () {
      const trace = yield* Telemetry.listener()
      const recorder = Transcript.recorder()
      const listener = (event: RunEvent.RunEvent) => {
        trace(event)
        recorder.listener(event)
      }
      yield* conductor.run(workload.plan.question, { listener })
      return recorder.transcript()?.answer ?? ""
    })
    return { run: () => Effect.runPromise(program) }
  },
  prepareDurable: async (workload) => {
    const { DiskJournal } = await import("@divisi/files")
    const journal = await Effect.runPromise(
      Scope.provide(DiskJournal.make({ file: temporaryFile("runs.sqlite") }), Scope.makeUnsafe())
    )
    const conductor = makeConductor(workload)
    const run = Effect.suspend(() => conductor.run(workload.plan.question, { journal }))
    return { run: () => Effect.runPromise(Effect.map(run, ({ answer }) => answer ?? "")) }
  },
  // The size-limited store is the response cache. Each run has its own seed, so there are no cache hits.
  prepareStored: async (workload) => {
    const { layerMemory } = (await import("@divisi/core")).ResponseCache
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
