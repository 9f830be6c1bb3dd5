/**
 * An evaluation on several machines. The machines share a list of samples in a database. Each one claims samples, runs
 * them and stores the results. If a sample is stored twice, the first result is used. When all samples are done, every
 * machine writes the same report.
 */
import { type Budget, Callback, Journal as CoreJournal, Elapsed, ResponseCache } from "@divisi/core"
import type * as Usage from "@divisi/core/Usage"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Report from "../report/Report.ts"
import * as ReportFile from "../report/ReportFile.ts"
import type { Evaluated, Options } from "./Evaluation.ts"
import * as Job from "./job.ts"
import * as Plan from "./plan.ts"
import { progressOf } from "./progress.ts"
import * as Refused from "./refused.ts"
import type { Runs } from "./runs.ts"
import { usd } from "./sampling.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** List of samples shared by several machines, such as `PostgresTasks` from `@divisi/cluster`. */
export interface SharedSamples {
  /** Plan stored by the first machine. */
  readonly plan: string
  readonly leaseMillis: number
  /** Claims up to `count` samples that are not in `except`. */
  readonly claim: (count: number, except: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, MachinesError>
  readonly renew: (keys: ReadonlyArray<string>) => Effect.Effect<void, MachinesError>
  readonly release: (keys: ReadonlyArray<string>) => Effect.Effect<void, MachinesError>
  readonly answer: (key: string, body: string) => Effect.Effect<void, MachinesError>
  /** Discards the results of some samples, so that they are rerun. */
  readonly reopen: (keys: ReadonlyArray<string>) => Effect.Effect<void, MachinesError>
  readonly left: Effect.Effect<number, MachinesError>
  readonly answers: Effect.Effect<ReadonlyMap<string, string>, MachinesError>
}

/** Stores shared by all machines. */
export interface Machines {
  /** Name of the evaluation. Machines that use the same name work on the same evaluation. */
  readonly name: string
  readonly open: (plan: string, keys: ReadonlyArray<string>) => Effect.Effect<SharedSamples, MachinesError>
  readonly journal: CoreJournal.Journal
  /** Opens the shared account of the evaluation with its cost limit. */
  readonly account: (maxCostUsd: number | undefined) => Effect.Effect<Budget.Ledger, MachinesError>
  /** USD paid by all machines. Unconfirmed calls count at their maximum cost. */
  readonly paidUsd: Effect.Effect<number, MachinesError>
  readonly answers: ResponseCache.Store
}

/** The shared stores cannot be read or written. */
export class MachinesError extends Data.TaggedError("MachinesError")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Stores
// -------------------------------------------------------------------------------------------------------------------

/** Runs of an evaluation in a shared journal. The machine that claims a sample takes over its run. */
const runsIn = ({ journal, name }: Machines): Runs => {
  const dropped = new Map<string, number>()
  const gone: Array<string> = []
  const nameOf = (id: string) => {
    const count = dropped.get(id) ?? 0
    return `${name}/${id}${count === 0 ? "" : `~${count}`}`
  }
  return {
    paidUsd: 0,
    inDoubt: { calls: 0, costUsd: 0 },
    journalOf: (id) => CoreJournal.storedAs(journal, nameOf(id), id),
    pay: () => {},
    end: (id) => {
      const run = nameOf(id)
      gone.push(run)
      dropped.set(id, (dropped.get(id) ?? 0) + 1)
      return { run, paidUsd: 0 }
    },
    sweep: Effect.suspend(() => Effect.ignore(journal.remove(gone.splice(0)))),
    ended: () => gone.length
  }
}

/** Number of samples after which the journals of their runs are removed. */
const sweepSize = 64

/** Time to wait before checking again for samples that other machines are running, in milliseconds. */
const waitMillis = 250

// -------------------------------------------------------------------------------------------------------------------
// Running
// -------------------------------------------------------------------------------------------------------------------

/** Opens the shared samples. Fails unless all machines use the same settings, policies, benchmarks and pool. */
const open = Effect.fnUntraced(function* (options: Options, machines: Machines, jobs: ReadonlyArray<Job.Job>) {
  const plan = Plan.planOf(options)
  const text = JSON.stringify(plan)
  const samples = yield* machines.open(text, jobs.map(Job.keyOf))
  if (samples.plan !== text) {
    yield* Plan.checkSame(plan)(JSON.parse(samples.plan))
    return yield* new Plan.EvaluationError({ reason: "changed", detail: "policies, benchmarks or versions" })
  }
  return { plan, samples }
})

/** Makes missing samples available to all machines again. */
const reopenMissing = Effect.fnUntraced(function* (samples: SharedSamples, { journal, name }: Machines) {
  const missing = [...(yield* samples.answers)].flatMap(([key, body]): ReadonlyArray<[string, string]> => {
    const sample: Report.Sample = JSON.parse(body)
    return sample.missing === undefined ? [] : [[key, `${name}/${Report.runId(sample)}`]]
  })
  // A machine that was killed may have left their runs.
  yield* Effect.ignore(journal.remove(missing.map(([, run]) => run)))
  yield* samples.reopen(missing.map(([key]) => key))
})

/** Runs an evaluation together with other machines. Returns once all samples exist, or the cost limit is reached. */
export const run = Effect.fnUntraced(function* (options: Options, machines: Machines) {
  yield* Plan.check(options)
  const jobs = Job.jobsOf(options)
  const jobOf = new Map(jobs.map((job) => [Job.keyOf(job), job]))
  const { plan, samples } = yield* open(options, machines, jobs)
  const { concurrency = 8, maxCostUsd, onProgress } = options
  if (options.retryMissing === true) yield* reopenMissing(samples, machines)
  let halted: Usage.BudgetExceeded | undefined
  let broken: CoreJournal.JournalError | undefined
  const runs = runsIn(machines)
  const shared: Job.Shared = {
    options,
    cache: ResponseCache.make(machines.answers),
    payer: {
      account: yield* machines.account(maxCostUsd),
      chargesUnconfirmedCalls: true,
      onRefused: ({ error }) => {
        halted ??= error
      }
    },
    runs,
    drop: (run) => void runs.end(run),
    conductors: new Map(options.policies.map((entry) => [entry, Job.conductorOf(options, entry)]))
  }
  const clock = yield* Clock.Clock
  const started = Elapsed.ticks(clock)
  const claimed = new Set<string>()
  const refused = Refused.make(options.policies)
  /** Samples that this machine leaves to others, because a vendor rejects its key or account. */
  const declined = new Set<string>()
  let rejection: Report.Sample | undefined
  let made = 0
  let missing = 0
  const resumed = jobs.length - (yield* samples.left)

  const report = Effect.gen(function* () {
    if (onProgress === undefined) return
    const paidUsd = usd(yield* machines.paidUsd)
    const done = jobs.length - (yield* samples.left)
    const elapsedMillis = Elapsed.millisSince(clock, started)
    const planned = jobs.length
    const progress = progressOf({ done, planned, resumed, missing, elapsedMillis, paidUsd, maxCostUsd })
    Callback.notifyLogged("onProgress", () => onProgress(progress))
  })

  const make = Effect.fnUntraced(function* (key: string) {
    const job = jobOf.get(key)!
    if (refused.find(job.entry) !== undefined) {
      for (const [other, { entry }] of jobOf) if (entry === job.entry) declined.add(other)
      claimed.delete(key)
      return yield* samples.release([key])
    }
    const result = yield* Effect.result(Job.run(shared, job))
    claimed.delete(key)
    // Another machine took the sample over, because this one was too slow to renew its claim.
    if (result._tag === "Failure" && result.failure.reason._tag === "Fenced") return
    if (result._tag === "Failure") {
      broken ??= result.failure
      return yield* samples.release([key])
    }
    const finished = result.success
    if (finished === undefined) return yield* samples.release([key])
    const { run, sample } = finished
    // The sample is made again from the stored answers.
    if (halted !== undefined && Job.isImpaired(sample)) {
      shared.drop(run)
      return yield* samples.release([key])
    }
    refused.note(job.entry, sample)
    if (Refused.isRejected(sample)) {
      rejection ??= sample
      declined.add(key)
      shared.drop(run)
      // Another machine that found the run would resume it with its failure.
      yield* runs.sweep
      return yield* samples.release([key])
    }
    yield* samples.answer(key, JSON.stringify(sample))
    runs.end(run)
    made += 1
    if (sample.missing !== undefined) missing += 1
    if (runs.ended() >= sweepSize) yield* runs.sweep
    if (made % concurrency === 0) yield* report
  })

  const isStopped = () => halted !== undefined || broken !== undefined
  const queue: Array<string> = []
  let claiming: Effect.Effect<boolean, MachinesError> | undefined
  /** Claims more samples. Returns whether there may be others. Concurrent callers share one claim. */
  const refill = Effect.suspend(() => {
    claiming ??= Effect.runSync(
      Effect.cached(
        Effect.gen(function* () {
          const keys = yield* samples.claim(concurrency, [...declined])
          for (const key of keys) claimed.add(key)
          queue.push(...keys)
          claiming = undefined
          if (keys.length > 0) return true
          // Only other machines can measure the declined samples.
          if (declined.size > 0 || (yield* samples.left) === 0) return false
          yield* Effect.sleep(waitMillis)
          return true
        })
      )
    )
    return claiming
  })
  const worker: Effect.Effect<void, MachinesError> = Effect.suspend(() => {
    if (isStopped()) return Effect.void
    const key = queue.shift()
    if (key !== undefined) return Effect.andThen(make(key), Effect.andThen(Effect.yieldNow, worker))
    return Effect.flatMap(refill, (isMore) => (isMore ? worker : Effect.void))
  })
  const renewing = Effect.forever(
    Effect.andThen(
      Effect.sleep(samples.leaseMillis / 3),
      Effect.suspend(() => (claimed.size === 0 ? Effect.void : samples.renew([...claimed])))
    )
  )
  const working = Effect.all(
    Array.from({ length: concurrency }, () => worker),
    { concurrency: "unbounded", discard: true }
  )
  const giveBack = Effect.suspend(() => Effect.ignore(samples.release([...claimed])))

  const write = Effect.gen(function* (): Effect.fn.Return<Evaluated, MachinesError | ReportFile.ReportError> {
    yield* runs.sweep
    const stored = yield* samples.answers
    const found = jobs.flatMap((job): ReadonlyArray<Report.Sample> => {
      const body = stored.get(Job.keyOf(job))
      return body === undefined ? [] : [JSON.parse(body)]
    })
    const made = Report.make(plan, found, {
      status: found.length === jobs.length ? "complete" : "stopped",
      samples: found.length,
      planned: jobs.length,
      paidUsd: usd(yield* machines.paidUsd),
      maxCostUsd
    })
    const shareable = ReportFile.shareable(made, found)
    yield* ReportFile.write(options.folder, made, shareable)
    return { report: made, samples: shareable }
  })

  yield* report
  yield* Effect.onInterrupt(Effect.raceFirst(working, renewing), () => Effect.andThen(giveBack, Effect.ignore(write)))
  yield* giveBack
  const evaluated = yield* write
  if (broken !== undefined) return yield* new MachinesError({ detail: broken.message })
  yield* report
  const unmeasured = jobs.length - evaluated.samples.length
  if (rejection !== undefined && unmeasured > 0 && halted === undefined) {
    const error = rejection.missing?.message
    const detail = `A vendor rejected the key or account of this machine (${error}). The remaining ${unmeasured} samples are left to other machines. To measure them here, run the same command again with a valid key.`
    return yield* new MachinesError({ detail })
  }
  return halted === undefined ? evaluated : { ...evaluated, stoppedBy: halted }
})
