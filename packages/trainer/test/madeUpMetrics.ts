/** Metrics of a made-up run, as a trainer writes them. */
import type { GrpoMetrics, KindMetrics, Metrics, WarmStartMetrics } from "../src/Metrics.ts"

const base = (iteration: number, phase: string, phaseIteration: number) => ({
  iteration,
  phase,
  phaseIteration,
  version: iteration + 1,
  learningRate: 3e-4,
  gradientNorm: 0.4,
  tokens: { completion: 9_000, prompt: 40_000 },
  costUsd: 0.0021 * iteration,
  at: 1_700_000_000_000 + iteration * 4_000,
  seconds: { total: 3.5, sample: 1.2 }
})

const kind = (steps: number): KindMetrics => ({
  rollouts: 32,
  rewardMean: 0.7,
  parsed: 0.96,
  correct: 0.5,
  steps: 1.8,
  stepCounts: { 1: 20, 2: 11 },
  workers: { professor: 9, abacus: steps }
})

const warmStart = (iteration: number): WarmStartMetrics => ({
  type: "warm-start",
  ...base(iteration, "warm start", iteration),
  examples: 32,
  completions: 64,
  weightedLoss: 2.2 / (iteration + 1),
  tokenLoss: 2.5 / (iteration + 1)
})

const grpo = (iteration: number, phaseIteration: number): GrpoMetrics => ({
  type: "grpo",
  ...base(iteration, "learn", phaseIteration),
  groups: 10,
  rollouts: 160,
  dropped: 0,
  rewardMean: 0.5 + 0.05 * phaseIteration,
  rewardStd: 0.2,
  parsed: 0.96,
  correct: 0.5,
  rounds: [{ round: 0, completions: 160, rewardMean: 0.5, rewardStd: 0.2, parsed: 0.96, confirmed: 0, correct: 0.5 }],
  steps: 1.8,
  kinds: { logic: kind(4 + phaseIteration), units: kind(7) },
  entropy: 0.9,
  surprisal: 0.9,
  zeroVariance: 2,
  resampled: 0,
  clipped: 0.02,
  samplerDivergence: 0.001,
  lag: 0,
  completionTokens: 62,
  truncated: 0.01,
  calls: { total: 280, failed: 4, cached: 100 },
  workerTokens: { input: 20_000, output: 9_000 },
  iterationCostUsd: 0.0021,
  criticalPathSeconds: 0
})

/** So many steps of supervised learning, and then so many iterations of reinforcement learning. */
export const metrics = (warmUp: number, iterations: number): ReadonlyArray<Metrics> => [
  ...Array.from({ length: warmUp }, (_, iteration) => warmStart(iteration)),
  ...Array.from({ length: iterations }, (_, at) => grpo(warmUp + at, at))
]
