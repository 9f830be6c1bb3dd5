/** The events of runs as tests draw them. */
import { type RunEvent, Transcript, type Workflow } from "@divisi/core"

export const runId = "run-1"

export const question = "How many minutes are there in 3 days, and what weekday is it 100 days after a Monday?"

export const workflow: Workflow.Workflow = {
  steps: [
    { worker: 1, subtask: "How many minutes are there in 3 days?", access: [] },
    { worker: 0, subtask: "What weekday is it 100 days after a Monday?", access: [] },
    { worker: 2, subtask: "Put both answers in one sentence.", access: "all" }
  ]
}

type Distribute<E> = E extends RunEvent.RunEvent ? Omit<E, "runId" | "at"> : never
export type Part = Distribute<RunEvent.RunEvent>

/** Events of one run, 100 ms apart from each other. */
export const events = (parts: ReadonlyArray<Part>, id: string = runId): ReadonlyArray<RunEvent.RunEvent> =>
  parts.map((part, index) => ({ ...part, runId: id, at: 1_000 + index * 100 }) as RunEvent.RunEvent)

export const started: Part = {
  type: "run-started",
  version: 1,
  task: { id: "task-1", messages: [{ role: "user", content: question }] },
  pool: [{ id: "calendar" }, { id: "units" }, { id: "generalist" }],
  policy: "lexical",
  seed: 0
}

export const proposed: ReadonlyArray<Part> = [
  { type: "round-started", round: 0 },
  { type: "workflow-proposed", round: 0, policy: "lexical", workflow, notes: [], durationMillis: 0 }
]

export const finished = (step: number, worker: string, answer: string): Part => ({
  type: "step-finished",
  round: 0,
  step,
  worker,
  answer,
  finishReason: "stop",
  durationMillis: 120,
  cached: false,
  usage: { inputTokens: 30, outputTokens: 10 },
  costUsd: 0.000012
})

export const ended: ReadonlyArray<Part> = [
  { type: "round-finished", round: 0, answer: "4320 minutes; it is a Wednesday.", confirmed: false },
  {
    type: "run-finished",
    ending: "answered",
    answer: "4320 minutes; it is a Wednesday.",
    spend: { usage: { inputTokens: 90, outputTokens: 30 }, costUsd: 0.000036, calls: 3, unpricedCalls: 0 },
    durationMillis: 1234
  }
]

export const running: ReadonlyArray<Part> = [
  started,
  ...proposed,
  { type: "step-started", round: 0, step: 0, worker: "units" },
  { type: "step-started", round: 0, step: 1, worker: "calendar" },
  { type: "step-delta", round: 0, step: 1, kind: "text", text: "It is a Wed" },
  finished(0, "units", "4320")
]

export const complete: ReadonlyArray<Part> = [
  ...running,
  finished(1, "calendar", "Wednesday"),
  { type: "step-started", round: 0, step: 2, worker: "generalist" },
  finished(2, "generalist", "4320 minutes; it is a Wednesday."),
  ...ended
]

export const fold = (list: ReadonlyArray<RunEvent.RunEvent>): Transcript.Transcript => {
  const run = Transcript.fromEvents(list)
  if (run === undefined) throw new Error("The events hold no run-started.")
  return run
}
