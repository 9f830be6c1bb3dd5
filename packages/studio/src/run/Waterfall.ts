/** The waterfall of a run as data: one row per step with its calls on a common time scale, and the critical path. */
import { RunEvent, Topology, type Transcript, Transcript as Transcripts } from "@divisi/core"

/** How an answer was obtained without calling a worker. */
export type Source = "cached" | "reused" | "supplied"

/** Returns how an answer was obtained without a call. `undefined` if a worker was called. */
export const sourceOf = ({ cached, origin }: Partial<RunEvent.AnswerSource>): Source | undefined => {
  if (origin === "caller") return "supplied"
  if (origin === "forked-run") return "reused"
  return cached === true ? "cached" : undefined
}

/** Whether a run is a fork, or nested in a fork that reuses some of its steps. */
const isFork = ({ forkOf, rounds }: Transcript.Transcript): boolean =>
  forkOf !== undefined || rounds.some(({ steps }) => steps.some(({ origin }) => origin === "forked-run"))

/**
 * Whether a step of a fork has its answer, or its failure, from the run that it continues. Nothing is paid for such a
 * step. A failure was repeated if none of its calls was made.
 */
const isReused = ({ lost, origin, state }: Transcript.StepRecord): boolean =>
  state === "failed" ? lost.length > 0 && lost.every(({ unasked }) => unasked === true) : origin === "forked-run"

/** Returns the steps of a run that are from the run that it continues, as a fork. */
export const reusedSteps = (transcript: Transcript.Transcript): ReadonlyArray<Transcript.StepRecord> =>
  isFork(transcript) ? transcript.rounds.flatMap(({ steps }) => steps.filter(isReused)) : []

/** Returns the transcript of a run that has ended with the steps that did not start as skipped. */
export const settled = (transcript: Transcript.Transcript): Transcript.Transcript =>
  transcript.ending === undefined || transcript.ending === "suspended"
    ? transcript
    : {
        ...transcript,
        rounds: transcript.rounds.map((round) => ({
          ...round,
          steps: round.steps.map((step) => (step.state === "waiting" ? { ...step, state: "skipped" } : step))
        }))
      }

/** A call of a step. Times are in milliseconds from the start of the run. */
export interface Call {
  readonly from: number
  readonly to: number
  readonly kind: "answer" | "failed" | "interrupted" | "unconfirmed" | "running" | "turn" | Source
  readonly worker: string
  readonly message?: string
  readonly costUsd?: number | undefined
  /** The pause before the next attempt, in milliseconds. */
  readonly retryInMillis?: number
}

/** A step of a run. */
export interface Row {
  readonly round: number
  readonly step: number
  readonly record: Transcript.StepRecord
  readonly calls: ReadonlyArray<Call>
  readonly isCritical: boolean
  /** Whether the answer or the failure is from the run that this one continues, and was not paid again. */
  readonly isReused: boolean
  /** Start of the step, in milliseconds from the start of the run. Not set if the step has not started. */
  readonly from?: number
  readonly to?: number
}

/** The rows of a run, and its duration in milliseconds. */
export interface Waterfall {
  readonly rows: ReadonlyArray<Row>
  readonly millis: number
}

const kindOf = ({ isInDoubt, reason }: Transcript.LostCall): Call["kind"] =>
  isInDoubt === true ? "unconfirmed" : reason === undefined ? "interrupted" : "failed"

/**
 * Returns the calls of a step. Each call starts after the previous one has ended and the delay before the retry has
 * passed. An answer without a call has only itself: earlier failed calls belong to the run that paid for them.
 */
const callsOf = (record: Transcript.StepRecord, isReused: boolean, start: number, now: number): ReadonlyArray<Call> => {
  const { endedAt, lost, paid, startedAt, state, turns = [] } = record
  const source = sourceOf(record)
  if (startedAt === undefined) return []
  let from = startedAt - start
  const calls: Array<Call> = []
  const ended = [
    ...(source === undefined && !isReused ? lost : []).map((call) => ({ at: call.at, call })),
    ...turns.map((turn) => ({ at: turn.endedAt, turn }))
  ].toSorted((one, other) => one.at - other.at)
  for (const item of ended) {
    const to = Math.max(from, item.at - start)
    if ("call" in item) {
      const { costUsd, message, retryInMillis, worker } = item.call
      calls.push({
        ...{ from, to, kind: kindOf(item.call), worker, costUsd },
        ...(message !== undefined && { message }),
        ...(retryInMillis !== undefined && { retryInMillis })
      })
      from = to + (retryInMillis ?? 0)
    } else {
      const { paid, tools, worker } = item.turn
      calls.push({ from, to, kind: "turn", worker, costUsd: paid.costUsd })
      from = Math.max(to, ...tools.map(({ endedAt = 0 }) => endedAt - start))
    }
  }
  const nested = record.nested && (record.nested.spend ?? Transcripts.spendSoFar(record.nested))
  const last = { worker: RunEvent.authorOf(record), costUsd: nested === undefined ? paid?.costUsd : nested.costUsd }
  if (state === "answered") calls.push({ ...last, from, to: (endedAt ?? now) - start, kind: source ?? "answer" })
  else if (state === "running" && now - start > from) calls.push({ ...last, from, to: now - start, kind: "running" })
  return calls
}

