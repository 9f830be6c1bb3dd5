/**
 * The recorded results of a run, by call address. When a resumed run executes again, it uses these results instead of
 * calling and paying workers again.
 */

import { planId } from "../events/approval.ts"
import { placeOf, recordOf, withItems } from "../events/items.ts"
import { type AnswerSource, type Item, isWithoutCall } from "../events/RunEvent.ts"
import { submitted } from "../events/submittedPlan.ts"
import type {
  CheckAnswer,
  CriticAnswer,
  LostCall,
  RoundRecord,
  StepRecord,
  ToolRecord,
  Transcript
} from "../events/Transcript.ts"
import { defined } from "../Fields.ts"
import type { ToolCall } from "../task/Message.ts"
import type { Given, ToolResult } from "../task/Tool.ts"
import type { Paid } from "../task/Usage.ts"
import type { FinishReason } from "../task/Worker.ts"
import type { Verdict } from "../workflow/StepMessages.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import type { CallEntry } from "./Journal.ts"
import { allLost, isBegunAnew, isReopened, isReopenedWith, lostAt, triedAgain, turnOf } from "./RetiredFailures.ts"
import type { Retired } from "./Superseded.ts"

/** The address of a call within its run. */
export interface Address {
  readonly by: "policy" | "step" | "critic" | "check"
  readonly round: number
  readonly step?: number | undefined
  readonly item?: Item | undefined
  /** Index of the call among those made by its step, the step's checks, the policy or the critic. */
  readonly turn: number
  readonly worker: string
}

type WithoutPlace<E> = E extends unknown ? Omit<E, "call" | "attempt"> : never

/** The outcome of a call attempt. */
export type Outcome = WithoutPlace<Exclude<CallEntry, { readonly type: "intent" | "handle" | "withdrawn" }>>

/** The recorded state of a call attempt. */
export interface Known {
  /** Hash of the request. Undefined if the call is known only from a transcript, or if the gate rejected it. */
  hash?: string | undefined
  worst?: Paid | undefined
  worker?: string | undefined
  /** Handle under which the vendor can deliver the answer again. */
  handle?: string | undefined
  /** Undefined if the process ended before the outcome was known. */
  outcome?: Outcome | undefined
  /** Set if this attempt failed and the call is made again, because the run was resumed after it had ended. */
  isRetired?: true | undefined
  /** Set if a limit ended the run after this attempt, and the run was resumed. */
  isReopened?: true | undefined
}

/** The recorded state of a tool call. */
export type KnownTool =
  | { readonly type: "finished"; readonly result: ToolResult }
  /** The tool was started, but its result is unknown. */
  | { readonly type: "in-doubt" }

/** The recorded state of a plan that required approval. */
export interface KnownPlan {
  readonly workflow: Workflow | undefined
  /** Undefined while the decision is pending. */
  readonly decision: RoundRecord["decision"]
}

type Caller = Pick<Address, "by" | "step" | "item">

/** A call made by a policy, a critic or a check. */
export interface RecordedCall {
  readonly turn: number
  readonly request?: string | undefined
}

/** The recorded state of a run. */
export interface Recorded {
  /**
   * Returns the attempts of a call in order, or an empty list if the call was not made. `name` is the call's name on
   * accounts. It is used to find attempts that are reported separately ({@link Recorded.retired}), so that later
   * attempts do not reuse their ids.
   */
  readonly attempts: (address: Address, name: string | undefined) => ReadonlyArray<Known>
  /** Returns the calls made by a caller. Concurrent calls that were answered include a digest of their request. */
  readonly calls: (caller: Caller & Pick<Address, "round">) => ReadonlyArray<RecordedCall>
  /**
   * Returns failed attempts at the position of a retried call that are not among the call's own attempts. Each position
   * is reported once.
   */
  readonly retired: (address: Address) => ReadonlyArray<Retired>
  /** Returns the recorded state of a tool call, by its id (`WaitingCall.id`). */
  readonly tool: (id: string) => KnownTool | undefined
  /** Returns a round's plan and the decision, if the plan required approval. */
  readonly plan: (round: number) => KnownPlan | undefined
  /** Returns the recorded verdict of a check on a step. */
  readonly verdict: (round: number, step: number, turn: number, item?: Item) => Verdict | undefined
  /** Whether a limit stopped steps of a round, so that its last step may have answered without them (`budget.keep`). */
  readonly isKept: (round: number, step: number) => boolean
  /** Whether a step was stopped or never started because the steps that use it had enough answers. */
  readonly isLate: (round: number, step: number, item?: Item) => boolean
  /**
   * Returns the steps and items that a step did not wait for. Empty if it waited for all of them; `undefined` if it was
   * not started.
   */
  readonly without: (round: number, step: number, item?: Item) => ReadonlyArray<string> | undefined
}

