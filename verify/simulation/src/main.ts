/**
 * `pnpm simulate`: simulates many seeds on all cores, or repeats one seed.
 *
 * Failed seeds and the number of simulated seeds are printed to standard output, and progress to standard error. The
 * exit code is 1 if anything failed.
 */
import os from "node:os"
import { parseArgs } from "node:util"
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads"
import * as Mutants from "./Mutants.ts"
import type { Found } from "./Simulation.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Some seeds, one after the other. */
interface Batch {
  readonly from: number
  readonly count: number
}

/** The results of several seeds. */
interface Findings {
  readonly seeds: number
  readonly runs: number
  readonly calls: number
  readonly events: number
  readonly tasks: number
  readonly failures: ReadonlyArray<Pick<Found, "seed" | "problems">>
}

/** What is simulated. */
interface Subject {
  /** Simulates a run that survives its processes, instead of several runs in one process. */
  readonly survival: boolean
  /** A program instead of workflows of steps. */
  readonly programs: boolean
  readonly mutant: string | undefined
}

const nothing: Findings = { seeds: 0, runs: 0, calls: 0, events: 0, tasks: 0, failures: [] }

/** A search that has found enough ends with the batches that are under way. */
const batchSize = 50

// -------------------------------------------------------------------------------------------------------------------
// Seeds
// -------------------------------------------------------------------------------------------------------------------

/** Loads the code under test, with the named mutant. */
const load = async ({ mutant, programs, survival }: Subject) => {
  if (mutant !== undefined) Mutants.plant(mutant)
  if (programs) return import("./Programs.ts")
  return survival ? import("./Survival.ts") : import("./Simulation.ts")
}

const add = (sum: Findings, { calls, events, problems, runs, seed, tasks }: Found): Findings => ({
  seeds: sum.seeds + 1,
  runs: sum.runs + runs,
  calls: sum.calls + calls,
  events: sum.events + events.length,
  tasks: sum.tasks + tasks,
  failures: problems.length === 0 ? sum.failures : [...sum.failures, { seed, problems }]
})

const join = (left: Findings, right: Findings): Findings => ({
  seeds: left.seeds + right.seeds,
  runs: left.runs + right.runs,
  calls: left.calls + right.calls,
  events: left.events + right.events,
  tasks: left.tasks + right.tasks,
  failures: [...left.failures, ...right.failures].sort((one, other) => one.seed - other.seed)
})

/** A thread: simulates the batches that it is sent. */
const serve = async () => {
  const { simulate } = await load(workerData as Subject)
  // A replay shows stack traces. Recording them would slow down a search by a tenth.
  Error.stackTraceLimit = 0
  parentPort!.on("message", async ({ count, from }: Batch) => {
    let findings = nothing
    for (let seed = from; seed < from + count; seed++) findings = add(findings, await simulate(seed))
    parentPort!.postMessage(findings)
  })
}

// -------------------------------------------------------------------------------------------------------------------
// Commands
// -------------------------------------------------------------------------------------------------------------------

const print = (line: string) => process.stdout.write(`${line}\n`)

const replayCommand = (seed: number, { mutant, programs, survival }: Subject) =>
  `pnpm simulate${survival ? " --survival" : programs ? " --programs" : ""} --seed ${seed}${mutant === undefined ? "" : ` --mutant ${mutant}`}`

const isSame = (one: Found, other: Found): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Runs one seed twice, and prints its events and violated conditions. */
const replay = async (seed: number, subject: Subject): Promise<boolean> => {
  const { simulate } = await load(subject)
  const found = await simulate(seed)
  for (const event of found.events) print(JSON.stringify(event))
  const { calls, problems, runs, tasks } = found
  print(`seed ${seed}: ${runs} runs, ${calls} calls, ${tasks} tasks`)
  for (const problem of problems) print(`  ${problem}`)
  const again = isSame(found, await simulate(seed))
  print(again ? "  the same when it is run again" : "  NOT the same when it is run again")
  return again && problems.length === 0
}

/** How often progress is printed into a file, in milliseconds. */
const tellMillis = 60_000

/** Says how far a search is: on a terminal in one line that is written over, elsewhere once in a while. */
const makeProgress = () => {
  let told = performance.now()
  return (text: string): void => {
    const { isTTY } = process.stderr
    if (isTTY) process.stderr.write(`\r${text}\u001B[K`)
    else if (text !== "" && performance.now() - told >= tellMillis) {
      told = performance.now()
      process.stderr.write(`${text}\n`)
    }
  }
}

/** The options of a search. */
interface Search {
  readonly seeds: Batch
  /** The number of failures that end it. */
  readonly most: number
  readonly threads: number
  readonly subject: Subject
}

