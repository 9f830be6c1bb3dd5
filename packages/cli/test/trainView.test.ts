import type { Metrics, TrainingEvent } from "@divisi/trainer"
import { assert, describe, it, vi } from "@effect/vitest"
import * as TrainLines from "../src/train/TrainLines.ts"
import * as TrainOutput from "../src/train/TrainOutput.ts"
import * as TrainView from "../src/train/TrainView.ts"
import { toText } from "../src/view/Line.ts"
import { Terminal } from "./Terminal.ts"

type Distribute<E> = E extends TrainingEvent.TrainingEvent ? Omit<E, "at"> : never

const event = (one: Distribute<TrainingEvent.TrainingEvent>): TrainingEvent.TrainingEvent =>
  ({ ...one, at: 0 }) as TrainingEvent.TrainingEvent

const started = event({
  type: "training-started",
  config: {
    name: "gym",
    engine: { name: "jax", model: "llama 0.6M" },
    pool: [{ id: "abacus" }, { id: "almanac" }],
    phases: [{ type: "warm-start" }, { type: "grpo" }],
    maxCostUsd: 2
  } as never,
  folder: "runs/gym",
  iteration: 0,
  iterations: 24
})

const base = { version: 1, learningRate: 3e-4, gradientNorm: 0.4321, tokens: { completion: 1, prompt: 1 }, at: 0 }

const warm = (iteration: number) =>
  event({
    type: "iteration-finished",
    costUsd: 0,
    metrics: {
      ...base,
      type: "warm-start",
      iteration,
      phase: "warm start",
      phaseIteration: iteration,
      costUsd: 0,
      seconds: { total: 0.5 },
      examples: 3,
      completions: 3,
      weightedLoss: 1,
      tokenLoss: 2
    } satisfies Metrics.WarmStartMetrics
  })

const kind = { rollouts: 8, rewardMean: 0.7, parsed: 1, correct: 0.5, steps: 1.5, stepCounts: { "1": 4, "2": 4 } }

const learned = (iteration: number, rewardMean: number) =>
  event({
    type: "iteration-finished",
    costUsd: 0.1 * (iteration - 19),
    metrics: {
      ...base,
      type: "grpo",
      iteration,
      phase: "learn",
      phaseIteration: iteration - 20,
      costUsd: 0.1 * (iteration - 19),
      iterationCostUsd: 0.1,
      seconds: { total: 90 },
      groups: 12,
      zeroVariance: 2,
      rewardMean,
      parsed: 0.99,
      correct: 0.61,
      steps: 1.8,
      entropy: 0.5551,
      surprisal: 0.6,
      kinds: {
        arithmetic: { ...kind, workers: { abacus: 30, almanac: 0 } },
        calendar: { ...kind, workers: { "\u001b[31malmanac": 10 } }
      }
    } as unknown as Metrics.GrpoMetrics
  })

const run: ReadonlyArray<TrainingEvent.TrainingEvent> = [
  started,
  event({ type: "checkpoint-saved", iteration: 0, isBest: false }),
  event({ type: "phase-started", phase: "warm start", index: 0, iterations: 20 }),
  ...Array.from({ length: 20 }, (_, iteration) => warm(iteration)),
  event({ type: "phase-started", phase: "learn", index: 1, iterations: 4 }),
  learned(20, 0.25),
  learned(21, 0.75),
  event({ type: "group-finished", iteration: 22, phase: "learn", done: 5, total: 12, costUsd: 0.25 })
]

const fold = (events: ReadonlyArray<TrainingEvent.TrainingEvent>): TrainView.TrainView =>
  events.reduce<TrainView.TrainView | undefined>(TrainView.apply, undefined)!