/** An answer recorded in a transcript. */
interface RecordedAnswer {
  readonly source: Partial<AnswerSource>
  readonly text: string
  readonly reasoning?: string | undefined
  readonly finishReason: FinishReason
  readonly toolCalls?: ReadonlyArray<ToolCall> | undefined
  readonly echo?: unknown
  readonly model?: string | undefined
  readonly paid: Paid
  readonly durationMillis?: number | undefined
}

const reasoningOf = (reasoning: string) => (reasoning === "" ? undefined : reasoning)

const stepAnswer = (record: StepRecord, { turn, worker }: Address): RecordedAnswer | undefined => {
  const taken = record.turns?.find((one) => one.turn === turn && one.worker === worker)
  if (taken !== undefined) {
    const { durationMillis, echo, error, paid, reasoning, text, tools } = taken
    const toolCalls = error === undefined ? tools.map(({ call }) => call) : undefined
    const finishReason = error === undefined ? "tool-calls" : "stop"
    return {
      source: taken,
      text,
      reasoning: reasoningOf(reasoning),
      finishReason,
      toolCalls,
      echo,
      paid,
      durationMillis
    }
  }
  const { durationMillis, finishReason = "stop", model, paid, reasoning, state, text } = record
  const { turns = [] } = record
  if (
    (state !== "answered" && state !== "skipped") ||
    paid === undefined ||
    turn !== turns.length ||
    worker !== record.worker
  )
    return undefined
  return { source: record, text, reasoning: reasoningOf(reasoning), finishReason, model, paid, durationMillis }
}

const judged = (answer: CriticAnswer | CheckAnswer | undefined): RecordedAnswer | undefined => {
  if (answer === undefined) return undefined
  const { costUsd, text, usage } = answer
  return { source: answer, text, finishReason: "stop", paid: { usage, costUsd } }
}

const answerIn = (round: RoundRecord, address: Address): RecordedAnswer | undefined => {
  const { by, item, step, turn } = address
  if (by === "step") {
    const record = recordOf(round, step!, item)
    return record === undefined ? undefined : stepAnswer(record, address)
  }
  if (by === "critic") return judged(round.criticAnswers?.find((answer, index) => (answer.turn ?? index) === turn))
  if (by === "check") return judged(recordOf(round, step!, item)?.checkAnswers?.find((answer) => answer.turn === turn))
  const completion = round.completions.find(({ attempt, endedAt }) => attempt === turn && endedAt !== undefined)
  if (completion?.paid === undefined) return undefined
  const { echo, finishReason = "stop", paid, reasoning, text, toolCalls } = completion
  return { text, reasoning: reasoningOf(reasoning), finishReason, toolCalls, echo, paid, source: completion }
}

const callsIn = (round: RoundRecord, address: Caller): ReadonlyArray<RecordedCall> => {
  const lost = lostAt(round, address).map((call) => ({ turn: turnOf(call) }))
  return [...answersIn(round, address), ...lost]
}

const answersIn = (round: RoundRecord, { by, item, step }: Caller): ReadonlyArray<RecordedCall> => {
  if (by === "policy")
    return round.completions.flatMap(({ attempt: turn, endedAt, request }) =>
      endedAt === undefined ? [] : [{ turn, request }]
    )
  if (by === "critic")
    return (round.criticAnswers ?? []).map(({ request, turn }, index) => ({ turn: turn ?? index, request }))
  return recordOf(round, step!, item)?.checkAnswers ?? []
}

