/**
 * What a run has already got, by where it was asked: a run that is resumed takes it from here instead of asking and paying
 * again. To resume is to run again, with the record as the first source of answers.
 */
import type { ToolCall } from "../task/Message.ts"
import type { ToolResult } from "../task/Tool.ts"
import type { Paid } from "../task/Usage.ts"
import type { FinishReason } from "../task/Worker.ts"
import type { LostCall, RoundRecord, StepRecord, Transcript } from "./Transcript.ts"

/** Where a call stands in its run. */
export interface Address {
  readonly by: "policy" | "step" | "critic"
  readonly round: number
  readonly step?: number | undefined
  /** Which call it is of who asks. */
  readonly turn: number
  readonly worker: string
}

/** An answer as it was given. */
export interface RecordedAnswer {
  readonly text: string
  readonly reasoning?: string | undefined
  readonly finishReason: FinishReason
  readonly toolCalls?: ReadonlyArray<ToolCall> | undefined
  readonly echo?: unknown
  readonly paid: Paid
  readonly cached: boolean
  readonly durationMillis?: number | undefined
}

/** What became of a call: the attempts that failed, and the answer, if there was one. */
export interface RecordedCall {
  readonly failures: ReadonlyArray<LostCall>
  readonly answer: RecordedAnswer | undefined
}

/** The record of one run. */
export interface Recorded {
  readonly call: (address: Address) => RecordedCall | undefined
  /** The result of a tool, by the id of its call (`WaitingCall.id`). */
  readonly result: (id: string) => ToolResult | undefined
}

const reasoningOf = (reasoning: string) => (reasoning === "" ? undefined : reasoning)

const stepAnswer = (record: StepRecord, { turn, worker }: Address): RecordedAnswer | undefined => {
  const taken = record.turns?.find((one) => one.turn === turn && one.worker === worker)
  if (taken !== undefined) {
    const { cached, durationMillis, echo, error, paid, reasoning, text, tools } = taken
    const toolCalls = error === undefined ? tools.map(({ call }) => call) : undefined
    const finishReason = error === undefined ? "tool-calls" : "stop"
    return { text, reasoning: reasoningOf(reasoning), finishReason, toolCalls, echo, paid, cached, durationMillis }
  }
  const { cached = false, durationMillis, finishReason = "stop", paid, reasoning, state, text, turns = [] } = record
  if (state !== "answered" || paid === undefined || turn !== turns.length || worker !== record.worker) return undefined
  return { text, reasoning: reasoningOf(reasoning), finishReason, paid, cached, durationMillis }
}

const answerIn = (round: RoundRecord, address: Address): RecordedAnswer | undefined => {
  const { by, step, turn } = address
  if (by === "step") {
    const record = round.steps[step!]
    return record === undefined ? undefined : stepAnswer(record, address)
  }
  if (by === "critic") {
    const answer = round.criticAnswers?.[turn]
    if (answer === undefined) return undefined
    const { cached, costUsd, text, usage } = answer
    return { text, finishReason: "stop", paid: { usage, costUsd }, cached }
  }
  const completion = round.completions.find(({ attempt, endedAt }) => attempt === turn && endedAt !== undefined)
  if (completion?.paid === undefined) return undefined
  const { cached = false, paid, reasoning, text } = completion
  return { text, reasoning: reasoningOf(reasoning), finishReason: "stop", paid, cached }
}

const failuresIn = (round: RoundRecord, { by, step, turn, worker }: Address): ReadonlyArray<LostCall> =>
  (by === "step" ? (round.steps[step!]?.lost ?? []) : round.lost).filter(
    (lost) => lost.worker === worker && (lost.turn ?? 0) === turn && lost.reason !== undefined
  )

const resultsOf = ({ rounds }: Transcript): ReadonlyMap<string, ToolResult> => {
  const results = new Map<string, ToolResult>()
  for (const { round, steps } of rounds) {
    for (const { step, turns = [] } of steps) {
      for (const { tools, turn } of turns) {
        for (const [index, { content, isError }] of tools.entries()) {
          if (content === undefined) continue
          results.set(`${round}.${step}.${turn}.${index}`, isError === true ? { content, isError } : { content })
        }
      }
    }
  }
  return results
}

/** The record of a transcript, without the runs nested in it. */
export const fromTranscript = (transcript: Transcript): Recorded => {
  const results = resultsOf(transcript)
  return {
    call: (address) => {
      const round = transcript.rounds[address.round]
      if (round === undefined) return undefined
      const answer = answerIn(round, address)
      const failures = failuresIn(round, address)
      return answer === undefined && failures.length === 0 ? undefined : { answer, failures }
    },
    result: (id) => results.get(id)
  }
}