/** Returns the row for an item of a step. `undefined` if the item is unknown. */
export const itemRow = (
  { isCritical, isReused: isStepReused, record, round, step }: Row,
  item: string,
  start: number,
  now: number
): Row | undefined => {
  const found = record.items?.find((one) => one.item === item)
  if (found === undefined) return undefined
  const isItemReused = isStepReused || found.origin === "forked-run"
  const calls = callsOf(found, isItemReused, start, now)
  const row = { round, step, record: found, calls, isCritical, isReused: isItemReused }
  if (found.startedAt === undefined) return row
  return { ...row, from: found.startedAt - start, to: (found.endedAt ?? now) - start }
}

const criticalOf = ({ steps, workflow }: Transcript.RoundRecord, now: number): ReadonlySet<number> => {
  if (workflow === undefined || steps.length === 0) return new Set()
  const durations = steps.map(({ endedAt, startedAt, state }) =>
    startedAt === undefined || state === "skipped" ? undefined : (endedAt ?? now) - startedAt
  )
  return new Set(
    Topology.criticalPath(Topology.make(workflow), durations).steps.filter((step) => durations[step] !== undefined)
  )
}

/** Returns the waterfall of a run at a given time, in milliseconds since 1970. Defaults to the end of the run. */
export const make = (transcript: Transcript.Transcript, now = Transcripts.endOf(transcript)): Waterfall => {
  const { rounds, startedAt } = transcript
  const reused = new Set(reusedSteps(transcript))
  const rows = rounds.flatMap((round) => {
    const critical = criticalOf(round, now)
    return round.steps.map((record): Row => {
      const isReused = reused.has(record)
      const calls = callsOf(record, isReused, startedAt, now)
      const isCritical = critical.has(record.step)
      const row = { round: round.round, step: record.step, record, calls, isCritical, isReused }
      if (record.startedAt === undefined) return row
      return { ...row, from: record.startedAt - startedAt, to: (record.endedAt ?? now) - startedAt }
    })
  })
  return { rows, millis: Math.max(1, Transcripts.endOf(transcript) - startedAt, now - startedAt) }
}

/** Paid work in a run that did not contribute to its answer. */
export interface Waste {
  readonly failed: number
  readonly interrupted: number
  readonly unconfirmed: number
  readonly reassigned: number
  readonly skipped: number
  readonly costUsd: number
}

/** Adds up the calls without an answer, and the steps that were reassigned or skipped. */
export const wasteOf = ({ rounds }: Transcript.Transcript): Waste => {
  const steps = rounds.flatMap(({ steps }) => steps.flatMap((step) => [step, ...(step.items ?? [])]))
  // A fork repeats failures of the original run without making calls.
  const lost = [...rounds, ...steps].flatMap(({ lost }) => lost).filter(({ unasked }) => unasked !== true)
  const count = (kind: Call["kind"]) => lost.filter((call) => kindOf(call) === kind).length
  return {
    failed: count("failed"),
    interrupted: count("interrupted"),
    unconfirmed: count("unconfirmed"),
    reassigned: steps.reduce((sum, { reassigned }) => sum + reassigned.length, 0),
    skipped: steps.filter(({ state }) => state === "skipped").length,
    costUsd: lost.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0)
  }
}

/** Returns the times of all changes in a run, in milliseconds since 1970, in order and without duplicates. */
export const momentsOf = ({ rounds, startedAt, ...transcript }: Transcript.Transcript): ReadonlyArray<number> => {
  const times = new Set<number>([startedAt, Transcripts.endOf({ rounds, startedAt, ...transcript })])
  const add = (...some: ReadonlyArray<number | undefined>) => {
    for (const time of some) if (time !== undefined) times.add(time)
  }
  for (const round of rounds) {
    add(round.startedAt, round.plannedAt, round.endedAt, round.grade?.at)
    for (const completion of round.completions) add(completion.endedAt)
    for (const call of round.lost) add(call.at)
    for (const { checks = [], endedAt, lost, startedAt, turns = [] } of round.steps) {
      add(startedAt, endedAt, ...checks.map(({ at }) => at))
      for (const { at, retryInMillis } of lost) add(at, retryInMillis && at + retryInMillis)
      for (const turn of turns)
        add(turn.endedAt, ...turn.tools.flatMap(({ endedAt, startedAt }) => [startedAt, endedAt]))
    }
  }
  return [...times].sort((one, other) => one - other)
}
