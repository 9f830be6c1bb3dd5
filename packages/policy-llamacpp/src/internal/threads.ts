/**
 * Determines the number of threads for a model. llama.cpp's threads wait for each other several hundred times per
 * token, so a single thread without a core stops all of them. With as many threads as free cores, other processes cost
 * only their share of the speed; with one more, they cost nearly all of it.
 */
import os from "node:os"
import type { LlamaContext } from "node-llama-cpp"

/** Accumulated processor time, in milliseconds. */
export interface Times {
  /** The wall-clock time. */
  readonly at: number
  /** Time used by all processes on all cores. */
  readonly busy: number
  /** Time used by this process. */
  readonly own: number
}

/** Returns the current times of this machine. */
export const read = (): Times => {
  const { system, user } = process.cpuUsage()
  const cores = os.cpus().map(({ times: { irq, nice, sys, user } }) => user + nice + sys + irq)
  return { at: performance.now(), busy: cores.reduce((sum, one) => sum + one, 0), own: (user + system) / 1000 }
}

/** Returns the default for a machine with the given number of physical cores: one core is left for other processes. */
export const byDefault = (cores: number): number => Math.max(1, cores - 1)

/** A core counts as free if other processes use less than this share of it. */
const negligible = 0.3

/** Returns the number of threads for the cores left free by other processes, from 1 to `most`. */
export const fitting = (most: number, cores: number, before: Times, now: Times): number => {
  const elapsed = now.at - before.at
  if (elapsed <= 0) return most
  const others = Math.max(0, now.busy - before.busy - (now.own - before.own)) / elapsed
  return Math.min(most, Math.max(1, Math.floor(cores - others + negligible)))
}

/** The internal fields of a node-llama-cpp context that store its number of threads. */
interface Threading {
  _idealThreads?: number
  readonly _threadSplitterConsumer?: { _wantedThreads?: number } | undefined
}

/**
 * Sets the number of threads of a context, starting with the next batch. Has no effect for versions that store the
 * number elsewhere.
 */
export const set = (context: LlamaContext, threads: number): void => {
  const internals = context as unknown as Threading
  if (typeof internals._idealThreads !== "number") return
  internals._idealThreads = threads
  const consumer = internals._threadSplitterConsumer
  if (typeof consumer?._wantedThreads === "number") consumer._wantedThreads = threads
}

/**
 * How often the machine is measured while a model runs, and the minimum interval for a meaningful measurement, in
 * milliseconds.
 */
const [everyMillis, leastMillis] = [1000, 200]

/** Adapts the number of threads of a context to the load of the machine during runs. */
export interface Fit {
  /** Called when a run starts, and when it ends. */
  readonly begin: () => void
  readonly end: () => void
}

/** Changes nothing, because the number of threads was set explicitly. */
export const fixed: Fit = { begin: () => {}, end: () => {} }

/**
 * Measures the machine once per second while runs are in progress. `apply` is called with the number of threads when it
 * changes.
 */
export const fit = (
  most: number,
  apply: (threads: number) => void,
  { cores = os.availableParallelism(), times = read }: { readonly cores?: number; readonly times?: () => Times } = {}
): Fit => {
  let running = 0
  let threads = most
  let before = times()
  let timer: NodeJS.Timeout | undefined
  const look = () => {
    const now = times()
    if (now.at - before.at < leastMillis) return
    const next = fitting(most, cores, before, now)
    before = now
    if (next === threads) return
    threads = next
    apply(next)
  }
  return {
    begin: () => {
      running += 1
      if (running > 1) return
      look()
      timer = setInterval(look, everyMillis)
      timer.unref()
    },
    end: () => {
      running -= 1
      if (running === 0) clearInterval(timer)
    }
  }
}
