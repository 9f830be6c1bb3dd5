/**
 * Records training metrics with Effect's `Metric`, from which OpenTelemetry exporters read them.
 *
 * Gauges show the results of the last iteration; counters show totals since the run started. Metric names start with
 * `divisi.training.`; worker tokens use `gen_ai.client.token.usage` from the semantic conventions. Every series is
 * labeled with its run and phase. No model output or user text is recorded.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { GrpoMetrics, Metrics } from "./Metrics.ts"
import type { Listener } from "./TrainingEvent.ts"

// -------------------------------------------------------------------------------------------------------------------
// Series
// -------------------------------------------------------------------------------------------------------------------

/** Metric value with its description. */
interface Reading {
  readonly name: string
  readonly description: string
  /** Unit in UCUM notation, as used by OpenTelemetry. `1` denotes a ratio or a plain number. */
  readonly unit: string
  /** Value to record. `undefined` values (not reported by the engine) are skipped. */
  readonly value: number | undefined
  readonly attributes?: Readonly<Record<string, string>> | undefined
}

const gaugesOfBoth = (metrics: Metrics): ReadonlyArray<Reading> => [
  { name: "iteration", description: "Completed iterations", unit: "{iteration}", value: metrics.iteration + 1 },
  { name: "learning_rate", description: "Value of the last step", unit: "1", value: metrics.learningRate },
  { name: "gradient_norm", description: "Before clipping", unit: "1", value: metrics.gradientNorm },
  { name: "cost", description: "Cost of the run, in USD", unit: "USD", value: metrics.costUsd },
  { name: "iteration.duration", description: "Value of the last iteration", unit: "s", value: metrics.seconds.total },
  ...Object.entries(metrics.evaluation ?? {}).map(([measure, value]) => ({
    name: "evaluation",
    description: "The held-out evaluation",
    unit: "1",
    value,
    attributes: { "divisi.measure": measure }
  }))
]

const gaugesOfGrpo = (metrics: GrpoMetrics): ReadonlyArray<Reading> => [
  { name: "reward", description: "Mean over rollouts", unit: "1", value: metrics.rewardMean },
  { name: "parsed", description: "Share of readable completions", unit: "1", value: metrics.parsed },
  { name: "correct", description: "Share of correct answers", unit: "1", value: metrics.correct },
  { name: "steps", description: "Mean number of steps of a workflow", unit: "{step}", value: metrics.steps },
  { name: "entropy", description: "Nats per token", unit: "1", value: metrics.entropy },
  { name: "surprisal", description: "Nats per sampled token", unit: "1", value: metrics.surprisal },
  {
    name: "zero_variance",
    description: "Share of groups without a learning signal",
    unit: "1",
    value: metrics.groups === 0 ? undefined : metrics.zeroVariance / metrics.groups
  },
  { name: "clipped", description: "Share of tokens with a clipped ratio", unit: "1", value: metrics.clipped },
  { name: "completion.tokens", description: "Mean per completion", unit: "{token}", value: metrics.completionTokens },
  ...Object.entries(metrics.kinds).map(([kind, { correct }]) => ({
    name: "kind.correct",
    description: "Share of correct answers, by kind of task",
    unit: "1",
    value: correct,
    attributes: { "divisi.task.kind": kind }
  }))
]

const gaugesOf = (metrics: Metrics): ReadonlyArray<Reading> =>
  metrics.type === "grpo"
    ? [...gaugesOfBoth(metrics), ...gaugesOfGrpo(metrics)]
    : [...gaugesOfBoth(metrics), { name: "loss", description: "Nats per token", unit: "1", value: metrics.tokenLoss }]

const workersOf = ({ kinds }: GrpoMetrics): ReadonlyArray<Reading> =>
  Object.entries(kinds).flatMap(([kind, { workers }]) =>
    Object.entries(workers).map(([worker, steps]) => ({
      name: "worker.steps",
      description: "Steps assigned to workers",
      unit: "{step}",
      value: steps,
      attributes: { "gen_ai.request.model": worker, "divisi.task.kind": kind }
    }))
  )

