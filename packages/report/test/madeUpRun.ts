/** A made-up run, true to the shape that a trainer gives it: it learns, and its models write anything. */
import type { Metrics, RolloutRecord } from "@divisi/trainer"
import type { TrainingConfig } from "@divisi/trainer/TrainingConfig"
import * as TrainingPage from "../src/TrainingPage.ts"

/** Numbers from 0 to 1, the same for the same seed. */
export const random = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

export const workers = [
  "professor",
  "abacus",
  "almanac",
  "editor",
  "converter",
  "logician",
  "intern",
  "student"
].concat(["typesetter", "algebraist", "statistician", "checker"])

const kinds = ["arithmetic", "calendar", "composite", "logic", "units"]

/** Text that would run, load or hide something, if it could. */
export const hostile = `</pre></article><script>alert("x")</script><img src="http://example.com/x.png" onerror=alert(1)>\u202e&amp;\u0007`

export interface Options {
  readonly warmStart?: number | undefined
  readonly iterations?: number | undefined
  readonly rollouts?: boolean | undefined
}

const config = (): TrainingConfig => ({
  version: 1,
  name: "made-up <run>",
  seed: 7,
  engine: { name: "toy", model: "lookup table" },
  pool: workers.map((id) => ({ id, description: `Is good at being ${id}.` })),
  grader: "gym",
  phases: [],
  checkpoints: { every: 10, keep: 2 },
  evaluateEvery: 20,
  recordRollouts: true,
  versions: {}
})

const base = (iteration: number, phase: string, phaseIteration: number, draw: () => number) => ({
  iteration,
  phase,
  phaseIteration,
  version: iteration + 1,
  learningRate: 3e-4 * Math.cos((phaseIteration / 200) * Math.PI * 0.5),
  gradientNorm: 0.4 + 0.3 * draw(),
  tokens: { completion: 9_000, prompt: 40_000 },
  costUsd: 0.0021 * iteration,
  at: 1_700_000_000_000 + iteration * 4_000,
  seconds: { total: 3.5 + draw(), sample: 1.2 }
})

const warmStart = (iteration: number, draw: () => number): Metrics.WarmStartMetrics => ({
  type: "warm-start",
  ...base(iteration, "warm start", iteration, draw),
  examples: 32,
  completions: 64,
  weightedLoss: 2.2 * Math.exp(-iteration / 12) + 0.2 + 0.05 * draw(),
  tokenLoss: 2.5 * Math.exp(-iteration / 12) + 0.3 + 0.05 * draw()
})

const kindMetrics = (index: number, progress: number, draw: () => number): Metrics.KindMetrics => {
  const correct = Math.min(1, 0.2 + 0.65 * progress + 0.1 * draw())
  const steps = 1 + (index === 2 ? 1.8 * progress : 0.6 * (1 - progress)) + 0.2 * draw()
  const share = (worker: number) => {
    const isRight = worker === index || worker === index + 5
    return Math.max(0, Math.round((isRight ? 4 + 60 * progress : 9 - 8 * progress) * (0.7 + 0.6 * draw())))
  }
  return {
    rollouts: 32,
    rewardMean: 0.48 + 0.5 * correct,
    parsed: 0.96,
    correct,
    steps,
    stepCounts: { 1: 20, 2: 11 },
    workers: Object.fromEntries(workers.map((id, worker) => [id, share(worker)]))
  }
}

