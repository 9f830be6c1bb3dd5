/** Formats a training run for the terminal, as a block that is redrawn, or as plain lines. */
import { Transcript } from "@divisi/core"
import type { Metrics, TrainingEvent } from "@divisi/trainer"
import { quoted } from "../invocation/Hint.ts"
import * as Format from "../view/Format.ts"
import { blank, clean, fit, type Line, line, span } from "../view/Line.ts"
import { bar } from "../view/Progress.ts"
import { collapse, left, shares, type TrainView } from "./TrainView.ts"

// -------------------------------------------------------------------------------------------------------------------
// Words
// -------------------------------------------------------------------------------------------------------------------

const percent = (share: number): string => `${Math.round(100 * share)}%`

const number = (value: number): string => (value === 0 ? "0" : String(Number(value.toPrecision(3))))

const mostWorkers = 4

const workersText = (metrics: Metrics.GrpoMetrics): string =>
  shares(metrics)
    .slice(0, mostWorkers)
    .map(({ share, worker }) => `${clean(worker)} ${percent(share)}`)
    .join(", ")

const lessonless = ({ groups, zeroVariance }: Metrics.GrpoMetrics): string =>
  `${zeroVariance} of ${groups} groups with equal rewards`

const gradient = ({ gradientNorm }: Metrics.Metrics): ReadonlyArray<string> =>
  gradientNorm === undefined ? [] : [`gradient ${number(gradientNorm)}`]

const optimiser = (metrics: Metrics.GrpoMetrics): ReadonlyArray<string> => [
  metrics.entropy === undefined ? `surprisal ${number(metrics.surprisal)}` : `entropy ${number(metrics.entropy)}`,
  ...gradient(metrics)
]

const lost = ({ lost = 0, rollouts }: Metrics.GrpoMetrics): string | undefined =>
  lost === 0 ? undefined : `${lost} of ${rollouts} rollouts lost`

const timeLeft = (view: TrainView): string | undefined => {
  const rest = left(view)
  if (rest === undefined || view.phase === undefined || view.phase.done >= view.phase.iterations) return undefined
  const isLast = view.phase.index === view.config.phases.length - 1
  return `${Format.duration(rest.millis)} left${isLast ? "" : " in this phase"}`
}

/** Whether the workers' prices are play money. */
const isPlay = ({ config }: TrainView): boolean => Transcript.isAllPlay(config.pool)

const costText = (view: TrainView): string => {
  const limit = view.config.maxCostUsd
  const rest = left(view)?.costUsd ?? 0
  const cost = (usd: number) => Format.cost(usd, isPlay(view))
  const so = `${cost(view.costUsd)}${limit === undefined ? "" : ` of ${cost(limit)}`}`
  return rest === 0 ? so : `${so}, about ${cost(rest)} still to spend`
}

/** Returns a warning if all plans have the same shape, regardless of the question. */
const collapsed = (view: TrainView): ReadonlyArray<string> => {
  const shape = collapse(view)
  return shape === undefined ? [] : [`SAME PLAN SHAPE for ${view.same?.iterations} iterations: ${clean(shape)}`]
}

const evaluation = ({ evaluation }: Metrics.Metrics): string | undefined =>
  evaluation === undefined
    ? undefined
    : Object.entries(evaluation)
        .map(([name, value]) => `${name} ${number(value)}`)
        .join(", ")

// -------------------------------------------------------------------------------------------------------------------
// The block
// -------------------------------------------------------------------------------------------------------------------

const sparks = "▁▂▃▄▅▆▇█"

/** Formats rewards from 0 to 1 as a row of small bars. */
const sparkline = (values: ReadonlyArray<number>): string =>
  values.map((value) => sparks[Math.min(7, Math.max(0, Math.floor(value * 8)))]).join("")

const row = (label: string, ...texts: ReadonlyArray<string | undefined>): Line => [
  span(label.padEnd(11), "dim"),
  span(texts.filter((text) => text !== undefined).join("   "))
]

const head = (view: TrainView): Line => {
  const { config, groups, phase } = view
  const name = span(clean(config.name), "bold")
  if (phase === undefined) return [name]
  const inside = groups === undefined ? "" : `   group ${groups.done} of ${groups.total}`
  return [
    name,
    span(`  ${clean(phase.name)}  ▕${bar(phase.done, phase.iterations)}▏ ${phase.done} of ${phase.iterations}`),
    span(`${inside}   ${timeLeft(view) ?? ""}`, "dim")
  ]
}

const warm = (metrics: Metrics.WarmStartMetrics): ReadonlyArray<Line> => [
  row("loss", `${number(metrics.tokenLoss)} nats per token`, `weighted ${number(metrics.weightedLoss)}`),
  row("optimiser", ...gradient(metrics), `rate ${number(metrics.learningRate)}`)
]

const learned = (metrics: Metrics.GrpoMetrics, view: TrainView): ReadonlyArray<Line> => [
  row("reward", number(metrics.rewardMean), sparkline(view.rewards)),
  row("answers", `${percent(metrics.correct)} right`, `${percent(metrics.parsed)} could be read`),
  row("workflows", `${number(metrics.steps)} steps`, workersText(metrics)),
  row("optimiser", ...optimiser(metrics), lessonless(metrics), lost(metrics), `rate ${number(metrics.learningRate)}`),
  ...collapsed(view).map((text) => line(text, "bad")),
  row("cost", costText(view))
]