const tokensOf = ({ workerTokens }: GrpoMetrics): ReadonlyArray<Reading> =>
  (["input", "output"] as const).map((type) => ({
    name: "gen_ai.client.token.usage",
    description: "Tokens of workers",
    unit: "{token}",
    value: workerTokens[type],
    attributes: { "gen_ai.token.type": type }
  }))

const countersOf = (metrics: GrpoMetrics): ReadonlyArray<Reading> => [
  { name: "rollouts", description: "Rollouts", unit: "{rollout}", value: metrics.rollouts },
  {
    name: "rollouts.lost",
    description: "Rollouts lost to worker failures",
    unit: "{rollout}",
    value: metrics.lost ?? 0
  },
  { name: "rollouts.dropped", description: "Failed rollouts", unit: "{rollout}", value: metrics.dropped },
  { name: "calls", description: "Calls to workers", unit: "{call}", value: metrics.calls.total },
  { name: "calls.failed", description: "Failed calls to workers", unit: "{call}", value: metrics.calls.failed },
  ...workersOf(metrics),
  ...tokensOf(metrics)
]

const nameOf = (name: string): string => (name.startsWith("gen_ai.") ? name : `divisi.training.${name}`)

// -------------------------------------------------------------------------------------------------------------------
// Recording
// -------------------------------------------------------------------------------------------------------------------

type Metrical = Metric.Metric<number, unknown>
type Settings = { readonly description: string; readonly attributes: Metric.Metric.Attributes }

const makeGauge = (name: string, settings: Settings): Metrical => Metric.gauge(name, settings)
const makeCounter = (name: string, settings: Settings): Metrical => Metric.counter(name, settings)

/** Records readings, labeled with their run and phase. */
const recordAll = (
  readings: ReadonlyArray<Reading>,
  make: (name: string, settings: Settings) => Metrical,
  run: string,
  phase: string
): Effect.Effect<void> =>
  Effect.forEach(
    readings.filter(({ value }) => value !== undefined && Number.isFinite(value)),
    ({ attributes, description, name, unit, value }) => {
      const all = { "divisi.training.run": run, "divisi.training.phase": phase, unit, ...attributes }
      return Metric.update(make(nameOf(name), { description, attributes: all }), value!)
    },
    { discard: true }
  )

/**
 * Records the metrics of an iteration in the current metric registry.
 *
 * **Example**
 *
 * ```ts
 * import { type Metrics, Telemetry } from "@divisi/trainer"
 * import * as Effect from "effect/Effect"
 * import * as Metric from "effect/Metric"
 *
 * const metrics = { type: "warm-start", iteration: 4, phase: "warm", seconds: { total: 2 }, tokenLoss: 0.7 }
 * const program = Effect.gen(function* () {
 *   yield* Telemetry.record("my run", metrics as unknown as Metrics.WarmStartMetrics)
 *   return (yield* Metric.snapshot).map(({ id }) => id)
 * })
 * const names = Effect.runSync(Effect.provideService(program, Metric.MetricRegistry, new Map()))
 * names.includes("divisi.training.loss") // => true
 * ```
 */
export const record = (run: string, metrics: Metrics): Effect.Effect<void> => {
  const gauges = recordAll(gaugesOf(metrics), makeGauge, run, metrics.phase)
  const counters = metrics.type === "grpo" ? countersOf(metrics) : []
  return Effect.andThen(gauges, recordAll(counters, makeCounter, run, metrics.phase))
}

/** Creates a listener that records the metrics of each iteration in the current metric registry. */
export const listener: Effect.Effect<Listener> = Effect.map(Effect.context<never>(), (context) => {
  let run = "run"
  return (event) => {
    if (event.type === "training-started") run = event.config.name
    if (event.type === "iteration-finished") Effect.runSyncWith(context)(record(run, event.metrics))
  }
})
