/** Invariants that hold for every run. Each check returns a message for each violation. */

import { isDeepStrictEqual } from "node:util"
import { AnswerText, type Budget, type RunEvent, Transcript, Workflow } from "@divisi/core"
import { text } from "@divisi/core/Message"
import type { Spend } from "@divisi/core/Usage"
import * as Wire from "@divisi/core/Wire"
import * as Result from "effect/Result"
import { address, addressOf, answerKey, marksOf, type Witness } from "./Witness.ts"

type Problems = ReadonlyArray<string>

// -------------------------------------------------------------------------------------------------------------------
// Accounts
// -------------------------------------------------------------------------------------------------------------------

/** Costs are sums of fractions. */
const slack = 1e-9

/** The open reservations of an account. */
interface Reserved {
  readonly open: number
  readonly reservedCostUsd: number
  readonly reservedTokens: number
}

// Accounts have no public method for their reservations, so their fields are read.
export const reservedOf = (ledger: Budget.Ledger): Reserved => ledger as unknown as Reserved

const tokensOf = ({ usage }: Spend): number => usage.inputTokens + usage.outputTokens

const isFigure = (figure: unknown): boolean =>
  figure === undefined || (Number.isFinite(figure) && (figure as number) >= 0)

/** The violated conditions of an account now, given its earlier spend. */
export const ofAccount = (name: string, ledger: Budget.Ledger, before: Spend): string | undefined => {
  const { limits } = ledger
  const spend = ledger.spent()
  const { open, reservedCostUsd, reservedTokens } = reservedOf(ledger)
  // `misreported` is text, and `estimated` is not a number.
  const { estimated: _, misreported: __, ...counts } = spend.usage
  if (![spend.costUsd, spend.calls, ...Object.values(counts)].every(isFigure))
    return `${name} counts nonsense: ${JSON.stringify(spend)}`
  if (spend.costUsd < before.costUsd - slack || tokensOf(spend) < tokensOf(before) || spend.calls < before.calls)
    return `what ${name} has spent shrinks: ${JSON.stringify(before)}, then ${JSON.stringify(spend)}`
  const over = (limit: keyof Budget.Limits, used: number, allowance = 0) =>
    limits[limit] !== undefined && !(used <= limits[limit] + allowance)
  if (over("tokens", tokensOf(spend) + reservedTokens))
    return `${name} exceeds its tokens: ${tokensOf(spend)} + ${reservedTokens}`
  if (over("costUsd", spend.costUsd + reservedCostUsd, slack))
    return `${name} exceeds its cost: ${spend.costUsd} + ${reservedCostUsd}`
  if (over("calls", spend.calls + open)) return `${name} exceeds its calls: ${spend.calls} + ${open}`
  return undefined
}

/** The violated conditions of an account at the end. */
export const ofRest = (name: string, ledger: Budget.Ledger): Problems => {
  const { open, reservedCostUsd, reservedTokens } = reservedOf(ledger)
  return open === 0 && reservedCostUsd === 0 && reservedTokens === 0
    ? []
    : [`${name} keeps something reserved at the end: ${open} calls, ${reservedCostUsd} USD, ${reservedTokens} tokens`]
}

const isSame = (left: Spend, right: Spend): boolean =>
  Math.abs(left.costUsd - right.costUsd) <= slack &&
  left.usage.inputTokens === right.usage.inputTokens &&
  left.usage.outputTokens === right.usage.outputTokens &&
  left.calls === right.calls &&
  left.unpricedCalls === right.unpricedCalls

/** Reports the differences of two sums that should be equal. */
export const ofSums = (name: string, told: Spend, charged: Spend): Problems =>
  isSame(told, charged) ? [] : [`${name}: ${JSON.stringify(told)} is told, ${JSON.stringify(charged)} was charged`]

// -------------------------------------------------------------------------------------------------------------------
// Events
// -------------------------------------------------------------------------------------------------------------------

