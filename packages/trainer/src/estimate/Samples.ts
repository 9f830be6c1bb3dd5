/** The token usage of a rollout, as measured by a rehearsal. */
import type { RunEvent } from "@divisi/core"

/** A call of a worker, in tokens. */
export interface CallSample {
  readonly worker: string
  readonly inputTokens: number
  readonly outputTokens: number
}

/** The completion of one round, and the calls it led to. */
export interface RolloutSample {
  readonly completionTokens: number
  readonly calls: ReadonlyArray<CallSample>
}

/** Rollouts, and whether the tokens of their answers are assumed or were counted. */
export interface Samples {
  readonly tokens: "assumed" | "counted"
  /** Tokens of the prompts that the policy was shown. */
  readonly promptTokens: ReadonlyArray<number>
  readonly rollouts: ReadonlyArray<RolloutSample>
}

/** Keeps the calls of runs, one after another. */
export const recorder = () => {
  let calls: Array<CallSample> = []
  const listener = (event: RunEvent.RunEvent): void => {
    if (event.type !== "step-finished") return
    const { inputTokens, outputTokens } = event.usage
    calls.push({ worker: event.worker, inputTokens, outputTokens })
  }
  /** The calls since the last time. */
  const take = (): ReadonlyArray<CallSample> => {
    const taken = calls
    calls = []
    return taken
  }
  return { listener, take }
}
