/** Runs of a session, made up: what happened when, at what cost. Times are in milliseconds from the first. */
import { type RunEvent, Transcript } from "@divisi/core"
import * as Task from "@divisi/core/Task"

/** When a session begins, in milliseconds since 1970. */
export const begin = Date.UTC(2026, 10, 25, 9)

type Told = RunEvent.RunEvent extends infer One
  ? One extends RunEvent.RunEvent
    ? Omit<One, "runId" | "at">
    : never
  : never

const paid = (inputTokens: number, outputTokens: number, costUsd: number | undefined) => ({
  usage: { inputTokens, outputTokens },
  costUsd
})

const steps = [
  { worker: 0, subtask: "Look.", access: [] },
  { worker: 1, subtask: "", access: "all" as const }
]

const toolCall = { id: "call", name: "read", arguments: "{}" }

/** A run: a plan, a step that advises, one that answers with a tool, and a call that fails before it. */
export const run = (runId: string, from: number, question: string): Transcript.Transcript => {
  const told: ReadonlyArray<readonly [at: number, event: Told]> = [
    [
      0,
      {
        type: "run-started",
        task: Task.make({ question }),
        pool: [{ id: "small" }, { id: "large" }],
        policy: "planner",
        seed: 1,
        version: 1
      } as unknown as Told
    ],
    [0, { type: "round-started", round: 0 }],
    [
      1_000,
      { type: "completion-finished", round: 0, attempt: 0, completion: "…", cached: false, ...paid(100, 10, 0.01) }
    ],
    [
      1_000,
      { type: "workflow-proposed", round: 0, policy: "planner", workflow: { steps }, notes: [], durationMillis: 1_000 }
    ],
    [1_000, { type: "step-started", round: 0, step: 0, worker: "small" }],
    [
      3_000,
      {
        type: "step-finished",
        round: 0,
        step: 0,
        worker: "small",
        answer: "It is there.",
        finishReason: "stop",
        durationMillis: 2_000,
        cached: false,
        ...paid(200, 20, 0.02)
      }
    ],
    [3_000, { type: "step-started", round: 0, step: 1, worker: "large" }],
    [
      3_500,
      {
        type: "call-failed",
        round: 0,
        step: 1,
        worker: "large",
        attempt: 0,
        reason: { _tag: "Overloaded" },
        message: "large is overloaded",
        retryInMillis: 500,
        ...paid(0, 0, 0)
      } as unknown as Told
    ],
    [
      5_000,
      {
        type: "turn-finished",
        round: 0,
        step: 1,
        turn: 0,
        worker: "large",
        text: "",
        toolCalls: [toolCall],
        durationMillis: 2_000,
        cached: false,
        ...paid(300, 30, 0.3)
      }
    ],
    [5_000, { type: "tool-started", round: 0, step: 1, turn: 0, index: 0, name: "read" }],
    [
      9_000,
      {
        type: "tool-finished",
        round: 0,
        step: 1,
        turn: 0,
        index: 0,
        name: "read",
        content: "42",
        isError: false,
        durationMillis: 4_000
      }
    ],
    [
      10_000,
      {
        type: "step-finished",
        round: 0,
        step: 1,
        worker: "large",
        answer: "The secret answer.",
        finishReason: "stop",
        durationMillis: 7_000,
        cached: false,
        ...paid(400, 40, 0.4)
      }
    ],
    [10_000, { type: "round-finished", round: 0, answer: "The secret answer.", confirmed: false }]
  ]
  const events = told.map(([at, event]) => ({ ...event, runId, at: begin + from + at }) as RunEvent.RunEvent)
  const all = Transcript.fromEvents(events)!
  const end = {
    type: "run-finished",
    runId,
    at: begin + from + 10_000,
    ending: "answered",
    answer: "The secret answer.",
    spend: Transcript.spendSoFar(all),
    durationMillis: 10_000
  } as RunEvent.RunEvent
  return Transcript.fromEvents([...events, end])!
}