/** A run as its events report it. */
export interface Told {
  readonly name: string
  readonly events: ReadonlyArray<RunEvent.RunEvent>
  /** When each event came. */
  readonly times: ReadonlyArray<number>
  readonly transcript: Transcript.Transcript
  readonly maxRounds: number
  readonly skipsUnseen: boolean
  /** The number of rounds that may start early because an answer failed its check. */
  readonly revisions: number
}

/**
 * The events of a run start with its start and end with its end, and time advances by the durations that they report.
 */
const ofOrder = ({ events, name }: Told): Problems => {
  const [first] = events
  const problems: Array<string> = []
  if (first?.type !== "run-started") problems.push(`${name} does not begin with run-started`)
  const own = events.filter(({ runId }) => runId === first?.runId)
  if (own.filter(({ type }) => type === "run-finished").length !== 1 || events.at(-1)?.type !== "run-finished")
    problems.push(`${name} does not end with one run-finished, but ${events.at(-1)?.type}`)
  for (const event of events)
    if ("durationMillis" in event && !(event.durationMillis >= 0))
      problems.push(`${name}: ${event.type} took ${event.durationMillis} ms`)
  return problems
}

/** Written events can be read, and reading gives the same events. */
const ofWire = ({ events, name, transcript }: Told): Problems => {
  const problems: Array<string> = []
  const text = Wire.encodeTranscript(transcript)
  const written: unknown = JSON.parse(text)
  const read = Wire.readTranscript(written)
  if (Result.isFailure(read)) problems.push(`${name}: ${read.failure.message}`)
  else if (!isDeepStrictEqual(JSON.parse(Wire.encodeTranscript(read.success)), written))
    problems.push(`${name}: its transcript is read as another`)
  const again = Wire.decodeRunEvents(events.map(Wire.encodeRunEvent).join("\n"))
  if (Result.isFailure(again)) return [...problems, `${name}: ${again.failure.message}`]
  const folded = Transcript.fromEvents(again.success)
  // In the same order of keys, too, as one fold makes both.
  if (folded === undefined || Wire.encodeTranscript(folded) !== text)
    problems.push(`${name}: the fold of its events is another transcript`)
  return problems
}

/** A step starts at the moment at which the last step that it sees has ended, if any later step can see it. */
const ofStarts = ({ events, name, revisions, skipsUnseen, times }: Told): Problems => {
  const plans = new Map<string, { readonly workflow: Workflow.Workflow; readonly time: number }>()
  const ends = new Map<string, number>()
  const passed = new Set<string>()
  const goneOn = new Set<string>()
  const left = new Map<string, number>()
  /** Whether the answer of a step has failed a check and the policy has not yet decided to continue. */
  const isHeld = (round: string, step: number): boolean => {
    const key = `${round}.${step}`
    const { check } = plans.get(round)!.workflow.steps[step]!
    return check?.onFailure === "revise" && ends.has(key) && !passed.has(key) && !goneOn.has(key)
  }
  return events.flatMap((event, index) => {
    const time = times[index]!
    if (!("round" in event)) return []
    const round = `${event.runId} ${event.round}`
    if (event.type === "workflow-proposed") plans.set(round, { workflow: event.workflow, time })
    if (event.type === "step-finished" || event.type === "step-failed" || event.type === "step-skipped")
      ends.set(`${round}.${event.step}`, time)
    if (event.type === "step-checked" && event.passed) passed.add(`${round}.${event.step}`)
    // A step that was held by a failed check continues when the policy decides so.
    if (event.type === "round-revised" && event.decision === "go-on") {
      for (const step of plans.get(round)!.workflow.steps.keys()) {
        const key = `${round}.${step}`
        if (!isHeld(round, step)) continue
        ends.set(key, time)
        goneOn.add(key)
      }
    }
    if (event.type === "round-revised" && event.decision === "re-plan")
      left.set(event.runId, (left.get(event.runId) ?? revisions) - 1)
    if (event.type !== "step-started") return []
    const { step } = event
    const { time: planned, workflow } = plans.get(round)!
    const sees = Workflow.visible(workflow, step)
    if ((left.get(event.runId) ?? revisions) > 0 && sees.some((earlier) => isHeld(round, earlier)))
      return [`${name}: step ${round}.${step} starts beside an answer that failed its check`]
    const seen = sees.map((earlier) => ends.get(`${round}.${earlier}`) ?? Number.NaN)
    const due = Math.max(planned, ...seen)
    if (skipsUnseen && !Workflow.needed(workflow).has(step))
      return [`${name}: nobody can see step ${step}, and it is run`]
    return due === time ? [] : [`${name}: step ${round}.${step} starts at ${time}, and was due at ${due}`]
  })
}

