/**
 * Determines which failures in a transcript are retried when the run is resumed. Uses the same rule as journals
 * (`Superseded.ts`): a failure is retained if a received answer depends on it.
 */

import { recordOf, withItems } from "../events/items.ts"
import type { Item } from "../events/RunEvent.ts"
import type { CheckRecord, LostCall, RoundRecord, StepRecord, Transcript } from "../events/Transcript.ts"
import { defined } from "../Fields.ts"
import { axesOf, sharedItem, waitsFor } from "../workflow/program.ts"
import type { Address } from "./RecordedRun.ts"
import { type CallEvent, isTriedAgain, type Retired } from "./Superseded.ts"

type Place = Pick<Address, "by" | "step" | "item">

export const turnOf = ({ turn = 0 }: LostCall): number => turn

/** Returns the unanswered calls at a position in a round. */
export const lostAt = (round: RoundRecord, { by, item, step }: Place): ReadonlyArray<LostCall> =>
  (step === undefined ? round.lost : (recordOf(round, step, item)?.lost ?? [])).filter(
    (lost) => (lost.by ?? "") === (by === "check" || by === "critic" ? by : "")
  )

const hasAnswer = ({ items, nested, state, turns = [] }: StepRecord): boolean =>
  items === undefined
    ? state === "answered" || turns.length > 0 || (nested?.rounds ?? []).some(hasAnswers)
    : items.some(hasAnswer)

const hasAnswers = ({ completions, criticAnswers = [], steps }: RoundRecord): boolean =>
  criticAnswers.length > 0 || completions.some(({ endedAt }) => endedAt !== undefined) || steps.some(hasAnswer)

/** Whether any answer in the round depends on a step or on one of its items. */
const isSeen = ({ steps, workflow }: RoundRecord, step: number, item: Item | undefined): boolean => {
  if (workflow === undefined) return false
  const seers = workflow.steps.flatMap((one, later) => (later > step && waitsFor(one, step) ? [later] : []))
  if (item === undefined) return seers.some((later) => hasAnswer(steps[later]!))
  const axes = axesOf(workflow)
  return seers.some((later) => {
    const seer = steps[later]!
    const shared = sharedItem(axes, step, later, item)
    if (shared === "" || seer.items === undefined) return hasAnswer(seer)
    return seer.items.some((one) => `${one.item}.`.startsWith(`${shared}.`) && hasAnswer(one))
  })
}

/** Whether a failure is retained although its round is retried, because an answer depends on it. */
const isRetained = (round: RoundRecord, { by, item, step }: Place, lost: LostCall): boolean => {
  if (lost.isRetired === true) return false
  const { completions, plannedAt = Number.NEGATIVE_INFINITY } = round
  if (by === "critic") return false
  if (step === undefined) {
    const isAnswered = completions.some(({ attempt, endedAt }) => endedAt !== undefined && attempt > turnOf(lost))
    // Both may have the same timestamp. Transcripts written by older versions contain only timestamps.
    return isAnswered || (lost.isAfterPlan !== true && lost.at <= plannedAt)
  }
  const isBeforeCompletion = lost.isBeforeCompletion ?? completions.some(({ endedAt = 0 }) => endedAt > lost.at)
  if (isBeforeCompletion || isSeen(round, step, item)) return true
  const { checkAnswers = [], checks = [], state, turns = [] } = recordOf(round, step, item)!
  if (by !== "check") return state === "answered" || turnOf(lost) < turns.length
  const last = checks.at(-1)
  return last === undefined || last.couldNotRun !== true || checkAnswers.some(({ turn }) => turn > turnOf(lost))
}

/** Whether a resumed run reaches the failed call's worker, because the step was assigned to it at that turn. */
const isVisited = ({ reassigned, turns = [], worker }: StepRecord, lost: LostCall): boolean =>
  lost.worker === (turns[turnOf(lost)]?.worker ?? worker) || reassigned.some(({ from }) => from === lost.worker)

/** Returns all unanswered calls in a round, including those in nested runs. */
export const allLost = ({ lost, steps }: RoundRecord): ReadonlyArray<LostCall> => [
  ...lost,
  ...withItems(steps).flatMap(({ lost, nested }) => [...lost, ...(nested?.rounds ?? []).flatMap(allLost)])
]

/** Whether a round contains failures that can be retried. */
const isOpen = (round: RoundRecord): boolean => {
  const isFailed = (place: Place, lost: LostCall) => lost.isRetired !== true && !isRetained(round, place, lost)
  return (
    round.lost.some((lost) => isFailed({ by: lost.by ?? "policy" }, lost)) ||
    withItems(round.steps).some(
      ({ item, lost, nested, step }) =>
        (nested !== undefined && isReopened(nested) && !isSeen(round, step, item)) ||
        lost.some((one) => isFailed({ by: one.by ?? "step", step, item }, one))
    )
  )
}

