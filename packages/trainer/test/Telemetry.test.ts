import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Metrics } from "../src/Metrics.ts"
import * as Telemetry from "../src/Telemetry.ts"
import type { TrainingEvent } from "../src/TrainingEvent.ts"
import { metrics } from "./madeUpMetrics.ts"

/** Returns the contents of the registry after listening to a run. */
const recorded = (all: ReadonlyArray<Metrics>) => {
  const program = Effect.gen(function* () {
    const listener = yield* Telemetry.listener
    listener({ type: "training-started", at: 0, config: { name: "mine" } } as TrainingEvent)
    for (const metrics of all) listener({ type: "iteration-finished", at: 0, metrics, costUsd: metrics.costUsd })
    return yield* Metric.snapshot
  })
  return Effect.runSync(Effect.provideService(program, Metric.MetricRegistry, new Map()))
}

describe("telemetry", () => {
  it("holds the last iteration in gauges and adds up the run in counters", () => {
    const all = metrics(3, 4)
    const snapshot = recorded(all)
    const of = (id: string, attributes: Record<string, string> = {}) =>
      snapshot.filter(
        (one) => one.id === id && Object.entries(attributes).every(([key, value]) => one.attributes?.[key] === value)
      )
    const last = all.at(-1)!
    assert.strictEqual(last.type, "grpo")
    if (last.type !== "grpo") return
    const [reward] = of("divisi.training.reward")
    assert.deepInclude(reward!.state, { value: last.rewardMean })
    assert.deepInclude(reward!.attributes, {
      "divisi.training.run": "mine",
      "divisi.training.phase": "learn",
      unit: "1"
    })
    assert.deepInclude(of("divisi.training.rollouts")[0]!.state, { count: 4 * 160 })
    const [tokens] = of("gen_ai.client.token.usage", { "gen_ai.token.type": "output" })
    assert.deepInclude(tokens!.state, { count: 4 * 9_000 })
    const steps = all.reduce((sum, one) => sum + (one.type === "grpo" ? one.kinds.logic!.workers.abacus! : 0), 0)
    const series = { "gen_ai.request.model": "abacus", "divisi.task.kind": "logic" }
    assert.deepInclude(of("divisi.training.worker.steps", series)[0]!.state, { count: steps })
    assert.strictEqual(of("divisi.training.loss", { "divisi.training.phase": "warm start" }).length, 1)
  })

  it("records nothing that an engine does not tell", () => {
    const { entropy: _, gradientNorm: __, ...rest } = metrics(0, 1)[0]! as Metrics & { entropy?: number | undefined }
    const names = recorded([rest as Metrics]).map(({ id }) => id)
    assert.include(names, "divisi.training.surprisal")
    assert.notInclude(names, "divisi.training.entropy")
    assert.notInclude(names, "divisi.training.gradient_norm")
  })
})
