/**
 * Divisi through its Promise API: `conduct` with workers that are async functions, and a policy that always returns the
 * same workflow. In each run, the workflow is proposed and validated again, and a transcript is recorded.
 */
import { conduct, free, memoryCache, policy, worker as workerOf } from "@divisi/core/promise"
import type { Contender } from "../Contender.ts"
import { expertWorker, lastWorker, listWorker, type Mapping, type Panel, stageWorker } from "../Programs.ts"
import { temporaryFile } from "../temporary.ts"
import type { Shown, Workload } from "../Workload.ts"

const optionsOf = ({ plan, worker }: Workload) => ({
  question: plan.question,
  pool: plan.steps.map((_, step) => {
    const ask = worker(step)
    return workerOf({ id: `worker-${step}`, pricing: free, answer: ({ messages }) => ask(messages) })
  }),
  policy: policy("bench", () => ({
    steps: plan.steps.map(({ access, subtask }, step) => ({ worker: step, subtask, access }))
  }))
})

const freeWorker = (id: string, ask: (messages: Shown) => Promise<string>) =>
  workerOf({ id, pricing: free, answer: ({ messages }) => ask(messages) })

/** Returns the list step, a step with `each` for every stage, and a step that joins the results of the last stage. */
const mappingOf = (mapping: Mapping) => {
  const { atOnce, items, join, question, stages } = mapping
  const last = stages.length + 1
  return {
    question,
    maxItems: items.length * stages.length,
    itemsAtOnce: atOnce,
    pool: [
      freeWorker("list", listWorker(mapping)),
      ...stages.map((_, stage) => freeWorker(`stage-${stage}`, stageWorker(mapping, stage))),
      freeWorker("join", lastWorker)
    ],
    policy: policy("map", () => ({
      steps: [
        { worker: 0, subtask: "List the files.", access: [], gives: { list: items.length } },
        ...stages.map(({ subtask }, stage) => ({
          worker: stage + 1,
          subtask,
          access: stage === 0 ? [] : [stage],
          each: stage
        })),
        { worker: last, subtask: join, access: [last - 1] }
      ]
    }))
  }
}

const panelOf = (panel: Panel) => {
  const { enough, experts, graceMillis, judge, question } = panel
  return {
    question,
    maxSteps: experts.length + 1,
    pool: [
      ...experts.map((_, expert) => freeWorker(`expert-${expert}`, expertWorker(panel, expert))),
      freeWorker("judge", lastWorker)
    ],
    policy: policy("panel", () => ({
      steps: [
        ...experts.map(({ subtask }, worker) => ({ worker, subtask, access: [] })),
        { worker: experts.length, subtask: judge, access: "all" as const, enough: { answers: enough, graceMillis } }
      ]
    }))
  }
}

export const contender: Contender = {
  name: "divisi",
  prepare: async (workload) => {
    const options = optionsOf(workload)
    return { run: async () => (await conduct(options)).answer ?? "" }
  },
  // Spans for the run, its round and each step, and a transcript that is read.
  prepareRecorded: async (workload) => {
    const [Telemetry, Tracer] = await Promise.all([import("@divisi/core/Telemetry"), import("effect/Tracer")])
    const options = { ...optionsOf(workload), telemetry: Telemetry.recorder(Tracer.nativeTracer) }
    return { run: async () => (await conduct(options)).transcript.answer ?? "" }
  },
  // Each run has a unique name in the journal. The folder remains until the process exits.
  prepareDurable: async (workload) => {
    const { openJournal } = await import("@divisi/files/promise")
    const options = { ...optionsOf(workload), journal: await openJournal({ file: temporaryFile("runs.sqlite") }) }
    return { run: async () => (await conduct(options)).answer ?? "" }
  },
  // The size-limited store is the response cache. Each run has its own seed, so there are no cache hits.
  prepareStored: async (workload) => {
    const options = { ...optionsOf(workload), cache: memoryCache({ maxEntries: 1000 }) }
    let runs = 0
    return { run: async () => (await conduct({ ...options, seed: runs++ })).answer ?? "" }
  },
  prepareMapping: async (mapping) => {
    const options = mappingOf(mapping)
    return { run: async () => (await conduct(options)).answer ?? "" }
  },
  preparePanel: async (panel) => {
    const options = panelOf(panel)
    return { run: async () => (await conduct(options)).answer ?? "" }
  }
}