const ofAnswerText = ({ events, maxRounds, name, transcript }: Told): Problems => {
  let state = AnswerText.start({ maxRounds })
  for (const event of events) state = AnswerText.emit(state, event)[0]
  const isWhole = state.isContradicted || transcript.answer === undefined || state.emitted === transcript.answer
  return isWhole ? [] : [`${name}: "${state.emitted}" is shown of the answer "${transcript.answer}"`]
}

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

/** If a policy stopped a round before its end, the run has the selected answer, even if it was interrupted right after. */
const ofStop = ({ name }: Told, { answer, rounds }: Transcript.Transcript): Problems => {
  const revision = rounds.at(-1)?.revisions?.at(-1)
  if (revision?.decision !== "stop") return []
  const { round, step } = revision.answer!
  const stands = shownOf(rounds[round]?.steps[step])
  return answer === stands ? [] : [`${name}: "${answer}" is the answer, and "${stands}" was to stand`]
}

/** A run and its nested runs. */
const withNested = (transcript: Transcript.Transcript): ReadonlyArray<Transcript.Transcript> => [
  transcript,
  ...transcript.rounds.flatMap(({ steps }) =>
    steps.flatMap(({ nested }) => (nested === undefined ? [] : withNested(nested)))
  )
]

const shownOf = (step: Transcript.StepRecord | undefined): string | undefined => {
  if (step?.state === "answered") return step.text
  return step?.state === "failed" ? step.detail : undefined
}

/**
 * The text of a step as workers see it: a provider's message about the account of its worker is not shown to other
 * workers.
 */
const seenOf = (step: Transcript.StepRecord | undefined): string | undefined =>
  step?.reason === "Authentication" || step?.reason === "Quota" ? undefined : shownOf(step)

/** The marks that the worker of a step must see, and no others. */
const visibleMarks = ({ rounds, task }: Transcript.Transcript, round: number, step: number): ReadonlySet<string> => {
  const { steps, workflow } = rounds[round]!
  const before = rounds[round - 1]
  const { access, earlier = [] } = workflow!.steps[step]!
  const seesAll = access === "all"
  // A round that was replaced by another one has no failure of its own.
  const failure = before?.revisions?.at(-1)?.decision === "re-plan" ? undefined : seenOf(before?.steps.at(-1))
  const previous = seesAll ? (before?.answer ?? failure) : undefined
  return marksOf(
    ...task.messages.map((message) => text(message)),
    ...Workflow.visible(workflow!, step).map((index) => seenOf(steps[index])),
    ...earlier.map((one) => seenOf(rounds[one.round]!.steps[one.step])),
    previous
  )
}

/** Whether a step was not reached by the last process, or sees one that was not. */
const isCut = ({ rounds }: Transcript.Transcript, round: number, step: number): boolean => {
  const { steps, workflow } = rounds[round]!
  const seen = [step, ...Workflow.visible(workflow!, step)].map((index) => steps[index])
  return seen.some((one) => one?.state === "skipped" && one.detail === "budget")
}

