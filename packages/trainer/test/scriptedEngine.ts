/** An engine that does nothing but take its time, on the test's clock. */
import * as Effect from "effect/Effect"
import { TestClock } from "effect/testing"
import type { Engine } from "../src/Engine.ts"

export interface Options {
  /** How long each call takes, in turn. */
  readonly sampleMillis: ReadonlyArray<number>
  readonly trainMillis: ReadonlyArray<number>
  /** Of each completion. */
  readonly tokens: number
}

export const scripted = ({ sampleMillis, tokens, trainMillis }: Options): Engine => {
  const left = { sample: [...sampleMillis], train: [...trainMillis] }
  const spend = (millis: Array<number>) => TestClock.adjust(millis.shift() ?? 0)
  const completion = Array.from({ length: tokens }, () => 1)
  const refuse = Effect.die(new Error("This engine only takes its time."))
  return {
    name: "scripted",
    model: "none",
    capabilities: { losses: ["crossEntropy"], entropy: false, deterministic: true, contextTokens: 100, exports: [] },
    tokenizer: { render: () => [1], encode: () => [1], decode: () => "", endToken: 0 },
    sampler: Effect.succeed({
      version: 0,
      sample: ({ count = 1 }) =>
        Effect.as(
          spend(left.sample),
          Array.from({ length: count }, () => ({ tokens: completion, logProbs: completion, reason: "stop" as const }))
        )
    }),
    forward: () => refuse,
    forwardBackward: () => Effect.as(spend(left.train), { logProbs: [] }),
    step: () => refuse,
    save: () => refuse,
    load: () => refuse,
    export: () => refuse
  }
}
