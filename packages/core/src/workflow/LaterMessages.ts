/** Builds the messages that later turns of a step add to its conversation. */
import type { Message, ToolCall } from "../task/Message.ts"
import type { ToolResult } from "../task/Tool.ts"
import { assistant, user } from "./StepMessages.ts"

/** A turn in which a worker called tools. */
export interface ToolTurn {
  readonly text: string
  readonly calls: ReadonlyArray<ToolCall>
  /** Results of the calls, in the same order. */
  readonly results: ReadonlyArray<ToolResult>
  /** Opaque vendor-specific data for the turn. */
  readonly echo?: unknown
}

const toolMessage = ({ id, name }: ToolCall, { content, isError }: ToolResult): Message => {
  const message = { role: "tool" as const, callId: id, name, content }
  return isError === true ? { ...message, isError } : message
}

/** Returns the messages that a turn with tool calls adds to its step's conversation. */
export const toolTurnMessages = ({ calls, echo, results, text }: ToolTurn): ReadonlyArray<Message> => {
  const message = { role: "assistant" as const, content: text, toolCalls: calls }
  return [
    echo === undefined ? message : { ...message, echo },
    ...results.map((result, index) => toolMessage(calls[index]!, result))
  ]
}

/** Returns the messages that ask for another answer because `text` does not match the output format. */
export const shapeCorrectionMessages = (text: string, why: string): ReadonlyArray<Message> => [
  assistant(text),
  user(`Your answer does not match the output schema: ${why}\nAnswer again with only the JSON.`)
]
