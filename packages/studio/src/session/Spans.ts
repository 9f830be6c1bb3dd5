/**
 * Builds a run's timeline: one span for each call with known times, and one for each period in which tools were running
 * or pending.
 */
import type { Transcript } from "@divisi/core"

/** A period of time, in milliseconds since 1970. */
export interface Span {
  readonly from: number
  readonly to: number
  /** The worker that was called. Omitted for tools. */
  readonly worker?: string | undefined
}

const toolsEnd = ({ endedAt, tools }: Transcript.TurnRecord): number =>
  Math.max(endedAt, ...tools.map((tool) => tool.endedAt ?? endedAt))

/** A tool that needs approval starts when it is approved. The time until then is not part of the timeline. */
const toolsStart = ({ endedAt, tools }: Transcript.TurnRecord): number =>
  Math.max(endedAt, Math.min(...tools.map(({ startedAt = endedAt }) => startedAt)))

const ofTurn = (turn: Transcript.TurnRecord): ReadonlyArray<Span> => {
  const { durationMillis, endedAt, worker } = turn
  const asked = { from: endedAt - durationMillis, to: endedAt, worker }
  const end = toolsEnd(turn)
  return end > endedAt ? [asked, { from: toolsStart(turn), to: end }] : [asked]
}

/** The last call of a step starts after its last tools have ended; earlier calls are recorded in its turns. */
const ofAnswer = (step: Transcript.StepRecord): ReadonlyArray<Span> => {
  const { endedAt, startedAt, turns = [], worker } = step
  if (step.nested !== undefined || endedAt === undefined || startedAt === undefined) return []
  return [{ from: Math.max(startedAt, ...turns.map(toolsEnd)), to: endedAt, worker }]
}

const ofStep = (step: Transcript.StepRecord): ReadonlyArray<Span> => [
  ...(step.turns ?? []).flatMap(ofTurn),
  ...ofAnswer(step),
  ...(step.nested === undefined ? [] : of(step.nested))
]

/** A completion starts when the previous one has ended. */
const ofPlans = ({ completions, startedAt }: Transcript.RoundRecord, policy: string): ReadonlyArray<Span> => {
  const ends = completions.flatMap(({ endedAt }) => endedAt ?? [])
  return ends.map((to, index) => ({ from: ends[index - 1] ?? startedAt, to, worker: policy }))
}

/** Returns the spans of a run, including nested runs. */
export const of = ({ policy, rounds }: Transcript.Transcript): ReadonlyArray<Span> =>
  rounds.flatMap((round) => [...ofPlans(round, policy), ...round.steps.flatMap(ofStep)])

/** Returns the time covered by at least one span, in milliseconds. */
export const length = (spans: ReadonlyArray<Span>): number => {
  let end = Number.NEGATIVE_INFINITY
  let sum = 0
  for (const { from, to } of spans.toSorted((left, right) => left.from - right.from)) {
    sum += Math.max(0, to - Math.max(from, end))
    end = Math.max(end, to)
  }
  return sum
}

/** Assigns spans to lanes so that they do not overlap. */
export const lanes = (spans: ReadonlyArray<Span>): ReadonlyArray<ReadonlyArray<Span>> => {
  const made: Array<Array<Span>> = []
  for (const span of spans.toSorted((left, right) => left.from - right.from)) {
    const free = made.find((lane) => lane.at(-1)!.to <= span.from)
    if (free === undefined) made.push([span])
    else free.push(span)
  }
  return made
}