const outcomeOf = (lost: LostCall): Outcome => {
  const { costUsd, isInDoubt, message = "", reason, retryInMillis, unasked, usage } = lost
  if (isInDoubt === true) return { type: "lost", usage, costUsd }
  if (reason === undefined) return { type: "interrupted", usage, costUsd }
  return { type: "failed", reason, message, retryInMillis, unasked, usage, costUsd }
}

const attemptsIn = (
  round: RoundRecord,
  address: Address,
  retired: ReadonlyArray<LostCall>,
  lostAs: (attempt: number) => LostCall | undefined
): ReadonlyArray<Known> => {
  const own = lostAt(round, address).filter(
    (lost) => lost.worker === address.worker && turnOf(lost) === address.turn && !retired.includes(lost)
  )
  const lost: Array<Known> = []
  for (let before = lostAs(0); before !== undefined && !own.includes(before); before = lostAs(lost.length)) {
    lost.push({ isRetired: true })
  }
  lost.push(...own.map((one) => ({ outcome: outcomeOf(one) })))
  const answered = answerIn(round, address)
  if (answered === undefined) return lost
  const { paid, source, ...rest } = answered
  const answer = { ...rest, usage: paid.usage }
  if (!isWithoutCall(source)) return [...lost, { outcome: { type: "answered", answer, ...paid } }]
  return [...lost, { outcome: defined({ type: "found", answer, origin: source.origin }) }]
}

/** A round without any records. */
const nothingAsked: RoundRecord = {
  round: 0,
  startedAt: 0,
  completions: [],
  lost: [],
  notes: [],
  steps: [],
  confirmed: false
}

const toolsOf = ({ rounds }: Transcript): ReadonlyMap<string, KnownTool> => {
  const known = new Map<string, KnownTool>()
  for (const { round, steps } of rounds) {
    for (const { item, step, turns = [] } of withItems(steps)) {
      for (const { tools, turn } of turns) {
        for (const [index, { content, isError, startedAt }] of tools.entries()) {
          const id = `${round}.${placeOf(step, item)}.${turn}.${index}`
          if (content !== undefined) {
            known.set(id, { type: "finished", result: isError === true ? { content, isError } : { content } })
          } else if (startedAt !== undefined) known.set(id, { type: "in-doubt" })
        }
      }
    }
  }
  return known
}

/** Finds the failed call with the given account id. */
export type LostAs = (chargeId: string) => LostCall | undefined

/** Indexes a transcript's failed calls, including those of nested runs, by account id. */
export const lostIn = (transcript: Transcript): LostAs => {
  const all = transcript.rounds.flatMap(allLost)
  const byId = new Map(all.flatMap((lost) => (lost.chargeId === undefined ? [] : [[lost.chargeId, lost] as const])))
  return (chargeId) => byId.get(chargeId)
}

const attemptsOf =
  (lostAs: LostAs, name: string | undefined) =>
  (attempt: number): LostCall | undefined =>
    name === undefined ? undefined : lostAs(`${name}/${attempt}`)

/**
 * Returns the recorded state for a run that is not part of a transcript. At most the account ids of its calls are
 * known.
 */
export const unknown = (lostAs: LostAs): Recorded => ({
  attempts: (address, name) => attemptsIn(nothingAsked, address, [], attemptsOf(lostAs, name)),
  calls: () => [],
  retired: () => [],
  tool: () => undefined,
  verdict: () => undefined,
  isKept: () => false,
  isLate: () => false,
  without: () => undefined,
  plan: () => undefined
})

/** Whether a limit stopped a step before its answer. */
const isStopped = ({ detail, nested, reason, state }: StepRecord): boolean =>
  state === "failed"
    ? reason === undefined && (nested === undefined || nested.ending === "budget")
    : state === "skipped" && detail === "budget"

/**
 * Returns the recorded state from a transcript, excluding nested runs. If the run is retried, its last failures are
 * marked as retired.
 */
