/** A report and its samples, made up but true to shape. */
import * as Report from "@divisi/evals/Report"

export interface Given {
  readonly policy: string
  readonly task: string
  readonly epoch?: number | undefined
  readonly correct?: boolean | undefined
  readonly answer?: string | undefined
  readonly worker?: string | undefined
  readonly costUsd?: number | undefined
  readonly benchmark?: string | undefined
  readonly missing?: Report.Missing | undefined
  readonly subtask?: string | undefined
  readonly failure?: string | undefined
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
    failure: given.failure,
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

const benchmarkOf = (benchmark: string, isConfidential: boolean): Report.BenchmarkRecord => ({
  benchmark,
  title: benchmark,
  isConfidential,
  grader: "text",
  prompt: "plain",
  licence: "MIT",
  files: [],
  available: 10,
  selected: 4,
  seed: 0,
  idsSha256: "abc"
})

export const report = (
  samples: ReadonlyArray<Report.Sample>,
  options: { readonly isConfidential?: boolean | undefined; readonly epochs?: number | undefined } = {}
): Report.Report => {
  const unique = (names: ReadonlyArray<string>) => [...new Set(names)]
  const plan: Report.Plan = {
    config: {
      policies: unique(samples.map(({ policy }) => policy)).map((name, index) => ({ name, isBaseline: index > 0 })),
      epochs: options.epochs ?? 1,
      seed: 1,
      perQuestion: {},
      maxSteps: 5,
      recursion: 0,
      confidence: 0.95
    },
    benchmarks: unique(samples.map(({ benchmark }) => benchmark)).map((name) =>
      benchmarkOf(name, options.isConfidential ?? false)
    ),
    pool: [{ id: "a", pricing: { inputPerMillion: 1, outputPerMillion: 2 } }, { id: "b" }],
    versions: { "@divisi/evals": "0.0.0" }
  }
  const extent = { status: "complete", samples: samples.length, planned: samples.length, paidUsd: 0.5 } as const
  return Report.make(plan, samples, extent)
}
