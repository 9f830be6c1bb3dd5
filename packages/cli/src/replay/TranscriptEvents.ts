/**
 * The events of a run again, from its transcript. A transcript keeps when steps began and how long they took, so they
 * happen at their own times; what it does not keep (when each piece of an answer came) is not made up.
 */
import type { RunEvent } from "@divisi/core/RunEvent"
import type { CompletionRecord, LostCall, RoundRecord, StepRecord, Transcript } from "@divisi/core/Transcript"
import { noUsage } from "@divisi/core/Worker"

type Distribute<E> = E extends RunEvent ? Omit<E, "runId"> : never

/** An event of the run at hand, or one of a run nested in it, which has a run of its own. */
type Own = Distribute<RunEvent> | RunEvent

const nothingPaid = { usage: noUsage, costUsd: undefined }

const lostCall = (call: LostCall, round: number, step: number | undefined, at: number): Own => {
  const { costUsd, message, reason, usage, worker } = call
  const place = { round, ...(step === undefined ? {} : { step }), worker, usage, costUsd, at }
  return reason === undefined
    ? { type: "call-interrupted", ...place }
    : { type: "call-failed", ...place, attempt: 0, reason, message: message ?? reason._tag }
}

const completionEvents = (completion: CompletionRecord, round: number, at: number): ReadonlyArray<Own> => {
  const { attempt, cached, error, paid, text } = completion
  return [
    { type: "completion-delta", round, attempt, kind: "text", text, at },
    ...(cached === undefined
      ? []
      : [
          {
            type: "completion-finished" as const,
            ...(paid ?? nothingPaid),
            round,
            attempt,
            completion: text,
            cached,
            ...(error === undefined ? {} : { error }),
            at
          }
        ])
  ]
}

const skipReason = (detail: string | undefined) => (detail === "unseen" ? ("unseen" as const) : ("budget" as const))

const stepEnd = (record: StepRecord, round: number, at: number): ReadonlyArray<Own> => {
  const { step, worker } = record
  switch (record.state) {
    case "answered": {
      const { cached = false, durationMillis = 0, finishReason = "stop", paid = nothingPaid, text } = record
      return [
        { type: "step-finished", round, step, worker, answer: text, finishReason, durationMillis, cached, ...paid, at }
      ]
    }
    case "failed": {
      const { detail, durationMillis = 0 } = record
      return [{ type: "step-failed", round, step, worker, message: detail ?? "it failed", durationMillis, at }]
    }
    case "skipped":
      return [{ type: "step-skipped", round, step, worker, reason: skipReason(record.detail), at }]
    default:
      return record.text === "" ? [] : [{ type: "step-delta", round, step, kind: "text", text: record.text, at }]
  }
}

const stepEvents = (record: StepRecord, round: RoundRecord, planned: number, end: number): ReadonlyArray<Own> => {
  const { nested, startedAt, step, worker } = record
  // That nobody sees its answer is known when the plan is; the rest is skipped when its time would have come.
  if (startedAt === undefined) return stepEnd(record, round.round, record.detail === "unseen" ? planned : end)
  const at = record.durationMillis === undefined ? end : startedAt + record.durationMillis
  // The workers that had the step before, and in the end the one that has it.
  const holders = [...record.reassigned.map(({ from }) => from), worker]
  return [
    { type: "step-started", round: round.round, step, worker: holders[0]!, at: startedAt },
    ...record.lost.map((call) => lostCall(call, round.round, step, call.at)),
    ...record.reassigned.map(({ at, from }, index) => ({
      type: "step-reassigned" as const,
      round: round.round,
      step,
      from,
      to: holders[index + 1]!,
      at
    })),
    ...(nested === undefined ? [] : fromTranscript(nested)),
    ...stepEnd(record, round.round, at)
  ]
}

/** When the last thing that is known of a round happened. */
const endOf = (round: RoundRecord): number =>
  Math.max(
    round.startedAt,
    ...round.lost.map((call) => call.at),
    ...round.steps.flatMap((step) => [
      (step.startedAt ?? round.startedAt) + (step.durationMillis ?? 0),
      ...step.lost.map((call) => call.at)
    ])
  )

const roundEvents = (round: RoundRecord, policy: string): ReadonlyArray<Own> => {
  const { answer, confirmed, grade, notes, startedAt, workflow } = round
  const index = round.round
  const end = endOf(round)
  // When the plan was there is known by the first step that began.
  const plannedAt = Math.min(end, ...round.steps.flatMap((step) => step.startedAt ?? []))
  const isEnded = answer !== undefined || confirmed
  return [
    { type: "round-started", round: index, at: startedAt },
    ...round.completions.flatMap((completion) => completionEvents(completion, index, startedAt)),
    ...round.lost.map((call) => lostCall(call, index, undefined, call.at)),
    ...(workflow === undefined
      ? []
      : [
          {
            type: "workflow-proposed" as const,
            round: index,
            policy: round.policy ?? policy,
            workflow,
            notes,
            durationMillis: plannedAt - startedAt,
            at: plannedAt
          }
        ]),
    ...round.steps.flatMap((step) => stepEvents(step, round, plannedAt, end)),
    ...(grade === undefined ? [] : [{ type: "answer-graded" as const, round: index, ...grade, at: end }]),
    ...(isEnded
      ? [
          {
            type: "round-finished" as const,
            round: index,
            confirmed,
            ...(answer === undefined ? {} : { answer }),
            at: end
          }
        ]
      : [])
  ]
}

const ownEvents = (transcript: Transcript): ReadonlyArray<Own> => {
  const { answer, detail, durationMillis, outcome, parent, policy, pool, seed, spend, startedAt, task, version } =
    transcript
  return [
    {
      type: "run-started",
      version,
      task,
      pool,
      policy,
      seed,
      ...(parent === undefined ? {} : { parent }),
      at: startedAt
    },
    ...transcript.rounds.flatMap((round) => roundEvents(round, policy)),
    ...(outcome === undefined || spend === undefined || durationMillis === undefined
      ? []
      : [
          {
            type: "run-finished" as const,
            outcome,
            ...(answer === undefined ? {} : { answer }),
            ...(detail === undefined ? {} : { detail }),
            spend,
            durationMillis,
            at: startedAt + durationMillis
          }
        ])
  ]
}

/** The events, nested runs' included, in the order of time. */
export const fromTranscript = (transcript: Transcript): ReadonlyArray<RunEvent> => {
  const { runId } = transcript
  const events = ownEvents(transcript).map((event) => ("runId" in event ? event : ({ ...event, runId } as RunEvent)))
  const isEnd = (event: RunEvent) => event.type === "run-finished" && event.runId === runId
  // The sort is stable: what happens at the same time stays in order. Whatever the clock says, the end comes last.
  const before = events.filter((event) => !isEnd(event)).toSorted((left, right) => left.at - right.at)
  return [...before, ...events.filter(isEnd)]
}