/** Returns the block for an active run. */
export const block = (view: TrainView, width: number, isStopping: boolean): ReadonlyArray<Line> => {
  const { last } = view
  const found = last === undefined ? undefined : evaluation(last)
  return [
    head(view),
    ...(last === undefined ? [] : last.type === "grpo" ? learned(last, view) : warm(last)),
    ...(found === undefined ? [] : [row("held out", found)]),
    isStopping
      ? line("Stopping at a checkpoint; press Ctrl-C again to stop immediately.", "busy")
      : row(
          "saved",
          view.saved === undefined ? "nothing yet" : `${Format.count(view.saved, "iteration")} in ${clean(view.folder)}`
        )
  ].map((one) => fit(one, width))
}

// -------------------------------------------------------------------------------------------------------------------
// Plain lines
// -------------------------------------------------------------------------------------------------------------------

/** Only every tenth iteration of supervised learning is printed, because these iterations are short. */
const warmEvery = 10

const plainWarm = (metrics: Metrics.WarmStartMetrics): ReadonlyArray<string | undefined> => [
  `loss ${number(metrics.tokenLoss)}`,
  ...gradient(metrics)
]

const plainGrpo = (metrics: Metrics.GrpoMetrics, view: TrainView): ReadonlyArray<string | undefined> => [
  `reward ${number(metrics.rewardMean)}`,
  `correct ${percent(metrics.correct)}`,
  `parsed ${percent(metrics.parsed)}`,
  `steps ${number(metrics.steps)}`,
  workersText(metrics),
  ...optimiser(metrics),
  lessonless(metrics),
  lost(metrics),
  ...collapsed(view),
  costText(view)
]

const plainIteration = (view: TrainView, metrics: Metrics.Metrics): ReadonlyArray<string> => {
  const isQuiet =
    metrics.type === "warm-start" &&
    metrics.phaseIteration % warmEvery !== 0 &&
    metrics.phaseIteration + 1 !== view.phase?.iterations
  if (isQuiet) return []
  const parts = [
    `${metrics.iteration + 1}/${view.iterations} ${clean(metrics.phase)}`,
    ...(metrics.type === "grpo" ? plainGrpo(metrics, view) : plainWarm(metrics)),
    evaluation(metrics) === undefined ? undefined : `held out: ${evaluation(metrics)}`,
    timeLeft(view)
  ]
  return [parts.filter((part) => part !== undefined && part !== "").join("  ")]
}

/** Returns the lines to print for an event if the output cannot be redrawn. `view` is the state after the event. */
export const plain = (view: TrainView, event: TrainingEvent.TrainingEvent): ReadonlyArray<string> => {
  switch (event.type) {
    case "training-started": {
      const { engine, pool } = event.config
      const from = event.iteration === 0 ? "" : `, from iteration ${event.iteration}`
      return [
        `${clean(event.config.name)}: trains in ${clean(event.folder)}: model ${engine.model}, engine ${engine.name}, ${Format.count(pool.length, "worker")}, ${Format.count(event.iterations, "iteration")}${from}`
      ]
    }
    case "iteration-finished":
      return plainIteration(view, event.metrics)
    default:
      return []
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The end
// -------------------------------------------------------------------------------------------------------------------

/** Returns advice if all plans have the same shape. */
const advice = (view: TrainView): ReadonlyArray<string> => {
  const shape = collapse(view)
  return shape === undefined
    ? []
    : [
        `All plans of the last ${view.same?.iterations} iterations had the same shape (${clean(shape)}), although answers were wrong: the policy no longer explores. Use a lower learning rate, a KL penalty (kl) or larger groups to keep plans diverse.`
      ]
}

/** Returns the total paid, and what the stored iterations cost if others were repeated after a stop. */
const paidText = (view: TrainView): string => {
  const [paid, stored] = [view.costUsd, view.last?.costUsd ?? view.costUsd].map((usd) => Format.cost(usd, isPlay(view)))
  return paid === stored ? paid! : `${paid} paid (${stored} for the stored iterations)`
}

/** Describes how a run ended and what to do next. */
export const ending = (view: TrainView): ReadonlyArray<string> => {
  const { folder, iteration, iterations, ending, unlearned } = view
  const done = `${Format.count(iteration, "iteration")}, ${paidText(view)}`
  const report = `Write a report with \`divisi train report ${quoted(folder)}\`.`
  if (ending === undefined || ending.type === "stopped") {
    return [
      `Stopped after ${iteration} of ${iterations} iterations. Resume with \`divisi train resume ${quoted(folder)}\`.`,
      report
    ]
  }
  if (ending.type === "finished") {
    if (unlearned.length === 0) return [...advice(view), `Finished: ${done}. ${report}`]
    const phases = unlearned.map(({ phase, why }) => `Phase ${clean(phase)} learned nothing: ${clean(why)}.`)
    return [...phases, `Ended without learning: ${done}. ${report}`]
  }
  return [
    `Stopped at the cost limit of ${Format.cost(ending.limitUsd, isPlay(view))} after ${iteration} of ${iterations} iterations.`,
    `Resume with \`divisi train resume ${quoted(folder)} --max-cost <more>\`. ${report}`
  ]
}

/** Returns the final block, followed by how the run ended. */
export const final = (view: TrainView, width: number): ReadonlyArray<Line> => [
  ...block(view, width, false).slice(0, -1),
  blank,
  ...ending(view).map((text) => line(text))
]
