/**
 * The number of threads for a model. llama.cpp's threads wait for each other several hundred times per token, so one
 * thread without a core stops them all. With as many threads as free cores, a busy machine costs its share; with one
 * more, it costs nearly everything.
 */
import os from "node:os"
import type { LlamaContext } from "node-llama-cpp"

/** Processor time so far, in milliseconds. */
export interface Times {
  /** The clock. */
  readonly at: number
  /** Of all cores and processes. */
  readonly busy: number
  /** Of this process. */
  readonly own: number
}

/** The times of this machine. */
export const read = (): Times => {
  const { system, user } = process.cpuUsage()
  const cores = os.cpus().map(({ times: { irq, nice, sys, user } }) => user + nice + sys + irq)
  return { at: performance.now(), busy: cores.reduce((sum, one) => sum + one, 0), own: (user + system) / 1000 }
}

/** The default of a model on a machine with so many physical cores: one core is left to the rest of the machine. */
export const byDefault = (cores: number): number => Math.max(1, cores - 1)

/** A core that is used for less than this share by other processes counts as free. */
const negligible = 0.3

/** Threads for the cores that other processes leave free, from 1 to `most`. */
export const fitting = (most: number, cores: number, before: Times, now: Times): number => {
  const elapsed = now.at - before.at
  if (elapsed <= 0) return most
  const others = Math.max(0, now.busy - before.busy - (now.own - before.own)) / elapsed
  return Math.min(most, Math.max(1, Math.floor(cores - others + negligible)))
}

/** The parts of a context of node-llama-cpp that hold its number of threads. They are not public. */
interface Threading {
  _idealThreads?: number
  readonly _threadSplitterConsumer?: { _wantedThreads?: number } | undefined
}

/** Sets the threads of a context from its next batch on. A version that keeps the number elsewhere is left as it is. */
export const set = (context: LlamaContext, threads: number): void => {
  const internals = context as unknown as Threading
  if (typeof internals._idealThreads !== "number") return
  internals._idealThreads = threads
  const consumer = internals._threadSplitterConsumer
  if (typeof consumer?._wantedThreads === "number") consumer._wantedThreads = threads
}

/** How often the machine is looked at while a model runs, and the shortest time that says anything, in milliseconds. */
const [everyMillis, leastMillis] = [1000, 200]

/** Fits the threads of a context to the machine while something runs. */
export interface Fit {
  /** Called when a run begins, and when it has ended. */
  readonly begin: () => void
  readonly end: () => void
}

/** Fits to nothing: the number was chosen. */
export const fixed: Fit = { begin: () => {}, end: () => {} }

/** Checks the machine once a second while runs are in progress. `apply` is called with the number when it changes. */
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
