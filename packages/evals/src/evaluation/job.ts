/** One sample of an evaluation: a run of a Conductor, on an account of its own, graded. */
import * as Budget from "@divisi/core/Budget"
import * as Conductor from "@divisi/core/Conductor"
import { Gate } from "@divisi/core/Resilience"
import * as ResponseCache from "@divisi/core/ResponseCache"
import type { RunEvent } from "@divisi/core/RunEvent"
import type { Task } from "@divisi/core/Task"
import * as Transcript from "@divisi/core/Transcript"
import { defaultMaxSteps } from "@divisi/core/Workflow"
import * as Effect from "effect/Effect"
import { fraction } from "../internal/digest.ts"
import * as Report from "../report/Report.ts"
import type * as Calls from "./calls.ts"
import type { Entry, Options, Suite } from "./Evaluation.ts"
import { recursionOf } from "./plan.ts"
import { lost, sampleOf } from "./sampling.ts"

/** A sample that is to be made. */
export interface Job {
  readonly suite: Suite
  readonly task: Task
  readonly epoch: number
  readonly entry: Entry
}

/** The policies stand innermost: an evaluation that is stopped has compared them on the same questions. */
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

/** What names its sample. */
export const keyOf = (job: Job): string => Report.key(nameOf(job))

/** The same for every policy. */
const seedOf = (seed: number, { epoch, suite, task }: Job): number =>
  Math.floor(fraction(String(seed), suite.record.benchmark, task.id, String(epoch)) * 2 ** 31)

/** Who runs a policy: the same for all but the output tokens that a baseline may have more of. */
export const conductorOf = (options: Options, calls: Calls.Calls, entry: Entry): Conductor.Conductor["Service"] => {
  const { maxOutputTokens, perQuestion, reassign, retry, settings = {}, temperature } = options
  const { critic, reasoning, timeoutMillis, ...conductor } = settings
  const { outputTokensFactor: factor } = entry
  const tokens = factor === undefined ? maxOutputTokens : Math.round((maxOutputTokens ?? 4096) * factor)
  return Conductor.make({
    ...conductor,
    ...(critic === undefined ? {} : { critic: calls.critic(critic) }),
    policy: calls.policy(entry.policy),
    pool: calls.pool(options.pool),
    maxSteps: options.maxSteps ?? defaultMaxSteps,
    recursion: recursionOf(options),
    worker: {
      ...(tokens === undefined ? {} : { maxOutputTokens: tokens }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(timeoutMillis === undefined ? {} : { timeoutMillis })
    },
    ...(perQuestion?.durationMillis === undefined ? {} : { budget: { durationMillis: perQuestion.durationMillis } }),
    ...(retry === undefined ? {} : { retry }),
    ...(reassign === undefined ? {} : { reassign })
  })
}

/**
 * The account of one question. Its token limit makes it a limited one also when it limits nothing, so that calls are
 * the same with and without a limit, and are found again after one was set.
 */
const accountOf = ({ perQuestion = {} }: Options): Budget.Ledger => {
  const { durationMillis: _, ...limits } = perQuestion
  return Budget.make({ ...limits, tokens: limits.tokens ?? Number.POSITIVE_INFINITY })
}

/** What the runs of an evaluation share. */
export interface Shared {
  readonly options: Options
  readonly calls: Calls.Calls
  readonly gate: Gate | undefined
  readonly conductors: ReadonlyMap<Entry, Conductor.Conductor["Service"]>
}

/** Makes a sample; `undefined` when it needed a call that the cost limit refused. */
export const run = Effect.fnUntraced(function* (shared: Shared, job: Job) {
  const { entry, epoch, suite, task } = job
  const seed = seedOf(shared.options.seed ?? 0, job)
  const ledger = accountOf(shared.options)
  const calls = shared.calls.run(ledger)
  const recorder = Transcript.recorder()
  const runId = Report.runId({ ...nameOf(job), seed })
  const proposedAt = new Map<number, number>()
  const listener = (event: RunEvent) => {
    recorder.listener(event)
    if (event.type === "workflow-proposed" && event.runId === runId) proposedAt.set(event.round, event.at)
  }
  const result = yield* shared.conductors
    .get(entry)!
    .run(task, { seed, runId, ledger, listener })
    .pipe(
      Effect.provideService(ResponseCache.ResponseCache, calls.cache),
      Effect.provideService(Gate, shared.calls.gate(shared.gate))
    )
  if (calls.isRefused()) return undefined
  const { answer } = result
  const verdict =
    answer === undefined ? undefined : yield* Effect.catch(suite.grader.grade(task, answer), Effect.succeed)
  const transcript = recorder.transcript()!
  const { stratum } = suite.record
  const sample = sampleOf({
    benchmark: suite.record.benchmark,
    task,
    stratum: stratum === undefined ? undefined : String(task.metadata?.[stratum] ?? ""),
    epoch,
    policy: entry.policy.name,
    seed,
    transcript,
    result,
    spend: ledger.spent(),
    calls,
    proposedAt,
    ...(verdict === undefined ? {} : { verdict })
  })
  const unrecorded = calls.unrecorded()
  return { sample: unrecorded === undefined ? sample : lost(sample, unrecorded.message), transcript }
})