/** Returns the first round that is retried. Later rounds are restarted from scratch. */
const roundOf = ({ rounds }: Transcript): number => {
  const last = rounds.length - 1
  let first = 0
  for (const [number, round] of rounds.entries()) {
    if (hasAnswers(round)) first = Math.max(first, number)
    if (round.answer !== undefined && number < last) first = Math.max(first, number + 1)
  }
  while (first < last && !isOpen(rounds[first]!)) first++
  return first
}

const eventOf = (
  runId: string,
  place: { readonly round: number; readonly step?: number | undefined; readonly item?: Item | undefined },
  lost: LostCall
): CallEvent => {
  const {
    at,
    by,
    chargeId,
    costUsd,
    isInDoubt,
    message = "",
    reason,
    retryInMillis,
    turn,
    unasked,
    usage,
    worker
  } = lost
  const { item, round, step } = place
  const all = { runId, at, round, ...defined({ step, item, turn, by, chargeId }), worker, usage, costUsd }
  if (isInDoubt === true) return { type: "call-lost", ...all }
  if (reason === undefined) return { type: "call-interrupted", ...all }
  return { type: "call-failed", ...all, attempt: 0, reason, message, ...defined({ retryInMillis, unasked }) }
}

/** Whether a run is retried when it is resumed, because it failed or reached a limit. */
export const isReopened = ({ ending }: Transcript): boolean => isTriedAgain(ending)

/** Whether a round of a retried run is restarted from scratch, including its nested runs. */
export const isBegunAnew = (transcript: Transcript, { round }: RoundRecord): boolean => round > roundOf(transcript)

/** Whether a nested run is retried along with its outer run. */
export const isReopenedWith = (parent: Transcript, round: RoundRecord, { item, nested, step }: StepRecord): boolean =>
  nested !== undefined && isReopened(nested) && round.round === roundOf(parent) && !isSeen(round, step, item)

/**
 * Returns the account ids of failed calls. Calls without an id, from runs without a shared account, are assigned one.
 */
const chargeIdsOf = ({ rounds, runId }: Transcript): ((lost: LostCall) => string) => {
  const all = rounds.flatMap(allLost)
  return (lost) => lost.chargeId ?? `${runId}/lost/${all.indexOf(lost)}`
}

/** Determines the parts of a run that are retried, excluding its nested runs. */
export const triedAgain = (transcript: Transcript, isAgain: boolean) => {
  const { rounds, runId } = transcript
  const again = isAgain ? roundOf(transcript) : Number.POSITIVE_INFINITY
  const taken = new Set<string>()
  let begunAgain = isAgain ? rounds.slice(again + 1).flatMap(allLost) : []
  const idOf = chargeIdsOf(transcript)

  /**
   * Returns the failures at a position that are not attempts of a repeated call: failures that are retried, and
   * failures of workers that are no longer assigned to the step.
   */
  const at = ({ by, item, round: number, step }: Place & Pick<Address, "round">): ReadonlyArray<LostCall> => {
    const round = rounds[number]
    if (round === undefined || number > again) return []
    const record = by === "step" ? recordOf(round, step!, item) : undefined
    return lostAt(round, { by, step, item }).filter(
      (lost) =>
        (record !== undefined && !isVisited(record, lost)) ||
        lost.isRetired === true ||
        (number === again && !isRetained(round, { by, step, item }, lost))
    )
  }

  /** Returns the failures to report before a call is made. Each failure is returned once. */
  const take = ({ by, item, round, step, turn }: Address): ReadonlyArray<Retired> => {
    const place = `${round} ${step} ${item} ${by}`
    const own = taken.has(place) ? [] : at({ by, round, step, item })
    const isDue = own.some((lost) => turnOf(lost) <= turn)
    if (isDue) taken.add(place)
    const others = isDue || round > again ? begunAgain : []
    // These failures belong to rounds that are restarted, so they are attributed to the step as a whole.
    const whole = ({ by: _, turn: __, ...lost }: LostCall): LostCall => lost
    if (others.length > 0) begunAgain = []
    const report = (lost: LostCall, as = lost) => ({
      name: idOf(lost),
      event: eventOf(runId, { round, step, item }, as)
    })
    return [...(isDue ? own.map((lost) => report(lost)) : []), ...others.map((lost) => report(lost, whole(lost)))]
  }

  return {
    /** The round that is retried. Later rounds are restarted from scratch. */
    round: again,
    at,
    take,
    /** Whether a check runs again because the check itself failed. */
    isChecked: (number: number, step: number, item: Item | undefined, check: CheckRecord): boolean => {
      const round = rounds[number]!
      const isLast = check === recordOf(round, step, item)!.checks?.at(-1)
      return number === again && isLast && check.couldNotRun === true && !isSeen(round, step, item)
    }
  }
}