const grpo = (iteration: number, phaseIteration: number, progress: number, draw: () => number): Metrics.GrpoMetrics => {
  const found = kinds.map((kind, index) => [kind, kindMetrics(index, progress, draw)] as const)
  const correct = found.reduce((sum, [, kind]) => sum + kind.correct, 0) / found.length
  const round = { completions: 160, rewardMean: 0.5, rewardStd: 0.2, parsed: 0.96, confirmed: 0 }
  return {
    type: "grpo",
    ...base(iteration, "learn", phaseIteration, draw),
    groups: 10,
    rollouts: 160,
    dropped: 0,
    rewardMean: 0.48 + 0.5 * correct,
    rewardStd: 0.2,
    parsed: 0.94 + 0.06 * progress,
    correct,
    rounds: [
      { ...round, round: 0, correct: correct - 0.05 },
      { ...round, round: 1, correct }
    ],
    steps: 1.8,
    kinds: Object.fromEntries(found),
    entropy: 0.9 - 0.6 * progress + 0.05 * draw(),
    surprisal: 0.9 - 0.6 * progress + 0.05 * draw(),
    zeroVariance: Math.floor(2 + 4 * progress * draw()),
    resampled: 0,
    clipped: 0.02 * draw(),
    samplerDivergence: 0.001,
    lag: 0,
    completionTokens: 62 - 20 * progress,
    truncated: 0.01,
    calls: { total: 280, failed: 4, cached: 100 },
    workerTokens: { input: 20_000, output: 9_000 },
    iterationCostUsd: 0.0021,
    criticalPathSeconds: 0,
    evaluation: phaseIteration % 20 === 19 ? { accuracy: 0.3 + 0.55 * progress, calls: 2.5 - progress } : undefined
  }
}

const group = (iteration: number, index: number): RolloutRecord.GroupRecord => ({
  type: "group",
  iteration,
  phase: "learn",
  group: index,
  index: iteration * 10 + index,
  task: `task-${iteration}-${index}`,
  kind: kinds[index % kinds.length]!,
  messages: [
    { role: "user", content: `A question of ${kinds[index % kinds.length]} in iteration ${iteration}: ${hostile}` }
  ],
  reference: "42",
  pool: workers,
  rounds: 0,
  samplerVersion: iteration,
  zeroVariance: false
})

const completion = (
  iteration: number,
  index: number,
  rollout: number,
  draw: () => number
): RolloutRecord.CompletionRecord => {
  const result = draw() < 0.2 ? "unreadable" : draw() < 0.5 ? "wrong" : "correct"
  const steps = [
    { worker: 1, subtask: "Plan it, and name the parts.", access: [] },
    { worker: 2, subtask: "Part 1", access: [0] },
    { worker: 3, subtask: `Part 2 ${hostile}`, access: [0] },
    { worker: 11, subtask: "Check both and answer.", access: "all" as const }
  ].slice(-1 - Math.floor(4 * draw()))
  const workflow = {
    steps: steps.map((step, at) => (at === 0 ? { ...step, access: [] } : { ...step, access: "all" as const }))
  }
  return {
    type: "completion",
    iteration,
    phase: "learn",
    group: index,
    rollout,
    round: 0,
    task: `task-${iteration}-${index}`,
    kind: kinds[index % kinds.length]!,
    promptTokens: 240,
    completion: `It is a ${kinds[index % kinds.length]} question.\nmodel_id = [1]\n${hostile}`,
    tokens: [1, 2, 3],
    logProbs: [-0.1, -0.2, -0.3],
    reason: "stop",
    result,
    reward: result === "unreadable" ? 0 : result === "wrong" ? 0.5 : 1,
    confirmed: false,
    costUsd: 0.00001,
    calls: 1,
    failedCalls: 0,
    cachedCalls: 0,
    workerTokens: { input: 10, output: 5 },
    criticalPathMillis: 0,
    ...(result === "unreadable"
      ? { detail: "The second list is not closed." }
      : { workflow, workers: workflow.steps.map(({ worker }) => workers[worker]!), answer: `It is 42. ${hostile}` })
  }
}

/** The run, with the rollouts of the iterations that its page asks for. */
export const run = ({
  iterations = 60,
  rollouts = true,
  warmStart: steps = 20
}: Options = {}): TrainingPage.Training => {
  const draw = random(1)
  const warm = Array.from({ length: steps }, (_, iteration) => warmStart(iteration, draw))
  const learned = Array.from({ length: iterations }, (_, at) =>
    grpo(steps + at, at, iterations === 1 ? 0 : at / (iterations - 1), draw)
  )
  const metrics = [...warm, ...learned]
  const records = (iteration: number): ReadonlyArray<RolloutRecord.RolloutRecord> =>
    Array.from({ length: 10 }, (_, index) => [
      group(iteration, index),
      ...Array.from({ length: 4 }, (_, rollout) => completion(iteration, index, rollout, draw))
    ]).flat()
  return { config: config(), metrics, rollouts: rollouts ? TrainingPage.sampled(metrics).flatMap(records) : undefined }
}
