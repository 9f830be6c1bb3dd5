/**
 * Converts a finished run to a sample: summarizes its transcript for reports, and decides whether its result counts for
 * the policy.
 */

import { FailedCall, type Grader, StepFailure, Topology, type Transcript } from "@divisi/core"
import type { RunResult } from "@divisi/core/Conductor"
import { PolicyError } from "@divisi/core/Policy"
import type { Task } from "@divisi/core/Task"
import type * as Usage from "@divisi/core/Usage"
import { WorkerError, type WorkerErrorReason } from "@divisi/core/Worker"
import type { Verdict } from "@divisi/graders"
import { sha256 } from "../internal/digest.ts"
import type { Missing, Sample, Step } from "../report/Report.ts"
import { version } from "../report/Report.ts"

/** A finished run and the verdict on its answer. */
export interface Ended {
  readonly benchmark: string
  readonly task: Task
  readonly stratum: string | undefined
  readonly epoch: number
  readonly policy: string
  readonly seed: number
  readonly transcript: Transcript.Transcript
  readonly result: RunResult
  readonly spend: Usage.Spend
  /** The time that the policy took to write the workflow of each round, in milliseconds. */
  readonly planningMillis: ReadonlyMap<number, number>
  /** Omitted if there was no answer to grade, or if an outage makes the answer unusable. */
  readonly verdict?: Verdict.Verdict | Grader.GraderError | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Figures
// -------------------------------------------------------------------------------------------------------------------

/** Rounds USD to ten decimals, so that sums do not depend on the order in which calls finished. */
export const usd = (value: number): number => Math.round(value * 1e10) / 1e10

const isFailure = ({ reason }: Transcript.LostCall): boolean => reason !== undefined

const stepOf = (record: Transcript.StepRecord, round: Transcript.RoundRecord): Step => {
  const { durationMillis, lost, nested, paid, state, turns = [], worker } = record
  const { access = [], subtask = "" } = round.workflow?.steps[record.step] ?? {}
  const all = [...turns.map((turn) => turn.paid), ...(paid === undefined ? [] : [paid]), ...lost]
  const spend = nested?.spend
  return {
    round: round.round,
    step: record.step,
    worker,
    state: state === "answered" || state === "failed" ? state : "skipped",
    access,
    subtask,
    failedCalls: lost.filter(isFailure).length,
    inputTokens: spend?.usage.inputTokens ?? all.reduce((sum, { usage }) => sum + usage.inputTokens, 0),
    outputTokens: spend?.usage.outputTokens ?? all.reduce((sum, { usage }) => sum + usage.outputTokens, 0),
    costUsd: spend === undefined ? costOf(all.map(({ costUsd }) => costUsd)) : usd(spend.costUsd),
    millis: durationMillis ?? null
  }
}

const costOf = (costs: ReadonlyArray<number | undefined>): number | null =>
  costs.includes(undefined) ? null : usd(costs.reduce<number>((sum, cost) => sum + cost!, 0))

/**
 * Returns the critical path of a round. A step that maps over items is on the path with the items that determine its
 * duration.
 */
const pathOf = (round: Transcript.RoundRecord | undefined, steps: ReadonlyArray<Step>): Topology.CriticalPath => {
  if (round?.workflow === undefined) return { steps: [], length: 0 }
  if (round.workflow.steps.every(({ each }) => each === undefined)) {
    const durations = steps.map(({ millis }) => millis ?? undefined)
    return Topology.criticalPath(Topology.make(round.workflow), durations)
  }
  const { durations, places, workflow } = Topology.unfold(round.workflow, round.steps)
  const path = Topology.criticalPath(Topology.make(workflow), durations)
  return { ...path, steps: path.steps.map((cell) => Number.parseInt(places[cell]!, 10)) }
}

const lostOf = ({ rounds }: Transcript.Transcript): ReadonlyArray<Transcript.LostCall> =>
  rounds.flatMap((round) => [
    ...round.lost,
    ...round.steps
      .flatMap((step) => [step, ...(step.items ?? [])])
      .flatMap(({ lost, nested }) => [...lost, ...(nested === undefined ? [] : lostOf(nested))])
  ])

const figures = ({ planningMillis, spend, transcript }: Ended) => {
  const rounds = transcript.rounds.map((round) => {
    const planning = planningMillis.get(round.round) ?? 0
    const steps = round.steps.map((record) => stepOf(record, round))
    return { round, planning, steps, path: pathOf(round, steps) }
  })
  const at = rounds.findLastIndex(({ steps }) => steps.length > 0)
  const before = rounds.slice(0, Math.max(0, at)).reduce((sum, { steps }) => sum + steps.length, 0)
  const last = rounds[at]
  return {
    costUsd: usd(spend.costUsd),
    unpricedCalls: spend.unpricedCalls,
    inputTokens: spend.usage.inputTokens,
    outputTokens: spend.usage.outputTokens,
    misreported: spend.usage.misreported,
    calls: spend.calls,
    failedCalls: lostOf(transcript).filter(isFailure).length,
    millis: rounds.reduce((sum, { path, planning }) => sum + planning + path.length, 0),
    rounds: rounds.length,
    steps: rounds.flatMap(({ steps }) => steps),
    shape: last?.round.workflow === undefined ? ("empty" as const) : Topology.shape(Topology.make(last.round.workflow)),
    criticalPath: {
      steps: (last?.path.steps ?? []).map((step) => step + before),
      millis: last?.path.length ?? 0
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Verdicts
// -------------------------------------------------------------------------------------------------------------------

/**
 * Whether a failure counts against the worker: it declined the question, its input exceeded the context window, or it
 * completed with an empty answer.
 */
const tellsOf = (reason: WorkerErrorReason, isPaid: boolean): boolean =>
  reason._tag === "ContentFiltered" || reason._tag === "ContextTooLong" || (reason._tag === "Malformed" && isPaid)

/** Returns the last failed call of a run without an answer. */
const lastLost = (transcript: Transcript.Transcript): Transcript.LostCall | undefined => {
  const lost = lostOf(transcript).filter(isFailure)
  return lost.reduce<Transcript.LostCall | undefined>(
    (last, call) => (last === undefined || call.at >= last.at ? call : last),
    undefined
  )
}

/** Returns the outage that used up a run's budget: a step without an answer whose last call was lost to that outage. */
const outageBefore = ({ rounds }: Transcript.Transcript): Transcript.LostCall | undefined =>
  rounds
    .flatMap(({ steps }) => steps)
    .filter(({ state }) => state !== "answered")
    .flatMap(({ lost }) => lost.filter(isFailure).slice(-1))
    .find(({ reason, usage }) => !tellsOf(reason!, usage.outputTokens > 0))

/** Returns the reason why a run does not count for its policy, or `undefined` if its result can be graded. */
export const missingOf = ({ result, transcript }: Pick<Ended, "result" | "transcript">): Missing | undefined => {
  const [outage] = StepFailure.outagesOf(transcript)
  if (outage !== undefined) {
    const { message, reason, worker } = outage
    return { cause: "worker", reason, message: message.includes(worker) ? message : `${worker}: ${message}` }
  }
  const { answer, detail, error, ending } = result
  const late = ending === "budget" ? outageBefore(transcript) : undefined
  // A policy of a user's own asks its models itself.
  const thrown =
    error instanceof PolicyError && error.cause !== undefined ? FailedCall.fromThrown(error.cause) : undefined
  if (thrown !== undefined && !tellsOf(thrown, false)) {
    return { cause: "worker", reason: thrown._tag, message: detail ?? error!.toString() }
  }
  if (late !== undefined) return { cause: "worker", reason: late.reason?._tag, message: late.message ?? late.worker }
  if (answer !== undefined || ending === "budget" || ending === "refused" || error instanceof PolicyError) {
    return undefined
  }
  const message = detail ?? "the run ended without an answer"
  const lost = lastLost(transcript)
  const reason = lost?.reason ?? (error instanceof WorkerError ? error.reason : undefined)
  if (reason === undefined) return { cause: "harness", message }
  return tellsOf(reason, (lost?.usage.outputTokens ?? 0) > 0)
    ? undefined
    : { cause: "worker", reason: reason._tag, message: lost?.message ?? message }
}

type Verdicts = Pick<Sample, "score" | "correct" | "rung" | "isUnparsed" | "extracted" | "missing">

const noAnswer: Verdicts = { score: 0, correct: false, rung: "no-answer" }

/** Returns the fields of a sample that depend on the verdict. */
export const verdictOf = (verdict: Verdict.Verdict | Grader.GraderError): Verdicts => {
  if ("_tag" in verdict) return { missing: { cause: "grader", message: verdict.message } }
  const { correct, extracted, rung, score } = verdict
  return {
    score,
    correct,
    rung,
    extracted,
    isUnparsed: rung === "unparsed" ? true : undefined
  }
}

const verdictsOf = (ended: Ended): Verdicts => {
  const missing = missingOf(ended)
  if (missing !== undefined) return { missing }
  return ended.verdict === undefined ? noAnswer : verdictOf(ended.verdict)
}

// -------------------------------------------------------------------------------------------------------------------
// Samples
// -------------------------------------------------------------------------------------------------------------------

/** Returns the SHA-256 hash of a task's messages. */
export const promptOf = (task: Task): string => sha256(JSON.stringify(task.messages))

/** Returns the sample for a finished run. */
export const sampleOf = (ended: Ended): Sample => {
  const { benchmark, epoch, policy, result, seed, stratum, task } = ended
  const { answer, detail, ending } = result
  return {
    version,
    benchmark,
    task: task.id,
    stratum: stratum === undefined || stratum === "" ? undefined : stratum,
    epoch,
    policy,
    seed,
    promptSha256: promptOf(task),
    ending,
    answer,
    answerSha256: answer === undefined ? undefined : sha256(answer),
    ...verdictsOf(ended),
    failure: detail,
    ...figures(ended)
  }
}

const withoutVerdict = (sample: Sample) => {
  const { correct: _, extracted: __, isUnparsed: ___, missing: ____, rung: _____, score: ______, ...rest } = sample
  return rest
}

/** Returns a sample with a new verdict on the same answer. */
export const regraded = (sample: Sample, verdict: Verdict.Verdict | Grader.GraderError): Sample => ({
  ...withoutVerdict(sample),
  ...verdictOf(verdict)
})

/** Returns a sample without a score, regardless of how its run ended. */
export const lost = (sample: Sample, message: string): Sample => ({
  ...withoutVerdict(sample),
  missing: { cause: "harness", message }
})

/** Fields that identify a sample. */
export type Identity = Pick<Sample, "benchmark" | "task" | "stratum" | "epoch" | "policy" | "seed" | "promptSha256">

/** Returns a sample that made no call and is missing for the same reason as another one. */
export const uncalled = (other: Sample, identity: Identity): Sample => ({
  version,
  ...identity,
  ending: other.ending,
  missing: { ...other.missing!, message: `${other.missing!.message} (not called again)` },
  failure: other.failure,
  costUsd: 0,
  unpricedCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  calls: 0,
  failedCalls: 0,
  millis: 0,
  rounds: 0,
  steps: [],
  shape: "empty",
  criticalPath: { steps: [], millis: 0 }
})

/**
 * Removes the text from a sample of a confidential benchmark, because answers and error messages may quote questions.
 */
export const withoutText = (sample: Sample): Sample => {
  const { answer: _, extracted: __, failure: ___, missing, steps, ...rest } = sample
  return {
    ...rest,
    missing: missing && { ...missing, message: "not shown: the benchmark is confidential" },
    steps: steps.map(({ subtask: _, ...step }) => step)
  }
}
