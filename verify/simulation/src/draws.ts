/** Generates a simulated world's limits, failures, settings and caches. */
import { type Budget, ResponseCache, Seed } from "@divisi/core"
import type * as Conductor from "@divisi/core/Conductor"
import * as Nonsense from "./nonsense.ts"
import type * as SeededScheduler from "./SeededScheduler.ts"
import type * as SimulatedWorker from "./SimulatedWorker.ts"

export const maybe = <A>(draw: Seed.Draw, share: number, value: () => A): A | undefined =>
  Seed.chance(draw, share) ? value() : undefined

/**
 * The number of steps of a workflow: up to eight, and small numbers more often, because most mistakes need only a few
 * steps.
 */
const sizeOf = (draw: Seed.Draw): number => 1 + Math.min(Seed.below(draw, 8), Seed.below(draw, 8))

/** Limits for one call or two at a time. */
const tightLimits = (draw: Seed.Draw, most: number): Budget.Limits => ({ tokens: 100 + Seed.below(draw, most) })

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
    endless: isWild ? 0.02 : 0
  }
}

/** Those behind one door are of good will. */
export const narrowMoodsOf = (draw: Seed.Draw): SimulatedWorker.Moods => ({
  fail: Seed.pick(draw, [0, 0, 0.1]),
  hang: 0,
  nonsense: 0,
  endless: 0
})

/** A few steps, and no other limits. */
export const narrowSettingsOf = (draw: Seed.Draw) => ({
  maxSteps: 2 + Seed.below(draw, 5),
  recursion: 0,
  skipUnseen: false,
  seed: 1,
  worker: { maxOutputTokens: 16 + Seed.below(draw, 48) },
  budget: undefined,
  threshold: undefined
})

export const limitsOf = ({
  draw,
  isNarrow,
  isTight
}: Pick<SimulatedWorker.World, "draw" | "isNarrow" | "isTight">): Budget.Limits =>
  isTight ? tightLimits(draw, isNarrow ? 250 : 500) : looseLimits(draw)

/** Settings for which the order of tasks does not matter. */
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

/** The worker that takes over: none, the next one, or the one that a function returns, valid or not. */
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

/**
 * What many calls need at the same time in a narrow world: an amount on an account, a slot at a gate, or one answer.
 */
export const focuses = ["money", "door", "answers"] as const

/** How a released waiter continues: in the same moment, or after another one has overtaken it. */
export const hastes: Readonly<Record<(typeof focuses)[number], ReadonlyArray<SeededScheduler.Haste>>> = {
  money: ["never", "often"],
  door: ["often"],
  answers: ["uneven"]
}

export const cacheOf = (draw: Seed.Draw, share: number): ResponseCache.ResponseCache | undefined =>
  maybe(draw, share, () =>
    ResponseCache.makeMemory({ maxEntries: 1 + Seed.below(draw, 20), timeToLive: maybe(draw, 0.3, () => 40) })
  )
