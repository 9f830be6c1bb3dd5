/** The events `tool-started`, `tool-progress` and `tool-finished`: a tool called by a step's worker. */
import { defined } from "../Fields.ts"
import { type Content, type ToolCall, text } from "../task/Message.ts"
import type { Attributes } from "./Attributes.ts"
import { aboutStep, oneLine } from "./EventText.ts"
import { type Mutable, type OpenStep, resume } from "./OpenRecord.ts"
import type { Item, Stamped } from "./RunEvent.ts"
import type { ToolRecord } from "./Transcript.ts"

interface OfTool {
  readonly round: number
  readonly step: number
  readonly item?: Item
  readonly turn: number
  /** Index of the call within its turn. */
  readonly index: number
  readonly name: string
}

/** Emitted when a tool's handler is called. */
export interface ToolStarted extends OfTool {
  readonly type: "tool-started"
}

/**
 * Emitted when a running tool reports progress. Not stored in journals. Either `progress` or `message` is set; `total`
 * is set if known.
 */
export interface ToolProgressed extends OfTool {
  readonly type: "tool-progress"
  readonly progress?: number
  readonly total?: number
  readonly message?: string
}

/** Emitted when a tool call has a result, from its handler or from the caller. */
export interface ToolFinished extends OfTool {
  readonly type: "tool-finished"
  readonly content: Content
  readonly isError: boolean
  readonly durationMillis: number
}

// -------------------------------------------------------------------------------------------------------------------
// Fold
// -------------------------------------------------------------------------------------------------------------------

const recordOf = (step: OpenStep, { index, turn }: OfTool): Mutable<ToolRecord> | undefined => {
  resume(step)
  return step.turns?.find((one) => one.turn === turn)?.tools[index]
}

export const foldStarted = (step: OpenStep, event: Stamped<ToolStarted>): void => {
  const tool = recordOf(step, event)
  if (tool !== undefined) tool.startedAt = event.at
}

export const foldProgress = (step: OpenStep, event: ToolProgressed): void => {
  const tool = recordOf(step, event)
  const { message, progress, total } = event
  if (tool !== undefined && tool.endedAt === undefined) tool.progress = defined({ progress, total, message })
}

export const foldFinished = (step: OpenStep, event: Stamped<ToolFinished>): void => {
  const tool = recordOf(step, event)
  if (tool === undefined) return
  delete tool.progress
  tool.endedAt = event.at
  tool.durationMillis = event.durationMillis
  tool.content = event.content
  tool.isError = event.isError
}

// -------------------------------------------------------------------------------------------------------------------
// Span
// -------------------------------------------------------------------------------------------------------------------

/** Sets the attributes on the tool's span. `call` is the worker's tool call, if known. */
export const describeStarted = (
  span: Attributes,
  { name }: ToolStarted | ToolFinished,
  call: ToolCall | undefined,
  content: boolean
): void => {
  span.attribute("gen_ai.operation.name", "execute_tool")
  span.attribute("gen_ai.tool.name", name)
  span.attribute("gen_ai.tool.type", "function")
  if (call === undefined) return
  span.attribute("gen_ai.tool.call.id", call.id)
  if (content) span.attribute("gen_ai.tool.call.arguments", call.arguments)
}

export const describeFinished = (span: Attributes, event: ToolFinished, content: boolean): void => {
  if (content) span.attribute("gen_ai.tool.call.result", text(event.content))
}

// -------------------------------------------------------------------------------------------------------------------
// Lines
// -------------------------------------------------------------------------------------------------------------------

export const lineOfStarted = (event: ToolStarted): string => aboutStep(event, `the tool ${event.name} runs.`)

export const lineOfProgress = (event: ToolProgressed): string => {
  const { message, name, progress, total } = event
  const count = progress === undefined ? [] : [total === undefined ? `${progress}` : `${progress} of ${total}`]
  return aboutStep(
    event,
    `the tool ${name}: ${[...count, ...(message === undefined ? [] : [oneLine(message)])].join(", ")}`
  )
}
