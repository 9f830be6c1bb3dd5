/** Samples, made up but true to shape. */
import type * as Report from "../src/report/Report.ts"

export interface Given {
  readonly policy: string
  readonly task: string
  readonly epoch?: number
  readonly correct?: boolean
  readonly answer?: string
  readonly worker?: string
  readonly costUsd?: number
  readonly benchmark?: string
  readonly missing?: Report.Missing
  readonly subtask?: string
}

export const sample = (given: Given): Report.Sample => {
  const { answer = "42", benchmark = "mine", correct = false, costUsd = 0.01, epoch = 0, missing, policy, task } = given
  const verdict = missing === undefined ? { score: correct ? 1 : 0, correct, rung: "text" } : { missing }
  return {
    version: 1,
    benchmark,
    task,
    epoch,
    policy,
    seed: 1,
    promptSha256: "0",
    ending: "answered",
    answer,
    extracted: answer,
    ...verdict,
    costUsd,
    unpricedCalls: 0,
    inputTokens: 10,
    outputTokens: 5,
    calls: 1,
    failedCalls: 0,
    millis: 100,
    rounds: 1,
    steps: [
      {
        round: 0,
        step: 0,
        worker: given.worker ?? "a",
        state: "answered",
        access: [],
        subtask: given.subtask ?? "",
        failedCalls: 0,
        inputTokens: 10,
        outputTokens: 5,
        costUsd,
        millis: 100
      }
    ],
    shape: "single",
    criticalPath: { steps: [0], millis: 100 }
  }
}
