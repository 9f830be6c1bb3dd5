/**
 * Simulates a training run once: unknown quantities are sampled once per run, then the usage of all iterations is
 * summed.
 */

import { Seed } from "@divisi/core"
import * as Usage from "@divisi/core/Usage"
import type { EngineRates, Options } from "../Estimate.ts"
import type { GrpoConfig, TrainingConfig, WarmStartConfig } from "../TrainingConfig.ts"
import { normal } from "./rehearse.ts"
import type { RolloutSample } from "./Samples.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Total usage of a simulated run. Costs include only items with a known price. */
export interface Total {
  iterations: number
  rollouts: number
  calls: number
  inputTokens: number
  outputTokens: number
  prefillTokens: number
  sampledTokens: number
  trainedTokens: number
  workerUsd: number
  engineUsd: number
  seconds: number
  workerSeconds: number
  /** Whether the run reached its cost limit. */
  isStopped: boolean
}

/** Rollout with its cost. */
interface Priced {
  readonly completionTokens: number
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly usd: number
}

/** Unknown quantities, sampled once per simulated run. */
interface Unknowns {
  /** Mean number of calls per workflow, relative to that of the rehearsal. */
  readonly length: number
  /** Share of completions that can be parsed at the start. It rises to 1 by the middle of the run. */
  readonly readable: number
  /** Actual tokens per call and per completion, as a ratio to the assumed number. */
  readonly callTokens: number
  readonly completionTokens: number
  /** Shares of the possible recursive rounds that run, and of the possible extra groups that are sampled. */
  readonly recursion: number
  readonly resampling: number
  readonly secondsPerCall: number
  /** Overlap of sampling and worker calls. At 1, the longer of the two completely hides the shorter. */
  readonly overlap: number
}

// -------------------------------------------------------------------------------------------------------------------
// Drawing
// -------------------------------------------------------------------------------------------------------------------

/** Standard deviations of the logarithm of the token count. */
const spread = { assumed: 0.5, counted: 0.3 } as const

const price = ({ calls, completionTokens }: RolloutSample, pricing: Options["workers"]): Priced => {
  const of = new Map(pricing.map((worker) => [worker.id, worker.pricing]))
  const usd = calls.map(({ worker, ...usage }) => Usage.cost(of.get(worker), usage) ?? 0)
  return {
    completionTokens,
    calls: calls.length,
    inputTokens: calls.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    outputTokens: calls.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
    usd: usd.reduce((sum, value) => sum + value, 0)
  }
}

const mostSteps = ({ phases }: TrainingConfig): number =>
  Math.max(1, ...phases.map((phase) => (phase.type === "grpo" ? phase.rollouts.run.maxSteps : 1)))