/** Runs many seeds on many threads, until all are done, enough of them have failed, or the search is stopped. */
const search = async ({ most, seeds, subject, threads }: Search): Promise<boolean> => {
  const since = performance.now()
  const show = makeProgress()
  let found = nothing
  let next = seeds.from
  let end = seeds.from + seeds.count
  /** Batches under way, by their first seed: all seeds before the least of them are done. */
  const open = new Set<number>()
  const stop = () => {
    end = Math.min(end, next)
  }
  process.once("SIGINT", stop).once("SIGTERM", stop)
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const thread = new Worker(new URL(import.meta.url), { workerData: subject })
      let from = next
      const feed = () => {
        if (next >= end || found.failures.length >= most) {
          void thread.terminate()
          return resolve()
        }
        from = next
        const batch = { from, count: Math.min(batchSize, end - from) }
        next += batch.count
        open.add(from)
        thread.postMessage(batch)
      }
      thread.on("error", reject)
      thread.on("message", (findings: Findings) => {
        open.delete(from)
        found = join(found, findings)
        const perSecond = (1000 * found.seeds) / (performance.now() - since)
        show(
          `${found.seeds} of ${seeds.count} seeds, ${found.failures.length} failed, ${perSecond.toFixed(0)} a second; ` +
            `all before ${Math.min(next, ...open)} are done`
        )
        feed()
      })
      feed()
    })
  const before = process.cpuUsage()
  await Promise.all(Array.from({ length: Math.min(threads, Math.ceil(seeds.count / batchSize)) }, one))
  const { system, user } = process.cpuUsage(before)
  show("")
  for (const { problems, seed } of found.failures.slice(0, most)) {
    print(`seed ${seed} failed; again: ${replayCommand(seed, subject)}`)
    for (const problem of problems) print(`  ${problem}`)
  }
  const { calls, events, failures, runs, tasks } = found
  const millis = (user + system) / 1000 / Math.max(1, found.seeds)
  print(
    `${found.seeds} seeds from ${seeds.from}: ${runs} runs, ${calls} calls, ${events} events, ${tasks} tasks; ` +
      `${millis.toFixed(2)} ms of processor time a seed; ${failures.length} failed`
  )
  const left = seeds.from + seeds.count - next
  const what = subject.survival ? " --survival" : subject.programs ? " --programs" : ""
  if (left > 0) print(`the rest: pnpm simulate${what} --from ${next} --seeds ${left}`)
  return failures.length === 0
}

const defaults = { seeds: "20000", from: "0", most: "10", threads: String(os.availableParallelism()) }

const help = `Simulates random runs, each from its seed, and reports the seeds in which a promise does not hold.

Usage: pnpm simulate [options]

What is simulated (default: several runs at once in one process):
  --survival        one run in several processes, with a journal that fails
  --programs        plans with lists, items, conditions and quorums
  --mutant NAME     plants a mistake of verify/simulation/src/Mutants.ts first

Which seeds:
  --seeds N         number of seeds (${defaults.seeds})
  --from N          first seed (${defaults.from})
  --seed N          runs one seed twice, and prints its events and what does not hold
  --most N          number of failed seeds that end the search (${defaults.most})
  --threads N       number of threads (${defaults.threads}, one for each core)

The exit code is 1 if a seed fails, and 2 if an option is wrong.`

/** Reads the value of an option that is a whole number. */
const numberOf = (name: string, text: string, least = 0): number => {
  if (/^\d{1,15}$/.test(text) && Number(text) >= least) return Number(text)
  throw new TypeError(`--${name} must be a whole number of at least ${least}, not "${text}".`)
}

const readArguments = () => {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", short: "h", default: false },
      seeds: { type: "string", default: defaults.seeds },
      from: { type: "string", default: defaults.from },
      seed: { type: "string" },
      most: { type: "string", default: defaults.most },
      threads: { type: "string", default: defaults.threads },
      mutant: { type: "string" },
      survival: { type: "boolean", default: false },
      programs: { type: "boolean", default: false }
    }
  })
  const { from, help, most, mutant, programs, seed, seeds, survival, threads } = values
  if (survival && programs) throw new TypeError("--survival and --programs are two simulations: give one of them.")
  if (mutant !== undefined && !Object.hasOwn(Mutants.mutants, mutant)) {
    throw new TypeError(`There is no mutant "${mutant}". The mutants are ${Object.keys(Mutants.mutants).join(", ")}.`)
  }
  return {
    isHelp: help,
    seed: seed === undefined ? undefined : numberOf("seed", seed),
    search: {
      seeds: { from: numberOf("from", from), count: numberOf("seeds", seeds, 1) },
      most: numberOf("most", most, 1),
      threads: numberOf("threads", threads, 1),
      subject: { mutant, programs, survival }
    }
  }
}

/** Returns the exit code. */
const main = async (): Promise<number> => {
  let asked: ReturnType<typeof readArguments>
  try {
    asked = readArguments()
  } catch (error) {
    process.stderr.write(`${(error as Error).message} See pnpm simulate --help.\n`)
    return 2
  }
  if (asked.isHelp) {
    print(help)
    return 0
  }
  const holds = asked.seed === undefined ? search(asked.search) : replay(asked.seed, asked.search.subject)
  return (await holds) ? 0 : 1
}

if (isMainThread) process.exitCode = await main()
else await serve()
