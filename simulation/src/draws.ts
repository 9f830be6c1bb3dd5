/** What a simulation draws for its world: limits, moods, settings, gates and caches. */
import type * as Budget from "@divisi/core/Budget"
import type * as Conductor from "@divisi/core/Conductor"
import { Gate } from "@divisi/core/Resilience"
import * as ResponseCache from "@divisi/core/ResponseCache"
import * as Seed from "@divisi/core/Seed"
import * as ProviderGate from "@divisi/provider-kit/ProviderGate"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Nonsense from "./nonsense.ts"
import type * as SimulatedWorker from "./SimulatedWorker.ts"

export const maybe = <A>(draw: Seed.Draw, share: number, value: () => A): A | undefined =>
  Seed.chance(draw, share) ? value() : undefined

/** How many steps a workflow may have: up to eight, and more often few, as most mistakes need no more. */
const sizeOf = (draw: Seed.Draw): number => 1 + Math.min(Seed.below(draw, 8), Seed.below(draw, 8))

/** Room for one call or two at once. */
const tightLimits = (draw: Seed.Draw): Budget.Limits => ({ tokens: 100 + Seed.below(draw, 500) })

const looseLimits = (draw: Seed.Draw): Budget.Limits => ({
  costUsd: maybe(draw, 0.25, () => 0.0005 + 0.02 * draw()),
  tokens: maybe(draw, 0.35, () => 100 + Seed.below(draw, 4000)),
  calls: maybe(draw, 0.2, () => Seed.below(draw, 12))
})

export const moodsOf = (draw: Seed.Draw, isSteady: boolean): SimulatedWorker.Moods => {
  const fail = Seed.pick(draw, [0, 0.1, 0.4])
  if (isSteady) return { fail, hang: 0, nonsense: 0, endless: 0 }
  const isWild = Seed.chance(draw, 0.25)
  return {
    fail,
    hang: Seed.pick(draw, [0, 0, 0.05]),
    nonsense: isWild ? 0.15 : 0,
    endless: isWild ? 0.002 : 0
  }
}

export const limitsOf = ({ draw, isTight }: Pick<SimulatedWorker.World, "draw" | "isTight">): Budget.Limits =>
  isTight ? tightLimits(draw) : looseLimits(draw)

/** Settings under which nothing depends on what comes first. */
export const steadySettingsOf = (draw: Seed.Draw) => ({
  maxSteps: sizeOf(draw),
  recursion: Seed.pick(draw, [0, 0, 1, 2]),
  worker: { maxOutputTokens: maybe(draw, 0.7, () => 16 + Seed.below(draw, 48)) },
  retry: { maxAttempts: 1 + Seed.below(draw, 3), baseDelayMillis: Seed.below(draw, 50) },
  reassign: Seed.pick(draw, ["never", "next"] as const),
  skipUnseen: Seed.chance(draw, 0.5),
  seed: 1
})

export const settingsOf = (draw: Seed.Draw) => ({
  maxSteps: sizeOf(draw),
  recursion: Seed.pick(draw, [0, 0, 1, 2]),
  self: maybe(draw, 0.1, () => ({ maxDepth: 1 + Seed.below(draw, 2) })),
  budget: maybe(draw, 0.4, () => ({
    ...looseLimits(draw),
    durationMillis: maybe(draw, 0.4, () => 1 + Seed.below(draw, 300))
  })),
  worker: {
    maxOutputTokens: maybe(draw, 0.7, () => 16 + Seed.below(draw, 48)),
    temperature: maybe(draw, 0.3, () => 0),
    timeoutMillis: maybe(draw, 0.3, () => 1 + Seed.below(draw, 60))
  },
  retry: {
    maxAttempts: 1 + Seed.below(draw, 3),
    baseDelayMillis: Seed.below(draw, 50),
    jitter: Seed.chance(draw, 0.5)
  },
  onStepFailure: Seed.pick(draw, [undefined, "report", "end"] as const),
  skipUnseen: Seed.pick(draw, [undefined, true, false]),
  threshold: maybe(draw, 0.3, () => 0.5)
})

/** Who takes over: nobody, the next, or what a function says, right or wrong. */
export const reassignOf = ({ draw, moods }: SimulatedWorker.World): Conductor.Options["reassign"] =>
  Seed.pick<() => Conductor.Options["reassign"]>(draw, [
    () => undefined,
    () => "never",
    () => "next",
    () => () => {
      if (Seed.chance(draw, moods.nonsense)) throw Nonsense.thrown(draw)
      return Seed.pick(draw, [0, 1, 2, -1, 0.5, undefined])
    }
  ])()

export const gateOf = (draw: Seed.Draw): Gate | undefined => {
  if (!Seed.chance(draw, 0.3)) return undefined
  const options: ProviderGate.Options = {
    limits: {
      "*": {
        concurrency: maybe(draw, 0.4, () => 1 + Seed.below(draw, 3)),
        requestsPerMinute: maybe(draw, 0.3, () => 1 + Seed.below(draw, 30)),
        tokensPerMinute: maybe(draw, 0.2, () => 100 + Seed.below(draw, 4000))
      }
    },
    breaker: maybe(draw, 0.5, () => ({ failures: 1 + Seed.below(draw, 3), openMillis: 1 + Seed.below(draw, 200) })),
    maxPauseMillis: maybe(draw, 0.5, () => Seed.below(draw, 1000))
  }
  const built = Effect.runSync(Layer.buildWithScope(ProviderGate.layer(options), Scope.makeUnsafe()))
  return Context.getUnsafe(built as Context.Context<never>, Gate)
}

export const cacheOf = (draw: Seed.Draw): ResponseCache.ResponseCache | undefined =>
  maybe(draw, 0.5, () =>
    ResponseCache.makeMemory({ maxEntries: 1 + Seed.below(draw, 20), timeToLive: maybe(draw, 0.3, () => 40) })
  )
