/**
 * Divisi as most people use it: `conduct` with workers of async functions, and a policy that always writes the same
 * workflow. Each run proposes it anew and checks it anew, and has its transcript.
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

/** The list, a step with `each` for every stage, and a step that joins the last of them. */
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
  // A span for the run, for its round and for each step, and the transcript, read.
  prepareRecorded: async (workload) => {
    const [Telemetry, Tracer] = await Promise.all([import("@divisi/core/Telemetry"), import("effect/Tracer")])
    const options = { ...optionsOf(workload), telemetry: Telemetry.recorder(Tracer.nativeTracer) }
    return { run: async () => (await conduct(options)).transcript.answer ?? "" }
  },
  // Each run is in the journal, with a name of its own; the folder stays for as long as the process.
  prepareDurable: async (workload) => {
    const { openJournal } = await import("@divisi/files/promise")
    const options = { ...optionsOf(workload), journal: await openJournal({ file: temporaryFile("runs.sqlite") }) }
    return { run: async () => (await conduct(options)).answer ?? "" }
  },
  // The capped store is the response cache; each run has a seed of its own, so that it never finds an answer.
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