describe("training on a terminal", () => {
  it("is a block of what is known, in one line each, never wider than the window", () => {
    const lines = TrainLines.block(fold(run), 100, false).map(toText)
    assert.deepStrictEqual(lines, [
      "gym  learn  ▕████████████            ▏ 2 of 4   group 5 of 12   3 min 00 s left",
      "reward     0.75   ▃▇",
      "answers    61% right   99% could be read",
      "workflows  1.8 steps   abacus 75%, almanac 25%",
      "optimiser  entropy 0.555   gradient 0.432   2 of 12 groups with equal rewards   rate 0.0003",
      "cost       $0.25 of $2.00, about $0.20 still to spend",
      "saved      0 iterations in runs/gym"
    ])
    for (const line of TrainLines.block(fold(run), 40, false)) assert.isAtMost(toText(line).length, 40)
  })

  it("is redrawn in place, and ends with the next steps", () => {
    vi.useFakeTimers()
    try {
      const terminal = new Terminal(90, 30)
      const output = TrainOutput.live(terminal)
      assert.isFalse(terminal.isCursorShown)
      for (const one of run) {
        output.show(one)
        vi.advanceTimersByTime(100)
      }
      assert.strictEqual(terminal.text().filter((line) => line.startsWith("reward")).length, 1)
      output.stopping()
      assert.include(terminal.text().at(-1), "Ctrl-C again to stop immediately")
      output.show(event({ type: "training-finished", ending: { type: "stopped" }, iteration: 22, costUsd: 0.3 }))
      output.close()
      assert.deepStrictEqual(terminal.text().slice(-2), [
        "Stopped after 22 of 24 iterations. Resume with `divisi train resume runs/gym`.",
        "Write a report with `divisi train report runs/gym`."
      ])
      assert.isTrue(terminal.isCursorShown)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe("training in plain lines", () => {
  const record = (events: ReadonlyArray<TrainingEvent.TrainingEvent>): ReadonlyArray<string> => {
    const written: Array<string> = []
    const output = TrainOutput.plain({ write: (text) => written.push(text) })
    for (const one of events) output.show(one)
    output.close()
    return written.join("").trimEnd().split("\n")
  }

  it("tells every iteration of learning, and one in ten of the warm start", () => {
    assert.deepStrictEqual(
      record([
        ...run,
        event({
          type: "training-finished",
          ending: { type: "cost-limit", limitUsd: 2, spentUsd: 2 },
          iteration: 22,
          costUsd: 2
        })
      ]),
      [
        "gym: trains in runs/gym: model llama 0.6M, engine jax, 2 workers, 24 iterations",
        "1/24 warm start  loss 2  gradient 0.432  9.5 s left in this phase",
        "11/24 warm start  loss 2  gradient 0.432  4.5 s left in this phase",
        "20/24 warm start  loss 2  gradient 0.432",
        "21/24 learn  reward 0.25  correct 61%  parsed 99%  steps 1.8  abacus 75%, almanac 25%  entropy 0.555  gradient 0.432  2 of 12 groups with equal rewards  $0.10 of $2.00, about $0.30 still to spend  4 min 30 s left",
        "22/24 learn  reward 0.75  correct 61%  parsed 99%  steps 1.8  abacus 75%, almanac 25%  entropy 0.555  gradient 0.432  2 of 12 groups with equal rewards  $0.20 of $2.00, about $0.20 still to spend  3 min 00 s left",
        "Stopped at the cost limit of $2.00 after 22 of 24 iterations.",
        "Resume with `divisi train resume runs/gym --max-cost <more>`. Write a report with `divisi train report runs/gym`."
      ]
    )
  })
})

describe("the cost of a resumed run", () => {
  it("is the total paid, and the end also shows what the stored iterations cost", () => {
    const resumed = { ...learned(21, 0.75), costUsd: 0.26 } as TrainingEvent.TrainingEvent
    const view = fold([...run.slice(0, -2), resumed])
    assert.include(TrainLines.plain(view, resumed).join(""), "$0.26 of $2.00")
    const ended = event({ type: "training-finished", ending: { type: "finished" }, iteration: 22, costUsd: 0.26 })
    assert.include(
      TrainLines.ending(TrainView.apply(view, ended)!).join(""),
      "22 iterations, $0.26 paid ($0.20 for the stored iterations)."
    )
  })
})

describe("what is left of a phase", () => {
  it("goes by its last ten iterations, and not by those of another phase", () => {
    const view = fold(run)
    assert.deepStrictEqual(TrainView.left(view), { millis: 180_000, costUsd: 0.2 })
    assert.isUndefined(TrainView.left(fold(run.slice(0, 24))))
    assert.isUndefined(TrainView.left(fold([started])))
  })
})

describe("plans that collapse to one shape", () => {
  const told = (shapes: ReadonlyArray<readonly [most: string, share: number]>, correct: number) => {
    let view = TrainView.apply(undefined, started)
    let lines: ReadonlyArray<string> = []
    for (const [at, [most, share]] of shapes.entries()) {
      const { metrics } = learned(20 + at, 0.7) as { readonly metrics: Metrics.GrpoMetrics }
      const next = event({
        type: "iteration-finished",
        costUsd: metrics.costUsd,
        metrics: { ...metrics, correct, shapes: { entropy: share < 1 ? 0.1 : 0, most, share } }
      })
      view = TrainView.apply(view, next)
      lines = TrainLines.plain(view!, next)
    }
    return lines.join("")
  }
  const five = Array.from({ length: 5 }, () => ["abacus > almanac(0)", 1] as const)

  it("are reported after five iterations while answers are wrong", () => {
    assert.include(told(five, 0.6), "SAME PLAN SHAPE for 5 iterations: abacus > almanac(0)")
  })

  it("are not an alarm before that, if all answers are right, or if plans differ", () => {
    assert.notInclude(told(five.slice(1), 0.6), "ALIKE")
    assert.notInclude(told(five, 1), "ALIKE")
    assert.notInclude(told([...five, ["abacus", 0.9]], 0.6), "ALIKE")
    assert.notInclude(told([...five.slice(1), ["abacus", 1]], 0.6), "ALIKE")
  })
})
