/** Spans for tool calls. */
import type * as Tracer from "effect/Tracer"
import { placeOf } from "../events/items.ts"
import type { Item, Of } from "../events/RunEvent.ts"
import * as Tool from "../events/tool.ts"
import { text } from "../task/Message.ts"
import { fail, type OpenRound, type Recording, start, succeed } from "./OpenSpans.ts"

/** Returns the key of a tool call within its round. */
export const keyOf = ({
  index,
  item,
  step,
  turn
}: Pick<Of<"tool-started">, "step" | "turn" | "index"> & { readonly item?: Item | undefined }): string =>
  `${placeOf(step, item)}.${turn}.${index}`

const startSpan = (
  recording: Recording,
  round: OpenRound,
  parent: Tracer.Span,
  event: Of<"tool-started" | "tool-finished">
): Tracer.Span => {
  const { at, index, item, name, step, turn } = event
  const span = start(recording, `execute_tool ${name}`, "internal", at, parent)
  Tool.describeStarted(span, event, round.asked.get(`${placeOf(step, item)}.${turn}`)?.[index], recording.content)
  return span
}

export const startTool = (
  recording: Recording,
  round: OpenRound,
  parent: Tracer.Span,
  event: Of<"tool-started">
): void => void round.tools.set(keyOf(event), startSpan(recording, round, parent, event))

/**
 * Ends the span for a tool call. A call that was never started did not run in this process: the caller supplied its
 * result, or it is a replay.
 */
export const endTool = (
  recording: Recording,
  round: OpenRound,
  parent: Tracer.Span,
  event: Of<"tool-finished">
): void => {
  const { content } = recording
  const open = round.tools.get(keyOf(event))
  round.tools.delete(keyOf(event))
  const span = open ?? startSpan(recording, round, parent, event)
  if (open === undefined) span.attribute("divisi.replayed", true)
  Tool.describeFinished(span, event, content)
  if (event.isError) fail(span, event.at, "ToolFailed", content ? text(event.content) : `${event.name} failed.`)
  else succeed(span, event.at)
}