const drawUnknowns = ({ config, samples, secondsPerCall }: Options, draw: Seed.Draw): Unknowns => {
  const { rollouts } = samples
  const meanCalls = rollouts.reduce((sum, { calls }) => sum + calls.length, 0) / rollouts.length
  const { high, low } = secondsPerCall ?? { low: 0, high: 0 }
  const leastReadable = config.phases.some(({ type }) => type === "warm-start") ? 0.7 : 0
  return {
    length: (1 + draw() * (mostSteps(config) - 1)) / Math.max(1, meanCalls),
    readable: leastReadable + draw() * (1 - leastReadable),
    callTokens: Math.exp(spread[samples.tokens] * normal(draw)),
    completionTokens: Math.exp(spread.assumed * normal(draw)),
    recursion: draw(),
    resampling: draw(),
    secondsPerCall: low + draw() * (high - low),
    overlap: draw()
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Adding up
// -------------------------------------------------------------------------------------------------------------------

const perMillion = 1_000_000

/** Maximum number of rollouts sampled per iteration. Their mean is used for all rollouts of the iteration. */
const mostDrawn = 24

/** Maximum number of simulated parts of a phase. Longer phases are simulated several iterations at a time. */
const mostSimulated = 1_000

const meanOf = (pool: ReadonlyArray<Priced>, count: number, draw: Seed.Draw): Priced => {
  const drawn = Array.from(
    { length: Math.min(mostDrawn, Math.max(1, Math.round(count))) },
    () => pool[Math.floor(draw() * pool.length)]!
  )
  const mean = (value: (one: Priced) => number) => drawn.reduce((sum, one) => sum + value(one), 0) / drawn.length
  return {
    completionTokens: mean((one) => one.completionTokens),
    calls: mean((one) => one.calls),
    inputTokens: mean((one) => one.inputTokens),
    outputTokens: mean((one) => one.outputTokens),
    usd: mean((one) => one.usd)
  }
}

const engineCost = (rates: EngineRates, prefill: number, sampled: number, trained: number): number =>
  rates.pricing === undefined
    ? 0
    : (prefill * rates.pricing.prefillPerMillion +
        sampled * rates.pricing.samplePerMillion +
        trained * rates.pricing.trainPerMillion) /
      perMillion

const engineSeconds = ({ speed }: EngineRates, sampled: number, trained: number) => ({
  sampling: sampled * (speed?.secondsPerSampledToken ?? 0),
  training: trained * (speed?.secondsPerTrainedToken ?? 0)
})

interface Amounts {
  readonly groups: number
  /** Number of rollouts including recursive rounds, and how many of them are trained on. */
  readonly rollouts: number
  readonly trained: number
  readonly progress: number
  readonly concurrency: number
}

const addRollouts = (
  total: Total,
  options: Options,
  unknowns: Unknowns,
  pool: ReadonlyArray<Priced>,
  amounts: Amounts,
  draw: Seed.Draw
): void => {
  const { concurrency, groups, progress, rollouts, trained } = amounts
  const one = meanOf(pool, rollouts, draw)
  const readable = Math.min(1, unknowns.readable + 2 * progress * (1 - unknowns.readable))
  const run = rollouts * unknowns.length * readable
  const calls = run * one.calls
  const completion = one.completionTokens * unknowns.completionTokens * unknowns.length
  const { promptTokens } = options.samples
  const prompt = promptTokens.reduce((sum, tokens) => sum + tokens, 0) / promptTokens.length
  const prefill = groups * prompt
  const sampled = rollouts * completion
  const learned = trained * (prompt + completion)
  const seconds = engineSeconds(options.engine, sampled, learned)
  const working = (calls * unknowns.secondsPerCall) / concurrency
  const hidden = Math.min(seconds.sampling, working) * unknowns.overlap
  total.rollouts += rollouts
  total.calls += calls
  total.inputTokens += run * one.inputTokens * unknowns.callTokens
  total.outputTokens += run * one.outputTokens * unknowns.callTokens
  total.workerUsd += run * one.usd * unknowns.callTokens
  total.prefillTokens += prefill
  total.sampledTokens += sampled
  total.trainedTokens += learned
  total.engineUsd += engineCost(options.engine, prefill, sampled, learned)
  total.seconds += seconds.sampling + seconds.training + working - hidden
  total.workerSeconds += working
}

/** Adds some iterations of a phase, as one, to the total. */
const addIterations = (
  total: Total,
  options: Options,
  unknowns: Unknowns,
  pool: ReadonlyArray<Priced>,
  phase: GrpoConfig,
  { iterations, progress }: Pick<Amounts, "progress"> & { readonly iterations: number },
  draw: Seed.Draw
): void => {
  const { zeroVariance } = phase.advantage
  const extra = zeroVariance.type === "resample" ? zeroVariance.maxExtra * unknowns.resampling : 0
  const rounds = 1 + phase.recursion.share * phase.recursion.rounds * unknowns.recursion
  const groups = iterations * phase.questions * (1 + extra) * rounds
  const concurrency = Math.max(1, phase.rollouts.runConcurrency)
  const rollouts = groups * phase.groupSize
  const trained = iterations * phase.questions * phase.groupSize * rounds
  addRollouts(total, options, unknowns, pool, { groups, rollouts, trained, progress, concurrency }, draw)
  addEvaluations(total, options, unknowns, pool, { iterations, progress, concurrency }, draw)
}

/** Adds iterations, and the held-out evaluations that are due during them, to the total. */
const addEvaluations = (
  total: Total,
  options: Options,
  unknowns: Unknowns,
  pool: ReadonlyArray<Priced>,
  span: Pick<Amounts, "progress" | "concurrency"> & { readonly iterations: number },
  draw: Seed.Draw
): void => {
  const { evaluateEvery } = options.config
  const before = total.iterations
  total.iterations += span.iterations
  if (evaluateEvery === 0) return
  const due = Math.floor(total.iterations / evaluateEvery) - Math.floor(before / evaluateEvery)
  const count = due * (options.evaluationTasks ?? 0)
  if (count > 0)
    addRollouts(total, options, unknowns, pool, { ...span, groups: count, rollouts: count, trained: 0 }, draw)
}

const addWarmStart = (
  total: Total,
  options: Options,
  unknowns: Unknowns,
  pool: ReadonlyArray<Priced>,
  phase: WarmStartConfig,
  draw: Seed.Draw
): void => {
  const { engine } = options
  const example = options.examples?.[phase.examples]
  const trained = example === undefined ? 0 : phase.steps * phase.batch * example.tokens
  total.trainedTokens += trained
  total.engineUsd += engineCost(engine, 0, 0, trained)
  total.seconds += engineSeconds(engine, 0, trained).training
  addEvaluations(total, options, unknowns, pool, { iterations: phase.steps, progress: 0, concurrency: 1 }, draw)
}

const nothing = (): Total => ({
  iterations: 0,
  rollouts: 0,
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
  prefillTokens: 0,
  sampledTokens: 0,
  trainedTokens: 0,
  workerUsd: 0,
  engineUsd: 0,
  seconds: 0,
  workerSeconds: 0,
  isStopped: false
})

/** Simulates the run once. */
export const simulate = (options: Options, seed: number): Total => {
  const { config, samples } = options
  const draw = Seed.draw(seed)
  const unknowns = drawUnknowns(options, draw)
  // Sample with replacement, so that a small number of rollouts leads to a wider range.
  const pool = samples.rollouts
    .map(() => samples.rollouts[Math.floor(draw() * samples.rollouts.length)]!)
    .map((sample) => price(sample, options.workers))
  const all = config.phases.reduce((sum, phase) => sum + (phase.type === "grpo" ? phase.iterations : 0), 0)
  const limit = config.maxCostUsd ?? Number.POSITIVE_INFINITY
  const total = nothing()
  let done = 0
  for (const phase of config.phases) {
    if (phase.type === "warm-start") addWarmStart(total, options, unknowns, pool, phase, draw)
    else {
      const atOnce = Math.ceil(phase.iterations / mostSimulated)
      for (let before = 0; before < phase.iterations; before += atOnce) {
        if (total.workerUsd + total.engineUsd >= limit) return { ...total, isStopped: true }
        const iterations = Math.min(atOnce, phase.iterations - before)
        const progress = done / Math.max(1, all - 1)
        addIterations(total, options, unknowns, pool, phase, { iterations, progress }, draw)
        done += iterations
      }
    }
  }
  return total
}
