/** The events `completion-delta` and `completion-finished`: text written by a language policy's model. */
import type { ToolCall } from "../task/Message.ts"
import type { Paid } from "../task/Usage.ts"
import type { FinishReason } from "../task/Worker.ts"
import { type Attributes, setAnswer } from "./Attributes.ts"
import { type Mutable, type OpenRound, paidOf } from "./OpenRecord.ts"
import type { AnswerSource, Stamped } from "./RunEvent.ts"
import type { CompletionRecord } from "./Transcript.ts"

/** Emitted for each chunk of a completion. */
export interface CompletionDelta {
  readonly type: "completion-delta"
  readonly round: number
  readonly attempt: number
  readonly kind: "text" | "reasoning"
  readonly text: string
}

/** Emitted when a completion has finished. */
export interface CompletionFinished extends Paid, AnswerSource {
  readonly type: "completion-finished"
  readonly round: number
  readonly attempt: number
  readonly completion: string
  /** Tool calls made by the model. Undefined if there are no tool calls. */
  readonly toolCalls?: ReadonlyArray<ToolCall>
  /** Why the model stopped generating. Default: `stop`. */
  readonly finishReason?: FinishReason
  /**
   * Vendor-specific data for a completion with tool calls. Must be included in the next request of the conversation.
   */
  readonly echo?: unknown
  /** Why the completion could not be parsed as a workflow. */
  readonly error?: string
  /** Digest of the request. Set if other completions of the round were in flight when this one started. */
  readonly request?: string
}

/** Returns the record of an attempt's completion, creating it if necessary. */
const recordOf = ({ completions }: OpenRound, attempt: number): Mutable<CompletionRecord> => {
  const open = completions.find((completion) => completion.attempt === attempt && completion.endedAt === undefined)
  if (open !== undefined) return open
  const begun = { attempt, text: "", reasoning: "" }
  completions.push(begun)
  return begun
}

export const foldDelta = (round: OpenRound, { attempt, kind, text }: CompletionDelta): void => {
  recordOf(round, attempt)[kind] += text
}

/**
 * Marks step failures that were reported before a completion with the same timestamp, because the order cannot be
 * determined from the timestamps.
 */
const markEarlier = ({ steps }: OpenRound, at: number): void => {
  for (const { items, lost } of steps) {
    for (const list of [lost, ...(items === undefined ? [] : [...items.values()].map(({ lost }) => lost))]) {
      for (const [index, call] of list.entries())
        if (call.at === at) list[index] = { ...call, isBeforeCompletion: true }
    }
  }
}

export const foldFinished = (round: OpenRound, event: Stamped<CompletionFinished>): void => {
  markEarlier(round, event.at)
  const record = recordOf(round, event.attempt)
  record.endedAt = event.at
  record.text = event.completion
  if (event.error !== undefined) record.error = event.error
  if (event.toolCalls !== undefined) record.toolCalls = event.toolCalls
  if (event.finishReason !== undefined) record.finishReason = event.finishReason
  if (event.echo !== undefined) record.echo = event.echo
  if (event.request !== undefined) record.request = event.request
  record.cached = event.cached
  if (event.origin !== undefined) record.origin = event.origin
  record.paid = paidOf(event)
}

export const describeFinished = (span: Attributes, event: CompletionFinished, content: boolean): void => {
  span.attribute("divisi.attempt", event.attempt)
  if (content) setAnswer(span, event.completion, "stop")
}
