/** Provider gates with many callers, and their state after all callers have left. */
import { Resilience, Seed } from "@divisi/core"
import type { Worker } from "@divisi/core/Worker"
import * as ProviderGate from "@divisi/provider-kit/ProviderGate"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { maybe } from "./draws.ts"

/** A gate, and the number of calls of a provider that can certainly pass at the same time. */
export interface Door {
  readonly gate: Resilience.Gate
  readonly places: number
}

const make = (limits: ProviderGate.Limits, options: ProviderGate.Options = {}): Door => {
  const layer = ProviderGate.layer({ ...options, limits: { "*": limits } })
  const built = Effect.runSync(Layer.buildWithScope(layer, Scope.makeUnsafe())) as Context.Context<never>
  // An open circuit admits one call as a trial, and the others wait for its end.
  const places = options.breaker === undefined ? (limits.concurrency ?? 1) : 1
  return { gate: Context.getUnsafe(built, Resilience.Gate)!, places }
}

/** One call at a time, or two. */
export const narrow = (draw: Seed.Draw, share: number): Door | undefined =>
  maybe(draw, share, () => make({ concurrency: 1 + Seed.below(draw, 2) }))

/** Limits of any kind, or no gate at all. */
export const any = (draw: Seed.Draw): Door | undefined => {
  if (!Seed.chance(draw, 0.3)) return undefined
  const limits = {
    concurrency: maybe(draw, 0.4, () => 1 + Seed.below(draw, 3)),
    requestsPerMinute: maybe(draw, 0.3, () => 1 + Seed.below(draw, 30)),
    tokensPerMinute: maybe(draw, 0.2, () => 100 + Seed.below(draw, 4000))
  }
  return make(limits, {
    breaker: maybe(draw, 0.5, () => ({ failures: 1 + Seed.below(draw, 3), openMillis: 1 + Seed.below(draw, 200) })),
    maxPauseMillis: maybe(draw, 0.5, () => Seed.below(draw, 1000))
  })
}

/**
 * Starts as many calls of each provider as may pass at the same time. Each waits inside for the others, so none ends if
 * a slot was lost. Returns the number of calls that have not ended.
 */
export const tryAll = (
  { gate, places }: Door,
  workers: ReadonlyArray<Worker>,
  context: Context.Context<never>
): (() => number) => {
  let waiting = 0
  for (const worker of new Map(workers.map((worker) => [worker.provider ?? worker.id, worker])).values()) {
    const together = Latch.makeUnsafe()
    let inside = 0
    const call = Effect.suspend(() => (++inside === places ? together.open : together.await))
    for (let place = 0; place < places; place++) {
      waiting += 1
      // A gate may also refuse calls for some time; then no call waits for it.
      const passed = Effect.catch(
        gate.enter(worker, 1, () => call),
        () => together.open
      )
      Effect.runForkWith(context)(passed).addObserver(() => {
        waiting -= 1
      })
    }
  }
  return () => waiting
}
