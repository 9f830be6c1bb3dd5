/** What a run did, round by round, folded from its events as far as a rollout needs it. */
import type { RunEvent } from "@divisi/core/RunEvent"
import * as Workflow from "@divisi/core/Workflow"

/** What one round did. */
export interface RoundFold {
  /** Why the completion could not be read. */
  unreadable: string | undefined
  workflow: Workflow.Workflow | undefined
  /** The worker of each step, after reassignment. */
  workers: Array<string>
  /** Why steps failed, in order. */
  readonly failures: Array<string>
  durations: Array<number>
  answer: string | undefined
  confirmed: boolean
  costUsd: number
  calls: number
  failedCalls: number
  cachedCalls: number
  inputTokens: number
  outputTokens: number
}

const emptyRound = (): RoundFold => ({
  unreadable: undefined,
  workflow: undefined,
  workers: [],
  failures: [],
  durations: [],
  answer: undefined,
  confirmed: false,
  costUsd: 0,
  calls: 0,
  failedCalls: 0,
  cachedCalls: 0,
  inputTokens: 0,
  outputTokens: 0
})

/** Collects the rounds of one run. */
export interface RunFold {
  readonly listener: (event: RunEvent) => void
  readonly rounds: ReadonlyArray<RoundFold>
}

const paid = (round: RoundFold, event: Extract<RunEvent, { readonly usage: unknown }>) => {
  round.costUsd += event.costUsd ?? 0
  round.calls += 1
  round.inputTokens += event.usage.inputTokens
  round.outputTokens += event.usage.outputTokens
}

const onRound = (round: RoundFold, event: Exclude<RunEvent, { readonly type: "run-started" | "run-finished" }>) => {
  switch (event.type) {
    case "completion-finished":
      round.unreadable = event.error
      return
    case "workflow-proposed":
      round.workflow = event.workflow
      return
    case "step-started":
      round.workers[event.step] = event.worker
      return
    case "step-reassigned":
      round.workers[event.step] = event.to
      return
    case "step-skipped":
      round.workers[event.step] = event.worker
      return
    case "step-finished":
      round.durations[event.step] = event.durationMillis
      if (event.cached) round.cachedCalls += 1
      paid(round, event)
      return
    case "step-failed":
      round.durations[event.step] = event.durationMillis
      round.failures.push(event.message)
      return
    case "call-failed":
    case "call-interrupted":
      // Without a step it is the policy's own.
      if (event.step === undefined) return
      round.failedCalls += 1
      paid(round, event)
      return
    case "round-finished":
      round.answer = event.answer
      round.confirmed = event.confirmed
  }
}

/** Makes a fold. */
export const make = (): RunFold => {
  const rounds: Array<RoundFold> = []
  return {
    rounds,
    listener: (event) => {
      if (event.type === "run-started" || event.type === "run-finished") return
      if (event.type === "round-started") rounds.push(emptyRound())
      else onRound(rounds[event.round]!, event)
    }
  }
}

/** The length of the longest chain of steps, in milliseconds. */
export const criticalPathMillis = ({ durations, workflow }: RoundFold): number => {
  if (workflow === undefined) return 0
  const ends: Array<number> = []
  workflow.steps.forEach((_, step) => {
    const before = Workflow.visible(workflow, step).map((earlier) => ends[earlier]!)
    ends.push(Math.max(0, ...before) + (durations[step] ?? 0))
  })
  return Math.max(0, ...ends)
}
