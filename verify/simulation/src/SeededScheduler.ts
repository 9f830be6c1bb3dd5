/**
 * Effect's scheduler and clock, controlled by a seed.
 *
 * The seed determines which task runs next, how long a fiber runs before it yields, and which of several simultaneous
 * timers fires first. Time stands still while any task can run, then jumps to the next timer. Each seed therefore
 * produces one order of events, which is the same on every machine and possible with a real scheduler.
 */
import { Seed } from "@divisi/core"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scheduler from "effect/Scheduler"

/** Which of the waiting tasks runs next: any of them, the oldest, or the newest. */
type Order = "any" | "oldest" | "newest"

/** Timers by their moments, of which the earliest is found in logarithmic time. */
const makeTimers = () => {
  const moments = new Map<number, Set<() => void>>()
  /** A heap of the moments. */
  const heap: Array<number> = []
  let count = 0

  const push = (at: number) => {
    let place = heap.push(at) - 1
    for (let parent = (place - 1) >> 1; place > 0 && heap[parent]! > at; parent = (place - 1) >> 1) {
      heap[place] = heap[parent]!
      place = parent
    }
    heap[place] = at
  }
  const pop = (): number => {
    const [first, last] = [heap[0]!, heap.pop()!]
    if (heap.length === 0) return first
    let place = 0
    for (let child = 1; child < heap.length; child = 2 * place + 1) {
      if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child += 1
      if (heap[child]! >= last) break
      heap[place] = heap[child]!
      place = child
    }
    heap[place] = last
    return first
  }

  return {
    count: () => count,
    add: (at: number, fire: () => void) => {
      let fires = moments.get(at)
      if (fires === undefined) {
        fires = new Set()
        moments.set(at, fires)
        push(at)
      }
      fires.add(fire)
      count += 1
    },
    /** Returns whether the timer was there. */
    remove: (at: number, fire: () => void): boolean => {
      const isThere = moments.get(at)?.delete(fire) === true
      if (isThere) count -= 1
      return isThere
    },
    /** The earliest moment with timers, and these. There must be one. */
    earliest: (): { readonly at: number; readonly fires: ReadonlyArray<() => void> } => {
      for (;;) {
        const fires = [...moments.get(heap[0]!)!]
        if (fires.length > 0) return { at: heap[0]!, fires }
        moments.delete(pop())
      }
    }
  }
}

/** The work does not end. */
class Endless extends Error {}

/** A scheduler, its clock, and what drives both. */
export interface SeededScheduler {
  readonly scheduler: Scheduler.Scheduler
  readonly clock: Clock.Clock
  /** Milliseconds since the start, which no change of the wall clock moves. */
  readonly elapsed: () => number
  /** Calls `fire` after the given number of milliseconds; the returned function cancels it. */
  readonly after: (millis: number, fire: () => void) => () => void
  /** Moves the wall clock, as an administrator or a time server would. */
  readonly shiftWallClock: (millis: number) => void
  /** Fibers that sleep. */
  readonly sleepers: () => number
  /** The number of tasks that have run. */
  readonly tasks: () => number
  /** Runs all tasks, and lets time pass until there are neither tasks nor timers. */
  readonly rest: (options: {
    /** Called after each task. */
    readonly onTask: () => void
    /** Whether promises are under way that may make tasks. */
    readonly promises: boolean
    /** Whether to stop before time advances. */
    readonly isEnough: () => boolean
    /** Waits for work outside of the simulation, such as statements of a database, before the next timer. */
    readonly outside?: (() => Promise<void>) | undefined
    /** The most tasks of the whole simulation. Default: 300,000. */
    readonly mostTasks?: number | undefined
  }) => Promise<void>
}

/** More tasks than any run of a simulation needs. */
const defaultMostTasks = 300_000

/** The wall clock at the start. */
const start = Date.UTC(2026, 0, 1)

/** The average number of operations of a fiber before it yields; 0 for no limit. */
const patience = [0, 0, 60, 15, 5]

const nanosPerMilli = 1_000_000n

