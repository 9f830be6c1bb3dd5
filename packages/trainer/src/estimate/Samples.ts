/** The token usage of a rollout, as measured by a rehearsal. */
import type { RunEvent } from "@divisi/core"

/** A worker call, in tokens. */
export interface CallSample {
  readonly worker: string
  readonly inputTokens: number
  readonly outputTokens: number
}

/** The completion of one round, and the resulting worker calls. */
export interface RolloutSample {
  readonly completionTokens: number
  readonly calls: ReadonlyArray<CallSample>
}

/** Rollouts, and whether the tokens of their answers were counted or assumed. */
export interface Samples {
  readonly tokens: "assumed" | "counted"
  /** The token counts of the policy's prompts. */
  readonly promptTokens: ReadonlyArray<number>
  readonly rollouts: ReadonlyArray<RolloutSample>
}

/** Makes a recorder of the calls of consecutive runs. */
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
