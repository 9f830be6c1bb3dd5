/** Produces one sample of an evaluation: runs a Conductor on a separate account and grades the answer. */

import { Budget, Callback, Grader, Journal, ResponseCache, type RunEvent, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { Task } from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import { fraction } from "../internal/digest.ts"
import * as Report from "../report/Report.ts"
import type { Entry, Options, Suite } from "./Evaluation.ts"
import type { Runs } from "./runs.ts"
import { lost, missingOf, promptOf, sampleOf, uncalled } from "./sampling.ts"
import { unrecorded } from "./unrecorded.ts"

/** A planned sample. */
export interface Job {
  readonly suite: Suite
  readonly task: Task
  readonly epoch: number
  readonly entry: Entry
}

/**
 * Returns the planned samples. Policies are the innermost loop, so that a stopped evaluation has compared them on the
 * same questions.
 */
export const jobsOf = ({ epochs = 1, policies, suites }: Options): ReadonlyArray<Job> =>
  Array.from({ length: epochs }, (_, epoch) =>
    suites.flatMap((suite) => suite.tasks.flatMap((task) => policies.map((entry) => ({ suite, task, epoch, entry }))))
  ).flat()

const nameOf = ({ entry, epoch, suite, task }: Job) => ({
  benchmark: suite.record.benchmark,
  task: task.id,
  epoch,
  policy: entry.policy.name
})

/** Returns the key that identifies the sample. */
export const keyOf = (job: Job): string => Report.key(nameOf(job))

/** Identifies a question. A local file can be renamed, so its questions are identified by their text. */
const identityOf = ({ suite: { record }, task }: Job): ReadonlyArray<string> =>
  record.dataset === undefined && record.files.length > 0 ? [promptOf(task)] : [record.benchmark, task.id]

/** Derives the seed of a sample, which is the same for every policy. The seed is part of the key of stored answers. */
const seedOf = (seed: number, job: Job): number =>
  Math.floor(fraction(String(seed), ...identityOf(job), String(job.epoch)) * 2 ** 31)

/**
 * Creates the Conductor that runs a policy. Its settings are the same for all policies, except that baselines may be
 * allowed more output tokens.
 */
export const conductorOf = ({ pool, run = {} }: Options, entry: Entry): Conductor.Conductor["Service"] => {
  const { budget, worker } = run
  const { outputTokensFactor: factor, policy } = entry
  const tokens = worker?.maxOutputTokens
  return Conductor.make({
    ...run,
    // A comparison must measure the worker that was called.
    reassign: "never",
    policy,
    pool,
    worker: { ...worker, maxOutputTokens: factor === undefined ? tokens : Math.round((tokens ?? 8_192) * factor) },
    // The rest of the budget is a separate account.
    budget: budget?.durationMillis === undefined ? undefined : { durationMillis: budget.durationMillis }
  })
}

/** Creates the account for one question. The time limit is enforced by the Conductor instead. */
const accountOf = ({ run }: Options): Budget.Ledger => {
  const { durationMillis: _, ...limits } = run?.budget ?? {}
  return Budget.make(limits)
}

/** Resources shared by all runs of an evaluation. */
export interface Shared {
  readonly options: Options
  readonly cache: ResponseCache.ResponseCache
  readonly payer: Budget.Payer
  readonly runs: Runs
  /** Discards a run that produced no sample. */
  readonly drop: (run: string) => void
  readonly conductors: ReadonlyMap<Entry, Conductor.Conductor["Service"]>
}

/** A completed sample with the transcript of its run. */
export interface Made {
  readonly run: string
  readonly sample: Report.Sample
  readonly transcript: Transcript.Transcript
}

const seedFor = Effect.fnUntraced(function* ({ run, sampleSeed }: Options, job: Job) {
  const own = sampleSeed && (yield* Effect.orDie(Callback.called("sampleSeed", () => sampleSeed(nameOf(job)))))
  return own ?? seedOf(run?.seed ?? 0, job)
})

const stratumOf = ({ suite: { record }, task }: Job): string | undefined =>
  record.stratum === undefined ? undefined : String(task.metadata?.[record.stratum] ?? "")

/** Whether calls of this sample failed, possibly because the cost limit rejected them. */
export const isImpaired = ({ missing, steps }: Report.Sample): boolean =>
  missing !== undefined || steps.some(({ state }) => state === "failed")

/** Creates a sample without a call, for a policy that another sample has shown to be unusable. */
export const skipped = Effect.fnUntraced(function* (options: Options, job: Job, other: Report.Sample) {
  const seed = yield* seedFor(options, job)
  const stratum = stratumOf(job) || undefined
  const identity = { ...nameOf(job), stratum, seed, promptSha256: promptOf(job.task) }
  return { run: Report.runId({ ...nameOf(job), seed }), sample: uncalled(other, identity) }
})

/**
 * Produces a sample, resuming its run if there is one. Returns `undefined` if a required call was rejected by the cost
 * limit. Fails if the run cannot be stored.
 */
export const run = Effect.fnUntraced(function* (
  shared: Shared,
  job: Job
): Effect.fn.Return<Made | undefined, Journal.JournalError> {
  const { entry, epoch, suite, task } = job
  const { isOffline = false } = shared.options
  const seed = yield* seedFor(shared.options, job)
  const ledger = accountOf(shared.options)
  const recorder = Transcript.recorder()
  const runId = Report.runId({ ...nameOf(job), seed })
  const planningMillis = new Map<number, number>()
  const listener = (event: RunEvent.RunEvent) => {
    recorder.listener(event)
    if (event.type === "workflow-proposed" && event.runId === runId) {
      planningMillis.set(event.round, event.durationMillis)
    }
  }
  let refusal: Budget.Refusal | undefined
  const payer: Budget.Payer = {
    ...shared.payer,
    onPaid: (payment) => {
      shared.runs.pay(runId, payment.costUsd ?? 0)
      shared.payer.onPaid?.(payment)
    },
    onRefused: (refused) => {
      refusal ??= refused
      shared.payer.onRefused?.(refused)
    }
  }
  // Cached answers are charged at their original cost, so that a policy costs the same no matter which policy paid for
  // its calls.
  const result = yield* shared.conductors
    .get(entry)!
    .run(task, {
      seed,
      runId,
      ledger,
      listener,
      payer,
      cachedAnswers: "charged",
      journal: shared.runs.journalOf(runId)
    })
    .pipe(Effect.provideService(ResponseCache.ResponseCache, shared.cache))
  const { error } = result
  if (error instanceof Journal.JournalError) return yield* error
  // A change made the requests different: the run restarts with the stored answers.
  if (error instanceof Journal.JournalMismatch) {
    shared.drop(runId)
    return yield* run(shared, job)
  }
  if (refusal !== undefined && !isOffline) {
    shared.drop(runId)
    return undefined
  }
  const { answer } = result
  const transcript = recorder.transcript()!
  const isGraded = answer !== undefined && missingOf({ result, transcript }) === undefined
  const verdict = isGraded ? yield* Effect.catch(Grader.ask(suite.grader, task, answer), Effect.succeed) : undefined
  const sample = sampleOf({
    benchmark: suite.record.benchmark,
    task,
    stratum: stratumOf(job),
    epoch,
    policy: entry.policy.name,
    seed,
    transcript,
    result,
    spend: result.spend,
    planningMillis,
    verdict
  })
  return { run: runId, sample: refusal === undefined ? sample : lost(sample, unrecorded(refusal).message), transcript }
})