/** Callbacks of promises run before Node's next turn: `setImmediate` waits until all microtasks are done. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

const makeClock = (
  elapsed: () => number,
  wall: () => number,
  sleep: (millis: number, wake: () => void) => () => void
): Clock.Clock => {
  const nanos = (millis: number) => BigInt(Math.round(millis)) * nanosPerMilli
  return {
    currentTimeMillisUnsafe: wall,
    currentTimeMillis: Effect.sync(wall),
    currentTimeNanosUnsafe: () => nanos(wall()),
    currentTimeNanos: Effect.sync(() => nanos(wall())),
    monotonicTimeNanosUnsafe: () => nanos(elapsed()),
    monotonicTimeNanos: Effect.sync(() => nanos(elapsed())),
    sleep: (duration) => {
      const millis = Duration.toMillis(duration)
      if (millis <= 0) return Effect.yieldNow
      if (!Number.isFinite(millis)) return Effect.never
      return Effect.callback((resume) => {
        const cancel = sleep(millis, () => resume(Effect.void))
        return Effect.sync(cancel)
      })
    }
  }
}

/** How fibers yield: as drawn, never, often, or unevenly, so that one overtakes another. */
export type Haste = "drawn" | "never" | "often" | "uneven"

/** Makes a scheduler that uses the given draws. */
export const make = (draw: Seed.Draw, haste: Haste = "drawn"): SeededScheduler => {
  const order = Seed.pick<Order>(draw, ["any", "any", "any", "oldest", "newest"])
  const drawn = Seed.pick(draw, patience)
  const operations = haste === "never" ? 0 : haste === "often" ? 2 : drawn
  const tasks: Array<() => void> = []
  const timers = makeTimers()
  let now = 0
  let shift = 0
  let count = 0
  let sleepers = 0

  const unevenGap = () => 1 + Seed.below(draw, Seed.chance(draw, 0.5) ? 4 : 60)
  const gap = () =>
    haste === "uneven"
      ? unevenGap()
      : operations === 0
        ? Number.POSITIVE_INFINITY
        : 1 + Seed.below(draw, 2 * operations)
  let untilYield = gap()

  const dispatcher: Scheduler.SchedulerDispatcher = {
    scheduleTask: (task) => {
      tasks.push(task)
    },
    flush: () => {
      throw new Error("Nothing waits for all tasks in a simulation.")
    }
  }

  const next = (): (() => void) => {
    const at = order === "any" ? Seed.below(draw, tasks.length) : order === "oldest" ? 0 : tasks.length - 1
    return tasks.splice(at, 1)[0]!
  }

  const after: SeededScheduler["after"] = (millis, fire) => {
    const at = now + millis
    const once = () => fire()
    timers.add(at, once)
    return () => void timers.remove(at, once)
  }

  const sleep = (millis: number, wake: () => void) => {
    let isAsleep = true
    sleepers += 1
    const rise = () => {
      if (isAsleep) sleepers -= 1
      isAsleep = false
    }
    const cancel = after(millis, () => {
      rise()
      wake()
    })
    return () => {
      rise()
      cancel()
    }
  }

  /** Time jumps to the next timer; all timers of that moment become tasks. */
  const jump = () => {
    const { at, fires } = timers.earliest()
    now = at
    for (const fire of fires) {
      tasks.push(() => {
        // It may have been taken back since.
        if (timers.remove(at, fire)) fire()
      })
    }
  }

  const rest: SeededScheduler["rest"] = async ({
    isEnough,
    mostTasks = defaultMostTasks,
    onTask,
    outside,
    promises
  }) => {
    for (;;) {
      while (tasks.length > 0) {
        count += 1
        if (count > mostTasks) throw new Endless(`it does not come to rest: ${count} tasks were run`)
        next()()
        onTask()
      }
      if (promises) await turn()
      await outside?.()
      if (tasks.length > 0) continue
      if (timers.count() === 0 || isEnough()) return
      jump()
    }
  }

  return {
    scheduler: {
      executionMode: "async",
      // No scheduler has a fiber yield before its first operation. One that is interrupted before it has begun would then
      // be begun after all, as Effect lets go of the interruption with what the fiber has yielded.
      shouldYield: ({ currentOpCount }) => {
        untilYield -= 1
        if (untilYield > 0 || currentOpCount <= 1) return false
        untilYield = gap()
        return true
      },
      makeDispatcher: () => dispatcher
    },
    clock: makeClock(
      () => now,
      () => start + now + shift,
      sleep
    ),
    elapsed: () => now,
    after,
    shiftWallClock: (millis) => {
      shift += millis
    },
    sleepers: () => sleepers,
    tasks: () => count,
    rest
  }
}
