/** The event `turn-finished`: a step's worker has answered, but the step continues. */
import type { ToolCall } from "../task/Message.ts"
import type { Paid } from "../task/Usage.ts"
import { type Attributes, setFinishReason } from "./Attributes.ts"
import { discardText, type OpenStep, type OpenTurn, paidOf } from "./OpenRecord.ts"
import type { AnswerSource, Item, Stamped } from "./RunEvent.ts"

/**
 * Emitted when a step's worker has answered, but the step continues: the worker called tools, or `error` explains why
 * the answer has the wrong format or failed its check.
 */
export interface TurnFinished extends Paid, AnswerSource {
  readonly type: "turn-finished"
  readonly round: number
  readonly step: number
  readonly item?: Item
  /** Zero-based index of the turn. */
  readonly turn: number
  readonly worker: string
  readonly text: string
  readonly toolCalls: ReadonlyArray<ToolCall>
  readonly echo?: unknown
  readonly error?: string
  /** Duration of the call, in milliseconds. */
  readonly durationMillis: number
}

const answerFields = ["endedAt", "durationMillis", "finishReason", "model", "cached", "origin", "paid"] as const

/** Reopens a step that was reported as answered when its check was stopped, after the check has failed. */
const reopen = (step: OpenStep) => {
  if (step.state !== "answered") return
  step.state = "running"
  for (const name of answerFields) delete step[name]
}

export const fold = (step: OpenStep, event: Stamped<TurnFinished>): void => {
  reopen(step)
  const { at, cached, durationMillis, echo, error, origin, text, toolCalls, turn, worker } = event
  const record: OpenTurn = {
    turn,
    worker,
    endedAt: at,
    durationMillis,
    text,
    reasoning: step.reasoning,
    tools: toolCalls.map((call) => ({ call })),
    cached,
    paid: paidOf(event)
  }
  if (echo !== undefined) record.echo = echo
  if (error !== undefined) record.error = error
  if (origin !== undefined) record.origin = origin
  step.turns ??= []
  step.turns.push(record)
  step.worker = worker
  discardText(step)
}

export const describe = (span: Attributes, { toolCalls, turn }: TurnFinished): void => {
  span.attribute("divisi.turn", turn)
  setFinishReason(span, toolCalls.length > 0 ? "tool-calls" : "stop")
}