export const fromTranscript = (transcript: Transcript, isTriedAgain: boolean, lostAs: LostAs): Recorded => {
  const tools = toolsOf(transcript)
  const again = triedAgain(transcript, isTriedAgain)
  return {
    attempts: (address, name) => {
      const round = address.round > again.round ? undefined : transcript.rounds[address.round]
      return attemptsIn(round ?? nothingAsked, address, again.at(address), attemptsOf(lostAs, name))
    },
    calls: (of) => {
      const round = of.round > again.round ? undefined : transcript.rounds[of.round]
      return round === undefined ? [] : callsIn(round, of)
    },
    retired: again.take,
    tool: (id) => tools.get(id),
    plan: (round) => {
      const { decision, waitingFor, workflow } = (round > again.round ? undefined : transcript.rounds[round]) ?? {}
      return decision === undefined && waitingFor === undefined ? undefined : { workflow, decision }
    },
    verdict: (round, step, turn, item) => {
      const found = recordOf(transcript.rounds[round], step, item)?.checks?.find((check) => check.turn === turn)
      return found === undefined || again.isChecked(round, step, item, found) ? undefined : found
    },
    isKept: (number, step) => {
      const round = transcript.rounds[number]
      if (round === undefined || number !== again.round || round.steps[step]?.turns !== undefined) return false
      return withItems(round.steps).some(isStopped)
    },
    isLate: (round, step, item) => {
      const record = recordOf(transcript.rounds[round], step, item)
      return record?.state === "skipped" && record.detail === "late"
    },
    without: (round, step, item) => {
      const record = recordOf(transcript.rounds[round], step, item)
      return record?.startedAt === undefined ? undefined : (record.without ?? [])
    }
  }
}

/** Returns the recorded state of a run in a transcript: the outermost run or a nested one. */
export const recordedOf = (transcript: Transcript, runId: string): Recorded => {
  const lostAs = lostIn(transcript)
  return recordedIn(transcript, runId, isReopened(transcript), lostAs) ?? unknown(lostAs)
}

const recordedIn = (transcript: Transcript, runId: string, isAgain: boolean, lostAs: LostAs): Recorded | undefined => {
  if (transcript.runId === runId) return fromTranscript(transcript, isAgain, lostAs)
  for (const round of transcript.rounds) {
    if (isAgain && isBegunAnew(transcript, round)) return undefined
    for (const step of withItems(round.steps)) {
      const { nested } = step
      const isNestedAgain = isAgain && isReopenedWith(transcript, round, step)
      const found = nested && recordedIn(nested, runId, isNestedAgain, lostAs)
      if (found !== undefined) return found
    }
  }
  return undefined
}

/** A tool call or plan that a caller can respond to. */
export interface Respondable {
  readonly id: string
  /** Whether a response equals the recorded one. Undefined if there is no recorded response. */
  readonly isSame?: ((given: Given) => boolean) | undefined
}

const responseOf = ({ content, isError = false, startedAt }: ToolRecord): Respondable["isSame"] => {
  if (content === undefined) return undefined
  return (given) => {
    if (typeof given === "object" && "approved" in given) return given.approved === (startedAt !== undefined)
    const other = typeof given === "string" ? { content: given } : given
    return isError === (other.isError ?? false) && JSON.stringify(content) === JSON.stringify(other.content)
  }
}

const decisionOf = (decision: RoundRecord["decision"]): Respondable["isSame"] =>
  decision &&
  ((given) => {
    const other = submitted(given)
    if ("text" in other) return decision.decision === "edited" && (decision.text ?? other.text) === other.text
    return decision.decision === (other.approved ? "approved" : "refused")
  })

/** Yields all tool calls and plans of a run and its nested runs. */
export const respondable = function* ({ rounds }: Transcript, path = ""): Generator<Respondable> {
  for (const { decision, round, steps, waitingFor } of rounds) {
    if (decision !== undefined || waitingFor !== undefined) {
      yield { id: planId(path, round), isSame: waitingFor === undefined ? decisionOf(decision) : undefined }
    }
    for (const { item, nested, step, turns = [] } of withItems(steps)) {
      const place = `${path}${round}.${placeOf(step, item)}`
      for (const { tools, turn } of turns) {
        for (const [index, use] of tools.entries()) yield { id: `${place}.${turn}.${index}`, isSame: responseOf(use) }
      }
      if (nested !== undefined) yield* respondable(nested, `${place}/`)
    }
  }
}
