/** Reconstructs a transcript as of a given time, so that a view is a function of a transcript and a time. */
import { defined } from "../Fields.ts"
import { withItems } from "./items.ts"
import type { RoundRecord, StepRecord, ToolRecord, Transcript, TurnRecord } from "./Transcript.ts"

const lastOf = (round: RoundRecord): number =>
  Math.max(
    round.startedAt,
    round.plannedAt ?? 0,
    round.grade?.at ?? 0,
    round.endedAt ?? 0,
    ...round.completions.map(({ endedAt = 0 }) => endedAt),
    ...round.lost.map((call) => call.at),
    ...(round.criticAnswers ?? []).map((answer) => answer.at),
    ...(round.revisions ?? []).map((revision) => revision.at),
    ...withItems(round.steps).flatMap(
      ({ checkAnswers = [], checks = [], endedAt = 0, lost, nested, reassigned, startedAt = 0, turns = [] }) => [
        startedAt,
        endedAt,
        ...turns.flatMap((turn) => [turn.endedAt, ...turn.tools.map((tool) => tool.endedAt ?? tool.startedAt ?? 0)]),
        ...lost.map((call) => call.at),
        ...checks.map((check) => check.at),
        ...checkAnswers.map((answer) => answer.at),
        ...reassigned.map(({ at }) => at),
        nested === undefined ? 0 : endOf(nested)
      ]
    )
  )

/** Returns the time of a transcript's latest entry, in milliseconds since the Unix epoch. */
export const endOf = ({ durationMillis, rounds, startedAt }: Transcript): number =>
  Math.max(startedAt + (durationMillis ?? 0), ...rounds.map(lastOf))

/** Returns the records up to a given time, or `undefined` if there were no records yet. */
const until = <A extends { readonly at: number }>(
  records: ReadonlyArray<A> | undefined,
  time: number
): ReadonlyArray<A> | undefined => {
  const come = records?.filter(({ at }) => at <= time) ?? []
  return come.length === 0 ? undefined : come
}

const stepAt = (step: StepRecord, time: number): StepRecord => {
  const nested = step.nested === undefined || step.nested.startedAt > time ? undefined : at(step.nested, time)
  const lost = step.lost.filter((call) => call.at <= time)
  const reassigned = step.reassigned.filter((reassignment) => reassignment.at <= time)
  if (step.endedAt !== undefined && step.endedAt <= time) {
    return nested === undefined ? step : { ...step, nested }
  }
  const isStarted = step.startedAt !== undefined && step.startedAt <= time
  const turns = step.turns?.filter(({ endedAt }) => endedAt <= time).map((turn) => turnAt(turn, time)) ?? []
  return defined({
    step: step.step,
    item: step.item,
    items: isStarted ? itemsAt(step.items, time) : undefined,
    unfolded: isStarted ? step.unfolded : undefined,
    without: isStarted ? step.without : undefined,
    worker: step.reassigned[reassigned.length]?.from ?? step.worker,
    state: isStarted ? "running" : "waiting",
    startedAt: isStarted ? step.startedAt : undefined,
    text: "",
    reasoning: "",
    turns: turns.length === 0 ? undefined : turns,
    checks: until(step.checks, time),
    checkAnswers: until(step.checkAnswers, time),
    lost,
    reassigned,
    nested
  })
}

/** Returns the items that had started or had been skipped by a given time. */
const itemsAt = (items: ReadonlyArray<StepRecord> = [], time: number): ReadonlyArray<StepRecord> | undefined => {
  const begun = items.filter(({ endedAt, startedAt = endedAt }) => startedAt !== undefined && startedAt <= time)
  return begun.length === 0 ? undefined : begun.map((item) => stepAt(item, time))
}

const turnAt = (turn: TurnRecord, time: number): TurnRecord => ({
  ...turn,
  tools: turn.tools.map((tool) => (tool.endedAt !== undefined && tool.endedAt <= time ? tool : unfinished(tool, time)))
})

const unfinished = ({ call, startedAt }: ToolRecord, time: number): ToolRecord =>
  startedAt === undefined || startedAt > time ? { call } : { call, startedAt }

const roundAt = (round: RoundRecord, time: number): RoundRecord => {
  const { answer, criticAnswers, decision, endedAt, grade, plannedAt, planningMillis, policy, ...others } = round
  const { probability, revisions, waitingFor, workflow, ...rest } = others
  const isPlanned = plannedAt !== undefined && plannedAt <= time
  const isEnded = endedAt !== undefined && endedAt <= time
  return defined({
    ...rest,
    completions: round.completions.filter(
      (completion) => completion.endedAt !== undefined && completion.endedAt <= time
    ),
    lost: round.lost.filter((call) => call.at <= time),
    ...(isPlanned ? { decision, policy, plannedAt, planningMillis, probability, waitingFor, workflow } : {}),
    notes: isPlanned ? round.notes : [],
    steps: isPlanned ? round.steps.map((step) => stepAt(step, time)) : [],
    grade: grade === undefined || grade.at > time ? undefined : grade,
    revisions: until(revisions, time),
    criticAnswers: until(criticAnswers, time),
    endedAt: isEnded ? endedAt : undefined,
    answer: isEnded ? answer : undefined,
    confirmed: isEnded && round.confirmed
  })
}

/** Returns a run's transcript as of a given time. */
export const at = (transcript: Transcript, time: number): Transcript => {
  if (time >= endOf(transcript)) return transcript
  const { answer: _, detail: __, durationMillis: ___, ending: ____, spend: _____, ...rest } = transcript
  return {
    ...rest,
    rounds: transcript.rounds.filter(({ startedAt }) => startedAt <= time).map((round) => roundAt(round, time))
  }
}
