/** Measured token usage of rollouts. */
import type { RunEvent } from "@divisi/core"

/** Token usage of one worker call. */
export interface CallSample {
  readonly worker: string
  readonly inputTokens: number
  readonly outputTokens: number
}

/** Completion of one round, with the worker calls it caused. */
export interface RolloutSample {
  readonly completionTokens: number
  readonly calls: ReadonlyArray<CallSample>
}

/** Measured rollouts, and whether the answer tokens were counted or assumed. */
export interface Samples {
  readonly tokens: "assumed" | "counted"
  /** Token count of each policy prompt. */
  readonly promptTokens: ReadonlyArray<number>
  readonly rollouts: ReadonlyArray<RolloutSample>
}

/** Creates a recorder for the calls of consecutive runs. */
export const recorder = () => {
  let calls: Array<CallSample> = []
  const listener = (event: RunEvent.RunEvent): void => {
    if (event.type !== "step-finished") return
    const { inputTokens, outputTokens } = event.usage
    calls.push({ worker: event.worker, inputTokens, outputTokens })
  }
  /** Returns the calls recorded since the previous `take`. */
  const take = (): ReadonlyArray<CallSample> => {
    const taken = calls
    calls = []
    return taken
  }
  return { listener, take }
}
