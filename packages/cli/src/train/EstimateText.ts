/** Formats an estimate for the terminal. */
import type { Estimate, Trainer } from "@divisi/trainer"
import type { PhaseConfig } from "@divisi/trainer/TrainingConfig"
import * as Format from "../view/Format.ts"
import { clean } from "../view/Line.ts"

/** Rounds a value to two or three significant digits, because the estimate is not more precise. */
const round = (value: number): string => {
  const digits = value === 0 ? 1 : 10 ** Math.max(0, Math.floor(Math.log10(Math.abs(value))) - 1)
  return Format.integer(Math.round(value / digits) * digits)
}

const range = ({ high, low, median }: Estimate.Range, format: (value: number) => string): string => {
  const [least, middle, most] = [format(low), format(median), format(high)]
  return least === most ? middle : `${middle} (${least} to ${most})`
}

const phaseText = (phase: PhaseConfig): string =>
  phase.type === "grpo"
    ? `${clean(phase.name)}: ${phase.iterations} iterations of ${phase.questions} questions with ${phase.groupSize} rollouts each`
    : `${clean(phase.name)}: ${phase.steps} steps of ${phase.batch} examples`

const costLines = ({ costUsd, unpriced }: Estimate.Estimate, isPlay: boolean): ReadonlyArray<string> => {
  const cost = (usd: Estimate.Range, isPlay: boolean) =>
    `${range(usd, (value) => Format.cost(value))}${isPlay ? " play money" : ""}`
  const rest = unpriced.reduce((sum, { share }) => sum + share, 0)
  const workers =
    rest > 0.999
      ? "unknown"
      : `${cost(costUsd.workers, isPlay)}${rest > 0 ? ` for ${Math.round(100 * (1 - rest))}% of the calls; the others have no price` : ""}`
  const engine = costUsd.engine === undefined ? "unknown" : cost(costUsd.engine, false)
  const isWhole = rest === 0 && costUsd.engine !== undefined
  return [
    `cost       ${isWhole ? cost(costUsd.total, isPlay && (costUsd.engine?.high ?? 0) === 0) : "incomplete: see below"}`,
    `  workers  ${workers}`,
    `  engine   ${engine}`
  ]
}

const stopLines = (
  settings: Trainer.ConfigInput,
  { iterations, plannedIterations, stopped }: Estimate.Estimate,
  isPlay: boolean
): ReadonlyArray<string> =>
  stopped === 0 || settings.maxCostUsd === undefined
    ? []
    : [
        `limit      ${Format.cost(settings.maxCostUsd, isPlay)}: reached in ${Math.round(100 * stopped)}% of the simulations, after ${range(iterations, round)} of ${plannedIterations} iterations`
      ]

/** Formats a duration. Durations over a day are shown without minutes. */
const seconds = (value: number): string =>
  value < 7200 ? Format.duration(1000 * value) : `${round(Math.round(value / 3600))} h`

const timeText = ({ seconds: all, workerSeconds }: Estimate.Estimate): string => {
  if (all !== undefined) return range(all, seconds)
  return workerSeconds === undefined ? "unknown" : `unknown; at least the workers' ${range(workerSeconds, seconds)}`
}

/** Formats an estimate as lines. Ranges contain nine in ten simulations. */
export const lines = (
  settings: Trainer.ConfigInput,
  estimate: Estimate.Estimate,
  isPlay = false
): ReadonlyArray<string> => [
  ...settings.phases.map((phase, index) => `${index === 0 ? "phases" : "      "}     ${phaseText(phase)}`),
  ...costLines(estimate, isPlay),
  ...stopLines(settings, estimate, isPlay),
  `time       ${timeText(estimate)}`,
  `rollouts   ${range(estimate.rollouts, estimate.rollouts.low === estimate.rollouts.high ? Format.integer : round)}`,
  `calls      ${range(estimate.calls, round)}`,
  `tokens     workers: ${range(estimate.workerTokens.input, round)} in, ${range(estimate.workerTokens.output, round)} out`,
  `           engine: ${range(estimate.engineTokens.sampled, round)} sampled, ${range(estimate.engineTokens.trained, round)} trained on`,
  "",
  "Ranges cover 90% of the simulations. Cached answers and retries are not modelled.",
  ...estimate.missing
]