/**
 * Checks that no worker saw more or less than the access list of its step names. If a limit ended a run early
 * (`isWhole` is false), another process may have started steps that the last one did not reach; it is unknown what
 * these could see.
 */
export const ofSight = (told: ReadonlyArray<Told>, { asked }: Witness, isWhole = true): Problems => {
  const allowed = new Map<string, Array<ReadonlySet<string>>>()
  const cut = new Set<string>()
  for (const transcript of told.flatMap(({ transcript }) => withNested(transcript))) {
    for (const { round, workflow } of transcript.rounds) {
      for (const step of workflow?.steps.keys() ?? []) {
        const key = address(transcript.task.id, round, step)
        if (!isWhole && isCut(transcript, round, step)) cut.add(key)
        allowed.set(key, [...(allowed.get(key) ?? []), visibleMarks(transcript, round, step)])
      }
    }
  }
  return asked.flatMap((request) => {
    const key = addressOf(request)
    if (key === undefined || !text(request.messages.at(-1)).endsWith(key)) return []
    const seen = marksOf(...request.messages.map((message) => text(message)))
    const sets = allowed.get(key) ?? []
    return (sets.length === 0 && !isWhole) ||
      cut.has(key) ||
      sets.some((set) => seen.symmetricDifference(set).size === 0)
      ? []
      : [
          `${request.worker} was asked ${key} and saw ${[...seen]}, where it may see ${sets.map((set) => `{${[...set]}}`)}`
        ]
  })
}

const ended = new Set(["answered", "failed", "skipped"])

/** Each step of a run has an end, its answer was given by the worker that is named, and it began when it could. */
const ofSteps = (name: string, transcript: Transcript.Transcript, { answers }: Witness): Problems =>
  transcript.rounds.flatMap((round) =>
    round.steps.flatMap((step, index) => {
      const where = `${name}, step ${round.round}.${index}`
      const problems: Array<string> = []
      if (round.endedAt !== undefined && !ended.has(step.state))
        problems.push(`${where} is ${step.state} in a round that has ended`)
      if (step.state === "answered" && !Transcript.isNested(step) && !answers.has(answerKey(step.worker, step.text)))
        problems.push(`${where} has an answer that ${step.worker} never gave: ${step.text.slice(0, 80)}`)
      return problems
    })
  )

/** The violated conditions of a run that has ended. `isRead` also writes and reads it, which takes long. */
export const ofRun = (told: Told, witness: Witness, isRead: boolean): Problems => [
  ...ofOrder(told),
  ...(isRead ? ofWire(told) : []),
  ...ofStarts(told),
  ...ofAnswerText(told),
  ...withNested(told.transcript).flatMap((transcript) => [
    ...ofStop(told, transcript),
    ...ofSteps(told.name, transcript, witness)
  ])
]

/** The spend in a transcript, computed from its calls instead of read from its sum. */
export const toldSpend = ({ spend: _, ...rest }: Transcript.Transcript): Spend => Transcript.spendSoFar(rest)

/** An event without times and without sums, which may differ between orders of tasks. */
const timeless = (event: RunEvent.RunEvent): string =>
  JSON.stringify(event, (key, value: unknown) => {
    if (key === "at" || key.endsWith("Millis")) return undefined
    return typeof value === "number" ? Number(value.toPrecision(9)) : value
  })

/** The violated conditions of two runs of a steady world in two orders of tasks: they must be the same run. */
export const ofOrders = (one: ReadonlyArray<RunEvent.RunEvent>, other: ReadonlyArray<RunEvent.RunEvent>): Problems => {
  const happened = one.map(timeless).sort()
  const also = other.map(timeless).sort()
  const differs = also.findIndex((event, index) => event !== happened[index])
  if (differs < 0 && also.length === happened.length) return []
  return [`another order of tasks gives another run: ${also[differs]} is not ${happened[differs]}`]
}
