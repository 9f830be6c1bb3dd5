/**
 * `pnpm simulate`: many seeds on all cores, or one seed again.
 *
 * Which seeds fail and how many were simulated is printed to standard output, progress to standard error; the exit
 * code is 1 when anything does not hold.
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

/** What was found in some seeds. */
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
  /** A run that survives its processes, instead of some runs at once in one. */
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

/** Loads what is tested, with the mutant planted where one is named. */
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
  // Who plays a seed again sees where errors come from; to write that down costs a search a tenth of its time.
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

/** Runs one seed twice, and prints its events and what does not hold. */
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

/** How often progress is told where it goes into a file, in milliseconds. */
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

/** What a search is asked for. */
interface Search {
  readonly seeds: Batch
  /** How many failures end it. */
  readonly most: number
  readonly threads: number
  readonly subject: Subject
}

/** Runs many seeds on many threads, until all are done, enough of them have failed, or somebody stops it. */
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

const main = async (): Promise<boolean> => {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "20000" },
      from: { type: "string", default: "0" },
      seed: { type: "string" },
      most: { type: "string", default: "10" },
      threads: { type: "string", default: String(os.availableParallelism()) },
      mutant: { type: "string" },
      survival: { type: "boolean", default: false },
      programs: { type: "boolean", default: false }
    }
  })
  const { from, most, mutant, programs, seed, seeds, survival, threads } = values
  const subject = { mutant, programs, survival }
  if (seed !== undefined) return replay(Number(seed), subject)
  return search({
    seeds: { from: Number(from), count: Number(seeds) },
    most: Number(most),
    threads: Number(threads),
    subject
  })
}

if (isMainThread) process.exitCode = (await main()) ? 0 : 1
else await serve()
